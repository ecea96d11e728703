#include "problems/geometry/contact_detection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nanoflann.hpp>
#include <numeric>
#include <random>

#include "problems/base/error.hpp"

namespace ccp {
namespace {

/// Sphere centres in the shape nanoflann asks for.
struct Centres {
  const std::vector<double>& position;
  std::size_t kdtree_get_point_count() const { return position.size() / 3; }
  double kdtree_get_pt(std::size_t i, std::size_t axis) const { return position[3 * i + axis]; }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};
using KdTree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Centres>,
                                                   Centres, 3, std::size_t>;

double length(const double* v) {
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

}  // namespace

std::vector<Candidate> find_candidates(const Spheres& spheres, double cutoff, double sweep) {
  std::vector<Candidate> candidates;
  const std::size_t m = spheres.count();
  if (m == 0) return candidates;
  std::vector<double> speed(m);
  for (std::size_t i = 0; i < m; ++i) speed[i] = length(&spheres.velocity[3 * i]);
  for (std::size_t i = 0; i < m; ++i) {
    const double gap = spheres.position[3 * i + 2] - spheres.radius[i];
    const double closing = std::max(0.0, -spheres.velocity[3 * i + 2]);
    if (gap < cutoff + sweep * closing) {
      candidates.push_back({-1, static_cast<std::int32_t>(i), gap});
    }
  }
  const double largest = *std::max_element(spheres.radius.begin(), spheres.radius.end());
  const double fastest = *std::max_element(speed.begin(), speed.end());
  const Centres centres{spheres.position};
  const KdTree tree(3, centres, nanoflann::KDTreeSingleIndexAdaptorParams(16));
  std::vector<std::pair<std::size_t, double>> found;
  nanoflann::SearchParams parameters;
  parameters.sorted = false;
  for (std::size_t i = 0; i < m; ++i) {
    const double reach =
        std::max(0.0, spheres.radius[i] + largest + cutoff + sweep * (speed[i] + fastest));
    found.clear();
    tree.radiusSearch(&spheres.position[3 * i], reach * reach, found, parameters);
    for (const auto& [j, squared] : found) {
      if (j <= i) continue;
      const double distance = std::sqrt(squared);
      const double gap = distance - spheres.radius[i] - spheres.radius[j];
      double closing = 0;  // speed of approach times the distance
      for (int k = 0; k < 3; ++k) {
        closing -= (spheres.velocity[3 * j + k] - spheres.velocity[3 * i + k]) *
                   (spheres.position[3 * j + k] - spheres.position[3 * i + k]);
      }
      if (gap < cutoff + (closing > 0 ? sweep * closing / distance : 0)) {
        candidates.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), gap});
      }
    }
  }
  std::sort(candidates.begin(), candidates.end(), by_bodies);
  return candidates;
}

std::vector<Candidate> nearest_candidates(const Spheres& spheres, std::size_t count) {
  if (count == 0 || spheres.count() == 0) {
    if (count > 0) throw InputError(fmt::format("{} contacts asked for, but no spheres", count));
    return {};
  }
  const double largest = *std::max_element(spheres.radius.begin(), spheres.radius.end());
  std::vector<Candidate> candidates;
  for (const double reach : {0.5, 1.0, 2.0}) {  // gap in largest radii
    candidates = find_candidates(spheres, reach * largest);
    if (candidates.size() >= count) break;
  }
  if (candidates.size() < count) {
    throw InputError(fmt::format("{} contacts asked for, but only {} pairs are within reach", count,
                                 candidates.size()));
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
    return x.gap != y.gap ? x.gap < y.gap : by_bodies(x, y);
  });
  candidates.resize(count);
  std::sort(candidates.begin(), candidates.end(), by_bodies);
  return candidates;
}

void sort_spatially(Spheres& spheres) {
  const std::size_t m = spheres.count();
  if (m == 0) return;
  double low[3], high[3];
  for (int k = 0; k < 3; ++k) low[k] = high[k] = spheres.position[k];
  for (std::size_t i = 0; i < m; ++i) {
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], spheres.position[3 * i + k]);
      high[k] = std::max(high[k], spheres.position[3 * i + k]);
    }
  }
  const double extent = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2], 1e-300});
  constexpr int bits = 20;
  std::vector<std::uint64_t> key(m, 0);
  for (std::size_t i = 0; i < m; ++i) {
    for (int k = 0; k < 3; ++k) {
      const double unit = (spheres.position[3 * i + k] - low[k]) / extent;
      const auto cell = static_cast<std::uint64_t>(unit * ((1 << bits) - 1));
      for (int bit = 0; bit < bits; ++bit) key[i] |= ((cell >> bit) & 1U) << (3 * bit + k);
    }
  }
  std::vector<std::size_t> order(m);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return key[x] < key[y]; });
  const auto permute = [&](std::vector<double>& data, std::size_t width) {
    std::vector<double> sorted(data.size());
    for (std::size_t i = 0; i < m; ++i) {
      std::copy_n(&data[width * order[i]], width, &sorted[width * i]);
    }
    data.swap(sorted);
  };
  permute(spheres.position, 3);
  permute(spheres.velocity, 3);
  permute(spheres.radius, 1);
  permute(spheres.mass, 1);
}

void make_heavier(Spheres& spheres, const HeavySpheres& heavy) {
  if (!(heavy.fraction >= 0 && heavy.fraction <= 1)) {
    throw InputError("heavy spheres", "fraction", "between 0 and 1",
                     fmt::format("{}", heavy.fraction));
  }
  if (!(heavy.mass_ratio > 0)) {
    throw InputError("heavy spheres", "mass ratio", "> 0", fmt::format("{}", heavy.mass_ratio));
  }
  // The first of a random permutation, made the same way on every platform.
  std::mt19937_64 engine(heavy.seed);
  std::vector<std::size_t> order(spheres.count());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto count =
      static_cast<std::size_t>(std::llround(heavy.fraction * static_cast<double>(spheres.count())));
  for (std::size_t k = 0; k < count; ++k) {
    std::swap(order[k], order[k + engine() % (order.size() - k)]);
    spheres.mass[order[k]] *= heavy.mass_ratio;
  }
}

double hertz_stiffness(const HertzModel& model, double radius_a, double radius_b) {
  const double reduced = radius_a > 0 ? radius_a * radius_b / (radius_a + radius_b) : radius_b;
  return model.young * std::sqrt(reduced) / (3 * (1 - model.poisson * model.poisson));
}

namespace {

/// Sigma and r of one elastic contact. @param own  r_n without the overlap, m/s: n.(v + dt g)
/// @param approach  n.v at the start of the step, m/s
void make_elastic(const SphereModel& model, double stiffness, double overlap, double own,
                  double approach, double* compliance, double& r_n) {
  const HertzModel& hertz = model.hertz;
  constexpr double exponent = 1.25;  // e_H
  const double tau = std::max(hertz.relaxation_steps * model.dt, hertz.damping / exponent);
  const double upsilon = 1 / (1 + 4 * tau / model.dt);
  const double firm = std::max(overlap, hertz.smallest_overlap);
  compliance[0] = 3.2 * upsilon / (model.dt * model.dt * stiffness * std::sqrt(firm));
  compliance[1] = hertz.tangential / model.dt;
  r_n = own - upsilon * approach - 3.2 * upsilon / model.dt * overlap;
}

}  // namespace

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
    if (a < 0) {
      frame[0] = 0, frame[1] = 0, frame[2] = 1;
    } else {
      double length = 0;
      for (int k = 0; k < 3; ++k) {
        frame[k] = spheres.position[3 * b + k] - spheres.position[3 * a + k];
        length += frame[k] * frame[k];
      }
      length = std::sqrt(length);
      if (length == 0) {
        throw InputError(
            fmt::format("spheres {} and {} have the same centre: no contact normal", a, b));
      }
      for (int k = 0; k < 3; ++k) frame[k] /= length;
    }
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
      make_elastic(model,
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
      const double normal = std::acos(-1.0) / 4 * model.young * radii;
      const double nu = model.poisson;
      const double ratio = (2 - nu) * (1 + nu) / (2 * (1 - nu * nu));  // k_n / k_t
      problem.stiffness[2 * c] = normal;
      problem.stiffness[2 * c + 1] = normal / ratio;
    }
  }
  return problem;
}

}  // namespace ccp
