#include "harness/measure/pooled_totals.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ccp {
namespace {

using Triple = std::array<double, 3>;

Triple triple_at(const std::vector<double>& data, std::size_t t, double factor = 1) {
  return {factor * data[3 * t], factor * data[3 * t + 1], factor * data[3 * t + 2]};
}
double inner(const Triple& a, const Triple& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
double size(const Triple& a) {
  return std::sqrt(inner(a, a));
}

/// A contact and its rolling triple in contact axes, both in the units of the contact.
struct Pair {
  Triple contact{}, roll{};
};
Pair minus(const Pair& a, double factor, const Pair& b) {
  Pair c;
  for (int k = 0; k < 3; ++k) {
    c.contact[k] = a.contact[k] - factor * b.contact[k];
    c.roll[k] = a.roll[k] - factor * b.roll[k];
  }
  return c;
}
double inner(const Pair& a, const Pair& b) {
  return inner(a.contact, b.contact) + inner(a.roll, b.roll);
}
double size(const Pair& a) {
  return std::sqrt(inner(a, a));
}
double largest_entry(const Pair& a) {
  double largest = 0;
  for (int k = 0; k < 3; ++k) {
    largest = std::max({largest, std::abs(a.contact[k]), std::abs(a.roll[k])});
  }
  return largest;
}

/// Projection onto K6: the normal part n >= 0 is the root of the increasing, piecewise linear
///     n - z_n - mu (|z_t| - mu n)_+ - rho (|z_r| - rho n)_+,
/// found between its kinks at |z_t| / mu and |z_r| / rho.
Pair project(const Pair& z, double mu, double rho) {
  const double t = std::hypot(z.contact[1], z.contact[2]), r = size(z.roll);
  const auto defect = [&](double n) {
    return n - z.contact[0] - mu * std::max(0.0, t - mu * n) - rho * std::max(0.0, r - rho * n);
  };
  double n = 0;
  if (defect(0) < 0) {
    std::array<double, 3> ends{0, mu > 0 ? t / mu : 0, rho > 0 ? r / rho : 0};
    std::sort(ends.begin(), ends.end());
    // The last kink below the root; from there to the next one, or to infinity with slope 1, the
    // function is a line.
    std::size_t below = 0;
    while (below + 1 < ends.size() && defect(ends[below + 1]) < 0) ++below;
    const double low = ends[below], at_low = defect(low);
    if (below + 1 == ends.size()) {
      n = low - at_low;
    } else {
      const double high = ends[below + 1];
      n = low - at_low * (high - low) / (defect(high) - at_low);
    }
  }
  Pair p = z;
  p.contact[0] = n;
  const double cut_t = t > mu * n ? mu * n / t : 1, cut_r = r > rho * n ? rho * n / r : 1;
  p.contact[1] *= cut_t, p.contact[2] *= cut_t;
  for (double& entry : p.roll) entry *= cut_r;
  return p;
}

/// dist(u, K6*) = |P(-u)|, Moreau.
double distance_to_dual(const Pair& u, double mu, double rho) {
  return size(project(minus({}, 1, u), mu, rho));
}

/// Mean diagonal of the block of N + Sigma that rows [3][6] of both sides make.
double mean_diagonal(const ContactProblem& p, const std::array<std::int32_t, 2>& bodies,
                     const std::array<std::array<Triple, 3>, 2>& linear,
                     const std::array<std::array<Triple, 3>, 2>& angular, int rows,
                     double compliance) {
  double trace = compliance;
  for (int side = 0; side < 2; ++side) {
    if (bodies[side] < 0) continue;
    const auto body = static_cast<std::size_t>(bodies[side]);
    for (int row = 0; row < rows; ++row) {
      trace += p.inverse_mass[body] * inner(linear[side][row], linear[side][row]);
      if (!p.rotates()) continue;
      const Triple& a = angular[side][row];
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          trace += a[i] * p.inverse_inertia[9 * body + 3 * i + j] * a[j];
        }
      }
    }
  }
  return trace / rows;
}

double of_contact(const ContactProblem& p, std::size_t c) {
  std::array<std::array<Triple, 3>, 2> linear, angular;
  for (std::size_t row = 0; row < 3; ++row) {
    const Triple axis = triple_at(p.frame, 3 * c + row);
    for (int side = 0; side < 2; ++side) {
      linear[side][row] = axis;  // signs do not matter on the diagonal
      const Triple arm = p.rotates() ? triple_at(side == 0 ? p.arm_a : p.arm_b, c) : Triple{};
      angular[side][row] = {arm[1] * axis[2] - arm[2] * axis[1],
                            arm[2] * axis[0] - arm[0] * axis[2],
                            arm[0] * axis[1] - arm[1] * axis[0]};
    }
  }
  const double sigma = p.is_compliant() ? p.compliance[2 * c] + 2 * p.compliance[2 * c + 1] : 0;
  return mean_diagonal(p, {p.contact_bodies[2 * c], p.contact_bodies[2 * c + 1]}, linear, angular,
                       3, sigma);
}

double of_rolling(const ContactProblem& p, std::size_t k) {
  const auto c = static_cast<std::size_t>(p.rolling.contact[k]);
  std::array<std::array<Triple, 3>, 2> linear{}, angular{};
  const int rows = p.rolling.rows_of(k);
  for (int row = 0; row < rows; ++row) {  // the first one is missing where there are two
    const auto axis = 3 * c + static_cast<std::size_t>(3 - rows + row);
    angular[0][row] = angular[1][row] = triple_at(p.frame, axis);
  }
  const auto& sigma = p.rolling.compliance;
  return mean_diagonal(p, {p.contact_bodies[2 * c], p.contact_bodies[2 * c + 1]}, linear, angular,
                       rows, sigma.empty() ? 0 : sigma[2 * k] + 2 * sigma[2 * k + 1]);
}

double of_equality(const ContactProblem& p, std::size_t k) {
  const EqualityPool& pool = p.equality;
  std::array<std::array<Triple, 3>, 2> linear, angular;
  for (std::size_t row = 0; row < 3; ++row) {
    for (int side = 0; side < 2; ++side) {
      const auto& jacobian = side == 0 ? pool.jacobian_a : pool.jacobian_b;
      linear[side][row] = triple_at(jacobian, 6 * k + 2 * row);
      angular[side][row] = triple_at(jacobian, 6 * k + 2 * row + 1);
    }
  }
  double sigma = 0;
  for (int row = 0; row < pool.rows[k] && !pool.compliance.empty(); ++row) {
    sigma += pool.compliance[3 * k + static_cast<std::size_t>(row)];
  }
  return mean_diagonal(p, {pool.bodies[2 * k], pool.bodies[2 * k + 1]}, linear, angular,
                       pool.rows[k], sigma);
}

/// Adds one cone under one law, for the velocity that is dual to its impulse.
void add(LawTotals& total, double work, double dual, double natural) {
  total.dot += work;
  total.dual = std::max(total.dual, dual);
  total.natural = std::max(total.natural, natural);
}

}  // namespace

PooledReferee::PooledReferee(const ContactProblem& problem) : problem_(problem) {
  const std::size_t n = problem.contacts(), rolling = problem.rolling.size(),
                    joints = problem.equality.size();
  double sum = 0, rows = 0;
  for (std::size_t c = 0; c < n; ++c) sum += of_contact(problem, c), rows += 1;
  for (std::size_t k = 0; k < joints && n == 0; ++k) {
    sum += problem.equality.rows[k] * of_equality(problem, k), rows += problem.equality.rows[k];
  }
  if (sum > 0) s_ = sum / rows;
  const auto ratio = [](double wanted, double own) {
    return wanted > 0 && own > 0 ? std::sqrt(wanted / own) : 1;
  };
  for (std::size_t k = 0; k < rolling; ++k) {
    const auto c = static_cast<std::size_t>(problem.rolling.contact[k]);
    length_.push_back(ratio(of_contact(problem, c), of_rolling(problem, k)));
  }
  for (std::size_t k = 0; k < joints; ++k) length_.push_back(ratio(s_, of_equality(problem, k)));

  double squares = 0, count = 3.0 * static_cast<double>(n);
  for (std::size_t k = 0; k < rolling; ++k) count += problem.rolling.rows_of(k);
  for (const double r : problem.r) squares += r * r;
  const auto add_squares = [&](const std::vector<double>& r, std::size_t first) {
    for (std::size_t k = 0; k < r.size() / 3; ++k) {
      const Triple own = triple_at(r, k, length_[first + k]);
      squares += inner(own, own);
    }
  };
  add_squares(problem.rolling.r, 0);
  add_squares(problem.equality.r, rolling);
  for (const std::int32_t used : problem.equality.rows) count += used;
  if (squares > 0) q_ = std::sqrt(squares / count);
}

int PooledReferee::cones() const {
  return static_cast<int>(problem_.contacts() + problem_.equality.size());
}

PooledReferee::Totals PooledReferee::measure(const std::vector<double>& gamma,
                                             const std::vector<double>& u) const {
  const std::size_t n = problem_.contacts(), rolling = problem_.rolling.size();
  Totals totals;
  for (const double value : gamma) totals.finite += std::abs(value);
  for (const double value : u) totals.finite += std::abs(value);
  if (!std::isfinite(totals.finite)) return totals;

  std::size_t next = 0;  // rolling triples ascend by contact
  for (std::size_t c = 0; c < n; ++c) {
    Pair g{triple_at(gamma, c), {}}, v{triple_at(u, c), {}};
    const double mu = problem_.mu[c];
    double rho = 0, twist = 0;  // a moment in a row that is not there
    if (next < rolling && problem_.rolling.contact[next] == static_cast<std::int32_t>(c)) {
      const double l = length_[next];
      g.roll = triple_at(gamma, n + next, 1 / l);
      v.roll = triple_at(u, n + next, l);
      rho = problem_.rolling.rho[next] / l;
      if (!problem_.rolling.twists(next)) {
        twist = std::abs(g.roll[0]);
        g.roll[0] = v.roll[0] = 0;
      }
      ++next;
    }
    const double outside = std::hypot(size(minus(g, 1, project(g, mu, rho))), twist);
    totals.primal = std::max(totals.primal, outside);
    for (LawTotals* law : {&totals.convex, &totals.coulomb}) {
      if (law == &totals.coulomb) {  // De Saxce
        v.contact[0] += mu * std::hypot(v.contact[1], v.contact[2]) + rho * size(v.roll);
      }
      const Pair moved = minus(g, 1, project(minus(g, 1 / s_, v), mu, rho));
      add(*law, inner(g, v), distance_to_dual(v, mu, rho), largest_entry(moved));
    }
  }
  for (std::size_t k = 0; k < problem_.equality.size(); ++k) {
    const double l = length_[rolling + k];
    Triple g = triple_at(gamma, n + rolling + k, 1 / l), v = triple_at(u, n + rolling + k, l);
    Triple outside{};  // impulses in rows that are not there
    for (int row = problem_.equality.rows[k]; row < 3; ++row) outside[row] = g[row], v[row] = 0;
    totals.primal = std::max(totals.primal, size(outside));
    const double natural = std::max({std::abs(v[0]), std::abs(v[1]), std::abs(v[2])}) / s_;
    for (LawTotals* law : {&totals.convex, &totals.coulomb})
      add(*law, inner(g, v), size(v), natural);
  }
  return totals;
}

}  // namespace ccp
