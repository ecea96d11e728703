#include "solvers/ipm/ipm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "solvers/core/extremes.hpp"
#include "solvers/core/scales.hpp"

namespace ccp {
namespace {

/// The cones of all contacts: C = {n >= |t|} about the normal, or the half-line where mu = 0.
struct Cones {
  DeviceArray<const double* [3]> normal;
  DeviceArray<const double*> mu;
  std::size_t size() const { return mu.extent(0); }
};

/// How close a pair (x, y) is to the solution and to the central path.
struct Centrality {
  double dot = 0;    ///< x.y
  double along = 0;  ///< x.d
  double logs =
      0;  ///< sum over contacts of log(4 det x det y), the cone of mu = 0 counted as (x_n y_n)^2
};

Centrality centrality(const Cones& cones, const VectorView& x, const VectorView& y,
                      const VectorView& d) {
  Centrality result;
  const auto normal = cones.normal;
  const auto mu = cones.mu;
  Kokkos::parallel_reduce(
      "ccp::Ipm::centrality", range(cones.size()),
      KOKKOS_LAMBDA(const int c, double& sum, double& along, double& logs) {
        const Vec3 xc = load3(x, c), yc = load3(y, c), n = row3(normal, c);
        const double product = dot(xc, yc);
        sum += product;
        along += dot(xc, load3(d, c));
        logs += mu(c) == 0 ? 2 * log(product) : log(4 * jordan::det(xc, n) * jordan::det(yc, n));
      },
      Kokkos::Sum<double>(result.dot), Kokkos::Sum<double>(result.along),
      Kokkos::Sum<double>(result.logs));
  return result;
}

/// y with x o y = alpha e, that is alpha x^-1.
void central_partner(const Cones& cones, const VectorView& x, double alpha, const VectorView& y) {
  const auto normal = cones.normal;
  const auto mu = cones.mu;
  Kokkos::parallel_for(
      "ccp::Ipm::central_partner", range(cones.size()), KOKKOS_LAMBDA(const int c) {
        const Vec3 xc = load3(x, c), n = row3(normal, c);
        store3(y, c, mu(c) == 0 ? (2 * alpha / dot(xc, n)) * n : alpha * jordan::inverse(xc, n));
      });
}

/// b = alpha x^-1 - y - ds d.
void newton_rhs(const Cones& cones, const VectorView& x, const VectorView& y, const VectorView& d,
                double alpha, double ds, const VectorView& b) {
  central_partner(cones, x, alpha, b);
  Kokkos::parallel_for(
      "ccp::Ipm::newton_rhs", range(b.extent(0)),
      KOKKOS_LAMBDA(const int i) { b(i) -= y(i) + ds * d(i); });
}

/// Largest common theta with x + theta dx and y + theta dy in the cones.
double max_step(const Cones& cones, const VectorView& x, const VectorView& dx, const VectorView& y,
                const VectorView& dy) {
  double theta = 1e300;
  const auto normal = cones.normal;
  const auto mu = cones.mu;
  Kokkos::parallel_reduce(
      "ccp::Ipm::max_step", range(cones.size()),
      KOKKOS_LAMBDA(const int c, double& smallest) {
        const Vec3 xc = load3(x, c), dxc = load3(dx, c), yc = load3(y, c), dyc = load3(dy, c);
        const Vec3 n = row3(normal, c);
        lower(smallest, jordan::max_step(xc, dxc, n, mu(c) == 0));
        lower(smallest, jordan::max_step(yc, dyc, n, mu(c) == 0));
      },
      Smallest(theta));
  return theta;
}

/// z <- z + theta dz.
void advance(const VectorView& z, double theta, const VectorView& dz) {
  Kokkos::parallel_for(
      "ccp::Ipm::advance", range(z.extent(0)),
      KOKKOS_LAMBDA(const int i) { z(i) += theta * dz(i); });
}

/// Whether y - s d lies strictly inside the cones.
bool is_feasible(const Cones& cones, const VectorView& y, const VectorView& d, double s) {
  int outside = 0;
  const auto normal = cones.normal;
  const auto mu = cones.mu;
  Kokkos::parallel_reduce(
      "ccp::Ipm::is_feasible", range(cones.size()),
      KOKKOS_LAMBDA(const int c, int& count) {
        const Vec3 z = load3(y, c) - s * load3(d, c), n = row3(normal, c);
        if (!(mu(c) == 0 ? dot(z, n) > 0 : jordan::is_interior(z, n))) ++count;
      },
      outside);
  return outside == 0;
}

double max_abs(const VectorView& z) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "ccp::Ipm::max_abs", range(z.extent(0)),
      KOKKOS_LAMBDA(const int i, double& maximum) { raise(maximum, fabs(z(i))); },
      Largest(largest));
  return largest;
}

}  // namespace

IpmSolver::IpmSolver() {
  for (const PreconditionerEntry& entry : preconditioner_entries()) {
    preconditioners_[entry.id] = entry.make();
  }
}

OptionList IpmSolver::options() {
  OptionList list("ipm");
  list.choice("krylov", options_.method, newton_methods(),
              "method for the directions: Krylov (Belos), or direct (cholmod, klu2)")
      .choice("preconditioner", options_.preconditioner, preconditioner_ids(),
              "see `ccpbench list preconditioners`")
      .choice("operator", options_.apply, newton_operators(), "who multiplies with A")
      .choice("strategy", options_.strategy, {"path_following", "potential_reduction"},
              "sets the betas: 0.1, 0.5, 1 or 0.01, 0.1, 0.5")
      .number("krylov_tolerance", options_.krylov_tolerance, {0, 1, true},
              "relative residual of the directions")
      .integer("krylov_max_iterations", options_.krylov.max_iterations, {1},
               "limit per direction; the direction is used all the same")
      .integer("gmres_restart", options_.krylov.restart, {1}, "basis size of gmres")
      .number("beta_cen", options_.beta_cen, {0, 1},
              "factor on alpha when f_cen <= alpha_cen (0: the strategy's)")
      .number("beta_1", options_.beta_1, {0, 1},
              "factor on alpha when f_cen <= alpha_1 (0: the strategy's)")
      .number("beta_bd", options_.beta_bd, {0, 1}, "factor on alpha otherwise (0: the strategy's)")
      .number("alpha_cen", options_.alpha_cen, {0}, "bound on f_cen")
      .number("alpha_1", options_.alpha_1, {0}, "bound on f_cen")
      .number("start", options_.start, OptionList::Range::positive(), "x_i = (start, 0, 0), N s")
      .choice("units", options_.units, {"si", "problem"},
              "of start and the tolerances: N s, m/s, J; or q/s, q, q^2/s of the problem")
      .number("step_fraction", options_.step_fraction, {0, 1, true},
              "part of the largest step inside the cones that is taken")
      .number("min_step", options_.min_step, {0, 1}, "a shorter step ends the solve as stagnated")
      .integer("max_outer", options_.max_outer, {1}, "limit of outer iterations")
      .choice("regularization", options_.regularization, {"auto", "elastic", "relative", "none"},
              "R from contact stiffnesses (eqs. 32-33), from trace(N), or none")
      .number("stiffness_factor", options_.stiffness_factor, OptionList::Range::positive(),
              "multiplies the stored stiffnesses")
      .number("relative_regularization", options_.relative_regularization, {0},
              "R = this * trace(N)/3n")
      .number("tol_infeasibility", options_.tol_infeasibility, {0}, "stop: s |d|_inf, m/s")
      .number("tol_cost", options_.tol_cost, {0}, "stop: x.y / n, J");
  for (const std::string& id : preconditioner_ids()) {
    list.include(preconditioners_.at(id)->options());
  }
  return list;
}

void IpmSolver::check_options(const std::vector<std::string>& given) const {
  const bool direct = is_direct_method(options_.method);
  const std::string krylov = "krylov=" + options_.method;
  for (const std::string& name : given) {
    const auto refuse = [&](const std::string& expected) {
      throw InputError("solver ipm", "option " + name, expected, "it beside " + krylov);
    };
    if (name == "gmres_restart" && options_.method != "gmres") refuse("only with krylov=gmres");
    if (!direct) continue;
    if (name == "operator") refuse("only with a Krylov method: a direct one factors A");
    if (name == "krylov_tolerance" || name == "krylov_max_iterations") {
      refuse("only with a Krylov method: a direct one solves to rounding");
    }
  }
  const auto is_given = [&](const std::string& name) {
    return std::find(given.begin(), given.end(), name) != given.end();
  };
  // The default preconditioner stands back for a direct method, one that was asked for does not.
  if (!direct || is_given("preconditioner")) {
    const std::string fault =
        combination_fault(options_.method, preconditioner_entry(options_.preconditioner));
    if (!fault.empty()) {
      throw InputError("solver ipm: preconditioner=" + options_.preconditioner + " with " + krylov +
                       ": " + fault);
    }
  }
  const std::string chosen = direct ? "none" : options_.preconditioner;
  for (const std::string& name : given) {
    std::string owners;
    for (const std::string& id : preconditioner_ids()) {
      if (preconditioners_.at(id)->options().has(name)) owners += (owners.empty() ? "" : ", ") + id;
    }
    if (owners.empty() || preconditioners_.at(chosen)->options().has(name)) continue;
    throw InputError("solver ipm", "option " + name, "only with preconditioner=" + owners,
                     direct ? "it beside " + krylov : "it beside preconditioner=" + chosen);
  }
}

void IpmSolver::setup(const Problem& problem) {
  problem_ = &problem;
  const ContactProblem& host = problem.host();
  const std::size_t n = host.contacts();
  const bool elastic_possible = host.stiffness.size() == 2 * n && host.dt > 0;
  std::string kind = options_.regularization;
  if (kind == "auto") kind = elastic_possible ? "elastic" : "relative";
  if (kind == "elastic" && !elastic_possible) {
    throw InputError("problem " + host.name, "solver ipm, regularization=elastic",
                     "contact stiffnesses and dt in the problem", "none");
  }
  DeviceArray<double* [2]> regularization("ccp::Ipm::regularization", n);
  const auto rho = Kokkos::create_mirror_view(regularization);
  for (std::size_t c = 0; c < n; ++c) {
    for (int k = 0; k < 2; ++k) {
      rho(c, k) = 0;
      if (kind == "elastic") {  // rho = 1 / (dt^2 k), Kleinert 2014 eq. 32
        rho(c, k) = 1 / (host.dt * host.dt * host.stiffness[2 * c + k] * options_.stiffness_factor);
      } else if (kind == "relative") {
        rho(c, k) = options_.relative_regularization * problem.delassus_scale();
      }
    }
  }
  Kokkos::deep_copy(regularization, rho);
  system_ = Teuchos::rcp(new NewtonSystem(problem, regularization));
  newton_.reset();
  if (n == 0) return;
  newton_ = std::make_unique<NewtonSolver>(
      problem, system_, options_.method, options_.krylov, options_.apply,
      preconditioner_entry(options_.preconditioner), preconditioners_.at(options_.preconditioner));
}

double IpmSolver::choose_beta(double f_cen) const {
  const bool path_following = options_.strategy == "path_following";
  const auto pick = [](double given, double standard) { return given > 0 ? given : standard; };
  if (f_cen <= options_.alpha_cen) return pick(options_.beta_cen, path_following ? 0.1 : 0.01);
  if (f_cen <= options_.alpha_1) return pick(options_.beta_1, path_following ? 0.5 : 0.1);
  return pick(options_.beta_bd, path_following ? 1.0 : 0.5);
}

Info IpmSolver::solve(Vector& gamma, Observer& observer) {
  Info info;
  info.own_residual_name = "max(|x.(y - s d)|/n [J], s|d| [m/s])";
  const int n = problem_->contacts();
  if (n == 0) {
    info.status = Status::converged;
    return info;
  }
  const Cones cones{problem_->normal(), problem_->mu()};
  const auto make = [&] { return Teuchos::rcp(new Vector(problem_->map(), 1)); };
  const auto dgamma_vector = make(), b_vector = make();
  const VectorView dgamma = read_write_view(*dgamma_vector), b = read_write_view(*b_vector);
  const std::size_t size = 3 * static_cast<std::size_t>(n);
  const VectorView x("ccp::Ipm::x", size), y("ccp::Ipm::y", size), d("ccp::Ipm::d", size),
      dx("ccp::Ipm::dx", size), dy("ccp::Ipm::dy", size);
  const auto write_gamma = [&](Vector& out) {
    system_->impulse(x, overwrite_view(out));
    problem_->to_contact_axes(read_view(out), overwrite_view(out));
  };
  long restarts = 0;  // of the preconditioner's computation, over the whole solve
  double largest_shift = 0;
  const auto finish = [&](Status status, const std::string& message = "") {
    system_->on_apply = nullptr;  // the observer may not outlive this call
    write_gamma(gamma);
    info.status = status;
    info.message = message;
    if (restarts > 0) {
      if (!message.empty()) info.message += "; ";
      info.message += fmt::format("{}: {} restarts, largest diagonal shift {:.1e}",
                                  options_.preconditioner, restarts, largest_shift);
    }
    return info;
  };

  // A point on the central path of the problem with the artificial variable (Sect. 4.3).
  const bool si = options_.units == "si";
  const double velocity_unit = si ? 1 : velocity_scale(*problem_);
  const double impulse_unit = si ? 1 : velocity_unit / problem_->delassus_scale();
  const double tol_infeasibility = options_.tol_infeasibility * velocity_unit;
  const double tol_cost = options_.tol_cost * velocity_unit * impulse_unit;
  const double start = options_.start * impulse_unit;
  const auto normal = cones.normal;
  Kokkos::parallel_for(
      "ccp::Ipm::start", range(n),
      KOKKOS_LAMBDA(const int c) { store3(x, c, start * row3(normal, c)); });
  system_->velocity(x, y);
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Ipm::initial_alpha", range(n),
      KOKKOS_LAMBDA(const int c, double& total) { total += fabs(dot(load3(x, c), load3(y, c))); },
      sum);
  double alpha = sum / (2.0 * n);   // eq. 34
  if (!(alpha > 0)) alpha = start;  // r + N x happens to vanish: any positive value does
  Kokkos::deep_copy(d, y);
  central_partner(cones, x, alpha, y);
  double s = 2 * alpha;
  const double scale = 1 / s;
  Kokkos::parallel_for(
      "ccp::Ipm::direction_d", range(size),
      KOKKOS_LAMBDA(const int i) { d(i) = scale * (y(i) - d(i)); });
  const double d_norm = max_abs(d);
  bool feasible = false;

  const long preconditioner_before = newton_->preconditioner_applies();
  const long applies_before = system_->applies() - 1;  // the product above counts
  const auto count = [&] {
    info.counters.operator_applies = system_->applies() - applies_before;
    info.counters.preconditioner_applies =
        newton_->preconditioner_applies() - preconditioner_before;
  };
  const char* const setup_timer = newton_->is_direct() ? "factorization" : "preconditioner_setup";
  const char* const solve_timer = newton_->is_direct() ? "direct_solve" : "krylov";
  system_->on_apply = [&observer] {
    if (observer.out_of_time()) throw OutOfTime{};
  };

  while (true) {
    const Centrality now = centrality(cones, x, y, d);
    const double cost = std::abs(now.dot - s * now.along) / n;  // of y - s d, the velocity itself
    info.own_residual = std::max(cost, s * d_norm);
    count();
    if (!std::isfinite(now.dot) || !std::isfinite(now.logs)) {
      return finish(Status::numerical_error, "iterate left the cone or became NaN");
    }
    if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
      return finish(Status::stopped_by_observer);
    }
    if (s * d_norm <= tol_infeasibility && cost <= tol_cost) {
      return finish(Status::converged);
    }
    if (info.counters.outer >= options_.max_outer) {
      return finish(Status::max_iterations);
    }

    // Centring parameter (Sect. 5.1): f_cen is zero on the central path.
    const double terms = feasible ? n : n + 1.0;
    const double total = feasible ? now.dot : now.dot + s;
    const double f_cen =
        2 * terms * std::log(total / terms) - now.logs - (feasible ? 0 : 2 * std::log(s));
    const double beta = choose_beta(f_cen);
    alpha = beta * total / (2 * terms);
    const double ds = feasible ? 0 : 2 * alpha - s;

    newton_rhs(cones, x, y, d, alpha, ds, b);
    system_->scale_rhs(b);
    system_->set_scaling(x, y);
    if (on_newton_step) {
      on_newton_step({*system_, *b_vector, info.counters.outer, alpha, beta, f_cen, s});
    }
    const PreconditionerReport report = newton_->prepare();
    info.timers["assembly"] += newton_->times().assembly;
    info.timers[setup_timer] += newton_->times().setup;
    if (newton_->is_direct()) ++info.counters.factorizations;
    restarts += report.restarts;
    largest_shift = std::max(largest_shift, report.shift);
    if (!report.good) return finish(Status::numerical_error, report.message);
    Kokkos::deep_copy(dgamma, 0.0);
    KrylovResult direction;
    try {
      direction = newton_->solve(b_vector, dgamma_vector, options_.krylov_tolerance);
    } catch (const OutOfTime&) {
      info.timers[solve_timer] += newton_->times().solve;
      count();
      observer.observe({info.counters, info.own_residual}, write_gamma);
      return finish(Status::stopped_by_observer, "limit passed inside a Krylov solve");
    }
    info.timers[solve_timer] += newton_->times().solve;
    info.counters.krylov += direction.iterations;
    if (direction.breakdown) {
      return finish(Status::numerical_error, "Krylov breakdown: " + direction.message);
    }

    system_->direction(dgamma, dx, dy);
    advance(dy, ds, d);
    const double theta = std::min(1.0, options_.step_fraction * max_step(cones, x, dx, y, dy));
    ++info.counters.outer;
    if (!(theta >= options_.min_step)) {
      return finish(std::isfinite(theta) ? Status::stagnated : Status::numerical_error,
                    "step length fell below min_step");
    }
    advance(x, theta, dx);
    advance(y, theta, dy);
    if (!feasible) {
      s += theta * ds;
      if (is_feasible(cones, y, d, s)) {  // the artificial variable has done its work
        advance(y, -s, d);
        s = 0;
        feasible = true;
      }
    }
  }
}

}  // namespace ccp
