// The scenes: sizes, free velocities and references, by hand.
#include "problems/scenes/hand_scenes.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>

#include "problems/formats/problem_file.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

/// Normal and size of the tangential part of contact c.
void check_r(const ContactProblem& p, std::size_t c, double normal, double tangential) {
  INFO(p.name << ", contact " << c);
  CHECK(p.r[3 * c] == Approx(normal).margin(1e-15));
  CHECK(std::hypot(p.r[3 * c + 1], p.r[3 * c + 2]) == Approx(tangential).margin(1e-15));
}

}  // namespace

TEST_CASE("every scene is valid, survives the file and has as many contacts as drawn") {
  const std::map<std::string, std::size_t> contacts = {{"resting-block", 1},
                                                       {"sliding-block", 1},
                                                       {"slope-at-friction-angle", 1},
                                                       {"slope-beyond-friction-angle", 1},
                                                       {"frictionless-slope", 1},
                                                       {"stack", 3},
                                                       {"mass-ratio-stack", 2},
                                                       {"mixed-friction-stack", 3},
                                                       {"hyperstatic-table", 4},
                                                       {"duplicate-contacts", 2},
                                                       {"zero-contacts", 0},
                                                       {"separating-spheres", 1},
                                                       {"head-on-collision", 1},
                                                       {"frictionless-v-groove", 2},
                                                       {"v-groove", 2},
                                                       {"assembled-stack", 3}};
  const TemporaryFolder folder;
  CHECK(hand_scenes().size() >= contacts.size());
  for (const HandScene& entry : hand_scenes()) {
    INFO(entry.name);
    const ContactProblem p = make_scene(entry.name);
    CHECK(p.name == entry.name);
    CHECK_FALSE(entry.summary.empty());
    if (const auto known = contacts.find(entry.name); known != contacts.end()) {
      CHECK(p.contacts() == known->second);
    }
    REQUIRE(p.reference);
    CHECK(p.reference->gamma.size() == 3 * p.contacts());
    CHECK(p.source.generator == "ccpbench generate scene " + entry.name);
    write_problem(folder.file(entry.name + ".h5"), p, false);
    CHECK(read_problem(folder.file(entry.name + ".h5")).content_hash() == p.content_hash());
  }
}

TEST_CASE("free velocities of the scenes") {
  check_r(make_scene("resting-block"), 0, -0.1, 0);  // dt g
  check_r(make_scene("sliding-block"), 0, -0.1, 1);
  check_r(make_scene("slope-at-friction-angle"), 0, -0.08, 0.06);  // dt g (cos, sin)
  check_r(make_scene("frictionless-slope"), 0, -0.08, 0.06);
  const ContactProblem stack = make_scene("stack");
  check_r(stack, 0, -0.1, 0);  // only the lowest block falls against something that does not
  check_r(stack, 1, 0, 0);
  check_r(stack, 2, 0, 0);
  check_r(make_scene("separating-spheres"), 0, 2, 0);
  check_r(make_scene("head-on-collision"), 0, -2, 0);
  check_r(make_scene("v-groove"), 0, -0.1 * std::sqrt(0.5), 0.1 * std::sqrt(0.5));
  const ContactProblem table = make_scene("hyperstatic-table");
  for (std::size_t c = 0; c < 4; ++c) check_r(table, c, -0.1, 0);
  CHECK(table.rotates());
  CHECK(make_scene("assembled-stack").r == stack.r);
  CHECK(make_scene("zero-contacts").bodies() == 1);
}

TEST_CASE("the reference of every scene solves the convex problem to rounding") {
  for (const HandScene& entry : hand_scenes()) {
    const ContactProblem p = make_scene(entry.name);
    const std::size_t n = p.contacts();
    std::vector<double> u = p.r;
    const std::vector<double>& gamma = p.reference->gamma;
    if (p.form == ContactProblem::Form::bodies) {
      const std::vector<double> push = multiply(dense_delassus(p), gamma);
      for (std::size_t i = 0; i < u.size(); ++i) u[i] += push[i];
    } else {
      const BlockMatrix& a = p.delassus;
      for (std::size_t row = 0; row < n; ++row) {
        for (auto k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
          for (std::size_t e = 0; e < 9; ++e) {
            u[3 * row + e / 3] += a.blocks[9 * k + e] * gamma[3 * a.columns[k] + e % 3];
          }
        }
      }
    }
    for (std::size_t c = 0; c < n; ++c) {
      INFO(entry.name << ", contact " << c);
      const double* g = &gamma[3 * c];
      const double* v = &u[3 * c];
      CHECK(std::hypot(g[1], g[2]) <= p.mu[c] * g[0] + 1e-12);
      CHECK(g[0] >= 0);
      CHECK(v[0] >= p.mu[c] * std::hypot(v[1], v[2]) - 1e-12);
      CHECK(std::abs(g[0] * v[0] + g[1] * v[1] + g[2] * v[2]) < 1e-13 * (1 + g[0]));
    }
  }
}

TEST_CASE("the assembled stack is the stack") {
  const ContactProblem a = make_scene("assembled-stack"), b = make_scene("stack");
  const std::vector<double> dense = dense_delassus(b);
  REQUIRE(a.delassus.row_offsets == std::vector<std::int64_t>{0, 2, 5, 7});
  CHECK(a.delassus.columns == std::vector<std::int32_t>{0, 1, 0, 1, 2, 1, 2});
  for (std::size_t row = 0; row < 3; ++row) {
    for (auto k = a.delassus.row_offsets[row]; k < a.delassus.row_offsets[row + 1]; ++k) {
      for (std::size_t e = 0; e < 9; ++e) {
        const std::size_t column = a.delassus.columns[k];
        CHECK(a.delassus.blocks[9 * k + e] ==
              Approx(dense[(3 * row + e / 3) * 9 + 3 * column + e % 3]).margin(1e-15));
      }
    }
  }
}

TEST_CASE("an unknown scene is refused with the nearest one") {
  check_parts(error_of([] { make_scene("stak"); }),
              {"unknown scene 'stak'", "did you mean 'stack'?"});
}
