#pragma once

#include <memory>

#include "problems/base/sym3.hpp"
#include "solvers/core/cone.hpp"
#include "solvers/core/solver.hpp"

namespace ccp {

/// (D + Sigma)^-1 of every triple [kg]: penalties rho, and the compliance Sigma of contacts in
/// bodies form and of triples beside the contacts.
struct Yield {
  DeviceArray<const double*> rho;             ///< [triples] > 0, 1/kg
  DeviceArray<const Sym3*> beside;            ///< [pools] of the triples beside the contacts
  DeviceArray<const double* [2]> compliance;  ///< [n] of contacts, 1/kg; empty: rigid
  DeviceArray<const double* [3]> normal;      ///< [n]; not looked at where rigid
  int contacts = 0;

  KOKKOS_INLINE_FUNCTION Vec3 operator()(int t, const Vec3& v) const {
    if (t >= contacts) return beside(t - contacts) * v;
    if (compliance.extent(0) == 0) return (1 / rho(t)) * v;
    return stretch(1 / (rho(t) + compliance(t, 0)), 1 / (rho(t) + compliance(t, 1)), v,
                   row3(normal, t));
  }
  /// The same as a block.
  KOKKOS_INLINE_FUNCTION Sym3 block(int t) const {
    if (t >= contacts) return beside(t - contacts);
    const bool rigid = compliance.extent(0) == 0;
    const double along = 1 / (rho(t) + (rigid ? 0 : compliance(t, 0))),
                 across = 1 / (rho(t) + (rigid ? 0 : compliance(t, 1)));
    if (rigid) return {along, 0, 0, along, 0, along};
    const Vec3 n = row3(normal, t);
    const double axis[3] = {n.x, n.y, n.z};
    return symmetric(
        [&](int i, int j) { return (along - across) * axis[i] * axis[j] + (i == j ? across : 0); });
  }
};

/// The linear algebra of a splitting method: products with
///     N (N + D)^-1 D,     D one positive definite block per triple, 1/kg, rho_c 1 where a contact
/// is rigid (triples beside the contacts in the units of BodyPools), by one sparse factorisation
/// that is kept for all products until D changes. N is without Sigma in bodies form.
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

  /// Factors anew. @param yield  D^-1
  /// @return false if the matrix is not positive definite
  virtual bool factorize(const Yield& yield) = 0;

  /// d = N (N + D)^-1 D q, [3 triples] in world axes each: with x = (N + D)^-1 D q that is N x, and
  /// x = q - D^-1 d.
  virtual void product(const ConstVectorView& q, const VectorView& d) = 0;
};

}  // namespace ccp
