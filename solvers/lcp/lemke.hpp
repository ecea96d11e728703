#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace ccp {

/// A linear complementarity problem, with M in compressed rows:
///
///     0 <= z  ⊥  w = M z + q >= 0
struct Lcp {
  std::vector<std::int64_t> row_offsets{0};  ///< size + 1
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  std::vector<double> q;

  std::size_t size() const { return q.size(); }
  /// w = M z + q.
  std::vector<double> slack(const std::vector<double>& z) const;
  /// max_i |min(z_i, w_i)|: zero exactly at the solutions.
  double violation(const std::vector<double>& z) const;
};

/// Lemke's complementary pivoting (Cottle, Pang and Stone, The Linear Complementarity Problem,
/// Sect. 4.4) with the lexicographic ratio test.
///
/// The dictionary x_B = b + D x_N of the basic in terms of the nonbasic variables is kept densely,
/// on the host. A pivot is one update of rank one, 2 size^2 operations at most: rows and columns
/// that do not take part are skipped, so that the first pivots of a sparse problem are cheap. Rows
/// are shared by the threads of Kokkos' host space; the result does not depend on their number.
///
/// Rounding. Every 50 pivots the basic values are corrected against the problem itself, with B^-1
/// read from the dictionary; where that corrects much, the dictionary is made anew. In exact
/// arithmetic the lexicographic order rules out that a basis comes back. In floating point it does,
/// on large problems with many ties; then (as after a ray, or values that rounding cannot explain)
/// the method begins again with q raised by random amounts of 1e-7, once, and takes them back at
/// the end. Raising q keeps a contact problem solvable.
///
/// Solves, or proves infeasible, problems whose M is copositive-plus; finds a solution of a
/// copositive M where q is not in the way (Anitescu and Potra 1997). In general the number of
/// pivots is not bounded by a polynomial.
class Lemke {
 public:
  enum class State {
    running,  ///< almost complementary: the artificial variable is in the basis
    solved,
    ray,        ///< no row limits the entering variable: a secondary ray
    cycle,      ///< a basis came back
    breakdown,  ///< rounding errors have spoilt the dictionary
  };

  /// The problem must outlive it. Allocates `bytes(size)`.
  explicit Lemke(const Lcp& lcp);
  /// Of memory that a problem of this size takes.
  static double bytes(std::size_t size);

  State state() const { return state_; }
  /// One pivot, while the state is running. @return the new state
  State pivot();
  /// Whether it began again with another q.
  bool perturbed() const { return perturbed_; }
  /// The current value of z, size entries >= 0 up to rounding.
  std::vector<double> z() const;
  /// The artificial variable z_0 >= 0; zero when solved.
  double artificial() const;

  // Public only because device lambdas may not live in private members.
  void update_rows(std::size_t row, std::size_t column);

 private:
  double& at(std::size_t row, std::size_t column) { return dictionary_[row * width_ + column]; }
  double at(std::size_t row, std::size_t column) const {
    return dictionary_[row * width_ + column];
  }
  void fill();
  void start();
  bool chooses(std::size_t row, std::size_t other, std::size_t column) const;
  std::size_t leaving_row(std::size_t column) const;
  void swap(std::size_t row, std::size_t column);
  void exchange(std::size_t row, std::size_t column);
  double refine();
  bool rebuild();
  double least_value() const;
  void perturb();
  State fail(State state);

  // Variables: w_i is i, z_i is size + i, z_0 is 2 size.
  const Lcp& lcp_;
  std::vector<double> q_;              ///< lcp.q, or perturbed
  std::size_t size_, width_;           ///< width: nonbasic columns, then b
  std::vector<double> dictionary_;     ///< [size][width]
  std::vector<std::size_t> basic_;     ///< [size] variable of each row
  std::vector<std::size_t> nonbasic_;  ///< [size + 1] variable of each column
  std::vector<std::size_t> place_;     ///< [2 size + 1] column, or size + 1 + row
  std::vector<std::int32_t> nonzero_;  ///< columns of the pivot row that are not zero
  std::size_t entering_ = 0;           ///< variable
  std::uint64_t signature_ = 0;        ///< of the basis
  std::unordered_set<std::uint64_t> seen_;
  bool perturbed_ = false;
  long pivots_ = 0;
  State state_ = State::running;
};

}  // namespace ccp
