#include <fmt/format.h>

#include <stdexcept>

#include "problems/base/error.hpp"
#include "solvers/preconditioners/preconditioner.hpp"

namespace ccp {

std::unique_ptr<Preconditioner> make_none();
std::unique_ptr<Preconditioner> make_block_diagonal();
std::unique_ptr<Preconditioner> make_ic0();
std::unique_ptr<Preconditioner> make_block_ic0();
std::unique_ptr<Preconditioner> make_block_ic1();
std::unique_ptr<Preconditioner> make_colored_ic0();
std::unique_ptr<Preconditioner> make_colored_sgs();
std::unique_ptr<Preconditioner> make_block_chebyshev();
std::unique_ptr<Preconditioner> make_iluk();
std::unique_ptr<Preconditioner> make_ilut();
std::unique_ptr<Preconditioner> make_block_iluk();
std::unique_ptr<Preconditioner> make_relaxation();
std::unique_ptr<Preconditioner> make_block_relaxation();
std::unique_ptr<Preconditioner> make_chebyshev();

namespace {

/// The table: id, form, blocks, symmetric, definite, summary, how it is made, and a second name.
std::vector<PreconditionerEntry>& table() {
  static std::vector<PreconditionerEntry> rows = {
      {"none", MatrixForm::none, all_blocks, true, true, "the plain Krylov method", make_none, ""},
      {"block_diagonal", MatrixForm::none, all_blocks, true, true,
       "inverse blocks of the diagonal (Kleinert 2017 Sect. 4.2)", make_block_diagonal,
       "block_jacobi"},
      {"ic0", MatrixForm::crs, all_blocks, true, true,
       "incomplete Cholesky without fill, entry by entry", make_ic0, ""},
      {"block_ic0", MatrixForm::blocks, all_blocks, true, true,
       "incomplete Cholesky without fill, in blocks", make_block_ic0, ""},
      {"block_ic1", MatrixForm::blocks, body_blocks, true, true,
       "incomplete Cholesky with the pairs that eliminating each body once joins, in blocks",
       make_block_ic1, ""},
      {"colored_ic0", MatrixForm::blocks, all_blocks, true, true,
       "incomplete Cholesky without fill, in blocks, rows by colour", make_colored_ic0, ""},
      {"colored_sgs", MatrixForm::blocks, all_blocks, true, true,
       "symmetric Gauss-Seidel in blocks, rows by colour", make_colored_sgs, ""},
      {"block_chebyshev", MatrixForm::blocks, body_blocks, true, true,
       "Chebyshev polynomial in D^-1 A for the diagonal blocks D", make_block_chebyshev, ""},
      {"iluk", MatrixForm::crs, all_blocks, true, false,
       "Ifpack2's incomplete LU with levels of fill", make_iluk, ""},
      {"ilut", MatrixForm::crs, all_blocks, false, false,
       "Ifpack2's incomplete LU with a drop tolerance (not symmetric)", make_ilut, ""},
      {"block_iluk", MatrixForm::block_crs, all_blocks, true, false,
       "Ifpack2's incomplete LU with levels of fill, in blocks", make_block_iluk, ""},
      {"relaxation", MatrixForm::crs, all_blocks, true, true, "Ifpack2's symmetric Gauss-Seidel",
       make_relaxation, ""},
      {"block_relaxation", MatrixForm::block_crs, all_blocks, true, true,
       "Ifpack2's symmetric Gauss-Seidel in blocks", make_block_relaxation, ""},
      {"chebyshev", MatrixForm::crs, all_blocks, true, false,
       "Ifpack2's Chebyshev polynomial in D^-1 A", make_chebyshev, ""},
  };
  return rows;
}

const PreconditionerEntry* find(const std::string& name) {
  for (const PreconditionerEntry& entry : table()) {
    if (entry.id == name || (!name.empty() && entry.alias == name)) return &entry;
  }
  return nullptr;
}

}  // namespace

std::string to_string(Space space) {
  return space == Space::contact ? "contact" : "body";
}

std::string to_string(MatrixForm form) {
  switch (form) {
    case MatrixForm::none:
      return "the diagonal blocks";
    case MatrixForm::crs:
      return "a CrsMatrix";
    case MatrixForm::block_crs:
      return "a BlockCrsMatrix";
    case MatrixForm::blocks:
      return "the blocks of A";
  }
  return "unknown";
}

bool takes(const PreconditionerEntry& entry, Space space, int block_size) {
  const BlockKind kind = space == Space::contact ? contact3 : block_size == 3 ? body3 : body6;
  return (entry.takes & kind) != 0;
}

std::string describe_blocks(unsigned takes) {
  const bool of3 = (takes & body3) != 0, of6 = (takes & body6) != 0;
  const std::string body = of3 && of6 ? "of 3 and 6" : of3 ? "of 3" : "of 6";
  if ((takes & contact3) == 0) return "blocks " + body + " in body space";
  return "blocks of 3 in contact space" + (of3 || of6 ? ", " + body + " in body space" : "");
}

const std::vector<PreconditionerEntry>& preconditioner_entries() {
  return table();
}

void add_preconditioner(PreconditionerEntry entry) {
  for (const std::string& name : {entry.id, entry.alias}) {
    if (find(name) != nullptr) {
      throw std::invalid_argument("add_preconditioner: there is a '" + name + "' already");
    }
  }
  table().push_back(std::move(entry));
}

std::vector<std::string> contact_preconditioner_ids() {
  std::vector<std::string> ids;
  for (const PreconditionerEntry& entry : table()) {
    if ((entry.takes & contact3) != 0) ids.push_back(entry.id);
  }
  return ids;
}

std::vector<std::string> body_preconditioner_ids() {
  std::vector<std::string> ids;
  for (const PreconditionerEntry& entry : table()) {
    const bool needs_blocks = entry.form == MatrixForm::none || entry.form == MatrixForm::blocks;
    if ((entry.takes & body_blocks) != body_blocks || !needs_blocks || !entry.definite) continue;
    ids.push_back(entry.id);
    if (!entry.alias.empty()) ids.push_back(entry.alias);
  }
  return ids;
}

const PreconditionerEntry& preconditioner_entry(const std::string& id) {
  if (const PreconditionerEntry* const entry = find(id)) return *entry;
  std::vector<std::string> known;
  for (const PreconditionerEntry& entry : table()) {
    known.push_back(entry.id);
    if (!entry.alias.empty()) known.push_back(entry.alias);
  }
  throw InputError("unknown preconditioner '" + id + "'" + did_you_mean(id, known) +
                   " (`ccpbench list preconditioners` shows all)");
}

std::unique_ptr<Preconditioner> make_preconditioner(const SolverSpec& spec) {
  auto preconditioner = preconditioner_entry(spec.id).make();
  OptionList options = preconditioner->options();
  for (const auto& [name, value] : spec.options) options.set(name, value);
  return preconditioner;
}

}  // namespace ccp
