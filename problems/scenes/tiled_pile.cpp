#include "problems/scenes/tiled_pile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "problems/base/error.hpp"
#include "problems/base/pi.hpp"
#include "problems/dynamics/steppers/shake_among.hpp"
#include "problems/scenes/random.hpp"

namespace ccp {
namespace {

using Report = std::function<void(const SceneProgress&)>;

constexpr double packing = 0.5;  // what settled spheres fill at least, in sizing what is made
constexpr double dense = 0.64;   // and at most
constexpr double rim = 1.25;     // of the largest diameter: what stays at a tile's sides
constexpr double skin = 1.5;     // the same: how deep the surface settles
constexpr double shell = 1.5;    // the same: what it settles on
constexpr int surface_iterations = 100;  // at most, in a step: few layers bear on each other

double diameter(const PileOptions& pile) {
  return 2 * pile.radius_max;
}

/// m^3, the mean volume of a sphere whose radius is uniform between two bounds.
double mean_volume(const PileOptions& pile) {
  const double a = pile.radius_min, b = pile.radius_max;
  return pi / 3 * (a + b) * (a * a + b * b);
}

/// m, the radius of the cone that all spheres fill loosely.
double cone_radius(const TiledPileOptions& o) {
  const double volume = static_cast<double>(o.pile.spheres) * mean_volume(o.pile) / packing;
  return std::cbrt(3 * volume / (pi * o.slope)) + diameter(o.pile);
}

void check_options(TiledPileOptions& o) {
  o.list().check();
  o.pile = checked_pile("tiled-pile", o.pile);
}

/// Spheres that a predicate holds for, and the others.
template <class Predicate>
std::pair<Spheres, Spheres> split(const Spheres& all, const Predicate& first) {
  std::pair<Spheres, Spheres> parts;
  for (std::size_t i = 0; i < all.count(); ++i) {
    add_sphere(first(i) ? parts.first : parts.second, all, i);
  }
  return parts;
}

Surroundings repeating(const PileOptions& pile, double period) {
  Surroundings around;
  around.period = period;
  around.reach = std::min(2 * diameter(pile), 0.5 * period);
  return around;
}

/// The options of steps while spheres fall or are thrown.
ShakeOptions flowing(const TiledPileOptions& o) {
  ShakeOptions step = pile_steps(o.pile, false);
  step.model.mu = o.flow_mu;
  return step;
}

PileSettling settling(const TiledPileOptions& o, double flow_time, const std::string& what) {
  PileSettling how;
  how.scene = "tiled-pile";
  how.patience = o.settle_time;
  how.flow_time = flow_time;
  how.what = what;
  return how;
}

/// m, of the highest centre.
double highest(const Spheres& spheres) {
  double top = 0;
  for (std::size_t i = 0; i < spheres.count(); ++i) {
    top = std::max(top, spheres.position[3 * i + 2]);
  }
  return top;
}

/// The first tile: a column that falls in a world that repeats.
Spheres settled_block(const TiledPileOptions& o, double height, double period, StepSolver& solver,
                      const Report& report) {
  PileOptions pile = o.pile;
  pile.column = o.block;
  const double volume = period * period * (height + 3 * diameter(pile));
  pile.spheres = static_cast<std::uint64_t>(std::ceil(dense * volume / mean_volume(pile)));
  Bodies bodies = sphere_bodies(loose_column(pile), false);
  const double top = highest(bodies.spheres());
  ShakeAmong stepper(flowing(o), repeating(pile, period));
  const PileSettling how =
      settling(o, std::sqrt(2 * top / pile.gravity) + 0.2, fmt::format(" tile 1 of {}", o.tiles));
  settle_pile(pile, how, stepper, bodies, solver, report);
  return bodies.spheres();
}

/// Another tile: the first, stirred but for its sides.
Spheres stirred_block(const TiledPileOptions& o, const Spheres& block, double period, int number,
                      StepSolver& solver, const Report& report) {
  const double inside = 0.5 * period - rim * diameter(o.pile);
  auto [moving, held] = split(block, [&](std::size_t i) {
    const double* p = &block.position[3 * i];
    return std::abs(p[0]) < inside && std::abs(p[1]) < inside;
  });
  Random random(o.pile.seed + 1000003 * static_cast<std::uint64_t>(number));
  const double top = highest(block);
  for (std::size_t i = 0; i < moving.count(); ++i) {
    // The higher the faster: spheres come apart, where others would only be lifted together.
    const double up = o.throwing * moving.position[3 * i + 2] / top;
    moving.velocity[3 * i] = random.uniform(-0.2, 0.2) * o.throwing;
    moving.velocity[3 * i + 1] = random.uniform(-0.2, 0.2) * o.throwing;
    moving.velocity[3 * i + 2] = random.uniform(0.5, 1) * up;
  }
  Surroundings around = repeating(o.pile, period);
  around.held = held;
  Bodies bodies = sphere_bodies(moving, false);
  ShakeAmong stepper(flowing(o), around);
  const PileSettling how = settling(o, 2 * o.throwing / o.pile.gravity + 0.2,
                                    fmt::format(" tile {} of {}", number + 1, o.tiles));
  settle_pile(o.pile, how, stepper, bodies, solver, report);
  add_spheres(held, bodies.spheres());
  return held;
}

/// The spheres of a plane of tiles below the cone, and how far below: the height of the cone
/// through a centre, over the axis.
struct Heap {
  Spheres spheres;
  std::vector<double> peak;  ///< [m] m, peak of the cone of this slope that the centre lies on
};

Heap lay_out(const TiledPileOptions& o, const std::vector<Tile>& tiles) {
  const double radius = cone_radius(o), period = tiles.front().period;
  const int cells = static_cast<int>(std::ceil(radius / period));
  Random random(o.pile.seed + 500009);
  const double shift[2] = {random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5)};
  std::vector<double> all_peaks;
  std::vector<std::pair<const Spheres*, std::size_t>> all;
  std::vector<std::array<double, 2>> corner;
  for (int j = -cells; j <= cells; ++j) {
    for (int i = -cells; i <= cells; ++i) {
      const auto drawn = static_cast<std::size_t>(
          std::min(random.uniform(0, o.tiles), static_cast<double>(o.tiles - 1)));
      const Spheres& tile = tiles[drawn].spheres;
      const double x = (i + shift[0]) * period, y = (j + shift[1]) * period;
      for (std::size_t k = 0; k < tile.count(); ++k) {
        const double* p = &tile.position[3 * k];
        const double peak = p[2] + o.slope * std::hypot(p[0] + x, p[1] + y);
        if (peak > o.slope * radius) continue;
        all.emplace_back(&tile, k);
        corner.push_back({x, y});
        all_peaks.push_back(peak);
      }
    }
  }
  if (all.size() < o.pile.spheres) {
    throw InputError(
        fmt::format("generate tiled-pile: {} spheres asked for, but the tiles have {} "
                    "in a cone of this slope",
                    o.pile.spheres, all.size()));
  }
  // The lowest, as many as there shall be; in the order in which they were found.
  std::vector<double> sorted = all_peaks;
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(o.pile.spheres - 1);
  std::nth_element(sorted.begin(), last, sorted.end());
  const double limit = *last;
  Heap heap;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (all_peaks[k] > limit || heap.peak.size() == o.pile.spheres) continue;
    add_sphere(heap.spheres, *all[k].first, all[k].second, corner[k][0], corner[k][1]);
    heap.peak.push_back(all_peaks[k]);
  }
  return heap;
}

/// Lets the uppermost spheres settle on those below.
void settle_surface(const TiledPileOptions& o, Heap& heap, StepSolver& solver,
                    const Report& report) {
  const double top = *std::max_element(heap.peak.begin(), heap.peak.end());
  const double free = top - skin * diameter(o.pile);
  const double deep = free - shell * diameter(o.pile);
  std::vector<std::size_t> moving;
  Spheres surface;
  Surroundings around;
  for (std::size_t i = 0; i < heap.peak.size(); ++i) {
    if (heap.peak[i] > free) {
      moving.push_back(i);
      add_sphere(surface, heap.spheres, i);
    } else if (heap.peak[i] > deep) {
      add_sphere(around.held, heap.spheres, i);
    }
  }
  Bodies bodies = sphere_bodies(surface, false);
  PileOptions pile = o.pile;
  pile.settle.max_iterations = surface_iterations;
  ShakeAmong stepper(pile_steps(pile, false), around);
  settle_pile(pile, settling(o, 0, " the surface"), stepper, bodies, solver, report);
  for (std::size_t k = 0; k < moving.size(); ++k) {
    std::copy_n(&bodies.position[3 * k], 3, &heap.spheres.position[3 * moving[k]]);
  }
}

class TiledPile : public Scene {
 public:
  OptionList options() override { return options_.list(); }
  ContactProblem problem(const SceneTools& tools) override {
    return generate_tiled_pile(options_, *tools.solver, tools.progress);
  }

 private:
  TiledPileOptions options_;
};

}  // namespace

OptionList TiledPileOptions::list() {
  using Range = OptionList::Range;
  return OptionList("tiled-pile", "scene")
      .include(pile_counts(pile))
      .integer("block", block, Range::at_least(4),
               "Spheres along a side of the column that a tile settles from")
      .integer("tiles", tiles, {1, 1000}, "Number of different tiles")
      .number("settle_time", settle_time, Range::at_least(0),
              "Time after which tiles and surface are taken as they are, if not at rest before, s")
      .number("slope", slope, {0, 1, true, false}, "Height of the pile over its radius")
      .number(
          "throwing", throwing, Range::at_least(0),
          "Speed upwards with which the highest spheres are thrown to make a tile of another, m/s")
      .number("flow_mu", flow_mu, Range::at_least(0),
              "Friction coefficient while tiles fall and are stirred")
      .include(pile_material(pile));
}

std::vector<Tile> settled_tiles(const TiledPileOptions& options, double height, StepSolver& solver,
                                const Report& progress) {
  const double period = options.block * column_pitch(options.pile);
  std::vector<Spheres> blocks = {settled_block(options, height, period, solver, progress)};
  while (static_cast<int>(blocks.size()) < options.tiles) {
    blocks.push_back(stirred_block(options, blocks.front(), period, static_cast<int>(blocks.size()),
                                   solver, progress));
  }
  std::vector<Tile> tiles;
  for (const Spheres& block : blocks) {
    const auto is_low = [&](std::size_t i) { return block.position[3 * i + 2] <= height; };
    tiles.push_back({split(block, is_low).first, period, height});
  }
  return tiles;
}

ContactProblem generate_tiled_pile(const TiledPileOptions& given, StepSolver& solver,
                                   const Report& progress) {
  TiledPileOptions options = given;
  check_options(options);
  const double height = options.slope * cone_radius(options);
  Heap heap = lay_out(options, settled_tiles(options, height, solver, progress));
  settle_surface(options, heap, solver, progress);
  ContactProblem problem = frozen_pile(options.pile, std::move(heap.spheres));
  problem.name = "tiled-pile";
  problem.source.description =
      fmt::format("a pile of {} spheres, of {} settled tiles", options.pile.spheres, options.tiles);
  return problem;
}

std::unique_ptr<Scene> tiled_pile_scene() {
  return std::make_unique<TiledPile>();
}

}  // namespace ccp
