#include "solvers/velocity_space/velocity_solver.hpp"

#include <cmath>

#include "solvers/core/stopwatch.hpp"

namespace ccp {

VelocitySolver::VelocitySolver(const Options& options, VelocitySystem& system, Observer& observer,
                               Info& info)
    : options_(options),
      system_(system),
      observer_(observer),
      info_(info),
      direct_(options.method == "cholesky") {}

void VelocitySolver::matrix_changed() {
  // Iterations cost about 1.4 times as much from one step to the next.
  if (options_.method == "auto" && 1.4 * cg_seconds_ > expected_factorisation()) direct_ = true;
  // One level of fill costs more to make and to apply, which pays from about here.
  if (iterations_ > 80 && system_.strengthen()) cg_ = nullptr;
  iterations_ = 0;
  factorised_ = preconditioned_ = false;
  cg_seconds_ = 0;
}

double VelocitySolver::expected_factorisation() const {
  if (factorisation_seconds_ > 0) return factorisation_seconds_;
  // What contact graphs showed: 2.7 (unknowns)^2 operations with nested dissection, at a rate that
  // grows with the size of the dense blocks (4, 8 and 24 GFlop/s at 6e3, 3e4 and 3e5 unknowns), and
  // an analysis of 5 us per unknown, here spread over the factorisations that follow.
  const double unknowns = system_.size();
  return 2.7 * unknowns * unknowns / (8.4e9 * std::pow(unknowns / 3e4, 0.45)) + 1e-6 * unknowns;
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
  const double budget = expected_factorisation();
  const double before = info_.timers["krylov"];
  KrylovResult result;
  bool late = false, costly = false;
  {
    const Stopwatch watch(info_.timers["krylov"]);
    result = cg_->solve(
        b, x, [&](const ConstVectorView& residual) { return system_.speed(residual) <= speed; },
        [&](int iterations) {
          late = observer_.out_of_time();
          if (may_switch && iterations % 16 == 0) {
            costly = cg_seconds_ + watch.seconds() > budget;
          }
          return late || costly || iterations >= options_.max_iterations;
        });
  }
  cg_seconds_ += info_.timers["krylov"] - before;
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
  if (!cholesky_) {
    const Stopwatch watch(info_.timers["symbolic"]);
    std::vector<std::int64_t> offsets;
    std::vector<int> rows;
    system_.lower_pattern(offsets, rows);
    cholesky_ = std::make_unique<SparseCholesky>(std::move(offsets), std::move(rows));
  }
  if (!factorised_) {
    const double before = info_.timers["factorization"];
    {
      const Stopwatch watch(info_.timers["factorization"]);
      system_.lower_values(values_);
      ++info_.counters.factorizations;
      factorised_ = cholesky_->factorize(values_.data());
    }
    factorisation_seconds_ = info_.timers["factorization"] - before;
    if (!factorised_) {
      message_ = "sparse Cholesky: the matrix is not positive definite";
      return Outcome::failed;
    }
  }
  const Stopwatch watch(info_.timers["direct_solve"]);
  const auto in = read_view(b);
  const auto out = overwrite_view(x);
  host_.resize(in.extent(0));
  const Kokkos::View<double*, Kokkos::LayoutLeft, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> host(
      host_.data(), host_.size());
  Kokkos::deep_copy(host, in);
  cholesky_->solve(host_.data(), host_.data());
  Kokkos::deep_copy(out, host);
  return Outcome::solved;
}

}  // namespace ccp
