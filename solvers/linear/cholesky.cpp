#include "solvers/linear/cholesky.hpp"

#include <cholmod.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>

#include "solvers/linear/supernodes.hpp"

namespace ccp {
namespace {

/// A triangle that CHOLMOD could read past the end of is refused here, where it costs one pass.
void check_pattern(const std::vector<std::int64_t>& offsets, const std::vector<int>& rows,
                   int block) {
  const auto refuse = [](const std::string& what) {
    throw std::invalid_argument("SparseCholesky: " + what);
  };
  if (offsets.empty() || offsets.front() != 0 ||
      offsets.back() != static_cast<std::int64_t>(rows.size())) {
    refuse("column offsets must run from 0 to the number of rows given");
  }
  const auto n = static_cast<std::int64_t>(offsets.size()) - 1;
  for (std::int64_t j = 0; j < n; ++j) {
    if (offsets[j + 1] < offsets[j] || offsets[j + 1] > offsets[n]) {
      refuse("column offsets must ascend");
    }
    for (std::int64_t k = offsets[j]; k < offsets[j + 1]; ++k) {
      const bool ascending = k == offsets[j] || rows[k] > rows[k - 1];
      if (rows[k] < j || rows[k] >= n || !ascending) {
        refuse("rows of column " + std::to_string(j) +
               " must ascend from the diagonal and be below " + std::to_string(n));
      }
    }
  }
  for (std::int64_t j = 0; j < n; j += block) {
    bool whole = j + block <= n && (offsets[j + 1] - offsets[j]) % block == 0;
    for (std::int64_t k = offsets[j]; whole && k < offsets[j + 1]; k += block) {
      whole = rows[k] % block == 0;
    }
    if (!whole) refuse("column " + std::to_string(j) + " is not of whole blocks");
  }
}

/// Up to so many blocks AMD takes less time than METIS, and its factors are as small.
constexpr std::size_t small = 1000;

using Index = SuiteSparse_long;
static_assert(sizeof(Index) == sizeof(std::int64_t));

/// CHOLMOD asks OpenMP for four threads whatever the run has, and the BLAS within them for the
/// run's again: what act starts is at most the run's. act must not throw.
template <class Act>
void within_threads_of_run(const Act& act) {
#ifdef _OPENMP
#pragma omp teams num_teams(1) thread_limit(omp_get_max_threads())
#endif
  act();
}

/// A lower triangle as CHOLMOD takes it.
cholmod_sparse lower_triangle(std::vector<Index>& offsets, std::vector<Index>& rows) {
  cholmod_sparse a{};
  a.nrow = a.ncol = offsets.size() - 1;
  a.nzmax = rows.size();
  a.p = offsets.data();
  a.i = rows.data();
  a.stype = -1;
  a.itype = CHOLMOD_LONG;
  a.xtype = CHOLMOD_PATTERN;
  a.dtype = CHOLMOD_DOUBLE;
  a.packed = 1;
  return a;
}

}  // namespace

// The interface with 64-bit indices: factors of 3D piles pass 2^31 entries before they pass memory.
struct SparseCholesky::Cholmod {
  cholmod_common common{};
  std::vector<Index> order;          ///< the unknown at each place of the elimination
  std::vector<Index> offsets, rows;  ///< of P A P^T
  std::vector<std::size_t> source;   ///< where its entries are in A
  std::vector<double> values, right;
  cholmod_sparse a{};  ///< P A P^T
  cholmod_factor* factor = nullptr;
  // Kept from one solve to the next.
  cholmod_dense *x = nullptr, *work_y = nullptr, *work_e = nullptr;
  double entries = 0, operations = 0;
  bool factorized = false, single = false;
  float* rounded = nullptr;  ///< the entries of L, where they are kept in single precision
  std::vector<double> work;

  Cholmod() { cholmod_l_start(&common); }
  ~Cholmod() {
    cholmod_l_free_dense(&x, &common);
    cholmod_l_free_dense(&work_y, &common);
    cholmod_l_free_dense(&work_e, &common);
    drop_rounded();
    cholmod_l_free_factor(&factor, &common);
    cholmod_l_finish(&common);
  }
  Cholmod(const Cholmod&) = delete;
  Cholmod& operator=(const Cholmod&) = delete;

  cholmod_factor* analyze(cholmod_sparse& matrix, int ordering) {
    common.nmethods = 1;
    common.method[0].ordering = ordering;
    common.postorder = ordering == CHOLMOD_NATURAL ? 0 : 1;
    // Supernodes pay where columns of L are long. In short ones, of small problems, the calls of
    // the BLAS take several times as long as column by column without it.
    common.supernodal = ordering == CHOLMOD_NATURAL ? CHOLMOD_AUTO : CHOLMOD_SIMPLICIAL;
    common.final_ll = 1;  // L D L^T would not notice a negative pivot
    common.status = CHOLMOD_OK;
    return cholmod_l_analyze(&matrix, &common);
  }
  /// Finds in which order blocks of unknowns are best eliminated.
  void find_order(const std::vector<std::int64_t>& column_offsets, const std::vector<int>& row,
                  int block) {
    std::vector<Index> graph_offsets{0}, graph_rows;
    for (std::size_t j = 0; j + 1 < column_offsets.size(); j += block) {
      for (auto k = column_offsets[j]; k < column_offsets[j + 1]; k += block) {
        graph_rows.push_back(row[k] / block);
      }
      graph_offsets.push_back(static_cast<Index>(graph_rows.size()));
    }
    cholmod_sparse graph = lower_triangle(graph_offsets, graph_rows);
    cholmod_factor* found = analyze(graph, graph.nrow <= small ? CHOLMOD_AMD : CHOLMOD_METIS);
    if (found == nullptr && common.status != CHOLMOD_OUT_OF_MEMORY) {
      found = analyze(graph, CHOLMOD_AMD);
    }
    require(found != nullptr);
    const auto* const blocks = static_cast<const Index*>(found->Perm);
    order.reserve(column_offsets.size() - 1);
    for (std::size_t k = 0; k < graph.nrow; ++k) {
      for (int p = 0; p < block; ++p) order.push_back(blocks[k] * block + p);
    }
    cholmod_l_free_factor(&found, &common);
  }
  /// P A P^T, so that CHOLMOD need not permute it for every factorisation.
  void permute(const std::vector<std::int64_t>& column_offsets, const std::vector<int>& row) {
    const std::size_t n = order.size();
    std::vector<Index> place(n);
    for (std::size_t k = 0; k < n; ++k) place[order[k]] = static_cast<Index>(k);
    offsets.assign(n + 1, 0);
    const auto for_each = [&](const auto& act) {
      for (std::size_t j = 0; j < n; ++j) {
        for (auto k = column_offsets[j]; k < column_offsets[j + 1]; ++k) {
          const auto [least, most] = std::minmax(place[j], place[row[k]]);
          act(static_cast<std::size_t>(k), least, most);
        }
      }
    };
    for_each([&](std::size_t, Index column, Index) { ++offsets[column + 1]; });
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<Index> next(offsets.begin(), offsets.end() - 1);
    rows.resize(row.size());
    source.resize(row.size());
    for_each([&](std::size_t k, Index column, Index below) {
      rows[next[column]] = below;
      source[next[column]++] = k;
    });
    values.resize(row.size());
    a = lower_triangle(offsets, rows);
  }
  /// Keeps L in single precision only, in the first half of its own memory: the two never take
  /// more than the one in double precision.
  void round_entries() {
    auto* const bytes = static_cast<unsigned char*>(factor->x);
    constexpr std::size_t together = 1024;
    std::array<double, together> from;
    std::array<float, together> to;
    for (std::size_t first = 0; first < factor->xsize; first += together) {
      const std::size_t count = std::min(together, factor->xsize - first);
      std::memcpy(from.data(), bytes + first * sizeof(double), count * sizeof(double));
      std::copy_n(from.begin(), count, to.begin());
      std::memcpy(bytes + first * sizeof(float), to.data(), count * sizeof(float));
    }
    // The structure alone, which the next factorisation starts from.
    factor->x = nullptr;
    factor->xtype = CHOLMOD_PATTERN;
    std::size_t floats = factor->xsize * (sizeof(double) / sizeof(float));
    rounded = static_cast<float*>(
        cholmod_l_realloc(factor->xsize, sizeof(float), bytes, &floats, &common));
  }
  void drop_rounded() {
    if (rounded == nullptr) return;
    rounded = static_cast<float*>(cholmod_l_free(factor->xsize, sizeof(float), rounded, &common));
  }
  Supernodes supernodes() const {
    const auto ints = [](const void* array) { return static_cast<const std::int64_t*>(array); };
    return {factor->nsuper, ints(factor->super), ints(factor->pi), ints(factor->px),
            ints(factor->s)};
  }
  /// After a call that must not fail.
  void require(bool good) const {
    if (good) return;
    if (common.status == CHOLMOD_OUT_OF_MEMORY) throw std::bad_alloc();
    throw std::runtime_error("CHOLMOD failed with status " + std::to_string(common.status));
  }
};

SparseCholesky::SparseCholesky(const std::vector<std::int64_t>& column_offsets,
                               const std::vector<int>& rows, int block, bool single) {
  check_pattern(column_offsets, rows, block);
  cholmod_ = std::make_unique<Cholmod>();
  Cholmod& c = *cholmod_;
  c.single = single;
  c.common.print = 0;  // no word on the terminal: trouble is a return value or an exception
  c.common.error_handler = nullptr;
  c.common.quick_return_if_not_posdef = 1;
  if (column_offsets.size() == 1) return;
  c.find_order(column_offsets, rows, block);
  c.permute(column_offsets, rows);
  c.factor = c.analyze(c.a, CHOLMOD_NATURAL);
  c.require(c.factor != nullptr);
  c.entries = c.common.lnz;
  c.operations = c.common.fl;
  c.a.xtype = CHOLMOD_REAL;
  c.a.x = c.values.data();
}

SparseCholesky::~SparseCholesky() = default;
SparseCholesky::SparseCholesky(SparseCholesky&&) noexcept = default;
SparseCholesky& SparseCholesky::operator=(SparseCholesky&&) noexcept = default;

bool SparseCholesky::factorize(const double* values) {
  Cholmod& c = *cholmod_;
  if (size() == 0) return c.factorized = true;
  c.factorized = false;
  c.drop_rounded();  // its memory first
  for (std::size_t k = 0; k < c.source.size(); ++k) c.values[k] = values[c.source[k]];
  bool done = false;
  within_threads_of_run([&] { done = cholmod_l_factorize(&c.a, c.factor, &c.common) != 0; });
  c.require(done);
  // The second condition finds a NaN on the diagonal of L, which not every BLAS takes for a failed
  // pivot.
  c.factorized = c.factor->minor == c.factor->n && cholmod_l_rcond(c.factor, &c.common) > 0;
  if (c.factorized && c.single && c.factor->is_super) c.round_entries();
  return c.factorized;
}

void SparseCholesky::solve(const double* b, double* x) {
  Cholmod& c = *cholmod_;
  if (!c.factorized) throw std::logic_error("SparseCholesky::solve without a factorisation");
  const std::size_t n = c.order.size();
  if (n == 0) return;
  c.right.resize(n);
  for (std::size_t k = 0; k < n; ++k) c.right[k] = b[c.order[k]];
  if (c.rounded != nullptr) {
    solve_by_supernodes(c.supernodes(), c.rounded, c.right.data(), c.work);
    for (std::size_t k = 0; k < n; ++k) x[c.order[k]] = c.right[k];
    return;
  }
  cholmod_dense right{};
  right.nrow = right.nzmax = right.d = n;
  right.ncol = 1;
  right.x = c.right.data();
  right.xtype = CHOLMOD_REAL;
  right.dtype = CHOLMOD_DOUBLE;
  bool done = false;
  within_threads_of_run([&] {
    done = cholmod_l_solve2(CHOLMOD_A, c.factor, &right, nullptr, &c.x, nullptr, &c.work_y,
                            &c.work_e, &c.common) != 0;
  });
  c.require(done);
  // Where there are no supernodes CHOLMOD uses one row of the four that it has made, leaves it at
  // that, and would make the array anew for the next solve.
  if (!c.factor->is_super) c.work_y->nrow = c.work_y->d = c.work_y->nzmax / n;
  const auto* solution = static_cast<const double*>(c.x->x);
  for (std::size_t k = 0; k < n; ++k) x[c.order[k]] = solution[k];
}

int SparseCholesky::size() const {
  return static_cast<int>(cholmod_->order.size());
}
std::vector<int> SparseCholesky::order() const {
  return {cholmod_->order.begin(), cholmod_->order.end()};
}
double SparseCholesky::factor_entries() const {
  return cholmod_->entries;
}
double SparseCholesky::flops() const {
  return cholmod_->operations;
}

}  // namespace ccp
