#include <algorithm>

#include "problems/base/error.hpp"
#include "solvers/preconditioners/preconditioner.hpp"

// The table: one line each, in the order in which they are listed. The entry itself stands in the
// preconditioner's own file, as `PreconditionerEntry preconditioner_ID()`.
#define CCP_PRECONDITIONERS(X) \
  X(none)                      \
  X(block_diagonal)            \
  X(ic0)                       \
  X(block_ic0)                 \
  X(iluk)                      \
  X(ilut)                      \
  X(block_iluk)                \
  X(relaxation)                \
  X(block_relaxation)          \
  X(chebyshev)

namespace ccp {

#define CCP_DECLARE(id) PreconditionerEntry preconditioner_##id();
CCP_PRECONDITIONERS(CCP_DECLARE)

std::string to_string(MatrixForm form) {
  switch (form) {
    case MatrixForm::none:
      return "the diagonal blocks";
    case MatrixForm::crs:
      return "a CrsMatrix";
    case MatrixForm::block_crs:
      return "a BlockCrsMatrix";
  }
  return "unknown";
}

const std::vector<PreconditionerEntry>& preconditioner_entries() {
#define CCP_ROW(id) preconditioner_##id(),
  static const std::vector<PreconditionerEntry> table = {CCP_PRECONDITIONERS(CCP_ROW)};
  return table;
}

std::vector<std::string> preconditioner_ids() {
  std::vector<std::string> ids;
  for (const PreconditionerEntry& entry : preconditioner_entries()) ids.push_back(entry.id);
  return ids;
}

const PreconditionerEntry& preconditioner_entry(const std::string& id) {
  for (const PreconditionerEntry& entry : preconditioner_entries()) {
    if (entry.id == id) return entry;
  }
  throw InputError("unknown preconditioner '" + id + "'" + did_you_mean(id, preconditioner_ids()) +
                   " (`ccpbench list preconditioners` shows all)");
}

std::unique_ptr<Preconditioner> make_preconditioner(const SolverSpec& spec) {
  auto preconditioner = preconditioner_entry(spec.id).make();
  OptionList options = preconditioner->options();
  for (const auto& [name, value] : spec.options) options.set(name, value);
  return preconditioner;
}

}  // namespace ccp
