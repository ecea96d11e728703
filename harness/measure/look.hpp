#pragma once

#include "solvers/core/problem.hpp"

namespace ccp {

/// Sums and maxima over the contacts under one law, where v is u for the CCP and De Saxce's
/// u + (mu |u_t|, 0, 0) for Coulomb's law; P is the projection onto K_mu.
struct LawTotals {
  double dot = 0;      ///< sum gamma_c.v_c, J
  double dual = 0;     ///< max dist(v_c, K*), m/s
  double natural = 0;  ///< max |gamma_c - P(gamma_c - v_c/s)|_inf, N s
  double merit = 0;    ///< sum C_c.N_cc^-1 C_c with C = gamma - P(gamma - v), J
  double normal = 0;   ///< sum of |.| of the normal parts of natural's vectors, N s
};

/// One look at an iterate: what the functions of the measures' table work with.
/// docs/measures.md#symbols has n, s and q.
struct Look {
  const Problem& problem;
  ConstVectorView
      gamma;          ///< 3 values per triple, N s, contact axes, in the execution space's memory
  ConstVectorView u;  ///< N gamma + r, m/s, likewise
  long long n;        ///< cones, > 0: contacts, and equality constraints if there are any
  double s;           ///< trace(N) / 3n, 1/kg
  double q;           ///< rms(r), m/s
  /// max(0, mu |u_t| - u_n, |gamma_t| - mu gamma_n), m/s and N s; like merit and normal of the laws
  /// NaN where there is rolling resistance or an equality constraint: the papers define none
  double feas;
  double primal;  ///< max dist(gamma_c, K), N s
  LawTotals convex, coulomb;
  double merit_scale;  ///< sum r_c.N_cc^-1 r_c, J; 0 where r = 0
  // Against the problem's reference; NaN where there is none.
  double velocity;       ///< max |v(gamma) - v(reference)| over bodies, m/s; NaN for an assembled N
  double objective_gap;  ///< f(gamma) - f(reference), J
  double multiplier;     ///< mean relative error of the normal impulses
};

}  // namespace ccp
