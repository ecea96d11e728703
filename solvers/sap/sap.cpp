#include "solvers/sap/sap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/core/extremes.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/core/vector_kernels.hpp"
#include "solvers/velocity_space/make_system.hpp"
#include "solvers/velocity_space/velocity_solver.hpp"

namespace ccp {
namespace {

using sap::YieldingContact;

/// The contacts in the order of the system, with what they yield.
struct YieldingContacts {
  OrderedContacts contacts;
  DeviceArray<const double* [2]> sigma;

  KOKKOS_INLINE_FUNCTION YieldingContact operator()(int c) const {
    return {row3(contacts.normal, c), contacts.mu(c), sigma(c, 0), sigma(c, 1)};
  }
};

/// The first contact that is rigid in some direction; -1: none is.
int first_rigid_contact(const ContactProblem& problem) {
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    if (!problem.is_compliant() ||
        !(problem.compliance[2 * c] > 0 && problem.compliance[2 * c + 1] > 0)) {
      return static_cast<int>(c);
    }
  }
  return -1;
}

}  // namespace

OptionList SapSolver::options() {
  OptionList list("sap");
  return list_linear_solver(list, options_.linear_solver, options_.factor)
      .choice("preconditioner", options_.preconditioner, VelocitySystem::preconditioners(),
              "of cg; auto: block_ic0, block_ic1 when iterations become many")
      .choice("ordering", options_.ordering, VelocitySystem::orderings(),
              "bodies that block_ic0 eliminates first")
      .number("forcing", options_.forcing, {0, 1, true}, "cg: relative residual of a direction")
      .integer("cg_max_iterations", options_.cg_max_iterations, {1}, "limit per direction")
      .number("slope", options_.slope, {0, 1, true, true},
              "the line search ends where the slope is this part of its first")
      .number("tolerance", options_.tolerance, {0}, "stop: own residual (0: never)")
      .integer("max_outer", options_.max_outer, {1}, "limit of Newton steps");
}

std::string SapSolver::why_unsupported(const ContactProblem& problem) const {
  if (problem.form != ContactProblem::Form::bodies) {
    return "sap needs masses and contact frames; the problem has only its assembled N";
  }
  const int contact = first_rigid_contact(problem);
  return contact < 0 ? ""
                     : fmt::format(
                           "contact {} is rigid: sap needs a compliance above 0 in every "
                           "direction of every contact",
                           contact);
}

void SapSolver::check_options(const std::vector<std::string>&) const {
  check_factor_library("solver sap", options_.factor);
}

void SapSolver::setup(const Problem& problem) {
  problem_ = &problem;
  system_ = nullptr;
  if (problem.contacts() == 0 || !why_unsupported(problem.host()).empty()) return;
  system_ = make_velocity_system(problem, options_.ordering, options_.preconditioner);
  contacts_ = OrderedContacts(problem, system_->contact_order());
  const int n = problem.contacts();
  sigma_ = DeviceArray<double* [2]>("ccp::Sap::sigma", n);
  k_ = DeviceArray<Sym3*>("ccp::Sap::k", n);
  for (VectorView* array : {&gamma_, &d_, &dd_}) {
    *array = VectorView("ccp::Sap::contacts", 3 * static_cast<std::size_t>(n));
  }
  gather_compliance();
}

void SapSolver::gather_compliance() const {
  const auto order = contacts_.order;
  const auto from = problem_->shared_delassus().constraints().compliance();
  const auto sigma = sigma_;
  Kokkos::parallel_for(
      "ccp::Sap::gather_compliance", range(sigma.extent(0)), KOKKOS_LAMBDA(const int c) {
        for (int k = 0; k < 2; ++k) sigma(c, k) = from(order(c), k);
      });
}

void SapSolver::project(const VectorView& values) const {
  const OrderedContacts contacts = contacts_;
  Kokkos::parallel_for(
      "ccp::Sap::project", range(contacts.size()),
      KOKKOS_LAMBDA(const int c) { store3(values, c, contacts.project(c, load3(values, c))); });
}

/// gamma at z.
void SapSolver::evaluate() const {
  const YieldingContacts contacts{contacts_, sigma_};
  const auto gamma = gamma_, d = d_, r = contacts_.r;
  Kokkos::parallel_for(
      "ccp::Sap::evaluate", range(contacts_.size()), KOKKOS_LAMBDA(const int c) {
        store3(gamma, c, contacts(c).impulse(load3(d, c) + load3(r, c)));
      });
}

/// G at z.
void SapSolver::derivative() const {
  const YieldingContacts contacts{contacts_, sigma_};
  const auto d = d_, r = contacts_.r;
  const auto k = k_;
  Kokkos::parallel_for(
      "ccp::Sap::derivative", range(contacts_.size()),
      KOKKOS_LAMBDA(const int c) { k(c) = contacts(c).stiffness(load3(d, c) + load3(r, c)); });
}

SapSolver::Trial SapSolver::look(double t) const {
  const YieldingContacts contacts{contacts_, sigma_};
  const auto d = d_, dd = dd_, r = contacts_.r;
  Trial trial;
  Kokkos::parallel_reduce(
      "ccp::Sap::look", range(contacts_.size()),
      KOKKOS_LAMBDA(const int c, double& slope, double& curvature) {
        const YieldingContact contact = contacts(c);
        const Vec3 along = load3(dd, c);
        const Vec3 u = load3(d, c) + t * along + load3(r, c);
        slope -= dot(contact.impulse(u), along);
        curvature += weighted_square(contact.stiffness(u), along);
      },
      Kokkos::Sum<double>(trial.slope), Kokkos::Sum<double>(trial.curvature));
  return trial;
}

/// The root of the slope, which grows with t, by Newton's method between the bounds that the signs
/// of the slopes give.
double SapSolver::line_search(const VectorView& z, const VectorView& dz, double start_slope,
                              long& trials) const {
  constexpr int most = 60;
  const double zdz = vector_kernels::dot(z, dz), dzdz = vector_kernels::dot(dz, dz);
  double low = 0, high = std::numeric_limits<double>::infinity(), t = 1;
  for (int k = 0; k < most; ++k) {
    const Trial trial = look(t);
    ++trials;
    const double slope = zdz + t * dzdz + trial.slope;
    if (std::abs(slope) <= options_.slope * std::abs(start_slope)) break;
    (slope < 0 ? low : high) = t;
    const double newton = t - slope / (dzdz + trial.curvature);
    if (newton > low && newton < high) {
      t = newton;
    } else {
      t = std::isfinite(high) ? 0.5 * (low + high) : 2 * t;
    }
    if (high - low <= 1e-15 * high) break;  // rounding
  }
  return t;
}

/// The terms of `residual` at gamma. @param d  N gamma without Sigma gamma, m/s
double SapSolver::residual(const ConstVectorView& d) const {
  const YieldingContacts contacts{contacts_, sigma_};
  const auto gamma = gamma_, r = contacts_.r;
  double dual = 0, work = 0;
  Kokkos::parallel_reduce(
      "ccp::Sap::residual", range(contacts_.size()),
      KOKKOS_LAMBDA(const int c, double& largest, double& sum) {
        const YieldingContact contact = contacts(c);
        const Vec3 g = load3(gamma, c);
        const Vec3 v =
            load3(d, c) + load3(r, c) + stretch(contact.along, contact.across, g, contact.normal);
        const Split part = split(v, contact.normal);
        raise(largest, distance_to_dual_cone(part.n, part.size, contact.mu));
        sum += dot(g, v);
      },
      Largest(dual), Kokkos::Sum<double>(work));
  const double q = contacts_.q, s = problem_->delassus_scale();
  return std::max(dual / q, std::abs(work) * s / (contacts_.size() * q * q));
}

Info SapSolver::solve(Vector& gamma, Observer& observer) {
  Info info;
  info.own_residual_name = "max(dual, complementarity)";
  if (problem_->contacts() == 0) {
    info.status = Status::converged;
    return info;
  }
  if (!system_) {
    info.status = Status::unsupported;
    info.message = why_unsupported(problem_->host());
    return info;
  }
  contacts_.take_free_velocity(*problem_);
  VelocitySolver::Options linear_options;
  linear_options.method = options_.linear_solver;
  linear_options.max_iterations = options_.cg_max_iterations;
  linear_options.factor = options_.factor;
  VelocitySolver linear(linear_options, *system_, observer, info);
  const std::size_t unknowns = system_->size();
  const auto dz_vector = Teuchos::rcp(new Vector(system_->map(), 1)),
             b_vector = Teuchos::rcp(new Vector(system_->map(), 1));
  const VectorView dz = read_write_view(*dz_vector), b = read_write_view(*b_vector);
  const VectorView z("ccp::Sap::z", unknowns);
  const auto write_gamma = [&](Vector& out) { contacts_.write(*problem_, gamma_, out); };
  const auto finish = [&](Status status, const std::string& message = "") {
    write_gamma(gamma);
    info.message = message;
    info.status = confirmed(status, *problem_, law(), gamma, options_.tolerance, info.message);
    return info;
  };
  using Outcome = VelocitySolver::Outcome;

  // The velocities that the guess gives to the bodies.
  problem_->to_world_axes(read_view(gamma), d_);
  contacts_.gather(d_, gamma_);
  project(gamma_);
  system_->load(gamma_, z);

  while (true) {
    system_->contact_velocities(z, d_);
    evaluate();
    system_->load(gamma_, b);
    system_->contact_velocities(b, dd_);
    info.own_residual = residual(dd_);
    vector_kernels::add(1, b, -1, z, b);  // E^T gamma - z, the momentum error
    if (!std::isfinite(info.own_residual)) {
      return finish(Status::numerical_error, "iterate became NaN");
    }
    if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
      return finish(Status::stopped_by_observer);
    }
    if (info.own_residual <= options_.tolerance) return finish(Status::converged);
    if (info.counters.outer >= options_.max_outer) return finish(Status::max_iterations);

    derivative();
    system_->assemble(k_);
    linear.matrix_changed();
    if (on_system) on_system(system_->pose(info.counters.outer, b_vector));
    Kokkos::deep_copy(dz, 0.0);
    const Outcome outcome = linear.solve(b_vector, dz_vector, options_.forcing * system_->speed(b));
    if (outcome != Outcome::solved) {
      const auto end = linear.give_up(outcome, write_gamma);
      return finish(end.status, end.message);
    }
    system_->contact_velocities(dz, dd_);
    ++info.counters.outer;

    const double slope = -vector_kernels::dot(b, dz);
    if (!(slope < 0)) return finish(Status::stagnated, "no direction lowers the energy");
    const double t = line_search(z, dz, slope, info.counters.projections);
    vector_kernels::add(1, z, t, dz, z);
  }
}

}  // namespace ccp
