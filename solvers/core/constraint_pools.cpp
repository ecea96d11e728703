#include "solvers/core/constraint_pools.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "problems/model/incidence.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

/// Sigma of all triples in their axes: diag(n, t, t) of rolling ones in world axes.
std::vector<Sym3> compliances(const ContactProblem& problem) {
  const RollingPool& rolling = problem.rolling;
  const EqualityPool& equality = problem.equality;
  std::vector<Sym3> all;
  if (rolling.compliance.empty() && equality.compliance.empty()) return all;
  all.resize(rolling.size() + equality.size());
  for (std::size_t k = 0; k < rolling.compliance.size() / 2; ++k) {
    const double along = rolling.compliance[2 * k], across = rolling.compliance[2 * k + 1];
    const Vec3 n = triple(problem.frame, 3 * static_cast<std::size_t>(rolling.contact[k]));
    const double axis[3] = {n.x, n.y, n.z};
    all[k] = symmetric(
        [&](int i, int j) { return (i == j ? across : 0) + (along - across) * axis[i] * axis[j]; });
  }
  for (std::size_t k = 0; k < equality.compliance.size() / 3; ++k) {
    const double* const c = &equality.compliance[3 * k];
    all[rolling.size() + k] = {c[0], 0, 0, c[1], 0, c[2]};
  }
  return all;
}

/// The normal of a rolling triple that has no row about it; else zero.
Vec3 normal_without_twist(const ContactProblem& problem, std::size_t k) {
  if (problem.rolling.twists(k)) return {};
  return triple(problem.frame, 3 * static_cast<std::size_t>(problem.rolling.contact[k]));
}

/// The same of all, [rolling][3]; empty where there are three rows everywhere.
std::vector<double> axes_of_free_twist(const ContactProblem& problem) {
  const RollingPool& rolling = problem.rolling;
  std::vector<double> axes;
  if (std::count(rolling.rows.begin(), rolling.rows.end(), 2) == 0) return axes;
  axes.resize(3 * rolling.size());
  for (std::size_t k = 0; k < rolling.size(); ++k) {
    set_triple(axes, k, normal_without_twist(problem, k));
  }
  return axes;
}

/// Rows of the Jacobian of every triple, 3 x 6 per side, and the bodies they act on.
struct TripleRows {
  std::vector<std::int32_t> body;            ///< [triples][2]
  std::vector<std::array<double, 18>> row;   ///< [triples][2]
  std::vector<std::array<double, 18>> pull;  ///< the same times M^-1
};

/// Rows times M^-1.
std::array<double, 18> pulled(const ContactProblem& problem, std::int32_t body,
                              const std::array<double, 18>& row) {
  std::array<double, 18> pull{};
  if (!is_movable(problem, body)) return pull;
  const auto i = static_cast<std::size_t>(body);
  for (std::size_t p = 0; p < 3; ++p) {
    for (std::size_t k = 0; k < 3; ++k) pull[6 * p + k] = problem.inverse_mass[i] * row[6 * p + k];
    const Vec3 spin = spin_of(problem, i, {row[6 * p + 3], row[6 * p + 4], row[6 * p + 5]});
    pull[6 * p + 3] = spin.x, pull[6 * p + 4] = spin.y, pull[6 * p + 5] = spin.z;
  }
  return pull;
}

TripleRows rows_of(const ContactProblem& problem) {
  constexpr Vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  TripleRows all;
  const auto add = [&](std::int32_t body, const std::array<double, 18>& row) {
    all.body.push_back(body);
    all.row.push_back(row);
    all.pull.push_back(pulled(problem, body, row));
  };
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    for (int side = 0; side < 2; ++side) {
      std::array<double, 18> row{};
      for (int p = 0; p < 3; ++p) {
        row_jacobian(axes[p], arm_of(problem, c, side), side,
                     &row[6 * static_cast<std::size_t>(p)]);
      }
      add(problem.contact_bodies[2 * c + static_cast<std::size_t>(side)], row);
    }
  }
  for (std::size_t k = 0; k < problem.rolling.size(); ++k) {
    const std::int32_t c = problem.rolling.contact[k];
    const Vec3 n = normal_without_twist(problem, k);
    const double axis[3] = {n.x, n.y, n.z};
    for (std::size_t side = 0; side < 2; ++side) {
      std::array<double, 18> row{};
      for (std::size_t p = 0; p < 3; ++p) {
        for (std::size_t q = 0; q < 3; ++q) {
          row[6 * p + 3 + q] =
              side_sign(static_cast<int>(side)) * ((p == q ? 1 : 0) - axis[p] * axis[q]);
        }
      }
      add(problem.contact_bodies[2 * static_cast<std::size_t>(c) + side], row);
    }
  }
  for (std::size_t k = 0; k < problem.equality.size(); ++k) {
    for (std::size_t side = 0; side < 2; ++side) {
      std::array<double, 18> row{};
      const auto& from = side == 0 ? problem.equality.jacobian_a : problem.equality.jacobian_b;
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(18 * k), 18, row.begin());
      add(problem.equality.bodies[2 * k + side], row);
    }
  }
  return all;
}

/// block += row pull^T, both 3 x 6.
void add_product(const std::array<double, 18>& row, const std::array<double, 18>& pull,
                 double* block) {
  for (std::size_t p = 0; p < 3; ++p) {
    for (std::size_t q = 0; q < 3; ++q) {
      for (std::size_t k = 0; k < 6; ++k) block[3 * p + q] += row[6 * p + k] * pull[6 * q + k];
    }
  }
}

/// Sigma of a contact's triple.
Sym3 compliance_of_contact(const ContactProblem& problem, std::size_t c) {
  const double along = problem.compliance[2 * c], across = problem.compliance[2 * c + 1];
  const double* const n = &problem.frame[9 * c];
  return symmetric(
      [&](int i, int j) { return (i == j ? across : 0) + (along - across) * n[i] * n[j]; });
}

}  // namespace

BlockMatrix assemble_triples(const ContactProblem& problem) {
  const std::size_t n = problem.contacts(), all = problem.triples();
  if (all == n) return assemble_delassus(problem);
  const TripleRows rows = rows_of(problem);
  const Incidence incidence = incidence_of(rows.body, problem.bodies());
  const std::vector<Sym3> beside = compliances(problem);
  std::vector<std::int32_t> partner(all, -1);
  for (std::size_t k = 0; k < problem.rolling.size(); ++k) {
    const auto c = static_cast<std::size_t>(problem.rolling.contact[k]);
    partner[c] = static_cast<std::int32_t>(n + k);
    partner[n + k] = problem.rolling.contact[k];
  }
  BlockMatrix matrix;
  matrix.row_offsets.push_back(0);
  for (std::size_t t = 0; t < all; ++t) {
    std::map<std::int32_t, std::array<double, 9>> row;  // by column
    std::array<double, 9>& own = row[static_cast<std::int32_t>(t)];
    if (partner[t] >= 0) row[partner[t]];
    const bool is_contact = t < n;
    if (is_contact ? !problem.compliance.empty() : !beside.empty()) {
      expand(is_contact ? compliance_of_contact(problem, t) : beside[t - n], own.data());
    }
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t body = rows.body[2 * t + side];
      if (!is_movable(problem, body)) continue;
      for (int k = incidence.offset[body]; k < incidence.offset[body + 1]; ++k) {
        const int other = incidence.side[k];
        add_product(rows.row[2 * t + side], rows.pull[static_cast<std::size_t>(other)],
                    row[other >> 1].data());
      }
    }
    for (const auto& [column, block] : row) {
      matrix.columns.push_back(column);
      matrix.blocks.insert(matrix.blocks.end(), block.begin(), block.end());
    }
    matrix.row_offsets.push_back(static_cast<std::int64_t>(matrix.columns.size()));
  }
  return matrix;
}

ConstraintPools::ConstraintPools(const ContactProblem& problem, const BodyMatrices& inverse)
    : first_(static_cast<int>(problem.contacts())),
      rolling_(static_cast<int>(problem.rolling.size())),
      equality_(static_cast<int>(problem.equality.size())),
      inverse_(inverse) {
  if (empty()) return;
  const RollingPool& rolling = problem.rolling;
  const EqualityPool& equality = problem.equality;
  const std::size_t m = problem.bodies(), count = rolling.size() + equality.size();

  std::vector<std::int32_t> body;
  std::vector<int> rolling_of(rolling.size() > 0 ? problem.contacts() : 0, -1);
  for (std::size_t k = 0; k < rolling.size(); ++k) {
    const auto c = static_cast<std::size_t>(rolling.contact[k]);
    rolling_of[c] = static_cast<int>(k);
    for (std::size_t side = 0; side < 2; ++side) {
      body.push_back(problem.contact_bodies[2 * c + side]);
    }
  }
  body.insert(body.end(), equality.bodies.begin(), equality.bodies.end());
  const Incidence incidence = incidence_of(body, m);
  for (std::int32_t& b : body) b = b < 0 ? static_cast<std::int32_t>(m) : b;

  std::vector<double> jacobian;
  jacobian.reserve(36 * equality.size());
  for (std::size_t k = 0; k < equality.size(); ++k) {
    for (const auto* side : {&equality.jacobian_a, &equality.jacobian_b}) {
      const auto rows = side->begin() + static_cast<std::ptrdiff_t>(18 * k);
      jacobian.insert(jacobian.end(), rows, rows + 18);
    }
  }
  body_ = upload<DeviceArray<int* [2]>>("ccp::ConstraintPools::body", body, count);
  offset_ = upload<DeviceArray<int*>>("ccp::ConstraintPools::offset", incidence.offset, m + 1);
  incidence_ = upload<DeviceArray<int*>>("ccp::ConstraintPools::incidence", incidence.side,
                                         incidence.side.size());
  contact_ =
      upload<DeviceArray<int*>>("ccp::ConstraintPools::contact", rolling.contact, rolling.size());
  rolling_of_ =
      upload<DeviceArray<int*>>("ccp::ConstraintPools::rolling_of", rolling_of, rolling_of.size());
  rho_ = upload<DeviceArray<double*>>("ccp::ConstraintPools::rho", rolling.rho, rolling.size());
  const std::vector<double> axes = axes_of_free_twist(problem);
  free_twist_.axis =
      upload<DeviceArray<double* [3]>>("ccp::ConstraintPools::free_twist", axes, axes.size() / 3);
  rows_ = upload<DeviceArray<int*>>("ccp::ConstraintPools::rows", equality.rows, equality.size());
  jacobian_ = upload<DeviceArray<double* [2][18]>>("ccp::ConstraintPools::jacobian", jacobian,
                                                   equality.size());
  const std::vector<Sym3> sigma = compliances(problem);
  compliance_ = upload<DeviceArray<Sym3*>>("ccp::ConstraintPools::compliance", sigma, sigma.size());
}

DeviceArray<Sym3*> ConstraintPools::diagonal_blocks() const {
  DeviceArray<Sym3*> blocks("ccp::ConstraintPools::diagonal_blocks", size());
  const int rolling = rolling_;
  const auto body = body_;
  const auto jacobian = jacobian_;
  const BodyMatrices inverse = inverse_;
  const bool rotates = inverse.angular.extent(0) > 0, compliant = is_compliant();
  const auto compliance = compliance_;
  const FreeTwist free_twist = free_twist_;
  Kokkos::parallel_for(
      "ccp::ConstraintPools::diagonal_blocks", range(size()), KOKKOS_LAMBDA(const int j) {
        const int a = body(j, 0), b = body(j, 1);
        if (j < rolling) {
          const Sym3 turning = symmetric([&](int p, int q) {
            return (compliant ? compliance(j)(p, q) : 0) + inverse.angular(a, p, q) +
                   inverse.angular(b, p, q);
          });
          blocks(j) = free_twist.without(j, turning);
          return;
        }
        blocks(j) = symmetric([&](int p, int q) {
          double sum = compliant ? compliance(j)(p, q) : 0;
          for (int side = 0; side < 2; ++side) {
            const int i = side == 0 ? a : b;
            for (int k = 0; k < 3; ++k) {
              const double row = jacobian(j - rolling, side, 6 * p + k);
              sum += row * inverse.linear(i) * jacobian(j - rolling, side, 6 * q + k);
            }
            for (int k = 0; rotates && k < 3; ++k) {
              for (int l = 0; l < 3; ++l) {
                sum += jacobian(j - rolling, side, 6 * p + 3 + k) * inverse.angular(i, k, l) *
                       jacobian(j - rolling, side, 6 * q + 3 + l);
              }
            }
          }
          return sum;
        });
      });
  return blocks;
}

}  // namespace ccp
