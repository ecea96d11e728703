#include "solvers/velocity_space/velocity_solver.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/core/stopwatch.hpp"

namespace ccp {

namespace {

/// Up to so many unknowns auto factors from the start: at most some 10 Mflop, and CG, which stops
/// at an absolute accuracy, has nothing to gain.
constexpr std::size_t small = 300;

}  // namespace

VelocitySolver::VelocitySolver(const Options& options, VelocitySystem& system, Observer& observer,
                               Info& info)
    : options_(options),
      system_(system),
      observer_(observer),
      info_(info),
      direct_(options.method == "cholesky" ||
              (options.method == "auto" && static_cast<std::size_t>(system.size()) <= small)) {
  system.begin();
}

void VelocitySolver::matrix_changed() {
  // Iterations become 1.4 times as many from one step to the next, about.
  if (options_.method == "auto" && !direct_) direct_ = too_many(std::lround(1.4 * iterations_));
  // One level of fill costs more to make and to apply, which pays from about here.
  if (iterations_ > 80 && system_.strengthen()) cg_ = nullptr;
  iterations_ = 0;
  factorised_ = preconditioned_ = false;
}

/// Whether that many iterations on one matrix cost more than factoring it. What factoring costs is
/// known once the structure is analysed, which is done when the iterations have cost as much as
/// that.
bool VelocitySolver::too_many(long iterations) {
  const double cost = cg_cost(iterations);
  if (!cholesky_) {
    if (cost <= options_.rates.analysis(system_.size())) return false;
    analyse();
  }
  return cost > options_.rates.factorisation(cholesky_->flops(), cholesky_->factor_entries());
}

double VelocitySolver::cg_cost(long iterations) const {
  // Belos' iteration and the stopping rule read or write a vector some 15 times.
  const double bytes = system_.iteration_bytes() + 15.0 * sizeof(double) * system_.size();
  return options_.rates.sweep(static_cast<double>(iterations) * bytes);
}

void VelocitySolver::analyse() {
  const Stopwatch watch(info_.timers["symbolic"]);
  std::vector<int> rows;
  system_.lower_pattern(diagonal_, rows);
  cholesky_ = std::make_unique<SparseCholesky>(diagonal_, std::move(rows));
}

bool VelocitySolver::factorise() {
  const Stopwatch watch(info_.timers["factorization"]);
  for (shift_ = shift_ > 1e-15 ? 0.1 * shift_ : 0; shift_ < 10;
       shift_ = std::max(1e-15, 10 * shift_)) {
    system_.lower_values(values_);
    for (std::size_t j = 0; shift_ > 0 && j + 1 < diagonal_.size(); ++j) {
      values_[diagonal_[j]] *= 1 + shift_;
    }
    ++info_.counters.factorizations;
    if (cholesky_->factorize(values_.data())) return true;
    if (!options_.shifts) return false;
  }
  return false;
}

VelocitySolver::Outcome VelocitySolver::solve(const Teuchos::RCP<const Vector>& b,
                                              const Teuchos::RCP<Vector>& x, double speed) {
  if (direct_) return solve_direct(*b, *x);
  if (!preconditioned_) {
    const Stopwatch watch(info_.timers["preconditioner"]);
    system_.precondition();
    preconditioned_ = true;
  }
  if (!cg_) {
    cg_ = std::make_unique<ConjugateGradients>(system_.matrix(), system_.preconditioner());
  }
  const bool may_switch = options_.method == "auto";
  KrylovResult result;
  bool late = false, costly = false;
  {
    const Stopwatch watch(info_.timers["krylov"]);
    result = cg_->solve(
        b, x, [&](const ConstVectorView& residual) { return system_.speed(residual) <= speed; },
        [&](int iterations) {
          late = observer_.out_of_time();
          costly = may_switch && iterations % 16 == 0 && too_many(iterations_ + iterations);
          return late || costly || iterations >= options_.max_iterations;
        });
  }
  iterations_ += result.iterations;
  info_.counters.krylov += result.iterations;
  info_.counters.operator_applies += result.iterations + 1;
  info_.counters.preconditioner_applies += result.iterations + 1;
  if (result.converged) return Outcome::solved;
  if (late) return Outcome::out_of_time;
  if (may_switch) {
    direct_ = true;
    return solve_direct(*b, *x);
  }
  message_ = result.breakdown ? "conjugate gradients broke down: " + result.message
                              : "conjugate gradients reached cg_max_iterations";
  return Outcome::failed;
}

VelocitySolver::Outcome VelocitySolver::solve_direct(const Vector& b, Vector& x) {
  if (!cholesky_) analyse();
  if (!factorised_) {
    factorised_ = factorise();
    if (!factorised_) {
      message_ = "sparse Cholesky: the matrix is not positive definite";
      return Outcome::failed;
    }
  }
  const Stopwatch watch(info_.timers["direct_solve"]);
  const auto in = read_view(b);
  const auto out = overwrite_view(x);
  system_.to_factored(in, out);
  host_.resize(in.extent(0));
  const Kokkos::View<double*, Kokkos::LayoutLeft, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(
      host_.data(), host_.size());
  Kokkos::deep_copy(host, out);
  cholesky_->solve(host_.data(), host_.data());
  Kokkos::deep_copy(out, host);
  system_.from_factored(in, out);
  return Outcome::solved;
}

VelocitySolver::End VelocitySolver::give_up(Outcome outcome,
                                            const std::function<void(Vector&)>& write_gamma) {
  if (outcome == Outcome::out_of_time) {
    observer_.observe({info_.counters, info_.own_residual}, write_gamma);
    return {Status::stopped_by_observer, "limit passed inside a linear solve"};
  }
  return {Status::stagnated, message_};
}

}  // namespace ccp
