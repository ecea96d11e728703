#include "harness/systems/frozen_systems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>

#include "harness/run/provenance.hpp"
#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/ipm/ipm.hpp"
#include "solvers/registry.hpp"

namespace ccp {
namespace {

namespace fs = std::filesystem;

constexpr const char* format_name = "ccpbench-systems";

/// Ends a solve after the last system that is wanted.
class UntilLast : public Observer {
 public:
  explicit UntilLast(const std::vector<long>& at)
      : last_(at.empty() ? -1 : *std::max_element(at.begin(), at.end())) {}
  bool observe(const Progress& progress, const std::function<void(Vector&)>&) override {
    return last_ >= 0 && progress.counters.outer > last_;
  }

 private:
  long last_;
};

FrozenSystem freeze(const IpmSolver::NewtonStep& step, const Problem& problem) {
  const ContactProblem& host = problem.host();
  const auto n = static_cast<std::size_t>(problem.contacts());
  FrozenSystem frozen;
  frozen.outer = step.outer;
  frozen.alpha = step.alpha;
  frozen.beta = step.beta;
  frozen.f_cen = step.f_cen;
  frozen.s = step.s;
  const auto to_contact_axes = [&](const VectorView& v) {
    problem.to_contact_axes(v, v);
    return download(v);
  };
  const VectorView b("ccp::freeze::b", 3 * n), tw("ccp::freeze::tw", 3 * n);
  Kokkos::deep_copy(b, read_view(step.b));
  frozen.rhs = to_contact_axes(b);
  const auto scaling =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), step.system.scaling());
  const auto tw_host = Kokkos::create_mirror_view(tw);
  frozen.det.resize(n);
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t k = 0; k < 3; ++k) tw_host(3 * c + k) = scaling(c, k);
    frozen.det[c] = scaling(c, 3);
  }
  Kokkos::deep_copy(tw, tw_host);
  frozen.w = to_contact_axes(tw);
  for (std::size_t c = 0; c < n; ++c) {
    if (host.mu[c] > 0) frozen.w[3 * c] /= host.mu[c];
  }
  return frozen;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, "]["));
}

}  // namespace

std::vector<long> parse_iterations(const std::string& text, const std::string& where) {
  const auto fail = [&]() -> InputError {
    return InputError(where, "", "iterations as 5,10,20 or 0:40:2 (first:last:step) or all",
                      "'" + text + "'");
  };
  const auto number = [&](const std::string& part) {
    long value = 0;
    const char* last = part.data() + part.size();
    const auto [end, error] = std::from_chars(part.data(), last, value);
    if (error != std::errc() || end != last || value < 0 || value > 1000000) throw fail();
    return value;
  };
  const auto split = [](const std::string& list, char separator) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(separator, begin), list.size());
      parts.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
    return parts;
  };
  if (text == "all") return {};
  std::set<long> all;
  for (const std::string& item : split(text, ',')) {
    const auto parts = split(item, ':');
    if (parts.size() > 3) throw fail();
    const long first = number(parts[0]);
    const long last = parts.size() > 1 ? number(parts[1]) : first;
    const long step = parts.size() > 2 ? number(parts[2]) : 1;
    if (last < first || step < 1) throw fail();
    for (long k = first; k <= last; k += step) all.insert(k);
  }
  return {all.begin(), all.end()};
}

FreezeOutcome freeze_systems(const ContactProblem& host, const SolverSpec& spec,
                             const std::vector<long>& at) {
  const auto solver = make_solver(spec);
  auto* const ipm = dynamic_cast<IpmSolver*>(solver.get());
  if (ipm == nullptr) {
    throw InputError("solver " + spec.id, "", "ipm[...], whose Newton systems these are",
                     "'" + spec.text() + "'");
  }
  const Problem problem(host);
  FreezeOutcome outcome;
  FrozenSystems& systems = outcome.systems;
  systems.instance = host.name;
  systems.instance_hash = host.content_hash();
  systems.solver = spec.text();
  std::set<long> open(at.begin(), at.end());
  ipm->on_newton_step = [&](const IpmSolver::NewtonStep& step) {
    if (!at.empty() && open.erase(step.outer) == 0) return;
    if (systems.regularization.empty()) {
      const auto rho =
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), step.system.regularization());
      for (std::size_t c = 0; c < host.contacts(); ++c) {
        systems.regularization.insert(systems.regularization.end(), {rho(c, 0), rho(c, 1)});
      }
    }
    systems.systems.push_back(freeze(step, problem));
  };
  ipm->setup(problem);
  Vector gamma(problem.map(), 1);
  UntilLast observer(at);
  const Info info = ipm->solve(gamma, observer);
  if (!open.empty() || at.empty()) {
    outcome.ended =
        fmt::format("{} after {} outer iterations{}", to_string(info.status), info.counters.outer,
                    info.message.empty() ? "" : " (" + info.message + ")");
  }
  if (systems.systems.empty()) {
    throw InputError("problem " + host.name, "solver " + spec.text(),
                     "one of the iterations asked for", outcome.ended);
  }
  return outcome;
}

void write_systems(const std::string& path, const FrozenSystems& systems, bool overwrite) {
  Hdf5File file = Hdf5File::create(path, overwrite);
  file.set_attribute("/", "format", format_name);
  file.set_attribute("/", "version", static_cast<std::int64_t>(systems_schema_version));
  file.set_attribute("/", "instance", systems.instance);
  file.set_attribute("/", "instance_hash", systems.instance_hash);
  file.set_attribute("/", "problem", systems.problem);
  file.set_attribute("/", "solver", systems.solver);
  file.set_attribute("/", "contacts", static_cast<std::int64_t>(systems.contacts()));
  const std::size_t n = systems.contacts(), k = systems.systems.size();
  file.write("/regularization", systems.regularization, {n, 2});
  std::vector<std::int64_t> outer;
  for (const FrozenSystem& system : systems.systems) outer.push_back(system.outer);
  file.write("/systems/outer", outer, {k});
  const auto numbers = [&](const char* name, double FrozenSystem::*field) {
    std::vector<double> column;
    for (const FrozenSystem& system : systems.systems) column.push_back(system.*field);
    file.write(std::string("/systems/") + name, column, {k});
  };
  numbers("alpha", &FrozenSystem::alpha);
  numbers("beta", &FrozenSystem::beta);
  numbers("f_cen", &FrozenSystem::f_cen);
  numbers("s", &FrozenSystem::s);
  const auto arrays = [&](const char* name, std::vector<double> FrozenSystem::*field,
                          std::vector<std::size_t> shape) {
    std::vector<double> all;
    for (const FrozenSystem& system : systems.systems) {
      all.insert(all.end(), (system.*field).begin(), (system.*field).end());
    }
    file.write(std::string("/systems/") + name, all, shape);
  };
  arrays("w", &FrozenSystem::w, {k, n, 3});
  arrays("det", &FrozenSystem::det, {k, n});
  arrays("rhs", &FrozenSystem::rhs, {k, n, 3});
  file.make_group("/provenance");
  for (const auto& [name, value] : systems.provenance) {
    file.set_attribute("/provenance", name, value);
  }
  file.commit();
}

FrozenSystems read_systems(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const auto text = [&](const char* name) {
    const auto value = file.string_attribute("/", name);
    if (!value) {
      throw InputError(path, fmt::format("root attribute {}", name), "a string", "nothing");
    }
    return *value;
  };
  const auto format = file.string_attribute("/", "format");
  if (!format || *format != format_name) {
    throw InputError(path, "root attribute format", fmt::format("'{}'", format_name),
                     format ? "'" + *format + "'" : "nothing");
  }
  const auto number = [&](const char* name) {
    const auto value = file.number_attribute("/", name);
    if (!value || value->size() != 1) {
      throw InputError(path, fmt::format("root attribute {}", name), "a number", "nothing");
    }
    return value->front();
  };
  if (number("version") != systems_schema_version) {
    throw InputError(path, "root attribute version", fmt::format("{}", systems_schema_version),
                     fmt::format("{}", number("version")));
  }
  FrozenSystems systems;
  systems.instance = text("instance");
  systems.instance_hash = text("instance_hash");
  systems.problem = text("problem");
  systems.solver = text("solver");
  const double contacts = number("contacts");
  if (!(contacts >= 0) || contacts != std::floor(contacts) || contacts > 1e9) {
    throw InputError(path, "root attribute contacts", "a number of contacts",
                     fmt::format("{}", contacts));
  }
  const auto n = static_cast<std::size_t>(contacts);
  const auto read = [&](const std::string& name, const std::vector<std::size_t>& shape,
                        bool positive) {
    auto array = file.read<double>(name);
    if (array.shape != shape) {
      throw InputError(path, name, "shape " + shape_text(shape), shape_text(array.shape));
    }
    for (std::size_t i = 0; i < array.data.size(); ++i) {
      const double value = array.data[i];
      if (!std::isfinite(value) || (positive && !(value > 0))) {
        throw InputError(path, fmt::format("{}, entry {}", name, i),
                         positive ? "a number > 0" : "a finite number", fmt::format("{}", value));
      }
    }
    return std::move(array.data);
  };
  systems.regularization = read("/regularization", {n, 2}, false);
  const auto outer = file.read<std::int64_t>("/systems/outer");
  const std::size_t k = outer.data.size();
  if (outer.shape.size() != 1 || k == 0) {
    throw InputError(path, "/systems/outer", "a list of iterations", shape_text(outer.shape));
  }
  const auto alpha = read("/systems/alpha", {k}, true), beta = read("/systems/beta", {k}, false),
             f_cen = read("/systems/f_cen", {k}, false), s = read("/systems/s", {k}, false),
             w = read("/systems/w", {k, n, 3}, false), det = read("/systems/det", {k, n}, true),
             rhs = read("/systems/rhs", {k, n, 3}, false);
  const auto part = [](const std::vector<double>& all, std::size_t i, std::size_t size) {
    return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(i * size),
                               all.begin() + static_cast<std::ptrdiff_t>((i + 1) * size));
  };
  for (std::size_t i = 0; i < k; ++i) {
    if (outer.data[i] < 0 || (i > 0 && outer.data[i] <= outer.data[i - 1])) {
      throw InputError(path, fmt::format("/systems/outer, entry {}", i), "ascending iterations",
                       fmt::format("{}", outer.data[i]));
    }
    systems.systems.push_back({static_cast<long>(outer.data[i]), alpha[i], beta[i], f_cen[i], s[i],
                               part(w, i, 3 * n), part(det, i, n), part(rhs, i, 3 * n)});
  }
  for (const std::string& name : file.attribute_names("/provenance")) {
    if (const auto value = file.string_attribute("/provenance", name)) {
      systems.provenance.emplace_back(name, *value);
    }
  }
  return systems;
}

ContactProblem problem_of(const FrozenSystems& systems, const std::string& systems_path,
                          const std::string& problem) {
  std::string path;
  if (!problem.empty()) {
    path = resolve_problem(problem);
  } else {
    try {
      path = resolve_problem(systems.problem, fs::path(systems_path).parent_path().string());
    } catch (const InputError& fault) {
      throw InputError(systems_path, "the problem " + systems.instance,
                       "it at '" + systems.problem + "' (--problem says where else)",
                       "no such file");
    }
  }
  ContactProblem host = read_problem(path);
  const std::string hash = host.content_hash();
  if (hash != systems.instance_hash) {
    throw InputError(path, "content hash",
                     systems.instance_hash + ", of the systems in " + systems_path, hash);
  }
  return host;
}

DeviceArray<double* [2]> regularization_of(const FrozenSystems& systems) {
  return upload<DeviceArray<double* [2]>>("ccp::thaw::regularization", systems.regularization,
                                          systems.contacts());
}

Teuchos::RCP<Vector> thaw(const FrozenSystem& frozen, const Problem& problem,
                          NewtonSystem& system) {
  const auto n = static_cast<std::size_t>(problem.contacts());
  std::vector<double> scaled = frozen.w;
  for (std::size_t c = 0; c < n; ++c) scaled[3 * c] *= problem.host().mu[c];
  const auto tw = upload<VectorView>("ccp::thaw::tw", scaled, 3 * n);
  problem.to_world_axes(tw, tw);
  const auto world = download(tw);
  std::vector<double> scaling;
  for (std::size_t c = 0; c < n; ++c) {
    scaling.insert(scaling.end(),
                   {world[3 * c], world[3 * c + 1], world[3 * c + 2], frozen.det[c]});
  }
  system.set_scaling(upload<DeviceArray<double* [4]>>("ccp::thaw::scaling", scaling, n));
  auto b = Teuchos::rcp(new Vector(problem.map(), 1));
  const auto rhs = upload<VectorView>("ccp::thaw::rhs", frozen.rhs, 3 * n);
  problem.to_world_axes(rhs, overwrite_view(*b));
  return b;
}

}  // namespace ccp
