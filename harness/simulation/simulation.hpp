#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/run/provenance.hpp"
#include "harness/simulation/measured_solver.hpp"
#include "problems/dynamics/stepper_table.hpp"
#include "problems/formats/trajectory_file.hpp"
#include "problems/scenes/scene_file.hpp"
#include "problems/scenes/scene_table.hpp"

namespace ccp {

/// What a simulation is asked for. All but `until` and `every` decide on its bits.
struct SimulationRequest {
  std::string scene;            ///< id[option=value,...], or a scene file (YAML)
  std::string stepper, solver;  ///< "": the scene's
  /// Of the solver: cold, a guess of the steps, NAME*FACTOR, or Wang 2016's
  /// history[beta=0.85,rows=all,velocity=true]
  std::string start = "previous";
  /// A trajectory in whose last frame the bodies begin, at time zero; "": where the scene has them.
  std::string from;
  double dt = 0;           ///< s; 0: the scene's
  double until = 0;        ///< s; 0: the scene's
  double residual = 1e-8;  ///< of every solve; infinity: what the solver itself does
  /// The papers' max(cost, feas) of every solve, SI units; of solvers of the convex law
  double error = std::numeric_limits<double>::infinity();
  int iterations = 100000;        ///< outer iterations of a solve, at most
  bool fixed_iterations = false;  ///< every solve takes that many, and nobody looks on the way
  std::set<long> row_residuals;   ///< steps (from 0) whose rows are looked at in every iteration
  int every = 0;                  ///< steps between frames; 0: as many as make some 300,000 bodies
  /// Folder where frames are kept until a file is written; "": the system's for such files.
  std::string aside;
};

/// How a simulation ended.
enum class SimulationEnd { running, finished, diverged };

/// A step whose contact problem was not solved to what was asked for.
struct UnsolvedStep {
  long step = 0;        ///< counted from 0
  double time = 0;      ///< s, at its end
  double residual = 0;  ///< what the referee found, by the solver's law
  double error = 0;     ///< the papers' measure; NaN where it was not asked for
  std::string status;   ///< how the solver ended
  std::string message;  ///< what it said beside that; empty for steps before a resume
  /// "step 3 at 0.02 s: residual 1.2e-4, 1e-8 asked for; vipm ended as stagnated: ..."
  std::string text(const SimulationRequest& asked) const;
};

/// A scene with a stepper and a solver, step by step, with everything a trajectory keeps.
class Simulation {
 public:
  /// @throws InputError for a scene, options, a stepper or a solver that cannot be, bodies that
  ///         cannot be, and a solver whose law is not the stepper's
  explicit Simulation(const SimulationRequest& request);

  /// Makes a step. @return the step that was made
  /// @throws InputError for what makes a step impossible (a motion that jumps, a step too large)
  const Step& step();
  SimulationEnd state() const { return state_; }
  /// Which body diverged in which step, and how fast it was.
  const std::string& complaint() const { return complaint_; }

  long steps_made() const { return static_cast<long>(trajectory_.steps()); }
  long steps_asked() const { return steps_asked_; }
  /// Without the states of its frames.
  const Trajectory& trajectory() const { return trajectory_; }
  const FrameArrays& frames() const { return frames_; }
  const Bodies& bodies() const { return bodies_; }
  SceneValues values() const;
  /// Steps whose residual, or error, is above the one asked for.
  long unsolved() const { return unsolved_; }
  /// The first of them, and the one with the largest residual; none where unsolved() is 0.
  const std::optional<UnsolvedStep>& first_unsolved() const { return first_unsolved_; }
  const std::optional<UnsolvedStep>& worst_unsolved() const { return worst_unsolved_; }
  const SimulationRequest& request() const { return request_; }
  double energy_first() const { return energy_first_; }

  /// Keeps the bodies as they are as the last frame, if they are not yet.
  void keep_last_frame();

  /// Writes the trajectory so far. @param more  see write_trajectory()
  void write(const std::string& path, bool overwrite,
             const std::function<void(Hdf5File&)>& more = {}) const {
    write_trajectory(path, trajectory_, overwrite, more, &frames_);
  }
  /// The same and what going on needs; an older file of that name is replaced.
  void write_checkpoint(const std::string& path) const;
  /// Goes on where write_checkpoint() was. @throws InputError for a file that is no checkpoint, or
  /// one of another simulation: what differs
  void resume(const std::string& path);

  void set_provenance(const Provenance& provenance) {
    trajectory_.provenance = provenance.entries();
  }

 private:
  void set_scene();
  /// @throws InputError for a trajectory of other bodies
  void take_bodies(const std::string& path);
  /// @throws InputError for what cannot be with pseudo-rigid bodies
  void check_deforms() const;
  StepAccuracy asked() const;
  void keep_unsolved(const UnsolvedStep& step);
  void keep_frame();
  void keep_row_residuals(const ContactProblem& problem, long outer,
                          const std::vector<double>& gamma);
  std::vector<std::pair<std::string, std::string>> key() const;

  SimulationRequest request_;
  std::unique_ptr<Scene> scene_;  ///< what setup_.values may look at; null for scene files
  SceneSetup setup_;
  std::unique_ptr<Stepper> stepper_;
  std::unique_ptr<MeasuredStepSolver> solver_;
  StepStart start_;
  Bodies bodies_;
  Trajectory trajectory_;
  FrameArrays frames_;
  Step last_;
  long steps_asked_ = 0, every_ = 1, unsolved_ = 0;
  std::optional<UnsolvedStep> first_unsolved_, worst_unsolved_;
  double energy_first_ = 0;
  SimulationEnd state_ = SimulationEnd::running;
  std::string complaint_;
};

}  // namespace ccp
