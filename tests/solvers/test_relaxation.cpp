// The parts of the relaxation and gradient methods: metrics, local problems, sweep orders.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>
#include <set>

#include "solvers/core/gradient_metric.hpp"
#include "solvers/gauss_seidel/gauss_seidel.hpp"
#include "solvers/registry.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double number(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  Vec3 vector(double size) {
    return {number(-size, size), number(-size, size), number(-size, size)};
  }
  Vec3 unit() {
    const Vec3 v = vector(1);
    return (1 / norm(v)) * v;
  }
  /// Symmetric and positive definite, with a condition of some tens.
  Sym3 block() {
    Vec3 rows[3] = {vector(1), vector(1), vector(1)};
    return symmetric([&](int i, int j) { return dot(rows[i], rows[j]) + (i == j ? 0.1 : 0); });
  }

 private:
  std::mt19937 engine_;
};

/// How far g is from solving K ∋ g ⊥ w ∈ K*, relative to the sizes of g and b.
double local_fault(const Sym3& block, const Vec3& b, const Vec3& g, const Vec3& normal, double mu,
                   Law law) {
  Vec3 w = block * g + b;
  if (law == Law::coulomb) w = w + (mu * split(w, normal).size) * normal;
  const Split p = split(g, normal), d = split(w, normal);
  const double scale_g = norm(g) + 1e-300, scale_w = norm(b) + 1e-300;
  return std::max({distance_to_cone(p.n, p.size, mu) / scale_g,
                   distance_to_dual_cone(d.n, d.size, mu) / scale_w,
                   std::abs(dot(g, w)) / (scale_g * scale_w)});
}

ContactProblem rotating_pile() {
  ContactProblem p = random_problem({12, 24, true, true, 31});
  make_feasible(p, 5);
  return p;
}

/// One Gauss-Seidel sweep on the host with the assembled N, for blocks diag(a, a, a).
std::vector<double> host_sweep(const ContactProblem& p, const std::vector<int>& order,
                               std::vector<double> gamma) {
  const std::size_t n = p.contacts();
  const auto dense = dense_delassus(p);
  for (const int contact : order) {
    const std::size_t c = static_cast<std::size_t>(contact);
    double u[3];
    for (std::size_t i = 0; i < 3; ++i) {
      u[i] = p.r[3 * c + i];
      for (std::size_t j = 0; j < 3 * n; ++j) u[i] += dense[(3 * c + i) * 3 * n + j] * gamma[j];
    }
    const double a = dense[(3 * c) * 3 * n + 3 * c];
    const Vec3 target{gamma[3 * c] - u[0] / a, gamma[3 * c + 1] - u[1] / a,
                      gamma[3 * c + 2] - u[2] / a};
    const Vec3 g = project_friction_cone(target, {1, 0, 0}, p.mu[c]);
    gamma[3 * c] = g.x;
    gamma[3 * c + 1] = g.y;
    gamma[3 * c + 2] = g.z;
  }
  return gamma;
}

void check_order(const ContactProblem& p, const SweepOrder& order) {
  const std::set<int> all(order.contacts.begin(), order.contacts.end());
  REQUIRE(order.contacts.size() == p.contacts());
  CHECK(all.size() == p.contacts());
  CHECK(order.groups.front() == 0);
  CHECK(order.groups.back() == static_cast<int>(p.contacts()));
  const auto dense = dense_delassus(p);
  const std::size_t n = p.contacts();
  const auto coupled = [&](int a, int b) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        if (dense[(3 * static_cast<std::size_t>(a) + i) * 3 * n + 3 * static_cast<std::size_t>(b) +
                  j] != 0) {
          return true;
        }
      }
    }
    return false;
  };
  const auto check_independent = [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      for (int j = begin; j < i; ++j) {
        CHECK_FALSE(coupled(order.contacts[i], order.contacts[j]));
      }
    }
  };
  for (std::size_t k = 0; k + 1 < order.groups.size(); ++k) {
    CHECK(order.groups[k + 1] - order.groups[k] <= SweepOrder::lanes);
    CHECK(order.groups[k + 1] > order.groups[k]);
    check_independent(order.groups[k], order.groups[k + 1]);
  }
  for (std::size_t k = 0; k + 1 < order.colors.size(); ++k) {
    check_independent(order.groups[order.colors[k]], order.groups[order.colors[k + 1]]);
  }
}

}  // namespace

TEST_CASE("the projection in a metric is the nearest point") {
  Random random(1);
  for (int k = 0; k < 2000; ++k) {
    const Vec3 normal = random.unit(), value = random.vector(2);
    const double mu = k % 5 == 0 ? 0 : random.number(0, 2), ratio = random.number(0.2, 5);
    const auto distance = [&](const Vec3& a, const Vec3& b) {
      const Split s = split(a - b, normal);
      return s.n * s.n + ratio * s.size * s.size;
    };
    const Vec3 p = project_in_metric(value, normal, mu, ratio);
    const Split s = split(p, normal);
    CHECK(distance_to_cone(s.n, s.size, mu) < 1e-15);
    for (int i = 0; i < 20; ++i) {  // no point of the cone is nearer
      const Vec3 other = project_friction_cone(p + random.vector(0.1), normal, mu);
      CHECK(distance(value, p) <= distance(value, other) + 1e-14);
    }
  }
}

TEST_CASE("a contact's own problem is solved for both laws") {
  Random random(2);
  int sliding = 0;
  for (int k = 0; k < 2000; ++k) {
    const Sym3 block = random.block();
    const Vec3 normal = random.unit(), b = random.vector(1);
    const double mu = k % 7 == 0 ? 0 : random.number(0.05, 1.5);
    const Vec3 coulomb = solve_local_coulomb(block, b, normal, mu);
    INFO("problem " << k);
    CHECK(local_fault(block, b, coulomb, normal, mu, Law::coulomb) < 1e-10);
    if (norm(block * coulomb + b) > 1e-6 && norm(coulomb) > 0) ++sliding;
    // Its metric, as ContactMetric has it.
    const Vec3 column = block * normal;
    const Split part = split(column, normal);
    const double trace = block.xx + block.yy + block.zz;
    const double weight_n = part.n + part.size, weight_t = trace - part.n + part.size;
    const Vec3 convex = solve_local_convex(block, b, {0, 0, 0}, normal, mu, 1 / weight_n,
                                           1 / weight_t, weight_t / weight_n);
    CHECK(local_fault(block, b, convex, normal, mu, Law::convex) < 1e-9);
  }
  CHECK(sliding > 300);
}

TEST_CASE("the closed form of Coulomb's law agrees with the general one") {
  Random random(3);
  for (int k = 0; k < 500; ++k) {
    const Vec3 normal = random.unit(), b = random.vector(1);
    const double mu = random.number(0, 1), a = random.number(0.5, 2);
    const Sym3 block{a, 0, 0, a, 0, a};
    const Vec3 closed = project_coulomb((-1 / a) * b, normal, mu);
    CHECK(norm(closed - solve_local_coulomb(block, b, normal, mu)) < 1e-12);
  }
}

TEST_CASE("a contact's metric is not less than its block, and equal where it can be") {
  for (const ContactProblem& p : {rotating_pile(), random_pile(60, 150, 3)}) {
    const Problem problem(p);
    const auto blocks = problem.shared_delassus().diagonal_blocks();
    const ContactMetric metric = contact_metric(blocks, problem.normal(), problem.delassus_scale());
    CHECK(metric.exact == !p.rotates());
    const auto host = to_host(blocks);
    const auto weight = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), metric.weight);
    const auto normals = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), problem.normal());
    Random random(4);
    for (std::size_t c = 0; c < p.contacts(); ++c) {
      for (int k = 0; k < 50; ++k) {
        const Vec3 v = random.vector(1);
        double square = 0;
        const double x[3] = {v.x, v.y, v.z};
        for (std::size_t i = 0; i < 3; ++i) {
          for (std::size_t j = 0; j < 3; ++j) square += x[i] * host[9 * c + 3 * i + j] * x[j];
        }
        const Split s = split(v, row3(normals, static_cast<int>(c)));
        const double bound = weight(c, 0) * s.n * s.n + weight(c, 1) * s.size * s.size;
        CHECK(square <= bound * (1 + 1e-12));
        if (metric.exact) CHECK(std::abs(square - bound) <= 1e-12 * bound);
      }
    }
  }
}

TEST_CASE("a gradient metric bounds the curvature of N") {
  for (const ContactProblem& p : {rotating_pile(), random_pile(60, 150, 3)}) {
    for (const ContactProblem& form : {p, assembled_form(p)}) {
      const Problem problem(form);
      const auto delassus = problem.delassus();
      for (const char* kind : {"diagonal", "plain"}) {
        INFO(form.name << " " << kind);
        const GradientMetric metric = gradient_metric(problem, kind);
        const auto weight = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), metric.weight);
        const auto normals =
            Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), problem.normal());
        const auto image = delassus->make_image("image");
        for (unsigned seed = 1; seed < 20; ++seed) {
          const auto x = random_vector(3 * form.contacts(), seed);
          const auto view = to_view(x);
          delassus->compute_image(view, image);
          double size = 0;
          for (std::size_t c = 0; c < form.contacts(); ++c) {
            const Split s =
                split({x[3 * c], x[3 * c + 1], x[3 * c + 2]}, row3(normals, static_cast<int>(c)));
            size += weight(c, 0) * (s.n * s.n + weight(c, 3) * s.size * s.size);
          }
          CHECK(delassus->energy(image, view) <= metric.largest_curvature * size * (1 + 1e-12));
        }
      }
    }
  }
}

TEST_CASE("the energy of an image is the quadratic form of N") {
  for (const ContactProblem& p : {rotating_pile(), random_pile(60, 150, 3)}) {
    for (const ContactProblem& form : {p, assembled_form(p)}) {
      const Problem problem(form);
      const auto delassus = problem.delassus();
      const auto dense = dense_delassus(p);
      const auto x = random_vector(3 * form.contacts(), 1),
                 y = random_vector(3 * form.contacts(), 2);
      std::vector<double> difference(x);
      for (std::size_t i = 0; i < x.size(); ++i) difference[i] -= y[i];
      const auto expected = [&](const std::vector<double>& z) {
        const auto product = multiply(dense, z);
        double sum = 0;
        for (std::size_t i = 0; i < z.size(); ++i) sum += z[i] * product[i];
        return sum;
      };
      const auto a = delassus->make_image("a"), b = delassus->make_image("b");
      delassus->compute_image(to_view(x), a);
      delassus->compute_image(to_view(y), b);
      // The frames of the bodies form: what is a contact vector here is one in world axes there,
      // and both have the same products when N is turned with them.
      if (form.form == ContactProblem::Form::assembled) {
        CHECK(std::abs(delassus->energy(a, to_view(x)) / expected(x) - 1) < 1e-12);
        CHECK(std::abs(delassus->energy_of_difference(a, b, to_view(difference)) /
                           expected(difference) -
                       1) < 1e-12);
      } else {
        const auto turned = contact_axes(form, x);
        CHECK(std::abs(delassus->energy(a, to_view(x)) / expected(turned) - 1) < 1e-7);
        CHECK(std::abs(delassus->energy_of_difference(a, b, {}) /
                           expected(contact_axes(form, difference)) -
                       1) < 1e-7);
      }
    }
  }
}

TEST_CASE("groups and colours hold contacts that do not touch each other") {
  for (const ContactProblem& p : {rotating_pile(), random_pile(60, 150, 3)}) {
    for (const ContactProblem& form : {p, assembled_form(p)}) {
      const SweepOrder sequential = sequential_order(form), colored = colored_order(form);
      CHECK(sequential.colors.empty());
      CHECK(colored.colors.size() > 2);
      check_order(p, sequential);
      check_order(p, colored);
    }
  }
  const SweepOrder none = colored_order(ContactProblem{});
  CHECK(none.contacts.empty());
}

TEST_CASE("a sweep is Gauss-Seidel, contact after contact") {
  ContactProblem pile = random_pile(60, 150, 3);
  // Every fifth contact is one with the ground, on either side, beside others of the same body.
  for (std::size_t c = 0; c < pile.contacts(); c += 5) {
    if (pile.contact_bodies[2 * c + 1 - c % 2] >= 0) pile.contact_bodies[2 * c + c % 2] = -1;
  }
  for (const ContactProblem& p : {pile, assembled_form(pile)}) {
    const Problem problem(p);
    for (const bool colored : {false, true}) {
      SweepOptions options;
      options.colored = colored;
      const SweepOrder order = colored ? colored_order(p) : sequential_order(p);
      GaussSeidel sweeps(problem, options);
      const auto start = random_vector(3 * p.contacts(), 7);
      Vector gamma(problem.map(), 1);
      const VectorView x = to_view(start);
      problem.to_world_axes(x, x);
      sweeps.set(x);
      auto expected = start;
      for (int k = 0; k < 5; ++k) {
        sweeps.sweep(k == 3, false);
        std::vector<int> contacts = order.contacts;
        if (k == 3) std::reverse(contacts.begin(), contacts.end());
        expected = host_sweep(pile, contacts, expected);
      }
      sweeps.get(x);
      problem.to_contact_axes(x, x);
      CHECK(relative_difference(to_host(ConstVectorView(x)), expected) < 1e-11);
    }
  }
}

TEST_CASE(
    "pgs solves Coulomb's law with bodies that rotate, and another problem than the convex one") {
  const ContactProblem p = rotating_pile();
  const Problem problem(p);
  std::vector<std::vector<double>> answers;
  for (const char* spec : {"pgs[law=coulomb]", "pgs[law=coulomb,sweep=colored,symmetric=true]",
                           "pgs[law=coulomb,omega=0.7]", "pgs"}) {
    INFO(spec);
    const auto solver = make_solver(SolverSpec::parse(spec));
    solver->setup(problem);
    Vector gamma(problem.map(), 1);
    IterationLimit limit(20000);
    const Info info = solver->solve(gamma, limit);
    CHECK(info.status == Status::converged);
    answers.push_back(product_of(*problem.delassus(), world_axes(p, to_host(gamma))));
  }
  // Coulomb's law has one velocity here, whichever way it is found; the convex law another one.
  CHECK(relative_difference(answers[1], answers[0]) < 1e-6);
  CHECK(relative_difference(answers[2], answers[0]) < 1e-6);
  CHECK(relative_difference(answers[3], answers[0]) > 1e-3);
}
