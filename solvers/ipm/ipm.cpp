#include "solvers/ipm/ipm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "problems/base/error.hpp"
#include "solvers/core/extremes.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/core/scales.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/core/vector_kernels.hpp"

namespace ccp {
namespace {

/// The cones of this rank's contacts: C = {n >= |t|} about the normal; the half-line for mu = 0.
/// What is summed over them below, or the extreme of them, is that of all ranks.
struct Cones {
  const Ranks& ranks;
  DeviceArray<const double* [3]> normal;
  DeviceArray<const double*> mu;
  std::size_t size() const { return mu.extent(0); }
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
  double sums[3] = {result.dot, result.along, result.logs};
  cones.ranks.sum(sums, 3);
  return {sums[0], sums[1], sums[2]};
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
void newton_rhs(const Cones& cones, const NewtonPools& pools, const VectorView& x,
                const VectorView& y, const VectorView& d, double alpha, double ds,
                const VectorView& b) {
  central_partner(cones, x, alpha, b);
  pools.central_partner(x, alpha, b);
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
  return -cones.ranks.largest(-theta);
}

/// z <- z + theta dz.
void advance(const VectorView& z, double theta, const VectorView& dz) {
  Kokkos::parallel_for(
      "ccp::Ipm::advance", range(z.extent(0)),
      KOKKOS_LAMBDA(const int i) { z(i) += theta * dz(i); });
}

/// Moves what rounding has brought to the boundary of its cone, or out of it, inside by rounding.
void keep_inside(const Cones& cones, const VectorView& z) {
  const auto normal = cones.normal;
  const auto mu = cones.mu;
  Kokkos::parallel_for(
      "ccp::Ipm::keep_inside", range(cones.size()), KOKKOS_LAMBDA(const int c) {
        const Vec3 zc = load3(z, c), n = row3(normal, c);
        const Split part = split(zc, n);
        const double lift = jordan::lift_inside(part.n, part.size);
        if (mu(c) > 0 && lift > 0) store3(z, c, zc + lift * n);
      });
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
  return cones.ranks.sum(static_cast<long long>(outside)) == 0;
}

double max_abs(const Ranks& ranks, const VectorView& z) {
  double largest = 0;
  Kokkos::parallel_reduce(
      "ccp::Ipm::max_abs", range(z.extent(0)),
      KOKKOS_LAMBDA(const int i, double& maximum) { raise(maximum, fabs(z(i))); },
      Largest(largest));
  return ranks.largest(largest);
}

}  // namespace

IpmSolver::IpmSolver() {
  for (const std::string& id : contact_preconditioner_ids()) {
    preconditioners_[id] = preconditioner_entry(id).make();
  }
}

OptionList IpmSolver::options() {
  OptionList list("ipm");
  list.choice("krylov", options_.method, linear_methods(),
              "method for the directions: Krylov (Belos), or direct (cholmod, klu2)")
      .choice("preconditioner", options_.preconditioner, contact_preconditioner_ids(),
              "see `ccpbench list preconditioners`")
      .choice("operator", options_.apply, linear_operators(), "who multiplies with A")
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
  for (const std::string& id : contact_preconditioner_ids()) {
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
    for (const std::string& id : contact_preconditioner_ids()) {
      if (preconditioners_.at(id)->options().has(name)) owners += (owners.empty() ? "" : ", ") + id;
    }
    if (owners.empty() || preconditioners_.at(chosen)->options().has(name)) continue;
    throw InputError("solver ipm", "option " + name, "only with preconditioner=" + owners,
                     direct ? "it beside " + krylov : "it beside preconditioner=" + chosen);
  }
}

std::string IpmSolver::why_not_on_ranks() const {
  const auto reason = [](const std::string& option, const std::string& value,
                         const std::string& instead) {
    return "ipm with " + option + "=" + value + " does not run on several ranks; " + option + "=" +
           instead + " does";
  };
  if (is_direct_method(options_.method)) return reason("krylov", options_.method, "cg");
  if (options_.apply != "matrix_free") return reason("operator", options_.apply, "matrix_free");
  if (preconditioner_entry(options_.preconditioner).form != MatrixForm::none) {
    return reason("preconditioner", options_.preconditioner, "block_diagonal");
  }
  return "";
}

DeviceArray<double* [2]> IpmSolver::regularization(const Problem& problem) const {
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
  const auto rho = host_mirror(regularization);
  for (std::size_t c = 0; c < n; ++c) {
    for (int k = 0; k < 2; ++k) {
      rho(c, k) = 0;
      if (kind == "elastic") {  // rho = 1 / (dt^2 k), Kleinert 2014 eq. 32
        rho(c, k) = 1 / (host.dt * host.dt * host.stiffness[2 * c + k] * options_.stiffness_factor);
      } else if (kind == "relative") {
        rho(c, k) = relative_regularization(problem);
      }
    }
  }
  send(regularization, rho);
  return regularization;
}

/// R of "relative", 1/kg. Contacts that jam a loop of joints have impulses that grow for long: a
/// step that R holds back then gains little, and joints have no more than 1e-8 either
/// (NewtonPools).
double IpmSolver::relative_regularization(const Problem& problem) const {
  constexpr double beside_pools = 1e-8;
  const bool limited = options_.regularization == "auto" && !problem.pools().empty();
  const double factor = options_.relative_regularization;
  return (limited ? std::min(factor, beside_pools) : factor) * problem.delassus_scale();
}

void IpmSolver::setup(const Problem& problem) {
  problem_ = &problem;
  newton_.reset();
  // Rolling triples have no stiffness that could be used.
  const double of_pools = options_.regularization == "none" ? 0 : relative_regularization(problem);
  problem.ranks().together([&] {
    system_ = Teuchos::rcp(new NewtonSystem(problem, regularization(problem), of_pools));
  });
  if (problem.all_triples() == 0) return;
  equations_ = std::make_unique<NewtonEquations>(problem, system_);
  newton_ = std::make_unique<LinearSolver>(
      *equations_, options_.method, options_.krylov, options_.apply,
      preconditioner_entry(options_.preconditioner), preconditioners_.at(options_.preconditioner));
}

namespace {

/// How a solve ends.
struct End {
  Status status;
  std::string message;
};

/// Options in SI units, whatever `units` they were given in.
struct Scaled {
  double start, tol_infeasibility, tol_cost;  // N s, m/s, J

  Scaled(const IpmOptions& options, const Problem& problem) {
    const bool si = options.units == "si";
    const double velocity_unit = si ? 1 : velocity_scale(problem);
    const double impulse_unit = si ? 1 : velocity_unit / problem.delassus_scale();
    tol_infeasibility = options.tol_infeasibility * velocity_unit;
    tol_cost = options.tol_cost * velocity_unit * impulse_unit;
    start = options.start * impulse_unit;
  }
};

/// The factor on alpha for an iterate of that centrality.
double choose_beta(const IpmOptions& options, double f_cen) {
  const bool path_following = options.strategy == "path_following";
  const auto pick = [](double given, double standard) { return given > 0 ? given : standard; };
  if (f_cen <= options.alpha_cen) return pick(options.beta_cen, path_following ? 0.1 : 0.01);
  if (f_cen <= options.alpha_1) return pick(options.beta_1, path_following ? 0.5 : 0.1);
  return pick(options.beta_bd, path_following ? 1.0 : 0.5);
}

/// x = (start, 0, 0) about every normal.
void start_impulses(const Cones& cones, double start, const VectorView& x) {
  const auto normal = cones.normal;
  Kokkos::parallel_for(
      "ccp::Ipm::start", range(cones.size()),
      KOKKOS_LAMBDA(const int c) { store3(x, c, start * row3(normal, c)); });
}

/// sum over contacts of |x_c . y_c|
double sum_of_products(const Ranks& ranks, const VectorView& x, const VectorView& y) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Ipm::initial_alpha", range(x.extent(0) / 3),
      KOKKOS_LAMBDA(const int c, double& total) { total += fabs(dot(load3(x, c), load3(y, c))); },
      sum);
  return ranks.sum(sum);
}

/// d <- (y - d) / s.
void artificial_direction(const VectorView& y, double s, const VectorView& d) {
  const double scale = 1 / s;
  Kokkos::parallel_for(
      "ccp::Ipm::direction_d", range(d.extent(0)),
      KOKKOS_LAMBDA(const int i) { d(i) = scale * (y(i) - d(i)); });
}

/// One solve. Its steps bear the numbers of README.md.
class Run {
 public:
  Run(const IpmOptions& options, const Problem& problem, Teuchos::RCP<NewtonSystem> system,
      LinearSolver& newton, const std::function<void(const PosedSystem&)>& on_system,
      Observer& observer);

  Info operator()(Vector& gamma);

 private:
  void start();
  std::optional<End> look();
  void aim();
  double tolerance() const;
  std::optional<End> find_direction();
  std::optional<End> step();
  void pose() const;
  void count();
  Info finish(const End& end, Vector& gamma);

  const IpmOptions& options_;
  const Problem& problem_;
  Teuchos::RCP<NewtonSystem> system_;
  NewtonPools& pools_;
  LinearSolver& newton_;
  const std::function<void(const PosedSystem&)>& on_system_;
  Observer& observer_;
  const Scaled scaled_;
  const Cones cones_;
  const double n_;  ///< cones of contacts and of rolling resistance, on all ranks
  Info info_;

  const Teuchos::RCP<Vector> dgamma_vector_, b_vector_;
  const VectorView dgamma_, b_;
  const VectorView x_, y_, d_, dx_, dy_;  ///< y is the README's y with a bar
  double s_ = 0, d_norm_ = 0;             ///< artificial variable; |d|_inf
  bool feasible_ = false;                 ///< whether s has done its work
  Centrality now_;
  double alpha_ = 0, beta_ = 0, f_cen_ = 0, ds_ = 0;  ///< where the direction aims

  const std::function<void(Vector&)> write_gamma_ = [this](Vector& out) {
    system_->impulse(x_, overwrite_view(out));
    problem_.to_contact_axes(read_view(out), overwrite_view(out));
  };
  long applies_before_ = 0, preconditioner_before_ = 0;
  long restarts_ = 0;  ///< of the preconditioner's computation, over the whole solve
  double largest_shift_ = 0;
};

Run::Run(const IpmOptions& options, const Problem& problem, Teuchos::RCP<NewtonSystem> system,
         LinearSolver& newton, const std::function<void(const PosedSystem&)>& on_system,
         Observer& observer)
    : options_(options),
      problem_(problem),
      system_(std::move(system)),
      pools_(system_->pools()),
      newton_(newton),
      on_system_(on_system),
      observer_(observer),
      scaled_(options, problem),
      cones_{problem.ranks(), problem.normal(), problem.mu()},
      n_(static_cast<double>(problem.all_contacts() + pools_.cones())),
      dgamma_vector_(Teuchos::rcp(new Vector(problem.map(), 1))),
      b_vector_(Teuchos::rcp(new Vector(problem.map(), 1))),
      dgamma_(read_write_view(*dgamma_vector_)),
      b_(read_write_view(*b_vector_)),
      x_("ccp::Ipm::x", b_.extent(0)),
      y_("ccp::Ipm::y", b_.extent(0)),
      d_("ccp::Ipm::d", b_.extent(0)),
      dx_("ccp::Ipm::dx", b_.extent(0)),
      dy_("ccp::Ipm::dy", b_.extent(0)) {}

Info Run::operator()(Vector& gamma) {
  start();
  while (true) {
    if (const auto end = look()) return finish(*end, gamma);
    aim();                                                              // 1
    system_->set_scaling(x_, y_);                                       // 2
    if (const auto end = find_direction()) return finish(*end, gamma);  // 3
    if (const auto end = step()) return finish(*end, gamma);            // 4, 5
  }
}

/// The point on the central path of the problem with the artificial variable (Sect. 4.3).
void Run::start() {
  start_impulses(cones_, scaled_.start, x_);
  system_->velocity(x_, y_);
  if (n_ > 0) {
    alpha_ = sum_of_products(cones_.ranks, x_, y_) / (2 * n_);  // eq. 34
    // Where r + N x happens to vanish any positive value does.
    if (!(alpha_ > 0)) alpha_ = scaled_.start;
    pools_.start(x_, alpha_, y_);
    Kokkos::deep_copy(d_, y_);
    central_partner(cones_, x_, alpha_, y_);
    pools_.central_partner(x_, alpha_, y_);
    s_ = 2 * alpha_;
    artificial_direction(y_, s_, d_);
    d_norm_ = max_abs(cones_.ranks, d_);
  } else {
    feasible_ = true;  // joints alone: a linear system
  }
  preconditioner_before_ = newton_.preconditioner_applies();
  applies_before_ = system_->applies() - 1;  // the product above counts
  system_->on_apply = [this] {
    if (observer_.out_of_time()) throw OutOfTime{};
  };
}

/// Own residual, the observer's look, and whether that is the end.
std::optional<End> Run::look() {
  now_ = centrality(cones_, x_, y_, d_);
  pools_.add_centrality(x_, y_, d_, now_);
  // Of y - s d, the velocity itself.
  const double cost = n_ > 0 ? std::abs(now_.dot - s_ * now_.along) / n_ : 0;
  const double infeasibility = std::max(s_ * d_norm_, pools_.joint_error(y_, d_, s_));
  info_.own_residual = std::max(cost, infeasibility);
  count();
  if (!std::isfinite(now_.dot) || !std::isfinite(now_.logs) || !std::isfinite(infeasibility)) {
    return End{Status::numerical_error, "iterate left the cone or became NaN"};
  }
  if (observer_.observe({info_.counters, info_.own_residual}, write_gamma_)) {
    return End{Status::stopped_by_observer, ""};
  }
  if (infeasibility <= scaled_.tol_infeasibility && cost <= scaled_.tol_cost) {
    return End{Status::converged, ""};
  }
  if (info_.counters.outer >= options_.max_outer) return End{Status::max_iterations, ""};
  return {};
}

/// The centring parameter (Sect. 5.1): f_cen is zero on the central path.
void Run::aim() {
  if (n_ == 0) return;
  const double terms = feasible_ ? n_ : n_ + 1;
  const double total = feasible_ ? now_.dot : now_.dot + s_;
  f_cen_ = 2 * terms * std::log(total / terms) - now_.logs - (feasible_ ? 0 : 2 * std::log(s_));
  beta_ = choose_beta(options_, f_cen_);
  alpha_ = beta_ * total / (2 * terms);
  ds_ = feasible_ ? 0 : 2 * alpha_ - s_;
}

/// Relative residual of a direction. With rows of joints, or of rolling resistance, the right-hand
/// side may be much larger than what it has for a cone near the solution, alpha x^-1: a part of the
/// smallest of these is then the bound.
double Run::tolerance() const {
  const double given = options_.krylov_tolerance;
  if (pools_.empty() || n_ == 0) return given;
  const auto of_cones = std::make_pair(std::size_t{0}, x_.extent(0) - 3 * pools_.joints());
  const double impulse = max_abs(cones_.ranks, Kokkos::subview(x_, of_cones));
  const double right = std::sqrt(vector_kernels::dot(b_, b_));
  return std::min(given, std::max(1e-14, given * alpha_ / (impulse * right)));
}

/// A dgamma = T(alpha x^-1 - y - ds d), from dgamma = 0.
std::optional<End> Run::find_direction() {
  newton_rhs(cones_, pools_, x_, y_, d_, alpha_, ds_, b_);
  system_->scale_rhs(b_);
  pools_.add_rhs(x_, alpha_, b_);
  if (on_system_) pose();
  const PreconditionerReport report = newton_.prepare();
  info_.timers["assembly"] += newton_.times().assembly;
  info_.timers[newton_.is_direct() ? "factorization" : "preconditioner_setup"] +=
      newton_.times().setup;
  if (newton_.is_direct()) ++info_.counters.factorizations;
  restarts_ += report.restarts;
  largest_shift_ = std::max(largest_shift_, report.shift);
  if (!report.good) return End{Status::numerical_error, report.message};

  const char* const timer = newton_.is_direct() ? "direct_solve" : "krylov";
  Kokkos::deep_copy(dgamma_, 0.0);
  KrylovResult direction;
  try {
    direction = newton_.solve(b_vector_, dgamma_vector_, tolerance());
  } catch (const OutOfTime&) {
    info_.timers[timer] += newton_.times().solve;
    count();
    observer_.observe({info_.counters, info_.own_residual}, write_gamma_);
    return End{Status::stopped_by_observer, "limit passed inside a Krylov solve"};
  }
  info_.timers[timer] += newton_.times().solve;
  info_.counters.krylov += direction.iterations;
  if (direction.breakdown) {
    return End{Status::numerical_error, "Krylov breakdown: " + direction.message};
  }
  return {};
}

/// The directions of x and y, the step length, and the step.
std::optional<End> Run::step() {
  system_->direction(dgamma_, dx_, dy_);
  pools_.direction(dgamma_, dy_);
  advance(dy_, ds_, d_);
  const double longest =
      std::min(max_step(cones_, x_, dx_, y_, dy_), pools_.max_step(x_, dx_, y_, dy_));
  const double theta = std::min(1.0, options_.step_fraction * longest);
  ++info_.counters.outer;
  if (!(theta >= options_.min_step)) {
    return End{std::isfinite(theta) ? Status::stagnated : Status::numerical_error,
               "step length fell below min_step"};
  }
  advance(x_, theta, dx_);
  advance(y_, theta, dy_);
  pools_.advance(theta);
  pools_.keep_inside(x_, y_);
  keep_inside(cones_, x_);
  keep_inside(cones_, y_);
  if (feasible_) return {};
  s_ += theta * ds_;
  if (is_feasible(cones_, y_, d_, s_) &&
      pools_.is_feasible(y_, d_, s_)) {  // the artificial variable has done its work
    advance(y_, -s_, d_);
    s_ = 0;
    feasible_ = true;
  }
  return {};
}

void Run::pose() const {
  const PosedSystem::Newton newton{
      system_->scaling(), system_->regularization(), alpha_, beta_, f_cen_, s_};
  PosedSystem posed;
  posed.outer = info_.counters.outer;
  posed.matrix = system_;
  posed.rhs = b_vector_;
  posed.newton = &newton;
  on_system_(posed);
}

void Run::count() {
  info_.counters.operator_applies = system_->applies() - applies_before_;
  info_.counters.preconditioner_applies = newton_.preconditioner_applies() - preconditioner_before_;
}

Info Run::finish(const End& end, Vector& gamma) {
  system_->on_apply = nullptr;  // the observer may not outlive the solve
  write_gamma_(gamma);
  info_.message = end.message;
  const double q = velocity_scale(problem_);
  const double tolerance = std::max(scaled_.tol_infeasibility / q,
                                    scaled_.tol_cost * problem_.delassus_scale() / (q * q));
  info_.status = confirmed(end.status, problem_, Law::convex, gamma, tolerance, info_.message);
  if (restarts_ > 0) {
    if (!info_.message.empty()) info_.message += "; ";
    info_.message += fmt::format("{}: {} restarts, largest diagonal shift {:.1e}",
                                 options_.preconditioner, restarts_, largest_shift_);
  }
  return info_;
}

}  // namespace

Info IpmSolver::solve(Vector& gamma, Observer& observer) {
  Info info;
  if (problem_->all_triples() == 0) {
    info.status = Status::converged;
  } else {
    info = Run(options_, *problem_, system_, *newton_, on_system, observer)(gamma);
  }
  info.own_residual_name = "max(|x.(y - s d)|/n [J], s|d| [m/s])";
  return info;
}

}  // namespace ccp
