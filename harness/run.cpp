#include "harness/run.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "problems/error.hpp"
#include "problems/problem_file.hpp"
#include "solvers/core/registry.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

double peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

/// Seconds that `work` takes, all device work included.
template <class Work>
double seconds(const Work& work) {
  fence();
  const auto start = std::chrono::steady_clock::now();
  work();
  fence();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double relative_difference(const Vector& x, const Vector& y) {
  const auto a = read_view(x), b = read_view(y);
  double difference = 0, scale = 0;
  Kokkos::parallel_reduce(
      "ccp::Run::relative_difference", range(a.extent(0)),
      KOKKOS_LAMBDA(const int i, double& d, double& s) {
        if (fabs(a(i) - b(i)) > d) d = fabs(a(i) - b(i));
        if (fabs(a(i)) > s) s = fabs(a(i));
      },
      Kokkos::Max<double>(difference), Kokkos::Max<double>(scale));
  return scale > 0 ? difference / scale : 0;
}

}  // namespace

RunResult run(const RunRequest& request, const std::string& command_line,
              const Recorder::Progressed& progressed) {
  const SolverEntry& entry = solver_entry(request.solver.id);
  const auto solver = make_solver(request.solver);
  const double memory_before = peak_memory();
  const ContactProblem host = read_problem(request.problem_file);

  RunResult result;
  result.provenance = collect_provenance(backend_threads(), command_line);
  result.instance = host.name;
  result.instance_hash = host.content_hash();
  result.form = host.form == ContactProblem::Form::bodies ? "bodies" : "assembled";
  result.contacts = static_cast<long>(host.contacts());
  result.bodies = static_cast<long>(host.bodies());
  result.solver = request.solver.text();
  result.law = entry.law;
  result.options = solver->options().entries();

  std::unique_ptr<Problem> problem;
  result.problem_time = seconds([&] { problem = std::make_unique<Problem>(host); });
  Referee referee(*problem);
  Recorder recorder(
      problem->map(), request.recorder, [&](const Vector& gamma) { return referee.measure(gamma); },
      progressed);
  Vector gamma(problem->map(), 1);

  if (!supports(entry, host)) {
    result.info.status = Status::unsupported;
    result.info.message = entry.id + " does not take problems in " + result.form + " form";
  } else {
    try {
      result.setup_time = seconds([&] { solver->setup(*problem); });
    } catch (const InputError& fault) {  // options that contradict this problem
      result.info.status = Status::unsupported;
      result.info.message = fault.what();
    }
  }
  recorder.start();
  if (result.info.status != Status::unsupported) result.info = solver->solve(gamma, recorder);
  recorder.finish(result.info, gamma);

  if (result.info.status == Status::stopped_by_observer && !recorder.stop_reached() &&
      recorder.limit_passed()) {
    result.info.status = recorder.elapsed() >= request.recorder.time_limit ? Status::time_limit
                                                                           : Status::max_iterations;
  }
  result.status = to_string(result.info.status);
  result.stop_reached = recorder.stop_reached();
  result.time = recorder.elapsed();
  result.samples = recorder.samples();
  result.targets = recorder.targets();
  result.best = recorder.best();
  result.final_measures = recorder.samples().back().measures;
  if (result.contacts > 0) {
    result.memory_per_contact =
        (peak_memory() - memory_before) / static_cast<double>(result.contacts);
  }
  if (request.keep_gamma) result.gamma = download(read_view(gamma));
  if (request.bare_check && result.info.status != Status::unsupported) {
    Vector bare(problem->map(), 1);
    IterationLimit limit(result.info.counters.outer);
    result.bare_time = seconds([&] { solver->solve(bare, limit); });
    result.bare_difference = relative_difference(gamma, bare);
  }
  return result;
}

}  // namespace ccp
