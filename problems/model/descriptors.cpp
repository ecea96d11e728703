#include "problems/model/descriptors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ccp {

std::vector<std::pair<std::string, double>> descriptors(const ContactProblem& problem) {
  const double n = static_cast<double>(problem.contacts());
  const double bodies = static_cast<double>(problem.bodies());
  const bool has_bodies = problem.form == ContactProblem::Form::bodies;
  const double freedom = bodies * (problem.rotates() ? 6 : 3);

  double ground = 0;
  std::vector<double> per_body(problem.bodies(), 0);
  for (std::size_t c = 0; c < problem.contact_bodies.size() / 2; ++c) {
    const std::int32_t a = problem.contact_bodies[2 * c], b = problem.contact_bodies[2 * c + 1];
    if (a < 0 || b < 0) ++ground;
    if (a >= 0) ++per_body[static_cast<std::size_t>(a)];
    if (b >= 0) ++per_body[static_cast<std::size_t>(b)];
  }
  const double ends = std::accumulate(per_body.begin(), per_body.end(), 0.0);
  double light = 0, heavy = 0;  // inverse masses of the lightest and the heaviest movable body
  for (const double w : problem.inverse_mass) {
    if (w <= 0) continue;
    light = std::max(light, w);
    heavy = heavy == 0 ? w : std::min(heavy, w);
  }
  const auto [mu_min, mu_max] = std::minmax_element(problem.mu.begin(), problem.mu.end());
  const double r_square =
      std::inner_product(problem.r.begin(), problem.r.end(), problem.r.begin(), 0.0);
  return {
      {"bodies", bodies},
      {"contacts", n},
      {"ground_contacts", ground},
      {"unknowns", 3 * n},
      {"degrees_of_freedom", freedom},
      {"rank_at_most", has_bodies ? std::min(3 * n, freedom) : 3 * n},
      {"mu_min", n > 0 ? *mu_min : 0},
      {"mu_max", n > 0 ? *mu_max : 0},
      {"mass_ratio", heavy > 0 ? light / heavy : 0},
      {"contacts_per_body_mean", bodies > 0 ? ends / bodies : 0},
      {"contacts_per_body_most",
       per_body.empty() ? 0 : *std::max_element(per_body.begin(), per_body.end())},
      {"rms_r", n > 0 ? std::sqrt(r_square / (3 * n)) : 0},
      {"dt", problem.dt},
  };
}

std::vector<std::string> descriptor_names() {
  std::vector<std::string> names;
  for (const auto& [name, value] : descriptors(ContactProblem())) names.push_back(name);
  return names;
}

}  // namespace ccp
