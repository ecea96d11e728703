#include "problems/dynamics/deformable_step.hpp"

#include <algorithm>
#include <memory>

#include "problems/base/error.hpp"
#include "problems/model/constraint_math.hpp"
#include "problems/model/incidence.hpp"

namespace ccp {
namespace {

/// What an impulse on a body changes.
struct Change {
  Vec3 velocity, spin;
  Mat3 rate;
};

/// The point p of a body, from its centre: in the world and, of a pseudo-rigid body, in its own
/// axes.
struct Arm {
  Vec3 world, own;
};

/// M^-1 of bodies as they are.
class Mobility {
 public:
  Mobility(const Bodies& bodies, double dt) : bodies_(bodies), inertia_(bodies.count()) {
    for (std::size_t i = 0; i < bodies.count(); ++i) {
      if (!bodies.deforms(i)) continue;
      const Mat3 f = bodies.deformation_of(i);
      inertia_[i] = std::make_unique<ImplicitInertia>(bodies.elastic[i], f, dt);
    }
  }

  Change change(std::size_t i, const Arm& arm, const Vec3& impulse) const {
    Change made;
    const Vec3 axis = triple(bodies_.axis, i);
    made.velocity = 1 / bodies_.mass[i] *
                    (bodies_.kind[i] == BodyKind::wall ? dot(axis, impulse) * axis : impulse);
    if (inertia_[i]) {
      made.rate = inertia_[i]->solve(outer(impulse, arm.own));
    } else {
      made.spin = spin_from(bodies_, i, bodies_.turned(i), cross(arm.world, impulse));
    }
    return made;
  }

 private:
  const Bodies& bodies_;
  std::vector<std::unique_ptr<ImplicitInertia>> inertia_;
};

Vec3 velocity_at(const Change& change, const Arm& arm) {
  return change.velocity + cross(change.spin, arm.world) + change.rate * arm.own;
}

/// [n][2], of the sides of contacts; of what is immovable: zero.
std::vector<Arm> arms_of(const Bodies& bodies, const ContactProblem& problem) {
  std::vector<Arm> arms(2 * problem.contacts());
  for (std::size_t k = 0; k < arms.size(); ++k) {
    const std::int32_t body = problem.contact_bodies[k];
    if (body < 0) continue;
    const auto i = static_cast<std::size_t>(body);
    arms[k].world = triple(k % 2 == 0 ? problem.arm_a : problem.arm_b, k / 2);
    if (bodies.deforms(i)) arms[k].own = inverted(bodies.deformation_of(i)) * arms[k].world;
  }
  return arms;
}

/// What is below the diagonal becomes what is above it: they differ by rounding.
void make_symmetric(BlockMatrix& matrix) {
  for (std::size_t row = 0; row + 1 < matrix.row_offsets.size(); ++row) {
    for (auto k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
      const auto column = static_cast<std::size_t>(matrix.columns[static_cast<std::size_t>(k)]);
      if (column < row) continue;
      const auto begin = matrix.columns.begin() + matrix.row_offsets[column];
      const auto end = matrix.columns.begin() + matrix.row_offsets[column + 1];
      const auto mirrored = static_cast<std::size_t>(
          std::lower_bound(begin, end, static_cast<std::int32_t>(row)) - matrix.columns.begin());
      double* const upper = &matrix.blocks[9 * static_cast<std::size_t>(k)];
      double* const lower = &matrix.blocks[9 * mirrored];
      for (int i = 0; i < 3; ++i) {
        for (int j = column == row ? i : 0; j < 3; ++j) {
          const double mean = 0.5 * (upper[3 * i + j] + lower[3 * j + i]);
          upper[3 * i + j] = lower[3 * j + i] = mean;
        }
      }
    }
  }
}

/// Row c of N: what unit impulses of contact c along its axes do to all contacts, by symmetry.
class RowAssembly {
 public:
  RowAssembly(const Bodies& bodies, const ContactProblem& problem)
      : bodies_(bodies),
        problem_(problem),
        mobility_(bodies, problem.dt),
        arms_(arms_of(bodies, problem)),
        incidence_(incidence_of(problem.contact_bodies, bodies.count())) {}

  BlockMatrix assemble() {
    BlockMatrix matrix;
    matrix.row_offsets.push_back(0);
    for (std::size_t c = 0; c < problem_.contacts(); ++c) {
      const std::size_t first = matrix.columns.size();
      add_columns(c, matrix.columns, first);
      matrix.row_offsets.push_back(static_cast<std::int64_t>(matrix.columns.size()));
      matrix.blocks.resize(9 * matrix.columns.size(), 0.0);
      add_blocks(c, matrix, first);
    }
    make_symmetric(matrix);
    return matrix;
  }

 private:
  template <class Act>
  void for_sides_of_body(std::int32_t body, const Act& act) const {
    for (auto k = incidence_.offset[static_cast<std::size_t>(body)];
         k < incidence_.offset[static_cast<std::size_t>(body) + 1]; ++k) {
      act(static_cast<std::size_t>(incidence_.side[static_cast<std::size_t>(k)]));
    }
  }

  void add_columns(std::size_t c, std::vector<std::int32_t>& columns, std::size_t first) const {
    columns.push_back(static_cast<std::int32_t>(c));
    for (std::size_t side = 2 * c; side < 2 * c + 2; ++side) {
      if (problem_.contact_bodies[side] < 0) continue;
      for_sides_of_body(problem_.contact_bodies[side], [&](std::size_t other) {
        columns.push_back(static_cast<std::int32_t>(other / 2));
      });
    }
    const auto begin = columns.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(begin, columns.end());
    columns.erase(std::unique(begin, columns.end()), columns.end());
  }

  void add_blocks(std::size_t c, BlockMatrix& matrix, std::size_t first) const {
    const auto begin = matrix.columns.begin() + static_cast<std::ptrdiff_t>(first);
    for (std::size_t own = 2 * c; own < 2 * c + 2; ++own) {
      const std::int32_t body = problem_.contact_bodies[own];
      if (body < 0) continue;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const Vec3 impulse = triple(problem_.frame, 3 * c + axis);
        const Change change = mobility_.change(static_cast<std::size_t>(body), arms_[own], impulse);
        for_sides_of_body(body, [&](std::size_t other) {
          const std::size_t d = other / 2;
          const auto at = static_cast<std::size_t>(
              std::lower_bound(begin, matrix.columns.end(), static_cast<std::int32_t>(d)) -
              matrix.columns.begin());
          const Vec3 u = to_contact_axes(&problem_.frame[9 * d], velocity_at(change, arms_[other]));
          const double sign = own % 2 == other % 2 ? 1 : -1;
          double* const row = &matrix.blocks[9 * at + 3 * axis];
          row[0] += sign * u.x, row[1] += sign * u.y, row[2] += sign * u.z;
        });
      }
    }
  }

  const Bodies& bodies_;
  const ContactProblem& problem_;
  Mobility mobility_;
  std::vector<Arm> arms_;
  Incidence incidence_;
};

}  // namespace

std::vector<double> free_deformation_rates(const Bodies& middle, double dt) {
  std::vector<double> rates(9 * middle.count(), 0.0);
  for (std::size_t i = 0; i < middle.count(); ++i) {
    if (!middle.deforms(i)) continue;
    const Elasticity& body = middle.elastic[i];
    const Mat3 f = middle.deformation_of(i), rate = middle.deformation_rate_of(i);
    Mat3 load = internal_force(body, f);
    const Mat3 damped = stiffness_times(body, f, rate);
    for (int k = 0; k < 9; ++k) load[k] = dt * (load[k] - body.damping * damped[k]);
    Mat3 after = ImplicitInertia(body, f, dt).solve(load);
    for (int k = 0; k < 9; ++k) after[k] += rate[k];
    Bodies::set_matrix(rates, i, after);
  }
  return rates;
}

std::vector<double> deforming_velocities(const Bodies& middle, const ContactProblem& problem,
                                         const std::vector<double>& rates) {
  const std::vector<Arm> arms = arms_of(middle, problem);
  std::vector<double> u(3 * problem.contacts(), 0.0);
  for (std::size_t k = 0; k < arms.size(); ++k) {
    const std::int32_t body = problem.contact_bodies[k];
    if (body < 0 || !middle.deforms(static_cast<std::size_t>(body))) continue;
    const Vec3 moves = Bodies::matrix(rates, static_cast<std::size_t>(body)) * arms[k].own;
    const Vec3 seen = to_contact_axes(&problem.frame[9 * (k / 2)], moves);
    set_triple(u, k / 2, triple(u, k / 2) + side_sign(static_cast<int>(k % 2)) * seen);
  }
  return u;
}

void assemble_step(const Bodies& middle, const std::vector<double>& rates,
                   ContactProblem& problem) {
  if (problem.triples() > problem.contacts()) {
    throw InputError("a step with pseudo-rigid bodies", "", "contacts alone",
                     problem.equality.size() > 0 ? "joints" : "rolling resistance");
  }
  const std::vector<double> deforming = deforming_velocities(middle, problem, rates);
  for (std::size_t i = 0; i < deforming.size(); ++i) problem.r[i] += deforming[i];
  problem.delassus = RowAssembly(middle, problem).assemble();
  problem.form = ContactProblem::Form::assembled;
  for (auto* gone : {&problem.inverse_mass, &problem.inverse_inertia, &problem.position,
                     &problem.orientation, &problem.radius, &problem.velocity}) {
    gone->clear();
  }
}

DeformableChange deformable_changes(const Bodies& middle, const ContactProblem& problem,
                                    const std::vector<double>& gamma) {
  const std::vector<Arm> arms = arms_of(middle, problem);
  const Mobility mobility(middle, problem.dt);
  DeformableChange all;
  all.velocity.assign(6 * middle.count(), 0.0);
  all.rate.assign(9 * middle.count(), 0.0);
  for (std::size_t k = 0; k < arms.size(); ++k) {
    const std::int32_t body = problem.contact_bodies[k];
    if (body < 0) continue;
    const auto i = static_cast<std::size_t>(body);
    const Vec3 impulse = side_sign(static_cast<int>(k % 2)) *
                         to_world_axes(&problem.frame[9 * (k / 2)], triple(gamma, k / 2));
    const Change made = mobility.change(i, arms[k], impulse);
    set_triple(all.velocity, 2 * i, triple(all.velocity, 2 * i) + made.velocity);
    set_triple(all.velocity, 2 * i + 1, triple(all.velocity, 2 * i + 1) + made.spin);
    double* const rate = &all.rate[9 * i];
    for (int entry = 0; entry < 9; ++entry) rate[entry] += made.rate[entry];
  }
  for (std::size_t i = 0; i < middle.count(); ++i) {
    if (middle.kind[i] == BodyKind::planar) all.velocity[6 * i + 1] = 0;
  }
  return all;
}

}  // namespace ccp
