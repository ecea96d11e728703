#include "harness/measure/recorder.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/core/stopwatch.hpp"

namespace ccp {
namespace {

/// After so many looks only growth by `growth` is a reason for another: a curve of 400 points shows
/// all there is to see.
constexpr std::size_t dense_samples = 300;

/// On all ranks.
bool same(const Ranks& ranks, const ConstVectorView& a, const ConstVectorView& b) {
  long long different = 0;
  Kokkos::parallel_reduce(
      "ccp::Recorder::same", range(a.extent(0)),
      KOKKOS_LAMBDA(const int i, long long& count) { count += !(a(i) == b(i)); }, different);
  return ranks.sum(different) == 0;
}

}  // namespace

Recorder::Recorder(Teuchos::RCP<const Map> map, RecorderOptions options, Judge judge,
                   Progressed progressed)
    : ranks_(map->getComm()),
      options_(std::move(options)),
      judge_(std::move(judge)),
      progressed_(std::move(progressed)),
      gamma_(map, 1),
      best_(std::numeric_limits<double>::quiet_NaN()),
      growth_(options_.growth) {
  for (const Target& target : options_.targets) targets_.push_back({target, std::nullopt});
}

bool Recorder::wants_to_look(const Progress& progress, double elapsed) const {
  if (samples_.empty()) return true;
  const Sample& last = samples_.back();
  if (progress.counters.outer <= last.counters.outer) return false;
  const bool affordable = progress.counters.outer <= options_.free_iterations ||
                          spent_looking_ + cost_of_a_look_ <= options_.budget * elapsed;
  if (!affordable) return false;
  const bool iterations_grew = static_cast<double>(progress.counters.outer) >=
                               growth_ * static_cast<double>(last.counters.outer);
  const bool time_grew = elapsed >= growth_ * last.time;
  const bool dense = samples_.size() < dense_samples;
  const bool residual_fell = dense && progress.own_residual < smallest_half_decade_;
  return iterations_grew || time_grew || residual_fell;
}

bool Recorder::near_a_target() const {
  const Measures& now = samples_.back().measures;
  const auto close = [&](const Target& target) {
    const double value = now[target.measure];
    return value > target.value && value <= options_.near * target.value;
  };
  if (std::any_of(options_.stop.begin(), options_.stop.end(), close)) return true;
  for (const TargetRecord& record : targets_) {
    if (!record.reached && close(record.target)) return true;
  }
  return false;
}

void Recorder::look(const Progress& progress, const Vector& gamma) {
  Sample sample;
  sample.counters = progress.counters;
  sample.own_residual = progress.own_residual;
  sample.time = elapsed();
  sample.time_excluded = excluded();
  record(sample, gamma);
}

void Recorder::record(Sample sample, const Vector& gamma) {
  sample.measures = judge_(gamma);
  fence();
  cost_of_a_look_ = ranks_.of_first(seconds_since(look_began_));
  if (sample.counters.outer > options_.free_iterations) spent_looking_ += cost_of_a_look_;
  samples_.push_back(sample);

  for (const Measure measure : all_measures()) {
    const double value = sample.measures[measure];
    if (std::isnan(best_[measure]) || value < best_[measure]) best_[measure] = value;
  }
  for (TargetRecord& record : targets_) {
    if (!record.reached && record.target.reached(sample.measures)) record.reached = sample;
  }
  stop_reached_ = all_reached(options_.stop, sample.measures) && sample.time <= options_.time_limit;
  if (sample.own_residual >= 0) {  // there is nothing below 0: no reason to look again
    const double half_decade =
        sample.own_residual > 0 ? std::pow(10, std::floor(2 * std::log10(sample.own_residual)) / 2)
                                : 0;
    smallest_half_decade_ = std::min(smallest_half_decade_, half_decade);
  }
  const bool dense = samples_.size() < dense_samples;
  growth_ = dense && near_a_target() ? options_.fine_growth : options_.growth;
  if (progressed_) progressed_(sample);
}

bool Recorder::observe(const Progress& progress, const std::function<void(Vector&)>& write_gamma) {
  const double elapsed = this->elapsed();
  limit_passed_ =
      elapsed >= options_.time_limit || progress.counters.outer >= options_.iteration_limit;
  looked_last_ = wants_to_look(progress, elapsed);
  if (!looked_last_) return limit_passed_;
  clock_.pause();
  const RankTimes of_solve = rank_times();
  look_began_ = SolveClock::Time::now();
  write_gamma(gamma_);
  look(progress, gamma_);
  rank_times() = of_solve;
  clock_.resume();
  return stop_reached_ || limit_passed_;
}

bool Recorder::out_of_time() {
  if (elapsed() >= options_.time_limit) limit_passed_ = true;
  return limit_passed_;
}

double Recorder::aim(Law law) const {
  double aim = std::numeric_limits<double>::infinity();
  for (const Target& target : options_.stop) {
    if (target.measure != residual_of(law)) return 0;
    aim = std::min(aim, target.value);
  }
  return options_.stop.empty() ? 0 : aim;
}

void Recorder::finish(const Info& info, const Vector& gamma) {
  clock_.pause();
  spent_with_ranks_ = rank_times();
  look_began_ = SolveClock::Time::now();
  // The answer was looked at already if the solve ended in that very look, and handed back what
  // was seen there: a solver may prefer an iterate of before.
  const bool seen = looked_last_ && info.status == Status::stopped_by_observer &&
                    samples_.back().counters.outer == info.counters.outer &&
                    same(ranks_, read_view(gamma), read_view(gamma_));
  if (!seen) look({info.counters, info.own_residual}, gamma);
}

}  // namespace ccp
