#include "solvers/lcp/joint_elimination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "problems/model/constraint_math.hpp"
#include "solvers/core/constraint_pools.hpp"

namespace ccp {
namespace {

/// Below this part of what it was, a pivot is what rounding has left of a row that depends on
/// others.
constexpr double dependent = 1e-10;
/// The same of an entry of N'.
constexpr double cancelled = 1e-13;

/// Impulses or velocities of contacts in the axes of assemble_delassus.
Vec3 in_world(const ContactProblem& problem, std::size_t c, const Vec3& v) {
  const bool bodies = problem.form == ContactProblem::Form::bodies;
  return bodies ? to_world_axes(&problem.frame[9 * c], v) : v;
}
Vec3 in_contact(const ContactProblem& problem, std::size_t c, const Vec3& v) {
  const bool bodies = problem.form == ContactProblem::Form::bodies;
  return bodies ? to_contact_axes(&problem.frame[9 * c], v) : v;
}

/// The rows and columns of the contacts.
BlockMatrix contacts_of(const BlockMatrix& all, std::size_t contacts) {
  BlockMatrix part;
  part.row_offsets.push_back(0);
  for (std::size_t c = 0; c < contacts; ++c) {
    for (std::int64_t k = all.row_offsets[c]; k < all.row_offsets[c + 1]; ++k) {
      if (static_cast<std::size_t>(all.columns[k]) >= contacts) break;
      part.columns.push_back(all.columns[k]);
      part.blocks.insert(part.blocks.end(), &all.blocks[9 * k], &all.blocks[9 * k] + 9);
    }
    part.row_offsets.push_back(static_cast<std::int64_t>(part.columns.size()));
  }
  return part;
}

}  // namespace

JointElimination::JointElimination(const ContactProblem& problem)
    : problem_(problem), r_(problem.r) {
  if (problem.equality.size() == 0) {
    delassus_ = assemble_delassus(problem);
    return;
  }
  const BlockMatrix all = assemble_triples(problem);
  delassus_ = contacts_of(all, problem.contacts());
  read_rows(all);
  factorize();
  condense();
}

void JointElimination::read_rows(const BlockMatrix& all) {
  const std::size_t n = problem_.contacts(), joints = problem_.equality.size();
  std::vector<std::size_t> place(3 * joints, 3 * joints);  // in used_
  for (std::size_t e = 0; e < joints; ++e) {
    for (std::size_t p = 0; p < static_cast<std::size_t>(problem_.equality.rows[e]); ++p) {
      place[3 * e + p] = used_.size();
      used_.push_back(3 * e + p);
    }
  }
  const std::size_t m = used_.size();
  g_.assign(m * m, 0.0);
  b_.assign(m * 3 * n, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    const std::size_t t = n + used_[i] / 3, p = used_[i] % 3;
    for (std::int64_t k = all.row_offsets[t]; k < all.row_offsets[t + 1]; ++k) {
      const auto column = static_cast<std::size_t>(all.columns[k]);
      for (std::size_t q = 0; q < 3; ++q) {
        const double value = all.blocks[9 * static_cast<std::size_t>(k) + 3 * p + q];
        if (column < n) {
          b_[i * 3 * n + 3 * column + q] = value;
        } else if (const std::size_t j = place[3 * (column - n) + q]; j < m) {
          g_[i * m + j] = value;
        }
      }
    }
  }
}

/// G = L L^T of the rows kept: the largest pivot, relative to what it was, is next.
void JointElimination::factorize() {
  const std::size_t m = used_.size();
  std::vector<double> columns, pivot(m);  // columns: [kept][m] of L
  std::vector<char> open(m, 1);
  for (std::size_t i = 0; i < m; ++i) pivot[i] = g_[i * m + i];
  while (true) {
    std::size_t next = m;
    double best = dependent;
    for (std::size_t i = 0; i < m; ++i) {
      const double left = open[i] && g_[i * m + i] > 0 ? pivot[i] / g_[i * m + i] : 0;
      if (left > best) next = i, best = left;
    }
    if (next == m) break;
    const double root = std::sqrt(pivot[next]);
    std::vector<double> column(m, 0.0);
    for (std::size_t i = 0; i < m; ++i) {
      if (!open[i]) continue;
      double sum = g_[i * m + next];
      for (std::size_t k = 0; k < kept_.size(); ++k) {
        sum -= columns[k * m + i] * columns[k * m + next];
      }
      column[i] = i == next ? root : sum / root;
      if (i != next) pivot[i] -= column[i] * column[i];
    }
    open[next] = 0;
    kept_.push_back(next);
    columns.insert(columns.end(), column.begin(), column.end());
  }
  const std::size_t size = kept_.size();
  factor_.assign(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k <= i; ++k) factor_[i * size + k] = columns[k * m + kept_[i]];
  }
}

/// G^-1 b of the rows kept, zero in the others.
std::vector<double> JointElimination::solve(std::vector<double> b) const {
  const std::size_t size = kept_.size();
  std::vector<double> y(size);
  for (std::size_t i = 0; i < size; ++i) {
    double sum = b[kept_[i]];
    for (std::size_t k = 0; k < i; ++k) sum -= factor_[i * size + k] * y[k];
    y[i] = sum / factor_[i * size + i];
  }
  for (std::size_t i = size; i-- > 0;) {
    for (std::size_t k = i + 1; k < size; ++k) y[i] -= factor_[k * size + i] * y[k];
    y[i] /= factor_[i * size + i];
  }
  std::fill(b.begin(), b.end(), 0.0);
  for (std::size_t i = 0; i < size; ++i) b[kept_[i]] = y[i];
  return b;
}

void JointElimination::condense() {
  const std::size_t m = used_.size(), n = problem_.contacts();
  std::vector<double> free(m);
  for (std::size_t i = 0; i < m; ++i) free[i] = problem_.equality.r[used_[i]];
  const std::vector<double> hold = solve(free);
  for (std::size_t i = 0; i < m; ++i) {
    double left = free[i];
    for (std::size_t j = 0; j < m; ++j) left -= g_[i * m + j] * hold[j];
    contradiction_ = std::max(contradiction_, std::abs(left));
  }

  std::vector<std::size_t> pushed;  // contacts that joints feel
  for (std::size_t c = 0; c < n; ++c) {
    double largest = 0;
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t q = 0; q < 3; ++q) {
        largest = std::max(largest, std::abs(b_[i * 3 * n + 3 * c + q]));
      }
    }
    if (largest > 0) pushed.push_back(c);
  }
  std::map<std::size_t, std::vector<double>> solved;  // [3][m] G^-1 B of a contact
  for (const std::size_t c : pushed) {
    for (std::size_t q = 0; q < 3; ++q) {
      std::vector<double> column(m);
      for (std::size_t i = 0; i < m; ++i) column[i] = b_[i * 3 * n + 3 * c + q];
      column = solve(column);
      solved[c].insert(solved[c].end(), column.begin(), column.end());
    }
    double turn[3] = {0, 0, 0};
    for (std::size_t q = 0; q < 3; ++q) {
      for (std::size_t i = 0; i < m; ++i) turn[q] += b_[i * 3 * n + 3 * c + q] * hold[i];
    }
    set_triple(r_, c, triple(r_, c) - in_contact(problem_, c, {turn[0], turn[1], turn[2]}));
  }

  BlockMatrix all;
  all.row_offsets.push_back(0);
  for (std::size_t c = 0; c < n; ++c) {
    std::map<std::int32_t, std::array<double, 9>> row;
    for (std::int64_t k = delassus_.row_offsets[c]; k < delassus_.row_offsets[c + 1]; ++k) {
      std::copy_n(&delassus_.blocks[9 * static_cast<std::size_t>(k)], 9,
                  row[delassus_.columns[k]].begin());
    }
    if (std::binary_search(pushed.begin(), pushed.end(), c)) {
      for (const std::size_t d : pushed) {
        std::array<double, 9>& block = row[static_cast<std::int32_t>(d)];
        const std::vector<double>& held = solved[d];
        for (std::size_t p = 0; p < 3; ++p) {
          for (std::size_t q = 0; q < 3; ++q) {
            double sum = 0;
            for (std::size_t i = 0; i < m; ++i) sum += b_[i * 3 * n + 3 * c + p] * held[q * m + i];
            double& entry = block[3 * p + q];
            const double size = std::max(std::abs(entry), std::abs(sum));
            entry -= sum;
            if (std::abs(entry) <= cancelled * size) entry = 0;
          }
        }
      }
    }
    for (const auto& [column, block] : row) {
      all.columns.push_back(column);
      all.blocks.insert(all.blocks.end(), block.begin(), block.end());
    }
    all.row_offsets.push_back(static_cast<std::int64_t>(all.columns.size()));
  }
  delassus_ = std::move(all);
}

std::vector<double> JointElimination::with_joints(std::vector<double> gamma) const {
  const std::size_t m = used_.size(), n = problem_.contacts();
  gamma.resize(3 * n);
  if (m == 0) return gamma;
  std::vector<double> velocity(m);
  for (std::size_t i = 0; i < m; ++i) velocity[i] = -problem_.equality.r[used_[i]];
  for (std::size_t c = 0; c < n; ++c) {
    const Vec3 p = in_world(problem_, c, triple(gamma, c));
    for (std::size_t i = 0; i < m; ++i) {
      const double* const row = &b_[i * 3 * n + 3 * c];
      velocity[i] -= row[0] * p.x + row[1] * p.y + row[2] * p.z;
    }
  }
  velocity = solve(velocity);
  gamma.resize(3 * problem_.triples(), 0.0);
  for (std::size_t i = 0; i < m; ++i) gamma[3 * n + used_[i]] = velocity[i];
  return gamma;
}

std::string why_not_planar(const ContactProblem& problem) {
  const JointElimination contacts(problem);
  const BlockMatrix& matrix = contacts.delassus();
  constexpr double rounding = 1e-9;
  double largest = 0, fastest = 0;
  for (const double value : matrix.blocks) largest = std::max(largest, std::abs(value));
  for (const double value : contacts.r()) fastest = std::max(fastest, std::abs(value));
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    if (problem.mu[c] == 0) continue;
    bool slides = std::abs(contacts.r()[3 * c + 2]) > rounding * fastest;
    const Vec3 side = in_world(problem, c, {0, 0, 1});
    for (std::int64_t k = matrix.row_offsets[c]; k < matrix.row_offsets[c + 1]; ++k) {
      const auto d = static_cast<std::size_t>(matrix.columns[k]);
      const double* const b = &matrix.blocks[9 * static_cast<std::size_t>(k)];
      const Vec3 row{side.x * b[0] + side.y * b[3] + side.z * b[6],
                     side.x * b[1] + side.y * b[4] + side.z * b[7],
                     side.x * b[2] + side.y * b[5] + side.z * b[8]};
      const Vec3 pushed = in_contact(problem, d, row);
      slides = slides || std::abs(pushed.x) > rounding * largest ||
               (problem.mu[d] > 0 && std::abs(pushed.y) > rounding * largest);
    }
    if (slides) {
      return fmt::format(
          "lcp with edges=2 has friction along t1 only, for planar problems, and contact {} may "
          "slide along t2 as well: it takes edges=4 or more",
          c);
    }
  }
  return "";
}

}  // namespace ccp
