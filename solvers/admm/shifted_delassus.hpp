#pragma once

#include <memory>

#include "problems/base/sym3.hpp"
#include "solvers/core/solver.hpp"

namespace ccp {

/// The linear algebra of a splitting method: products with
///     N (N + D)^-1 D,     D = diag(rho_c), one positive number per contact, 1/kg,
/// and one positive definite block per triple beside the contacts (in the units of BodyPools),
/// by one sparse factorisation that is kept for all products until D changes.
///
/// Bodies form: N = E E^T with the map E of velocity_space/, so that
///     N (N + D)^-1 D q = E S^-1 E^T q,     S = 1 + E^T D^-1 E,
/// whose matrix lives on the graph of bodies. Assembled form: N + D itself is factored.
///
/// Contacts are in an order of its own, contact_order().
class ShiftedDelassus {
 public:
  static std::unique_ptr<ShiftedDelassus> make(const Problem& problem);
  virtual ~ShiftedDelassus() = default;

  /// The problem's numbers of the contacts in the order of all arrays here, [n].
  virtual DeviceArray<const int*> contact_order() const = 0;

  /// Begins a solve, whose counters and timers are those of `info`; both arguments must live until
  /// the solve's end.
  virtual void begin(Observer& observer, Info& info) = 0;

  /// Factors anew. @param rho  [n] > 0, 1/kg, and what follows is not looked at
  /// @param pools  [pools] D^-1 of the triples beside the contacts, kg
  /// @return false if the matrix is not positive definite
  virtual bool factorize(const DeviceArray<const double*>& rho,
                         const DeviceArray<const Sym3*>& pools) = 0;

  /// d = N (N + D)^-1 D q, [3 triples] in world axes each: with x = (N + D)^-1 D q that is N x, and
  /// x = q - D^-1 d.
  virtual void product(const ConstVectorView& q, const VectorView& d) = 0;
};

}  // namespace ccp
