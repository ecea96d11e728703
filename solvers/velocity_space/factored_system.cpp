#include "solvers/velocity_space/factored_system.hpp"

#include <fmt/format.h>

#include <Teuchos_BLAS.hpp>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "problems/base/error.hpp"
#include "solvers/core/extremes.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

/// E with N = E E^T, by columns: as many as N has rank.
std::vector<double> pivoted_cholesky(const BlockMatrix& n, std::size_t size) {
  constexpr double negligible = 1e-14;
  const auto column_of_n = [&](std::size_t p, double* out) {  // a row, for N is symmetric
    std::fill(out, out + size, 0.0);
    const std::size_t c = p / 3;
    for (std::int64_t k = n.row_offsets[c]; k < n.row_offsets[c + 1]; ++k) {
      for (std::size_t l = 0; l < 3; ++l) {
        out[3 * n.columns[k] + l] = n.blocks[9 * k + 3 * (p % 3) + l];
      }
    }
  };
  std::vector<double> diagonal(size), rest(size), work(size), e, row;
  for (std::size_t i = 0; i < size; ++i) {
    column_of_n(i, work.data());
    rest[i] = diagonal[i] = std::max(work[i], 0.0);
  }
  Teuchos::BLAS<int, double> blas;
  const int rows = static_cast<int>(size);
  while (e.size() < size * size) {
    std::size_t pivot = size;
    double largest = negligible;
    for (std::size_t i = 0; i < size; ++i) {
      if (rest[i] > largest * diagonal[i]) {
        largest = rest[i] / diagonal[i];
        pivot = i;
      }
    }
    if (pivot == size) break;
    const std::size_t rank = e.size() / size;
    row.resize(rank);
    for (std::size_t j = 0; j < rank; ++j) row[j] = e[j * size + pivot];
    column_of_n(pivot, work.data());
    if (rank > 0) {
      blas.GEMV(Teuchos::NO_TRANS, rows, static_cast<int>(rank), -1.0, e.data(), rows, row.data(),
                1, 1.0, work.data(), 1);
    }
    const double root = std::sqrt(rest[pivot]);
    for (std::size_t i = 0; i < size; ++i) {
      // Rows that will be no pivots, too: what is left beside a small diagonal entry a is as large
      // as the square root of a.
      work[i] /= root;
      rest[i] -= work[i] * work[i];
    }
    rest[pivot] = 0;
    work[pivot] = root;
    e.insert(e.end(), work.begin(), work.end());
  }
  return e;
}

class FactoredSystem : public VelocitySystem {
 public:
  explicit FactoredSystem(const Problem& problem) : contacts_(problem.contacts()) {
    if (contacts_ > factored_system_limit) {
      throw InputError("solver vipm", "",
                       fmt::format("masses, or at most {} contacts where only N is known",
                                   factored_system_limit),
                       fmt::format("{} contacts", contacts_));
    }
    const std::size_t size = 3 * static_cast<std::size_t>(contacts_);
    e_ = pivoted_cholesky(with_compliance(problem.host(), problem.host().delassus), size);
    rank_ = size > 0 ? static_cast<int>(e_.size() / size) : 0;
    std::vector<double> by_rows(e_.size());
    for (int j = 0; j < rank_; ++j) {
      for (std::size_t i = 0; i < size; ++i) by_rows[rank_ * i + j] = e_[size * j + i];
    }
    columns_ = upload<VectorView>("ccp::FactoredSystem::columns", e_, e_.size());
    rows_ = upload<VectorView>("ccp::FactoredSystem::rows", by_rows, by_rows.size());
    std::vector<int> order(contacts_);
    std::iota(order.begin(), order.end(), 0);
    contact_order_ =
        upload<DeviceArray<int*>>("ccp::FactoredSystem::contact_order", order, order.size());
    map_ = make_map(rank_);
    s_.resize(static_cast<std::size_t>(rank_) * rank_);
  }

  int size() const override { return rank_; }
  Teuchos::RCP<const Map> map() const override { return map_; }
  DeviceArray<const int*> contact_order() const override { return contact_order_; }
  void contact_velocities(const ConstVectorView& z, const VectorView& d) const override;
  void load(const ConstVectorView& p, const VectorView& f) const override;
  double speed(const ConstVectorView& f) const override;
  void assemble(const DeviceArray<Sym3*>& k) override;

  bool iterative() const override { return false; }
  Teuchos::RCP<const Operator> matrix() const override { return Teuchos::null; }
  PreconditionerReport precondition() override { return {}; }
  bool strengthen() override { return false; }
  Teuchos::RCP<const Operator> preconditioner() const override { return Teuchos::null; }

  void lower_pattern(std::vector<std::int64_t>& column_offsets,
                     std::vector<int>& rows) const override {
    column_offsets.assign(1, 0);
    rows.clear();
    for (int j = 0; j < rank_; ++j) {
      for (int i = j; i < rank_; ++i) rows.push_back(i);
      column_offsets.push_back(static_cast<std::int64_t>(rows.size()));
    }
  }
  void lower_values(std::vector<double>& values) const override {
    values.clear();
    for (int j = 0; j < rank_; ++j) {
      const auto column = s_.begin() + static_cast<std::ptrdiff_t>(rank_) * j;
      values.insert(values.end(), column + j, column + rank_);
    }
  }

 private:
  int contacts_ = 0, rank_ = 0;
  std::vector<double> e_;  ///< on the host, by columns
  VectorView columns_, rows_;
  DeviceArray<int*> contact_order_;
  Teuchos::RCP<const Map> map_;
  std::vector<double> ke_, s_;  ///< K E and S, by columns
};

void FactoredSystem::contact_velocities(const ConstVectorView& z, const VectorView& d) const {
  const auto rows = rows_;
  const int rank = rank_;
  Kokkos::parallel_for(
      "ccp::FactoredSystem::contact_velocities", range(3 * contacts_), KOKKOS_LAMBDA(const int i) {
        double sum = 0;
        for (int j = 0; j < rank; ++j) sum += rows(static_cast<std::size_t>(rank) * i + j) * z(j);
        d(i) = sum;
      });
}

void FactoredSystem::load(const ConstVectorView& p, const VectorView& f) const {
  const auto columns = columns_;
  const int size = 3 * contacts_;
  Kokkos::parallel_for(
      "ccp::FactoredSystem::load", range(rank_), KOKKOS_LAMBDA(const int j) {
        double sum = 0;
        for (int i = 0; i < size; ++i)
          sum += columns(static_cast<std::size_t>(size) * j + i) * p(i);
        f(j) = sum;
      });
}

double FactoredSystem::speed(const ConstVectorView& f) const {
  const auto rows = rows_;
  const int rank = rank_;
  double largest = 0;
  Kokkos::parallel_reduce(
      "ccp::FactoredSystem::speed", range(contacts_),
      KOKKOS_LAMBDA(const int c, double& maximum) {
        double square = 0;
        for (int k = 0; k < 3; ++k) {
          double sum = 0;
          for (int j = 0; j < rank; ++j) {
            sum += rows(static_cast<std::size_t>(rank) * (3 * c + k) + j) * f(j);
          }
          square += sum * sum;
        }
        raise(maximum, square);
      },
      Largest(largest));
  return std::sqrt(largest);
}

void FactoredSystem::assemble(const DeviceArray<Sym3*>& k) {
  const auto blocks = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), k);
  const int size = 3 * contacts_;
  ke_.resize(e_.size());
  for (int j = 0; j < rank_; ++j) {
    const double* e = &e_[static_cast<std::size_t>(size) * j];
    double* out = &ke_[static_cast<std::size_t>(size) * j];
    for (int c = 0; c < contacts_; ++c) {
      const Vec3 ke = blocks(c) * Vec3{e[3 * c], e[3 * c + 1], e[3 * c + 2]};
      out[3 * c] = ke.x, out[3 * c + 1] = ke.y, out[3 * c + 2] = ke.z;
    }
  }
  if (rank_ == 0) return;
  Teuchos::BLAS<int, double>().GEMM(Teuchos::TRANS, Teuchos::NO_TRANS, rank_, rank_, size, 1.0,
                                    e_.data(), size, ke_.data(), size, 0.0, s_.data(), rank_);
  for (int j = 0; j < rank_; ++j) s_[static_cast<std::size_t>(rank_ + 1) * j] += 1;
}

}  // namespace

std::unique_ptr<VelocitySystem> make_factored_system(const Problem& problem) {
  return std::make_unique<FactoredSystem>(problem);
}

}  // namespace ccp
