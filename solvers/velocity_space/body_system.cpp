#include "solvers/velocity_space/body_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "problems/base/error.hpp"
#include "solvers/core/extremes.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/velocity_space/body_order.hpp"

namespace ccp {
namespace {

template <int NB>
class BodySystem : public VelocitySystem {
 public:
  /// @param pooled  where there are triples beside the contacts; null: nowhere
  BodySystem(const Problem* pooled, const ContactProblem& host, const std::string& ordering,
             const std::string& preconditioner);

  int size() const override { return NB * pattern_.rows; }
  Teuchos::RCP<const Map> map() const override { return matrix_->getDomainMap(); }
  DeviceArray<const int*> contact_order() const override { return contact_order_; }
  void contact_velocities(const ConstVectorView& z, const VectorView& d) const override;
  void load(const ConstVectorView& p, const VectorView& f) const override;
  double speed(const ConstVectorView& f) const override;
  void assemble(const DeviceArray<Sym3*>& k, const DeviceArray<CrossBlock*>& cross) override;
  double iteration_bytes() const override;
  Teuchos::RCP<const Operator> matrix() const override { return matrix_; }
  PreconditionerReport precondition() override;
  void begin() override { strong_ = false; }
  void drop_preconditioner() override {
    for (auto& preconditioner : preconditioner_) preconditioner = nullptr;
  }
  bool strengthen() override;
  Teuchos::RCP<const Operator> preconditioner() const override {
    return preconditioner_[strong_]->inverse();
  }
  Teuchos::RCP<const SymmetricBlocks> blocks() const override { return matrix_; }
  DeviceArray<const int*> body_order() const override { return body_order_; }
  void lower_pattern(std::vector<std::int64_t>& column_offsets,
                     std::vector<int>& rows) const override;
  void lower_values(std::vector<double>& values) const override {
    download_to(values, device_lower_values());
  }
  DeviceArray<double*> device_lower_values() const override;
  int block_size() const override { return NB; }
  std::vector<double> block_norms() const override;
  void keep_blocks(const std::vector<char>& kept) override;

 private:
  int contacts_ = 0;
  std::string kind_;
  BlockPattern pattern_;
  ConstraintMap map_;                     ///< bodies by position in the order, L of M^-1 = L L^T
  BodyPools pools_;                       ///< with six unknowns per body only
  DeviceArray<int* [2]> block_contacts_;  ///< [blocks] first contact of a block, and past its last
  DeviceArray<int*> contact_order_;       ///< [n] numbers in the problem
  DeviceArray<int*> body_order_;          ///< [rows] the same of bodies
  DeviceArray<double*> reach_;            ///< [rows] m, the longest arm of a contact
  Teuchos::RCP<SymmetricBlockMatrix<NB>> matrix_;
  std::unique_ptr<Preconditioner> preconditioner_[2];  ///< auto: block_ic0, block_ic1
  bool strong_ = false;                                ///< auto: which of them is in use
  DeviceArray<double* [NB]> velocity_;  ///< [rows + 1] work array; zero of the immovable body
  // What lower_pattern has of the blocks below the diagonal.
  DeviceArray<int*> kept_offset_;  ///< [rows + 1] by columns
  DeviceArray<int*> kept_;         ///< their numbers among the pattern's blocks by columns
};

template <int NB>
BodySystem<NB>::BodySystem(const Problem* pooled, const ContactProblem& host,
                           const std::string& ordering, const std::string& preconditioner)
    : contacts_(static_cast<int>(host.contacts())), kind_(preconditioner) {
  const std::size_t n = host.contacts(), m = host.bodies();
  const bool fill = kind_ == "block_ic1" || kind_ == "auto";
  const BodyOrder order = order_bodies(host, ordering, fill);

  // Contacts by the rows of their bodies, so that what belongs together lies together; those with
  // the ground come first in the row of their body.
  const int ground = static_cast<int>(m);
  const auto at = [&](const std::vector<std::int32_t>& bodies, std::size_t c, int side) {
    const int i = bodies[2 * c + side];
    return i < 0 ? ground : order.position[i];
  };
  struct Entry {
    int row, column, contact;  ///< contact < 0: bodies that a joint joins
  };
  std::vector<Entry> entries(n);
  for (std::size_t c = 0; c < n; ++c) {
    const int a = at(host.contact_bodies, c, 0), b = at(host.contact_bodies, c, 1);
    entries[c] = {std::max(a, b), std::min(a, b), static_cast<int>(c)};
    if (entries[c].row == ground) entries[c] = {entries[c].column, -1, static_cast<int>(c)};
  }
  for (std::size_t k = 0; k < host.equality.size(); ++k) {
    const int a = at(host.equality.bodies, k, 0), b = at(host.equality.bodies, k, 1);
    if (std::max(a, b) != ground) entries.push_back({std::max(a, b), std::min(a, b), -1});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& x, const Entry& y) {
    return std::tie(x.row, x.column, x.contact) < std::tie(y.row, y.column, y.contact);
  });
  std::vector<int> contact_order, contact_range;
  LowerRows lower;
  lower.offset.assign(m + 1, 0);
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const Entry& e = entries[k];
    const int place = static_cast<int>(contact_order.size());
    if (e.contact >= 0) contact_order.push_back(e.contact);
    if (e.column < 0) continue;
    if (k == 0 || e.row != entries[k - 1].row || e.column != entries[k - 1].column) {
      ++lower.offset[e.row + 1];
      lower.column.push_back(e.column);
      contact_range.push_back(place);
      contact_range.push_back(place);
    }
    contact_range.back() = static_cast<int>(contact_order.size());
  }
  std::partial_sum(lower.offset.begin(), lower.offset.end(), lower.offset.begin());

  using Ints = DeviceArray<int*>;
  using IntPairs = DeviceArray<int* [2]>;
  pattern_ = make_pattern(lower);
  block_contacts_ =
      upload<IntPairs>("ccp::BodySystem::block_contacts", contact_range, pattern_.blocks);
  contact_order_ = upload<Ints>("ccp::BodySystem::contact_order", contact_order, n);
  body_order_ = upload<Ints>("ccp::BodySystem::body_order", order.body, m);

  map_ = ConstraintMap(host, {contact_order, order.position}, MassPower::root);
  if (NB == 6) {
    std::vector<double> reach(m, 0.0);
    for (std::size_t k = 0; k < 2 * n; ++k) {
      const int side = static_cast<int>(k % 2), i = at(host.contact_bodies, k / 2, side);
      if (i == ground) continue;
      const Vec3 arm = arm_of(host, k / 2, side);
      reach[i] = std::max(reach[i], std::hypot(arm.x, arm.y, arm.z));
    }
    if (pooled) {
      BodyPools::Places places;
      places.body = order.position;
      places.contact.resize(n);
      for (std::size_t k = 0; k < n; ++k) places.contact[contact_order[k]] = static_cast<int>(k);
      places.row_offset = lower.offset;
      places.column = lower.column;
      places.column_offset = download(pattern_.column_offset);
      places.place = download(pattern_.place);
      for (std::size_t b = 0; b < lower.column.size(); ++b) {
        places.has_contacts.push_back(contact_range[2 * b] < contact_range[2 * b + 1] ? 1 : 0);
      }
      pools_ = BodyPools(*pooled, map_, places);
      pools_.raise_reach(*pooled, order.position, reach);
    }
    reach_ = upload<DeviceArray<double*>>("ccp::BodySystem::reach", reach, m);
  }
  velocity_ = DeviceArray<double* [NB]>("ccp::BodySystem::velocity", m + 1);
  matrix_ = Teuchos::rcp(new SymmetricBlockMatrix<NB>(pattern_));
  keep_blocks({});
}

template <int NB>
void BodySystem<NB>::contact_velocities(const ConstVectorView& z, const VectorView& d) const {
  const BodyMatrices root = map_.masses();
  const auto velocity = velocity_;
  Kokkos::parallel_for(
      "ccp::BodySystem::body_velocities", range(pattern_.rows), KOKKOS_LAMBDA(const int i) {
        for (int k = 0; k < 3; ++k) velocity(i, k) = root.linear(i) * z(NB * i + k);
        if (NB == 3) return;
        for (int k = 0; k < 3; ++k) {
          double spin = 0;
          for (int l = 0; l <= k; ++l) spin += root.angular(i, k, l) * z(NB * i + 3 % NB + l);
          velocity(i, 3 % NB + k) = spin;
        }
      });
  const char* const label = "ccp::BodySystem::contact_velocities";
  if constexpr (NB == 3) {
    const auto relative = map_.relative(Rows<DeviceArray<double* [3]>> { velocity });
    Kokkos::parallel_for(
        label, range(contacts_), KOKKOS_LAMBDA(const int c) { store3(d, c, relative(c)); });
  } else {
    const auto relative = map_.relative_at_arms(SpatialRows<DeviceArray<double* [6]>> { velocity });
    Kokkos::parallel_for(
        label, range(contacts_), KOKKOS_LAMBDA(const int c) { store3(d, c, relative(c)); });
  }
  if (!pools_.empty()) pools_.velocities(z, d);
}

template <int NB>
void BodySystem<NB>::load(const ConstVectorView& p, const VectorView& f) const {
  const BodyMatrices root = map_.masses();
  if (NB == 3) {
    const auto force = map_.force(p);
    Kokkos::parallel_for(
        "ccp::BodySystem::load", range(pattern_.rows),
        KOKKOS_LAMBDA(const int i) { store3(f, i, root.linear(i) * force(i)); });
    return;
  }
  const auto wrench = map_.wrench(p);
  Kokkos::parallel_for(
      "ccp::BodySystem::load", range(pattern_.rows), KOKKOS_LAMBDA(const int i) {
        const BodyWrench::Sum sum = wrench(i);
        f(NB * i) = root.linear(i) * sum.force.x;
        f(NB * i + 1) = root.linear(i) * sum.force.y;
        f(NB * i + 2) = root.linear(i) * sum.force.z;
        const double t[3] = {sum.torque.x, sum.torque.y, sum.torque.z};
        for (int l = 0; l < 3; ++l) {
          double turn = 0;
          for (int k = l; k < 3; ++k) turn += root.angular(i, k, l) * t[k];
          f(NB * i + 3 % NB + l) = turn;
        }
      });
  if (!pools_.empty()) pools_.add_load(p, f);
}

template <int NB>
double BodySystem<NB>::speed(const ConstVectorView& f) const {
  const BodyMatrices root = map_.masses();
  const auto reach = reach_;
  double largest = 0;
  Kokkos::parallel_reduce(
      "ccp::BodySystem::speed", range(pattern_.rows),
      KOKKOS_LAMBDA(const int i, double& maximum) {
        double value = root.linear(i) * norm(Vec3{f(NB * i), f(NB * i + 1), f(NB * i + 2)});
        if (NB == 6) {
          double square = 0;
          for (int k = 0; k < 3; ++k) {
            double spin = 0;
            for (int l = 0; l <= k; ++l) spin += root.angular(i, k, l) * f(NB * i + 3 % NB + l);
            square += spin * spin;
          }
          value += reach(i) * sqrt(square);
        }
        raise(maximum, value);
      },
      Largest(largest));
  return largest;
}

template <int NB>
void BodySystem<NB>::assemble(const DeviceArray<Sym3*>& k, const DeviceArray<CrossBlock*>& cross) {
  const auto offset = map_.incidence_offset(), incidence = map_.incidence();
  const BodyMatrices root = map_.masses();
  const auto arm = map_.arm();
  double* const diagonal = matrix_->diagonal().data();
  double* const off_diagonal = matrix_->off_diagonal().data();
  Kokkos::parallel_for(
      "ccp::BodySystem::assemble_diagonal", range(pattern_.rows), KOKKOS_LAMBDA(const int i) {
        double sum[NB * NB] = {};
        ScaledSide side;
        side.mass = root.linear(i);
        for (int l = offset(i); l < offset(i + 1); ++l) {
          const int c = incidence(l) / 6;
          double kc[9];
          expand(k(c), kc);
          if (NB == 6) side.set_lever(arm, root.angular, c, incidence(l) & 1, i);
          add_body_pair<NB>(1, kc, side, side, sum);
        }
        for (int p = 0; p < NB; ++p) {
          for (int q = 0; q <= p; ++q) {
            diagonal[static_cast<std::size_t>(block::packed<NB>) * i + block::at(p, q)] =
                sum[NB * p + q] + (p == q);
          }
        }
      });
  const auto block_contacts = block_contacts_;
  const auto row_offset = pattern_.row_offset, column_offset = pattern_.column_offset,
             place = pattern_.place;
  const auto body = map_.body();
  Kokkos::parallel_for(
      "ccp::BodySystem::assemble_off_diagonal", range(pattern_.blocks), KOKKOS_LAMBDA(const int b) {
        double sum[NB * NB] = {};
        int body_row = 0, body_column = 0;
        if (block_contacts(b, 0) == block_contacts(b, 1)) return;  // a joint's alone
        for (int c = block_contacts(b, 0); c < block_contacts(b, 1); ++c) {
          double kc[9];
          expand(k(c), kc);
          const int row_side = body(c, 0) > body(c, 1) ? 0 : 1;
          body_row = body(c, row_side);
          body_column = body(c, 1 - row_side);
          ScaledSide row, column;
          row.mass = root.linear(body_row);
          column.mass = root.linear(body_column);
          if (NB == 6) {
            row.set_lever(arm, root.angular, c, row_side, body_row);
            column.set_lever(arm, root.angular, c, 1 - row_side, body_column);
          }
          add_body_pair<NB>(-1, kc, row, column, sum);
        }
        double* const left = off_diagonal + static_cast<std::size_t>(block::stored<NB>) *
                                                (b + column_offset(body_row));
        double* const right = off_diagonal + static_cast<std::size_t>(block::stored<NB>) *
                                                 (place(b) + row_offset(body_column + 1));
        for (int p = 0; p < NB; ++p) {
          for (int q = 0; q < NB; ++q) {
            if (block::stored<NB> == NB * NB) {
              left[NB * q + p] = right[NB * p + q] = sum[NB * p + q];
            } else if (q <= p) {
              left[block::at(p, q)] = right[block::at(p, q)] = sum[NB * p + q];
            }
          }
        }
      });
  if (!pools_.empty()) pools_.assemble(k, cross, diagonal, off_diagonal);
}

/// Blocks of S on both sides of the diagonal, those of an incomplete factor for both sweeps, and
/// their indices; block_ic1 has about twice the blocks of block_ic0 in half the bytes.
template <int NB>
double BodySystem<NB>::iteration_bytes() const {
  constexpr double number = sizeof(double), index = sizeof(int);
  double per_row = number * block::packed<NB>, per_block = 2 * (number * block::stored<NB> + index);
  if (kind_ != "none") per_row += 2 * number * block::packed<NB>;
  if (kind_ != "none" && kind_ != "block_jacobi" && kind_ != "block_diagonal") {
    per_block += 2 * (number * NB * NB + index);
  }
  return per_row * pattern_.rows + per_block * pattern_.blocks;
}

template <int NB>
PreconditionerReport BodySystem<NB>::precondition() {
  auto& preconditioner = preconditioner_[strong_];
  if (!preconditioner) {
    const std::string of_auto = strong_ ? "block_ic1" : "block_ic0";
    preconditioner = make_preconditioner({kind_ == "auto" ? of_auto : kind_, {}});
    preconditioner->setup(
        {map(), pattern_.rows, {}, Teuchos::null, Teuchos::null, Space::body, matrix_});
  }
  return preconditioner->compute();
}

template <int NB>
bool BodySystem<NB>::strengthen() {
  if (kind_ != "auto" || strong_) return false;
  return strong_ = true;
}

template <int NB>
std::vector<double> BodySystem<NB>::block_norms() const {
  const auto row_offset = pattern_.row_offset, column_offset = pattern_.column_offset;
  const double* const off_diagonal = matrix_->off_diagonal().data();
  const DeviceArray<double*> norm("ccp::BodySystem::block_norms", pattern_.blocks);
  Kokkos::parallel_for(
      "ccp::BodySystem::block_norms", range(pattern_.rows), KOKKOS_LAMBDA(const int j) {
        for (int l = column_offset(j); l < column_offset(j + 1); ++l) {
          double a[NB * NB], square = 0;
          block::expand<NB>(
              off_diagonal + static_cast<std::size_t>(block::stored<NB>) * (l + row_offset(j + 1)),
              a);
          for (const double entry : a) square += entry * entry;
          norm(l) = sqrt(square);
        }
      });
  return download(norm);
}

template <int NB>
void BodySystem<NB>::keep_blocks(const std::vector<char>& kept) {
  const auto offset = host_copy(pattern_.column_offset);
  std::vector<int> kept_offset{0}, numbers;
  for (int j = 0; j < pattern_.rows; ++j) {
    for (int l = offset(j); l < offset(j + 1); ++l) {
      if (kept.empty() || kept[l] != 0) numbers.push_back(l);
    }
    kept_offset.push_back(static_cast<int>(numbers.size()));
  }
  using Ints = DeviceArray<int*>;
  kept_offset_ = upload<Ints>("ccp::BodySystem::kept_offset", kept_offset, kept_offset.size());
  kept_ = upload<Ints>("ccp::BodySystem::kept", numbers, numbers.size());
}

template <int NB>
void BodySystem<NB>::lower_pattern(std::vector<std::int64_t>& column_offsets,
                                   std::vector<int>& rows) const {
  const auto offset = host_copy(kept_offset_);
  const auto kept = host_copy(kept_);
  const auto row = host_copy(pattern_.row);
  column_offsets.assign(1, 0);
  rows.clear();
  for (int j = 0; j < pattern_.rows; ++j) {
    for (int q = 0; q < NB; ++q) {
      for (int p = q; p < NB; ++p) rows.push_back(NB * j + p);
      for (int k = offset(j); k < offset(j + 1); ++k) {
        for (int p = 0; p < NB; ++p) rows.push_back(NB * row(kept(k)) + p);
      }
      column_offsets.push_back(static_cast<std::int64_t>(rows.size()));
    }
  }
}

template <int NB>
DeviceArray<double*> BodySystem<NB>::device_lower_values() const {
  // Column q of block column j starts after NB^2 entries for each block before and the packed
  // diagonal blocks; within it come NB - q of the diagonal, then NB of each block.
  const auto row_offset = pattern_.row_offset, kept_offset = kept_offset_, kept = kept_;
  const double* const diagonal = matrix_->diagonal().data();
  const double* const off_diagonal = matrix_->off_diagonal().data();
  const std::size_t size = static_cast<std::size_t>(block::packed<NB>) * pattern_.rows +
                           static_cast<std::size_t>(NB * NB) * kept.extent(0);
  const DeviceArray<double*> out(to_be_filled("ccp::BodySystem::values"), size);
  Kokkos::parallel_for(
      "ccp::BodySystem::lower_values", range(pattern_.rows), KOKKOS_LAMBDA(const int j) {
        std::size_t next = static_cast<std::size_t>(block::packed<NB>) * j +
                           static_cast<std::size_t>(NB * NB) * kept_offset(j);
        for (int q = 0; q < NB; ++q) {
          for (int p = q; p < NB; ++p) {
            out(next++) =
                diagonal[static_cast<std::size_t>(block::packed<NB>) * j + block::at(p, q)];
          }
          for (int k = kept_offset(j); k < kept_offset(j + 1); ++k) {
            double a[NB * NB];  // the block right of the diagonal: row q of it is our column
            block::expand<NB>(off_diagonal + static_cast<std::size_t>(block::stored<NB>) *
                                                 (kept(k) + row_offset(j + 1)),
                              a);
            for (int p = 0; p < NB; ++p) out(next++) = a[NB * p + q];
          }
        }
      });
  return out;
}

/// Bodies that nothing turns, with six unknowns each: blocks of joints are not symmetric, as those
/// of three unknowns are.
ContactProblem with_rotations(ContactProblem problem) {
  problem.inverse_inertia.assign(9 * problem.bodies(), 0.0);
  problem.arm_a.assign(3 * problem.contacts(), 0.0);
  problem.arm_b = problem.arm_a;
  return problem;
}

}  // namespace

std::unique_ptr<VelocitySystem> make_body_system(const Problem& problem,
                                                 const std::string& ordering,
                                                 const std::string& preconditioner) {
  const ContactProblem& host = problem.host();
  if (problem.pools().empty()) return make_body_system(host, ordering, preconditioner);
  if (host.rotates()) {
    return std::make_unique<BodySystem<6>>(&problem, host, ordering, preconditioner);
  }
  return std::make_unique<BodySystem<6>>(&problem, with_rotations(host), ordering, preconditioner);
}

std::unique_ptr<VelocitySystem> make_body_system(const ContactProblem& problem,
                                                 const std::string& ordering,
                                                 const std::string& preconditioner) {
  if (problem.rotates()) {
    return std::make_unique<BodySystem<6>>(nullptr, problem, ordering, preconditioner);
  }
  return std::make_unique<BodySystem<3>>(nullptr, problem, ordering, preconditioner);
}

}  // namespace ccp
