#include "harness/run/external.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "harness/run/child_process.hpp"
#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/base/text.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/sequence_file.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace fs = std::filesystem;

namespace {

constexpr double gigabyte = 1e9;

/// A folder that is gone afterwards.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "ccpbench-XXXXXX").string();
    if (!mkdtemp(name.data())) {
      throw InputError(name, "", "to make a folder", std::strerror(errno));
    }
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

void replace(std::string& word, const std::string& name, const std::string& value) {
  const std::string place = "{" + name + "}";
  for (std::size_t at = word.find(place); at != std::string::npos;
       at = word.find(place, at + value.size())) {
    word.replace(at, place.size(), value);
  }
}

/// An iterate that the program wrote, with what it says of it.
struct Snapshot {
  double time = 0;       ///< s
  long iterations = -1;  ///< -1: not told
  double own_residual = 0;
  std::vector<double> gamma;
};

/// What one start of the program left.
struct Output {
  std::vector<Snapshot> history;
  Snapshot answer;
  double setup_time = 0;
  bool own_clock = false;  ///< times are the program's
  std::string message, version, own_residual_name;
};

double number_or(const Hdf5File& file, const char* name, double standard) {
  const auto values = file.number_attribute("/", name);
  if (!values) return standard;
  if (values->size() != 1 || !std::isfinite(values->front())) {
    throw InputError(file.path(), fmt::format("root attribute {}", name), "a finite number",
                     fmt::format("{} values", values->size()));
  }
  return values->front();
}

/// @param wall  s that the program ran: no time it tells may be longer
Output read_output(const std::string& path, std::size_t size, double wall) {
  const Hdf5File file = Hdf5File::open(path);
  const auto bounded = [&](double time, const std::string& place) {
    if (!(time >= 0) || time > wall) {
      throw InputError(path, place,
                       fmt::format("a time between 0 and {:.3g} s, which it ran", wall),
                       fmt::format("{}", time));
    }
    return time;
  };
  Output output;
  output.answer.gamma = file.read<double>("/gamma").data;
  if (output.answer.gamma.size() != size) {
    throw InputError(path, "/gamma", fmt::format("{} values, 3 per contact", size),
                     fmt::format("{}", output.answer.gamma.size()));
  }
  output.own_clock = file.number_attribute("/", "solve_time").has_value();
  output.answer.time = bounded(number_or(file, "solve_time", wall), "root attribute solve_time");
  output.setup_time = bounded(number_or(file, "setup_time", 0), "root attribute setup_time");
  output.answer.iterations = std::lround(number_or(file, "iterations", -1));
  output.answer.own_residual = number_or(file, "own_residual", 0);
  if (!file.number_attribute("/", "own_residual")) output.answer.own_residual = std::nan("");
  output.own_residual_name =
      valid_utf8(file.string_attribute("/", "own_residual_name").value_or(""));
  output.message = valid_utf8(file.string_attribute("/", "message").value_or(""));
  output.version = valid_utf8(file.string_attribute("/", "version").value_or(""));
  if (!file.has("/history/gamma")) return output;

  const auto gamma = file.read<double>("/history/gamma");
  const std::size_t looks = gamma.shape.empty() ? 0 : gamma.shape[0];
  if (gamma.data.size() != looks * size) {
    throw InputError(path, "/history/gamma", fmt::format("{} values in each row", size),
                     fmt::format("shape [{}]", fmt::join(gamma.shape, ", ")));
  }
  const auto column = [&](const std::string& name, auto type) {
    using T = decltype(type);
    std::vector<T> values;
    if (!file.has("/history/" + name)) return values;
    values = file.read<T>("/history/" + name).data;
    if (values.size() != looks || !std::is_sorted(values.begin(), values.end())) {
      throw InputError(path, "/history/" + name, fmt::format("{} ascending values", looks),
                       fmt::format("{} values", values.size()));
    }
    return values;
  };
  const std::vector<double> time = column("time", 0.0);
  const std::vector<std::int64_t> iterations = column("iterations", std::int64_t{0});
  if (time.empty() && looks > 0) {
    throw InputError(path, "/history/time", "a dataset", "nothing of that name");
  }
  for (std::size_t k = 0; k < looks; ++k) {
    Snapshot snapshot;
    snapshot.time = bounded(time[k], fmt::format("/history/time[{}]", k));
    if (!iterations.empty()) snapshot.iterations = iterations[k];
    snapshot.own_residual = std::nan("");
    snapshot.gamma.assign(gamma.data.begin() + static_cast<std::ptrdiff_t>(k * size),
                          gamma.data.begin() + static_cast<std::ptrdiff_t>((k + 1) * size));
    output.history.push_back(std::move(snapshot));
  }
  if (looks > 0 && output.answer.time < output.history.back().time) {
    throw InputError(path, "root attribute solve_time",
                     "no less than the last of /history/time, " + number_text(time.back()),
                     number_text(output.answer.time));
  }
  return output;
}

/// Why the program is not started: the problem has something that it does not say it takes; or "".
std::string why_unsupported(const ExternalSolver& external, const ContactProblem& problem) {
  for (const Feature feature : features_of(problem)) {
    const auto& taken = external.features;
    if (std::find(taken.begin(), taken.end(), feature) != taken.end()) continue;
    return fmt::format("{} does not say that it takes problems with {} (features: {})",
                       external.name, words_of(feature), to_string(feature));
  }
  return "";
}

/// One start of the program, watched. @param problem  the file that it reads
ChildProcess::End run_program(const RunRequest& request, const std::string& problem,
                              const std::string& output, double tolerance) {
  const ExternalSolver& external = *request.external;
  std::vector<std::string> words = external.command;
  for (std::string& word : words) {
    replace(word, "problem", problem);
    replace(word, "output", output);
    replace(word, "time_limit", number_text(request.recorder.time_limit));
    replace(word, "threads", fmt::format("{}", request.threads));
    replace(word, "tolerance", number_text(tolerance));
  }
  ChildProcess::Place place;
  place.folder = external.folder;
  place.same_group = true;
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"}) {
    place.environment.push_back(fmt::format("{}={}", name, request.threads));
  }
  const double memory_limit =
      request.memory_limit > 0 ? request.memory_limit * gigabyte : ChildProcess::Limits().memory;
  ChildProcess process(words, place, {request.recorder.time_limit + external_grace, memory_limit});
  while (!process.advance()) ChildProcess::wait({&process}, std::chrono::milliseconds(20));
  return process.end();
}

std::string how_it_failed(const ChildProcess::End& end) {
  std::string text = end.signal
                         ? fmt::format("ended by signal {} ({})", end.signal, strsignal(end.signal))
                         : fmt::format("ended with exit code {}", end.exit_code);
  if (!end.last_words.empty()) text += ": " + end.last_words;
  return text;
}

/// The curve of all iterates in the order of their times; the answer is the last one.
class Curve {
 public:
  void add(Snapshot snapshot) { snapshots_.push_back(std::move(snapshot)); }
  bool empty() const { return snapshots_.empty(); }
  const Snapshot& answer() const { return snapshots_.back(); }

  /// Each iterate at its time. One that took longer than a later one (of a tighter tolerance) is
  /// of no use to anybody and left out. Iterations are numbered where they are not told, or run
  /// backwards.
  void give_to(Recorder& recorder, Vector& gamma) const {
    std::vector<const Snapshot*> kept;
    for (auto it = snapshots_.rbegin(); it != snapshots_.rend(); ++it) {
      if (kept.empty() || it->time < kept.back()->time) kept.push_back(&*it);
    }
    std::reverse(kept.begin(), kept.end());
    bool told = true;
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const long before = k > 0 ? kept[k - 1]->iterations : 0;
      if (kept[k]->iterations < before) told = false;
    }
    for (std::size_t k = 0; k < kept.size(); ++k) {
      Sample sample;
      sample.counters.outer = told ? kept[k]->iterations : static_cast<long>(k) + 1;
      sample.time = kept[k]->time;
      sample.own_residual = kept[k]->own_residual;
      upload_to(overwrite_view(gamma), kept[k]->gamma);
      recorder.record(sample, gamma);
    }
  }

 private:
  std::vector<Snapshot> snapshots_;
};

}  // namespace

RunResult run_external(const RunRequest& request, const std::string& command_line,
                       const RunWatch& watch) {
  const ExternalSolver& external = *request.external;
  const ContactProblem host = read_problem(request.problem_file);
  RunResult result = describe(request, host, command_line);
  result.info.own_residual = std::nan("");
  const std::size_t size = 3 * host.triples();

  const Problem problem(host);
  Referee referee(problem);
  Recorder recorder(
      problem.map(), request.recorder, [&](const Vector& gamma) { return referee.measure(gamma); },
      watch.progressed);
  Vector gamma(problem.map(), 1);
  Sample begin;
  begin.own_residual = std::nan("");
  recorder.record(begin, gamma);

  Curve curve;
  const bool ladder = !external.tolerances.empty();
  const std::vector<double> rungs = ladder ? external.tolerances : std::vector<double>{0};
  const ScratchFolder scratch;
  std::string problem_file = fs::absolute(request.problem_file).string();
  result.info.message = why_unsupported(external, host);
  if (!result.info.message.empty()) {
    result.status = Status::unsupported;
  } else if (!split_place(request.problem_file).steps.empty()) {  // a file of its own for the step
    problem_file = scratch.file("problem.h5");
    write_problem(problem_file, host, false);
  }
  for (std::size_t rung = 0; rung < rungs.size() && result.status == Status::running; ++rung) {
    const std::string path = scratch.file(fmt::format("output-{}.h5", rung));
    const auto end = run_program(request, problem_file, path, rungs[rung]);
    result.info.timers["process"] = end.seconds;
    result.memory_per_contact =
        host.contacts() > 0 ? end.peak_memory / static_cast<double>(host.contacts()) : 0;
    const std::string at = ladder ? fmt::format("tolerance {}: ", number_text(rungs[rung])) : "";
    using Killed = ChildProcess::End::Killed;
    if (end.killed == Killed::time) {
      result.status = Status::time_limit;
      result.info.message = at + fmt::format("killed after {:.1f} s", end.seconds);
    } else if (end.killed == Killed::memory) {
      result.status = Status::out_of_memory;
      result.info.message =
          at + fmt::format("killed when it held {:.2f} GB", end.peak_memory / gigabyte);
    } else if (end.exit_code != 0) {
      result.status = Status::crashed;
      result.info.message = at + how_it_failed(end);
    } else {
      try {
        Output output = read_output(path, size, end.seconds);
        for (Snapshot& snapshot : output.history) {
          if (!ladder) curve.add(std::move(snapshot));
        }
        curve.add(std::move(output.answer));
        result.setup_time = output.setup_time;
        result.info.message = output.message;
        result.info.own_residual_name = output.own_residual_name;
        result.provenance.external = external.name;
        if (!output.version.empty()) result.provenance.external += " " + output.version;
        result.provenance.clock = output.own_clock ? "program" : "process";
        upload_to(overwrite_view(gamma), curve.answer().gamma);
        const Measures measures = referee.measure(gamma);
        if (curve.answer().time > request.recorder.time_limit) {
          result.status = Status::time_limit;
        } else if (all_reached(request.recorder.stop, measures)) {
          break;
        }
      } catch (const InputError& error) {
        result.status = Status::crashed;
        result.info.message = at + "wrote no answer that can be used: " + error.what();
        if (!end.last_words.empty()) result.info.message += "; last words: " + end.last_words;
      }
    }
  }
  curve.give_to(recorder, gamma);
  const Info info = result.info;
  copy_looks(recorder, result);
  result.info.message = info.message;
  result.info.timers = info.timers;
  result.stop_reached = recorder.stop_reached() && result.status != Status::unsupported;
  const bool no_answer = curve.empty() && is_failure(result.status);
  result.final_measures = no_answer ? Measures(std::nan("")) : recorder.samples().back().measures;
  if (result.status == Status::running) {
    result.status = result.stop_reached ? Status::stopped_by_observer : Status::converged;
  }
  if (request.keep_gamma && !curve.empty()) result.gamma = curve.answer().gamma;
  return result;
}

}  // namespace ccp
