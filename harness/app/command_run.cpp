#include <fmt/format.h>

#include <memory>

#include "harness/app/app.hpp"
#include "harness/study_runner.hpp"
#include "problems/error.hpp"

namespace ccp::app {

void add_run(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("run", "Make all runs of a study, each in its own process");
  struct Arguments {
    std::string study;
    StudyRunOptions options;
  };
  auto arguments = std::make_shared<Arguments>();
  auto& options = arguments->options;
  command
      ->add_option("study", arguments->study,
                   "Study file (YAML) or name of `ccpbench list studies`")
      ->required();
  command->add_option("-o,--output", options.output, "Folder for results (default results/NAME)");
  auto* resume =
      command->add_flag("--resume", options.resume,
                        "Keep finished runs made with the same settings, build and machine");
  command->add_flag("--force", options.force, "Redo all runs")->excludes(resume);
  command
      ->add_flag("--retry-failed", options.retry_failed,
                 "With --resume: redo crashed and killed runs")
      ->needs(resume);
  command->add_flag("--dry-run", options.dry_run, "Only say what would run, and why");
  command->add_flag("--quiet", options.quiet, "Print only what went wrong");
  command->callback([arguments, &context] {
    const Study study = read_study(resolve_study(arguments->study));
    StudyRunOptions& options = arguments->options;
    options.program = context.program;
    if (options.output.empty()) options.output = "results/" + study.name;
    const StudyOutcome outcome = run_study(study, options);
    if (options.dry_run) return;
    if (!options.quiet) {
      fmt::print("{} runs in {}: {} reached {}, {} did not, {} crashed ({} kept from before)\n",
                 outcome.runs, options.output, outcome.reached, study.stop.text(),
                 outcome.not_reached, outcome.crashed, outcome.skipped);
    }
    context.exit_code = outcome.crashed > 0       ? run_crashed
                        : outcome.not_reached > 0 ? target_not_reached
                                                  : done;
  });
}

}  // namespace ccp::app
