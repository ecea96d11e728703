#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "problems/base/options.hpp"
#include "problems/dynamics/recording.hpp"
#include "problems/dynamics/step_problem.hpp"
#include "problems/dynamics/stepper.hpp"

namespace ccp {

/// The bodies at the end of a time step.
struct SceneState {
  double time;  ///< s
  const Bodies& bodies;
};
using SceneRecorder = std::function<void(const SceneState&)>;

/// @throws InputError if this machine has not the memory for a scene of so many bodies
void check_size(const std::string& scene, const std::string& option, double bodies);

/// What happens on the way, for progress displays.
struct SceneProgress {
  int step = 0;
  double time = 0;  ///< s, simulated
  std::size_t contacts = 0;
  double max_speed = 0;  ///< m/s
  std::string phase;     ///< what the scene does at present, e.g. "settling"
};

/// A whole simulation, until all is at rest.
struct SettlingRun {
  double height = 0;  ///< m, at the end
  double error = 0;   ///< (l - height) / l with the height l of Scene::height_at_rest()
  double time = 0;    ///< s, simulated
  double speed = 0;   ///< m/s, of the fastest body at the end
  bool at_rest = false;
};

/// Results of a scene by name, in its own words.
using SceneValues = std::vector<std::pair<std::string, double>>;

/// Where a motion starts, what acts, and how it is computed unless told otherwise.
struct SceneSetup {
  Bodies bodies;
  StepModel model;
  std::string stepper = "shake";            ///< of stepper_entries(), with options
  std::string solver = "pgs[law=coulomb]";  ///< of the registry, with options
  double until = 1;                         ///< s
  double fastest = 1e4;  ///< m/s; a body that is faster has left the scene's world
  std::function<SceneValues(const Bodies& end)> values;  ///< empty: none
};

/// What a scene is made with. Solvers are there when the scene's row of the table asks for them.
struct SceneTools {
  StepSolver* solver = nullptr;    ///< of its time steps
  StepSolver* accurate = nullptr;  ///< of the steps of a sequence that are kept
  std::function<void(const SceneProgress&)> progress = {};
  SceneRecorder record = {};  ///< called at the start and after every step
};

/// A scene with its options at their defaults until they are set. It implements what its row of the
/// table says that it can do; the same options, solvers and build give the same bytes.
class Scene {
 public:
  virtual ~Scene() = default;

  /// Bound to this object.
  virtual OptionList options() = 0;

  /// One frozen problem. @throws InputError for options that contradict each other
  virtual ContactProblem problem(const SceneTools& tools);

  /// Consecutive accurate steps, with their solutions as references.
  virtual std::vector<ContactProblem> sequence(const SequenceOptions& sequence,
                                               const SceneTools& tools);

  /// A simulation with a step solver (tools.solver) that may be inaccurate in every step.
  virtual SettlingRun simulate(const StepStart& start, const StepAccuracy& accuracy,
                               const SceneTools& tools);
  /// What the height of a simulation should be by theory, m. @throws InputError for bad options
  virtual double height_at_rest();

  /// The motion of bodies from time zero on. @throws InputError for bad options
  virtual SceneSetup setup();
};

}  // namespace ccp
