#include "solvers/batch/methods.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "problems/base/error.hpp"
#include "solvers/batch/batch_apgd.hpp"
#include "solvers/batch/batch_pgs.hpp"
#include "solvers/batch/batch_vipm.hpp"

namespace ccp {
namespace {

/// A row of the table of methods.
struct Method {
  std::string id;
  std::unique_ptr<BatchSolver> (*make)();
  void (*add_options)(BatchSolver&, OptionList&);
};

template <class S>
Method method(const std::string& id) {
  return {id, [] { return std::unique_ptr<BatchSolver>(std::make_unique<S>()); },
          [](BatchSolver& solver, OptionList& list) { static_cast<S&>(solver).add_options(list); }};
}

const std::vector<Method>& methods() {
  static const std::vector<Method> table = {method<BatchPgs>("pgs"), method<BatchApgd>("apgd"),
                                            method<BatchVipm>("vipm")};
  return table;
}

}  // namespace

std::vector<std::string> batch_solvers() {
  std::vector<std::string> ids;
  for (const Method& row : methods()) ids.push_back(row.id);
  return ids;
}

std::unique_ptr<BatchSolver> make_batch_solver(const SolverSpec& spec) {
  const auto row = std::find_if(methods().begin(), methods().end(),
                                [&](const Method& method) { return method.id == spec.id; });
  if (row == methods().end()) {
    throw InputError("--batch", "solver", fmt::format("{}", fmt::join(batch_solvers(), ", ")),
                     spec.id);
  }
  auto solver = row->make();
  OptionList list("solver " + spec.id + " in a batch");
  row->add_options(*solver, list);
  for (const auto& [name, value] : spec.options) list.set(name, value);
  return solver;
}

}  // namespace ccp
