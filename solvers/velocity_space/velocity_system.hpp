#pragma once

#include <string>

#include "problems/base/sym3.hpp"
#include "solvers/core/problem.hpp"
#include "solvers/linear/system_source.hpp"
#include "solvers/preconditioners/preconditioner.hpp"
#include "solvers/velocity_space/body_pools.hpp"
#include "solvers/velocity_space/impulse_root.hpp"

namespace ccp {

/// The body side of velocity-space methods: the map between contacts and bodies, and the matrix
///     S = 1 + E^T K E,    E = D^T M^-1/2,
/// of symmetric 3x3 blocks K on the contacts, on the graph of bodies that touch.
///
/// Bodies are seen through mass-scaled velocities z with v = M^-1/2 z (M^-1/2 is a factor L with L
/// L^T = M^-1, so a body of zero inverse mass or inertia simply stays at rest); S is then free of
/// units and of mass ratios. A body has 3 unknowns, or 6 if bodies of the problem rotate. The
/// immovable body has none. Bodies are kept in an elimination order of their own (see `Ordering`).
///
/// Where only N is known the contacts' own velocities take the place of the bodies'
/// (assembled_system.hpp).
///
/// Impulses and contact velocities are in world axes, as everywhere in solvers/. Contacts, too,
/// have an order of their own here, in which those of a body lie together: see contact_order().
/// Made by make_velocity_system().
class VelocitySystem {
 public:
  /// Which bodies an incomplete factorisation eliminates first.
  ///   gravity  the free surface first: descending height against gravity
  ///   graph    descending number of contacts between a body and the ground
  ///   natural  the order of the problem
  ///   automatic gravity where gravity and positions are known and not zero, else graph
  static const std::vector<std::string>& orderings();

  /// Preconditioners of S for conjugate gradients: body_preconditioner_ids(), and
  ///   auto  block_ic0 until strengthen() is called, then block_ic1
  static std::vector<std::string> preconditioners();

  virtual ~VelocitySystem() = default;

  /// Unknowns: 3 or 6 per body.
  virtual int size() const = 0;
  virtual Teuchos::RCP<const Map> map() const = 0;
  /// The problem's numbers of the contacts in the order of all arrays here, [n]. Triples beside the
  /// contacts (ConstraintPools) follow them in the problem's order, in the units of contacts: see
  /// BodyPools.
  virtual DeviceArray<const int*> contact_order() const = 0;

  /// d = E z: relative velocities [3 triples] m/s of mass-scaled body velocities z [size] m/s
  /// sqrt(kg).
  virtual void contact_velocities(const ConstVectorView& z, const VectorView& d) const = 0;
  /// f = E^T p: what impulses p [3 triples] N s do to the bodies, [size] sqrt(kg) m/s.
  virtual void load(const ConstVectorView& p, const VectorView& f) const = 0;
  /// Largest speed max |M^-1/2 f| that a residual f means for any body, a rotation counted at the
  /// farthest contact, m/s.
  virtual double speed(const ConstVectorView& f) const = 0;

  /// Takes the blocks K, [triples] kg, positive semidefinite.
  /// @param cross  [rolling] K between a contact and its rolling triple; empty = zero
  virtual void assemble(const DeviceArray<Sym3*>& k, const DeviceArray<CrossBlock*>& cross) = 0;
  void assemble(const DeviceArray<Sym3*>& k) { assemble(k, {}); }
  /// Whether it takes factors of these blocks, which have more digits, for the blocks.
  virtual bool takes_roots() const { return false; }
  virtual void assemble_roots(const DeviceArray<ImpulseRoot*>& roots) { (void)roots; }
  /// Whether there are a matrix and preconditioners for conjugate gradients; else only the triangle
  /// for a factorisation.
  virtual bool iterative() const { return true; }
  /// What a product with S and an application of the preconditioner read, bytes.
  virtual double iteration_bytes() const { return 0; }
  /// S of the last assemble.
  virtual Teuchos::RCP<const Operator> matrix() const = 0;

  /// A solve begins, which shall not depend on those before: strengthen() was not called yet.
  virtual void begin() {}
  /// Computes the preconditioner for the present S. One of an incomplete factorisation that could
  /// not be made at any shift is positive definite all the same.
  virtual PreconditionerReport precondition() = 0;
  /// Whether that factors parts of S exactly, so that directions are worth refining.
  virtual bool factors_parts() const { return false; }
  /// Changes from block_ic0 to block_ic1 at the next factorisation, where that is left open (auto).
  /// Whoever holds preconditioner() must ask for it again. @return whether anything changes
  virtual bool strengthen() = 0;
  virtual Teuchos::RCP<const Operator> preconditioner() const = 0;
  /// It will not be needed again in this solve: its memory may go.
  virtual void drop_preconditioner() {}

  /// S as a matrix of blocks, and the problem's numbers of the bodies in its rows; null and empty
  /// where only N is known.
  virtual Teuchos::RCP<const SymmetricBlocks> blocks() const { return Teuchos::null; }
  virtual DeviceArray<const int*> body_order() const { return {}; }
  /// S x = b for whoever looks at a solver's systems.
  PosedSystem pose(long outer, const Teuchos::RCP<const Vector>& b) const;

  /// Lower triangle, in compressed columns, of the matrix A that a sparse direct solver factors: S
  /// itself, or a symmetric relative of it. The diagonal entry is the first of its column.
  virtual void lower_pattern(std::vector<std::int64_t>& column_offsets,
                             std::vector<int>& rows) const = 0;
  virtual void lower_values(std::vector<double>& values) const = 0;
  /// The same on the device; here a copy, for systems that make them on the host.
  virtual DeviceArray<double*> device_lower_values() const;
  /// Unknowns come in blocks of so many, which are in the pattern of A together or not at all.
  virtual int block_size() const { return 3; }
  /// Frobenius norms of A's blocks below the diagonal, in the order of lower_pattern(), no unit;
  /// empty where none may be left out.
  virtual std::vector<double> block_norms() const { return {}; }
  /// From now on lower_pattern() and lower_values() have these of the blocks below the diagonal
  /// only, one flag each in the order of block_norms(); empty = all of them, as at the start.
  virtual void keep_blocks(const std::vector<char>& kept) { (void)kept; }
  /// S x = b by way of A y = c: makes c of b, and x of y, which is in x.
  virtual void to_factored(const ConstVectorView& b, const VectorView& c) const {
    Kokkos::deep_copy(c, b);
  }
  virtual void from_factored(const ConstVectorView& b, const VectorView& x) const {
    (void)b, (void)x;
  }
};

}  // namespace ccp
