#include "solvers/velocity_space/assembled_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "solvers/core/constraint_map.hpp"
#include "solvers/core/extremes.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

bool is_zero(const double* block) {
  return std::all_of(block, block + 9, [](double value) { return value == 0; });
}

/// N's blocks right of the diagonal and on it, without those that are zero off the diagonal, which
/// everybody has: what the columns of the lower triangle are made of.
BlockMatrix upper_triangle_of(const BlockMatrix& n) {
  BlockMatrix upper;
  upper.row_offsets.push_back(0);
  for (std::int32_t c = 0; c + 1 < static_cast<std::int32_t>(n.row_offsets.size()); ++c) {
    upper.columns.push_back(c);
    const std::size_t diagonal = upper.blocks.size();
    upper.blocks.resize(diagonal + 9, 0.0);
    for (std::int64_t k = n.row_offsets[c]; k < n.row_offsets[c + 1]; ++k) {
      const double* const block = &n.blocks[9 * static_cast<std::size_t>(k)];
      if (n.columns[k] == c) std::copy(block, block + 9, &upper.blocks[diagonal]);
      if (n.columns[k] <= c || is_zero(block)) continue;
      upper.columns.push_back(n.columns[k]);
      upper.blocks.insert(upper.blocks.end(), block, block + 9);
    }
    upper.row_offsets.push_back(static_cast<std::int64_t>(upper.columns.size()));
  }
  return upper;
}

class AssembledSystem : public VelocitySystem {
 public:
  explicit AssembledSystem(const Problem& problem)
      : contacts_(problem.contacts()),
        n_(problem.delassus()),
        upper_(upper_triangle_of(assemble_delassus(problem.host()))),
        map_(problem.map()),
        impulse_("ccp::AssembledSystem::impulse", 3 * static_cast<std::size_t>(contacts_)) {
    std::vector<int> order(contacts_);
    std::iota(order.begin(), order.end(), 0);
    contact_order_ =
        upload<DeviceArray<int*>>("ccp::AssembledSystem::contact_order", order, order.size());
  }

  int size() const override { return 3 * contacts_; }
  Teuchos::RCP<const Map> map() const override { return map_; }
  DeviceArray<const int*> contact_order() const override { return contact_order_; }
  void contact_velocities(const ConstVectorView& z, const VectorView& d) const override {
    Kokkos::deep_copy(d, z);
  }
  void load(const ConstVectorView& p, const VectorView& f) const override {
    n_->apply_fused(
        p, KOKKOS_LAMBDA(const int c, const Vec3& d) { store3(f, c, d); });
  }
  double speed(const ConstVectorView& f) const override;
  void assemble(const DeviceArray<Sym3*>& k, const DeviceArray<CrossBlock*>&) override;
  bool takes_roots() const override { return true; }
  void assemble_roots(const DeviceArray<ImpulseRoot*>& roots) override { roots_ = roots; }

  bool iterative() const override { return false; }
  Teuchos::RCP<const Operator> matrix() const override { return Teuchos::null; }
  PreconditionerReport precondition() override { return {}; }
  bool strengthen() override { return false; }
  Teuchos::RCP<const Operator> preconditioner() const override { return Teuchos::null; }

  void lower_pattern(std::vector<std::int64_t>& column_offsets,
                     std::vector<int>& rows) const override;
  void lower_values(std::vector<double>& values) const override;
  void to_factored(const ConstVectorView& b, const VectorView& c) const override;
  void from_factored(const ConstVectorView& b, const VectorView& x) const override;

 private:
  int contacts_ = 0;
  Teuchos::RCP<DelassusOperator> n_;
  BlockMatrix upper_;  ///< of N, on the host
  Teuchos::RCP<const Map> map_;
  DeviceArray<int*> contact_order_;
  DeviceArray<ImpulseRoot*> roots_;  ///< L of the last assemble
  VectorView impulse_;               ///< L y
};

double AssembledSystem::speed(const ConstVectorView& f) const {
  double largest = 0;
  Kokkos::parallel_reduce(
      "ccp::AssembledSystem::speed", range(contacts_),
      KOKKOS_LAMBDA(const int c, double& maximum) { raise(maximum, norm(load3(f, c))); },
      Largest(largest));
  return largest;
}

void AssembledSystem::assemble(const DeviceArray<Sym3*>& k, const DeviceArray<CrossBlock*>&) {
  const DeviceArray<ImpulseRoot*> roots("ccp::AssembledSystem::roots", contacts_);
  Kokkos::parallel_for(
      "ccp::AssembledSystem::assemble", range(contacts_),
      KOKKOS_LAMBDA(const int c) { roots(c) = root_of(k(c)); });
  roots_ = roots;
}

void AssembledSystem::lower_pattern(std::vector<std::int64_t>& column_offsets,
                                    std::vector<int>& rows) const {
  column_offsets.assign(1, 0);
  rows.clear();
  for (int j = 0; j < contacts_; ++j) {
    for (int q = 0; q < 3; ++q) {
      for (int p = q; p < 3; ++p) rows.push_back(3 * j + p);
      for (std::int64_t k = upper_.row_offsets[j] + 1; k < upper_.row_offsets[j + 1]; ++k) {
        for (int p = 0; p < 3; ++p) rows.push_back(3 * upper_.columns[k] + p);
      }
      column_offsets.push_back(static_cast<std::int64_t>(rows.size()));
    }
  }
}

/// Block (i, j) of A is L_i^T N_ij L_j with N_ij the transpose of N_ji, which is in row j.
void AssembledSystem::lower_values(std::vector<double>& values) const {
  const auto root = host_copy(roots_);
  values.clear();
  for (int j = 0; j < contacts_; ++j) {
    for (int q = 0; q < 3; ++q) {
      const Vec3 column = root(j).a[q];
      for (std::int64_t k = upper_.row_offsets[j]; k < upper_.row_offsets[j + 1]; ++k) {
        const double* const n = &upper_.blocks[9 * static_cast<std::size_t>(k)];
        const Vec3 d{n[0] * column.x + n[3] * column.y + n[6] * column.z,
                     n[1] * column.x + n[4] * column.y + n[7] * column.z,
                     n[2] * column.x + n[5] * column.y + n[8] * column.z};
        const Vec3 a = root(upper_.columns[k]).transposed_times(d);
        const double entry[3] = {a.x, a.y, a.z};
        const bool diagonal = k == upper_.row_offsets[j];
        for (int p = diagonal ? q : 0; p < 3; ++p) {
          values.push_back(entry[p] + (diagonal && p == q ? 1 : 0));
        }
      }
    }
  }
}

void AssembledSystem::to_factored(const ConstVectorView& b, const VectorView& c) const {
  const auto roots = roots_;
  Kokkos::parallel_for(
      "ccp::AssembledSystem::to_factored", range(contacts_),
      KOKKOS_LAMBDA(const int i) { store3(c, i, roots(i).transposed_times(load3(b, i))); });
}

/// From K x = L y: in b - N L y, which is the same, what K then multiplies by has lost its digits.
void AssembledSystem::from_factored(const ConstVectorView& b, const VectorView& x) const {
  const auto roots = roots_;
  const auto impulse = impulse_;
  Kokkos::parallel_for(
      "ccp::AssembledSystem::impulse", range(contacts_),
      KOKKOS_LAMBDA(const int i) { store3(impulse, i, roots(i).times(load3(x, i))); });
  n_->apply_fused(
      impulse, KOKKOS_LAMBDA(const int c, const Vec3& d) {
        store3(x, c, roots(c).solve_transposed(load3(x, c), load3(b, c) - d));
      });
}

}  // namespace

std::unique_ptr<VelocitySystem> make_assembled_system(const Problem& problem) {
  return std::make_unique<AssembledSystem>(problem);
}

}  // namespace ccp
