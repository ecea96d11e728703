#include "solvers/velocity_space/thinned_factor.hpp"

#include <algorithm>

#include "problems/base/error.hpp"
#include "solvers/core/stopwatch.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

// The structure is analysed anew when a block that it has not is so many times above the threshold.
constexpr double missed = 10;

}  // namespace

const std::vector<std::string>& factor_libraries() {
  static const std::vector<std::string> names = {"cholmod", "cusolver"};
  return names;
}

void check_factor_library(const std::string& where, const std::string& library) {
  if (library == "cusolver" && !has_cusolver) {
    throw InputError(where, "option factor",
                     "cholmod, as only builds with preset cuda have cusolver", library);
  }
}

ThinnedFactor::ThinnedFactor(const Options& options, VelocitySystem& system, Info& info)
    : options_(options), system_(system), info_(info) {}

void ThinnedFactor::analyse() {
  const Stopwatch watch(info_.timers["symbolic"]);
  kept_.clear();
  kept_blocks_ = 0;
  if (options_.thinning > 0) {
    for (const double norm : system_.block_norms()) {
      kept_.push_back(!(norm < options_.thinning) ? 1 : 0);
    }
    kept_blocks_ = std::count(kept_.begin(), kept_.end(), 1);
    if (kept_blocks_ == kept_.size()) kept_.clear();
  }
  system_.keep_blocks(kept_);
  std::vector<int> rows;
  system_.lower_pattern(diagonal_, rows);
  on_device_ = nullptr;
  cholesky_ = nullptr;  // its memory first
  cholesky_ =
      std::make_unique<SparseCholesky>(diagonal_, rows, system_.block_size(), options_.single);
  if constexpr (has_cusolver) {
    if (options_.library == "cusolver" && system_.size() > 0) {
      on_device_ = make_cusolver_factor(diagonal_, rows, cholesky_->order());
    }
  }
  surveyed_ = true;
  present_blocks_ = kept_blocks_;
  lacks_ = false;
}

/// Counts the blocks that are not small, once for a matrix.
void ThinnedFactor::survey() {
  if (surveyed_) return;
  surveyed_ = true;
  present_blocks_ = 0;
  lacks_ = false;
  const std::vector<double> norms = system_.block_norms();
  for (std::size_t k = 0; k < norms.size(); ++k) {
    if (!(norms[k] < options_.thinning)) ++present_blocks_;
    if (!(norms[k] < missed * options_.thinning) && is_thinned() && kept_[k] == 0) lacks_ = true;
  }
}

double ThinnedFactor::analysed_cost() const {
  return options_.rates.factorisation(cholesky_->flops(), entries());
}

double ThinnedFactor::cost() {
  if (kept_blocks_ == 0) return analysed_cost();
  survey();
  const double part = static_cast<double>(present_blocks_) / static_cast<double>(kept_blocks_);
  return part * part * analysed_cost();
}

bool ThinnedFactor::analysis_serves() {
  if (!cholesky_) return false;
  if (options_.thinning == 0) return !is_thinned();
  survey();
  return !lacks_ && analysed_cost() - cost() <= options_.rates.analysis(system_.size());
}

bool ThinnedFactor::factorise() {
  if (!analysis_serves()) analyse();
  const Stopwatch watch(info_.timers["factorization"]);
  for (shift_ = shift_ > 1e-15 ? 0.1 * shift_ : 0; shift_ < 10;
       shift_ = std::max(1e-15, 10 * shift_)) {
    ++info_.counters.factorizations;
    if (factorise_shifted()) return true;
    if (!options_.shifts) return false;
  }
  return false;
}

bool ThinnedFactor::factorise_shifted() {
  if (on_device_) return on_device_->factorize(system_.device_lower_values(), shift_);
  {
    const Stopwatch watch(info_.timers["transfer"]);
    system_.lower_values(values_);
  }
  for (std::size_t j = 0; shift_ > 0 && j + 1 < diagonal_.size(); ++j) {
    values_[diagonal_[j]] *= 1 + shift_;
  }
  return cholesky_->factorize(values_.data());
}

void ThinnedFactor::solve(const ConstVectorView& b, const VectorView& x) {
  system_.to_factored(b, x);
  if (on_device_) {
    on_device_->solve(x);
  } else {
    {
      const Stopwatch watch(info_.timers["transfer"]);
      download_to(host_, x);
    }
    cholesky_->solve(host_.data(), host_.data());
    const Stopwatch watch(info_.timers["transfer"]);
    upload_to(x, host_);
  }
  system_.from_factored(b, x);
}

}  // namespace ccp
