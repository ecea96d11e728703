#include "problems/dynamics/steppers/shake.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ccp {
namespace {

SphereModel rigid(SphereModel model) {
  model.hertz.young = 0;
  return model;
}

SphereStepper::Search pushing_at_most(const ShakeOptions& options) {
  if (!std::isfinite(options.max_push)) return options.search;
  return [search = options.search,
          least = -options.max_push * options.model.dt](const Spheres& spheres) {
    std::vector<Candidate> candidates = search(spheres);
    for (Candidate& candidate : candidates) candidate.gap = std::max(candidate.gap, least);
    return candidates;
  };
}

}  // namespace

ShakeStepper::ShakeStepper(const ShakeOptions& options)
    : SphereStepper(rigid(options.model), pushing_at_most(options)), warm_(options.warm) {}

void ShakeStepper::set_options(const ShakeOptions& options) {
  set(rigid(options.model), pushing_at_most(options));
  warm_ = options.warm;
}

std::vector<double> ShakeStepper::own_start(const ContactProblem& problem) const {
  if (!warm_) return SphereStepper::own_start(problem);
  std::vector<double> gamma = memory().recall(problem);
  std::vector<double> velocity(3 * problem.bodies(), 0.0);
  const double curvature = add_impulses(problem, gamma, velocity);
  double slope = 0;
  for (std::size_t i = 0; i < gamma.size(); ++i) slope += problem.r[i] * gamma[i];
  const double length = curvature > 0 ? std::clamp(-slope / curvature, 0.0, 1.0) : 0;
  for (double& g : gamma) g *= length;
  return gamma;
}

}  // namespace ccp
