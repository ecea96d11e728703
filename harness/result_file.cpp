#include "harness/result_file.hpp"

#include <fmt/format.h>

#include <cmath>

#include "problems/error.hpp"
#include "problems/hdf5_file.hpp"

namespace ccp {
namespace {

constexpr const char* format_name = "ccpbench-result";

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

void write_measures(Hdf5File& file, const std::string& group, const Measures& measures) {
  file.make_group(group);
  for (std::size_t m = 0; m < measure_count; ++m) {
    file.set_attribute(group, measure_names()[m], measures.values()[m]);
  }
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
  for (std::size_t m = 0; m < measure_count; ++m) {
    column(measure_names()[m], [m](const Sample& s) { return s.measures.values()[m]; });
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

}  // namespace

void write_result(const std::string& path, const RunRequest& request, const RunResult& result,
                  const std::string& key, bool overwrite) {
  Hdf5File file = Hdf5File::create(path, overwrite);
  file.set_attribute("/", "format", format_name);
  file.set_attribute("/", "version", static_cast<std::int64_t>(result_schema_version));
  file.set_attribute("/", "referee_version", static_cast<std::int64_t>(referee_version));
  file.set_attribute("/", "instance", result.instance);
  file.set_attribute("/", "instance_hash", result.instance_hash);
  file.set_attribute("/", "form", result.form);
  file.set_attribute("/", "contacts", static_cast<std::int64_t>(result.contacts));
  file.set_attribute("/", "bodies", static_cast<std::int64_t>(result.bodies));
  file.set_attribute("/", "solver", result.solver);
  file.set_attribute("/", "solver_id", request.solver.id);
  file.set_attribute("/", "law", result.law);
  file.set_attribute("/", "status", result.status);
  file.set_attribute("/", "message", result.info.message);
  file.set_attribute("/", "stop",
                     request.recorder.stop ? request.recorder.stop->text() : std::string());
  file.set_attribute("/", "stop_reached", static_cast<std::int64_t>(result.stop_reached));
  file.set_attribute("/", "own_residual", result.info.own_residual);
  file.set_attribute("/", "own_residual_name", result.info.own_residual_name);
  file.set_attribute("/", "time_limit", request.recorder.time_limit);
  file.set_attribute("/", "memory_per_contact", result.memory_per_contact);
  file.set_attribute("/", "study", request.study);
  file.set_attribute("/", "repetition", static_cast<std::int64_t>(request.repetition));
  file.set_attribute("/", "key", key);

  file.make_group("/options");
  for (const auto& option : result.options) {
    file.set_attribute("/options", option.name, option.value);
  }
  write_counters(file, result.info.counters);
  file.make_group("/timers");
  file.set_attribute("/timers", "solve", result.time);
  file.set_attribute("/timers", "setup", result.setup_time);
  file.set_attribute("/timers", "problem", result.problem_time);
  if (result.bare_time > 0) {
    file.set_attribute("/timers", "bare_solve", result.bare_time);
    file.set_attribute("/timers", "bare_difference", result.bare_difference);
  }
  file.make_group("/timers/parts");  // a group of its own: solvers choose these names
  for (const auto& [name, value] : result.info.timers) {
    file.set_attribute("/timers/parts", name, value);
  }

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
  file.commit();
}

ResultSummary read_result(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const auto text = [&](const char* name) {
    const auto value = file.string_attribute("/", name);
    if (!value)
      throw InputError(path, fmt::format("root attribute {}", name), "a string", "nothing");
    return *value;
  };
  const auto number = [&](const char* object, const char* name) {
    const auto value = file.number_attribute(object, name);
    if (!value || value->size() != 1) {
      throw InputError(path, fmt::format("{} attribute {}", object, name), "a number", "nothing");
    }
    return value->front();
  };
  const std::string format = text("format");
  if (format != format_name) {
    throw InputError(path, "root attribute format", fmt::format("'{}'", format_name),
                     "'" + format + "'");
  }
  const double version = number("/", "version");
  if (version != result_schema_version) {
    throw InputError(path, "root attribute version", fmt::format("{}", result_schema_version),
                     fmt::format("{}", version));
  }
  ResultSummary summary;
  summary.instance = text("instance");
  summary.solver = text("solver");
  summary.status = text("status");
  summary.message = text("message");
  summary.key = text("key");
  summary.stop_reached = number("/", "stop_reached") != 0;
  summary.time = number("/timers", "solve");
  summary.outer = static_cast<long>(number("/counters", "outer"));
  summary.krylov = static_cast<long>(number("/counters", "krylov"));
  summary.residual = number("/final", "residual");
  summary.error = number("/final", "error");
  // The curve's columns must be there, of one length, with times that do not run backwards.
  const auto time = file.read<double>("/curve/time");
  for (std::size_t i = 1; i < time.data.size(); ++i) {
    if (time.data[i] < time.data[i - 1]) {
      throw InputError(path, fmt::format("/curve/time[{}]", i), "ascending times",
                       fmt::format("{} after {}", time.data[i], time.data[i - 1]));
    }
  }
  for (const std::string& name : measure_names()) {
    const auto column = file.read<double>("/curve/" + name);
    if (column.shape != time.shape) {
      throw InputError(path, "/curve/" + name,
                       fmt::format("{} values, as /curve/time", time.data.size()),
                       fmt::format("{}", column.data.size()));
    }
  }
  if (!file.has("/provenance")) {
    throw InputError(path, "/provenance", "where the run was made", "nothing of that name");
  }
  return summary;
}

}  // namespace ccp
