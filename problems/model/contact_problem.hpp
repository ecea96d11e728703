#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "problems/base/enum_text.hpp"

namespace ccp {

/// A symmetric matrix of 3x3 blocks in block-compressed-row storage, one block row per contact.
struct BlockMatrix {
  std::vector<std::int64_t> row_offsets;  ///< size n + 1
  std::vector<std::int32_t> columns;      ///< block column indices, ascending within a row
  std::vector<double> blocks;             ///< size 9 * columns.size(), row-major 3x3 blocks
  /// Relative asymmetry of what it was made from, max|A - A^T| / max|A|; the matrix itself is
  /// (A + A^T) / 2.
  double asymmetry = 0;
};

/// A solution stored with a problem, and what the referee measured of it.
struct Reference {
  std::vector<double> gamma;  ///< [triples][3] N s, see ContactProblem::triples()
  /// [m][6] m/s and rad/s, what gamma adds to the velocities of the bodies, M^-1 D gamma; empty in
  /// assembled form and in files made before it was stored.
  std::vector<double> velocity;
  std::map<std::string, double> measures;  ///< certificate: measure name -> value
  std::string method;                      ///< how it was obtained, e.g. "by hand"
};

/// A point to start from, stored with a problem.
struct Guess {
  std::vector<double> gamma;  ///< [triples][3] N s
  std::string method;         ///< where it comes from, e.g. "solution of the step before"
};

/// Where a problem came from. `parameters` is a JSON object in text form.
struct Source {
  std::string kind;         ///< "generated" or "imported"
  std::string description;  ///< one line for people
  std::string generator;    ///< command that makes the file again
  std::string parameters;   ///< JSON object, "" = none
  std::string licence;      ///< SPDX identifier
};

/// What a triple of constraint rows is. The triples of one kind are a pool: arrays of one shape, so
/// that a kernel over them has one shape, too. Rolling and equality rows belong to the bodies form.
enum class ConstraintKind {
  contact,   ///< three axes at a point of two bodies; cone K_mu
  rolling,   ///< the same axes against the bodies' angular velocities; with its contact in K6
  equality,  ///< any rows against the velocities of two bodies (joints, motors); free impulses
};

/// Rolling resistance, u_r = F (w_B - w_A) + r for the frame F of the contact it belongs to. With
/// the contact's gamma and the moment gamma_r [N m s] in its axes,
///     K6 = { gamma_n >= 0, |gamma_t| <= mu gamma_n, |gamma_r| <= rho gamma_n }.
/// A triple of two rows has none about the normal: bodies twist freely, there is no moment, and the
/// cone is K5, with gamma_r across the normal (rolling friction of Siconos and FCLIB).
struct RollingPool {
  std::vector<std::int32_t> contact;  ///< [k] contacts that have it, ascending
  std::vector<double> rho;            ///< [k] m, >= 0
  std::vector<double> r;              ///< [k][3] rad/s
  std::vector<double> compliance;     ///< [k][2] 1/(kg m^2), about n and across; empty = zero
  std::vector<std::int32_t> rows;     ///< [k] 3, or 2 without that about n; empty = 3
  std::size_t size() const { return contact.size(); }
  int rows_of(std::size_t k) const { return rows.empty() ? 3 : rows[k]; }
  bool twists(std::size_t k) const { return rows_of(k) == 3; }
};

/// Bilateral constraints, up to three rows each:
///     0 = u = J_A (v_A, w_A) + J_B (v_B, w_B) + r + Sigma gamma,  gamma free.
struct EqualityPool {
  std::vector<std::int32_t> bodies;  ///< [k][2] bodies A and B; -1 = immovable
  std::vector<std::int32_t> rows;    ///< [k] 1 to 3 rows are in use; the others are zero
  std::vector<double> jacobian_a;    ///< [k][3][6] what multiplies (v_A, w_A): 1 and m
  std::vector<double> jacobian_b;    ///< [k][3][6]
  std::vector<double> r;             ///< [k][3] m/s, or rad/s of rows that have no unit in v
  std::vector<double> compliance;    ///< [k][3] of each row, >= 0; empty = zero
  std::size_t size() const { return rows.size(); }
};

/// One frozen cone complementarity problem, as plain host data.
///
///     K_mu  ∋  gamma  ⊥  u = (N + Sigma) gamma + r  ∈  K_mu*
///
/// where Sigma is diagonal and, in most problems, zero: the compliance of regularised contacts
/// (Wang 2016 eq. 1 and 16). Wherever the project says N, N + Sigma is meant.
///
/// with friction cones K_mu = {mu gamma_n >= |gamma_t|} and their duals {u_n >= mu |u_t|}; a
/// contact with mu = 0 has the half-line gamma_n >= 0, gamma_t = 0. Every triple is ordered (n, t1,
/// t2).
///
/// Two forms. `Form::bodies`: N = D^T M^-1 D is given by masses, contact frames and arms, with
///     u = frame (v_B + w_B x arm_b - v_A - w_A x arm_a).
/// `Form::assembled`: N itself is given. Units are SI. Arrays are flat, row-major.
struct ContactProblem {
  enum class Form { bodies, assembled };

  std::string name;
  Form form = Form::bodies;

  // Both forms; n = number of contacts.
  std::vector<double> r;          ///< [n][3] m/s, free contact velocity
  std::vector<double> mu;         ///< [n] friction coefficients, >= 0
  std::vector<double> stiffness;  ///< [n][2] N/m, normal and tangential; empty = not known
  /// [n][2] 1/kg, normal and tangential, >= 0: Sigma; empty = zero
  std::vector<double> compliance;
  /// [n] numbers that a contact keeps from step to step of a sequence, each once; empty = none.
  /// Not part of the content hash.
  std::vector<std::int64_t> identity;

  // Form::bodies; m = number of bodies.
  std::vector<double> inverse_mass;  ///< [m] 1/kg, >= 0
  std::vector<double>
      inverse_inertia;  ///< [m][3][3] 1/(kg m^2), world frame; empty: no body rotates
  std::vector<std::int32_t> contact_bodies;  ///< [n][2] bodies A and B; -1 = immovable
  std::vector<double> frame;                 ///< [n][3][3] rows n, t1, t2; n points from A to B
  std::vector<double> arm_a, arm_b;  ///< [n][3] m, body centre to contact; empty: no body rotates

  RollingPool rolling;
  EqualityPool equality;

  // What the bodies form was made from; empty (or 0) where it is not known.
  std::vector<double> position;     ///< [m][3] m
  std::vector<double> orientation;  ///< [m][4] unit quaternion w, x, y, z
  std::vector<double> radius;       ///< [m] m
  std::vector<double> velocity;     ///< [m][6] m/s and rad/s, linear then angular
  std::vector<double> gap;          ///< [n] m, signed distance
  double dt = 0;                    ///< s, time step
  std::array<double, 3> gravity{};  ///< m/s^2

  // Form::assembled.
  BlockMatrix delassus;  ///< N, 1/kg

  std::optional<Reference> reference;
  std::map<std::string, Guess> guesses;  ///< by name
  Source source;

  std::size_t contacts() const { return mu.size(); }
  /// Triples of rows of all kinds, and of gamma, u and r: those of the contacts come first, then
  /// the rolling ones, then the equality constraints.
  std::size_t triples() const { return contacts() + rolling.size() + equality.size(); }
  std::size_t bodies() const { return inverse_mass.size(); }
  bool rotates() const { return !inverse_inertia.empty(); }
  bool is_compliant() const { return !compliance.empty(); }
  /// Whether there are triples of that kind.
  bool has(ConstraintKind kind) const;

  /// Checks every shape, index range, sign, finiteness and frame.
  /// @param where  named in the error, usually the file
  /// @throws InputError naming the array, what was expected and what was found
  void validate(const std::string& where) const;

  /// SHA-256 (hex) over everything that defines the problem or what it was made from, in the order
  /// and byte order of docs/problem-format.md; name, source, reference, guesses and identity do not
  /// enter.
  std::string content_hash() const;
};

template <>
struct EnumTable<ContactProblem::Form> {
  static constexpr EnumText<ContactProblem::Form> rows[] = {
      {ContactProblem::Form::bodies, "bodies"}, {ContactProblem::Form::assembled, "assembled"}};
};

/// A row of `ContactProblem::arrays`: one array of the file with its name and shape.
struct ArrayField {
  std::string path;              ///< dataset in the file, e.g. "/contacts/frame"
  std::vector<double>* doubles;  ///< exactly one of the three is not null
  std::vector<std::int32_t>* ints;
  std::vector<std::int64_t>* longs;
  std::vector<std::size_t> tail;  ///< extents after the first
  enum class Rows {
    contacts,
    bodies,
    rolling,
    equality,
    free
  } rows;  ///< what the first extent must be
  bool required;

  std::size_t size() const;  ///< numbers that it has
  std::size_t bytes() const;
  const void* data() const;
};

/// The arrays that make up a problem of its form, in the order in which they are hashed. Reader,
/// writer, validation and hash all walk this one list.
std::vector<ArrayField> array_fields(ContactProblem& problem);

}  // namespace ccp
