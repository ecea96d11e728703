#include "harness/run/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/base/text.hpp"

namespace ccp {
namespace {

constexpr const char* result_format = "ccpbench-result";

void write_counters(Hdf5File& file, const Counters& counters) {
  file.make_group("/counters");
  const auto put = [&](const char* name, long value) {
    file.set_attribute("/counters", name, static_cast<std::int64_t>(value));
  };
  put("outer", counters.outer);
  put("krylov", counters.krylov);
  put("operator_applies", counters.operator_applies);
  put("preconditioner_applies", counters.preconditioner_applies);
  put("factorizations", counters.factorizations);
  put("projections", counters.projections);
}

/// What ranks spent with each other, a value per rank.
void write_ranks(Hdf5File& file, const std::vector<RankTimes>& ranks) {
  if (ranks.empty()) return;
  const auto column = [&](const char* name, const auto& value) {
    std::vector<std::decay_t<decltype(value(ranks.front()))>> data;
    for (const RankTimes& rank : ranks) data.push_back(value(rank));
    file.write(fmt::format("/ranks/{}", name), data, {data.size()});
  };
  const auto count = [](long number) { return static_cast<std::int64_t>(number); };
  column("exchange_time", [](const RankTimes& r) { return r.exchange; });
  column("reduction_time", [](const RankTimes& r) { return r.reduction; });
  column("exchanges", [&](const RankTimes& r) { return count(r.exchanges); });
  column("reductions", [&](const RankTimes& r) { return count(r.reductions); });
}

void write_request(Hdf5File& file, const RunRequest& request) {
  file.make_group("/request");
  for (const RequestField& field : request_fields()) {
    file.set_attribute("/request", field.name, field.text(request));
    if (!field.root_attribute) continue;
    std::visit([&](const auto& value) { file.set_attribute("/", field.name, value); },
               field.value(request));
  }
}

void write_measures(Hdf5File& file, const std::string& group, const Measures& measures) {
  file.make_group(group);
  for (const Measure m : all_measures()) file.set_attribute(group, name_of(m), measures[m]);
}

void write_curve(Hdf5File& file, const std::vector<Sample>& samples) {
  const auto column = [&](const std::string& name, const auto& value) {
    using T = std::decay_t<decltype(value(samples.front()))>;
    std::vector<T> data;
    for (const Sample& sample : samples) data.push_back(value(sample));
    file.write("/curve/" + name, data, {data.size()});
  };
  column("outer", [](const Sample& s) { return static_cast<std::int64_t>(s.counters.outer); });
  column("krylov", [](const Sample& s) { return static_cast<std::int64_t>(s.counters.krylov); });
  column("applies",
         [](const Sample& s) { return static_cast<std::int64_t>(s.counters.operator_applies); });
  column("time", [](const Sample& s) { return s.time; });
  column("time_excluded", [](const Sample& s) { return s.time_excluded; });
  column("own_residual", [](const Sample& s) { return s.own_residual; });
  for (const Measure m : all_measures()) {
    column(name_of(m), [m](const Sample& s) { return s.measures[m]; });
  }
}

void write_targets(Hdf5File& file, const std::vector<TargetRecord>& targets) {
  std::vector<std::string> measure;
  std::vector<double> value, time;
  std::vector<std::int64_t> outer, krylov, applies;
  for (const TargetRecord& record : targets) {
    measure.push_back(name_of(record.target.measure));
    value.push_back(record.target.value);
    const bool reached = record.reached.has_value();
    time.push_back(reached ? record.reached->time : std::nan(""));
    outer.push_back(reached ? record.reached->counters.outer : -1);
    krylov.push_back(reached ? record.reached->counters.krylov : -1);
    applies.push_back(reached ? record.reached->counters.operator_applies : -1);
  }
  const std::vector<std::size_t> shape{targets.size()};
  file.write_strings("/targets/measure", measure);
  file.write("/targets/value", value, shape);
  file.write("/targets/time", time, shape);
  file.write("/targets/outer", outer, shape);
  file.write("/targets/krylov", krylov, shape);
  file.write("/targets/applies", applies, shape);
}

/// The result file in memory.
Hdf5File make_result(const std::string& path, const RunRequest& request, const RunResult& result,
                     const std::string& key, bool overwrite) {
  Hdf5File file = Hdf5File::create(path, overwrite);
  file.set_attribute("/", "format", result_format);
  file.set_attribute("/", "version", static_cast<std::int64_t>(result_schema_version));
  file.set_attribute("/", "referee_version", static_cast<std::int64_t>(referee_version));
  file.set_attribute("/", "instance", result.instance);
  file.set_attribute("/", "instance_hash", result.instance_hash);
  file.set_attribute("/", "form", to_string(result.form));
  file.set_attribute("/", "contacts", static_cast<std::int64_t>(result.contacts));
  file.set_attribute("/", "bodies", static_cast<std::int64_t>(result.bodies));
  file.set_attribute("/", "solver", result.solver);
  file.set_attribute("/", "solver_id", request.solver.id);
  file.set_attribute("/", "law", to_string(result.law));
  file.set_attribute("/", "status", to_string(result.status));
  file.set_attribute("/", "message", result.info.message);
  file.set_attribute("/", "stop_reached", static_cast<std::int64_t>(result.stop_reached));
  file.set_attribute("/", "own_residual", result.info.own_residual);
  file.set_attribute("/", "own_residual_name", result.info.own_residual_name);
  file.set_attribute("/", "memory_per_contact", result.memory_per_contact);
  file.set_attribute("/", "key", key);
  write_request(file, request);

  file.make_group("/instance");
  for (const auto& [name, value] : result.descriptors) {
    file.set_attribute("/instance", name, value);
  }
  if (!std::isnan(result.reference_residual)) {
    file.set_attribute("/instance", "reference_residual", result.reference_residual);
  }
  file.make_group("/options");
  for (const auto& option : result.options) {
    file.set_attribute("/options", option.name, option.value);
  }
  write_counters(file, result.info.counters);
  file.make_group("/timers");
  file.set_attribute("/timers", "solve", result.time);
  file.set_attribute("/timers", "setup", result.setup_time);
  file.set_attribute("/timers", "problem", result.problem_time);
  file.set_attribute("/timers", "startup", result.startup_time);
  file.set_attribute("/timers", "warm_up", result.warm_up_time);
  if (result.bare_time > 0) {
    file.set_attribute("/timers", "bare_solve", result.bare_time);
    file.set_attribute("/timers", "bare_difference", result.bare_difference);
  }
  file.make_group("/timers/parts");  // a group of its own: solvers choose these names
  for (const auto& [name, value] : result.info.timers) {
    file.set_attribute("/timers/parts", name, value);
  }
  write_ranks(file, result.rank_times);

  write_curve(file, result.samples);
  write_targets(file, result.targets);
  write_measures(file, "/final", result.final_measures);
  write_measures(file, "/best", result.best);
  if (!result.gamma.empty()) {
    file.write("/final/gamma", result.gamma, {result.gamma.size() / 3, 3});
  }
  file.make_group("/provenance");
  for (const auto& [name, value] : result.provenance.entries()) {
    file.set_attribute("/provenance", name, value);
  }
  return file;
}

std::string text_of(const Hdf5File& file, const std::string& object, const std::string& name) {
  const auto value = file.string_attribute(object, name);
  if (!value) {
    throw InputError(file.path(),
                     object == "/" ? "root attribute " + name : object + " attribute " + name,
                     "a string", "nothing");
  }
  return valid_utf8(*value);
}

double number_of(const Hdf5File& file, const std::string& object, const std::string& name) {
  const auto value = file.number_attribute(object, name);
  if (!value || value->size() != 1) {
    throw InputError(file.path(), object + " attribute " + name, "a number", "nothing");
  }
  return value->front();
}

/// A column of /curve or /targets, which must have as many values as the first of its group,
/// `count` of `first`.
template <class T>
std::vector<T> column_of(const Hdf5File& file, const std::string& group, const std::string& name,
                         const std::string& first, std::size_t count) {
  const auto column = file.read<T>(group + "/" + name);
  if (column.shape != std::vector<std::size_t>{count}) {
    throw InputError(file.path(), group + "/" + name,
                     fmt::format("{} values, as {}/{}", count, group, first),
                     fmt::format("{}", column.data.size()));
  }
  return column.data;
}

template <class T>
void check_ascending(const Hdf5File& file, const std::string& name, const std::vector<T>& values) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] < values[i - 1]) {
      throw InputError(file.path(), fmt::format("/curve/{}[{}]", name, i),
                       fmt::format("ascending {}", name == "time" ? "times" : "numbers"),
                       fmt::format("{} after {}", values[i], values[i - 1]));
    }
  }
}

/// The measures that the file has, or must have: those that came later may be missing.
std::vector<std::string> measures_in(const Hdf5File& file) {
  std::vector<std::string> names;
  for (const MeasureEntry& entry : measure_entries()) {
    if (entry.in_every_file || file.has("/curve/" + entry.name)) names.push_back(entry.name);
  }
  return names;
}

bool equal(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

void write_result(const std::string& path, const RunRequest& request, const RunResult& result,
                  const std::string& key, bool overwrite) {
  make_result(path, request, result, key, overwrite).commit();
}

void write_checkpoint(const std::string& path, const RunRequest& request, const RunResult& so_far) {
  make_result(path, request, so_far, "", true).commit(false);
}

void stamp_result(const std::string& from, const std::string& path, const StudyStamp& stamp) {
  Hdf5File file = Hdf5File::edit(from, path);
  file.set_attribute("/", "order", static_cast<std::int64_t>(stamp.order));
  file.set_attribute("/", "key", stamp.key);
  file.make_group("/key_parts");
  for (const auto& [name, value] : stamp.key_parts) {
    file.set_attribute("/key_parts", name, value);
  }
  if (stamp.failure) {
    file.set_attribute("/", "status", to_string(*stamp.failure));
    file.set_attribute("/", "message", stamp.failure_message);
    file.set_attribute("/", "stop_reached", std::int64_t{0});
  }
  file.set_attribute("/timers", "wall", stamp.wall_time);
  file.set_attribute("/", "peak_memory", stamp.peak_memory);
  file.set_attribute("/provenance", "jobs", fmt::format("{}", stamp.jobs));
  file.commit();
}

void respell_result(const std::string& from, const std::string& path, const RunRequest& request) {
  Hdf5File file = Hdf5File::edit(from, path);
  const std::string solver = request.solver.text();
  file.set_attribute("/", "solver", solver);
  file.set_attribute("/", "start", request.start);
  if (file.has("/request")) {
    file.set_attribute("/request", "solver", solver);
    file.set_attribute("/request", "start", request.start);
  }
  file.commit();
}

std::optional<RunRequest> read_request(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  if (!file.has("/request")) return std::nullopt;
  RunRequest request;
  const std::vector<std::string> names = file.attribute_names("/request");
  for (const RequestField& field : request_fields()) {  // in their order: some need others
    if (std::find(names.begin(), names.end(), field.name) == names.end()) continue;
    const std::string text = text_of(file, "/request", field.name);
    if (text == field.text(request)) continue;
    field.set(request, text, fmt::format("{}: /request attribute {}", path, field.name));
  }
  return request;
}

ResultSummary read_result(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const auto text = [&](const char* name) { return text_of(file, "/", name); };
  const auto number = [&](const char* object, const char* name) {
    return number_of(file, object, name);
  };
  const std::string format = text("format");
  if (format != result_format) {
    throw InputError(path, "root attribute format", fmt::format("'{}'", result_format),
                     "'" + format + "'");
  }
  const double version = number("/", "version");
  if (version != result_schema_version) {
    throw InputError(path, "root attribute version", fmt::format("{}", result_schema_version),
                     fmt::format("{}", version));
  }
  ResultSummary summary;
  summary.instance = text("instance");
  summary.instance_hash = text("instance_hash");
  summary.solver = text("solver");
  summary.start = file.string_attribute("/", "start").value_or("cold");
  summary.status = read_enum<Status>(text("status"), path, "root attribute status");
  summary.message = text("message");
  summary.key = text("key");
  for (const std::string& name : file.attribute_names("/key_parts")) {
    summary.key_parts.emplace_back(name, text_of(file, "/key_parts", name));
  }
  summary.stop_reached = number("/", "stop_reached") != 0;
  summary.time = number("/timers", "solve");
  summary.outer = static_cast<long>(number("/counters", "outer"));
  summary.krylov = static_cast<long>(number("/counters", "krylov"));
  const Law law = read_enum<Law>(text("law"), path, "root attribute law");
  summary.residual_measure = judged_by(law, {Measure::residual, 0}).measure;
  summary.residual = number("/final", name_of(summary.residual_measure).c_str());
  summary.error = law == Law::convex ? number("/final", "error") : std::nan("");
  // The curve's columns must be there, of one length, with times that do not run backwards.
  const std::vector<double> time = file.read<double>("/curve/time").data;
  check_ascending(file, "time", time);
  for (const std::string& name : measures_in(file)) {
    column_of<double>(file, "/curve", name, "time", time.size());
  }
  if (!file.has("/provenance")) {
    throw InputError(path, "/provenance", "where the run was made", "nothing of that name");
  }
  return summary;
}

namespace {

/// Everything that must be there, of the right type.
void check_presence(const Hdf5File& file) {
  for (const char* name : {"form", "solver_id", "law", "stop", "own_residual_name", "study"}) {
    text_of(file, "/", name);
  }
  for (const char* name : {"referee_version", "contacts", "bodies", "own_residual", "time_limit",
                           "memory_per_contact", "repetition"}) {
    number_of(file, "/", name);
  }
  for (const char* name : {"outer", "krylov", "operator_applies", "preconditioner_applies",
                           "factorizations", "projections"}) {
    number_of(file, "/counters", name);
  }
  for (const char* name : {"solve", "setup", "problem"}) number_of(file, "/timers", name);
  for (const char* group : {"/options", "/timers/parts"}) {
    if (!file.has(group)) throw InputError(file.path(), group, "a group", "nothing of that name");
  }
  for (const auto& [name, value] : Provenance().entries()) {
    if (name == "affinity" || name == "governor") continue;  // newer than the schema
    text_of(file, "/provenance", name);
  }
}

/// What ranks spent with each other, where a file has it: newer than the schema.
void check_ranks(const Hdf5File& file) {
  if (!file.has("/ranks")) return;
  const std::string ranks = text_of(file, "/provenance", "ranks");
  const auto check = [&](const std::string& name, const auto& values) {
    const std::string place = "/ranks/" + name;
    if (fmt::format("{}", values.size()) != ranks) {
      throw InputError(file.path(), place, fmt::format("{} values, one per rank", ranks),
                       fmt::format("{}", values.size()));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] >= 0) continue;
      throw InputError(file.path(), fmt::format("{}[{}]", place, i), "a number >= 0",
                       fmt::format("{}", values[i]));
    }
  };
  for (const char* name : {"exchange_time", "reduction_time"}) {
    check(name, file.read<double>(fmt::format("/ranks/{}", name)).data);
  }
  for (const char* name : {"exchanges", "reductions"}) {
    check(name, file.read<std::int64_t>(fmt::format("/ranks/{}", name)).data);
  }
}

void check_curve(const Hdf5File& file) {
  const std::size_t looks = file.read<double>("/curve/time").data.size();
  for (const char* name : {"outer", "krylov", "applies"}) {
    check_ascending(file, name, column_of<std::int64_t>(file, "/curve", name, "time", looks));
  }
  check_ascending(file, "time_excluded",
                  column_of<double>(file, "/curve", "time_excluded", "time", looks));
  column_of<double>(file, "/curve", "own_residual", "time", looks);
  for (const std::string& name : measures_in(file)) {
    const auto values = column_of<double>(file, "/curve", name, "time", looks);
    double smallest = std::nan("");
    for (const double value : values) {
      if (std::isnan(smallest) || value < smallest) smallest = value;
    }
    const double best = number_of(file, "/best", name);
    if (!equal(best, smallest)) {
      throw InputError(file.path(), "/best attribute " + name,
                       fmt::format("{}, the smallest of the curve", smallest),
                       fmt::format("{}", best));
    }
    const double final = number_of(file, "/final", name);
    if (!values.empty() && !std::isnan(final) && final != values.back()) {
      throw InputError(file.path(), "/final attribute " + name,
                       fmt::format("{}, the last of the curve", values.back()),
                       fmt::format("{}", final));
    }
  }
}

void check_targets(const Hdf5File& file) {
  const auto measures = file.read_strings("/targets/measure");
  const auto values = file.read<double>("/targets/value").data;
  if (measures.size() != values.size()) {
    throw InputError(file.path(), "/targets/measure",
                     fmt::format("{} values, as /targets/value", values.size()),
                     fmt::format("{}", measures.size()));
  }
  const auto time = column_of<double>(file, "/targets", "time", "value", values.size());
  for (const char* name : {"outer", "krylov", "applies"}) {
    column_of<std::int64_t>(file, "/targets", name, "value", values.size());
  }
  const auto curve_time = file.read<double>("/curve/time").data;
  for (std::size_t t = 0; t < values.size(); ++t) {
    const auto curve = file.read<double>("/curve/" + measures[t]).data;
    const auto hit =
        std::find_if(curve.begin(), curve.end(), [&](double value) { return value <= values[t]; });
    const double first = hit == curve.end()
                             ? std::nan("")
                             : curve_time[static_cast<std::size_t>(hit - curve.begin())];
    if (!equal(first, time[t])) {
      throw InputError(file.path(), fmt::format("/targets/time[{}]", t),
                       fmt::format("{}, where the curve first reaches {}={}", first, measures[t],
                                   number_text(values[t])),
                       fmt::format("{}", time[t]));
    }
  }
}

void check_verdict(const Hdf5File& file, const ResultSummary& summary) {
  if (summary.status == Status::running) {
    throw InputError(file.path(), "root attribute status", "that of a run that has ended",
                     "'" + to_string(summary.status) + "'");
  }
  const std::string text = text_of(file, "/", "stop");
  bool reached = false;
  for (const Target& stop : parse_targets(text, file.path() + ": root attribute stop")) {
    reached = number_of(file, "/final", name_of(stop.measure)) <= stop.value;
    if (!reached) break;
  }
  // What came too late, or of a solver that did nothing, does not count.
  const bool counts =
      summary.status != Status::unsupported && summary.time <= number_of(file, "/", "time_limit");
  if (reached != summary.stop_reached && (counts || summary.stop_reached)) {
    throw InputError(file.path(), "root attribute stop_reached",
                     reached ? "1, as /final has it" : "0, as /final has it",
                     summary.stop_reached ? "1" : "0");
  }
}

}  // namespace

ResultSummary check_result(const std::string& path) {
  const ResultSummary summary = read_result(path);
  const Hdf5File file = Hdf5File::open(path);
  check_presence(file);
  read_request(path);
  check_ranks(file);
  check_curve(file);
  check_targets(file);
  check_verdict(file, summary);
  return summary;
}

}  // namespace ccp
