#pragma once

#include <memory>

#include "solvers/admm/ordered_triples.hpp"
#include "solvers/admm/shifted_delassus.hpp"

namespace ccp {

struct AdmmOptions {
  double rho = 0.1;         ///< > 0: first penalty, rho_c = this * trace(N_cc)/3 [1/kg]
  double relaxation = 1.6;  ///< in (0, 1.99]: a of x; 1: none
  int adapt_after = 20;  ///< >= 1: iterations before rho is first looked at, then 2, 4, ... times
  /// >= 1: rho is multiplied by sqrt(primal / dual) of the relative residuals, unless that is
  /// between 1 / this and this
  double adapt_threshold = 1.2;
  int max_refactorizations = 20;  ///< >= 0, changes of rho; 0: it is constant
  double tolerance = 1e-12;       ///< >= 0, on the own residual (below); 0: never ends by itself
  int max_iterations = 100000;    ///< >= 1
};

/// Alternating direction method of multipliers for  min 1/2 x.N x + r.x + [z in K_mu],  x = z,
/// with the scaled multipliers w of x = z and the penalties rho_c [1/kg]:
///
///     x <- (N + D)^-1 (D (z - w) - r),    D = diag(rho_c)
///     z <- P( a x + (1 - a) z + w ),      a = relaxation
///     w <- w + a x + (1 - a) z_old - z
///
/// Rolling resistance and equality constraints are triples beside the contacts; a joint has the
/// whole of R^3 as its cone. A compliance Sigma is a part of N.
///
/// Own residual: max_c max( t_c |x - z|_c, rho_c |z - z_old|_c ) / q, t_c = trace(N_cc)/3, q =
/// rms(r).
/// Cost per iteration: the two triangular solves of the factor, one pass over the contacts.
/// Law: convex. Forms: both. Warm start: yes. Not for: bodies by the hundred thousand, whose factor
/// does not fit the cache or the memory.
class AdmmSolver : public Solver {
 public:
  OptionList options() override;
  void setup(const Problem& problem) override;
  Info solve(Vector& gamma, Observer& observer) override;

  /// How far an iteration is from a fixed point; all in m/s.
  struct Step {
    double primal = 0;    ///< max_c t_c |x - z|
    double dual = 0;      ///< max_c rho_c |z - z_old|
    double impulse = 0;   ///< max_c t_c |z|
    double velocity = 0;  ///< max_c |N x|
  };

  // Public only because device lambdas may not live in private members.
  void start(const ConstVectorView& gamma) const;
  void set_rho(double rho) const;  ///< and yield_
  void rescale(double factor) const;
  void prepare() const;
  Step advance() const;
  template <class AnyYield>
  void prepare_with(const AnyYield& yield) const;
  template <class AnyYield>
  Step advance_with(const AnyYield& yield) const;

 private:
  Yield make_yield() const { return triples_.yield(rho_, yield_); }

  AdmmOptions options_;
  const Problem* problem_ = nullptr;
  std::unique_ptr<ShiftedDelassus> matrix_;
  OrderedTriples triples_;    ///< in the order of the matrix, as all that follows
  DeviceArray<double*> rho_;  ///< [triples] 1/kg
  DeviceArray<Sym3*> yield_;  ///< [pools] (D + Sigma)^-1 beside the contacts, kg
  VectorView z_, w_;
  VectorView push_;  ///< z - w - (D + Sigma)^-1 (r + Sigma (z - w))
  VectorView d_;     ///< N x
};

}  // namespace ccp
