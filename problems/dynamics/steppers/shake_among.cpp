#include "problems/dynamics/steppers/shake_among.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "problems/base/error.hpp"

namespace ccp {

void add_sphere(Spheres& to, const Spheres& from, std::size_t i, double x, double y) {
  const double* p = &from.position[3 * i];
  to.position.insert(to.position.end(), {p[0] + x, p[1] + y, p[2]});
  to.velocity.insert(to.velocity.end(), &from.velocity[3 * i], &from.velocity[3 * i] + 3);
  to.radius.push_back(from.radius[i]);
  to.mass.push_back(from.mass[i]);
}

void add_spheres(Spheres& to, const Spheres& from, double x, double y) {
  for (std::size_t i = 0; i < from.count(); ++i) add_sphere(to, from, i, x, y);
}

std::pair<std::vector<std::int32_t>, Spheres> copies_across(const Spheres& spheres, double period,
                                                            double reach) {
  std::pair<std::vector<std::int32_t>, Spheres> copies;
  const double border = 0.5 * period + reach;
  for (std::size_t i = 0; i < spheres.count(); ++i) {
    for (int dx = -1; dx <= 1; ++dx) {
      for (int dy = -1; dy <= 1; ++dy) {
        const double x = dx * period, y = dy * period;
        if ((dx == 0 && dy == 0) || std::abs(spheres.position[3 * i] + x) > border ||
            std::abs(spheres.position[3 * i + 1] + y) > border) {
          continue;
        }
        copies.first.push_back(static_cast<std::int32_t>(i));
        add_sphere(copies.second, spheres, i, x, y);
      }
    }
  }
  return copies;
}

ShakeAmong::ShakeAmong(const ShakeOptions& options, Surroundings around)
    : ShakeStepper(options), around_(std::move(around)) {
  if (around_.period > 0 && around_.period < 2 * around_.reach) {
    throw InputError("a world that repeats", "period", fmt::format(">= {:g} m", 2 * around_.reach),
                     fmt::format("{:g} m", around_.period));
  }
}

ContactProblem ShakeAmong::problem(const Bodies& bodies) const {
  // Held spheres come first, so that they are side A of their contacts as the ground is; then those
  // that move, then copies of either.
  Spheres all = around_.held;
  const auto held = static_cast<std::int32_t>(all.count());
  add_spheres(all, bodies.spheres());
  const auto own = static_cast<std::int32_t>(all.count());
  std::vector<std::int32_t> original;
  if (around_.period > 0) {
    auto [of, copies] = copies_across(all, around_.period, around_.reach);
    original = std::move(of);
    add_spheres(all, copies);
  }
  const auto original_of = [&](std::int32_t i) {
    return i < own ? i : original[static_cast<std::size_t>(i - own)];
  };
  std::vector<Candidate> candidates;
  for (const Candidate& found : search(all)) {
    // Of a pair across the border both sides have a copy of the other: the one with a < b stays. A
    // held sphere that is a copy is above the moving one, and never listed as A.
    const std::int32_t a = found.a, b = original_of(found.b);
    if (a >= own || (a < 0 && found.b >= own)) continue;
    if (found.b >= own && a >= b) continue;
    if (b < held) continue;
    candidates.push_back(found);
  }
  std::sort(candidates.begin(), candidates.end(), [&](const Candidate& x, const Candidate& y) {
    return x.a != y.a ? x.a < y.a : original_of(x.b) < original_of(y.b);
  });
  ContactProblem step = sphere_problem(all, candidates, model());
  step.identity.reserve(step.contacts());
  for (std::size_t c = 0; c < step.contacts(); ++c) {
    std::int32_t &a = step.contact_bodies[2 * c], &b = step.contact_bodies[2 * c + 1];
    b = original_of(b);
    step.identity.push_back(pair_identity(a, b));
    b -= held;
    if (a >= held) {
      a -= held;
      continue;
    }
    if (a < 0) continue;
    a = -1;  // gravity accelerates one side of the contact only, as of one with the ground
    for (int row = 0; row < 3; ++row) {
      for (int k = 0; k < 3; ++k) {
        step.r[3 * c + row] += step.frame[9 * c + 3 * row + k] * step.dt * step.gravity[k];
      }
    }
  }
  const auto keep_moving = [&](std::vector<double>& data, std::size_t width) {
    data.erase(data.begin() + static_cast<std::ptrdiff_t>(width) * own, data.end());
    data.erase(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(width) * held);
  };
  keep_moving(step.position, 3);
  keep_moving(step.velocity, 6);
  keep_moving(step.radius, 1);
  keep_moving(step.inverse_mass, 1);
  return step;
}

double ShakeAmong::finish(Bodies& bodies, const ContactProblem& problem,
                          const std::vector<double>& gamma) {
  const double speed = ShakeStepper::finish(bodies, problem, gamma);
  if (around_.period > 0) {
    for (std::size_t i = 0; i < bodies.count(); ++i) {
      for (int k = 0; k < 2; ++k) {
        double& x = bodies.position[3 * i + k];
        x -= around_.period * std::round(x / around_.period);
      }
    }
  }
  return speed;
}

}  // namespace ccp
