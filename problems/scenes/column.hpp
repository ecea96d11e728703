#pragma once

#include <memory>
#include <vector>

#include "problems/geometry/sphere_contacts.hpp"
#include "problems/scenes/scene.hpp"

namespace ccp {

/// The 1-D column of Wang 2016 Sect. 4.1: equal spheres on top of each other on the ground, at
/// first with zero overlap, which sink into each other under their weight. Table 1's parameters; nu
/// is not printed there and ours. Spheres do not rotate, and impacts have no stage of their own:
/// steps of 5 ms under gravity stay below the paper's threshold of 0.05 m/s.
struct ColumnOptions {
  std::uint64_t spheres = 25;
  double diameter = 0.013;   ///< m
  double density = 3700;     ///< kg/m^3
  SphereModel model;         ///< elastic
  bool at_rest = false;      ///< starts with the overlaps of a column at rest, without the load
  double load = 0;           ///< by which the uppermost sphere is heavier, in masses of a sphere
  double rest_speed = 1e-5;  ///< m/s, largest speed of a column at rest
  double longest_time = 20;  ///< s, simulated
  ColumnOptions();
  OptionList list();
};

/// The height of the column at rest by Hertz's law, m: the top of the uppermost sphere.
double column_height(const ColumnOptions& options);

/// Consecutive accurate steps as a sequence, from the time sequence.from on, or at rest.
std::vector<ContactProblem> generate_column(const ColumnOptions& options,
                                            const SequenceOptions& sequence, StepSolver& accurate);

/// Simulates the column until it is at rest, or for the longest time; a column at rest has been
/// slower than rest_speed for 0.1 s. A simulation that diverges has NaN for height and error.
SettlingRun simulate_column(const ColumnOptions& options, const StepStart& start,
                            const StepAccuracy& accuracy, StepSolver& solver);

/// The row of the table: generate_column() and simulate_column().
std::unique_ptr<Scene> column_scene();

}  // namespace ccp
