#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "harness/app/app.hpp"
#include "harness/app/terminal.hpp"
#include "harness/run/result_file.hpp"
#include "harness/simulation/column_table.hpp"
#include "harness/systems/frozen_systems.hpp"
#include "harness/systems/precond.hpp"
#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/base/text.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/sequence_file.hpp"
#include "problems/formats/trajectory_file.hpp"
#include "problems/model/solvable.hpp"
#include "solvers/linear/definiteness.hpp"

namespace ccp::app {
namespace {

/// An N that was given must be one of mechanics.
/// @param kokkos  is begun where it is needed
void check_definite(const std::string& path, const ContactProblem& problem,
                    std::optional<KokkosSession>& kokkos) {
  if (problem.form == ContactProblem::Form::bodies) return;
  if (!kokkos) kokkos.emplace(1);
  const Definiteness found = definiteness(Problem(problem));
  if (!found.is_semidefinite()) {
    throw InputError(path, "/delassus", "a positive semidefinite N", found.text());
  }
}

/// Two bodies that nothing moves must not violate their contact.
void check_solvable(const std::string& path, const ContactProblem& problem) {
  const int c = unsolvable_contact(problem);
  if (c < 0) return;
  const double* r = &problem.r[3 * static_cast<std::size_t>(c)];
  throw InputError(path, fmt::format("/contacts/bodies[{}]", c),
                   "a body that can move, for r is outside of K*",
                   fmt::format("two that cannot and r = ({}, {}, {})", r[0], r[1], r[2]));
}

std::string check_file(const std::string& path, std::optional<KokkosSession>& kokkos) {
  if (!split_place(path).steps.empty()) {
    const std::vector<std::string> steps = steps_of(path);
    for (const std::string& step : steps) read_problem(step);
    return fmt::format("{} step{}", steps.size(), steps.size() == 1 ? "" : "s");
  }
  const Hdf5File file = Hdf5File::open(path);
  const auto format = file.string_attribute("/", "format");
  if (format && *format == "ccpbench-result") {
    const ResultSummary summary = check_result(path);
    return fmt::format("result, {} on {}: {}", summary.solver, summary.instance,
                       to_string(summary.status));
  }
  if (format && *format == "ccpbench-problem") {
    const ContactProblem problem = read_problem(path);
    check_definite(path, problem, kokkos);
    check_solvable(path, problem);
    return fmt::format("problem {}, {}, {}", problem.name, counted(problem.contacts(), "contact"),
                       counted(problem.bodies(), "body"));
  }
  if (format && *format == "ccpbench-sequence") {
    const SequenceSummary sequence = check_sequence(path);
    return fmt::format("sequence {}, {} steps", sequence.name, sequence.steps);
  }
  if (format && *format == "ccpbench-systems") {
    const FrozenSystems systems = read_systems(path);
    return fmt::format("{} of {}, {}", counted(systems.systems.size(), "system"), systems.instance,
                       counted(systems.contacts, "contact"));
  }
  if (format && *format == "ccpbench-precond") {
    return fmt::format("precond result, {} rows", read_precond(path).size());
  }
  if (format && *format == "ccpbench-columns") {
    return fmt::format("simulated columns, {} rows", read_column_table(path).size());
  }
  if (format && *format == trajectory_format) {
    const Trajectory trajectory = read_trajectory(path);
    return fmt::format("trajectory of {}, {} steps, {} frames of {} bodies", trajectory.scene,
                       trajectory.steps(), trajectory.frames(), trajectory.bodies);
  }
  throw InputError(path, "root attribute format",
                   "'ccpbench-problem', 'ccpbench-sequence', 'ccpbench-result', "
                   "'ccpbench-systems', 'ccpbench-precond', 'ccpbench-columns' or "
                   "'ccpbench-trajectory'",
                   found_format(file));
}

/// The HDF5 files of a folder, sorted. @throws InputError if there is none
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> paths;
  int others = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".h5") {
      paths.push_back(entry.path().string());
    } else {
      ++others;
    }
  }
  if (paths.empty())
    throw InputError(folder, "", "files *.h5 in the folder", fmt::format("{} others", others));
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("check", "Validate files of problems, results and systems");
  auto files = std::make_shared<std::vector<std::string>>();
  command->add_option("files", *files, "Files, or folders of files *.h5")
      ->required()
      ->type_name("FILE");
  command->callback([files, &context] {
    std::vector<std::string> paths;
    for (const std::string& path : *files) {
      std::error_code error;
      if (std::filesystem::is_directory(path, error)) {
        const auto found = files_in(path);
        paths.insert(paths.end(), found.begin(), found.end());
      } else {
        paths.push_back(path);
      }
    }
    std::optional<KokkosSession> kokkos;
    for (const std::string& path : paths) {
      try {
        fmt::print("{}: good ({})\n", path, check_file(path, kokkos));
      } catch (const InputError& fault) {
        fmt::print(stderr, "ccpbench: {}\n", valid_utf8(fault.what()));
        context.exit_code = bad_input;
      }
    }
  });
}

}  // namespace ccp::app
