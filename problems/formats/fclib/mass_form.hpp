#pragma once

#include <functional>
#include <string>
#include <vector>

#include "problems/formats/fclib/sparse_columns.hpp"

namespace ccp {

/// A problem as FCLIB calls it "global": velocities v [d] of any kind of bodies and
///     M v = H gamma + f,    u = H^T v + w,
/// so that N = H^T M^-1 H and r = H^T M^-1 f + w. Each contact has three columns of H, (n, t1, t2).
struct MassForm {
  SparseColumns mass;     ///< M [d x d], symmetric positive definite
  SparseColumns contact;  ///< H [d x 3n]
  std::vector<double> f;  ///< [d]
  std::vector<double> w;  ///< [3n]
  // Rolling friction, two more columns of H for each contact: the relative angular velocity of its
  // bodies about t1 and t2.
  SparseColumns rolling;          ///< [d x 2n]; no columns without
  std::vector<double> w_rolling;  ///< [2n]
  // Equality constraints, M v = H gamma + G lambda + f and G^T v + b = 0.
  SparseColumns joint;    ///< G [d x p]
  std::vector<double> b;  ///< [p]
};

/// x <- A^-1 x, for a matrix that was factorised.
using MassSolve = std::function<void(std::vector<double>& x)>;
/// Factorises a symmetric positive definite matrix, given by its lower triangle in compressed
/// columns. @return empty if it is not positive definite. Injected: problems/ knows no linear
/// solver.
using MassFactoriser =
    std::function<MassSolve(const std::vector<std::int64_t>& offset, const std::vector<int>& row,
                            const std::vector<double>& value)>;

/// N and r without equality constraints, by a factorisation of each connected part of M by itself.
/// N has a block for each pair of contacts that touch the same part.
/// @param where, place  of M, for the error
/// @throws InputError if M is not positive definite
void condense(const MassForm& form, const MassFactoriser& factorise, const std::string& where,
              const std::string& place, BlockMatrix& delassus, std::vector<double>& r);

/// v = M^-1 (H gamma + G lambda + f). @param moments  [2n] of rolling friction, or none
/// @throws InputError if M is not positive definite
std::vector<double> velocities(const MassForm& form, const std::vector<double>& gamma,
                               const std::vector<double>& moments,
                               const std::vector<double>& lambda, const MassFactoriser& factorise,
                               const std::string& where);

/// y + A x and y + A^T x.
std::vector<double> multiply_add(const SparseColumns& a, const std::vector<double>& x,
                                 std::vector<double> y);
std::vector<double> multiply_transposed_add(const SparseColumns& a, const std::vector<double>& x,
                                            std::vector<double> y);

/// The same as bodies, contact frames and arms, where M and H are those of rigid bodies: M of
/// 3x3 blocks m 1, or of 6x6 blocks diag(m 1, J); each contact touches one or two of them, by
/// columns (±F^T, arm x ±F^T) with one orthonormal F. Fills inverse_mass, inverse_inertia,
/// contact_bodies, frame, arm_a, arm_b and r; a contact of one body is one with the ground. Each
/// column of G must touch one or two bodies, too; up to three that follow each other and touch the
/// same become an equality constraint. Of rolling triples, `problem` says which contacts have one;
/// their columns must be t1 and t2 in the rows of rotation, and their r is filled. Those of Siconos
/// count rotations in the axes of each body, which is seen by these columns, and turned.
/// @return "" or why that is not so; `problem` is then unchanged
std::string to_bodies(const MassForm& form, ContactProblem& problem);

/// M, H and G of a problem in bodies form, with f = 0, w = r and b that of equality constraints, a
/// column for each row in use. Immovable bodies drop out, bodies without rotation have 3
/// velocities. The rows of rolling triples about the normal and compliance are not looked at.
/// @throws InputError for a body that rotates with a singular inverse mass or inertia
MassForm from_bodies(const ContactProblem& problem, const std::string& where);

}  // namespace ccp
