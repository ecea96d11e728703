#include "tests/hard_problems.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tests/support.hpp"

namespace ccp::test {
namespace {

/// A contact between bodies that do not rotate: numbers of A and B, normal, mu, r.
struct Touch {
  std::int32_t a, b;
  std::array<double, 3> normal;
  double mu;
  std::array<double, 3> r;
};

ContactProblem bodies_problem(const char* name, const std::vector<double>& inverse_mass,
                              const std::vector<Touch>& touches) {
  ContactProblem p;
  p.name = name;
  p.form = ContactProblem::Form::bodies;
  p.inverse_mass = inverse_mass;
  for (const Touch& t : touches) {
    p.contact_bodies.insert(p.contact_bodies.end(), {t.a, t.b});
    p.mu.push_back(t.mu);
    p.r.insert(p.r.end(), t.r.begin(), t.r.end());
    const auto& n = t.normal;
    // t1 = x, but for a normal along x; n is an axis of the world here.
    const std::array<double, 3> s =
        std::abs(n[0]) < 0.9 ? std::array<double, 3>{1, 0, 0} : std::array<double, 3>{0, 1, 0};
    p.frame.insert(p.frame.end(), n.begin(), n.end());
    p.frame.insert(p.frame.end(), s.begin(), s.end());
    p.frame.insert(p.frame.end(), {n[1] * s[2] - n[2] * s[1], n[2] * s[0] - n[0] * s[2],
                                   n[0] * s[1] - n[1] * s[0]});
  }
  return p;
}

constexpr std::array<double, 3> up{0, 0, 1};

std::vector<double> diagonal(const std::vector<double>& entries) {
  std::vector<double> matrix(entries.size() * entries.size(), 0.0);
  for (std::size_t i = 0; i < entries.size(); ++i) matrix[i * entries.size() + i] = entries[i];
  return matrix;
}

double six_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5e", value);
  return std::strtod(text, nullptr);
}

}  // namespace

ContactProblem dense_problem(const char* name, const std::vector<double>& matrix,
                             const std::vector<double>& r, const std::vector<double>& mu) {
  ContactProblem p;
  p.name = name;
  p.form = ContactProblem::Form::assembled;
  p.r = r;
  p.mu = mu;
  p.delassus = blocks_of(matrix, mu.size());
  return p;
}

ContactProblem flat() {
  return dense_problem("flat", diagonal({2, 1, 0}), {-1, 0.5, 0}, {0.4});
}

ContactProblem flat_two() {
  std::vector<double> matrix(36, 0.0);
  const double pair[2][2] = {{2, 0.3}, {0.3, 1.5}};
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      for (std::size_t k = 0; k < 2; ++k) matrix[(3 * i + k) * 6 + 3 * j + k] = pair[i][j];
    }
  }
  return dense_problem("flat_two", matrix, {-1, 0.5, 0, -0.7, 0.2, 0}, {0.4, 0.6});
}

ContactProblem rank_one() {
  const double v[3] = {1, 0.5, 0.2};
  std::vector<double> matrix;
  for (const double a : v) {
    for (const double b : v) matrix.push_back(a * b);
  }
  return dense_problem("rank_one", matrix, {-1, 0.5, 0.1}, {0.4});
}

ContactProblem normal_only() {
  return dense_problem("normal_only", diagonal({2, 0, 0}), {-1, 0.5, 0.1}, {0.4});
}

ContactProblem zero_normal() {
  return dense_problem("zero_normal", diagonal({0, 1, 1}), {0.1, 0.5, 0.2}, {0.4});
}

ContactProblem rounded_box() {
  const double inverse[6] = {1 / 3.0, 1 / 3.0, 1 / 3.0, 1 / 0.7, 1 / 0.9, 1 / 1.1};
  const double c = std::cos(0.3), s = std::sin(0.3);
  // Columns n, t1, t2 of the contacts' axes.
  const double axes[3][3] = {{0, c, -s}, {0, s, c}, {1, 0, 0}};
  std::vector<std::array<double, 6>> h;  // columns of H
  for (const double x : {-0.6, 0.5}) {
    for (const double y : {-0.3, 0.35}) {
      const double arm[3] = {x, y, -0.4};
      for (const int k : {0, 1, 2}) {
        const double a[3] = {axes[0][k], axes[1][k], axes[2][k]};
        h.push_back({a[0], a[1], a[2], arm[1] * a[2] - arm[2] * a[1], arm[2] * a[0] - arm[0] * a[2],
                     arm[0] * a[1] - arm[1] * a[0]});
      }
    }
  }
  const double free[6] = {0.3, -0.1, -0.9, 0.2, 0.4, -0.3};
  const std::size_t size = h.size();
  std::vector<double> matrix(size * size, 0.0), r(size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 6; ++k) sum += h[i][k] * inverse[k] * h[j][k];
      matrix[i * size + j] = six_digits(sum);
    }
    for (std::size_t k = 0; k < 6; ++k) r[i] += h[i][k] * free[k];
    r[i] += std::fmod(0.01 * static_cast<double>(i), 0.03);
  }
  return dense_problem("rounded_box", matrix, r, {0.4, 0.4, 0.4, 0.4});
}

ContactProblem separate(std::size_t contacts) {
  ContactProblem p;
  p.name = "separate";
  p.form = ContactProblem::Form::assembled;
  p.mu.assign(contacts, 0.4);
  p.delassus.row_offsets.push_back(0);
  for (std::size_t c = 0; c < contacts; ++c) {
    std::array<double, 9> block{};
    for (std::size_t i = 0; i < 3; ++i) {
      const double k = static_cast<double>(3 * c + i);
      block[4 * i] = 1 + 0.5 * std::sin(k);
      p.r.push_back(std::cos(3 * k));
    }
    p.delassus.columns.push_back(static_cast<std::int32_t>(c));
    p.delassus.blocks.insert(p.delassus.blocks.end(), block.begin(), block.end());
    p.delassus.row_offsets.push_back(static_cast<std::int64_t>(c) + 1);
  }
  return p;
}

ContactProblem planar_wall(std::size_t columns, std::size_t layers) {
  const auto body = [&](std::size_t column, std::size_t layer) {
    return static_cast<std::int32_t>(column * layers + layer);
  };
  std::vector<double> inverse_mass, speed;
  for (std::size_t i = 0; i < columns * layers; ++i) {
    const double x = static_cast<double>(i);
    inverse_mass.push_back(1 / (1.25 + 0.75 * std::sin(7 * x)));
    speed.push_back(0.05 * std::sin(3 * x));
  }
  std::vector<Touch> touches;
  constexpr std::array<double, 3> aside{1, 0, 0};
  for (std::size_t i = 0; i < columns; ++i) {
    for (std::size_t k = 0; k < layers; ++k) {
      const std::int32_t own = body(i, k);
      const double x = static_cast<double>(own);
      const std::int32_t below = k > 0 ? body(i, k - 1) : -1;
      touches.push_back({below,
                         own,
                         up,
                         0.4,
                         {k > 0 ? -5e-4 * (1 + std::cos(5 * x)) : -0.1,
                          speed[own] - (k > 0 ? speed[below] : 0), 0}});
      if (i + 1 == columns) continue;
      const std::int32_t next = body(i + 1, k);
      touches.push_back(
          {own, next, aside, 0.3, {speed[next] - speed[own] - 0.01, 0, 1e-3 * std::sin(x)}});
    }
  }
  ContactProblem p = bodies_problem("planar_wall", inverse_mass, touches);
  BlockMatrix n = assembled_form(p).delassus;
  // In the axes n, t1, t2 of each contact: up, x, y and x, y, z. Nothing moves along y.
  for (std::size_t c = 0; c + 1 < n.row_offsets.size(); ++c) {
    const auto still = [&](std::size_t contact) {
      return touches[contact].normal == up ? std::size_t{2} : std::size_t{1};
    };
    for (std::int64_t k = n.row_offsets[c]; k < n.row_offsets[c + 1]; ++k) {
      for (std::size_t l = 0; l < 3; ++l) {
        n.blocks[9 * k + 3 * still(c) + l] = 0;
        n.blocks[9 * k + 3 * l + still(n.columns[k])] = 0;
      }
    }
  }
  ContactProblem planar;
  planar.name = p.name;
  planar.form = ContactProblem::Form::assembled;
  planar.mu = p.mu;
  planar.r = p.r;
  planar.delassus = n;
  return planar;
}

ContactProblem two_immovable() {
  return bodies_problem("two_immovable", {1, 0, 0},
                        {{1, 0, up, 0.5, {-0.1, 0.02, 0}}, {1, 2, up, 0.5, {-0.1, 0, 0}}});
}

ContactProblem mass_ratio(double ratio) {
  return bodies_problem("mass_ratio", {1, 1 / ratio, 1},
                        {{-1, 0, up, 0.5, {-0.001, 0.01, 0}},
                         {0, 1, up, 0.5, {-0.001, 0.01, 0}},
                         {1, 2, up, 0.5, {-0.1, 0.01, 0}}});
}

ContactProblem one_slippery_contact() {
  return bodies_problem("one_slippery_contact", {1, 0.5, 2},
                        {{-1, 0, up, 0.5, {-0.1, 0.02, 0.01}},
                         {0, 1, up, 1e-6, {-0.1, 0.1, 0}},
                         {1, 2, up, 0.5, {-0.05, 0.01, 0}},
                         {-1, 2, {0, 1, 0}, 0.3, {-0.01, 0.01, 0}}});
}

ContactProblem plate(std::size_t spheres) {
  std::vector<double> inverse_mass(spheres + 1, 1.0);
  inverse_mass[0] = 1e-3;
  std::vector<Touch> touches;
  for (std::size_t i = 0; i < spheres; ++i) {
    touches.push_back({-1,
                       static_cast<std::int32_t>(i + 1),
                       up,
                       0.4,
                       {-0.05 - 1e-5 * static_cast<double>(i % 7), 0, 0}});
  }
  for (std::size_t i = 0; i < spheres; ++i) {
    touches.push_back({static_cast<std::int32_t>(i + 1),
                       0,
                       up,
                       0.4,
                       {-0.01 - 1e-5 * static_cast<double>(i % 5), 1e-3, 0}});
  }
  return bodies_problem("plate", inverse_mass, touches);
}

}  // namespace ccp::test
