#include "harness/study/runner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <list>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/run/child_process.hpp"
#include "harness/study/processors.hpp"
#include "problems/base/error.hpp"
#include "solvers/core/backend.hpp"

namespace ccp {
namespace fs = std::filesystem;

namespace {

constexpr double gigabyte = 1e9;

/// The lock on a folder of results, held as long as this lives: two studies that write to one
/// folder would take each other's temporary files for left-overs.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      close(descriptor_);
      throw InputError(folder, "", "a folder that no other study writes to",
                       "one that is being written to");
    }
  }
  ~FolderLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

/// What a run's process writes; neither ends in .h5.
std::string fresh_file(const std::string& path) {
  return path + ".new";
}
std::string partial_file(const std::string& path) {
  return path + ".partial";
}

/// Removes what processes that were killed have left beside these results, half-written files
/// included: names that go on after ".h5".
void remove_leftovers(const std::string& folder, const std::set<std::string>& results) {
  std::error_code error;
  const std::string ending = ".h5.";
  std::vector<fs::path> leftovers;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const std::size_t end = name.rfind(ending);
    if (end == std::string::npos) continue;
    const std::string rest = name.substr(end + ending.size() - 1), part = ".part";
    const bool half_written = rest.size() >= part.size() &&
                              rest.compare(rest.size() - part.size(), part.size(), part) == 0;
    const bool whole = rest == fresh_file("") || rest == partial_file("");
    if ((half_written || whole) && results.count(name.substr(0, end + ending.size() - 1)) > 0) {
      leftovers.push_back(entry.path());
    }
  }
  for (const fs::path& leftover : leftovers) fs::remove(leftover, error);
}

void remove_leftovers(const std::string& path) {
  remove_leftovers(fs::path(path).parent_path().string(), {fs::path(path).filename().string()});
}

/// @param memory  bytes the run may hold
std::vector<std::string> child_command(const StudyRunOptions& options, const PlannedRun& run,
                                       const std::string& path, double memory) {
  RunRequest request = run.request;
  request.memory_limit = memory / gigabyte;
  std::vector<std::string> command = request_arguments(request);
  command.insert(command.begin(), {options.program, "solve"});
  command.insert(command.end(), {"--output", fresh_file(path), "--checkpoint", partial_file(path),
                                 "--report", fmt::format("{}", ChildProcess::report_descriptor),
                                 "--parent", fmt::format("{}", getpid()), "--force", "--quiet"});
  if (options.oversubscribe && request.ranks > 1) command.emplace_back("--oversubscribe");
  return command;
}

/// The row of a run that left nothing: what is known without having run it.
RunResult empty_result(const PlannedRun& run) {
  const InstanceSummary& instance = *run.instance;
  RunResult result;
  result.instance = instance.name;
  result.instance_hash = instance.hash;
  result.form = instance.form;
  result.contacts = instance.contacts;
  result.bodies = instance.bodies;
  result.descriptors = instance.descriptors;
  result.solver = run.request.solver.text();
  result.law = law_of(run.request);
  result.options = options_of(run.request);
  result.info.own_residual = std::nan("");
  result.final_measures = result.best = Measures(std::nan(""));
  for (const Target& target : run.request.recorder.targets) {
    result.targets.push_back({target, std::nullopt});
  }
  result.provenance = collect_provenance(run.request.threads, "");
  result.provenance.ranks = run.request.ranks;
  return result;
}

/// Whether a process left a whole result of the run that was asked for; if not, why.
bool is_result_of(const std::string& file, const PlannedRun& run, std::string& reason) {
  try {
    const ResultSummary summary = read_result(file);
    if (summary.instance_hash == run.instance->hash &&
        summary.solver == run.request.solver.text() && summary.start == run.request.start) {
      return true;
    }
    reason = fmt::format("a result of {} on {}", summary.solver, summary.instance);
  } catch (const InputError& error) {
    reason = error.what();
  }
  return false;
}

/// s of wall time for the solves of a run.
double wall_limit(const RunRequest& request) {
  const double limit = request.recorder.time_limit;
  if (request.external) {  // which limits each of its solves by itself
    const std::size_t solves = std::max<std::size_t>(1, request.external->tolerances.size());
    return static_cast<double>(solves) * (limit + external_grace);
  }
  return 1.5 * (request.bare_check ? 2 : 1) * limit;
}

std::string how_it_ended(const ChildProcess::End& end, double limit, double memory) {
  using Killed = ChildProcess::End::Killed;
  std::string text;
  if (end.killed == Killed::time) {
    return fmt::format("killed after {:.3g} s, 1.5 times its limit and the grace", limit);
  }
  if (end.killed == Killed::memory) {
    return fmt::format("killed when it held {:.2f} GB, more than its {:.2f} GB",
                       end.peak_memory / gigabyte, memory / gigabyte);
  }
  text = end.signal ? fmt::format("ended by signal {} ({})", end.signal, strsignal(end.signal))
                    : fmt::format("ended with exit code {}", end.exit_code);
  if (!end.last_words.empty()) text += ": " + end.last_words;
  return text;
}

/// Turns what a process left into the file that the study keeps, and cleans up.
void keep_result(const std::string& path, const PlannedRun& run, const ChildProcess::End& end,
                 double limit, double memory, StudyStamp stamp) {
  using Killed = ChildProcess::End::Killed;
  std::string from = fresh_file(path), garbage;
  const bool left_something = fs::exists(from);
  if (!left_something || !is_result_of(from, run, garbage)) {
    const bool memory_ran_out =
        end.killed == Killed::memory || end.last_words.find("out of memory") != std::string::npos;
    stamp.failure = memory_ran_out               ? Status::out_of_memory
                    : end.killed == Killed::time ? Status::killed
                                                 : Status::crashed;
    stamp.failure_message = how_it_ended(end, limit, memory);
    if (left_something) {
      stamp.failure_message += "; left a result that cannot be used: " + garbage;
    } else if (end.exit_code == 0) {
      stamp.failure_message += " and left no result";
    }
    from = partial_file(path);
    std::string unused;
    if (!fs::exists(from) || !is_result_of(from, run, unused)) {
      write_checkpoint(from, run.request, empty_result(run));
    }
  }
  stamp_result(from, path, stamp);
  remove_leftovers(path);
}

/// Bytes that runs may hold together when nothing is said: nine tenths of the memory there is.
double usable_memory() {
  double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  std::ifstream stream("/sys/fs/cgroup/memory.max");
  double granted = 0;
  if (stream >> granted && granted > 0) memory = std::min(memory, granted);
  return 0.9 * memory;
}

/// Guesses how long the runs to come will take from those that were made.
class Forecast {
 public:
  void add(const PlannedRun& run, double seconds) {
    alike_[alike(run)].add(seconds);
    all_.add(seconds);
  }
  double guess(const PlannedRun& run) const {
    const auto found = alike_.find(alike(run));
    return found != alike_.end() ? found->second.mean() : all_.mean();
  }

 private:
  struct Mean {
    double sum = 0;
    int count = 0;
    void add(double value) { sum += value, ++count; }
    double mean() const { return count > 0 ? sum / count : std::nan(""); }
  };
  static std::string alike(const PlannedRun& run) {
    return fmt::format("{}|{}|{}|{}|{}", run.instance->hash, run.request.solver.text(),
                       run.request.start, run.request.threads, run.request.ranks);
  }
  std::map<std::string, Mean> alike_;
  Mean all_;
};

/// Threads of all ranks together.
int width_of(const PlannedRun& run) {
  return run.request.threads * run.request.ranks;
}

/// The runs of a study as they are made.
class Runner {
 public:
  Runner(const Study& study, const StudyRunOptions& options, StudyListener& listener)
      : options_(options),
        listener_(listener),
        repetitions_(study.repetitions),
        runs_(plan(study, options.jobs)),
        memory_limit_(study.request.memory_limit > 0 ? study.request.memory_limit * gigabyte
                                                     : usable_memory() / options.jobs) {
    outcome_.runs = static_cast<int>(runs_.size());
    if (options.jobs > 1 && backend() == Backend::cuda) {
      throw InputError("--jobs", "", "1: the runs would share the GPU",
                       fmt::format("{}", options.jobs));
    }
    if (options.jobs > pool_.cores()) {
      throw InputError("--jobs", "",
                       fmt::format("at most {}, one per processor core", pool_.cores()),
                       fmt::format("{}", options.jobs));
    }
    for (const int threads : study.threads) {
      if (threads > pool_.hardware_threads()) {
        throw InputError(
            "key threads", "",
            fmt::format("at most {}, which is what this machine grants", pool_.hardware_threads()),
            fmt::format("{}", threads));
      }
    }
    for (const PlannedRun& run : runs_) {
      if (options.oversubscribe || !is_crowded(run)) continue;
      throw InputError("key ranks", "",
                       fmt::format("with threads at most {}, which is what this machine grants "
                                   "(--oversubscribe takes more, whose times mean nothing)",
                                   pool_.hardware_threads()),
                       fmt::format("{}", width_of(run)));
    }
  }

  void check_folder() const {
    if (options_.resume || options_.force || options_.dry_run) return;
    for (const PlannedRun& run : runs_) {
      if (fs::exists(present_path(run))) {
        throw InputError(
            present_path(run), "",
            "no result of that name (--resume keeps finished runs, --force redoes them)",
            "an existing file");
      }
    }
  }

  void dry_run() {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      RunNews news = news_of(i);
      news.reason = reason_to_run(present_path(runs_[i]), runs_[i], options_);
      listener_.planned(news);
    }
  }

  StudyOutcome make_all() {
    std::set<std::string> names;
    for (const PlannedRun& run : runs_) {
      names.insert(run.file_name);
      adopt(run);
    }
    remove_leftovers(options_.output, names);
    while ((next_ < runs_.size() || !active_.empty()) && !outcome_.interrupted) {
      start_what_fits();
      std::vector<ChildProcess*> children;
      for (const auto& run : active_) children.push_back(run->process.get());
      if (!children.empty()) ChildProcess::wait(children, std::chrono::milliseconds(50));
      for (auto it = active_.begin(); it != active_.end();) {
        if ((*it)->process->advance()) {
          finish(**it);
          it = active_.erase(it);
        } else {
          ++it;
        }
      }
      if (!active_.empty()) report_progress();
      outcome_.interrupted = options_.interrupted && options_.interrupted();
    }
    for (const auto& run : active_) {
      run->process.reset();
      remove_leftovers(run->news.path);
    }
    return outcome_;
  }

 private:
  struct Active {
    RunNews news;
    std::vector<int> cores;  ///< lent by the pool
    double limit = 0;        ///< s of wall time
    std::unique_ptr<ChildProcess> process;
  };

  std::string path_of(const PlannedRun& run) const {
    return (fs::path(options_.output) / run.file_name).string();
  }
  /// Where the result of a run is, if there is one: perhaps under its former name.
  std::string present_path(const PlannedRun& run) const {
    const std::string former = (fs::path(options_.output) / run.former_name).string();
    return !run.former_name.empty() && !fs::exists(path_of(run)) && fs::exists(former)
               ? former
               : path_of(run);
  }
  /// Gives a result of this run that has the former name, and spelling, the present ones.
  void adopt(const PlannedRun& run) const {
    const std::string former = present_path(run), path = path_of(run);
    if (former == path) return;
    try {
      respell_result(former, path, run.request);
      fs::remove(former);
    } catch (const InputError&) {  // no result: it stays, and the run is made
    }
  }
  RunNews news_of(std::size_t index) const {
    RunNews news;
    news.number = static_cast<int>(index) + 1;
    news.total = static_cast<int>(runs_.size());
    news.run = &runs_[index];
    news.repetitions = repetitions_;
    news.path = path_of(runs_[index]);
    return news;
  }

  void start_what_fits() {
    while (next_ < runs_.size() && static_cast<int>(active_.size()) < options_.jobs) {
      const PlannedRun& run = runs_[next_];
      const int cores = pool_.cores_for(width_of(run));
      if (!pool_.has(cores)) return;  // in order: a wide run is not overtaken for ever
      auto active = std::make_unique<Active>();
      active->news = news_of(next_++);
      active->news.reason = reason_to_run(active->news.path, run, options_);
      if (active->news.reason.empty()) {
        ++outcome_.skipped;
        count(active->news);
      } else {
        active->cores = pool_.take(cores);
        start(run, *active);
        active_.push_back(std::move(active));
      }
    }
  }

  void start(const PlannedRun& run, Active& active) {
    remove_leftovers(active.news.path);
    active.limit = wall_limit(run.request) + options_.grace;
    ChildProcess::Place place;
    const bool threads = run.request.threads > 1, ranks = run.request.ranks > 1;
    // One run of one thread is best placed by the system, which sees what others do. OpenMP would
    // bind it to the first of its processors, and that of every other study as well.
    if (threads || ranks || options_.jobs > 1) place.processors = pool_.processors(active.cores);
    // Threads stay where they are put, unless the user said otherwise.
    if (threads && !ranks) place.environment = {"OMP_PROC_BIND=spread", "OMP_PLACES=cores"};
    note_others(run, active);
    active.process = std::make_unique<ChildProcess>(
        child_command(options_, run, active.news.path, memory_limit_), place,
        ChildProcess::Limits{active.limit, memory_limit_});
  }

  /// More ranks than processors. (More threads than that are refused.)
  bool is_crowded(const PlannedRun& run) const {
    return run.request.ranks > 1 && width_of(run) > pool_.hardware_threads();
  }

  void note_others(const PlannedRun& run, const Active& active) {
    std::string reason = overload(options_.jobs * width_of(run));
    if (is_crowded(run)) reason = "runs have more ranks than there are processors";
    if (pool_.shared(active.cores)) reason = "another study runs on the same processors";
    if (!reason.empty() && outcome_.doubtful++ == 0) listener_.doubtful(reason);
  }

  void finish(Active& active) {
    const PlannedRun& run = *active.news.run;
    const ChildProcess::End& end = active.process->end();
    pool_.give_back(active.cores);
    StudyStamp stamp;
    stamp.order = active.news.number;
    stamp.jobs = options_.jobs;
    stamp.key = run.key;
    stamp.key_parts = run.key_parts;
    stamp.wall_time = end.seconds;
    stamp.peak_memory = end.peak_memory;
    try {
      keep_result(active.news.path, run, end, active.limit, memory_limit_, stamp);
    } catch (const InputError&) {
      remove_leftovers(active.news.path);
      throw;
    }
    forecast_.add(run, end.seconds);
    count(active.news);
  }

  void count(RunNews& news) {
    news.result = read_result(news.path);
    if (is_failure(news.result.status)) {
      ++outcome_.crashed;
    } else if (news.result.stop_reached) {
      ++outcome_.reached;
    } else {
      ++outcome_.not_reached;
    }
    listener_.finished(news);
  }

  void report_progress() {
    std::vector<RunInFlight> runs;
    double left = 0;
    for (const auto& active : active_) {
      RunInFlight run;
      run.news = active->news;
      run.elapsed = active->process->elapsed();
      run.time = run.value = std::nan("");
      const auto report = nlohmann::json::parse(active->process->report(), nullptr, false);
      if (report.is_object()) {
        const auto number = [&](const char* name) {
          const auto found = report.find(name);
          return found != report.end() && found->is_number() ? found->get<double>() : std::nan("");
        };
        run.time = number("time");
        run.value = number("value");
        run.outer = std::isnan(number("outer")) ? 0 : static_cast<long>(number("outer"));
      }
      const double guess = forecast_.guess(*active->news.run);
      left += std::isnan(guess) ? guess : std::max(guess - run.elapsed, 0.0);
      runs.push_back(run);
    }
    for (std::size_t i = next_; i < runs_.size(); ++i) left += forecast_.guess(runs_[i]);
    listener_.progress(runs, left / options_.jobs);
  }

  const StudyRunOptions& options_;
  StudyListener& listener_;
  int repetitions_;
  std::vector<PlannedRun> runs_;
  double memory_limit_;  ///< bytes a run
  ProcessorPool pool_;
  Forecast forecast_;
  StudyOutcome outcome_;
  std::size_t next_ = 0;
  std::list<std::unique_ptr<Active>> active_;
};

/// "commit (1a2b -> 3c4d), time_limit (10 -> 20)": what differs between two keys.
std::string difference(const KeyParts& before, const KeyParts& now) {
  const auto brief = [](const std::string& value) {
    constexpr std::size_t longest = 44;
    if (value.empty()) return std::string("none");
    return value.size() <= longest ? value : value.substr(0, longest - 3) + "...";
  };
  const std::map<std::string, std::string> old(before.begin(), before.end());
  std::vector<std::string> parts;
  for (const auto& [name, value] : now) {
    const auto found = old.find(name);
    if (found == old.end()) {
      parts.push_back(name);
    } else if (found->second != value) {
      parts.push_back(fmt::format("{} ({} -> {})", name, brief(found->second), brief(value)));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string reason_to_run(const std::string& path, const PlannedRun& run,
                          const StudyRunOptions& options) {
  if (!fs::exists(path)) return "no result yet";
  if (options.force) return "--force";
  try {
    const ResultSummary summary = read_result(path);
    if (summary.key != run.key) {
      return "made with other settings" +
             (summary.key_parts.empty() ? std::string(", build or machine")
                                        : ": " + difference(summary.key_parts, run.key_parts));
    }
    if (options.retry_failed && is_failure(summary.status)) {
      return "it ended as " + to_string(summary.status);
    }
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

StudyOutcome run_study(const Study& study, const StudyRunOptions& options,
                       StudyListener& listener) {
  Runner runner(study, options, listener);
  runner.check_folder();
  if (options.dry_run) {
    runner.dry_run();
    return {};
  }
  std::error_code error;
  fs::create_directories(options.output, error);
  if (error) throw InputError(options.output, "", "a folder for the results", error.message());
  const FolderLock lock(options.output);
  return runner.make_all();
}

}  // namespace ccp
