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
  command->add_flag("--quiet", arguments->quiet, "Print only what went wrong");
  command->add_flag("--json", arguments->json, "Print one JSON object per run and one at the end");
  add_number(*command, "--grace", options.grace, OptionList::Range::at_least(0), "for tests")
      ->group("");
  command->callback([arguments, &context] {
    const Study study = read_study(resolve_study(arguments->study));
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
