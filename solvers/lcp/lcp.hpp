#pragma once

#include <memory>

#include "solvers/core/solver.hpp"
#include "solvers/lcp/polyhedral.hpp"

namespace ccp {

/// Values of LcpSolver's options; meanings in its options() and README.md.
struct LcpOptions {
  std::string law = "coulomb";
  int edges = 8;
  int max_iterations = 20000;
  int max_unknowns = 10000;
  double tolerance = 1e-8;
};

/// Contact with polyhedral friction cones as a linear complementarity problem, solved by Lemke's
/// method: the Coulomb law of Stewart and Trinkle (1996) and Anitescu and Potra (1997), or
/// Anitescu's convex relaxation, both as in the Anitescu slides. See PolyhedralProblem for the
/// formulas.
///
/// One iteration is one pivot. Own residual: the artificial variable z_0 in m/s while pivoting,
/// max |min(z, w)| of the LCP at the end. Cost: 8 unknowns^2 bytes, and up to 2 unknowns^2
/// operations per pivot, on the host. Law: by option. Forms: both. Warm start: no. Not for: more
/// than a thousand contacts; it says so instead of trying.
class LcpSolver : public Solver {
 public:
  OptionList options() override;
  Law law() const override { return options_.law == "convex" ? Law::convex : Law::coulomb; }
  void check_options(const std::vector<std::string>& given) const override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

 private:
  LcpOptions options_;
  const Problem* problem_ = nullptr;
  std::unique_ptr<PolyhedralProblem> polyhedral_;  ///< none if the problem is too large
  std::size_t unknowns_ = 0;
};

}  // namespace ccp
