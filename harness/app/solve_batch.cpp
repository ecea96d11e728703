#include "harness/app/solve_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "harness/app/json.hpp"
#include "harness/app/terminal.hpp"
#include "harness/run/batch.hpp"
#include "harness/run/result_file.hpp"
#include "problems/base/error.hpp"

namespace ccp::app {
namespace {

namespace fs = std::filesystem;

void check_folder(const std::string& folder, bool force) {
  if (folder.empty() || force || !fs::exists(folder)) return;
  if (fs::is_directory(folder) && fs::is_empty(folder)) return;
  throw InputError(folder, "", "a folder that is not there yet or empty (--force overwrites)",
                   fs::is_directory(folder) ? "files in it" : "a file");
}

/// A name for each row's file, of what every file system takes.
std::vector<std::string> file_names(const std::vector<RunResult>& rows) {
  std::map<std::string, int> used;
  std::vector<std::string> names;
  for (const RunResult& row : rows) {
    std::string name = row.instance.empty() ? "problem" : row.instance;
    for (char& letter : name) {
      const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0;
      if (!plain && letter != '-' && letter != '_' && letter != '.') letter = '-';
    }
    const int before = used[name]++;
    names.push_back(before == 0 ? name + ".h5" : fmt::format("{}-{}.h5", name, before + 1));
  }
  return names;
}

void write_rows(const BatchResult& batch, const std::string& folder, bool force) {
  fs::create_directories(folder);
  const std::vector<std::string> names = file_names(batch.rows);
  for (std::size_t k = 0; k < batch.rows.size(); ++k) {
    write_result((fs::path(folder) / names[k]).string(), batch.requests[k], batch.rows[k], "",
                 force);
  }
}

std::size_t reached(const BatchResult& batch) {
  return static_cast<std::size_t>(std::count_if(
      batch.rows.begin(), batch.rows.end(), [](const RunResult& row) { return row.stop_reached; }));
}

void print_batch_json(const BatchResult& batch) {
  const RunResult& first = batch.rows.front();
  nlohmann::ordered_json out;
  out["problems"] = batch.rows.size();
  out["solver"] = first.solver;
  out["law"] = to_string(first.law);
  out["stop_reached"] = reached(batch);
  out["time"] = batch.time;
  out["setup_time"] = batch.setup_time;
  out["problem_time"] = batch.problem_time;
  out["threads"] = first.provenance.threads;
  out["backend"] = first.provenance.backend;
  out["commit"] = first.provenance.commit;
  out["rows"] = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < batch.rows.size(); ++k) {
    out["rows"].push_back(result_json(batch.rows[k], batch.requests[k].start));
    out["rows"].back()["problem"] = batch.requests[k].problem_file;
  }
  print_json(out);
}

/// "median M, most X (NAME)" of a number of every row.
template <class Text, class Number>
std::string spread(const std::vector<RunResult>& rows, const Text& text, const Number& number) {
  std::vector<std::pair<double, const RunResult*>> values;
  for (const RunResult& row : rows) values.emplace_back(number(row), &row);
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) {
    return a.first < b.first || (std::isnan(b.first) && !std::isnan(a.first));  // NaN last
  });
  return fmt::format("median {}, most {} ({})", text(values[values.size() / 2].first),
                     text(values.back().first), values.back().second->instance);
}

void print_batch_table(const BatchResult& batch, const std::vector<Target>& stop) {
  const std::vector<RunResult>& rows = batch.rows;
  const auto line = [](const char* name, const std::string& value) {
    fmt::print("{:<10} {}\n", name, value);
  };
  long contacts = 0;
  std::map<std::string, std::size_t> statuses;
  for (const RunResult& row : rows) {
    contacts += row.contacts;
    ++statuses[to_string(row.status)];
  }
  const RunResult& first = rows.front();
  line("batch", fmt::format("{}, {} in all", counted(rows.size(), "problem"),
                            counted(static_cast<std::size_t>(contacts), "contact")));
  line("solver", fmt::format("{} ({} law, {}, {} thread{})", first.solver, to_string(first.law),
                             first.provenance.backend, first.provenance.threads,
                             first.provenance.threads == 1 ? "" : "s"));
  std::vector<std::string> words;
  for (const auto& [status, count] : statuses) {
    words.push_back(fmt::format("{} {}", grouped(static_cast<long>(count)), status));
  }
  line("status", fmt::format("{}", fmt::join(words, ", ")));
  line("stop", fmt::format("{}: reached by {} of {}", targets_text(stop, ", "),
                           grouped(static_cast<long>(reached(batch))),
                           grouped(static_cast<long>(rows.size()))));
  line("time",
       fmt::format("{} solving, {} setup, {} problems to device; {} a problem",
                   duration(batch.time), duration(batch.setup_time), duration(batch.problem_time),
                   duration((batch.time + batch.setup_time + batch.problem_time) /
                            static_cast<double>(rows.size()))));
  const Measure measure = stop.front().measure;
  line("outer",
       spread(
           rows, [](double value) { return grouped(std::lround(value)); },
           [](const RunResult& row) { return static_cast<double>(row.info.counters.outer); }));
  line("referee", name_of(measure) + " " +
                      spread(
                          rows, [](double value) { return scientific(value); },
                          [&](const RunResult& row) { return row.final_measures[measure]; }));
  constexpr std::size_t most_lines = 10;
  std::size_t missed = 0;
  for (const RunResult& row : rows) {
    if (row.stop_reached) continue;
    if (++missed == 1)
      fmt::print("\n{:<40} {:>12} {:>10}\n", "not reached", name_of(measure), "outer");
    if (missed > most_lines) continue;
    fmt::print("{:<40} {:>12} {:>10}  {}\n", row.instance, scientific(row.final_measures[measure]),
               grouped(row.info.counters.outer), to_string(row.status));
  }
  if (missed > most_lines) fmt::print("and {} more\n", missed - most_lines);
}

}  // namespace

void solve_batch(const BatchArguments& a, Context& context) {
  check_batch_request(a.request);
  check_folder(a.output, a.force);
  const std::vector<BatchProblem> problems = read_batch(a.sources, mass_factoriser());
  const std::string doubtful = overload(a.request.threads);
  const KokkosSession kokkos(a.request.threads);
  const BatchResult batch = run_batch(problems, a.request, context.command_line);
  if (!a.output.empty()) write_rows(batch, a.output, a.force);
  if (a.json) {
    print_batch_json(batch);
  } else if (!a.quiet) {
    print_batch_table(batch, a.request.recorder.stop);
    if (!doubtful.empty()) fmt::print(stderr, "ccpbench: warning: {}\n", doubtful);
  }
  context.exit_code = reached(batch) == batch.rows.size() ? done : target_not_reached;
}

}  // namespace ccp::app
