#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "problems/dynamics/step_solver.hpp"
#include "tests/support.hpp"

namespace ccp::test {

/// Projected Gauss-Seidel on the dense matrix, by contact and with the disc of friction: Coulomb's
/// law, for a few contacts.
class SmallSolver : public StepSolver {
 public:
  explicit SmallSolver(int sweeps = 200) : sweeps_(sweeps) {}
  void solve(const ContactProblem& p, const StepAccuracy&, std::vector<double>& gamma) override {
    ++calls;
    start = gamma;
    const std::vector<double> n = dense_delassus(p);
    const std::size_t size = 3 * p.contacts();
    for (int sweep = 0; sweep < sweeps_; ++sweep) {
      for (std::size_t i = 0; i < size; ++i) {
        double u = p.r[i];
        for (std::size_t j = 0; j < size; ++j) u += n[i * size + j] * gamma[j];
        if (n[i * size + i] > 0) gamma[i] -= u / n[i * size + i];
        if (i % 3 == 0) gamma[i] = std::max(gamma[i], 0.0);
        if (i % 3 == 2) {
          const double held = std::hypot(gamma[i - 1], gamma[i]), most = p.mu[i / 3] * gamma[i - 2];
          if (held > most) gamma[i - 1] *= most / held, gamma[i] *= most / held;
        }
      }
    }
  }
  int calls = 0;
  std::vector<double> start;

 private:
  int sweeps_;
};

}  // namespace ccp::test
