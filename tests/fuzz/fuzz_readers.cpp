// Feeds readers with damaged files; see README.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "harness/app/app.hpp"
#include "harness/run/result_file.hpp"
#include "harness/study/study.hpp"
#include "harness/systems/frozen_systems.hpp"
#include "problems/base/error.hpp"
#include "problems/base/root_folder.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/fclib/export_fclib.hpp"
#include "problems/formats/fclib/import_fclib.hpp"
#include "problems/formats/kleinert.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/sequence_file.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "tests/fuzz/damage.hpp"

namespace fs = std::filesystem;
using namespace ccp;
using namespace ccp::fuzz;

namespace {

/// A reader under test: whole files to damage, and what reads them.
struct ReaderUnderTest {
  std::string ending;
  std::function<std::vector<std::string>(const std::string& folder)> make_files;
  std::function<void(const std::string& path)> read;
};

std::string slurp(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> files_below(const std::string& folder, const std::string& ending) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(fs::path(root_folder()) / folder)) {
    if (entry.path().extension() == ending) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<ContactProblem> scenes() {
  std::vector<ContactProblem> all;
  for (const char* name : {"stack", "assembled-stack", "mixed-friction-stack", "zero-contacts"}) {
    all.push_back(make_scene(name));
    all.back().guesses["previous"] = {std::vector<double>(3 * all.back().contacts(), 0.5), "half"};
  }
  return all;
}

std::vector<std::string> problem_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const ContactProblem& scene : scenes()) {
    files.push_back(folder + "/" + scene.name + ".h5");
    write_problem(files.back(), scene, true);
  }
  return files;
}

std::vector<std::string> sequence_files(const std::string& folder) {
  std::vector<ContactProblem> steps;
  for (int k = 0; k < 2; ++k) {
    steps.push_back(make_scene("stack"));
    steps.back().name += fmt::format("-{}", k);
    for (std::size_t c = 0; c < steps.back().contacts(); ++c) {
      steps.back().identity.push_back(static_cast<std::int64_t>(c));
    }
  }
  const std::string file = folder + "/sequence.h5";
  write_sequence(file, "sequence", steps, true);
  return {file};
}

std::vector<std::string> fclib_files(const std::string& folder) {
  std::vector<std::string> files;
  for (const ContactProblem& scene : scenes()) {
    files.push_back(folder + "/" + scene.name + ".hdf5");
    export_fclib(files.back(), scene, false, app::mass_factoriser(), true);
  }
  return files;
}

std::vector<std::string> result_files(const std::string& folder) {
  RunRequest request;
  request.solver = SolverSpec::parse("pgj[omega=0.3]");
  request.recorder.stop = parse_targets("residual=1e-6,energy=1e-3", "stop");
  request.recorder.targets = {request.recorder.stop.front()};
  RunResult result;
  result.instance = "made up";
  result.solver = request.solver.text();
  result.status = Status::converged;
  result.stop_reached = true;
  for (int k = 0; k < 5; ++k) {
    Sample sample;
    sample.time = k;
    sample.counters.outer = k;
    result.samples.push_back(sample);
  }
  result.targets = {{request.recorder.stop.front(), result.samples.front()}};
  result.gamma = {1, 0, 0};
  const std::string file = folder + "/result.h5";
  write_result(file, request, result, "key", true);
  return {file};
}

std::vector<std::string> systems_files(const std::string& folder) {
  FrozenSystems systems;
  systems.instance = "made up";
  systems.instance_hash = "00";
  systems.solver = "ipm";
  systems.regularization = {1e-7, 1e-7, 1e-7, 1e-7};
  FrozenSystem system;
  system.alpha = system.beta = system.s = 0.5;
  system.w = {1, 0.1, 0, 1, 0, 0.2};
  system.det = {0.99, 0.96};
  system.rhs = {1, 2, 3, 4, 5, 6};
  systems.systems = {system, system};
  systems.systems[1].outer = 1;
  const std::string file = folder + "/systems.h5";
  write_systems(file, systems, true);
  return {file};
}

const std::map<std::string, ReaderUnderTest>& targets() {
  static const std::map<std::string, ReaderUnderTest> all = {
      {"problem", {".h5", problem_files, [](const std::string& path) { read_problem(path); }}},
      {"sequence", {".h5", sequence_files, [](const std::string& path) { check_sequence(path); }}},
      {"fclib",
       {".hdf5", fclib_files,
        [](const std::string& path) {
          import_fclib(path, FclibForm::automatic, app::mass_factoriser());
        }}},
      {"result", {".h5", result_files, [](const std::string& path) { check_result(path); }}},
      {"systems", {".h5", systems_files, [](const std::string& path) { read_systems(path); }}},
      {"study",
       {".yaml",
        [](const std::string&) {
          auto files = files_below("harness/studies", ".yaml");
          for (const std::string& file : files_below("tests/fuzz/corpus", ".yaml")) {
            files.push_back(file);
          }
          return files;
        },
        [](const std::string& path) { read_study(path); }}},
      {"vtk",
       {".vtu", [](const std::string&) { return files_below("tests/fuzz/corpus", ".vtu"); },
        [](const std::string& path) { read_kleinert(path); }}},
  };
  return all;
}

/// Damages a copy of one of the files, up to three times.
void make_case(const ReaderUnderTest& target, const std::vector<std::string>& files,
               const std::string& path, Random& random) {
  const std::string& from = files[below(random, files.size())];
  const std::size_t times = 1 + below(random, 3);
  if (target.ending == ".yaml" || target.ending == ".vtu") {
    std::string text = slurp(from);
    for (std::size_t k = 0; k < times; ++k) text = damage_text(text, random);
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  fs::copy_file(from, path, fs::copy_options::overwrite_existing);
  for (std::size_t k = 0; k < times; ++k) damage_hdf5(path, random);
}

int feed(int argc, char** argv) {
  CLI::App app("Feeds a reader with damaged files until one is neither taken nor refused");
  std::string reader, folder = fs::temp_directory_path() / "ccp-fuzz";
  std::uint64_t seed = 1;
  long cases = 500;
  double seconds = 0;
  std::vector<std::string> names;
  for (const auto& target : targets()) names.push_back(target.first);
  app.add_option("reader", reader, "Reader to feed")->required()->check(CLI::IsMember(names));
  app.add_option("--seed", seed, "Of the damage")->capture_default_str();
  app.add_option("--cases", cases, "Files")->capture_default_str();
  app.add_option("--seconds", seconds, "Go on for so long, whatever --cases says");
  app.add_option("--folder", folder, "For the files")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const ReaderUnderTest& target = targets().at(reader);
  folder += fmt::format("/{}-{}", reader, seed);
  fs::create_directories(folder);
  const std::vector<std::string> files = target.make_files(folder);
  for (const std::string& file : files) target.read(file);  // whole, they are taken
  const std::string path = folder + "/case" + target.ending;
  const auto start = std::chrono::steady_clock::now();
  long taken = 0, count = 0;
  const auto goes_on = [&] {
    if (seconds <= 0) return count < cases;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
           seconds;
  };
  for (; goes_on(); ++count) {
    Random random(seed * 1000003 + static_cast<std::uint64_t>(count));
    make_case(target, files, path, random);
    try {
      target.read(path);
      ++taken;
    } catch (const InputError&) {
      // Refused, as it should be.
    } catch (const std::exception& error) {
      fmt::print(stderr, "case {} of seed {}: {}\n  file: {}\n", count, seed, error.what(), path);
      return 1;
    }
  }
  fs::remove_all(folder);
  fmt::print("{}: {} files, {} taken, {} refused\n", reader, count, taken, count - taken);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return feed(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz_readers: %s\n", error.what());
    return 1;
  }
}
