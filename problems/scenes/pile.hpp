#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "problems/dynamics/steppers/shake.hpp"
#include "problems/geometry/sphere_contacts.hpp"
#include "problems/scenes/scene.hpp"

namespace ccp {

/// A pile of non-rotating spheres: a jittered square column dropped on the ground, which collapses
/// and settles until no sphere is faster than `rest_speed`; then frozen with zero velocities.
/// Defaults describe Test Problems 1-3 of Kleinert 2014 and 2017.
struct PileOptions {
  std::uint64_t spheres = 2048;
  /// The pairs of smallest gap; 0: as many as the papers' Test Problem of so many spheres has, else
  /// all within 0.666 mean radii.
  std::uint64_t contacts = 0;
  std::uint64_t seed = 1;
  int column = 0;     ///< spheres along one side of the column; 0 = cbrt(spheres / 4)
  double drop = 0.1;  ///< m, lowest layer above the ground at the start
  double radius_min = 0.008, radius_max = 0.016;  ///< m, uniformly distributed between
  double density = 1650;                          ///< kg/m^3
  double gravity = 10;                            ///< m/s^2, along -z
  SphereModel model;       ///< mu, dt and stiffness of the frozen problem; not its gravity
  double flow_dt = 0.01;   ///< s, step while the column collapses
  double flow_time = 1.6;  ///< s
  StepAccuracy flow{1e-2, 100};
  StepAccuracy settle{5e-4, 300};
  double rest_speed = 1e-3;  ///< m/s
  int max_steps = 3000;
  /// m, x and y are recorded on this grid, 0 = as they are. Recorded digits are what makes a frozen
  /// pile hard: they leave gaps of contacts at rest that do not agree with each other, as the
  /// printed states of the papers have them. See problems/README.md.
  double position_grid = 4e-5;
  HeavySpheres heavy;  ///< of the frozen problem; the pile settles without

  OptionList list();
};

/// The options that all scenes of settled spheres have: how many of what, and of what material.
OptionList pile_counts(PileOptions& options);
OptionList pile_material(PileOptions& options);
/// @return the options with the number of contacts and the model's gravity filled in
/// @param scene  for messages; @throws InputError for options that contradict each other
PileOptions checked_pile(const std::string& scene, PileOptions options);

/// The square column that piles begin as: layer by layer from below, at rest.
Spheres loose_column(const PileOptions& options);
/// m, the distance of its cells.
double column_pitch(const PileOptions& options);

/// The options of the steps while the spheres fall, and while they settle.
ShakeOptions pile_steps(const PileOptions& options, bool settling);

/// How spheres come to rest.
struct PileSettling {
  std::string scene = "pile";  ///< for messages
  double flow_time = 0;        ///< s, in steps of flow_dt; then they settle
  double until = -1;           ///< s; negative: until no sphere is faster than rest_speed
  double patience = -1;        ///< s of settling after which it is enough; negative: no end
  std::string what;            ///< settles, for progress: "", or " tile 2"
};
/// @throws InputError if they do not come to rest
void settle_pile(const PileOptions& options, const PileSettling& how, ShakeStepper& stepper,
                 Bodies& bodies, StepSolver& solver,
                 const std::function<void(const SceneProgress&)>& progress);

/// The problem of settled spheres as it is frozen: without velocities, on the grid of positions, in
/// spatial order, with the nearest pairs as contacts.
ContactProblem frozen_pile(const PileOptions& options, Spheres spheres);

/// Makes the pile; the same options and step solver give the same bytes on the same build.
/// @throws InputError for options that contradict each other, or if the pile does not come to rest
ContactProblem generate_pile(const PileOptions& options, StepSolver& solver,
                             const std::function<void(const SceneProgress&)>& progress = {});

/// Consecutive time steps of a pile as a sequence: from the settled pile as it would be frozen, or
/// from the time `from` of the collapse on. With elastic contacts (model.hertz) the settled pile,
/// which was stacked rigid, first comes to rest again. One step is made before the first that is
/// kept, so that all have a guess "previous". The contacts of a step are the `contacts` nearest
/// pairs, or with contacts = 0 all that may touch in it; elastic ones are all pairs that touch.
/// @param solver  makes the pile; @param accurate  solves the steps that are kept
std::vector<ContactProblem> generate_pile_sequence(
    const PileOptions& options, const SequenceOptions& sequence, StepSolver& solver,
    StepSolver& accurate, const std::function<void(const SceneProgress&)>& progress = {});

/// The row of the table: generate_pile() and generate_pile_sequence().
std::unique_ptr<Scene> pile_scene();

}  // namespace ccp
