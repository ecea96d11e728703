#include "solvers/core/constraint_map.hpp"

#include <algorithm>
#include <cmath>

#include "problems/base/mat3.hpp"
#include "problems/model/incidence.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

/// See MassPower::mass.
Mat3 pseudo_inverse(Mat3 a) {
  const double mean = (a[0] + a[4] + a[8]) / 3;
  if (!(mean > 0)) return {};
  Mat3 inverse = adjugate(a);
  double det = determinant(a, inverse);
  if (det < 1e-6 * mean * mean * mean) {
    for (int i = 0; i < 3; ++i) a[4 * i] += 1e-8 * mean;
    inverse = adjugate(a);
    det = determinant(a, inverse);
  }
  for (int k = 0; k < 9; ++k) inverse[k] = inverse[k] / det;
  return inverse;
}

/// L with L L^T = a for a symmetric positive semidefinite matrix; zero columns where a has no
/// extent.
Mat3 semidefinite_factor(const Mat3& a) {
  Mat3 l;
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
  return l;
}

double power_of(double inverse_mass, MassPower power) {
  if (power == MassPower::root) return std::sqrt(inverse_mass);
  if (power == MassPower::mass) return inverse_mass > 0 ? 1 / inverse_mass : 0;
  return inverse_mass;
}

Mat3 power_of(const Mat3& inverse_inertia, MassPower power) {
  if (power == MassPower::root) return semidefinite_factor(inverse_inertia);
  if (power == MassPower::mass) return pseudo_inverse(inverse_inertia);
  return inverse_inertia;
}

/// The problem's contact at a place.
std::size_t contact_at(const std::vector<int>& contacts, std::size_t place) {
  return contacts.empty() ? place : static_cast<std::size_t>(contacts[place]);
}

/// Two arrays of rows of `width` numbers per contact, side by side in the order of the places.
std::vector<double> gathered(const std::vector<const std::vector<double>*>& sources,
                             std::size_t width, std::size_t contacts,
                             const std::vector<int>& order) {
  std::vector<double> data;
  data.reserve(sources.size() * width * contacts);
  for (std::size_t i = 0; i < contacts; ++i) {
    for (const auto* source : sources) {
      const auto row = source->begin() + static_cast<std::ptrdiff_t>(width * contact_at(order, i));
      data.insert(data.end(), row, row + static_cast<std::ptrdiff_t>(width));
    }
  }
  return data;
}

}  // namespace

BodyMatrices body_matrices(const ContactProblem& problem, MassPower power, const MapOrder& order) {
  const std::size_t m = problem.bodies();
  std::vector<double> linear(m + 1, 0.0), angular(problem.rotates() ? 9 * (m + 1) : 0, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    const std::size_t place = order.places.empty() ? i : order.places[i];
    linear[place] = power_of(problem.inverse_mass[i], power);
    if (!problem.rotates()) continue;
    Mat3 inverse;
    std::copy_n(&problem.inverse_inertia[9 * i], 9, inverse.a);
    std::copy_n(power_of(inverse, power).a, 9, &angular[9 * place]);
  }
  BodyMatrices matrices;
  matrices.linear = upload<DeviceArray<double*>>("ccp::BodyMatrices::linear", linear, m + 1);
  if (problem.rotates()) {
    matrices.angular =
        upload<DeviceArray<double* [3][3]>>("ccp::BodyMatrices::angular", angular, m + 1);
  }
  return matrices;
}

ConstraintMap::ConstraintMap(const ContactProblem& problem, const MapOrder& order, MassPower power)
    : contacts_(static_cast<int>(problem.contacts())),
      bodies_(static_cast<int>(problem.bodies())),
      masses_(body_matrices(problem, power, order)) {
  const std::size_t n = problem.contacts(), m = problem.bodies();
  std::vector<std::int32_t> body(2 * n);
  for (std::size_t k = 0; k < 2 * n; ++k) {
    const std::int32_t own = problem.contact_bodies[2 * contact_at(order.contacts, k / 2) + k % 2];
    body[k] = own < 0 ? bodies_ : order.places.empty() ? own : order.places[own];
  }
  Incidence incidence = incidence_of(body, m);
  for (int& entry : incidence.side) entry = 6 * (entry / 2) + entry % 2;  // see incidence()
  body_ = upload<DeviceArray<int* [2]>>("ccp::ConstraintMap::body", body, n);
  incidence_offset_ =
      upload<DeviceArray<int*>>("ccp::ConstraintMap::incidence_offset", incidence.offset, m + 1);
  incidence_ = upload<DeviceArray<int*>>("ccp::ConstraintMap::incidence", incidence.side,
                                         incidence.side.size());
  if (problem.rotates()) {
    arm_ = upload<DeviceArray<double* [2][3]>>(
        "ccp::ConstraintMap::arm", gathered({&problem.arm_a, &problem.arm_b}, 3, n, order.contacts),
        n);
  }
  if (problem.is_compliant()) {
    std::vector<double> normal;
    for (std::size_t i = 0; i < n; ++i) {
      const auto frame =
          problem.frame.begin() + static_cast<std::ptrdiff_t>(9 * contact_at(order.contacts, i));
      normal.insert(normal.end(), frame, frame + 3);
    }
    compliance_ = upload<DeviceArray<double* [2]>>(
        "ccp::ConstraintMap::compliance", gathered({&problem.compliance}, 2, n, order.contacts), n);
    normal_ = upload<DeviceArray<double* [3]>>("ccp::ConstraintMap::normal", normal, n);
  }
}

DeviceArray<double* [3][3]> ConstraintMap::diagonal_blocks() const {
  const DeviceArray<double* [3][3]> diagonal(to_be_filled("ccp::ConstraintMap::diagonal_blocks"),
                                             contacts_);
  const auto body = body_;
  const BodyMatrices inverse = masses_;
  const auto arm = arm_;
  const auto compliance = compliance_;
  const auto normal = normal_;
  const bool turns = rotates(), compliant = is_compliant();
  Kokkos::parallel_for(
      "ccp::ConstraintMap::diagonal_blocks", range(contacts_), KOKKOS_LAMBDA(const int c) {
        const double mass = inverse.linear(body(c, 0)) + inverse.linear(body(c, 1));
        for (int i = 0; i < 3; ++i) {
          for (int j = 0; j < 3; ++j) diagonal(c, i, j) = i == j ? mass : 0;
        }
        if (compliant) {
          const double along = compliance(c, 0) - compliance(c, 1);
          for (int i = 0; i < 3; ++i) {
            diagonal(c, i, i) += compliance(c, 1);
            for (int j = 0; j < 3; ++j) diagonal(c, i, j) += along * normal(c, i) * normal(c, j);
          }
        }
        if (!turns) return;
        for (int side = 0; side < 2; ++side) {
          const int k = body(c, side);
          const Lever lever = lever_of({arm(c, side, 0), arm(c, side, 1), arm(c, side, 2)});
          const auto inertia = [&](int p, int q) { return inverse.angular(k, p, q); };
          for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) diagonal(c, i, j) += turn(lever, inertia, lever, i, j);
          }
        }
      });
  return diagonal;
}

// ---- assembled form ----------------------------------------------------------------------------

BlockRows make_block_rows(const BlockMatrix& matrix, const std::vector<int>& contacts) {
  const std::size_t n = matrix.row_offsets.size() - 1;
  std::vector<int> place(n);
  for (std::size_t i = 0; i < n; ++i) place[contact_at(contacts, i)] = static_cast<int>(i);
  std::vector<std::int64_t> offset{0};
  std::vector<int> column;
  std::vector<double> block;
  column.reserve(matrix.columns.size());
  block.reserve(matrix.blocks.size());
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = contact_at(contacts, i);
    for (std::int64_t k = matrix.row_offsets[c]; k < matrix.row_offsets[c + 1]; ++k) {
      column.push_back(place[matrix.columns[k]]);
      block.insert(block.end(), &matrix.blocks[9 * k], &matrix.blocks[9 * k] + 9);
    }
    offset.push_back(static_cast<std::int64_t>(column.size()));
  }
  BlockRows rows;
  rows.offset = upload<DeviceArray<std::int64_t*>>("ccp::BlockRows::offset", offset, n + 1);
  rows.column = upload<DeviceArray<int*>>("ccp::BlockRows::column", column, column.size());
  rows.block = upload<DeviceArray<double* [3][3]>>("ccp::BlockRows::block", block, column.size());
  return rows;
}

DeviceArray<double* [3][3]> diagonal_blocks(const BlockRows& rows) {
  const std::size_t n = rows.offset.extent(0) - 1;
  DeviceArray<double* [3][3]> diagonal("ccp::BlockRows::diagonal_blocks", n);
  Kokkos::parallel_for(
      "ccp::BlockRows::diagonal_blocks", range(n), KOKKOS_LAMBDA(const int c) {
        for (std::int64_t k = rows.offset(c); k < rows.offset(c + 1); ++k) {
          if (rows.column(k) != c) continue;
          for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) diagonal(c, i, j) = rows.block(k, i, j);
          }
        }
      });
  return diagonal;
}

// ---- contact space, on the host ----------------------------------------------------------------

BlockMatrix with_compliance(const ContactProblem& problem, BlockMatrix matrix) {
  if (!problem.is_compliant()) return matrix;
  const bool turned = problem.form == ContactProblem::Form::bodies;
  BlockMatrix sum;
  sum.asymmetry = matrix.asymmetry;
  sum.row_offsets.push_back(0);
  const auto take = [&](std::int64_t first, std::int64_t last) {
    sum.columns.insert(sum.columns.end(), matrix.columns.begin() + first,
                       matrix.columns.begin() + last);
    sum.blocks.insert(sum.blocks.end(), matrix.blocks.begin() + 9 * first,
                      matrix.blocks.begin() + 9 * last);
  };
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    const std::int64_t begin = matrix.row_offsets[c], end = matrix.row_offsets[c + 1];
    const auto own = static_cast<std::int32_t>(c);
    const std::int64_t at =
        std::lower_bound(matrix.columns.begin() + begin, matrix.columns.begin() + end, own) -
        matrix.columns.begin();
    const bool present = at < end && matrix.columns[at] == own;
    take(begin, present ? at + 1 : at);
    if (!present) {
      sum.columns.push_back(own);
      sum.blocks.insert(sum.blocks.end(), 9, 0.0);
    }
    double* const block = &sum.blocks[sum.blocks.size() - 9];
    const double along = problem.compliance[2 * c], across = problem.compliance[2 * c + 1];
    const double contact_normal[3] = {1, 0, 0};
    const double* const n = turned ? &problem.frame[9 * c] : contact_normal;
    for (int i = 0; i < 3; ++i) {
      block[4 * i] += across;
      for (int j = 0; j < 3; ++j) block[3 * i + j] += (along - across) * n[i] * n[j];
    }
    take(present ? at + 1 : at, end);
    sum.row_offsets.push_back(static_cast<std::int64_t>(sum.columns.size()));
  }
  return sum;
}

namespace {

/// block += the pair block of two contacts (2 * contact + side) of one body.
void add_pair_block(const ContactProblem& problem, int body, int c, int d, double* block) {
  const double sign = side_sign(c & 1) * side_sign(d & 1);
  for (int i = 0; i < 3; ++i) block[4 * i] += sign * problem.inverse_mass[body];
  if (!problem.rotates()) return;
  const Lever at_c = lever_of(arm_of(problem, c >> 1, c & 1)),
              at_d = lever_of(arm_of(problem, d >> 1, d & 1));
  const double* const inverse = &problem.inverse_inertia[9 * static_cast<std::size_t>(body)];
  const auto inertia = [&](int p, int q) { return inverse[3 * p + q]; };
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) block[3 * i + j] += sign * turn(at_c, inertia, at_d, i, j);
  }
}

}  // namespace

BlockMatrix assemble_delassus(const ContactProblem& problem) {
  if (problem.form == ContactProblem::Form::assembled) {
    return with_compliance(problem, problem.delassus);
  }
  const Incidence incidence = incidence_of(problem.contact_bodies, problem.bodies());
  /// Calls act(own, other) for the sides of contact c and of what shares its movable bodies.
  const auto for_each_pair = [&](std::size_t c, const auto& act) {
    for (int side = 0; side < 2; ++side) {
      const int body = problem.contact_bodies[2 * c + side];
      if (!is_movable(problem, body)) continue;
      for (int k = incidence.offset[body]; k < incidence.offset[body + 1]; ++k) {
        act(body, 2 * static_cast<int>(c) + side, incidence.side[k]);
      }
    }
  };
  const std::size_t n = problem.contacts();
  BlockMatrix matrix;
  matrix.row_offsets.reserve(n + 1);
  matrix.row_offsets.push_back(0);
  std::vector<std::int64_t> last(n, -1);  // the row that met this column last
  for (std::size_t c = 0; c < n; ++c) {
    const auto row = static_cast<std::int64_t>(c);
    const auto meet = [&](int d) {
      if (last[d] == row) return;
      last[d] = row;
      matrix.columns.push_back(d);
    };
    meet(static_cast<int>(c));
    for_each_pair(c, [&](int, int, int other) { meet(other >> 1); });
    std::sort(matrix.columns.begin() + matrix.row_offsets.back(), matrix.columns.end());
    matrix.row_offsets.push_back(static_cast<std::int64_t>(matrix.columns.size()));
  }
  matrix.blocks.assign(9 * matrix.columns.size(), 0.0);
  for (std::size_t c = 0; c < n; ++c) {
    const auto begin = matrix.columns.begin() + matrix.row_offsets[c];
    const auto end = matrix.columns.begin() + matrix.row_offsets[c + 1];
    for_each_pair(c, [&](int body, int own, int other) {
      const auto at = std::lower_bound(begin, end, other >> 1) - matrix.columns.begin();
      add_pair_block(problem, body, own, other, &matrix.blocks[9 * static_cast<std::size_t>(at)]);
    });
  }
  return with_compliance(problem, std::move(matrix));
}

double most_neighbours(const ContactProblem& problem) {
  std::int64_t most = 0;
  const auto longest = [&](const auto& offset) {
    for (std::size_t i = 0; i + 1 < offset.size(); ++i) {
      most = std::max<std::int64_t>(most, offset[i + 1] - offset[i]);
    }
    return offset.size() < 2 ? 1 : static_cast<double>(most);
  };
  if (problem.form == ContactProblem::Form::assembled) return longest(problem.delassus.row_offsets);
  std::vector<std::int32_t> pairs = problem.contact_bodies;
  for (const std::int32_t c : problem.rolling.contact) {
    const auto pair = problem.contact_bodies.begin() + 2 * c;
    pairs.insert(pairs.end(), pair, pair + 2);
  }
  pairs.insert(pairs.end(), problem.equality.bodies.begin(), problem.equality.bodies.end());
  return longest(incidence_of(pairs, problem.bodies()).offset);
}

}  // namespace ccp
