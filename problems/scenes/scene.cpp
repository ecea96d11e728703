#include "problems/scenes/scene.hpp"

#include "problems/base/error.hpp"

namespace ccp {

ContactProblem Scene::problem(const SceneTools&) {
  throw InputError("this scene makes no single problem");
}

std::vector<ContactProblem> Scene::sequence(const SequenceOptions&, const SceneTools&) {
  throw InputError("this scene makes no sequence");
}

SettlingRun Scene::simulate(const StepStart&, const StepAccuracy&, const SceneTools&) {
  throw InputError("this scene has no simulation");
}

double Scene::height_at_rest() {
  throw InputError("this scene has no height at rest");
}

SceneSetup Scene::setup() {
  throw InputError("this scene has no motion");
}

}  // namespace ccp
