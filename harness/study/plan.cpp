#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include "harness/run/start.hpp"
#include "harness/study/study.hpp"
#include "problems/base/error.hpp"
#include "problems/base/sha256.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/model/descriptors.hpp"
#include "solvers/registry.hpp"

namespace ccp {
namespace {

std::string digest(const std::string& text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex();
}

}  // namespace

std::string digest_of(const KeyParts& parts) {
  std::string text;
  for (const auto& [name, value] : parts) {  // with sizes, because values may hold anything
    text += fmt::format("{} {} {}\n", name, value.size(), value);
  }
  return digest(text);
}

namespace {

/// The numbers 0 to count - 1 in an order that depends on the seed alone, on every machine.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

bool selected(const Study& study, const InstanceSummary& instance) {
  const auto meets = [&](const Selection& condition) {
    return std::any_of(
        instance.descriptors.begin(), instance.descriptors.end(), [&](const auto& descriptor) {
          return descriptor.first == condition.descriptor && condition.admits(descriptor.second);
        });
  };
  return std::all_of(study.select.begin(), study.select.end(), meets);
}

struct Instance {
  std::string file;
  std::shared_ptr<const InstanceSummary> summary;
};

/// A stop that could never be measured is refused before the work.
void check_stop(const Study& study, const std::string& file, const ContactProblem& problem) {
  if (problem.reference) return;
  for (const Target& stop : study.request.recorder.stop) {
    const MeasureEntry& entry = entry_of(stop.measure);
    if (!entry.needs_reference) continue;
    throw InputError(file, "",
                     fmt::format("a reference solution, which the stop {} of study {} is measured "
                                 "by (`ccpbench certify` makes one)",
                                 entry.name, study.name),
                     "none");
  }
}

std::vector<Instance> instances_of(const Study& study) {
  std::vector<Instance> instances;
  std::map<std::string, std::string> seen;  // name and content, and the file they came from
  for (const std::string& file : study.problem_files) {
    const ContactProblem problem = read_problem(file);
    auto instance = std::make_shared<InstanceSummary>();
    instance->name = problem.name;
    instance->hash = problem.content_hash();
    instance->form = problem.form;
    instance->contacts = static_cast<long>(problem.contacts());
    instance->bodies = static_cast<long>(problem.bodies());
    instance->descriptors = descriptors(problem);
    const auto [first, is_new] = seen.emplace(problem.name + instance->hash, file);
    if (!is_new) {
      throw InputError(file, "", "a problem that the study does not have yet",
                       "the same name and content as " + first->second);
    }
    if (!selected(study, *instance)) continue;
    check_stop(study, file, problem);
    for (const std::string& start : study.starts) {
      try {
        instance->starts[start] = start_identity(start, problem);
      } catch (const InputError& error) {
        throw InputError(file + ": " + error.what());
      }
    }
    instances.push_back({file, std::move(instance)});
  }
  if (instances.empty()) {
    throw InputError(study.select_place, "", "at least one problem that meets all conditions",
                     fmt::format("none of {}", study.problem_files.size()));
  }
  return instances;
}

/// Readable, and unique by the digest of what the readable part may have lost.
/// @param solver, start  as texts, in whatever spelling
std::string file_name_of(const PlannedRun& run, const std::string& solver,
                         const std::string& start) {
  const std::string text = start == "cold" ? solver : solver + ",from-" + start;
  const int ranks = run.request.ranks;
  return fmt::format("{}__{}__t{}{}__r{}__{}.h5", safe_in_file_names(run.instance->name),
                     safe_in_file_names(text).substr(0, 80), run.request.threads,
                     ranks == 1 ? "" : fmt::format("__n{}", ranks), run.request.repetition,
                     digest(run.instance->hash + text).substr(0, 6));
}

/// Threads and ranks of the runs, in their order.
std::vector<std::pair<int, int>> widths_of(const Study& study) {
  std::vector<std::pair<int, int>> widths;
  for (const int threads : study.threads) {
    for (const int ranks : study.ranks) widths.emplace_back(threads, ranks);
  }
  return widths;
}

}  // namespace

std::vector<PlannedRun> plan(const Study& study, int jobs) {
  std::vector<PlannedRun> runs;
  const KeyParts build = build_identity(), machine = machine_identity();
  std::vector<std::pair<SolverSpec, std::string>> turns;
  for (const SolverSpec& solver : study.solvers) {
    for (const std::string& start : study.starts) {
      const bool external = study.externals.count(solver.id) > 0;
      if (start == "cold" || (!external && solver_entry(solver.id).warm_start))
        turns.emplace_back(solver, start);
    }
  }
  if (turns.empty()) {
    throw InputError(study.name, "starts", "'cold' too, which all of its solvers can do",
                     "guesses only, which none of them uses");
  }
  const auto written = [&](const std::string& text) {
    const auto found = study.written.find(text);
    return found == study.written.end() ? text : found->second;
  };
  const auto runs_on = [&](const std::pair<SolverSpec, std::string>& turn, int ranks) {
    if (ranks == 1) return true;
    return study.externals.count(turn.first.id) == 0 && turn.second == "cold" &&
           why_unsupported_on_ranks(turn.first).empty();
  };
  std::uint64_t block = 0;  // of runs among which the order is random
  for (const Instance& instance : instances_of(study)) {
    for (const auto& [threads, ranks] : widths_of(study)) {
      for (int repetition = 1; repetition <= study.repetitions; ++repetition) {
        const std::uint64_t seed = 1000003 * static_cast<std::uint64_t>(study.seed) + block++;
        for (const std::size_t turn : shuffled(turns.size(), seed)) {
          if (!runs_on(turns[turn], ranks)) continue;
          PlannedRun planned;
          planned.instance = instance.summary;
          RunRequest& request = planned.request;
          request = study.request;
          request.problem_file = instance.file;
          std::tie(request.solver, request.start) = turns[turn];
          if (const auto external = study.externals.find(request.solver.id);
              external != study.externals.end()) {
            request.external = external->second;
          }
          request.threads = threads;
          request.ranks = ranks;
          request.repetition = repetition;
          judge_by_law(request);

          const std::string& hash = instance.summary->hash;
          planned.key_parts =
              key_parts(request, hash, instance.summary->starts.at(request.start), jobs);
          if (request.external) request.bare_check = false;  // there is no such thing
          planned.key_parts.insert(planned.key_parts.end(), build.begin(), build.end());
          planned.key_parts.insert(planned.key_parts.end(), machine.begin(), machine.end());
          planned.key = digest_of(planned.key_parts);
          const std::string solver = request.solver.text();
          planned.file_name = file_name_of(planned, solver, request.start);
          planned.former_name = file_name_of(planned, written(solver), written(request.start));
          if (planned.former_name == planned.file_name) planned.former_name.clear();
          runs.push_back(std::move(planned));
        }
      }
    }
  }
  if (runs.empty()) {
    throw InputError(study.name, "ranks", "1 too, or a solver that runs on several",
                     "none that does");
  }
  return runs;
}

}  // namespace ccp
