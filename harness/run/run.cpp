#include "harness/run/run.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "harness/run/external.hpp"
#include "harness/run/start.hpp"
#include "harness/run/subject.hpp"
#include "problems/base/error.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "solvers/core/stopwatch.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/distributed/gather.hpp"
#include "solvers/registry.hpp"

namespace ccp {
namespace {

using Clock = std::chrono::steady_clock;

double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

/// Seconds that `work` takes on rank 0, all device work included.
template <class Work>
double seconds(const Ranks& ranks, const Work& work) {
  fence();
  const auto start = Clock::now();
  work();
  fence();
  return ranks.of_first(seconds_since(start));
}

/// What all ranks say, on all of them.
std::vector<RankTimes> gathered(const Ranks& ranks, const RankTimes& own) {
  constexpr std::size_t width = 4;
  std::vector<double> rows(width * static_cast<std::size_t>(ranks.size()));
  const std::size_t at = width * static_cast<std::size_t>(ranks.rank());
  rows[at] = own.exchange, rows[at + 1] = own.reduction;
  rows[at + 2] = static_cast<double>(own.exchanges);
  rows[at + 3] = static_cast<double>(own.reductions);
  ranks.sum(rows.data(), static_cast<int>(rows.size()));
  std::vector<RankTimes> all;
  for (auto row = rows.begin(); row != rows.end(); row += width) {
    all.push_back({row[0], row[1], std::lround(row[2]), std::lround(row[3])});
  }
  return all;
}

double relative_difference(const Ranks& ranks, const Vector& x, const Vector& y) {
  const auto a = read_view(x), b = read_view(y);
  double difference = 0, scale = 0;
  Kokkos::parallel_reduce(
      "ccp::Run::relative_difference", range(a.extent(0)),
      KOKKOS_LAMBDA(const int i, double& d, double& s) {
        if (fabs(a(i) - b(i)) > d) d = fabs(a(i) - b(i));
        if (fabs(a(i)) > s) s = fabs(a(i));
      },
      Kokkos::Max<double>(difference), Kokkos::Max<double>(scale));
  difference = ranks.largest(difference);
  scale = ranks.largest(scale);
  return scale > 0 ? difference / scale : 0;
}

/// Ends a solve after a number of outer iterations, or at a time of rank 0.
class BareRun : public Observer, public KnownAim {
 public:
  /// @param repeated  the run that this one repeats, or null
  BareRun(const Ranks& ranks, long outer, double time_limit, const Recorder* repeated = nullptr)
      : ranks_(ranks), outer_(outer), time_limit_(time_limit), repeated_(repeated) {}
  bool observe(const Progress& progress, const std::function<void(Vector&)>&) override {
    ended_ = progress.counters.outer >= outer_;
    return out_of_time() || ended_;
  }
  bool out_of_time() override {
    cut_ = cut_ || ranks_.of_first(seconds_since(start_)) > time_limit_;
    return cut_;
  }
  /// Whether that iteration is the answer, as it was of the run that is repeated.
  bool satisfied() const override { return ended_ && repeated_ && repeated_->satisfied(); }
  double aim(Law law) const override { return repeated_ ? repeated_->aim(law) : 0; }
  bool cut() const { return cut_; }

 private:
  Ranks ranks_;
  long outer_;
  double time_limit_;
  const Recorder* repeated_;
  bool ended_ = false, cut_ = false;
  Clock::time_point start_ = Clock::now();
};

/// The first part of the warm-up: a few iterations on a tiny problem of the same form, of which
/// every rank has one.
void warm_up_solver(const SolverSpec& spec, const SolverEntry& entry, double limit) {
  const ContactProblem scene = make_scene(entry.takes(Form::bodies) ? "stack" : "assembled-stack");
  const Problem tiny(scene);
  const auto solver = make_solver(spec);
  try {
    solver->setup(tiny);
  } catch (const InputError&) {  // options that contradict the tiny problem, not the real one
    return;
  }
  Vector gamma(tiny.map(), 1);
  BareRun two(Ranks(), 2, limit);
  solver->solve(gamma, two);
  fence();
}

/// The second part: products with N until the time is over.
void warm_up_processor(Subject& subject, double limit) {
  const Ranks& ranks = subject.problem().ranks();
  const auto start = Clock::now();
  const Vector zero(subject.problem().map(), 1);
  while (ranks.of_first(seconds_since(start)) < limit) {
    subject.judge(zero);
    fence();
  }
}

/// Why this request cannot be carried out, before any work; "" if it can.
/// @param guess  to start from; empty: cold
std::string why_refused(const RunRequest& request, const SolverEntry& entry, const Ranks& ranks,
                        const ContactProblem& host, const std::vector<double>& guess) {
  if (ranks.size() > 1) {
    if (const std::string reason = why_unsupported_on_ranks(request.solver); !reason.empty()) {
      return reason;
    }
  }
  if (const std::string reason = why_unsupported(request.solver, host); !reason.empty()) {
    return reason;
  }
  return !guess.empty() && !entry.warm_start ? entry.id + " cannot start from a guess" : "";
}

}  // namespace

RunResult run(const RunRequest& request, const std::string& command_line, const RunWatch& watch,
              const Ranks& ranks) {
  if (request.external) return run_external(request, command_line, watch);
  const SolverEntry& entry = solver_entry(request.solver.id);
  const auto solver = make_solver(request.solver);
  const auto start = Clock::now();
  if (request.warm_up > 0) warm_up_solver(request.solver, entry, request.warm_up);
  const double warm_up_left = request.warm_up - seconds_since(start);
  double warm_up_time = seconds_since(start);
  const double memory_before = peak_memory();
  double problem_time = 0;
  const auto subject = read_subject(request, ranks, problem_time);
  const ContactProblem& host = subject->host();
  const Problem& problem = subject->problem();
  RunResult result = subject->describe(request, command_line);
  result.problem_time = problem_time;
  warm_up_time += seconds(ranks, [&] { warm_up_processor(*subject, warm_up_left); });
  result.warm_up_time = request.warm_up > 0 ? warm_up_time : 0;
  result.startup_time = std::max(seconds_since_process_start() - result.warm_up_time, 0.0);

  Recorder* looks = nullptr;
  const auto first_look = Clock::now();
  double checkpoint_cost = 0, checkpoints = 0;  // s: the last one, all of them
  const auto progressed = [&](const Sample& sample) {
    if (ranks.rank() > 0) return;
    if (watch.progressed) watch.progressed(sample);
    constexpr double free = 0.05, share = 0.05;
    const double affordable = free + share * seconds_since(first_look);
    if (!watch.checkpoint || checkpoints + checkpoint_cost > affordable) return;
    const auto start = Clock::now();
    RunResult so_far = result;
    so_far.final_measures = Measures(std::nan(""));
    copy_looks(*looks, so_far);
    watch.checkpoint(so_far);
    checkpoint_cost = seconds_since(start);
    checkpoints += checkpoint_cost;
  };
  Recorder recorder(
      problem.map(), request.recorder, [&](const Vector& gamma) { return subject->judge(gamma); },
      progressed);
  looks = &recorder;
  const std::vector<double> guess = start_values(request.start, host);  // ranks start cold
  const std::string refused = why_refused(request, entry, ranks, host, guess);
  const auto start_from_guess = [&](Vector& vector) {
    if (!guess.empty()) upload_to(overwrite_view(vector), guess);
  };
  Vector gamma(problem.map(), 1);

  if (!refused.empty()) {
    result.info.status = Status::unsupported;
    result.info.message = refused;
  } else {
    try {
      result.setup_time = seconds(ranks, [&] { solver->setup(problem); });
    } catch (const InputError& fault) {  // options that contradict this problem
      result.info.status = Status::unsupported;
      result.info.message = fault.what();
    }
  }
  if (result.info.status != Status::unsupported) start_from_guess(gamma);
  recorder.start();
  if (result.info.status != Status::unsupported) result.info = solver->solve(gamma, recorder);
  recorder.finish(result.info, gamma);

  if (result.info.status == Status::stopped_by_observer && !recorder.stop_reached() &&
      recorder.limit_passed()) {
    result.info.status = recorder.elapsed() >= request.recorder.time_limit ? Status::time_limit
                                                                           : Status::max_iterations;
  }
  result.status = result.info.status;
  // Nothing was solved where the solver does not take the problem, whatever zero impulses are
  // worth.
  result.stop_reached = recorder.stop_reached() && result.status != Status::unsupported;
  const Info info = result.info;
  copy_looks(recorder, result);
  result.info = info;
  result.time = recorder.elapsed();
  if (ranks.size() > 1) result.rank_times = gathered(ranks, recorder.spent_with_ranks());
  result.final_measures = recorder.samples().back().measures;
  if (result.contacts > 0) {
    result.memory_per_contact =
        ranks.sum(peak_memory() - memory_before) / static_cast<double>(result.contacts);
  }
  if (request.keep_gamma) {
    result.gamma = ranks.size() == 1 ? download(read_view(gamma)) : gathered_on_first(gamma);
  }
  if (request.bare_check && result.info.status != Status::unsupported) {
    Vector bare(problem.map(), 1);
    start_from_guess(bare);
    BareRun limit(ranks, result.info.counters.outer, request.recorder.time_limit, &recorder);
    result.bare_time = seconds(ranks, [&] { solver->solve(bare, limit); });
    result.bare_difference = limit.cut() ? std::nan("") : relative_difference(ranks, gamma, bare);
  }
  return result;
}

}  // namespace ccp
