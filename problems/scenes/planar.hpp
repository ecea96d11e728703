#pragma once

#include <memory>
#include <string>

#include "problems/scenes/scene.hpp"

namespace ccp {

/// Scenes in the plane y = 0, above the ground z = 0, moved on by the steps of PlanarStepper; those
/// of the Anitescu slides.
struct PlanarOptions {
  double mu = 0.2;
  double dt = 0.05;     ///< s
  double gravity = 10;  ///< m/s^2
  double slope = 0;     ///< degrees by which the ground falls along x
  int steps = 0;        ///< taken before the problem is frozen
};

/// Spheres of one kind, stacked as a triangle with `rows` of them on the ground, at rest and just
/// touching: rows (rows + 1) / 2 bodies that rotate, rows + 3 rows (rows - 1) / 2 contacts.
struct PyramidOptions {
  PlanarOptions planar;
  int rows = 4;
  double radius = 0.5;  ///< m
  double mass = 1;      ///< kg
  /// Of a solid sphere, 2/5 m r^2, or of a disc, 1/2 m r^2, as the bodies of the slides.
  std::string inertia = "sphere";
  OptionList list();
};

/// One particle of 1 kg that does not rotate, thrown along the ground.
struct ParticleOptions {
  PlanarOptions planar;
  double speed = 1;   ///< m/s, along x at the start
  double height = 0;  ///< m, above the ground at the start
  OptionList list();
};

/// The problem of the time step that follows `steps` others.
/// @param record  called with the start and after every step
/// @throws InputError for options out of range
ContactProblem generate_pyramid(const PyramidOptions& options, StepSolver& solver,
                                const SceneRecorder& record = {});
ContactProblem generate_particle(const ParticleOptions& options, StepSolver& solver,
                                 const SceneRecorder& record = {});

/// Their rows of the table.
std::unique_ptr<Scene> pyramid_scene();
std::unique_ptr<Scene> particle_scene();

}  // namespace ccp
