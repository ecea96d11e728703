#pragma once

#include <string>
#include <vector>

#include "harness/measure/referee.hpp"
#include "solvers/registry.hpp"
#include "tests/kokkos_support.hpp"

namespace ccp::test {

/// Ends a solve when the referee says so; counts what it took. Nothing here depends on time.
class RefereeStop : public Observer {
 public:
  RefereeStop(const Problem& problem, Measure measure, double value)
      : referee_(problem), gamma_(problem.map(), 1), measure_(measure), value_(value) {}
  bool observe(const Progress&, const std::function<void(Vector&)>& write_gamma) override {
    write_gamma(gamma_);
    return reached_ = referee_.measure(gamma_)[measure_] <= value_;
  }
  bool satisfied() const override { return reached_; }

 private:
  Referee referee_;
  Vector gamma_;
  Measure measure_;
  double value_;
  bool reached_ = false;
};

struct Solved {
  Info info;
  Measures measures;
  std::vector<double> gamma;
};

/// One solve by a fresh solver, judged by the referee. @param start  contact axes; empty = zero
inline Solved solve_once(const ContactProblem& host, const std::string& spec, Observer& observer,
                         const std::vector<double>& start = {}) {
  const Problem problem(host);
  const auto solver = make_solver(SolverSpec::parse(spec));
  solver->setup(problem);
  const auto gamma =
      to_vector(start.empty() ? std::vector<double>(3 * host.triples(), 0.0) : start);
  Solved result;
  result.info = solver->solve(*gamma, observer);
  Referee referee(problem);
  result.measures = referee.measure(*gamma);
  result.gamma = to_host(*gamma);
  return result;
}

inline Solved solve_once(const ContactProblem& host, const std::string& spec) {
  NullObserver nobody;
  return solve_once(host, spec, nobody);
}

/// The same until the referee finds measure <= value.
inline Solved solve_until(const ContactProblem& host, const std::string& spec, Measure measure,
                          double value, const std::vector<double>& start = {}) {
  const Problem problem(host);
  RefereeStop stop(problem, measure, value);
  return solve_once(host, spec, stop, start);
}

}  // namespace ccp::test
