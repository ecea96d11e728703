#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/app/app.hpp"
#include "harness/app/json.hpp"
#include "harness/app/output_check.hpp"
#include "harness/app/solve_batch.hpp"
#include "harness/app/terminal.hpp"
#include "harness/run/launcher.hpp"
#include "harness/run/request.hpp"
#include "harness/run/result_file.hpp"
#include "harness/run/run.hpp"
#include "harness/run/start.hpp"
#include "problems/base/error.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/sequence_file.hpp"
#include "solvers/core/mpi_session.hpp"
#include "solvers/distributed/read_part.hpp"

namespace ccp::app {
namespace {

struct SolveArguments {
  std::map<std::string, std::string> request;  ///< texts of the fields that are given, by name
  std::vector<std::string> batch;              ///< sources of problems to solve at once
  std::string output;
  bool json = false, force = false, quiet = false, oversubscribe = false;
  // Set by `ccpbench run` for the processes it starts.
  std::string checkpoint;
  int report = -1, parent = 0;
  // Set by `ccpbench solve --ranks` for the ranks.
  std::string launcher, command_line;

  bool is_rank() const { return !launcher.empty(); }
};

/// A look as whoever started this process gets it: one line of JSON.
std::string text_of_look(double time, double value, long outer) {
  nlohmann::json line = {{"time", time}, {"outer", outer}, {"value", nullptr}};
  if (std::isfinite(value)) line["value"] = value;
  return line.dump();
}

void report_to(int descriptor, const std::string& line) {
  const std::string text = line + "\n";
  // Nobody listens any more: nothing that this process could do about it.
  if (write(descriptor, text.data(), text.size()) < 0) return;
}

/// Ends this process when the one that started it ends, however it ends.
void die_with(int parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) raise(SIGKILL);  // it ended before we asked
}

}  // namespace

nlohmann::ordered_json result_json(const RunResult& result, const std::string& start) {
  nlohmann::ordered_json out;
  out["instance"] = result.instance;
  out["hash"] = result.instance_hash;
  out["contacts"] = result.contacts;
  out["bodies"] = result.bodies;
  out["solver"] = result.solver;
  out["law"] = to_string(result.law);
  out["start"] = start;
  out["options"] = nlohmann::ordered_json::object();
  for (const auto& option : result.options) out["options"][option.name] = option.value;
  out["status"] = to_string(result.status);
  out["message"] = result.info.message;
  out["stop_reached"] = result.stop_reached;
  out["time"] = result.time;
  out["setup_time"] = result.setup_time;
  out["problem_time"] = result.problem_time;
  out["memory_per_contact"] = result.memory_per_contact;
  out["outer"] = result.info.counters.outer;
  out["krylov"] = result.info.counters.krylov;
  out["applies"] = result.info.counters.operator_applies;
  out["own_residual"] = number_or_null(result.info.own_residual);
  out["reference_residual"] = number_or_null(result.reference_residual);
  out["measures"] = nlohmann::ordered_json::object();
  out["targets"] = nlohmann::ordered_json::array();
  out["best"] = nlohmann::ordered_json::object();
  for (const Measure m : all_measures()) {
    out["measures"][name_of(m)] = number_or_null(result.final_measures[m]);
    out["best"][name_of(m)] = number_or_null(result.best[m]);
  }
  for (const TargetRecord& record : result.targets) {
    nlohmann::ordered_json row = {{"measure", name_of(record.target.measure)},
                                  {"value", record.target.value},
                                  {"time", nullptr},
                                  {"outer", nullptr},
                                  {"krylov", nullptr},
                                  {"applies", nullptr}};
    if (record.reached) {
      row["time"] = record.reached->time;
      row["outer"] = record.reached->counters.outer;
      row["krylov"] = record.reached->counters.krylov;
      row["applies"] = record.reached->counters.operator_applies;
    }
    out["targets"].push_back(row);
  }
  if (result.bare_time > 0) {
    out["bare_time"] = result.bare_time;
    out["bare_difference"] = result.bare_difference;
  }
  out["threads"] = result.provenance.threads;
  out["ranks"] = result.provenance.ranks;
  out["backend"] = result.provenance.backend;
  out["commit"] = result.provenance.commit;
  return out;
}

namespace {

/// "residual=1e-08, energy=1e-06: reached", or which of several is not.
std::string verdict(const RunResult& result, const std::vector<Target>& stop) {
  std::string text =
      targets_text(stop, ", ") + (result.stop_reached ? ": reached" : ": NOT reached");
  if (result.stop_reached || stop.size() < 2) return text;
  std::vector<std::string> open;
  for (const Target& target : stop) {
    if (!target.reached(result.final_measures)) open.push_back(name_of(target.measure));
  }
  return open.empty() ? text : text + fmt::format(" ({})", fmt::join(open, ", "));
}

void print_table(const RunResult& result, const std::vector<Target>& stop) {
  const auto row = [](const char* name, const std::string& value) {
    fmt::print("{:<10} {}\n", name, value);
  };
  row("problem", fmt::format("{}: {}, {}", result.instance,
                             counted(static_cast<std::size_t>(result.contacts), "contact"),
                             counted(static_cast<std::size_t>(result.bodies), "body")));
  const int ranks = result.provenance.ranks;
  row("solver", fmt::format("{} ({} law, {}, {} thread{}{})", result.solver, to_string(result.law),
                            result.provenance.backend, result.provenance.threads,
                            result.provenance.threads == 1 ? "" : "s",
                            ranks == 1 ? "" : fmt::format(" on each of {} ranks", ranks)));
  row("status", to_string(result.status) +
                    (result.info.message.empty() ? "" : " (" + result.info.message + ")"));
  row("stop", verdict(result, stop));
  const bool no_answer = std::isnan(result.final_measures[Measure::primal]);
  if (no_answer && is_failure(result.status)) return;
  row("time", fmt::format("{} solving, {} setup, {} problem to device", duration(result.time),
                          duration(result.setup_time), duration(result.problem_time)));
  if (result.bare_time > 0) {
    row("bare run",
        fmt::format("{} ({:+.1f} % against the observed one), gamma differs by {:.1e}",
                    duration(result.bare_time), 100 * (result.bare_time / result.time - 1),
                    result.bare_difference));
  }
  const Counters& counters = result.info.counters;
  row("work",
      fmt::format("{} outer iterations, {} Krylov, {} products with N", grouped(counters.outer),
                  grouped(counters.krylov), grouped(counters.operator_applies)));
  const auto contacts = static_cast<double>(result.contacts);
  row("memory",
      fmt::format("{}{}", memory_text(result.memory_per_contact * contacts),
                  // What a process needs anyway says nothing about contacts.
                  result.contacts < 1000
                      ? ""
                      : fmt::format(", {} per contact", memory_text(result.memory_per_contact))));
  row("claim", fmt::format("{} by the solver's own measure, {}",
                           scientific(result.info.own_residual), result.info.own_residual_name));
  fmt::print("\n{:<20} {:>10} {:>10}\n", "referee", "final", "best");
  const std::vector<Measure> convex = {
      Measure::residual,    Measure::dual,    Measure::primal, Measure::complementarity,
      Measure::energy,      Measure::error,   Measure::cost,   Measure::feas,
      Measure::natural_map, Measure::velocity};
  const std::vector<Measure> coulomb = {Measure::coulomb_residual, Measure::primal,
                                        Measure::coulomb_natural_map, Measure::coulomb_merit};
  for (const Measure m : result.law == Law::coulomb ? coulomb : convex) {
    if (m == Measure::velocity && std::isnan(result.final_measures[m])) continue;
    fmt::print("{:<20} {:>10} {:>10}", name_of(m), scientific(result.final_measures[m]),
               scientific(result.best[m]));
    if (m == Measure::velocity && result.reference_residual > 0) {
      fmt::print("  against a reference of residual {:.1e}", result.reference_residual);
    }
    fmt::print("\n");
  }
  const bool asked = std::any_of(stop.begin(), stop.end(), [](const Target& target) {
    return target.measure == Measure::energy;
  });
  if (result.law == Law::convex && !asked) {
    fmt::print(
        "\nenergy bounds the relative error of velocities (energy norm, once dual is small); "
        "residual is\nquadratic in it: --stop residual=1e-8,energy=1e-6 asks for both\n");
  }
  if (result.targets.empty()) return;
  fmt::print("\n{:<20} {:>10} {:>10} {:>10}\n", "target", "time", "outer", "Krylov");
  for (const TargetRecord& record : result.targets) {
    if (record.reached) {
      fmt::print("{:<20} {:>10} {:>10} {:>10}\n", record.target.text(),
                 duration(record.reached->time), grouped(record.reached->counters.outer),
                 grouped(record.reached->counters.krylov));
    } else {
      fmt::print("{:<20} {:>10}\n", record.target.text(), "-");
    }
  }
}

/// What a run may read.
std::vector<std::string> inputs_of(const RunRequest& request) {
  std::vector<std::string> inputs = {request.problem_file,
                                     parse_start(request.start, "--start").name};
  if (request.external) {
    inputs.insert(inputs.end(), request.external->command.begin(), request.external->command.end());
  }
  return inputs;
}

RunRequest request_of(const SolveArguments& arguments) {
  RunRequest request;
  for (const RequestField& field : request_fields()) {
    const auto given = arguments.request.find(field.name);
    if (given == arguments.request.end()) continue;
    field.set(request, given->second, field.option.substr(field.option.rfind(',') + 1));
  }
  if (arguments.batch.empty()) request.problem_file = resolve_problem(request.problem_file);
  complete(request);
  return request;
}

/// The fields of a request as options. What can be told from the word alone is a fault of usage.
void add_request_options(CLI::App& command, SolveArguments& arguments) {
  using Shape = RequestField::Shape;
  // Of texts, for the help and what shells complete.
  static const std::map<std::string, std::string> types = {
      {"problem", "PROBLEM"},
      {"solver", "SOLVER"},
      {"external", "COMMAND"},
      {"law", fmt::format("{}", fmt::join(texts_of(enum_values<Law>()), "|"))},
      {"start", "START"},
      {"stop", "MEASURE=VALUE"},
      {"targets", "MEASURE=VALUE"}};
  std::map<std::string, CLI::Option*> options;
  for (const RequestField& field : request_fields()) {
    if (field.option.empty()) continue;
    const auto given = [name = field.name, &arguments](const std::string& text) {
      arguments.request[name] = text;
    };
    CLI::Option* option = nullptr;
    if (field.shape == Shape::flag) {
      option = command.add_flag_function(
          field.option, [given](std::int64_t) { given("true"); }, field.help);
    } else if (field.shape == Shape::numbers) {
      option = command.add_option_function<std::vector<std::string>>(
          field.option,
          [given](const std::vector<std::string>& words) {
            given(fmt::format("{}", fmt::join(words, ",")));
          },
          field.help);
    } else {
      option = command.add_option_function<std::string>(field.option, given, field.help);
      option->default_str(field.text(RunRequest()));
    }
    const bool number = field.shape == Shape::number || field.shape == Shape::numbers;
    if (number || field.shape == Shape::integer || field.shape == Shape::choice) {
      option->type_name(number ? "NUMBER" : field.shape == Shape::integer ? "INTEGER" : "NAME");
      option->check(CLI::Validator(
          [&field](std::string& word) {
            try {
              RunRequest request;
              field.set(request, word, "");
            } catch (const InputError&) {
              return "expected " + field.allowed + ", found " + found_value(word);
            }
            return std::string();
          },
          ""));
    }
    if (const auto type = types.find(field.name); type != types.end()) {
      option->type_name(type->second);
    }
    if (field.required && field.name != "problem") option->required();  // see solve()
    if (field.name == "external" || field.needs == "external") {
      option->group("Programs of somebody else");
    }
    if (field.hidden) option->group("");
    options[field.name] = option;
    if (!field.needs.empty()) option->needs(options.at(field.needs));
  }
}

/// A stop that could never be measured is refused before the work.
void check_stop(const RunRequest& request) {
  for (const Target& stop : request.recorder.stop) {
    const MeasureEntry& entry = entry_of(stop.measure);
    if (!entry.needs_reference || has_reference(request.problem_file)) continue;
    throw InputError("--stop", entry.name,
                     "a problem with a reference solution (`ccpbench certify` makes one)",
                     "none in " + request.problem_file);
  }
}

/// What a rank gets to do: the same request, told where its launcher listens.
std::vector<std::string> rank_command(const SolveArguments& arguments, const RunRequest& request,
                                      const Context& context) {
  std::vector<std::string> words = request_arguments(request);
  words.insert(words.begin(), {context.program, "solve"});
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--output", arguments.output);
  add("--checkpoint", arguments.checkpoint);
  add("--command-line", context.command_line);
  if (!arguments.output.empty()) words.emplace_back("--force");  // checked by the launcher
  if (arguments.json) words.emplace_back("--json");
  if (arguments.quiet) words.emplace_back("--quiet");
  words.emplace_back("--launcher");  // whose place launch() appends
  return words;
}

/// Solves on several ranks: this process starts them, and passes on what they report.
void solve_on_ranks(const SolveArguments& arguments, const RunRequest& request, Context& context) {
  check_processors(request.ranks, request.threads, arguments.oversubscribe);
  check_for_ranks(request.problem_file, request.ranks);
  int answer = -1;
  const auto reported = [&](const std::string& line) {
    const auto report = nlohmann::json::parse(line, nullptr, false);
    if (report.is_object() && report.contains("exit_code")) {
      answer = report["exit_code"].get<int>();
    } else if (arguments.report >= 0) {
      report_to(arguments.report, line);
    }
  };
  const LaunchEnd end =
      launch(request.ranks, request.threads, rank_command(arguments, request, context), reported);
  if (end.problem.empty() && answer >= 0) {
    context.exit_code = answer;
    return;
  }
  fmt::print(stderr, "ccpbench: {}\n",
             end.problem.empty() ? "the ranks ended without a result" : end.problem);
  context.exit_code = run_crashed;
}

void solve(const SolveArguments& arguments, Context& context, const Ranks& ranks,
           const LaunchReport& launcher) {
  const bool one = arguments.request.count("problem") > 0;
  if (one == !arguments.batch.empty()) {
    if (!one) throw CLI::RequiredError("problem");
    throw CLI::ExcludesError("problem", "--batch");
  }
  const RunRequest request = request_of(arguments);
  if (!one) {
    solve_batch({arguments.batch, request, arguments.output, arguments.force, arguments.json,
                 arguments.quiet},
                context);
    return;
  }
  if (!arguments.output.empty()) {
    check_output(arguments.output, arguments.force, inputs_of(request));
  }

  if (arguments.parent == 0 && !arguments.is_rank()) check_stop(request);  // a study has done so
  if (request.ranks > 1 && !arguments.is_rank()) return solve_on_ranks(arguments, request, context);
  if (arguments.is_rank() && ranks.size() != request.ranks) {
    throw InputError("--ranks", "", fmt::format("{} ranks", request.ranks),
                     fmt::format("{} that found each other (is {} the launcher of this MPI?)",
                                 ranks.size(), mpiexec_command().front()));
  }

  const std::string doubtful = overload(request.threads * request.ranks);
  const KokkosSession kokkos(request.threads);
  ProgressLine progress(!arguments.quiet && !arguments.json && ranks.rank() == 0);
  const Measure shown = request.recorder.stop.front().measure;
  RunWatch watch;
  watch.progressed = [&](const Sample& sample) {
    const double value = sample.measures[shown];
    const std::string look = text_of_look(sample.time, value, sample.counters.outer);
    if (arguments.report >= 0) report_to(arguments.report, look);
    launcher.line(look);
    progress.show(
        arguments.request.at("problem") + " × " + request.solver.text(),
        fmt::format("  {} {}  {:.1f}/{:g} s  {} outer", name_of(shown), scientific(value),
                    sample.time, request.recorder.time_limit, grouped(sample.counters.outer)));
  };
  if (!arguments.checkpoint.empty()) {
    watch.checkpoint = [&](const RunResult& so_far) {
      write_checkpoint(arguments.checkpoint, request, so_far);
    };
  }
  const RunResult result = run(
      request, arguments.is_rank() ? arguments.command_line : context.command_line, watch, ranks);
  progress.clear();
  if (ranks.rank() > 0) return;
  if (!arguments.output.empty()) {
    write_result(arguments.output, request, result, "", arguments.force);
  }
  if (arguments.json) {
    print_json(result_json(result, request.start));
  } else if (!arguments.quiet) {
    print_table(result, request.recorder.stop);
    if (!doubtful.empty()) fmt::print(stderr, "ccpbench: warning: {}\n", doubtful);
  }
  context.exit_code = is_failure(result.status) ? run_crashed
                      : result.stop_reached     ? done
                                                : target_not_reached;
}

/// One of several ranks. Bad input is found by all of them together, and rank 0 says it; any other
/// fault of one ends them all.
void solve_as_rank(const SolveArguments& arguments, Context& context) {
  die_with(getppid());
  const MpiSession mpi;
  const LaunchReport launcher(mpi.world().rank() == 0 ? arguments.launcher : "");
  launcher.started();
  try {
    solve(arguments, context, mpi.world(), launcher);
  } catch (const InputError& fault) {
    if (mpi.world().rank() == 0) fmt::print(stderr, "ccpbench: {}\n", fault.what());
    context.exit_code = bad_input;
  } catch (const std::exception& fault) {
    fmt::print(stderr, "ccpbench: rank {}: {}\n", mpi.world().rank(), fault.what());
    mpi.abort(run_crashed);
  }
  launcher.line(nlohmann::json{{"exit_code", context.exit_code}}.dump());
  context.exit_code = done;  // launchers take anything else for a crash
}

}  // namespace

void add_solve(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("solve", "Solve one problem with one solver and measure it");
  auto arguments = std::make_shared<SolveArguments>();
  auto* a = arguments.get();
  add_request_options(*command, *a);
  command
      ->add_option(
          "--batch", a->batch,
          "Instead of a problem: many small ones at once, from files, sequences and folders")
      ->type_name("SOURCE");
  command
      ->add_option("-o,--output", a->output,
                   "Result file to write; of a batch a folder, with a file for each problem")
      ->type_name("FILE");
  command->add_flag("--force", a->force, "Overwrite the output");
  command->add_flag("--json", a->json, "Print one JSON object");
  command->add_flag("--quiet", a->quiet, "Print nothing");
  command->add_flag("--oversubscribe", a->oversubscribe,
                    "More ranks than processors, where times do not matter");
  // Set by `ccpbench run` for the processes it starts.
  command->add_option("--checkpoint", a->checkpoint)->group("");
  command->add_option("--report", a->report)->group("");
  command->add_option("--parent", a->parent)->group("");
  // Set for ranks.
  command->add_option("--launcher", a->launcher)->group("");
  command->add_option("--command-line", a->command_line)->group("");
  command->callback([arguments, &context] {
    if (arguments->is_rank()) return solve_as_rank(*arguments, context);
    if (arguments->parent > 0) die_with(arguments->parent);
    solve(*arguments, context, Ranks(), LaunchReport(""));
  });
}

}  // namespace ccp::app
