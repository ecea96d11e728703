#include "solvers/lcp/lcp.hpp"

#include <fmt/format.h>

#include <limits>

#include "problems/base/error.hpp"
#include "solvers/core/stopwatch.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
OptionList LcpSolver::options() {
  return OptionList("lcp")
      .choice("law", options_.law, {"coulomb", "convex"},
              "the LCP of the Coulomb law, or the QP of its relaxation")
      .integer("edges", options_.edges, {2, 64},
               "of each friction pyramid, even (2: friction along t1 only)")
      .integer("max_iterations", options_.max_iterations, {1}, "limit of pivots")
      .integer("max_unknowns", options_.max_unknowns, {1, 60000},
               "larger problems are refused (memory: 8 unknowns^2 bytes)")
      .number("tolerance", options_.tolerance, {0},
              "largest |min(z, w)| of a solution, relative to the largest |r|");
}

void LcpSolver::check_options(const std::vector<std::string>&) const {
  if (options_.edges % 2 != 0) {
    throw InputError("solver lcp", "edges", "an even number (every edge has its opposite)",
                     fmt::format("{}", options_.edges));
  }
}

std::string LcpSolver::why_unsupported(const ContactProblem& problem) const {
  const bool small = PolyhedralProblem::size(problem, options_.edges) <=
                     static_cast<std::size_t>(options_.max_unknowns);
  return options_.edges == 2 && small ? why_not_planar(problem) : "";
}

void LcpSolver::setup(const Problem& problem) {
  problem_ = &problem;
  unknowns_ = PolyhedralProblem::size(problem.host(), options_.edges);
  polyhedral_.reset();
  if (unknowns_ <= static_cast<std::size_t>(options_.max_unknowns)) {
    polyhedral_ = std::make_unique<PolyhedralProblem>(problem.host(), law(), options_.edges,
                                                      problem.delassus_scale());
  }
}

Info LcpSolver::solve(Vector& gamma, Observer& observer) {
  Info info;
  info.own_residual_name = "artificial variable, then |min(z, w)| [m/s]";
  info.own_residual = 0;
  if (!polyhedral_) {
    info.status = Status::unsupported;
    info.message = fmt::format(
        "{} contacts make an LCP of {} unknowns, whose dictionary takes {:.2g} GB: more than "
        "max_unknowns = {}",
        problem_->contacts(), unknowns_, 1e-9 * Lemke::bytes(unknowns_), options_.max_unknowns);
    return info;
  }
  const Lcp& lcp = polyhedral_->lcp();
  std::unique_ptr<Lemke> lemke;
  {
    const Stopwatch watch(info.timers["dictionary"]);
    lemke = std::make_unique<Lemke>(lcp);
  }
  const double scale = polyhedral_->velocity_scale();
  const auto write_gamma = [&](Vector& out) {
    const std::vector<double> impulse = polyhedral_->gamma(lemke->z());
    Kokkos::deep_copy(overwrite_view(out),
                      upload<VectorView>("ccp::Lcp::gamma", impulse, impulse.size()));
  };
  const auto finish = [&](Status status, const std::string& message = "") {
    write_gamma(gamma);
    info.status = status;
    info.message = message;
    return info;
  };
  if (const double left = polyhedral_->contradiction(); left > options_.tolerance * scale) {
    return finish(
        Status::stagnated,
        fmt::format("equality constraints that depend on each other contradict each other "
                    "by {:.2g} m/s: nothing meets them all",
                    left));
  }
  if (problem_->contacts() == 0) return finish(Status::converged);

  info.own_residual = scale * lemke->artificial();
  if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
    return finish(Status::stopped_by_observer);
  }
  while (lemke->state() == Lemke::State::running) {
    if (info.counters.outer >= options_.max_iterations) {
      return finish(Status::max_iterations,
                    fmt::format("not complementary after {} pivots", info.counters.outer));
    }
    lemke->pivot();
    ++info.counters.outer;
    info.own_residual = scale * lemke->artificial();
    if (lemke->state() != Lemke::State::running) break;
    if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
      return finish(Status::stopped_by_observer);
    }
  }
  switch (lemke->state()) {
    case Lemke::State::breakdown:
      return finish(Status::numerical_error, "rounding errors have spoilt the dictionary");
    case Lemke::State::cycle:
      return finish(Status::stagnated, "the pivots go round in circles");
    case Lemke::State::ray:
      return finish(Status::stagnated, "secondary ray: Lemke's method finds no solution");
    case Lemke::State::running:
    case Lemke::State::solved:
      break;
  }
  const double violation = lcp.violation(lemke->z());
  info.own_residual = scale * violation;
  if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
    return finish(Status::stopped_by_observer);
  }
  if (violation <= options_.tolerance) return finish(Status::converged);
  return finish(Status::stagnated,
                fmt::format("the last basis violates the LCP by {:.1e} m/s", info.own_residual));
}

}  // namespace ccp
