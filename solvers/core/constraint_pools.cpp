#include "solvers/core/constraint_pools.hpp"

#include <algorithm>

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

}  // namespace

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
  Kokkos::parallel_for(
      "ccp::ConstraintPools::diagonal_blocks", range(size()), KOKKOS_LAMBDA(const int j) {
        blocks(j) = symmetric([&](int p, int q) {
          double sum = compliant ? compliance(j)(p, q) : 0;
          for (int side = 0; side < 2; ++side) {
            const int i = body(j, side);
            if (j < rolling) {
              sum += inverse.angular(i, p, q);
              continue;
            }
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
