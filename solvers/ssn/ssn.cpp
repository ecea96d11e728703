#include "solvers/ssn/ssn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/core/extremes.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/core/smooth_cone.hpp"
#include "solvers/core/vector_kernels.hpp"
#include "solvers/velocity_space/make_system.hpp"
#include "solvers/velocity_space/velocity_solver.hpp"

namespace ccp {

OptionList SsnSolver::options() {
  OptionList list("ssn");
  list_linear_solver(list, options_.linear_solver, options_.factor)
      .choice("preconditioner", options_.preconditioner, VelocitySystem::preconditioners(),
              "of cg; auto: block_ic0, block_ic1 when iterations become many")
      .choice("ordering", options_.ordering, VelocitySystem::orderings(),
              "bodies that block_ic0 eliminates first")
      .number("sigma", options_.sigma, OptionList::Range::positive(),
              "first step of the multipliers, in 3/trace(N_cc)")
      .number("growth", options_.growth, {1}, "of sigma after an update that gained little")
      .number("largest_sigma", options_.largest_sigma, OptionList::Range::positive(),
              "in 3/trace(N_cc)")
      .number("inner_fraction", options_.inner_fraction, {0, 1, true},
              "momentum error per step of the multipliers at which they are updated")
      .number("forcing", options_.forcing, {0, 1, true}, "cg: relative residual of a direction")
      .integer("cg_max_iterations", options_.cg_max_iterations, {1}, "limit per direction")
      .number("tolerance", options_.tolerance, {0}, "stop: own residual (0: never)")
      .integer("max_outer", options_.max_outer, {1}, "limit of Newton steps");
  return options_.rates.add_to(list);
}

void SsnSolver::check_options(const std::vector<std::string>&) const {
  check_factor_library("solver ssn", options_.factor);
}

void SsnSolver::setup(const Problem& problem) {
  problem_ = &problem;
  system_ = nullptr;
  if (problem.shared_delassus().is_assembled() || problem.contacts() == 0) return;
  system_ = make_velocity_system(problem, options_.ordering, options_.preconditioner);
  contacts_ = OrderedContacts(problem, system_->contact_order());
  const int n = problem.contacts();
  sigma_ = DeviceArray<double*>("ccp::Ssn::sigma", n);
  k_ = DeviceArray<Sym3*>("ccp::Ssn::k", n);
  for (VectorView* array : {&gamma_, &p_, &d_, &dd_}) {
    *array = VectorView("ccp::Ssn::contacts", 3 * static_cast<std::size_t>(n));
  }
}

void SsnSolver::set_sigma(double value) const {
  const auto sigma = sigma_, scale = contacts_.scale;
  Kokkos::parallel_for(
      "ccp::Ssn::set_sigma", range(sigma.extent(0)),
      KOKKOS_LAMBDA(const int c) { sigma(c) = value / scale(c); });
}

void SsnSolver::project(const VectorView& values) const {
  const OrderedContacts contacts = contacts_;
  Kokkos::parallel_for(
      "ccp::Ssn::project", range(contacts.size()),
      KOKKOS_LAMBDA(const int c) { store3(values, c, contacts.project(c, load3(values, c))); });
}

/// p = P(gamma - sigma u). @return max_c |p - gamma| / sigma, m/s
double SsnSolver::evaluate() const {
  const OrderedContacts contacts = contacts_;
  const auto sigma = sigma_;
  const auto gamma = gamma_, p = p_, d = d_;
  double largest = 0;
  Kokkos::parallel_reduce(
      "ccp::Ssn::evaluate", range(contacts.size()),
      KOKKOS_LAMBDA(const int c, double& maximum) {
        const Vec3 g = load3(gamma, c), u = load3(d, c) + load3(contacts.r, c);
        const Vec3 next = contacts.project(c, g - sigma(c) * u);
        store3(p, c, next);
        raise(maximum, norm(next - g) / sigma(c));
      },
      Largest(largest));
  return largest;
}

/// K = sigma P'(gamma - sigma u).
void SsnSolver::derivative() const {
  const OrderedContacts contacts = contacts_;
  const auto sigma = sigma_;
  const auto gamma = gamma_, d = d_;
  const auto k = k_;
  Kokkos::parallel_for(
      "ccp::Ssn::derivative", range(contacts.size()), KOKKOS_LAMBDA(const int c) {
        const Vec3 u = load3(d, c) + load3(contacts.r, c);
        const Vec3 at = load3(gamma, c) - sigma(c) * u;
        const auto polar = smooth_polar_projection(at, row3(contacts.normal, c), contacts.mu(c), 0);
        const Sym3& y = polar.gradient;
        const double s = sigma(c);
        k(c) = {s * (1 - y.xx), -s * y.xy, -s * y.xz, s * (1 - y.yy), -s * y.yz, s * (1 - y.zz)};
      });
}

SsnSolver::Trial SsnSolver::look(double t) const {
  const OrderedContacts contacts = contacts_;
  const auto sigma = sigma_;
  const auto gamma = gamma_, p = p_, d = d_, dd = dd_;
  Trial trial;
  Kokkos::parallel_reduce(
      "ccp::Ssn::look", range(contacts.size()),
      KOKKOS_LAMBDA(const int c, double& change, double& slope, double& size) {
        const Vec3 along = load3(dd, c), old = load3(p, c);
        const Vec3 u = load3(d, c) + t * along + load3(contacts.r, c);
        const Vec3 next = contacts.project(c, load3(gamma, c) - sigma(c) * u);
        change += dot(next - old, next + old) / (2 * sigma(c));
        slope -= dot(next, along);
        size += dot(old, old) / (2 * sigma(c));
      },
      Kokkos::Sum<double>(trial.change), Kokkos::Sum<double>(trial.slope),
      Kokkos::Sum<double>(trial.size));
  return trial;
}

/// Armijo's rule on L, whose change is summed from differences; where it drowns in rounding, the
/// slope alone.
double SsnSolver::line_search(const VectorView& z, const VectorView& dz, const VectorView& b,
                              long& trials) const {
  const double zz = 0.5 * vector_kernels::dot(z, z), zdz = vector_kernels::dot(z, dz),
               dzdz = vector_kernels::dot(dz, dz);
  const double start_slope = -vector_kernels::dot(b, dz);
  double t = 1;
  for (int k = 0; k < 40; ++k, t *= 0.5) {
    const Trial trial = look(t);
    ++trials;
    const double own = t * zdz + 0.5 * t * t * dzdz;
    const double change = own + trial.change;
    const double slope = zdz + t * dzdz + trial.slope;
    const bool rounded = std::abs(change) <= 1e-14 * (trial.size + zz);
    if (change <= 1e-4 * t * start_slope ||
        (rounded && std::abs(slope) <= 0.9 * std::abs(start_slope))) {
      return t;
    }
  }
  return 0;
}

Info SsnSolver::solve(Vector& gamma, Observer& observer) {
  Info info;
  info.own_residual_name = "max(|dgamma|/sigma, momentum error)/q";
  if (problem_->contacts() == 0) {
    info.status = Status::converged;
    return info;
  }
  if (!system_) {
    info.status = Status::unsupported;
    info.message = "needs masses and contact frames; the problem has only its assembled N";
    return info;
  }
  VelocitySolver::Options linear_options;
  linear_options.method = options_.linear_solver;
  linear_options.max_iterations = options_.cg_max_iterations;
  linear_options.rates = options_.rates;
  linear_options.factor = options_.factor;
  VelocitySolver linear(linear_options, *system_, observer, info);
  const std::size_t unknowns = system_->size();
  const auto dz_vector = Teuchos::rcp(new Vector(system_->map(), 1)),
             b_vector = Teuchos::rcp(new Vector(system_->map(), 1));
  const VectorView dz = read_write_view(*dz_vector), b = read_write_view(*b_vector);
  const VectorView z("ccp::Ssn::z", unknowns);
  const auto write_gamma = [&](Vector& out) { contacts_.write(*problem_, p_, out); };
  const auto finish = [&](Status status, const std::string& message = "") {
    write_gamma(gamma);
    info.message = message;
    info.status = confirmed(status, *problem_, law(), gamma, options_.tolerance, info.message);
    return info;
  };
  using Outcome = VelocitySolver::Outcome;

  contacts_.take_free_velocity(*problem_);
  // The guess, and the velocities that it gives to the bodies.
  problem_->to_world_axes(read_view(gamma), d_);
  contacts_.gather(d_, gamma_);
  project(gamma_);
  system_->load(gamma_, z);
  double sigma = options_.sigma, last_step = std::numeric_limits<double>::infinity();
  set_sigma(sigma);
  long updates = 0;

  while (true) {
    system_->contact_velocities(z, d_);
    const double step = evaluate();
    system_->load(p_, b);
    vector_kernels::add(1, b, -1, z, b);  // E^T p - z, the momentum error
    const double unbalanced = system_->speed(b);
    info.own_residual = std::max(step, unbalanced) / contacts_.q;
    if (!std::isfinite(info.own_residual)) {
      return finish(Status::numerical_error, "iterate became NaN");
    }
    if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
      return finish(Status::stopped_by_observer);
    }
    if (info.own_residual <= options_.tolerance) return finish(Status::converged);
    if (info.counters.outer >= options_.max_outer || updates >= 20L * options_.max_outer) {
      return finish(Status::max_iterations);
    }
    if (unbalanced <= options_.inner_fraction * step) {
      Kokkos::deep_copy(gamma_, p_);
      ++updates;
      if (step > last_step / options_.growth && sigma < options_.largest_sigma) {
        sigma = std::min(sigma * options_.growth, options_.largest_sigma);
        set_sigma(sigma);
      }
      last_step = step;
      continue;
    }

    derivative();
    system_->assemble(k_);
    linear.matrix_changed();
    if (on_system) on_system(system_->pose(info.counters.outer, b_vector));
    Kokkos::deep_copy(dz, 0.0);
    const Outcome outcome = linear.solve(b_vector, dz_vector, options_.forcing * unbalanced);
    if (outcome != Outcome::solved) {
      const auto end = linear.give_up(outcome, write_gamma);
      return finish(end.status, end.message);
    }
    system_->contact_velocities(dz, dd_);
    ++info.counters.outer;

    const double t = line_search(z, dz, b, info.counters.projections);
    if (t == 0) return finish(Status::stagnated, "no step lowers the augmented Lagrangian");
    vector_kernels::add(1, z, t, dz, z);
  }
}

}  // namespace ccp
