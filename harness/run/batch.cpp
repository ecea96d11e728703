#include "harness/run/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <set>

#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/fclib/import_fclib.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/problem_place.hpp"
#include "solvers/batch/methods.hpp"
#include "solvers/core/stopwatch.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

bool is_fclib(const std::string& path) {
  if (!fs::is_regular_file(path)) return false;
  try {
    const Hdf5File file = Hdf5File::open(path);
    return file.has("/fclib_local") || file.has("/fclib_global");
  } catch (const InputError&) {  // no HDF5 file: whoever reads it says so
    return false;
  }
}

/// A folder's files, or the source itself.
std::vector<std::string> files_of_source(const std::string& source) {
  if (!fs::is_directory(source)) return {resolve_problem(source)};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(source)) {
    const std::string suffix = entry.path().extension();
    if (entry.is_regular_file() && (suffix == ".h5" || suffix == ".hdf5")) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    throw InputError("--batch", source, "a folder with problem files (*.h5, *.hdf5)", "none in it");
  }
  return files;
}

/// Seconds of work, device work included.
template <class Work>
double seconds(const Work& work) {
  fence();
  const auto start = Clock::now();
  work();
  fence();
  return seconds_since(start);
}

/// Judges what a batch found for one of its problems.
RunResult judge(const BatchProblem& given, const RunRequest& request, const Info& info,
                const std::vector<double>& gamma, double time, const std::string& command_line) {
  RunResult result = describe(request, given.problem, command_line);
  const Problem problem(given.problem);
  Referee referee(problem);
  Recorder recorder(problem.map(), request.recorder,
                    [&](const Vector& at) { return referee.measure(at); });
  Vector at(problem.map(), 1);
  Sample begin;
  begin.own_residual = std::nan("");
  recorder.record(begin, at);
  upload_to(overwrite_view(at), gamma);
  Sample end;
  end.counters = info.counters;
  end.time = time;
  end.own_residual = info.own_residual;
  recorder.record(end, at);
  copy_looks(recorder, result);
  result.info = info;
  if (info.status == Status::running) result.info.status = Status::time_limit;
  result.status = result.info.status;
  result.stop_reached = recorder.stop_reached();
  result.final_measures = recorder.samples().back().measures;
  if (request.keep_gamma) result.gamma = gamma;
  return result;
}

}  // namespace

std::vector<BatchProblem> read_batch(const std::vector<std::string>& sources,
                                     const MassFactoriser& factorise) {
  std::vector<BatchProblem> problems;
  for (const std::string& source : sources) {
    for (const std::string& file : files_of_source(source)) {
      if (is_fclib(file)) {
        problems.push_back({file, import_fclib(file, FclibForm::automatic, factorise).problem});
        if (problems.back().problem.name.empty()) {
          problems.back().problem.name = fs::path(file).stem();
        }
        continue;
      }
      for (const std::string& place : steps_of(file)) {
        problems.push_back({place, read_problem(place)});
      }
    }
  }
  return problems;
}

void check_batch_request(const RunRequest& request) {
  static const std::set<std::string> known = {"problem",    "solver",     "stop",
                                              "time_limit", "law",        "threads",
                                              "max_outer",  "keep_gamma", "batch"};
  for (const RequestField& field : request_fields()) {
    if (known.count(field.name) > 0 || field.is_default(request)) continue;
    throw InputError("--batch", field.option,
                     "nothing but a solver, --stop, limits, --threads and "
                     "--keep-gamma beside it",
                     field.text(request));
  }
  const std::vector<Target>& stop = request.recorder.stop;
  const Measure judged = residual_of(law_of(request));
  if (stop.size() != 1 || stop.front().measure != judged) {
    throw InputError("--batch", "--stop", name_of(judged) + "=VALUE, which its kernels measure",
                     targets_text(stop));
  }
  make_batch_solver(request.solver);
}

BatchResult run_batch(const std::vector<BatchProblem>& problems, const RunRequest& request,
                      const std::string& command_line) {
  check_batch_request(request);
  for (const BatchProblem& given : problems) {
    const std::string reason = why_not_in_batch(given.problem);
    if (!reason.empty()) {
      throw InputError(given.place, given.problem.name, "a problem that fits into a batch", reason);
    }
  }
  BatchResult result;
  std::vector<Info> infos(problems.size());
  std::vector<std::vector<double>> gammas(problems.size());
  for (const Form form : {Form::bodies, Form::assembled}) {
    std::vector<std::size_t> members;
    std::vector<const ContactProblem*> hosts;
    for (std::size_t k = 0; k < problems.size(); ++k) {
      if (problems[k].problem.form != form) continue;
      members.push_back(k);
      hosts.push_back(&problems[k].problem);
    }
    if (members.empty()) continue;
    std::unique_ptr<Batch> batch;
    result.problem_time += seconds([&] { batch = std::make_unique<Batch>(hosts); });
    const auto solver = make_batch_solver(request.solver);
    result.setup_time += seconds([&] { solver->setup(*batch); });
    const VectorView gamma("ccp::Batch::gamma", 3 * batch->host().contacts());
    const auto begin = Clock::now();
    BatchStop stop;
    stop.residual = request.recorder.stop.front().value;
    stop.iteration_limit = request.recorder.iteration_limit;
    stop.out_of_time = [&] {
      return result.time + seconds_since(begin) >= request.recorder.time_limit;
    };
    std::vector<Info> found;
    result.time += seconds([&] { found = solver->solve(stop, gamma); });
    const std::vector<double> all = download(gamma);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto at = [&](std::size_t k) { return all.begin() + 3 * batch->contact_offsets()[k]; };
      infos[members[i]] = found[i];
      gammas[members[i]].assign(at(i), at(i + 1));
    }
  }
  const auto share = 1 / static_cast<double>(problems.size());
  for (std::size_t k = 0; k < problems.size(); ++k) {
    RunRequest own = request;
    own.problem_file = problems[k].place;
    own.batch = static_cast<int>(problems.size());
    result.rows.push_back(
        judge(problems[k], own, infos[k], gammas[k], share * result.time, command_line));
    result.rows.back().setup_time = share * result.setup_time;
    result.rows.back().problem_time = share * result.problem_time;
    result.requests.push_back(std::move(own));
  }
  return result;
}

}  // namespace ccp
