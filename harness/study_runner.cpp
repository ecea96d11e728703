#include "harness/study_runner.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include "harness/result_file.hpp"
#include "problems/error.hpp"
#include "problems/hdf5_file.hpp"
#include "problems/problem_file.hpp"
#include "solvers/core/registry.hpp"

extern char** environ;

namespace ccp {
namespace fs = std::filesystem;

namespace {

/// How a child ended: by itself with a code, by a signal, or killed by us at its limit.
struct ChildEnd {
  int exit_code = -1, signal = 0;
  bool killed = false;
};

/// Starts a command and waits for it, killing it at the limit.
ChildEnd run_child(const std::vector<std::string>& command, int threads, double limit_s) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // Threads stay where they are put, unless the user said otherwise.
  std::vector<std::string> settings;
  for (char** entry = environ; *entry; ++entry) settings.emplace_back(*entry);
  const auto set_default = [&](const std::string& name, const std::string& value) {
    if (!getenv(name.c_str())) settings.push_back(name + "=" + value);
  };
  set_default("OMP_PROC_BIND", threads > 1 ? "spread" : "true");
  set_default("OMP_PLACES", "cores");
  std::vector<char*> environment;
  for (std::string& entry : settings) environment.push_back(entry.data());
  environment.push_back(nullptr);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  pid_t child = 0;
  const int error = posix_spawn(&child, command[0].c_str(), nullptr, &attributes, arguments.data(),
                                environment.data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw InputError(command[0], "", "to start a process", std::strerror(error));
  }
  ChildEnd end;
  const auto start = std::chrono::steady_clock::now();
  auto pause = std::chrono::milliseconds(1);
  int state = 0;
  while (waitpid(child, &state, WNOHANG) == 0) {
    const double elapsed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!end.killed && elapsed > limit_s) {
      end.killed = true;
      kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(50));
  }
  if (WIFEXITED(state)) end.exit_code = WEXITSTATUS(state);
  if (WIFSIGNALED(state)) end.signal = WTERMSIG(state);
  return end;
}

std::vector<std::string> child_command(const StudyRunOptions& options, const PlannedRun& run,
                                       const std::string& result_file, const std::string& label) {
  const RunRequest& request = run.request;
  std::string targets;
  for (const Target& target : request.recorder.targets) {
    targets += (targets.empty() ? "" : ",") + target.text();
  }
  std::vector<std::string> command = {options.program,
                                      "solve",
                                      request.problem_file,
                                      "--solver",
                                      request.solver.text(),
                                      "--stop",
                                      request.recorder.stop->text(),
                                      "--time-limit",
                                      number_text(request.recorder.time_limit),
                                      "--threads",
                                      fmt::format("{}", request.threads),
                                      "--output",
                                      result_file,
                                      "--force",
                                      "--study",
                                      request.study,
                                      "--repetition",
                                      fmt::format("{}", request.repetition),
                                      "--key",
                                      run.key,
                                      "--label",
                                      label};
  if (!targets.empty()) command.insert(command.end(), {"--targets", targets});
  if (options.quiet) command.emplace_back("--quiet");
  return command;
}

/// The row of a run that left no result.
void write_failure(const std::string& path, const PlannedRun& run, const std::string& status,
                   const std::string& message) {
  const ContactProblem problem = read_problem(run.request.problem_file);
  RunResult result;
  result.instance = problem.name;
  result.instance_hash = problem.content_hash();
  result.form = problem.form == ContactProblem::Form::bodies ? "bodies" : "assembled";
  result.contacts = static_cast<long>(problem.contacts());
  result.bodies = static_cast<long>(problem.bodies());
  result.solver = run.request.solver.text();
  result.law = solver_entry(run.request.solver.id).law;
  result.options = make_solver(run.request.solver)->options().entries();
  result.status = status;
  result.info.message = message;
  result.info.own_residual = std::nan("");
  for (std::size_t m = 0; m < measure_count; ++m) {
    result.final_measures[static_cast<Measure>(m)] = std::nan("");
    result.best[static_cast<Measure>(m)] = std::nan("");
  }
  for (const Target& target : run.request.recorder.targets) {
    result.targets.push_back({target, std::nullopt});
  }
  result.provenance = collect_provenance(run.request.threads, "");
  write_result(path, run.request, result, run.key, true);
}

bool is_failure(const std::string& status) {
  return status == "crashed" || status == "killed";
}

/// Why a run must be made, or "" when its result stands.
std::string reason_to_run(const std::string& path, const PlannedRun& run,
                          const StudyRunOptions& options) {
  if (!fs::exists(path)) return "no result yet";
  if (options.force) return "--force";
  try {
    const ResultSummary summary = read_result(path);
    if (summary.key != run.key) return "made with other settings, build or machine";
    if (options.retry_failed && is_failure(summary.status)) return "it " + summary.status;
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

StudyOutcome run_study(const Study& study, const StudyRunOptions& options) {
  const std::vector<PlannedRun> runs = plan(study);
  const auto path_of = [&](const PlannedRun& run) {
    return (fs::path(options.output) / run.file_name).string();
  };
  if (!options.resume && !options.force && !options.dry_run) {
    for (const PlannedRun& run : runs) {
      if (fs::exists(path_of(run))) {
        throw InputError(
            path_of(run), "",
            "no result of that name (--resume keeps finished runs, --force redoes them)",
            "an existing file");
      }
    }
  }
  if (!options.dry_run) {
    std::error_code error;
    fs::create_directories(options.output, error);
    if (error) throw InputError(options.output, "", "a folder for the results", error.message());
  }

  StudyOutcome outcome;
  outcome.runs = static_cast<int>(runs.size());
  int number = 0;
  for (const PlannedRun& run : runs) {
    ++number;
    const std::string path = path_of(run);
    const std::string label = fmt::format(
        "[{}/{}] {} x {}{}{}", number, runs.size(),
        fs::path(run.request.problem_file).stem().string(), run.request.solver.text(),
        run.request.threads > 1 ? fmt::format(" t{}", run.request.threads) : "",
        study.repetitions > 1 ? fmt::format(" rep {}/{}", run.request.repetition, study.repetitions)
                              : "");
    const std::string reason = reason_to_run(path, run, options);
    if (options.dry_run) {
      fmt::print("{}  {}\n", label, reason.empty() ? "finished" : "to run: " + reason);
      continue;
    }
    if (reason.empty()) {
      ++outcome.skipped;
      if (!options.quiet) fmt::print("{}  finished before, kept\n", label);
    } else {
      check_output_path(path, true);
      fs::remove(path);  // a child that fails must not leave an older result in its place
      const double limit = 1.5 * run.request.recorder.time_limit + 10;
      const ChildEnd end =
          run_child(child_command(options, run, path, label), run.request.threads, limit);
      if (!fs::exists(path)) {
        const std::string message =
            end.killed   ? fmt::format("killed after {:.0f} s, 1.5 times its limit and 10 s", limit)
            : end.signal ? fmt::format("ended by signal {} ({})", end.signal, strsignal(end.signal))
                         : fmt::format("ended with exit code {} and no result", end.exit_code);
        write_failure(path, run, end.killed ? "killed" : "crashed", message);
        fmt::print("{}  {}\n", label, message);
      }
    }
    std::fflush(stdout);
    const ResultSummary summary = read_result(path);
    if (is_failure(summary.status)) {
      ++outcome.crashed;
    } else if (summary.stop_reached) {
      ++outcome.reached;
    } else {
      ++outcome.not_reached;
    }
  }
  return outcome;
}

}  // namespace ccp
