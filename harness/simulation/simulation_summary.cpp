#include "harness/simulation/simulation_summary.hpp"

#include <numeric>

#include "problems/base/error.hpp"

namespace ccp {
namespace {

const char* const group = "/summary";
const char* const values_group = "/summary/values";

double mean(const std::vector<std::int64_t>& values) {
  if (values.empty()) return 0;
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return sum / static_cast<double>(values.size());
}

std::string end_text(SimulationEnd end) {
  switch (end) {
    case SimulationEnd::finished:
      return "finished";
    case SimulationEnd::diverged:
      return "diverged";
    default:
      return "running";
  }
}

/// All attributes but the status.
std::vector<std::pair<std::string, double>> numbers_in(const Hdf5File& file,
                                                       const std::string& place) {
  std::vector<std::pair<std::string, double>> numbers;
  for (const std::string& name : file.attribute_names(place)) {
    if (name == "status") continue;
    const auto value = file.number_attribute(place, name);
    if (value && value->size() == 1) numbers.emplace_back(name, value->front());
  }
  return numbers;
}

}  // namespace

SimulationSummary summary_of(const Simulation& simulation, double wall) {
  const Trajectory& t = simulation.trajectory();
  SimulationSummary summary;
  summary.status = end_text(simulation.state());
  summary.numbers = {
      {"steps", static_cast<double>(t.steps())},
      {"time", t.time.empty() ? 0 : t.time.back()},
      {"solver_time", std::accumulate(t.solver_time.begin(), t.solver_time.end(), 0.0)},
      {"wall_time", wall},
      {"contacts_mean", mean(t.contacts)},
      {"outer_mean", mean(t.outer)},
      {"residual_max", t.largest_residual()},
      {"unsolved", static_cast<double>(simulation.unsolved())},
      {"penetration_max", t.deepest_penetration()}};
  if (!simulation.bodies().joints.empty()) {
    summary.numbers.emplace_back("joint_error_max", t.largest_joint_error());
  }
  summary.numbers.emplace_back("energy_first", simulation.energy_first());
  summary.numbers.emplace_back("energy_last", t.steps() == 0
                                                  ? simulation.energy_first()
                                                  : t.kinetic.back() + t.potential.back());
  summary.values = simulation.values();
  return summary;
}

bool is_count(const std::string& number) {
  return number == "steps" || number == "unsolved";
}

void write_summary(Hdf5File& file, const SimulationSummary& summary) {
  file.make_group(group);
  file.make_group(values_group);
  file.set_attribute(group, "status", summary.status);
  for (const auto& [name, value] : summary.numbers) file.set_attribute(group, name, value);
  for (const auto& [name, value] : summary.values) file.set_attribute(values_group, name, value);
}

SimulationSummary read_summary(const Hdf5File& file) {
  SimulationSummary summary;
  const auto status = file.has(group) ? file.string_attribute(group, "status") : std::nullopt;
  if (!status) {
    throw InputError(file.path(), group, "what came of the simulation", "nothing of that name");
  }
  summary.status = *status;
  summary.numbers = numbers_in(file, group);
  summary.values = numbers_in(file, values_group);
  return summary;
}

}  // namespace ccp
