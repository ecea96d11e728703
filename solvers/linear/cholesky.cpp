#include "solvers/linear/cholesky.hpp"

#include <cholmod.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>

namespace ccp {
namespace {

/// A triangle that CHOLMOD could read past the end of is refused here, where it costs one pass.
void check_pattern(const std::vector<std::int64_t>& offsets, const std::vector<int>& rows) {
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
}

}  // namespace

// The interface with 64-bit indices: factors of 3D piles pass 2^31 entries before they pass memory.
struct SparseCholesky::Cholmod {
  cholmod_common common{};
  std::vector<SuiteSparse_long> offsets, rows;
  cholmod_sparse a{};
  cholmod_factor* factor = nullptr;
  // Kept from one solve to the next.
  cholmod_dense *x = nullptr, *work_y = nullptr, *work_e = nullptr;
  double entries = 0, operations = 0;
  bool factorized = false;

  Cholmod() { cholmod_l_start(&common); }
  ~Cholmod() {
    cholmod_l_free_dense(&x, &common);
    cholmod_l_free_dense(&work_y, &common);
    cholmod_l_free_dense(&work_e, &common);
    cholmod_l_free_factor(&factor, &common);
    cholmod_l_finish(&common);
  }
  Cholmod(const Cholmod&) = delete;
  Cholmod& operator=(const Cholmod&) = delete;

  void analyze(int ordering) {
    common.nmethods = 1;
    common.method[0].ordering = ordering;
    common.postorder = 1;
    common.supernodal = CHOLMOD_SUPERNODAL;
    common.status = CHOLMOD_OK;
    factor = cholmod_l_analyze(&a, &common);
  }
  /// After a call that must not fail.
  void require(bool good) const {
    if (good) return;
    if (common.status == CHOLMOD_OUT_OF_MEMORY) throw std::bad_alloc();
    throw std::runtime_error("CHOLMOD failed with status " + std::to_string(common.status));
  }
};

SparseCholesky::SparseCholesky(std::vector<std::int64_t> column_offsets, std::vector<int> rows) {
  check_pattern(column_offsets, rows);
  cholmod_ = std::make_unique<Cholmod>();
  Cholmod& c = *cholmod_;
  c.common.print = 0;  // no word on the terminal: trouble is a return value or an exception
  c.common.error_handler = nullptr;
  c.common.quick_return_if_not_posdef = 1;
  c.offsets.assign(column_offsets.begin(), column_offsets.end());
  c.rows.assign(rows.begin(), rows.end());
  c.a.nrow = c.a.ncol = c.offsets.size() - 1;
  c.a.nzmax = c.rows.size();
  c.a.p = c.offsets.data();
  c.a.i = c.rows.data();
  c.a.stype = -1;  // the lower triangle
  c.a.itype = CHOLMOD_LONG;
  c.a.xtype = CHOLMOD_PATTERN;
  c.a.dtype = CHOLMOD_DOUBLE;
  c.a.sorted = c.a.packed = 1;
  if (size() == 0) return;
  c.analyze(CHOLMOD_METIS);
  if (c.factor == nullptr && c.common.status != CHOLMOD_OUT_OF_MEMORY) c.analyze(CHOLMOD_AMD);
  c.require(c.factor != nullptr);
  c.entries = c.common.lnz;
  c.operations = c.common.fl;
  c.a.xtype = CHOLMOD_REAL;
}

SparseCholesky::~SparseCholesky() = default;
SparseCholesky::SparseCholesky(SparseCholesky&&) noexcept = default;
SparseCholesky& SparseCholesky::operator=(SparseCholesky&&) noexcept = default;

bool SparseCholesky::factorize(const double* values) {
  Cholmod& c = *cholmod_;
  if (size() == 0) return c.factorized = true;
  c.factorized = false;
  c.a.x = const_cast<double*>(values);  // CHOLMOD only reads it
  const bool good = cholmod_l_factorize(&c.a, c.factor, &c.common) != 0;
  c.a.x = nullptr;
  c.require(good);
  // The second condition finds a NaN on the diagonal of L, which not every BLAS takes for a failed
  // pivot.
  return c.factorized = c.factor->minor == c.factor->n && cholmod_l_rcond(c.factor, &c.common) > 0;
}

void SparseCholesky::solve(const double* b, double* x) {
  Cholmod& c = *cholmod_;
  if (!c.factorized) throw std::logic_error("SparseCholesky::solve without a factorisation");
  const auto n = static_cast<std::size_t>(size());
  if (n == 0) return;
  cholmod_dense right{};
  right.nrow = right.nzmax = right.d = n;
  right.ncol = 1;
  right.x = const_cast<double*>(b);  // CHOLMOD only reads it
  right.xtype = CHOLMOD_REAL;
  right.dtype = CHOLMOD_DOUBLE;
  c.require(cholmod_l_solve2(CHOLMOD_A, c.factor, &right, nullptr, &c.x, nullptr, &c.work_y,
                             &c.work_e, &c.common) != 0);
  const auto* solution = static_cast<const double*>(c.x->x);
  std::copy(solution, solution + n, x);
}

int SparseCholesky::size() const {
  return static_cast<int>(cholmod_->a.ncol);
}
double SparseCholesky::factor_entries() const {
  return cholmod_->entries;
}
double SparseCholesky::flops() const {
  return cholmod_->operations;
}

}  // namespace ccp
