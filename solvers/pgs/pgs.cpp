#include "solvers/pgs/pgs.hpp"

#include "solvers/core/stopwatch.hpp"

namespace ccp {

OptionList PgsSolver::options() {
  OptionList list("pgs");
  list.choice("law", options_.law, {"convex", "coulomb"}, "contact law")
      .choice("sweep", options_.sweep, {"sequential", "colored"},
              "contact after contact, or colour after colour in parallel")
      .choice("local", options_.local, {"exact", "step"},
              "solve the contact's own problem, or take one projected step of 3/trace(N_cc)")
      .number("omega", options_.omega, {0, 2, true}, "relaxation")
      .flag("symmetric", options_.symmetric, "a backward sweep after every forward one");
  options_.limits.add_to(list);
  return list;
}

void PgsSolver::setup(const Problem& problem) {
  problem_ = &problem;
  SweepOptions sweep;
  sweep.law = law();
  sweep.exact = options_.local == "exact";
  sweep.omega = options_.omega;
  sweep.colored = options_.sweep == "colored";
  sweeps_ = std::make_unique<GaussSeidel>(problem, sweep);
}

Info PgsSolver::solve(Vector& gamma, Observer& observer) {
  constexpr long sweeps_between_refreshes = 1000;  // rounding grows by about 1e-16 a sweep
  Info info = fixed_point_info(*problem_, "largest change in a sweep [m/s]");
  if (problem_->all_triples() == 0) return info;
  const VectorView p("ccp::Pgs::impulse", 3 * static_cast<std::size_t>(problem_->triples()));
  problem_->to_world_axes(read_view(gamma), p);
  sweeps_->set(p);
  const auto write_gamma = [&](Vector& out) {
    sweeps_->get(p);
    problem_->to_contact_axes(p, overwrite_view(out));
  };
  const auto step = [&](bool measure) {
    if (info.counters.outer % sweeps_between_refreshes == sweeps_between_refreshes - 1) {
      sweeps_->refresh();
    }
    double change = sweeps_->sweep(false, measure);
    if (options_.symmetric) change = sweeps_->sweep(true, measure);
    const long sweeps = options_.symmetric ? 2 : 1;
    info.counters.operator_applies += sweeps;
    info.counters.projections += sweeps;
    return change;
  };
  info.status = iterate(options_.limits, *problem_, law(), observer, info, step, write_gamma);
  write_gamma(gamma);
  return info;
}

}  // namespace ccp
