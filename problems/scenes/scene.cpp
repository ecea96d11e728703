#include "problems/scenes/scene.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "problems/base/error.hpp"

namespace ccp {

void check_size(const std::string& scene, const std::string& option, double bodies) {
  constexpr double each = 1800;  // bytes, between piles of 200 and 800 spheres
  constexpr double gigabyte = 1e9;
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (bodies * each <= memory) return;
  throw InputError(
      "scene " + scene, "option " + option,
      fmt::format("at most some {:.0f} bodies, for {:.3g} GB of memory", memory / each,
                  memory / gigabyte),
      fmt::format("{:.0f}, which need about {:.3g} GB", bodies, bodies * each / gigabyte));
}

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
