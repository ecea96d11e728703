// Piles of tiles: that tiles fit, that their seams are as dense as the rest, and what piles of them
// are like beside poured ones.
#include <algorithm>
#include <array>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "harness/simulation/step_solver.hpp"
#include "problems/base/pi.hpp"
#include "problems/dynamics/steppers/shake_among.hpp"
#include "problems/scenes/scene_table.hpp"
#include "problems/scenes/tiled_pile.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

constexpr double height = 0.12;  // m, five mean diameters

TiledPileOptions small_tiles() {
  TiledPileOptions options;
  options.pile.model.gravity = {0, 0, -10};
  options.block = 7;
  options.tiles = 3;
  options.settle_time = 2;  // until nothing moves that would have overlaps of its own
  return options;
}

const std::vector<Tile>& tiles() {
  static const std::vector<Tile> made = [] {
    RegisteredStepSolver solver("apgd");
    return settled_tiles(small_tiles(), height, solver);
  }();
  return made;
}

/// One tile with others, drawn from all in turn, on its eight sides.
Spheres with_neighbours(std::size_t middle, std::size_t first_neighbour) {
  Spheres all;
  std::size_t next = first_neighbour;
  for (int j = -1; j <= 1; ++j) {
    for (int i = -1; i <= 1; ++i) {
      const Tile& tile = tiles()[i == 0 && j == 0 ? middle : next++ % tiles().size()];
      add_spheres(all, tile.spheres, i * tile.period, j * tile.period);
    }
  }
  return all;
}

double smallest_gap(const Spheres& spheres) {
  double least = 1;
  for (const Candidate& pair : find_candidates(spheres, 0)) least = std::min(least, pair.gap);
  return least;
}

double volume_of(const Spheres& spheres, std::size_t i) {
  return 4 * pi / 3 * std::pow(spheres.radius[i], 3);
}

/// Contacts closer than `near` per sphere, both ends counted.
double coordination(const ContactProblem& problem, double near) {
  double ends = 0;
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    if (problem.gap[c] < near) ends += problem.contact_bodies[2 * c] < 0 ? 1 : 2;
  }
  return ends / static_cast<double>(problem.bodies());
}

double quantile(std::vector<double> values, double part) {
  const auto k = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + k, values.end());
  return values[static_cast<std::size_t>(k)];
}

ContactProblem tiled(std::uint64_t spheres, std::uint64_t seed) {
  TiledPileOptions options;
  options.pile.spheres = spheres;
  options.pile.seed = seed;
  options.block = 7;
  options.tiles = 3;
  RegisteredStepSolver solver("apgd");
  return generate_tiled_pile(options, solver);
}

}  // namespace

TEST_CASE("any tile fits beside any other, with no more overlap than inside of one") {
  REQUIRE(tiles().size() == 3);
  double inside = 0, across = 0;
  for (std::size_t middle = 0; middle < tiles().size(); ++middle) {
    inside = std::min(inside, smallest_gap(tiles()[middle].spheres));
    for (std::size_t first = 0; first < tiles().size(); ++first) {
      across = std::min(across, smallest_gap(with_neighbours(middle, first)));
    }
  }
  CHECK(inside > -1e-3);  // m; radii are 8 to 16 mm
  CHECK(across > -1e-3);
  CHECK(across >= 1.5 * inside);
}

TEST_CASE("tiles are different inside and the same at their sides") {
  for (std::size_t t = 1; t < tiles().size(); ++t) {
    const Spheres &a = tiles()[0].spheres, &b = tiles()[t].spheres;
    double moved = 0, inside = 0, same = 0, sides = 0;
    for (std::size_t i = 0; i < b.count(); ++i) {
      const double* x = &b.position[3 * i];
      const bool side = std::max(std::abs(x[0]), std::abs(x[1])) > 0.5 * tiles()[t].period - 0.032;
      double nearest = 1;
      for (std::size_t k = 0; k < a.count(); ++k) {
        const double* y = &a.position[3 * k];
        nearest = std::min(nearest, std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]));
      }
      (side ? sides : inside) += 1;
      if (side && nearest == 0) same += 1;
      if (!side && nearest > 1e-3) moved += 1;
    }
    CHECK(same > 0.95 * sides);
    CHECK(moved > 0.4 * inside);
  }
}

TEST_CASE("the seams of tiles are nearly as dense as the rest") {
  // Volume of spheres whose centres lie in a strip of one diameter beside the seams, and inside;
  // the layer at the ground and the cut at the top left out.
  double seam = 0, inside = 0, seam_area = 0, inside_area = 0;
  for (const Tile& tile : tiles()) {
    const double half = 0.5 * tile.period, border = half - 0.048;
    seam_area += 4 * (half * half - border * border);
    inside_area += 4 * border * border;
    for (std::size_t i = 0; i < tile.spheres.count(); ++i) {
      const double* x = &tile.spheres.position[3 * i];
      if (x[2] < 0.024 || x[2] > height - 0.016) continue;
      const bool side = std::max(std::abs(x[0]), std::abs(x[1])) > border;
      (side ? seam : inside) += volume_of(tile.spheres, i);
    }
  }
  const double layer = height - 0.04;
  CHECK(inside / (layer * inside_area) > 0.5);
  CHECK(seam / seam_area == Approx(inside / inside_area).epsilon(0.12));
}

TEST_CASE("a pile of tiles is like a poured one") {
  const std::uint64_t spheres = 2000;
  PileOptions poured_options;
  poured_options.spheres = spheres;
  RegisteredStepSolver solver("pgj[omega=0.2]");
  const ContactProblem poured = generate_pile(poured_options, solver), made = tiled(spheres, 1);
  CHECK_NOTHROW(made.validate("tiled"));
  CHECK(made.bodies() == spheres);
  CHECK(made.name == "tiled-pile");
  const double a = static_cast<double>(poured.contacts()), b = static_cast<double>(made.contacts());
  // The poured one has a thin rim, where spheres have few contacts.
  CHECK(b == Approx(a).epsilon(0.2));
  CHECK(coordination(made, 2e-4) == Approx(coordination(poured, 2e-4)).epsilon(0.25));
  CHECK(*std::min_element(made.gap.begin(), made.gap.end()) > -2e-4);  // m, 0.02 of a radius
  for (const double part : {0.1, 0.5, 0.9}) {
    CHECK(std::abs(quantile(made.gap, part) - quantile(poured.gap, part)) < 5e-4);
  }
}

TEST_CASE("piles of tiles are the same by seed, and others by another") {
  const ContactProblem one = tiled(600, 1), again = tiled(600, 1), other = tiled(600, 2);
  CHECK(one.content_hash() == again.content_hash());
  CHECK(one.content_hash() != other.content_hash());
  CHECK(one.bodies() == 600);
}

TEST_CASE("piles of tiles that cannot be") {
  RegisteredStepSolver solver("apgd");
  const auto refused = [&](const char* option, const char* value) {
    const auto scene = find_scene("tiled-pile").make();
    return error_of([&] {
      scene->options().set(option, value);
      SceneTools tools;
      tools.solver = &solver;
      scene->problem(tools);
    });
  };
  check_parts(refused("block", "3"), {"scene tiled-pile", "option block", ">= 4", "'3'"});
  check_parts(refused("tiles", "0"), {"option tiles", "'0'"});
  check_parts(refused("slope", "0"), {"option slope", "> 0", "'0'"});
  check_parts(refused("radius_max", "0.001"),
              {"scene tiled-pile", "option radius_max", ">= 0.008"});
  check_parts(refused("spheres", "1000000000000"), {"scene tiled-pile", "option spheres", "GB"});
}
