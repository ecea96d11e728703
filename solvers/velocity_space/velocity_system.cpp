#include "solvers/velocity_space/velocity_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "problems/base/error.hpp"
#include "solvers/core/extremes.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/velocity_space/body_order.hpp"
#include "solvers/velocity_space/factored_system.hpp"

namespace ccp {
namespace {

/// L with L L^T = a for a symmetric positive semidefinite 3x3 matrix; zero columns where a has no
/// extent.
void semidefinite_factor(const double* a, double l[9]) {
  std::fill(l, l + 9, 0.0);
  const double scale = std::max({a[0], a[4], a[8]});
  for (int j = 0; j < 3; ++j) {
    double pivot = a[4 * j];
    for (int k = 0; k < j; ++k) pivot -= l[3 * j + k] * l[3 * j + k];
    if (!(pivot > 1e-14 * scale)) continue;
    l[4 * j] = std::sqrt(pivot);
    for (int i = j + 1; i < 3; ++i) {
      double sum = a[3 * i + j];
      for (int k = 0; k < j; ++k) sum -= l[3 * i + k] * l[3 * j + k];
      l[3 * i + j] = sum / l[4 * j];
    }
  }
}

template <int NB>
class BodySystem : public VelocitySystem {
 public:
  BodySystem(const Problem& problem, const std::string& ordering,
             const std::string& preconditioner);

  int size() const override { return NB * pattern_.rows; }
  Teuchos::RCP<const Map> map() const override { return matrix_->getDomainMap(); }
  DeviceArray<const int*> contact_order() const override { return contact_order_; }
  void contact_velocities(const ConstVectorView& z, const VectorView& d) const override;
  void load(const ConstVectorView& p, const VectorView& f) const override;
  double speed(const ConstVectorView& f) const override;
  void assemble(const DeviceArray<Sym3*>& k) override;
  Teuchos::RCP<const Operator> matrix() const override { return matrix_; }
  PreconditionerReport precondition() override;
  bool strengthen() override;
  Teuchos::RCP<const Operator> preconditioner() const override {
    return preconditioner_->inverse();
  }
  Teuchos::RCP<const SymmetricBlocks> blocks() const override { return matrix_; }
  DeviceArray<const int*> body_order() const override { return body_order_; }
  void lower_pattern(std::vector<std::int64_t>& column_offsets,
                     std::vector<int>& rows) const override;
  void lower_values(std::vector<double>& values) const override;

 private:
  int contacts_ = 0;
  std::string kind_;
  BlockPattern pattern_;
  // Bodies by position in the order; position `rows` is the immovable body.
  DeviceArray<int* [2]> body_;             ///< [n] positions of bodies A and B
  DeviceArray<int*> incidence_offset_;     ///< [rows + 1]
  DeviceArray<int*> incidence_;            ///< 2 * contact + side, by position
  DeviceArray<int* [2]> block_contacts_;   ///< [blocks] first contact of a block, and past its last
  DeviceArray<int*> contact_order_;        ///< [n] numbers in the problem
  DeviceArray<int*> body_order_;           ///< [rows] the same of bodies
  DeviceArray<double*> root_mass_;         ///< [rows + 1] 1/sqrt(m)
  DeviceArray<double* [9]> root_inertia_;  ///< [rows + 1] factor of the inverse inertia
  DeviceArray<double*> reach_;             ///< [rows] m, the longest arm of a contact
  DeviceArray<double* [2][3]> arm_;        ///< [n]
  Teuchos::RCP<SymmetricBlockMatrix<NB>> matrix_;
  std::unique_ptr<Preconditioner> preconditioner_;
  DeviceArray<double* [6]> velocity_;  ///< [rows + 1] work array for rotating bodies
};

template <int NB>
BodySystem<NB>::BodySystem(const Problem& problem, const std::string& ordering,
                           const std::string& preconditioner)
    : contacts_(problem.contacts()), kind_(preconditioner) {
  const ContactProblem& host = problem.host();
  const std::size_t n = host.contacts(), m = host.bodies();
  const bool fill = kind_ == "block_ic1" || kind_ == "auto";
  const BodyOrder order = order_bodies(host, ordering, fill);

  // Contacts by the rows of their bodies, so that what belongs together lies together; those with
  // the ground come first in the row of their body.
  const int ground = static_cast<int>(m);
  const auto at = [&](std::size_t c, int side) {
    const int i = host.contact_bodies[2 * c + side];
    return i < 0 ? ground : order.position[i];
  };
  struct Entry {
    int row, column, contact;
  };
  std::vector<Entry> entries(n);
  for (std::size_t c = 0; c < n; ++c) {
    const int a = at(c, 0), b = at(c, 1);
    entries[c] = {std::max(a, b), std::min(a, b), static_cast<int>(c)};
    if (entries[c].row == ground) entries[c] = {entries[c].column, -1, static_cast<int>(c)};
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& x, const Entry& y) {
    return std::tie(x.row, x.column, x.contact) < std::tie(y.row, y.column, y.contact);
  });
  std::vector<int> contact_order(n), body(2 * n), offset(m + 1, 0), contact_range;
  LowerRows lower;
  lower.offset.assign(m + 1, 0);
  for (std::size_t k = 0; k < n; ++k) {
    const Entry& e = entries[k];
    contact_order[k] = e.contact;
    for (int side = 0; side < 2; ++side) {
      body[2 * k + side] = at(e.contact, side);
      if (body[2 * k + side] != ground) ++offset[body[2 * k + side] + 1];
    }
    if (e.column < 0) continue;
    if (k == 0 || e.row != entries[k - 1].row || e.column != entries[k - 1].column) {
      ++lower.offset[e.row + 1];
      lower.column.push_back(e.column);
      contact_range.push_back(static_cast<int>(k));
      contact_range.push_back(static_cast<int>(k));
    }
    contact_range.back() = static_cast<int>(k) + 1;
  }
  std::partial_sum(lower.offset.begin(), lower.offset.end(), lower.offset.begin());
  std::partial_sum(offset.begin(), offset.end(), offset.begin());
  std::vector<int> incidence(offset[m]), next(offset.begin(), offset.end() - 1);
  for (std::size_t k = 0; k < 2 * n; ++k) {
    if (body[k] != ground) incidence[next[body[k]]++] = static_cast<int>(k);
  }

  using Ints = DeviceArray<int*>;
  using IntPairs = DeviceArray<int* [2]>;
  pattern_ = make_pattern(lower, order.level_offset);
  body_ = upload<IntPairs>("ccp::BodySystem::body", body, n);
  incidence_offset_ = upload<Ints>("ccp::BodySystem::incidence_offset", offset, m + 1);
  incidence_ = upload<Ints>("ccp::BodySystem::incidence", incidence, incidence.size());
  block_contacts_ =
      upload<IntPairs>("ccp::BodySystem::block_contacts", contact_range, pattern_.blocks);
  contact_order_ = upload<Ints>("ccp::BodySystem::contact_order", contact_order, n);
  body_order_ = upload<Ints>("ccp::BodySystem::body_order", order.body, m);

  std::vector<double> root_mass(m + 1, 0.0);
  for (std::size_t k = 0; k < m; ++k) root_mass[k] = std::sqrt(host.inverse_mass[order.body[k]]);
  root_mass_ = upload<DeviceArray<double*>>("ccp::BodySystem::root_mass", root_mass, m + 1);
  if (NB == 6) {
    std::vector<double> root_inertia(9 * (m + 1), 0.0), reach(m, 0.0), arm(6 * n);
    for (std::size_t k = 0; k < m; ++k) {
      semidefinite_factor(&host.inverse_inertia[9 * order.body[k]], &root_inertia[9 * k]);
    }
    for (std::size_t c = 0; c < n; ++c) {
      for (int side = 0; side < 2; ++side) {
        const int contact = contact_order[c];
        const double* const from = side == 0 ? &host.arm_a[3 * contact] : &host.arm_b[3 * contact];
        std::copy(from, from + 3, &arm[6 * c + 3 * side]);
        const int i = body[2 * c + side];
        if (i == ground) continue;
        reach[i] = std::max(reach[i], std::hypot(from[0], from[1], from[2]));
      }
    }
    root_inertia_ =
        upload<DeviceArray<double* [9]>>("ccp::BodySystem::root_inertia", root_inertia, m + 1);
    reach_ = upload<DeviceArray<double*>>("ccp::BodySystem::reach", reach, m);
    arm_ = upload<DeviceArray<double* [2][3]>>("ccp::BodySystem::arm", arm, n);
    velocity_ = DeviceArray<double* [6]>("ccp::BodySystem::velocity", m + 1);
  }
  matrix_ = Teuchos::rcp(new SymmetricBlockMatrix<NB>(pattern_));
}

template <int NB>
void BodySystem<NB>::contact_velocities(const ConstVectorView& z, const VectorView& d) const {
  const auto body = body_;
  const auto root_mass = root_mass_;
  const int rows = pattern_.rows;
  if (NB == 3) {
    Kokkos::parallel_for(
        "ccp::BodySystem::contact_velocities", range(contacts_), KOKKOS_LAMBDA(const int c) {
          const int a = body(c, 0), b = body(c, 1);
          Vec3 va, vb;
          if (a < rows) va = root_mass(a) * load3(z, a);
          if (b < rows) vb = root_mass(b) * load3(z, b);
          store3(d, c, vb - va);
        });
    return;
  }
  const auto root_inertia = root_inertia_;
  const auto velocity = velocity_;
  Kokkos::parallel_for(
      "ccp::BodySystem::body_velocities", range(rows), KOKKOS_LAMBDA(const int i) {
        for (int k = 0; k < 3; ++k) {
          velocity(i, k) = root_mass(i) * z(NB * i + k);
          double spin = 0;
          for (int l = 0; l <= k; ++l) spin += root_inertia(i, 3 * k + l) * z(NB * i + 3 + l);
          velocity(i, 3 + k) = spin;
        }
      });
  const auto arm = arm_;
  Kokkos::parallel_for(
      "ccp::BodySystem::contact_velocities", range(contacts_), KOKKOS_LAMBDA(const int c) {
        Vec3 sum;
        for (int side = 0; side < 2; ++side) {
          const int i = body(c, side);
          const double sign = side == 0 ? -1 : 1;
          const Vec3 v{velocity(i, 0), velocity(i, 1), velocity(i, 2)};
          const Vec3 w{velocity(i, 3), velocity(i, 4), velocity(i, 5)};
          const Vec3 r{arm(c, side, 0), arm(c, side, 1), arm(c, side, 2)};
          sum = sum + sign * (v + cross(w, r));
        }
        store3(d, c, sum);
      });
}

template <int NB>
void BodySystem<NB>::load(const ConstVectorView& p, const VectorView& f) const {
  const auto offset = incidence_offset_, incidence = incidence_;
  const auto root_mass = root_mass_;
  if (NB == 3) {
    Kokkos::parallel_for(
        "ccp::BodySystem::load", range(pattern_.rows), KOKKOS_LAMBDA(const int i) {
          Vec3 sum;
          for (int k = offset(i); k < offset(i + 1); ++k) {
            const double sign = 2 * (incidence(k) & 1) - 1;
            sum = sum + sign * load3(p, incidence(k) >> 1);
          }
          store3(f, i, root_mass(i) * sum);
        });
    return;
  }
  const auto arm = arm_;
  const auto root_inertia = root_inertia_;
  Kokkos::parallel_for(
      "ccp::BodySystem::load", range(pattern_.rows), KOKKOS_LAMBDA(const int i) {
        Vec3 sum, torque;
        for (int k = offset(i); k < offset(i + 1); ++k) {
          const int c = incidence(k) >> 1, side = incidence(k) & 1;
          const Vec3 pc = (side ? 1.0 : -1.0) * load3(p, c);
          sum = sum + pc;
          torque = torque + cross(Vec3{arm(c, side, 0), arm(c, side, 1), arm(c, side, 2)}, pc);
        }
        f(NB * i) = root_mass(i) * sum.x;
        f(NB * i + 1) = root_mass(i) * sum.y;
        f(NB * i + 2) = root_mass(i) * sum.z;
        const double t[3] = {torque.x, torque.y, torque.z};
        for (int l = 0; l < 3; ++l) {
          double turn = 0;
          for (int k = l; k < 3; ++k) turn += root_inertia(i, 3 * k + l) * t[k];
          f(NB * i + 3 % NB + l) = turn;
        }
      });
}

template <int NB>
double BodySystem<NB>::speed(const ConstVectorView& f) const {
  const auto root_mass = root_mass_;
  const auto root_inertia = root_inertia_;
  const auto reach = reach_;
  double largest = 0;
  Kokkos::parallel_reduce(
      "ccp::BodySystem::speed", range(pattern_.rows),
      KOKKOS_LAMBDA(const int i, double& maximum) {
        double value = root_mass(i) * norm(Vec3{f(NB * i), f(NB * i + 1), f(NB * i + 2)});
        if (NB == 6) {
          double square = 0;
          for (int k = 0; k < 3; ++k) {
            double spin = 0;
            for (int l = 0; l <= k; ++l)
              spin += root_inertia(i, 3 * k + l) * f(NB * i + 3 % NB + l);
            square += spin * spin;
          }
          value += reach(i) * sqrt(square);
        }
        raise(maximum, value);
      },
      Largest(largest));
  return largest;
}

/// One side of a contact: z gives it the velocity  [ mass * 1 | lever ] z,
/// lever = -[arm]x root_inertia.
struct Side {
  double mass;
  double lever[9];
};

template <class Arm, class Inertia>
KOKKOS_INLINE_FUNCTION void fill_lever(const Arm& arm, const Inertia& l, int c, int side, int i,
                                       double lever[9]) {
  const double r0 = arm(c, side, 0), r1 = arm(c, side, 1), r2 = arm(c, side, 2);
  const double turn[9] = {0, r2, -r1, -r2, 0, r0, r1, -r0, 0};
  for (int p = 0; p < 3; ++p) {
    for (int q = 0; q < 3; ++q) {
      double sum = 0;
      for (int k = q; k < 3; ++k) sum += turn[3 * p + k] * l(i, 3 * k + q);
      lever[3 * p + q] = sum;
    }
  }
}

/// block += sign A^T K B, row-major NB x NB. (3 % NB is where spins start, and a legal index for
/// NB = 3, too.)
template <int NB>
KOKKOS_INLINE_FUNCTION void add_congruence(double sign, const double k[9], const Side& a,
                                           const Side& b, double* block) {
  double kb[3 * NB];  // K B
  for (int p = 0; p < 3; ++p) {
    for (int q = 0; q < 3; ++q) {
      kb[NB * p + q] = sign * b.mass * k[3 * p + q];
      if (NB == 6) {
        double sum = 0;
        for (int l = 0; l < 3; ++l) sum += k[3 * p + l] * b.lever[3 * l + q];
        kb[NB * p + 3 % NB + q] = sign * sum;
      }
    }
  }
  for (int p = 0; p < 3; ++p) {
    for (int q = 0; q < NB; ++q) {
      block[NB * p + q] += a.mass * kb[NB * p + q];
      if (NB == 6) {
        double sum = 0;
        for (int l = 0; l < 3; ++l) sum += a.lever[3 * l + p] * kb[NB * l + q];
        block[NB * (p + 3 % NB) + q] += sum;
      }
    }
  }
}

template <int NB>
void BodySystem<NB>::assemble(const DeviceArray<Sym3*>& k) {
  const auto offset = incidence_offset_, incidence = incidence_;
  const auto root_mass = root_mass_;
  const auto root_inertia = root_inertia_;
  const auto arm = arm_;
  double* const diagonal = matrix_->diagonal().data();
  double* const off_diagonal = matrix_->off_diagonal().data();
  Kokkos::parallel_for(
      "ccp::BodySystem::assemble_diagonal", range(pattern_.rows), KOKKOS_LAMBDA(const int i) {
        double sum[NB * NB] = {};
        Side side;
        side.mass = root_mass(i);
        for (int l = offset(i); l < offset(i + 1); ++l) {
          const int c = incidence(l) >> 1;
          double kc[9];
          expand(k(c), kc);
          if (NB == 6) fill_lever(arm, root_inertia, c, incidence(l) & 1, i, side.lever);
          add_congruence<NB>(1, kc, side, side, sum);
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
  const auto body = body_;
  Kokkos::parallel_for(
      "ccp::BodySystem::assemble_off_diagonal", range(pattern_.blocks), KOKKOS_LAMBDA(const int b) {
        double sum[NB * NB] = {};
        int body_row = 0, body_column = 0;
        for (int c = block_contacts(b, 0); c < block_contacts(b, 1); ++c) {
          double kc[9];
          expand(k(c), kc);
          const int row_side = body(c, 0) > body(c, 1) ? 0 : 1;
          body_row = body(c, row_side);
          body_column = body(c, 1 - row_side);
          Side row, column;
          row.mass = root_mass(body_row);
          column.mass = root_mass(body_column);
          if (NB == 6) {
            fill_lever(arm, root_inertia, c, row_side, body_row, row.lever);
            fill_lever(arm, root_inertia, c, 1 - row_side, body_column, column.lever);
          }
          add_congruence<NB>(-1, kc, row, column, sum);
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
}

template <int NB>
PreconditionerReport BodySystem<NB>::precondition() {
  if (!preconditioner_) {
    preconditioner_ = make_preconditioner({kind_ == "auto" ? "block_ic0" : kind_, {}});
    preconditioner_->setup(
        {map(), pattern_.rows, {}, Teuchos::null, Teuchos::null, Space::body, matrix_});
  }
  return preconditioner_->compute();
}

template <int NB>
bool BodySystem<NB>::strengthen() {
  if (kind_ != "auto") return false;
  kind_ = "block_ic1";
  preconditioner_ = nullptr;
  return true;
}

template <int NB>
void BodySystem<NB>::lower_pattern(std::vector<std::int64_t>& column_offsets,
                                   std::vector<int>& rows) const {
  const auto offset =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), pattern_.column_offset);
  const auto row = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), pattern_.row);
  column_offsets.assign(1, 0);
  rows.clear();
  for (int j = 0; j < pattern_.rows; ++j) {
    for (int q = 0; q < NB; ++q) {
      for (int p = q; p < NB; ++p) rows.push_back(NB * j + p);
      for (int l = offset(j); l < offset(j + 1); ++l) {
        for (int p = 0; p < NB; ++p) rows.push_back(NB * row(l) + p);
      }
      column_offsets.push_back(static_cast<std::int64_t>(rows.size()));
    }
  }
}

template <int NB>
void BodySystem<NB>::lower_values(std::vector<double>& values) const {
  // Column q of block column j starts after NB^2 entries for each block before and the packed
  // diagonal blocks; within it come NB - q of the diagonal, then NB of each block.
  const auto row_offset = pattern_.row_offset, column_offset = pattern_.column_offset;
  const double* const diagonal = matrix_->diagonal().data();
  const double* const off_diagonal = matrix_->off_diagonal().data();
  const std::size_t size = static_cast<std::size_t>(block::packed<NB>) * pattern_.rows +
                           static_cast<std::size_t>(NB * NB) * pattern_.blocks;
  const DeviceArray<double*> out(
      Kokkos::view_alloc("ccp::BodySystem::values", Kokkos::WithoutInitializing), size);
  Kokkos::parallel_for(
      "ccp::BodySystem::lower_values", range(pattern_.rows), KOKKOS_LAMBDA(const int j) {
        std::size_t next = static_cast<std::size_t>(block::packed<NB>) * j +
                           static_cast<std::size_t>(NB * NB) * column_offset(j);
        for (int q = 0; q < NB; ++q) {
          for (int p = q; p < NB; ++p) {
            out(next++) =
                diagonal[static_cast<std::size_t>(block::packed<NB>) * j + block::at(p, q)];
          }
          for (int l = column_offset(j); l < column_offset(j + 1); ++l) {
            double a[NB * NB];  // the block right of the diagonal: row q of it is our column
            block::expand<NB>(off_diagonal + static_cast<std::size_t>(block::stored<NB>) *
                                                 (l + row_offset(j + 1)),
                              a);
            for (int p = 0; p < NB; ++p) out(next++) = a[NB * p + q];
          }
        }
      });
  values.resize(size);
  Kokkos::deep_copy(
      Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data(), size), out);
}

}  // namespace

const std::vector<std::string>& VelocitySystem::orderings() {
  static const std::vector<std::string> names = {"auto", "gravity", "graph", "natural"};
  return names;
}

std::vector<std::string> VelocitySystem::preconditioners() {
  std::vector<std::string> names = body_preconditioner_ids();
  names.insert(names.begin(), "auto");
  return names;
}

PosedSystem VelocitySystem::pose(long outer, const Teuchos::RCP<const Vector>& b) const {
  PosedSystem posed;
  posed.space = Space::body;
  posed.outer = outer;
  posed.matrix = matrix();
  posed.rhs = b;
  posed.blocks = blocks();
  if (!posed.blocks.is_null()) posed.block_size = posed.blocks->block_size();
  posed.body = body_order();
  return posed;
}

std::unique_ptr<VelocitySystem> VelocitySystem::make(const Problem& problem,
                                                     const std::string& ordering,
                                                     const std::string& preconditioner) {
  if (problem.shared_delassus().is_assembled()) return make_factored_system(problem);
  if (problem.host().rotates()) {
    return std::make_unique<BodySystem<6>>(problem, ordering, preconditioner);
  }
  return std::make_unique<BodySystem<3>>(problem, ordering, preconditioner);
}

}  // namespace ccp
