#include "problems/geometry/sphere_contacts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/base/pi.hpp"
#include "problems/geometry/sphere_pairs.hpp"
#include "problems/model/frame.hpp"

namespace ccp {

OptionList hertz_options(HertzModel& hertz, const std::string& young, OptionList::Range range,
                         const std::string& help) {
  using Range = OptionList::Range;
  return OptionList("of elastic contacts", "model")
      .number(young, hertz.young, range, help)
      .number("poisson", hertz.poisson, {-1, 1, true, true}, "Poisson's ratio of elastic contacts")
      .number("relaxation_steps", hertz.relaxation_steps, Range::at_least(0),
              "Steps in which overlaps of elastic contacts decay")
      .number("smallest_overlap", hertz.smallest_overlap, Range::positive(),
              "Overlap below which the stiffness of elastic contacts stays the same, m")
      .number("tangential_damping", hertz.tangential, Range::positive(),
              "gamma_t of elastic contacts, s/kg");
}

double hertz_stiffness(const HertzModel& model, double radius_a, double radius_b) {
  const double reduced = radius_a > 0 ? radius_a * radius_b / (radius_a + radius_b) : radius_b;
  return model.young * std::sqrt(reduced) / (3 * (1 - model.poisson * model.poisson));
}

void make_elastic(const HertzModel& hertz, double dt, double stiffness, double overlap, double own,
                  double approach, double* compliance, double& r_n) {
  constexpr double exponent = 1.25;  // e_H
  const double tau = std::max(hertz.relaxation_steps * dt, hertz.damping / exponent);
  const double upsilon = 1 / (1 + 4 * tau / dt);
  const double firm = std::max(overlap, hertz.smallest_overlap);
  compliance[0] = 3.2 * upsilon / (dt * dt * stiffness * std::sqrt(firm));
  compliance[1] = hertz.tangential / dt;
  r_n = own - upsilon * approach - 3.2 * upsilon / dt * overlap;
}

ContactProblem sphere_problem(const Spheres& spheres, const std::vector<Candidate>& candidates,
                              const SphereModel& model) {
  const std::size_t m = spheres.count(), n = candidates.size();
  ContactProblem problem;
  problem.form = ContactProblem::Form::bodies;
  problem.dt = model.dt;
  problem.gravity = model.gravity;
  problem.position = spheres.position;
  problem.radius = spheres.radius;
  problem.inverse_mass.resize(m);
  problem.velocity.assign(6 * m, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    problem.inverse_mass[i] = 1.0 / spheres.mass[i];
    std::copy_n(&spheres.velocity[3 * i], 3, &problem.velocity[6 * i]);
  }
  problem.contact_bodies.resize(2 * n);
  problem.frame.resize(9 * n);
  problem.gap.resize(n);
  problem.r.resize(3 * n);
  problem.mu.assign(n, model.mu);
  if (model.young > 0) problem.stiffness.resize(2 * n);
  if (model.hertz.young > 0) problem.compliance.resize(2 * n);

  for (std::size_t c = 0; c < n; ++c) {
    const auto [a, b, gap] = candidates[c];
    double* frame = &problem.frame[9 * c];
    double relative[3];  // velocity of B's surface against A's at the end of a step without contact
    const PlacedShape own = spheres.placed(static_cast<std::size_t>(b));
    const Vec3 normal =
        a < 0 ? plane_sphere(ground, own).normal
              : sphere_sphere(spheres.placed(static_cast<std::size_t>(a)), own).normal;
    if (!std::isfinite(normal.x)) {
      throw InputError(
          fmt::format("spheres {} and {} have the same centre: no contact normal", a, b));
    }
    frame[0] = normal.x, frame[1] = normal.y, frame[2] = normal.z;
    complete_frame(frame);
    for (int k = 0; k < 3; ++k) {
      relative[k] = spheres.velocity[3 * b + k];
      // Gravity accelerates both spheres of a pair alike and only one of a ground contact.
      relative[k] += a < 0 ? model.dt * model.gravity[k] : -spheres.velocity[3 * a + k];
    }
    for (int row = 0; row < 3; ++row) {
      const double* axis = frame + 3 * row;
      problem.r[3 * c + row] =
          axis[0] * relative[0] + axis[1] * relative[1] + axis[2] * relative[2];
    }
    if (model.hertz.young > 0) {
      double approach = 0;
      for (int k = 0; k < 3; ++k) {
        approach +=
            frame[k] * (spheres.velocity[3 * b + k] - (a < 0 ? 0 : spheres.velocity[3 * a + k]));
      }
      make_elastic(model.hertz, model.dt,
                   hertz_stiffness(model.hertz, a < 0 ? 0 : spheres.radius[a], spheres.radius[b]),
                   -gap, problem.r[3 * c], approach, &problem.compliance[2 * c], problem.r[3 * c]);
    } else {
      problem.r[3 * c] += gap / model.dt;
    }
    problem.gap[c] = gap;
    problem.contact_bodies[2 * c] = a;
    problem.contact_bodies[2 * c + 1] = b;
    if (model.young > 0) {
      const double radii = spheres.radius[b] + spheres.radius[a < 0 ? b : a];
      const double normal = pi / 4 * model.young * radii;
      const double nu = model.poisson;
      const double ratio = (2 - nu) * (1 + nu) / (2 * (1 - nu * nu));  // k_n / k_t
      problem.stiffness[2 * c] = normal;
      problem.stiffness[2 * c + 1] = normal / ratio;
    }
  }
  return problem;
}

}  // namespace ccp
