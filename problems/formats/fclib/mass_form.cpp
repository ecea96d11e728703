#include "problems/formats/fclib/mass_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "problems/base/error.hpp"
#include "problems/base/mat3.hpp"
#include "problems/model/constraint_math.hpp"

namespace ccp {
namespace {

/// The connected parts of a symmetric matrix.
struct Parts {
  std::vector<int> part;               ///< of each row
  std::vector<int> place;              ///< of each row within its part
  std::vector<std::vector<int>> rows;  ///< of each part, ascending
};

Parts connected_parts(const SparseColumns& a) {
  std::vector<int> parent(a.rows);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  a.for_each([&](int i, int j, double) { parent[root(i)] = root(j); });
  Parts parts;
  parts.part.assign(a.rows, -1);
  parts.place.resize(a.rows);
  std::vector<int> number(a.rows, -1);
  for (std::size_t i = 0; i < a.rows; ++i) {
    int& p = number[root(static_cast<int>(i))];
    if (p < 0) {
      p = static_cast<int>(parts.rows.size());
      parts.rows.emplace_back();
    }
    parts.part[i] = p;
    parts.place[i] = static_cast<int>(parts.rows[p].size());
    parts.rows[p].push_back(static_cast<int>(i));
  }
  return parts;
}

/// What a contact has in one part of M: rows within the part, and three columns.
struct Touch {
  int contact = 0;
  std::vector<int> row;
  std::vector<double> entry;  ///< [3][rows]
};

/// The contacts of every part.
std::vector<std::vector<Touch>> touches_of(const SparseColumns& h, const Parts& parts) {
  std::vector<std::vector<Touch>> touches(parts.rows.size());
  for (std::size_t c = 0; c < h.columns / 3; ++c) {
    std::map<int, std::map<int, std::array<double, 3>>> found;  // part, row in it
    for (int k = 0; k < 3; ++k) {
      for (std::int64_t l = h.offset[3 * c + k]; l < h.offset[3 * c + k + 1]; ++l) {
        found[parts.part[h.row[l]]][parts.place[h.row[l]]][k] = h.value[l];
      }
    }
    for (const auto& [part, rows] : found) {
      Touch touch;
      touch.contact = static_cast<int>(c);
      for (const auto& row : rows) touch.row.push_back(row.first);
      for (int k = 0; k < 3; ++k) {
        for (const auto& row : rows) touch.entry.push_back(row.second[k]);
      }
      touches[part].push_back(std::move(touch));
    }
  }
  return touches;
}

MassSolve factorise_part(const SparseColumns& mass, const Parts& parts, std::size_t p,
                         const MassFactoriser& factorise) {
  std::vector<std::int64_t> offset{0};
  std::vector<int> row;
  std::vector<double> value;
  for (const int j : parts.rows[p]) {
    for (std::int64_t k = mass.offset[j]; k < mass.offset[j + 1]; ++k) {
      if (mass.row[k] < j) continue;
      row.push_back(parts.place[mass.row[k]]);
      value.push_back(mass.value[k]);
    }
    offset.push_back(static_cast<std::int64_t>(row.size()));
  }
  return factorise(offset, row, value);
}

}  // namespace

void condense(const MassForm& form, const MassFactoriser& factorise, const std::string& where,
              const std::string& place, BlockMatrix& delassus, std::vector<double>& r) {
  const Parts parts = connected_parts(form.mass);
  const auto touches = touches_of(form.contact, parts);
  std::vector<Block> blocks;
  r = form.w;
  for (std::size_t p = 0; p < parts.rows.size(); ++p) {
    if (touches[p].empty()) continue;
    const MassSolve solve = factorise_part(form.mass, parts, p, factorise);
    if (!solve) {
      throw InputError(where, place, "a symmetric positive definite matrix",
                       fmt::format("one that is not, in rows {} to {}", parts.rows[p].front(),
                                   parts.rows[p].back()));
    }
    std::vector<double> free;
    for (const int i : parts.rows[p]) free.push_back(form.f[i]);
    solve(free);
    for (const Touch& touch : touches[p]) {
      const std::size_t size = touch.row.size();
      for (int k = 0; k < 3; ++k) {
        for (std::size_t i = 0; i < size; ++i) {
          r[3 * touch.contact + k] += touch.entry[k * size + i] * free[touch.row[i]];
        }
      }
    }
    // Column by column, so that no more than three columns of M^-1 H are held at a time.
    std::array<std::vector<double>, 3> x;
    for (const Touch& right : touches[p]) {
      for (int k = 0; k < 3; ++k) {
        x[k].assign(parts.rows[p].size(), 0.0);
        for (std::size_t i = 0; i < right.row.size(); ++i) {
          x[k][right.row[i]] = right.entry[k * right.row.size() + i];
        }
        solve(x[k]);
      }
      for (const Touch& left : touches[p]) {
        if (left.contact < right.contact) continue;
        const std::size_t size = left.row.size();
        Block block{left.contact, right.contact, {}};
        for (int l = 0; l < 3; ++l) {
          for (int k = 0; k < 3; ++k) {
            for (std::size_t i = 0; i < size; ++i) {
              block.value[3 * l + k] += left.entry[l * size + i] * x[k][left.row[i]];
            }
          }
        }
        Block mirrored{right.contact, left.contact, {}};
        for (int l = 0; l < 3; ++l) {
          for (int k = 0; k < 3; ++k) mirrored.value[3 * k + l] = block.value[3 * l + k];
        }
        if (left.contact == right.contact) {  // its half and the half of its mirror image
          for (double& value : block.value) value /= 2;
          for (double& value : mirrored.value) value /= 2;
        }
        blocks.push_back(block);
        blocks.push_back(mirrored);
      }
    }
  }
  delassus = block_matrix(form.contact.columns / 3, std::move(blocks));
}

std::vector<double> velocities(const MassForm& form, const std::vector<double>& gamma,
                               const std::vector<double>& moments,
                               const std::vector<double>& lambda, const MassFactoriser& factorise,
                               const std::string& where) {
  std::vector<double> v = multiply_add(form.contact, gamma, form.f);
  v = multiply_add(form.rolling, moments, std::move(v));
  v = multiply_add(form.joint, lambda, std::move(v));
  if (v.empty()) return v;
  Parts whole;
  whole.place.resize(v.size());
  std::iota(whole.place.begin(), whole.place.end(), 0);
  whole.rows.push_back(whole.place);
  const MassSolve solve = factorise_part(form.mass, whole, 0, factorise);
  if (!solve) throw InputError(where, "masses", "a positive definite matrix", "one that is not");
  solve(v);
  return v;
}

std::vector<double> multiply_add(const SparseColumns& a, const std::vector<double>& x,
                                 std::vector<double> y) {
  a.for_each([&](int i, int j, double value) { y[i] += value * x[j]; });
  return y;
}

std::vector<double> multiply_transposed_add(const SparseColumns& a, const std::vector<double>& x,
                                            std::vector<double> y) {
  a.for_each([&](int i, int j, double value) { y[j] += value * x[i]; });
  return y;
}

// ---- rigid bodies -------------------------------------------------------------------------------

namespace {

constexpr double tolerance = 1e-9;  // of what must be orthonormal, symmetric or skew

/// a b^T.
Mat3 multiply_transposed(const Mat3& a, const Mat3& b) {
  Mat3 c{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) c[3 * i + j] += a[3 * i + k] * b[3 * j + k];
    }
  }
  return c;
}

/// The masses of blocks of `width` rows. @return "" or what they are not
std::string read_masses(const SparseColumns& mass, std::size_t width, ContactProblem& problem) {
  const std::size_t m = mass.rows / width;
  std::vector<Mat3> linear(m, Mat3{}), inertia(m, Mat3{});
  std::string fault;
  mass.for_each([&](std::size_t i, std::size_t j, double value) {
    const std::size_t body = j / width, p = i % width, q = j % width;
    if (i / width != body || (p < 3) != (q < 3)) {
      fault = fmt::format("M has an entry at ({}, {}), outside of blocks of bodies", i, j);
      return;
    }
    (p < 3 ? linear : inertia)[body][3 * (p % 3) + q % 3] = value;
  });
  if (!fault.empty()) return fault;
  problem.inverse_mass.resize(m);
  if (width == 6) problem.inverse_inertia.resize(9 * m);
  for (std::size_t b = 0; b < m; ++b) {
    const double kg = linear[b][0];
    for (int i = 0; i < 9; ++i) {
      if (std::abs(linear[b][i] - (i % 4 == 0 ? kg : 0)) > tolerance * kg || !(kg > 0)) {
        return fmt::format("M of body {} is not a mass times the identity", b);
      }
    }
    problem.inverse_mass[b] = 1 / kg;
    Mat3 inverse{};
    if (width == 3) continue;
    if (!invert(inertia[b], inverse)) return fmt::format("the inertia of body {} is singular", b);
    std::copy_n(inverse.a, 9, problem.inverse_inertia.begin() + 9 * b);
  }
  return "";
}

/// Frame, bodies and arms of contact c. @return "" or what it is not
std::string read_contact(const SparseColumns& h, std::size_t width, std::size_t c,
                         ContactProblem& problem) {
  struct Side {
    Mat3 linear{}, angular{};
  };
  std::map<int, Side> sides;  // by body
  for (int k = 0; k < 3; ++k) {
    for (std::int64_t l = h.offset[3 * c + k]; l < h.offset[3 * c + k + 1]; ++l) {
      const std::size_t row = h.row[l];
      Side& side = sides[static_cast<int>(row / width)];
      (row % width < 3 ? side.linear : side.angular)[3 * (row % 3) + k] = h.value[l];
    }
  }
  if (sides.empty() || sides.size() > 2) {
    return fmt::format("contact {} touches {} bodies", c, sides.size());
  }
  // The frame is that of body B, the last one; body A has it with the other sign.
  const auto b = std::prev(sides.end());
  double* const frame = &problem.frame[9 * c];
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 3; ++i) frame[3 * k + i] = b->second.linear[3 * i + k];
  }
  Mat3 axes;
  std::copy_n(frame, 9, axes.a);
  const Mat3 square = multiply_transposed(axes, axes);
  for (int i = 0; i < 9; ++i) {
    const double off = std::abs(square[i] - (i % 4 == 0 ? 1 : 0));
    if (off > tolerance) {
      return fmt::format("the axes of contact {} are not orthonormal (off by {:.2g})", c, off);
    }
  }
  problem.contact_bodies[2 * c] = -1;
  for (const auto& [body, side] : sides) {
    const bool is_b = body == b->first;
    problem.contact_bodies[2 * c + (is_b ? 1 : 0)] = body;
    for (int i = 0; i < 9; ++i) {
      const double other = side.linear[i] + (is_b ? -1 : 1) * b->second.linear[i];
      if (std::abs(other) > tolerance) {
        return fmt::format("the bodies of contact {} do not move against each other", c);
      }
    }
    if (width == 3) continue;
    const Mat3 cross = multiply_transposed(side.angular, side.linear);  // of the arm
    const double scale = std::max(largest_entry(cross), 1e-300);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j <= i; ++j) {
        if (std::abs(cross[3 * i + j] + cross[3 * j + i]) > tolerance * scale) {
          return fmt::format(
              "the rotation of body {} at contact {} is not about the axes of its translation",
              body, c);
        }
      }
    }
    auto& arm = is_b ? problem.arm_b : problem.arm_a;
    arm[3 * c] = (cross[7] - cross[5]) / 2;
    arm[3 * c + 1] = (cross[2] - cross[6]) / 2;
    arm[3 * c + 2] = (cross[3] - cross[1]) / 2;
  }
  return "";
}

/// The columns of G as equality constraints, without their free velocity. @return "" or what they
/// are not
std::string read_joints(const SparseColumns& g, std::size_t width, ContactProblem& problem) {
  EqualityPool& pool = problem.equality;
  for (std::size_t j = 0; j < g.columns; ++j) {
    std::map<int, std::array<double, 6>> sides;  // by body
    for (std::int64_t l = g.offset[j]; l < g.offset[j + 1]; ++l) {
      const auto row = static_cast<std::size_t>(g.row[l]);
      sides[static_cast<int>(row / width)][row % width] = g.value[l];
    }
    if (sides.empty() || sides.size() > 2) {
      return fmt::format("column {} of G touches {} bodies", j, sides.size());
    }
    const int a = sides.size() == 2 ? sides.begin()->first : -1, b = std::prev(sides.end())->first;
    const std::size_t size = pool.size();
    if (size == 0 || pool.rows.back() == 3 || pool.bodies[2 * size - 2] != a ||
        pool.bodies[2 * size - 1] != b) {
      pool.bodies.insert(pool.bodies.end(), {a, b});
      pool.rows.push_back(0);
      pool.jacobian_a.resize(pool.jacobian_a.size() + 18);
      pool.jacobian_b.resize(pool.jacobian_b.size() + 18);
    }
    const std::size_t row = 3 * (pool.size() - 1) + static_cast<std::size_t>(pool.rows.back()++);
    if (a >= 0) std::copy_n(sides[a].begin(), 6, pool.jacobian_a.begin() + 6 * row);
    std::copy_n(sides[b].begin(), 6, pool.jacobian_b.begin() + 6 * row);
  }
  return "";
}

/// Of a contact, columns of rolling friction. @return "" or what they are not
std::string check_rolling(const SparseColumns& rolling, std::size_t width, std::size_t c,
                          const ContactProblem& problem) {
  std::map<int, std::array<double, 6>> found;  // by row, of both columns
  for (std::size_t k = 0; k < 2; ++k) {
    for (std::int64_t l = rolling.offset[2 * c + k]; l < rolling.offset[2 * c + k + 1]; ++l) {
      found[rolling.row[l]][k] = rolling.value[l];
    }
  }
  for (int side = 0; side < 2 && width == 6; ++side) {
    const std::int32_t body = problem.contact_bodies[2 * c + static_cast<std::size_t>(side)];
    if (body < 0) continue;
    for (int row = 0; row < 3; ++row) {
      for (std::size_t k = 0; k < 2; ++k) {
        found[6 * body + 3 + row][k] -=
            side_sign(side) * problem.frame[9 * c + 3 * (k + 1) + static_cast<std::size_t>(row)];
      }
    }
  }
  for (const auto& [row, entries] : found) {
    if (std::abs(entries[0]) > tolerance || std::abs(entries[1]) > tolerance) {
      return fmt::format("the rolling axes of contact {} are not its tangents (in row {})", c, row);
    }
  }
  return "";
}

/// r = H^T M^-1 f + w, and G^T M^-1 f + b.
void read_free_velocity(const MassForm& form, std::size_t width, ContactProblem& problem) {
  std::vector<double> v(form.f.size(), 0.0);
  for (std::size_t b = 0; b < problem.bodies(); ++b) {
    for (std::size_t i = 0; i < 3; ++i) {
      v[width * b + i] = problem.inverse_mass[b] * form.f[width * b + i];
    }
    if (width < 6) continue;
    const Vec3 spin = spin_of(problem, b, triple(form.f, 2 * b + 1));
    v[6 * b + 3] = spin.x, v[6 * b + 4] = spin.y, v[6 * b + 5] = spin.z;
  }
  problem.r = multiply_transposed_add(form.contact, v, form.w);
  const std::vector<double> turns = multiply_transposed_add(form.rolling, v, form.w_rolling);
  problem.rolling.r.clear();
  for (const std::int32_t contact : problem.rolling.contact) {
    const auto c = static_cast<std::size_t>(contact);
    problem.rolling.r.insert(problem.rolling.r.end(), {0, turns[2 * c], turns[2 * c + 1]});
  }
  const std::vector<double> rows = multiply_transposed_add(form.joint, v, form.b);
  EqualityPool& pool = problem.equality;
  pool.r.assign(3 * pool.size(), 0.0);
  auto next = rows.begin();
  for (std::size_t k = 0; k < pool.size(); ++k) {
    for (std::int32_t row = 0; row < pool.rows[k]; ++row) pool.r[3 * k + row] = *next++;
  }
}

std::string try_bodies(const MassForm& form, std::size_t width, ContactProblem& problem) {
  const std::size_t n = form.contact.columns / 3;
  std::string fault = read_masses(form.mass, width, problem);
  problem.contact_bodies.resize(2 * n);
  problem.frame.resize(9 * n);
  if (width == 6) problem.arm_a.assign(3 * n, 0.0), problem.arm_b.assign(3 * n, 0.0);
  for (std::size_t c = 0; fault.empty() && c < n; ++c) {
    fault = read_contact(form.contact, width, c, problem);
  }
  for (const std::int32_t c : problem.rolling.contact) {
    if (fault.empty()) {
      fault = check_rolling(form.rolling, width, static_cast<std::size_t>(c), problem);
    }
  }
  if (fault.empty()) fault = read_joints(form.joint, width, problem);
  if (fault.empty()) read_free_velocity(form, width, problem);
  return fault;
}

/// Columns k of both parts of H, entries[row in the body] by body: the rows of rotation.
std::map<int, std::array<double, 3>> turns_of(const SparseColumns& h, std::size_t column,
                                              bool linear) {
  std::map<int, std::array<double, 3>> turns;
  for (std::int64_t l = h.offset[column]; l < h.offset[column + 1]; ++l) {
    const int row = h.row[l];
    if ((row % 6 < 3) == linear) turns[row / 6][static_cast<std::size_t>(row % 3)] = h.value[l];
  }
  return turns;
}

/// The orientation of every body whose rotation is counted in its own axes, from the first contact
/// with rolling friction that it has: the columns of that are R^T t1 and R^T t2 there, those of the
/// contact t1 and t2 in the rows of translation. Others are not turned.
std::vector<Mat3> orientations(const MassForm& form, const ContactProblem& problem) {
  constexpr Mat3 identity{{1, 0, 0, 0, 1, 0, 0, 0, 1}};
  std::vector<Mat3> all(form.mass.rows / 6, identity);
  std::vector<char> known(all.size(), 0);
  for (const std::int32_t contact : problem.rolling.contact) {
    const auto c = static_cast<std::size_t>(contact);
    std::map<int, std::array<double, 3>> world[2], own[2];
    for (std::size_t k = 0; k < 2; ++k) {
      world[k] = turns_of(form.contact, 3 * c + k + 1, true);
      own[k] = turns_of(form.rolling, 2 * c + k, false);
    }
    for (const auto& entry : world[0]) {
      const int body = entry.first;
      if (known[body]) continue;
      const auto axes = [&](std::map<int, std::array<double, 3>>* columns) {
        const auto &a = columns[0][body], &b = columns[1][body];
        const Vec3 s{a[0], a[1], a[2]}, t{b[0], b[1], b[2]}, n = cross(s, t);
        return Mat3{{s.x, t.x, n.x, s.y, t.y, n.y, s.z, t.z, n.z}};
      };
      const Mat3 turned = multiply_transposed(axes(world), axes(own));
      const Mat3 square = multiply_transposed(turned, turned);
      double off = 0;
      for (int i = 0; i < 9; ++i) off = std::max(off, std::abs(square[i] - identity[i]));
      if (off > tolerance) continue;
      all[body] = turned;
      known[body] = 1;
    }
  }
  return all;
}

/// Rows of rotation, from the axes of bodies into those of the world.
SparseColumns turn_rows(const SparseColumns& a, const std::vector<Mat3>& orientation) {
  std::vector<Triplet> triplets;
  a.for_each([&](std::int32_t row, std::int32_t column, double value) {
    if (row % 6 < 3) {
      triplets.push_back({row, column, value});
      return;
    }
    for (std::int32_t p = 0; p < 3; ++p) {
      const double factor = orientation[row / 6][3 * p + row % 3];
      triplets.push_back({row - row % 3 + p, column, factor * value});
    }
  });
  return SparseColumns::from_triplets(a.rows, a.columns, std::move(triplets));
}

SparseColumns transposed(const SparseColumns& a) {
  std::vector<Triplet> triplets;
  a.for_each([&](std::int32_t row, std::int32_t column, double value) {
    triplets.push_back({column, row, value});
  });
  return SparseColumns::from_triplets(a.columns, a.rows, std::move(triplets));
}

MassForm in_world_axes(const MassForm& form, const ContactProblem& problem) {
  const std::vector<Mat3> orientation = orientations(form, problem);
  MassForm turned = form;
  double asymmetry = 0;
  turned.mass = symmetric_part(
      turn_rows(transposed(turn_rows(form.mass, orientation)), orientation), asymmetry);
  turned.contact = turn_rows(form.contact, orientation);
  turned.rolling = turn_rows(form.rolling, orientation);
  turned.joint = turn_rows(form.joint, orientation);
  for (std::size_t b = 0; b < orientation.size(); ++b) {
    for (std::size_t p = 0; p < 3; ++p) {
      double& own = turned.f[6 * b + 3 + p] = 0;
      for (std::size_t q = 0; q < 3; ++q) {
        own += orientation[b][3 * p + q] * form.f[6 * b + 3 + q];
      }
    }
  }
  return turned;
}

}  // namespace

std::string to_bodies(const MassForm& form, ContactProblem& problem) {
  std::string fault = "the number of velocities is no multiple of 3";
  const auto attempt = [&](const MassForm& given, std::size_t width) {
    ContactProblem copy = problem;
    copy.form = ContactProblem::Form::bodies;
    std::string why = try_bodies(given, width, copy);
    if (why.empty()) problem = std::move(copy);
    return why;
  };
  for (const std::size_t width : {std::size_t{3}, std::size_t{6}}) {
    if (form.mass.rows % width != 0) continue;
    fault = attempt(form, width);
    if (fault.empty()) return "";
  }
  if (problem.rolling.size() == 0 || form.mass.rows % 6 != 0) return fault;
  return attempt(in_world_axes(form, problem), 6).empty() ? "" : fault;
}

MassForm from_bodies(const ContactProblem& p, const std::string& where) {
  const std::size_t n = p.contacts(), m = p.bodies();
  std::vector<int> first(m, -1), width(m, 0);  // of each body's velocities
  int size = 0;
  std::vector<Triplet> mass, contact;
  for (std::size_t b = 0; b < m; ++b) {
    Mat3 inverse{}, inertia{};
    if (p.rotates()) std::copy_n(&p.inverse_inertia[9 * b], 9, inverse.a);
    const bool spins = largest_entry(inverse) > 0;
    if (spins && (p.inverse_mass[b] == 0 || !invert(inverse, inertia))) {
      throw InputError(where, fmt::format("body {}", b),
                       "a finite mass and a regular inertia, for FCLIB wants them",
                       p.inverse_mass[b] == 0 ? "one that rotates about a fixed centre"
                                              : "a singular inverse inertia");
    }
    if (p.inverse_mass[b] == 0) continue;
    first[b] = size;
    width[b] = 3;
    for (int i = 0; i < 3; ++i) mass.push_back({size + i, size + i, 1 / p.inverse_mass[b]});
    if (spins) {
      width[b] = 6;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          mass.push_back({size + 3 + i, size + 3 + j, inertia[3 * i + j]});
        }
      }
    }
    size += width[b];
  }
  std::vector<Triplet> rolling;
  for (std::size_t c = 0; c < n; ++c) {
    for (int side = 0; side < 2; ++side) {
      const int b = p.contact_bodies[2 * c + side];
      if (b < 0 || width[b] == 0) continue;
      for (int k = 0; k < 2 && p.rolling.size() > 0 && width[b] == 6; ++k) {
        for (int i = 0; i < 3; ++i) {
          rolling.push_back({first[b] + 3 + i, static_cast<std::int32_t>(2 * c + k),
                             side_sign(side) * p.frame[9 * c + 3 * (k + 1) + i]});
        }
      }
      const Vec3 arm = arm_of(p, c, side);
      for (int k = 0; k < 3; ++k) {
        double row[6];
        row_jacobian(triple(p.frame, 3 * c + k), arm, side, row);
        for (int i = 0; i < width[b]; ++i) {
          contact.push_back({first[b] + i, static_cast<std::int32_t>(3 * c + k), row[i]});
        }
      }
    }
  }
  MassForm form;
  std::vector<Triplet> joint;
  for (std::size_t k = 0; k < p.equality.size(); ++k) {
    for (std::int32_t row = 0; row < p.equality.rows[k]; ++row) {
      for (int side = 0; side < 2; ++side) {
        const int b = p.equality.bodies[2 * k + side];
        if (b < 0) continue;
        const double* const of_row =
            &(side == 0 ? p.equality.jacobian_a : p.equality.jacobian_b)[6 * (3 * k + row)];
        for (int i = 0; i < width[b]; ++i) {
          joint.push_back({first[b] + i, static_cast<std::int32_t>(form.b.size()), of_row[i]});
        }
      }
      form.b.push_back(p.equality.r[3 * k + row]);
    }
  }
  form.joint = SparseColumns::from_triplets(size, form.b.size(), std::move(joint));
  form.mass = SparseColumns::from_triplets(size, size, std::move(mass));
  form.contact = SparseColumns::from_triplets(size, 3 * n, std::move(contact));
  form.f.assign(size, 0.0);
  form.w = p.r;
  if (p.rolling.size() == 0) return form;
  form.rolling = SparseColumns::from_triplets(size, 2 * n, std::move(rolling));
  form.w_rolling.assign(2 * n, 0.0);
  for (std::size_t k = 0; k < p.rolling.size(); ++k) {
    std::copy_n(&p.rolling.r[3 * k + 1], 2, &form.w_rolling[2 * p.rolling.contact[k]]);
  }
  return form;
}

}  // namespace ccp
