#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "problems/scenes/pile.hpp"
#include "problems/scenes/scene.hpp"

namespace ccp {

/// A large pile made of settled tiles. Time steps of all spheres are what makes a pile of 10^6
/// expensive; here only a tile's are made, and those of the surface:
///
///  1. A column of `block` x `block` spheres a layer falls and settles in a world that repeats, so
///     that it fits itself on all sides.
///  2. Other tiles are made of it: all spheres but those near its vertical sides are thrown upwards
///     at random speeds, and settle among those that stay. So every tile fits every other one.
///  3. The plane is laid out with tiles, drawn at random, and of all spheres those below a cone of
///     the slope asked for are taken, as many as there shall be.
///  4. The uppermost settle on the others, which no longer have what lay above and beside them.
///
/// Tiles share the spheres at their sides, whose positions repeat from tile to tile (not their
/// gaps, which the grid of positions rounds anew); inside, about half of them are elsewhere. Cost:
/// steps of a tile, which grows with the height, n^(1/3), and of the surface, n^(2/3); the rest is
/// linear and quick.
struct TiledPileOptions {
  PileOptions pile;
  int block = 12;            ///< spheres along a side of a tile's column
  int tiles = 3;             ///< different ones
  double settle_time = 0.4;  ///< s, after which a tile or the surface is taken as it is
  double slope = 0.4;        ///< height of the cone over its radius
  double throwing = 3;       ///< m/s upwards, of the highest spheres of a tile that is stirred
  /// Friction while tiles fall and are stirred: spheres that do not rotate stand in the columns
  /// that they fall in, otherwise.
  double flow_mu = 0.3;

  OptionList list();
};

/// A settled tile: x and y in [-period/2, period/2), no sphere above `height`.
struct Tile {
  Spheres spheres;
  double period = 0, height = 0;  ///< m
};

/// Steps 1 and 2. @param height  m, up to which a tile is to be filled
/// @throws InputError if the step solver diverges
std::vector<Tile> settled_tiles(const TiledPileOptions& options, double height, StepSolver& solver,
                                const std::function<void(const SceneProgress&)>& progress = {});

/// All four steps; the same options and step solver give the same bytes on the same build.
/// @throws InputError for options that contradict each other, or if the solver diverges
ContactProblem generate_tiled_pile(const TiledPileOptions& options, StepSolver& solver,
                                   const std::function<void(const SceneProgress&)>& progress = {});

/// The row of the table.
std::unique_ptr<Scene> tiled_pile_scene();

}  // namespace ccp
