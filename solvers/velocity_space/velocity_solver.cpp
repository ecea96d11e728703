#include "solvers/velocity_space/velocity_solver.hpp"

#include <cmath>

#include "solvers/core/free_memory.hpp"
#include "solvers/core/stopwatch.hpp"
#include "solvers/linear/function_operator.hpp"
#include "solvers/velocity_space/factor_choice.hpp"

namespace ccp {

namespace {

/// Up to so many unknowns auto factors from the start: at most some 10 Mflop, and CG, which stops
/// at an absolute accuracy, has nothing to gain.
constexpr int small = 300;

/// From so many unknowns on memory that is no longer needed is worth some milliseconds.
constexpr int large = 10'000;

/// Iterations with a thinned factor after which it is too thin. They take 1 to 5 as a rule.
constexpr int most_thinned = 100;

}  // namespace

VelocitySolver::VelocitySolver(const Options& options, VelocitySystem& system, Observer& observer,
                               Info& info)
    : options_(options),
      system_(system),
      observer_(observer),
      info_(info),
      direct_(options.method == "cholesky" || (options.method == "auto" && system.size() <= small)),
      factor_({system.size() <= small ? 0 : options.thinning, options.shifts, options.rates,
               options.factor},
              system, info) {
  system.begin();
}

void VelocitySolver::matrix_changed() {
  factor_.matrix_changed();
  if (options_.method == "auto" && !direct_ &&
      too_many(std::lround(growth_of_iterations * iterations_))) {
    leave_conjugate_gradients();
  }
  // One level of fill costs more to make and to apply, which pays from about here.
  if (!direct_ && iterations_ > 80 && system_.strengthen()) cg_ = nullptr;
  iterations_ = 0;
  factorised_ = preconditioned_ = false;
}

/// For good: what they needed makes room for the factor.
void VelocitySolver::leave_conjugate_gradients() {
  direct_ = true;
  cg_ = nullptr;
  system_.drop_preconditioner();
  if (system_.size() > large) give_back_free_memory();
}

/// Whether that many iterations on one matrix cost more than factoring it.
bool VelocitySolver::too_many(long iterations) {
  return factoring_pays(cg_cost(iterations), {&factor_}, [](double seconds) { return seconds; });
}

double VelocitySolver::cg_cost(long iterations) const {
  return options_.rates.sweep(static_cast<double>(iterations) * cg_bytes(system_));
}

KrylovResult VelocitySolver::iterate(ConjugateGradients& cg, const Vector& b, Vector& x,
                                     double speed, const std::function<bool(int)>& enough) {
  const Stopwatch watch(info_.timers["krylov"]);
  const auto result = cg.solve(
      b, x, [&](const ConstVectorView& residual) { return system_.speed(residual) <= speed; },
      [&](int iterations) {
        late_ = observer_.out_of_time();
        return late_ || enough(iterations);
      });
  info_.counters.krylov += result.iterations;
  info_.counters.operator_applies += result.products;
  info_.counters.preconditioner_applies += result.iterations;
  return result;
}

VelocitySolver::Outcome VelocitySolver::solve(const Teuchos::RCP<const Vector>& b,
                                              const Teuchos::RCP<Vector>& x, double speed) {
  if (direct_) return solve_direct(b, x, speed);
  if (!preconditioned_) {
    const Stopwatch watch(info_.timers["preconditioner"]);
    system_.precondition();
    preconditioned_ = true;
  }
  if (!cg_) {
    cg_ = std::make_unique<ConjugateGradients>(system_.matrix(), system_.preconditioner());
  }
  const bool may_switch = options_.method == "auto";
  const KrylovResult result = iterate(*cg_, *b, *x, speed, [&](int iterations) {
    return (may_switch && iterations % 16 == 0 && too_many(iterations_ + iterations)) ||
           iterations >= options_.max_iterations;
  });
  iterations_ += result.iterations;
  if (result.converged) return Outcome::solved;
  if (late_) return Outcome::out_of_time;
  if (may_switch) {
    leave_conjugate_gradients();
    return solve_direct(b, x, speed);
  }
  message_ = result.breakdown ? "conjugate gradients broke down: " + result.message
                              : "conjugate gradients reached cg_max_iterations";
  return Outcome::failed;
}

double VelocitySolver::solves_per_factorisation() const {
  constexpr double iterations = 2;  // of cg with a thinned factor, about
  if (!direct_ || !factor_.analysed() || system_.size() <= small) return 0;
  const double sweeps = options_.rates.sweep(2 * sizeof(double) * factor_.entries());
  const double solve = !factor_.is_thinned() ? sweeps : iterations * (sweeps + cg_cost(1));
  return factor_.analysed_cost() / solve;
}

VelocitySolver::Outcome VelocitySolver::solve_direct(const Teuchos::RCP<const Vector>& b,
                                                     const Teuchos::RCP<Vector>& x, double speed) {
  if (!factorised_) {
    factorised_ = factor_.factorise();
    if (!factorised_) {
      message_ = "sparse Cholesky: the matrix is not positive definite";
      return Outcome::failed;
    }
  }
  if (factor_.is_thinned()) return solve_thinned(b, x, speed);
  const Stopwatch watch(info_.timers["direct_solve"]);
  const auto in = read_view(*b);
  const auto out = overwrite_view(*x);
  factor_.solve(in, out);
  return Outcome::solved;
}

VelocitySolver::Outcome VelocitySolver::solve_thinned(const Teuchos::RCP<const Vector>& b,
                                                      const Teuchos::RCP<Vector>& x, double speed) {
  if (!thinned_cg_) {
    const auto factor = [this](const ConstVectorView& in, const VectorView& out) {
      const Stopwatch watch(info_.timers["direct_solve"]);
      factor_.solve(in, out);
    };
    thinned_cg_ = std::make_unique<ConjugateGradients>(
        system_.matrix(), Teuchos::rcp(new FunctionOperator(system_.map(), factor)));
  }
  const KrylovResult result = iterate(*thinned_cg_, *b, *x, speed,
                                      [&](int iterations) { return iterations >= most_thinned; });
  if (result.converged) return Outcome::solved;
  if (late_) return Outcome::out_of_time;
  // Too thin: from now on the whole of S.
  factor_.keep_all();
  factorised_ = false;
  return solve_direct(b, x, speed);
}

VelocitySolver::End VelocitySolver::give_up(Outcome outcome,
                                            const std::function<void(Vector&)>& write_gamma) {
  if (outcome == Outcome::out_of_time) {
    observer_.observe({info_.counters, info_.own_residual}, write_gamma);
    return {Status::stopped_by_observer, "limit passed inside a linear solve"};
  }
  return {Status::stagnated, message_};
}

OptionList& list_linear_solver(OptionList& list, std::string& method, std::string& factor) {
  return list
      .choice("linear_solver", method, {"auto", "cg", "cholesky"},
              "for S: cg until a factorisation is cheaper, or one of the two throughout")
      .choice("factor", factor, factor_libraries(),
              "whose sparse Cholesky factors S: on the host, or (preset cuda) on the device");
}

}  // namespace ccp
