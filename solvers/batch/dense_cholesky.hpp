#pragma once

#include "solvers/batch/team.hpp"

namespace ccp::batch {

/// A dense symmetric matrix by a team, columns one behind the other in memory of the team's; of
/// what is above the diagonal nothing is read.
struct DenseMatrix {
  double* data;
  int size;

  KOKKOS_INLINE_FUNCTION double& operator()(int i, int j) const {
    return data[static_cast<std::size_t>(j) * size + i];
  }

  /// A = L L^T, L in place of A. Zeros of L's rows cost nothing, four columns at a time.
  /// @return false, for all threads, if A is not positive definite
  KOKKOS_INLINE_FUNCTION bool factorise(const Team& team) const {
    constexpr int width = 4;
    for (int j = 0; j < size; ++j) {
      double* const column = &(*this)(0, j);
      int k = 0;
      for (; k + width <= j; k += width) {
        const double a = (*this)(j, k), b = (*this)(j, k + 1), c = (*this)(j, k + 2),
                     d = (*this)(j, k + 3);
        if (a == 0 && b == 0 && c == 0 && d == 0) continue;
        const double* const x = &(*this)(0, k);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, j, size), [&](const int i) {
          column[i] -= a * x[i] + b * x[i + size] + c * x[i + 2 * size] + d * x[i + 3 * size];
        });
      }
      for (; k < j; ++k) {
        const double a = (*this)(j, k);
        if (a == 0) continue;
        const double* const x = &(*this)(0, k);
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, j, size),
                             [&](const int i) { column[i] -= a * x[i]; });
      }
      team.team_barrier();
      const double pivot = column[j];
      if (!(pivot > 0)) return false;
      team.team_barrier();
      const double inverse = 1 / sqrt(pivot);
      each(team, j, size, [&](const int i) { column[i] *= inverse; });
    }
    return true;
  }

  /// x <- A^-1 x, with L in place of A.
  KOKKOS_INLINE_FUNCTION void solve(const Team& team, double* x) const {
    for (int j = 0; j < size; ++j) {
      const double value = x[j] / (*this)(j, j);
      const double* const column = &(*this)(0, j);
      team.team_barrier();
      each(team, j, size, [&](const int i) { x[i] = i == j ? value : x[i] - column[i] * value; });
    }
    for (int j = size - 1; j >= 0; --j) {
      const double* const column = &(*this)(0, j);
      const double value = (x[j] - dot(team, column, x, j + 1)) / column[j];
      team.team_barrier();
      Kokkos::single(Kokkos::PerTeam(team), [&]() { x[j] = value; });
      team.team_barrier();
    }
  }

 private:
  /// Of the rows from `begin` on. On the host in lanes, which a compiler may not make of one sum.
  KOKKOS_INLINE_FUNCTION double dot(const Team& team, const double* x, const double* y,
                                    int begin) const {
    if constexpr (on_host) {
      constexpr int lanes = 8;
      double part[lanes] = {}, rest = 0;
      int i = begin;
      for (; i + lanes <= size; i += lanes) {
        for (int l = 0; l < lanes; ++l) part[l] += x[i + l] * y[i + l];
      }
      for (; i < size; ++i) rest += x[i] * y[i];
      for (int l = 0; l < lanes; ++l) rest += part[l];
      return rest;
    } else {
      return sum<Number>(team, begin, size,
                         [&](const int i, Number& part) { part.value += x[i] * y[i]; })
          .value;
    }
  }
};

}  // namespace ccp::batch
