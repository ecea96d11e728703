#pragma once

#include <array>

#include "problems/base/mat3.hpp"
#include "problems/base/quaternion.hpp"
#include "problems/geometry/shapes.hpp"

namespace ccp {

/// Pseudo-rigid bodies (Cohen and Muncaster 1988, as Koziara 2019 Sect. 8.1 uses them): a point Y
/// of the body's own axes is at x + F Y, with any matrix F in place of a rotation.

/// What a pseudo-rigid body is made of: the St. Venant-Kirchhoff material
///     S = lambda tr(E) 1 + 2 shear E,   E = (F^T F - 1) / 2,   P = F S.
struct Elasticity {
  double lambda = 0, shear = 0;  ///< Pa, Lame's constants
  double damping = 0;            ///< s, eta: forces -eta K dF/dt
  double volume = 0;             ///< m^3, of the body without strain
  Vec3 euler;                    ///< kg m^2, the integral of rho Y_k^2, in the body's own axes
};

/// Of a homogeneous body. @param young, poisson  Pa, and > -1 and < 1/2
/// @param inertia  kg m^2, principal moments about its own axes
Elasticity elasticity_of(double young, double poisson, double damping, double volume,
                         const Vec3& inertia);

/// J, the energy of the strain.
double strain_energy(const Elasticity& body, const Mat3& f);

/// -V P(F), N m: what the strain does to F; its torque about the centre, F x it, is zero.
Mat3 internal_force(const Elasticity& body, const Mat3& f);

/// K d = V F C[sym(F^T d)] with the material's moduli C: the derivative of V P(F) but for V d S,
/// the part that the stress has in it. Without that part K is positive semidefinite whatever the
/// strain is, and neither K d nor damping with it has a torque; it is of the strain's size.
Mat3 stiffness_times(const Elasticity& body, const Mat3& f, const Mat3& d);

/// A = E_0 + (eta h / 2 + h^2 / 4) K on F's nine numbers, factored: the matrix of a step.
class ImplicitInertia {
 public:
  ImplicitInertia(const Elasticity& body, const Mat3& f, double dt);
  /// A^-1 load.
  Mat3 solve(const Mat3& load) const;

 private:
  std::array<double, 81> factor_;  ///< lower triangle by rows
};

/// The rotation R of F = R S with a symmetric S. @param f  with a positive determinant
Quaternion rotation_of(const Mat3& f);

/// What F makes of a shape: of an ellipsoid the one with F diag(a, b, c) of the unit ball; a sphere
/// keeps its shape, whatever F is, and turns (Koziara 2019, "sph. defo").
struct DeformedShape {
  Shape shape;
  Quaternion orientation;
};
DeformedShape deformed(const Shape& shape, const Mat3& f);

}  // namespace ccp
