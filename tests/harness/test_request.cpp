// What is asked of a run, through all the places that read or write it: texts, the command line of
// a run's process, studies, resume keys, result files. And the table of measures.
#include "harness/run/request.hpp"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <set>

#include "harness/measure/look.hpp"
#include "harness/run/result_file.hpp"
#include "harness/run/run.hpp"
#include "problems/base/hdf5_file.hpp"
#include "tests/harness/study_support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

/// For every field a value that is not its default, as text.
const std::map<std::string, std::string> samples = {
    {"problem", "some/problem.h5"},
    {"external", "other --in {problem} --out {output} --tol {tolerance}"},
    {"law", "coulomb"},
    {"tolerances", "0.01,0.0001"},
    {"features", "compliant,equality"},
    {"depends", "helper.py,lib/*.py"},
    {"folder", "/some/folder"},
    {"solver", "pgj[omega=0.25]"},
    {"start", "previous*0.5"},
    {"stop", "error=0.0005,energy=1e-06"},
    {"targets", "cost=0.1,residual=1e-05"},
    {"time_limit", "2.5"},
    {"max_outer", "17"},
    {"memory_limit", "1.5"},
    {"threads", "3"},
    {"ranks", "2"},
    {"warm_up", "0.25"},
    {"look_budget", "1000"},
    {"keep_gamma", "true"},
    {"bare", "true"},
    {"study", "-name"},  // begins like an option
    {"study_description", "three solvers, two piles"},
    {"repetition", "4"},
    {"batch", "1"},  // its default: run_batch() sets it, no run's process is asked for it
};

/// Those that describe a program of somebody else, and those that do not go with one.
bool is_external(const RequestField& field) {
  return field.name == "external" || field.name == "folder" || field.needs == "external";
}

/// All fields of ours, or of a run of somebody else's program, at their samples.
RunRequest sample_request(bool external) {
  RunRequest request;
  for (const RequestField& field : request_fields()) {
    if (is_external(field) && !external) continue;
    const std::string text =
        external && field.name == "solver" ? std::string("other-1.2") : samples.at(field.name);
    field.set(request, text, field.name);
    CHECK(field.text(request) == text);
    CHECK((field.name == "batch" || !field.is_default(request)));
  }
  return request;
}

void check_same(const RunRequest& a, const RunRequest& b) {
  for (const RequestField& field : request_fields()) {
    INFO(field.name);
    CHECK(field.text(a) == field.text(b));
  }
}

/// What `ccpbench solve` makes of the words: the long names of the options, and one place.
RunRequest from_words(const std::vector<std::string>& words) {
  std::map<std::string, std::string> given;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals =
        words[i].rfind("--", 0) == 0 ? words[i].find('=') : std::string::npos;
    const std::string name = words[i].substr(0, equals);
    bool known = false;
    for (const RequestField& field : request_fields()) {
      const std::string option = field.option.substr(field.option.find(',') + 1);
      if (option.rfind("--", 0) == 0 ? option != name : name.rfind("--", 0) == 0) continue;
      known = true;
      if (field.shape == RequestField::Shape::flag) {
        given[field.name] = "true";
      } else if (option.rfind("--", 0) != 0) {
        given[field.name] = words[i];
      } else {
        given[field.name] =
            equals == std::string::npos ? words.at(++i) : words[i].substr(equals + 1);
      }
      break;
    }
    INFO(name);
    CHECK(known);
  }
  RunRequest request;
  for (const RequestField& field : request_fields()) {
    if (given.count(field.name)) field.set(request, given[field.name], field.option);
  }
  return request;
}

}  // namespace

TEST_CASE("every field of a request has a sample, a name and a text of its own") {
  std::set<std::string> names, options;
  for (const RequestField& field : request_fields()) {
    INFO(field.name);
    CHECK(samples.count(field.name) == 1);
    CHECK(names.insert(field.name).second);
    CHECK((field.option.empty() || options.insert(field.option).second));
    CHECK_FALSE(field.help.empty());
    CHECK_FALSE(field.allowed.empty());
    CHECK(field.is_default(RunRequest()));
  }
  CHECK(names.size() == samples.size());
}

TEST_CASE("a request survives the command line of its process and its result file") {
  const TemporaryFolder folder;
  for (const bool external : {false, true}) {
    const RunRequest request = sample_request(external);
    check_same(from_words(request_arguments(request)), request);
    write_result(folder.file("r.h5"), request, some_result(), "", true);
    const auto back = read_request(folder.file("r.h5"));
    REQUIRE(back.has_value());
    check_same(*back, request);
  }
  // What is at its default is not said.
  RunRequest plain;
  plain.problem_file = "p.h5";
  plain.solver.id = "pgj";
  CHECK(request_arguments(plain) == std::vector<std::string>{"p.h5", "--solver", "pgj"});
}

TEST_CASE("a study takes every field that all of its runs have in common") {
  const Folder folder;
  int fields = 0;
  for (const RequestField& field : request_fields()) {
    if (!field.in_study) continue;
    ++fields;
    const std::string& text = samples.at(field.name);
    const bool list = field.shape == RequestField::Shape::list;
    const Study study =
        folder.read(smallest + field.name + ": " + (list ? "[" + text + "]" : text) + "\n");
    INFO(field.name);
    CHECK(field.text(study.request) == text);
    const PlannedRun run = plan(study).at(0);
    CHECK(field.text(run.request) == text);
  }
  CHECK(fields == 7);
}

TEST_CASE("texts that a field does not take are refused, with what it does take") {
  RunRequest request;
  request.external.emplace();
  const std::map<std::string, std::vector<std::string>> bad = {
      {"law", {"", "convx"}},
      {"tolerances", {"", "1e-3,", "0", "-1", "nan", "1e-3,x"}},
      {"stop", {"", "residual", "residual=0", "residual=nan", "error=1,", "error=1,error=2"}},
      {"features", {"", "rubber", "compliant,"}},
      {"targets", {"error=1e-3,", "eror=1"}},
      {"time_limit", {"", "0", "-1", "nan", "inf", "1e999", "soon", "1 "}},
      {"max_outer", {"0", "-1", "1.5", "nan", "99999999999999999999"}},
      {"memory_limit", {"0", "-1", "nan", "inf"}},
      {"threads", {"0", "-1", "1.5", "99999999999"}},
      {"ranks", {"", "0", "-2", "1.5"}},
      {"warm_up", {"-1", "nan", "inf"}},
      {"look_budget", {"-0.1", "nan", "x"}},
      {"keep_gamma", {"", "yes"}},
      {"bare", {"TRUE"}},
      {"repetition", {"0", "x"}},
  };
  for (const RequestField& field : request_fields()) {
    const auto found = bad.find(field.name);
    if (found == bad.end()) continue;
    const std::string before = field.text(request);
    for (const std::string& text : found->second) {
      INFO(field.name << ": '" << text << "'");
      check_begins(error_of([&] { field.set(request, text, "--here"); }), "--here: ");
      CHECK(field.text(request) == before);
    }
  }
}

TEST_CASE("resume keys have the parts and the order that they always had") {
  RunRequest request = sample_request(false);
  request.start = "cold";
  const auto names_of = [&] {
    std::vector<std::string> names;
    for (const auto& part : key_parts(request, "hash", "cold", 2)) names.push_back(part.first);
    return names;
  };
  const std::vector<std::string> first = {"instance",     "solver",  "options",   "start",
                                          "threads",      "ranks",   "jobs",      "time_limit",
                                          "memory_limit", "stop",    "targets",   "warm_up",
                                          "bare",         "referee", "repetition"};
  std::vector<std::string> all = first;
  all.insert(all.end(), {"max_outer", "look_budget"});
  CHECK(names_of() == all);
  request.recorder.iteration_limit = RecorderOptions().iteration_limit;
  request.recorder.budget = RecorderOptions().budget;
  CHECK(names_of() == first);
  const KeyParts parts = key_parts(request, "hash", "cold", 2);
  const std::vector<std::string> values = {"hash",
                                           "pgj",
                                           parts[2].second,
                                           "cold",
                                           "3",
                                           "2",
                                           "2",
                                           "2.5",
                                           "1.5",
                                           "error=0.0005,energy=1e-06",
                                           "cost=0.1, residual=1e-05",
                                           "0.25",
                                           "true",
                                           std::to_string(referee_version),
                                           "4"};
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(parts[i].second == values[i]);
  check_begins(parts[2].second, "omega=0.25, ");
  // Everything that is in keys changes them.
  const KeyParts before = key_parts(request, "hash", "cold", 2);
  for (const RequestField& field : request_fields()) {
    if (field.in_key == RequestField::InKey::never) continue;
    RunRequest other = request;
    std::string text = field.name == "solver" ? "ipm" : field.text(RunRequest());
    if (field.is_default(request)) text = samples.at(field.name);
    if (text.empty()) continue;  // no targets: below
    if (field.name == "memory_limit") text = "7";
    field.set(other, text, "x");
    INFO(field.name);
    CHECK(key_parts(other, "hash", "cold", 2) != before);
  }
  RunRequest other = request;
  other.recorder.targets.clear();
  CHECK(key_parts(other, "hash", "cold", 2) != before);
}

TEST_CASE("the rows of the table of measures are the measures that code names") {
  const std::vector<std::pair<Measure, std::string>> named = {
      {Measure::cost, "cost"},
      {Measure::feas, "feas"},
      {Measure::error, "error"},
      {Measure::dual, "dual"},
      {Measure::primal, "primal"},
      {Measure::complementarity, "complementarity"},
      {Measure::residual, "residual"},
      {Measure::natural_map, "natural_map"},
      {Measure::velocity, "velocity"},
      {Measure::energy, "energy"},
      {Measure::objective_gap, "objective_gap"},
      {Measure::merit, "merit"},
      {Measure::coulomb_residual, "coulomb_residual"},
      {Measure::coulomb_natural_map, "coulomb_natural_map"},
      {Measure::coulomb_merit, "coulomb_merit"},
      {Measure::normal_residual, "normal_residual"},
      {Measure::coulomb_normal_residual, "coulomb_normal_residual"},
      {Measure::multiplier, "multiplier"}};
  REQUIRE(measure_count() >= named.size());
  for (const auto& [measure, name] : named) CHECK(name_of(measure) == name);
  std::set<std::string> names;
  for (const MeasureEntry& entry : measure_entries()) {
    INFO(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK_FALSE(entry.summary.empty());
    CHECK_FALSE(entry.formula.empty());
    CHECK_FALSE(entry.laws.empty());
    CHECK(entry.value != nullptr);
  }
  for (const MeasureEntry& entry : measure_entries()) {
    if (entry.under_coulomb.empty()) continue;
    INFO(entry.name);
    const Target target = judged_by(Law::coulomb, parse_target(entry.name + "=1", "x"));
    CHECK(name_of(target.measure) == entry.under_coulomb);
    CHECK(entry_of(target.measure).laws == std::vector<Law>{Law::coulomb});
    CHECK(judged_by(Law::convex, parse_target(entry.name + "=1", "x")).text() == entry.name + "=1");
  }
}

TEST_CASE("a measure that is added is measured, stored and a target like any other") {
  const std::size_t before = measure_count();
  add_measure({"contacts_of_test",
               "how many contacts there are",
               "n",
               "",
               {Law::convex},
               [](const Look& look) { return static_cast<double>(look.n); }});
  REQUIRE(measure_count() == before + 1);
  check_parts(error_of([] { add_measure(MeasureEntry(measure_entries().back())); }),
              {"measure contacts_of_test: expected a name of its own"});
  const Folder folder;
  const Target target = parse_target("contacts_of_test=3", "x");
  RunRequest request;
  request.problem_file = folder.file("stack.h5");
  request.solver = SolverSpec::parse("pgj");
  request.recorder.targets = {target};
  const RunResult result = run(request, "");
  CHECK(result.final_measures[target.measure] == 3);
  CHECK(result.targets[0].reached.has_value());
  write_result(folder.file("r.h5"), request, result, "", false);
  CHECK(check_result(folder.file("r.h5")).status == result.status);
  const Hdf5File file = Hdf5File::open(folder.file("r.h5"));
  CHECK(file.read<double>("/curve/contacts_of_test").data ==
        std::vector<double>(result.samples.size(), 3));
}
