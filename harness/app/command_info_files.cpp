// What `info` says of files that are no problems.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/app/info.hpp"
#include "harness/app/json.hpp"
#include "harness/app/terminal.hpp"
#include "harness/measure/measures.hpp"
#include "harness/run/result_file.hpp"
#include "harness/simulation/column_table.hpp"
#include "harness/systems/frozen_systems.hpp"
#include "harness/systems/precond.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/base/text.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/sequence_file.hpp"
#include "problems/formats/trajectory_file.hpp"

namespace ccp::app {
namespace {

using nlohmann::ordered_json;

void row(const std::string& name, const std::string& value) {
  fmt::print("{:<14} {}\n", name, value);
}

/// A line per step of a sequence.
void describe_sequence(const std::string& path, bool json) {
  const SequenceSummary summary = read_sequence_summary(path);
  ordered_json out;
  out["name"] = summary.name;
  out["file"] = path;
  out["kind"] = "sequence";
  out["steps"] = ordered_json::array();
  if (!json) {
    row("name", summary.name);
    row("kind",
        "sequence of " + counted(summary.steps, "time step") + ", each a problem, FILE#STEP");
  }
  std::set<std::int64_t> before;
  for (const std::string& place : steps_of(path)) {
    const ContactProblem step = read_problem(place);
    const auto kept = std::count_if(step.identity.begin(), step.identity.end(),
                                    [&](std::int64_t id) { return before.count(id) > 0; });
    std::vector<std::string> guesses;
    for (const auto& guess : step.guesses) guesses.push_back(guess.first);
    if (json) {
      out["steps"].push_back({{"name", step.name},
                              {"contacts", step.contacts()},
                              {"bodies", step.bodies()},
                              {"kept_contacts", kept},
                              {"compliant", step.is_compliant()},
                              {"guesses", guesses},
                              {"hash", step.content_hash()}});
    } else {
      row(place.substr(place.rfind('#')),
          fmt::format("{}, {} ({} of the step before){}; guesses: {}", step.name,
                      counted(step.contacts(), "contact"), grouped(kept),
                      step.is_compliant() ? ", compliant" : "",
                      guesses.empty() ? "none" : fmt::format("{}", fmt::join(guesses, ", "))));
    }
    before = {step.identity.begin(), step.identity.end()};
  }
  if (json) print_json(out);
}

/// Where and with what a file was made, of the attributes of /provenance.
ordered_json provenance_of(const Hdf5File& file) {
  ordered_json out = ordered_json::object();
  for (const std::string& name : file.attribute_names("/provenance")) {
    out[name] = file.string_attribute("/provenance", name).value_or("");
  }
  return out;
}

void print_provenance(const ordered_json& provenance) {
  const auto text = [&](const char* name) {
    return valid_utf8(provenance.value(name, std::string()));
  };
  row("made by", text("command_line"));
  row("", fmt::format("{}, {}, {} thread(s), {}", text("date_utc"), text("backend"),
                      text("threads"), text("cpu")));
  row("", fmt::format("ccpbench {}, commit {}", text("version"), text("commit")));
}

/// Numbers of a group by the names of measures, where the file has them.
ordered_json measures_of(const Hdf5File& file, const std::string& group) {
  ordered_json out = ordered_json::object();
  for (const std::string& name : measure_names()) {
    const auto value = file.number_attribute(group, name);
    if (value && value->size() == 1) out[name] = number_or_null(value->front());
  }
  return out;
}

void describe_result(const std::string& path, bool json) {
  const ResultSummary result = check_result(path);
  const Hdf5File file = Hdf5File::open(path);
  const auto text = [&](const char* name) {
    return valid_utf8(file.string_attribute("/", name).value_or(""));
  };
  const auto number = [&](const char* group, const char* name) {
    return file.number_attribute(group, name).value_or(std::vector<double>{0}).front();
  };
  const auto size = [&](const char* name) { return static_cast<std::size_t>(number("/", name)); };
  const std::size_t looks = file.shape("/curve/time").front();
  ordered_json out;
  out["name"] = result.instance;
  out["file"] = path;
  out["kind"] = "result";
  out["hash"] = result.instance_hash;
  out["contacts"] = size("contacts");
  out["bodies"] = size("bodies");
  out["solver"] = result.solver;
  out["law"] = text("law");
  out["start"] = result.start;
  out["status"] = to_string(result.status);
  out["message"] = result.message;
  out["stop"] = text("stop");
  out["stop_reached"] = result.stop_reached;
  out["time"] = number_or_null(result.time);
  out["setup_time"] = number_or_null(number("/timers", "setup"));
  out["outer"] = result.outer;
  out["krylov"] = result.krylov;
  out["looks"] = looks;
  out["impulses"] = file.has("/final/gamma");
  out["study"] = text("study");
  out["measures"] = measures_of(file, "/final");
  out["best"] = measures_of(file, "/best");
  out["targets"] = ordered_json::array();
  const std::vector<std::string> target_measures = file.read_strings("/targets/measure");
  const std::vector<double> values = file.read<double>("/targets/value").data;
  const std::vector<double> times = file.read<double>("/targets/time").data;
  for (std::size_t t = 0; t < target_measures.size(); ++t) {
    out["targets"].push_back({{"measure", target_measures[t]},
                              {"value", values.at(t)},
                              {"time", number_or_null(times.at(t))}});
  }
  out["provenance"] = provenance_of(file);
  if (json) return print_json(out);

  row("name", result.instance);
  row("kind", "result of a run" + (text("study").empty() ? "" : " of the study " + text("study")));
  row("problem", fmt::format("{}, {}, hash {}", counted(size("contacts"), "contact"),
                             counted(size("bodies"), "body"), result.instance_hash));
  row("solver", fmt::format("{} ({} law), start {}", result.solver, text("law"), result.start));
  row("status", to_string(result.status) + (result.message.empty() ? "" : ": " + result.message));
  row("stop", text("stop") + (result.stop_reached ? ": reached" : ": NOT reached"));
  row("time", fmt::format("{} solving, {} setup", duration(result.time),
                          duration(number("/timers", "setup"))));
  row("work", fmt::format("{} outer iterations, {} Krylov; {}", grouped(result.outer),
                          grouped(result.krylov), counted(looks, "look")));
  row("impulses", out["impulses"].get<bool>() ? "stored" : "not stored (solve --keep-gamma)");
  fmt::print("\n{:<24} {:>10} {:>10}\n", "referee", "final", "best");
  for (const MeasureEntry& entry : measure_entries()) {  // those of the solver's law
    const std::vector<std::string> laws = texts_of(entry.laws);
    const bool fits = std::find(laws.begin(), laws.end(), text("law")) != laws.end();
    const ordered_json value = out["measures"].value(entry.name, ordered_json());
    const ordered_json best = out["best"].value(entry.name, ordered_json());
    if (!fits || value.is_null()) continue;
    fmt::print("{:<24} {:>10} {:>10}\n", entry.name, scientific(value),
               best.is_null() ? "-" : scientific(best));
  }
  if (!out["targets"].empty()) fmt::print("\n{:<24} {:>10}\n", "target", "time");
  for (const auto& target : out["targets"]) {
    fmt::print(
        "{:<24} {:>10}\n",
        fmt::format("{}={:g}", target["measure"].get<std::string>(), target["value"].get<double>()),
        target["time"].is_null() ? "-" : duration(target["time"]));
  }
  fmt::print("\n");
  print_provenance(out["provenance"]);
}

void describe_systems(const std::string& path, bool json) {
  const FrozenSystems systems = read_systems(path);
  ordered_json out;
  out["name"] = systems.instance;
  out["file"] = path;
  out["kind"] = "systems";
  out["hash"] = systems.instance_hash;
  out["problem"] = systems.problem;
  out["contacts"] = systems.contacts;
  out["solver"] = systems.solver;
  out["space"] = to_string(systems.space);
  out["block_size"] = systems.block_size();
  std::size_t rows = 0;
  std::vector<long> outer;
  for (const FrozenSystem& system : systems.systems) {
    outer.push_back(system.outer);
    rows = system.rhs.size();
  }
  out["unknowns"] = rows;
  out["outer"] = outer;
  out["provenance"] = ordered_json::object();
  for (const auto& [name, value] : systems.provenance) out["provenance"][name] = value;
  if (json) return print_json(out);
  row("name", systems.instance);
  row("kind", counted(systems.systems.size(), "frozen linear system") + ", for `ccpbench precond`");
  row("problem", fmt::format("{}, {}, hash {}", valid_utf8(systems.problem),
                             counted(systems.contacts, "contact"), systems.instance_hash));
  row("solver", systems.solver);
  row("systems", fmt::format("in {} space, {} unknowns in blocks of {}", to_string(systems.space),
                             grouped(static_cast<long>(rows)), systems.block_size()));
  row("after", fmt::format("{} outer iterations", fmt::join(outer, ", ")));
  print_provenance(out["provenance"]);
}

void describe_precond(const std::string& path, bool json) {
  const std::vector<PrecondRow> rows = read_precond(path);
  const Hdf5File file = Hdf5File::open(path);
  ordered_json out;
  out["name"] = valid_utf8(file.string_attribute("/", "instance").value_or(""));
  out["file"] = path;
  out["kind"] = "precond";
  out["rows"] = ordered_json::array();
  for (const PrecondRow& r : rows) {
    out["rows"].push_back({{"outer", r.outer},
                           {"method", r.method},
                           {"preconditioner", r.preconditioner},
                           {"status", r.status},
                           {"iterations", r.iterations},
                           {"solve", number_or_null(r.solve)},
                           {"residual", number_or_null(r.residual)}});
  }
  out["provenance"] = provenance_of(file);
  if (json) return print_json(out);
  row("name", out["name"]);
  row("kind", "preconditioners on frozen systems, " + counted(rows.size(), "row"));
  for (const PrecondRow& r : rows) {
    row(fmt::format("system {}", r.outer),
        fmt::format("{}{}: {}, {} in {}, residual {}", r.method,
                    r.preconditioner.empty() ? "" : " with " + r.preconditioner, r.status,
                    counted(static_cast<std::size_t>(r.iterations), "iteration"), duration(r.solve),
                    scientific(r.residual)));
  }
  print_provenance(out["provenance"]);
}

void describe_columns(const std::string& path, bool json) {
  const std::vector<ColumnRow> rows = read_column_table(path);
  const Hdf5File file = Hdf5File::open(path);
  ordered_json out;
  out["file"] = path;
  out["kind"] = "columns";
  out["solver"] = valid_utf8(file.string_attribute("/", "solver").value_or(""));
  out["rows"] = ordered_json::array();
  for (const ColumnRow& r : rows) {
    out["rows"].push_back({{"spheres", r.spheres},
                           {"start", r.start},
                           {"iterations", r.iterations},
                           {"height", number_or_null(r.run.height)},
                           {"error", number_or_null(r.run.error)},
                           {"at_rest", r.run.at_rest}});
  }
  out["provenance"] = provenance_of(file);
  if (json) return print_json(out);
  row("kind", "simulated columns, " + counted(rows.size(), "row"));
  row("solver", out["solver"]);
  for (const ColumnRow& r : rows) {
    row(counted(static_cast<std::size_t>(r.spheres), "sphere"),
        fmt::format("{}, {} a step: height {:.6f} m, error {}{}", r.start,
                    counted(static_cast<std::size_t>(r.iterations), "iteration"), r.run.height,
                    scientific(r.run.error), r.run.at_rest ? "" : ", not at rest"));
  }
  print_provenance(out["provenance"]);
}

/// What a simulation was, and where it ended.
void describe_trajectory(const std::string& path, bool json) {
  const Trajectory t = read_trajectory(path);
  const bool moved = t.steps() > 0;
  ordered_json out;
  out["file"] = path;
  out["kind"] = "trajectory";
  out["scene"] = valid_utf8(t.scene);
  out["options"] = valid_utf8(t.options);
  out["stepper"] = valid_utf8(t.stepper);
  out["solver"] = valid_utf8(t.solver);
  out["steps"] = t.steps();
  out["time"] = moved ? t.time.back() : 0;
  out["frames"] = t.frames();
  out["bodies"] = t.bodies;
  out["obstacles"] = t.obstacles;
  out["residual_max"] = number_or_null(t.largest_residual());
  out["penetration_max"] = number_or_null(t.deepest_penetration());
  out["provenance"] = provenance_of(Hdf5File::open(path));
  if (json) return print_json(out);
  row("kind", "trajectory");
  row("scene", fmt::format("{}[{}]", valid_utf8(t.scene), valid_utf8(t.options)));
  row("stepper", fmt::format("{} with {}", valid_utf8(t.stepper), valid_utf8(t.solver)));
  row("steps", fmt::format("{} to {:.6g} s, {}", counted(t.steps(), "step"),
                           moved ? t.time.back() : 0, counted(t.frames(), "frame")));
  row("bodies", fmt::format("{}, {}", counted(t.bodies, "body"), counted(t.obstacles, "obstacle")));
  row("residual", scientific(t.largest_residual()) + " at worst");
  row("overlap", fmt::format("{:.3g} m at most", t.deepest_penetration()));
  print_provenance(out["provenance"]);
}

}  // namespace

bool describe_file(const std::string& path, const std::string& format, bool json) {
  struct Kind {
    const char* format;
    void (*describe)(const std::string& path, bool json);
  };
  static constexpr Kind kinds[] = {
      {"ccpbench-sequence", describe_sequence}, {"ccpbench-result", describe_result},
      {"ccpbench-systems", describe_systems},   {"ccpbench-precond", describe_precond},
      {"ccpbench-columns", describe_columns},   {trajectory_format, describe_trajectory}};
  for (const Kind& kind : kinds) {
    if (format != kind.format) continue;
    kind.describe(path, json);
    return true;
  }
  return false;
}

}  // namespace ccp::app
