#pragma once

#include <memory>

#include "solvers/core/solver.hpp"
#include "solvers/lcp/polyhedral.hpp"

namespace ccp {

struct LcpOptions {
  std::string law =
      "coulomb";  ///< the LCP of the Coulomb law, or "convex": the QP of its relaxation
  int edges = 8;  ///< 2 to 64, even: of each friction pyramid; 2: friction along t1 only
  int max_iterations = 20000;  ///< >= 1, pivots
  int max_unknowns = 10000;    ///< 1 to 60000: larger problems are refused (8 unknowns^2 bytes)
  double tolerance =
      1e-8;  ///< >= 0, on max |min(z, w)| of a solution, in multiples of max |r| [m/s]
};

/// Contact with polyhedral friction cones as a linear complementarity problem, solved by Lemke's
/// method: the Coulomb law of Stewart and Trinkle (1996) and Anitescu and Potra (1997), or
/// Anitescu's convex relaxation, both as in the Anitescu slides. See PolyhedralProblem for the
/// formulas.
///
/// One iteration is one pivot. Own residual: the artificial variable z_0 in m/s while pivoting,
/// max |min(z, w)| of the LCP at the end. Equality constraints are eliminated. Cost: 8 unknowns^2
/// bytes, and up to 2 unknowns^2 operations per pivot, on the host. Law: by option. Forms: both.
/// Warm start: no. Not for: more than a thousand contacts; it says so instead of trying.
class LcpSolver : public Solver {
 public:
  OptionList options() override;
  /// No: its cones are polyhedral.
  bool can_be_inner() const override { return false; }
  Law law() const override { return options_.law == "convex" ? Law::convex : Law::coulomb; }
  void check_options(const std::vector<std::string>& given) const override;
  /// Problems that are not planar, with edges=2.
  std::string why_unsupported(const ContactProblem& problem) const override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

 private:
  LcpOptions options_;
  const Problem* problem_ = nullptr;
  std::unique_ptr<PolyhedralProblem> polyhedral_;  ///< none if the problem is too large
  std::size_t unknowns_ = 0;
};

}  // namespace ccp
