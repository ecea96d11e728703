// The constraint map kernel by kernel, in the problem's order and in others, against the dense
// definition in tests/support.hpp.
#include "solvers/core/constraint_map.hpp"

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>
#include <random>

#include "problems/base/mat3.hpp"
#include "problems/base/sym3.hpp"
#include "problems/model/impulses.hpp"
#include "problems/model/incidence.hpp"
#include "solvers/core/transfer.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

/// Bodies that rotate and that do not, several contacts per pair, immovable bodies on both sides,
/// a body of infinite mass, compliances.
std::vector<ContactProblem> problems() {
  std::vector<ContactProblem> list = {random_problem({6, 30, true, true, 1}),
                                      random_problem({7, 60, false, true, 2})};
  list.push_back(compliant_form(list[0], 5));
  list.push_back(compliant_form(list[1], 6));
  return list;
}

std::vector<int> shuffled(std::size_t size, unsigned seed) {
  std::vector<int> order(size);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

/// The problem's order, other contacts, other bodies, both.
std::vector<MapOrder> orders(const ContactProblem& p) {
  const auto contacts = shuffled(p.contacts(), 11), places = shuffled(p.bodies(), 12);
  return {{}, {contacts, {}}, {{}, places}, {contacts, places}};
}

std::size_t contact_at(const MapOrder& order, std::size_t place) {
  return order.contacts.empty() ? place : order.contacts[place];
}
std::size_t place_of(const MapOrder& order, std::size_t body) {
  return order.places.empty() ? body : order.places[body];
}

/// Triples of contacts in the order of a map, and back.
std::vector<double> to_places(const MapOrder& order, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size() / 3; ++i) {
    std::copy_n(&x[3 * contact_at(order, i)], 3, &y[3 * i]);
  }
  return y;
}
std::vector<double> from_places(const MapOrder& order, const std::vector<double>& y) {
  std::vector<double> x(y.size());
  for (std::size_t i = 0; i < y.size() / 3; ++i) {
    std::copy_n(&y[3 * i], 3, &x[3 * contact_at(order, i)]);
  }
  return x;
}

/// M^-1 times the load of p by the kernels, [m + 1][6].
DeviceArray<double* [6]> velocities(const ConstraintMap& map, const VectorView& p) {
  DeviceArray<double* [6]> v("ccp::test::v", map.bodies() + 1);
  const BodyMatrices inverse = map.masses();
  const bool rotates = map.rotates();
  const auto force = map.force(p);
  const auto wrench = map.wrench(p);
  Kokkos::parallel_for(
      "ccp::test::load", range(map.bodies()), KOKKOS_LAMBDA(const int i) {
        const Vec3 f = rotates ? wrench(i).force : force(i);
        v(i, 0) = inverse.linear(i) * f.x;
        v(i, 1) = inverse.linear(i) * f.y;
        v(i, 2) = inverse.linear(i) * f.z;
        if (!rotates) return;
        const Vec3 t = wrench(i).torque;
        for (int k = 0; k < 3; ++k) {
          v(i, 3 + k) = inverse.angular(i, k, 0) * t.x + inverse.angular(i, k, 1) * t.y +
                        inverse.angular(i, k, 2) * t.z;
        }
      });
  return v;
}

/// The contacts' velocities by the kernels, 3n.
VectorView contact_velocities(const ConstraintMap& map, const DeviceArray<double* [6]>& v) {
  const VectorView d("ccp::test::d", 3 * static_cast<std::size_t>(map.contacts()));
  using Velocities = DeviceArray<double* [6]>;
  if (map.rotates()) {
    const auto relative = map.relative_at_arms(SpatialRows<Velocities>{v});
    Kokkos::parallel_for(
        "ccp::test::velocity", range(map.contacts()),
        KOKKOS_LAMBDA(const int c) { store3(d, c, relative(c)); });
  } else {
    const auto relative = map.relative(Rows<Velocities>{v});
    Kokkos::parallel_for(
        "ccp::test::velocity", range(map.contacts()),
        KOKKOS_LAMBDA(const int c) { store3(d, c, relative(c)); });
  }
  return d;
}

VectorView products(const BlockRows& rows, const VectorView& p) {
  const VectorView d("ccp::test::d", p.extent(0));
  Kokkos::parallel_for(
      "ccp::test::product", range(p.extent(0) / 3),
      KOKKOS_LAMBDA(const int c) { store3(d, c, rows.product(p, c)); });
  return d;
}

/// Block (c, d) of a dense N, turned to world axes by the frames of a problem in bodies form.
Mat3 dense_block(const ContactProblem& p, const std::vector<double>& n, std::size_t c,
                 std::size_t d) {
  Mat3 block;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) {
        for (int l = 0; l < 3; ++l) {
          block[3 * i + j] += p.frame[9 * c + 3 * k + i] *
                              n[(3 * c + k) * 3 * p.contacts() + 3 * d + l] *
                              p.frame[9 * d + 3 * l + j];
        }
      }
    }
  }
  return block;
}

}  // namespace

TEST_CASE("load and velocity are J^T and J, in any order of contacts and bodies") {
  for (const ContactProblem& p : problems()) {
    ContactProblem stiff = p;
    stiff.compliance.clear();
    const auto gamma = random_vector(3 * p.contacts(), 3);
    const auto v_expected = dense_body_velocities(p, gamma);
    const auto u_expected = multiply(dense_delassus(stiff), gamma);
    for (const MapOrder& order : orders(p)) {
      const ConstraintMap map(p, order);
      CHECK(map.rotates() == p.rotates());
      CHECK(map.is_compliant() == p.is_compliant());
      const auto v = velocities(map, to_view(to_places(order, world_axes(p, gamma))));
      const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
      std::vector<double> by_body;
      for (std::size_t i = 0; i < p.bodies(); ++i) {
        for (int k = 0; k < 6; ++k) by_body.push_back(host(place_of(order, i), k));
      }
      CHECK(relative_difference(by_body, v_expected) < 1e-14);
      const auto d = to_host(ConstVectorView(contact_velocities(map, v)));
      CHECK(relative_difference(contact_axes(p, from_places(order, d)), u_expected) < 1e-13);
    }
  }
}

TEST_CASE("what the host and the map say of impulses is the same") {
  for (const ContactProblem& p : problems()) {
    const auto gamma = random_vector(3 * p.contacts(), 3);
    CHECK(relative_difference(body_velocity_changes(p, gamma), dense_body_velocities(p, gamma)) <
          1e-14);
  }
}

TEST_CASE("diagonal blocks of the map, with compliance and in any order") {
  for (const ContactProblem& p : problems()) {
    const auto n = dense_delassus(p);
    for (const MapOrder& order : orders(p)) {
      const auto blocks = to_host(ConstraintMap(p, order).diagonal_blocks());
      for (std::size_t i = 0; i < p.contacts(); ++i) {
        const std::size_t c = contact_at(order, i);
        const Mat3 expected = dense_block(p, n, c, c);
        for (int k = 0; k < 9; ++k) {
          CHECK(std::abs(blocks[9 * i + k] - expected[k]) < 1e-13 * (1 + largest_entry(expected)));
        }
      }
    }
  }
}

TEST_CASE("the assembled N has the dense blocks, and none where only immovable bodies are shared") {
  for (const ContactProblem& p : problems()) {
    const auto n = dense_delassus(p);
    const BlockMatrix matrix = assemble_delassus(p);
    std::size_t met = 0;
    for (std::size_t c = 0; c < p.contacts(); ++c) {
      for (std::size_t d = 0; d < p.contacts(); ++d) {
        const auto begin = matrix.columns.begin() + matrix.row_offsets[c];
        const auto end = matrix.columns.begin() + matrix.row_offsets[c + 1];
        const auto at = std::lower_bound(begin, end, static_cast<int>(d));
        const bool present = at != end && *at == static_cast<int>(d);
        bool share = c == d;
        for (std::size_t i = 0; i < 4; ++i) {
          const int body = p.contact_bodies[2 * c + i / 2];
          share = share || (body == p.contact_bodies[2 * d + i % 2] && is_movable(p, body));
        }
        CHECK(present == share);
        if (!present) continue;
        ++met;
        const Mat3 expected = dense_block(p, n, c, d);
        const std::size_t first = 9 * static_cast<std::size_t>(at - matrix.columns.begin());
        for (int k = 0; k < 9; ++k) CHECK(std::abs(matrix.blocks[first + k] - expected[k]) < 1e-12);
      }
    }
    CHECK(met == matrix.columns.size());

    // The same as rows on the device, in any order of contacts.
    const auto p_world = world_axes(p, random_vector(3 * p.contacts(), 4));
    const auto u_world = world_axes(p, multiply(n, contact_axes(p, p_world)));
    for (const MapOrder& order : orders(p)) {
      const BlockRows rows = make_block_rows(matrix, order.contacts);
      const auto d = products(rows, to_view(to_places(order, p_world)));
      CHECK(relative_difference(from_places(order, to_host(ConstVectorView(d))), u_world) < 1e-13);
      const auto own = to_host(diagonal_blocks(rows));
      const Mat3 expected = dense_block(p, n, contact_at(order, 0), contact_at(order, 0));
      for (int k = 0; k < 9; ++k) CHECK(std::abs(own[k] - expected[k]) < 1e-12);
    }
  }
}

TEST_CASE("roots and inverses of the inverse masses") {
  ContactProblem p = random_problem({6, 12, true, true, 9});
  // One body does not turn about a tilted axis: J^-1 = |a|^2 1 - a a^T.
  const double axis[3] = {1, 2, -2};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      p.inverse_inertia[9 + 3 * i + j] = (i == j ? 9 : 0) - axis[i] * axis[j];
  }
  const std::size_t m = p.bodies();
  const auto host = [&](MassPower power) {
    const BodyMatrices matrices = body_matrices(p, power);
    return std::pair{to_host(ConstVectorView(matrices.linear.data(), m + 1)),
                     to_host(matrices.angular)};
  };
  const auto inverse = host(MassPower::inverse), root = host(MassPower::root),
             mass = host(MassPower::mass);
  for (std::size_t b = 0; b <= m; ++b) {
    const bool movable = b < m && p.inverse_mass[b] > 0;  // the last body and `m` are not
    CHECK(root.first[b] * root.first[b] == Approx(inverse.first[b]));
    CHECK(mass.first[b] * inverse.first[b] == Approx(movable ? 1 : 0));
    const auto entry = [&](const std::vector<double>& a, int i, int j) {
      return a[9 * b + 3 * i + j];
    };
    double size = 0;
    for (int k = 0; k < 9; ++k) size = std::max(size, std::abs(inverse.second[9 * b + k]));
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        double square = 0, identity = 0, again = 0;
        for (int k = 0; k < 3; ++k) {
          square += entry(root.second, i, k) * entry(root.second, j, k);
          identity += entry(mass.second, i, k) * entry(inverse.second, k, j);
          for (int l = 0; l < 3; ++l) {
            again += entry(inverse.second, i, k) * entry(mass.second, k, l) *
                     entry(inverse.second, l, j);
          }
        }
        if (j > i) CHECK(entry(root.second, i, j) == 0);
        CHECK(std::abs(square - entry(inverse.second, i, j)) <= 1e-13 * size);
        if (b != 1) CHECK(std::abs(identity - (i == j && movable ? 1 : 0)) < 1e-12);
        CHECK(std::abs(again - entry(inverse.second, i, j)) <= 1e-6 * size);  // J^-1 J J^-1
      }
    }
  }
}

TEST_CASE("incidence lists every side once, and the longest list bounds the neighbours") {
  const ContactProblem p = random_problem({5, 40, true, true, 6});
  const Incidence incidence = incidence_of(p.contact_bodies, p.bodies());
  std::size_t sides = 0;
  int most = 0;
  for (std::size_t b = 0; b < p.bodies(); ++b) {
    most = std::max(most, incidence.offset[b + 1] - incidence.offset[b]);
    for (int k = incidence.offset[b]; k < incidence.offset[b + 1]; ++k, ++sides) {
      CHECK(p.contact_bodies[incidence.side[k]] == static_cast<int>(b));
      if (k > incidence.offset[b]) CHECK(incidence.side[k] > incidence.side[k - 1]);
    }
  }
  const auto& bodies = p.contact_bodies;
  CHECK(sides ==
        bodies.size() - static_cast<std::size_t>(std::count(bodies.begin(), bodies.end(), -1)));
  CHECK(most_neighbours(p) == most);

  ContactProblem assembled;
  assembled.form = ContactProblem::Form::assembled;
  assembled.delassus.row_offsets = {0, 2, 7, 8};
  CHECK(most_neighbours(assembled) == 5);
  CHECK(most_neighbours(ContactProblem()) == 1);
}

TEST_CASE("a body is movable if it has an inverse mass or inertia") {
  ContactProblem p;
  p.inverse_mass = {0, 2, 0};
  CHECK_FALSE(is_movable(p, -1));
  CHECK_FALSE(is_movable(p, 0));
  CHECK(is_movable(p, 1));
  p.inverse_inertia.assign(27, 0.0);
  p.inverse_inertia[18 + 8] = 1;  // body 2 turns about z
  CHECK_FALSE(is_movable(p, 0));
  CHECK(is_movable(p, 2));
}

//    z        A body falls (dt g = -0.1 m/s), slides at 2 m/s along x and turns at 3 rad/s about y
//    |  ___   on the ground 0.5 m below its centre: its lowest point has
//    | |_o_|    v + w x arm = (2, 0, -0.1) + (0, 3, 0) x (0, 0, -0.5) = (0.5, 0, -0.1).
//    +------ x
TEST_CASE("the free velocity of a contact, by hand") {
  ContactProblem p;
  p.dt = 0.01;
  p.gravity = {0, 0, -10};
  p.inverse_mass = {1};
  p.inverse_inertia.assign(9, 0.0);
  p.velocity = {2, 0, 0, 0, 3, 0};
  p.contact_bodies = {-1, 0};
  p.frame = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  p.mu = {0.5};
  p.arm_a = {0, 0, 0};
  p.arm_b = {0, 0, -0.5};
  const Vec3 r = free_velocity(p, 0);
  CHECK(r.x == Approx(-0.1));
  CHECK(r.y == Approx(0.5));
  CHECK(r.z == Approx(0).margin(1e-15));
  // The same by the rows of its Jacobian.
  double row[6];
  row_jacobian({1, 0, 0}, {0, 0, -0.5}, 1, row);
  CHECK(row[0] * 2 + row[4] * 3 == Approx(0.5));
  p.contact_bodies = {0, -1};  // as side A: the other sign, and arm_a is zero
  CHECK(free_velocity(p, 0).y == Approx(-2));
}

TEST_CASE("entries, inverse and congruence of symmetric 3x3 matrices") {
  const Sym3 a{4, 1, -0.5, 3, 0.25, 2};
  CHECK(a(0, 2) == -0.5);
  CHECK(a(2, 0) == -0.5);
  CHECK(a(2, 1) == 0.25);
  CHECK(weighted_square(a, {1, 2, 3}) == Approx(4 + 12 + 18 + 2 * (2 - 1.5 + 1.5)));
  const Sym3 b = inverse(a);
  for (int j = 0; j < 3; ++j) {
    const Vec3 column = a * Vec3{b(0, j), b(1, j), b(2, j)};
    CHECK(column.x == Approx(j == 0 ? 1 : 0).margin(1e-15));
    CHECK(column.y == Approx(j == 1 ? 1 : 0).margin(1e-15));
    CHECK(column.z == Approx(j == 2 ? 1 : 0).margin(1e-15));
  }
  const Sym3 none = inverse_or_zero({1, 0, 0, 0, 0, 1});
  CHECK(none.xx == 0);
  const double turn[3][3] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};  // axes y, z, x
  const Sym3 turned = congruence([&](int i, int j) { return turn[i][j]; }, a);
  CHECK(turned.xx == 3);
  CHECK(turned.xz == 1);
  CHECK(turned.zz == 4);
}

TEST_CASE("3x3 inverses, and matrices that have none") {
  const Mat3 a{{2, 1, 0, -1, 3, 1, 0.5, 0, 1}};
  Mat3 b;
  REQUIRE(invert(a, b));
  for (int j = 0; j < 3; ++j) {
    const Vec3 column = a * Vec3{b(0, j), b(1, j), b(2, j)};
    CHECK(column.x == Approx(j == 0 ? 1 : 0).margin(1e-15));
    CHECK(column.y == Approx(j == 1 ? 1 : 0).margin(1e-15));
    CHECK(column.z == Approx(j == 2 ? 1 : 0).margin(1e-15));
  }
  CHECK_FALSE(invert({{1, 2, 3, 2, 4, 6, 0, 0, 1}}, b));
  CHECK_FALSE(invert({}, b));
}
