#include "harness/study/simulation_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <set>

#include "harness/run/child_process.hpp"
#include "harness/study/study.hpp"
#include "problems/base/output_file.hpp"
#include "problems/base/yaml_file.hpp"

namespace ccp {
namespace fs = std::filesystem;

namespace {

using Range = OptionList::Range;

const char* const table_name = "simulations.csv";
const char* const study_group = "/study";

/// The texts of a list, or the one text.
std::vector<YamlEntry> items(const YamlEntry& entry, const std::string& key) {
  std::vector<YamlEntry> all =
      entry.node.IsSequence() ? entry.list(key) : std::vector<YamlEntry>{entry};
  std::set<std::string> seen;
  for (const YamlEntry& item : all) {
    if (!seen.insert(item.text(key)).second) item.fail(key, "each entry once");
  }
  return all;
}

std::vector<std::string> texts(const YamlMap& map, const std::string& key,
                               std::vector<std::string> otherwise) {
  if (!map.has(key)) return otherwise;
  std::vector<std::string> all;
  for (const YamlEntry& item : items(map.at(key), key)) all.push_back(item.text(key));
  return all;
}

/// What the program is asked for, without its outputs.
std::vector<std::string> arguments_of(const SimulationRequest& request) {
  std::vector<std::string> all = {request.scene};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) all.insert(all.end(), {option, value});
  };
  add("--stepper", request.stepper);
  add("--solver", request.solver);
  add("--start", request.start);
  if (request.dt > 0) add("--dt", number_text(request.dt));
  if (request.until > 0) add("--until", number_text(request.until));
  add("--residual", number_text(request.residual));
  add("--iterations", std::to_string(request.iterations));
  if (request.fixed_iterations) all.emplace_back("--fixed-iterations");
  return all;
}

/// Readable, and unique by a digest.
PlannedSimulation plan(const SimulationRequest& request, const std::string& content) {
  PlannedSimulation run;
  run.request = request;
  const bool file = is_scene_file(request.scene);
  run.key_parts = {{"scene", request.scene}, {"content", content}};
  const std::vector<std::string> arguments = arguments_of(request);
  run.key_parts.emplace_back("arguments", fmt::format("{}", fmt::join(arguments, " ")));
  const std::string digest = digest_of(run.key_parts).substr(0, 6);
  for (const KeyParts& parts : {build_identity(), machine_identity()}) {
    run.key_parts.insert(run.key_parts.end(), parts.begin(), parts.end());
  }
  run.key = digest_of(run.key_parts);
  const std::string scene = file ? fs::path(request.scene).stem().string() : request.scene;
  std::string text = scene;
  for (const std::string& part : {request.stepper, request.solver}) {
    if (!part.empty()) text += "__" + part;
  }
  if (request.dt > 0) text += "__dt" + number_text(request.dt);
  run.file_name = fmt::format("{}__{}.h5", safe_in_file_names(text).substr(0, 120), digest);
  return run;
}

/// Takes the scene, the scheme and the solver as a simulation would; the options of a scene, or the
/// digest of its file.
std::string content_of(const SimulationRequest& request, const YamlEntry& at) {
  try {
    return Simulation(request).trajectory().options;
  } catch (const InputError& error) {
    throw InputError(at.where("simulations") + ": " + error.what());
  }
}

void add_runs(const YamlEntry& item, SimulationStudy& study) {
  const YamlMap map(item, "simulations",
                    {"scenes", "steppers", "solvers", "starts", "dt", "until", "residual",
                     "iterations", "fixed_iterations"});
  SimulationRequest request;
  map.read("until", request.until, Range::positive());
  map.read("residual", request.residual, Range::positive());
  map.read("fixed_iterations", request.fixed_iterations);
  double iterations = request.iterations;
  map.read("iterations", iterations, {1, 1e9});
  request.iterations = static_cast<int>(iterations);
  std::vector<double> steps = {0};
  if (map.has("dt")) {
    steps.clear();
    for (const YamlEntry& value : items(map.at("dt"), "dt")) {
      steps.push_back(value.number("dt", Range::positive()));
    }
  }
  for (const YamlEntry& scene : items(map.at("scenes"), "scenes")) {
    request.scene = scene.text("scenes");
    const fs::path beside = fs::path(item.folder()) / request.scene;
    if (is_scene_file(request.scene) && is_regular_file(beside.string())) {
      request.scene = beside.string();
    }
    for (const std::string& stepper : texts(map, "steppers", {""})) {
      for (const std::string& solver : texts(map, "solvers", {""})) {
        for (const std::string& start : texts(map, "starts", {"previous"})) {
          for (const double dt : steps) {
            request.stepper = stepper;
            request.solver = solver;
            request.start = start;
            request.dt = dt;
            study.runs.push_back(plan(request, content_of(request, scene)));
          }
        }
      }
    }
  }
}

/// Why a simulation must be made, or "" when the file at `path` stands.
std::string reason_to_make(const std::string& path, const PlannedSimulation& run, bool force) {
  if (!fs::exists(path)) return "no result yet";
  if (force) return "--force";
  try {
    const Hdf5File file = Hdf5File::open(path);
    if (read_summary(file).status == "running") return "a step of it could not be made";
    if (file.has(study_group) && file.string_attribute(study_group, "key") == run.key) return "";
    return "made with other settings, build or machine";
  } catch (const InputError& error) {
    return error.what();
  }
}

void take_summary(const std::string& path, SimulationRow& row) {
  row.summary = read_summary(Hdf5File::open(path));
  row.status = row.summary->status;
}

/// Makes one simulation in a process of its own.
void make(const SimulationStudy& study, const SimulationStudyOptions& options,
          const std::string& path, SimulationRow& row) {
  constexpr double gigabyte = 1e9;
  const std::string fresh = path + ".new";
  std::error_code error;
  fs::remove(fresh, error);
  std::vector<std::string> command = {options.program, "simulate"};
  const std::vector<std::string> arguments = arguments_of(row.run->request);
  command.insert(command.end(), arguments.begin(), arguments.end());
  command.insert(command.end(),
                 {"--output", fresh, "--force", "--quiet", "--study-key", row.run->key});
  ChildProcess::Limits limits;
  limits.seconds = study.time_limit;
  if (study.memory_limit > 0) limits.memory = study.memory_limit * gigabyte;
  ChildProcess process(command, {}, limits);
  while (!process.advance()) {
    ChildProcess::wait({&process}, std::chrono::milliseconds(50));
    if (options.interrupted && options.interrupted()) {
      fs::remove(fresh, error);
      return;
    }
  }
  const ChildProcess::End& end = process.end();
  using Killed = ChildProcess::End::Killed;
  if (end.killed == Killed::no && fs::exists(fresh)) {
    fs::rename(fresh, path, error);
    if (error) throw InputError(path, "", "a file that can be written", error.message());
    take_summary(path, row);
    if (end.exit_code == 1) row.status = "crashed", row.message = end.last_words;
    return;
  }
  fs::remove(fresh, error);
  fs::remove(path, error);
  row.status = end.killed == Killed::time     ? "killed"
               : end.killed == Killed::memory ? "out_of_memory"
                                              : "crashed";
  row.message = end.killed == Killed::time ? fmt::format("after {:.3g} s", study.time_limit)
                : end.signal != 0
                    ? fmt::format("by signal {} ({})", end.signal, strsignal(end.signal))
                    : end.last_words;
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string all = "\"";
  for (const char c : text) all += c == '"' ? std::string("\"\"") : std::string(1, c);
  return all + "\"";
}

/// One line a simulation; columns of numbers and values are those that any of them has.
std::string table_of(const std::vector<SimulationRow>& rows) {
  std::vector<std::string> numbers, values;
  const auto add = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const SimulationRow& row : rows) {
    if (!row.summary) continue;
    for (const auto& number : row.summary->numbers) add(numbers, number.first);
    for (const auto& value : row.summary->values) add(values, value.first);
  }
  std::string text = "scene,stepper,solver,start,dt,status,message,file";
  for (const std::string& name : numbers) text += "," + name;
  for (const std::string& name : values) text += ",value:" + name;
  text += "\n";
  const auto found = [](const auto& list, const std::string& name) {
    for (const auto& [known, value] : list) {
      if (known == name) return number_text(value);
    }
    return std::string();
  };
  for (const SimulationRow& row : rows) {
    const SimulationRequest& request = row.run->request;
    const bool kept = row.summary.has_value();
    std::vector<std::string> cells = {request.scene,
                                      request.stepper,
                                      request.solver,
                                      request.start,
                                      request.dt > 0 ? number_text(request.dt) : "",
                                      row.status,
                                      row.message,
                                      kept ? row.run->file_name : ""};
    for (const std::string& name : numbers) {
      cells.push_back(kept ? found(row.summary->numbers, name) : "");
    }
    for (const std::string& name : values) {
      cells.push_back(kept ? found(row.summary->values, name) : "");
    }
    for (std::string& cell : cells) cell = csv_cell(cell);
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

}  // namespace

bool is_simulation_study(const std::string& path) {
  const YAML::Node root = load_yaml(path, "a study file");
  return root.IsMap() && root["simulations"];
}

SimulationStudy read_simulation_study(const std::string& path) {
  const YamlMap map({load_yaml(path, "a study file"), path}, "key",
                    {"name", "description", "simulations", "time_limit", "memory_limit"});
  SimulationStudy study;
  study.name = map.at("name").text("name");
  if (study.name != safe_in_file_names(study.name)) {
    map.at("name").fail("name", "letters, digits, '-', '_' and '.'");
  }
  map.read("description", study.description);
  map.read("time_limit", study.time_limit, Range::positive());
  map.read("memory_limit", study.memory_limit, Range::positive());
  for (const YamlEntry& item : map.at("simulations").list("simulations")) add_runs(item, study);
  std::set<std::string> names;
  for (const PlannedSimulation& run : study.runs) {
    if (!names.insert(run.file_name).second) {
      throw InputError(path, "simulations", "each simulation once", run.file_name + " again");
    }
  }
  return study;
}

std::vector<SimulationRow> run_simulation_study(
    const SimulationStudy& study, const SimulationStudyOptions& options,
    const std::function<void(const SimulationRow&)>& watch) {
  std::vector<SimulationRow> rows;
  const auto path_of = [&](const PlannedSimulation& run) {
    return (fs::path(options.output) / run.file_name).string();
  };
  for (const PlannedSimulation& run : study.runs) {
    if (!options.resume && !options.force && !options.dry_run && fs::exists(path_of(run))) {
      throw InputError(path_of(run), "",
                       "no result of that name (--resume keeps finished ones, --force redoes them)",
                       "an existing file");
    }
  }
  if (!options.dry_run) {
    std::error_code error;
    fs::create_directories(options.output, error);
    if (error) throw InputError(options.output, "", "a folder for the results", error.message());
  }
  for (const PlannedSimulation& run : study.runs) {
    SimulationRow row;
    row.run = &run;
    row.number = static_cast<int>(rows.size()) + 1;
    row.total = static_cast<int>(study.runs.size());
    row.reason = reason_to_make(path_of(run), run, options.force);
    if (row.reason.empty()) {
      take_summary(path_of(run), row);
    } else if (!options.dry_run) {
      make(study, options, path_of(run), row);
      if (row.status.empty()) break;  // interrupted
    }
    watch(row);
    rows.push_back(std::move(row));
  }
  if (!options.dry_run) {
    OutputFile file((fs::path(options.output) / table_name).string());
    const std::string table = table_of(rows);
    file.write(table.data(), table.size());
    file.commit();
  }
  return rows;
}

}  // namespace ccp
