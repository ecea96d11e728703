#include "solvers/velocity_space/velocity_solver.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/core/stopwatch.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {

namespace {

/// Up to so many unknowns auto factors from the start: at most some 10 Mflop, and CG, which stops
/// at an absolute accuracy, has nothing to gain.
constexpr std::size_t small = 300;

// When the structure is analysed anew: a block that it has not is so many times above the
// threshold, or only this part of what it has is still above.
constexpr double missed = 10, still_needed = 0.7;
/// Iterations with a thinned factor after which it is too thin. They take 1 to 5 as a rule.
constexpr int most_thinned = 100;

}  // namespace

/// The factorisation as a preconditioner.
class VelocitySolver::Factor : public Operator {
 public:
  Factor(VelocitySolver& solver, Teuchos::RCP<const Map> map)
      : solver_(solver), map_(std::move(map)) {}
  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  bool hasTransposeApply() const override { return true; }
  void apply(const Vector& x, Vector& y, Teuchos::ETransp, double, double) const override {
    const Stopwatch watch(solver_.info_.timers["direct_solve"]);
    solver_.apply_factor(read_view(x), overwrite_view(y));
  }

 private:
  VelocitySolver& solver_;
  Teuchos::RCP<const Map> map_;
};

VelocitySolver::VelocitySolver(const Options& options, VelocitySystem& system, Observer& observer,
                               Info& info)
    : options_(options),
      system_(system),
      observer_(observer),
      info_(info),
      direct_(options.method == "cholesky" ||
              (options.method == "auto" && static_cast<std::size_t>(system.size()) <= small)),
      thinning_(static_cast<std::size_t>(system.size()) <= small ? 0 : options.thinning) {
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
  if (!analysis_serves()) {
    if (cost <= options_.rates.analysis(system_.size())) return false;
    analyse();
  }
  return cost > options_.rates.factorisation(cholesky_->flops(), cholesky_->factor_entries());
}

double VelocitySolver::cg_cost(long iterations) const {
  // The iteration and the stopping rule read or write a vector some 15 times.
  const double bytes = system_.iteration_bytes() + 15.0 * sizeof(double) * system_.size();
  return options_.rates.sweep(static_cast<double>(iterations) * bytes);
}

/// Of the matrix as it is now, without what is small in it.
void VelocitySolver::analyse() {
  const Stopwatch watch(info_.timers["symbolic"]);
  kept_.clear();
  if (thinning_ > 0) {
    for (const double norm : system_.block_norms()) kept_.push_back(!(norm < thinning_) ? 1 : 0);
    kept_blocks_ = std::count(kept_.begin(), kept_.end(), 1);
    if (kept_blocks_ == kept_.size()) kept_.clear();
  }
  system_.keep_blocks(kept_);
  std::vector<int> rows;
  system_.lower_pattern(diagonal_, rows);
  cholesky_ = nullptr;  // its memory first
  cholesky_ = std::make_unique<SparseCholesky>(diagonal_, rows, system_.block_size());
}

/// Whether the analysed structure has all blocks that matter by far, and not too many others.
bool VelocitySolver::analysis_serves() const {
  if (!cholesky_) return false;
  if (thinning_ == 0) return kept_.empty();
  const std::vector<double> norms = system_.block_norms();
  std::size_t count = 0;
  for (std::size_t k = 0; k < norms.size(); ++k) {
    if (!(norms[k] < missed * thinning_) && !kept_.empty() && kept_[k] == 0) return false;
    if (!(norms[k] < thinning_)) ++count;
  }
  const std::size_t analysed = kept_.empty() ? norms.size() : kept_blocks_;
  return static_cast<double>(count) >= still_needed * static_cast<double>(analysed);
}

bool VelocitySolver::factorise() {
  if (!analysis_serves()) analyse();
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
    direct_ = true;
    return solve_direct(b, x, speed);
  }
  message_ = result.breakdown ? "conjugate gradients broke down: " + result.message
                              : "conjugate gradients reached cg_max_iterations";
  return Outcome::failed;
}

double VelocitySolver::solves_per_factorisation() const {
  constexpr double iterations = 2;  // of cg with a thinned factor, about
  if (!direct_ || !cholesky_ || static_cast<std::size_t>(system_.size()) <= small) return 0;
  const double flops = cholesky_->flops(), entries = cholesky_->factor_entries();
  const double sweeps = options_.rates.sweep(2 * sizeof(double) * entries);
  const double solve = kept_.empty() ? sweeps : iterations * (sweeps + cg_cost(1));
  return options_.rates.factorisation(flops, entries) / solve;
}

VelocitySolver::Outcome VelocitySolver::solve_direct(const Teuchos::RCP<const Vector>& b,
                                                     const Teuchos::RCP<Vector>& x, double speed) {
  if (!factorised_) {
    factorised_ = factorise();
    if (!factorised_) {
      message_ = "sparse Cholesky: the matrix is not positive definite";
      return Outcome::failed;
    }
  }
  if (!kept_.empty()) return solve_thinned(b, x, speed);
  const Stopwatch watch(info_.timers["direct_solve"]);
  const auto in = read_view(*b);
  const auto out = overwrite_view(*x);
  apply_factor(in, out);
  return Outcome::solved;
}

void VelocitySolver::apply_factor(const ConstVectorView& b, const VectorView& x) {
  system_.to_factored(b, x);
  download_to(host_, x);
  cholesky_->solve(host_.data(), host_.data());
  upload_to(x, host_);
  system_.from_factored(b, x);
}

VelocitySolver::Outcome VelocitySolver::solve_thinned(const Teuchos::RCP<const Vector>& b,
                                                      const Teuchos::RCP<Vector>& x, double speed) {
  if (!thinned_cg_) {
    thinned_cg_ = std::make_unique<ConjugateGradients>(
        system_.matrix(), Teuchos::rcp(new Factor(*this, system_.map())));
  }
  const KrylovResult result = iterate(*thinned_cg_, *b, *x, speed,
                                      [&](int iterations) { return iterations >= most_thinned; });
  if (result.converged) return Outcome::solved;
  if (late_) return Outcome::out_of_time;
  // Too thin: from now on the whole of S.
  thinning_ = 0;
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

}  // namespace ccp
