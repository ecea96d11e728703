#include <fmt/format.h>
#include <signal.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/app/app.hpp"
#include "harness/app/json.hpp"
#include "harness/app/listed_options.hpp"
#include "harness/app/terminal.hpp"
#include "harness/study/runner.hpp"
#include "harness/study/simulation_study.hpp"
#include "problems/base/error.hpp"

namespace ccp::app {
namespace {

std::atomic<int> caught_signal{0};

/// While it lives, Ctrl-C and a polite kill are noted instead of ending the process; signals that
/// are ignored (nohup) stay so.
class SignalNote {
 public:
  SignalNote() {
    struct sigaction action {};
    action.sa_handler = [](int signal) { caught_signal = signal; };
    for (Before& before : before_) {
      sigaction(before.signal, nullptr, &before.action);
      if (before.action.sa_handler != SIG_IGN) sigaction(before.signal, &action, nullptr);
    }
  }
  ~SignalNote() {
    for (const Before& before : before_) sigaction(before.signal, &before.action, nullptr);
  }
  SignalNote(const SignalNote&) = delete;
  SignalNote& operator=(const SignalNote&) = delete;

 private:
  struct Before {
    int signal;
    struct sigaction action {};
  };
  Before before_[3] = {{SIGINT}, {SIGTERM}, {SIGHUP}};
};

/// "[12/180] tp3 × vipm openmp rep 2/5"
std::string label_of(const RunNews& news) {
  const RunRequest& request = news.run->request;
  std::string backend = backend_name();
  for (char& c : backend) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string label = fmt::format("[{}/{}] {} × {} {}", news.number, news.total,
                                  news.run->instance->name, request.solver.text(), backend);
  if (request.threads > 1) label += fmt::format(" t{}", request.threads);
  if (request.ranks > 1) label += fmt::format(" n{}", request.ranks);
  if (news.repetitions > 1) {
    label += fmt::format(" rep {}/{}", request.repetition, news.repetitions);
  }
  return label;
}

std::string outcome_of(const RunNews& news) {
  if (news.reason.empty()) return "finished before, kept";
  const ResultSummary& result = news.result;
  if (is_failure(result.status)) return to_string(result.status) + ": " + result.message;
  return fmt::format(
      "{}: {} {}{} in {}, {} outer{}", result.stop_reached ? "reached" : to_string(result.status),
      name_of(result.residual_measure), scientific(result.residual),
      result.residual_measure == Measure::residual ? " error " + scientific(result.error)
                                                   : std::string(),
      duration(result.time), grouped(result.outer),
      result.krylov > 0 ? fmt::format(", {} Krylov", grouped(result.krylov)) : std::string());
}

nlohmann::ordered_json identity_of(const RunNews& news) {
  const RunRequest& request = news.run->request;
  return {{"run", news.number},
          {"of", news.total},
          {"file", news.run->file_name},
          {"instance", news.run->instance->name},
          {"solver", request.solver.text()},
          {"threads", request.threads},
          {"ranks", request.ranks},
          {"repetition", request.repetition}};
}

/// Prints what happens: a line per run for people or, as JSON, for programs; on a terminal also one
/// line that rewrites itself.
class Printer : public StudyListener {
 public:
  Printer(bool quiet, bool json) : quiet_(quiet), json_(json), line_(!quiet && !json) {}

  void planned(const RunNews& news) override {
    if (json_) {
      auto row = identity_of(news);
      row["reason"] = news.reason.empty() ? nlohmann::ordered_json(nullptr)
                                          : nlohmann::ordered_json(news.reason);
      print(row);
    } else {
      fmt::print("{}  {}\n", label_of(news),
                 news.reason.empty() ? "finished" : "to run: " + news.reason);
    }
  }

  void finished(const RunNews& news) override {
    line_.clear();
    const ResultSummary& result = news.result;
    if (json_) {
      auto row = identity_of(news);
      row["kept"] = news.reason.empty();
      row["status"] = to_string(result.status);
      row["message"] = result.message;
      row["stop_reached"] = result.stop_reached;
      row["time"] = number_or_null(result.time);
      row["outer"] = result.outer;
      row["krylov"] = result.krylov;
      row[name_of(result.residual_measure)] = number_or_null(result.residual);
      row["error"] = number_or_null(result.error);
      print(row);
    } else if (!quiet_ || is_failure(result.status)) {
      fmt::print("{}  {}\n", label_of(news), outcome_of(news));
      std::fflush(stdout);
    }
  }

  void doubtful(const std::string& reason) override {
    if (json_ || quiet_) return;
    line_.clear();
    fmt::print(stderr, "ccpbench: warning: {}\n", reason);
  }

  void progress(const std::vector<RunInFlight>& runs, double left) override {
    // The oldest run has a line of its own; of the others there is a number.
    const RunInFlight& run = runs.front();
    const Target& stop = run.news.run->request.recorder.stop.front();
    std::string text;
    if (std::isnan(run.time)) {
      text += fmt::format("  starting  {:.1f} s", run.elapsed);
    } else {
      text += fmt::format("  {} {}  {:.1f}/{:g} s", name_of(stop.measure), scientific(run.value),
                          run.time, run.news.run->request.recorder.time_limit);
    }
    if (runs.size() > 1) text += fmt::format("  and {} more", runs.size() - 1);
    if (!std::isnan(left)) text += "  eta " + rough_duration(left);
    line_.show(label_of(run.news), text);
  }

  void clear() { line_.clear(); }

  static void print(const nlohmann::ordered_json& row) {
    fmt::print("{}\n", json_text(row));
    std::fflush(stdout);
  }

 private:
  bool quiet_, json_;
  ProgressLine line_;
};

void summarize(const Study& study, const StudyRunOptions& options, const StudyOutcome& outcome,
               bool json) {
  const int done = outcome.reached + outcome.not_reached + outcome.crashed;
  if (json) {
    Printer::print({{"study", study.name},
                    {"folder", options.output},
                    {"runs", outcome.runs},
                    {"done", done},
                    {"reached", outcome.reached},
                    {"not_reached", outcome.not_reached},
                    {"crashed", outcome.crashed},
                    {"kept", outcome.skipped},
                    {"doubtful", outcome.doubtful},
                    {"interrupted", outcome.interrupted}});
    return;
  }
  const int missing = outcome.runs - done;
  fmt::print("{} in {}: {} reached {}, {} did not, {} crashed{} ({} kept from before)\n",
             counted(outcome.runs, "run"), options.output, outcome.reached,
             targets_text(study.request.recorder.stop), outcome.not_reached, outcome.crashed,
             missing > 0 ? fmt::format(", {} not made", missing) : "", outcome.skipped);
}

/// "[3/12] bouncing-ball × rattle, dt 0.01"
std::string label_of(const SimulationRow& row) {
  const SimulationRequest& request = row.run->request;
  std::string label = fmt::format("[{}/{}] {}", row.number, row.total, request.scene);
  for (const std::string& part : {request.stepper, request.solver}) {
    if (!part.empty()) label += " × " + part;
  }
  if (request.start != "previous") label += " from " + request.start;
  return request.dt > 0 ? label + fmt::format(", dt {:g}", request.dt) : label;
}

nlohmann::ordered_json as_json(const SimulationRow& row) {
  const SimulationRequest& request = row.run->request;
  nlohmann::ordered_json object = {{"run", row.number},          {"of", row.total},
                                   {"file", row.run->file_name}, {"scene", request.scene},
                                   {"stepper", request.stepper}, {"solver", request.solver},
                                   {"start", request.start},     {"dt", request.dt},
                                   {"reason", row.reason},       {"status", row.status},
                                   {"message", row.message}};
  if (!row.summary) return object;
  for (const auto& [name, value] : row.summary->numbers) object[name] = number_or_null(value);
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
  for (const auto& [name, value] : row.summary->values) values[name] = number_or_null(value);
  object["values"] = values;
  return object;
}

std::string outcome_of(const SimulationRow& row) {
  if (row.status.empty()) return row.reason.empty() ? "finished" : "to run: " + row.reason;
  std::string text = row.reason.empty() ? "kept, " + row.status : row.status;
  if (!row.message.empty()) text += ": " + row.message;
  if (!row.summary) return text;
  for (const auto& [name, value] : row.summary->numbers) {
    if (name == "wall_time") text += " in " + duration(value);
  }
  for (const auto& [name, value] : row.summary->values) {
    text += fmt::format(", {} {:.6g}", name, value);
  }
  return text;
}

/// A study of simulations. Exit code as of the others: crashed before diverged.
void run_simulations(const std::string& path, const StudyRunOptions& given, bool quiet, bool json,
                     Context& context) {
  if (given.jobs > 1) {
    throw InputError("--jobs", "", "1: simulations are made one after the other",
                     fmt::format("{}", given.jobs));
  }
  if (given.oversubscribe) {
    throw InputError("--oversubscribe", "", "a study of solves: simulations have no ranks",
                     "one of simulations");
  }
  const SimulationStudy study = read_simulation_study(path);
  SimulationStudyOptions options;
  options.output = given.output.empty() ? "results/" + study.name : given.output;
  options.resume = given.resume;
  options.force = given.force;
  options.dry_run = given.dry_run;
  options.program = context.program;
  options.interrupted = [] { return caught_signal != 0; };
  int finished = 0, failed = 0, diverged = 0;
  std::size_t made = 0;
  {
    const SignalNote note;
    made = run_simulation_study(study, options, [&](const SimulationRow& row) {
             diverged += row.status == "diverged";
             finished += row.status == "finished";
             const bool failure =
                 !row.status.empty() && row.status != "diverged" && row.status != "finished";
             failed += failure;
             if (json) {
               Printer::print(as_json(row));
             } else if (!quiet || failure) {
               fmt::print("{}  {}\n", label_of(row), outcome_of(row));
               std::fflush(stdout);
             }
           }).size();
  }
  if (options.dry_run) return;
  if (!quiet && !json) {
    fmt::print(
        "{} in {}: {} finished, {} diverged, {} crashed; simulations.csv has a row for each\n",
        counted(static_cast<int>(made), "simulation"), options.output, finished, diverged, failed);
  }
  if (caught_signal != 0) {
    fmt::print(stderr, "ccpbench: interrupted; --resume goes on where it stopped\n");
    std::fflush(nullptr);
    raise(caught_signal);
  }
  context.exit_code = failed > 0 ? run_crashed : diverged > 0 ? target_not_reached : done;
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("run", "Make all runs of a study, each in its own process");
  struct Arguments {
    std::string study;
    StudyRunOptions options;
    bool quiet = false, json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  auto& options = arguments->options;
  command
      ->add_option("study", arguments->study,
                   "Study file (YAML) or name of `ccpbench list studies`")
      ->required()
      ->type_name("STUDY");
  command->add_option("-o,--output", options.output, "Folder for results (default results/NAME)")
      ->type_name("FOLDER");
  auto* resume =
      command->add_flag("--resume", options.resume,
                        "Keep finished runs made with the same settings, build and machine");
  command->add_flag("--force", options.force, "Redo all runs")->excludes(resume);
  command
      ->add_flag("--retry-failed", options.retry_failed,
                 "Redo runs that crashed, were killed or ran out of memory")
      ->needs(resume);
  command->add_flag("--dry-run", options.dry_run, "Only say what would run, and why");
  add_integer(*command, "-j,--jobs", options.jobs, OptionList::Range::at_least(1),
              "Runs at a time, each bound to processor cores of its own");
  command->add_flag("--oversubscribe", options.oversubscribe,
                    "Let runs have more ranks than processors, where times do not matter");
  command->add_flag("--quiet", arguments->quiet, "Print only what went wrong");
  command->add_flag("--json", arguments->json, "Print one JSON object per run and one at the end");
  add_number(*command, "--grace", options.grace, OptionList::Range::at_least(0), "for tests")
      ->group("");
  command->callback([arguments, &context] {
    const std::string path = resolve_study(arguments->study);
    if (is_simulation_study(path)) {
      run_simulations(path, arguments->options, arguments->quiet, arguments->json, context);
      return;
    }
    const Study study = read_study(path);
    StudyRunOptions& options = arguments->options;
    options.program = context.program;
    if (options.output.empty()) options.output = "results/" + study.name;
    options.interrupted = [] { return caught_signal != 0; };
    Printer printer(arguments->quiet, arguments->json);
    StudyOutcome outcome;
    {
      const SignalNote note;
      outcome = run_study(study, options, printer);
    }
    if (options.dry_run) return;
    printer.clear();
    if (!arguments->quiet || arguments->json) summarize(study, options, outcome, arguments->json);
    if (outcome.interrupted) {
      fmt::print(stderr, "ccpbench: interrupted; --resume goes on where it stopped\n");
      std::fflush(nullptr);
      raise(caught_signal);  // whoever started us shall know
    }
    context.exit_code = outcome.crashed > 0       ? run_crashed
                        : outcome.not_reached > 0 ? target_not_reached
                                                  : done;
  });
}

}  // namespace ccp::app
