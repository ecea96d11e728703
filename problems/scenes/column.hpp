#pragma once

#include "problems/dynamics/sphere_steps.hpp"

namespace ccp {

/// The 1-D column of Wang 2016 Sect. 4.1: equal spheres on top of each other on the ground, first
/// with zero overlap, which sink into each other under their weight. Table 1's parameters; nu is
/// not printed there and ours. Spheres do not rotate, and impacts have no stage of their own: steps
/// of 5 ms under gravity stay below the paper's threshold of 0.05 m/s.
struct ColumnOptions {
  std::size_t spheres = 25;
  double diameter = 0.013;   ///< m
  double density = 3700;     ///< kg/m^3
  SphereModel model;         ///< elastic
  double rest_speed = 1e-5;  ///< m/s, largest speed of a column at rest
  double longest_time = 20;  ///< s, simulated
  ColumnOptions();
};

/// The height of the column at rest by Hertz's law, m: the top of the uppermost sphere.
double column_height(const ColumnOptions& options);

/// Consecutive accurate steps as a sequence, from the time sequence.from on, or at rest.
std::vector<ContactProblem> generate_column(const ColumnOptions& options,
                                            const SequenceOptions& sequence, StepSolver& accurate);

/// Where the solver of a step starts.
struct StepStart {
  std::string guess;  ///< "previous", "hertz", or "" for zero
  double factor = 1;
};

/// A whole simulation with a step solver that may be inaccurate.
struct ColumnRun {
  double height = 0;  ///< m, at the end
  double error = 0;   ///< (l - height) / l with the height l of column_height(), Wang 2016 eq. 12
  double time = 0;    ///< s, simulated
  double speed = 0;   ///< m/s, of the fastest sphere at the end
  bool at_rest = false;
};

/// Simulates the column until it is at rest, or for the longest time; a column at rest has been
/// slower than rest_speed for 0.1 s. A simulation that diverges has NaN for height and error.
ColumnRun simulate_column(const ColumnOptions& options, const StepStart& start,
                          const StepAccuracy& accuracy, StepSolver& solver);

}  // namespace ccp
