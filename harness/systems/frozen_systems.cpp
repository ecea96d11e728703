#include "harness/systems/frozen_systems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "harness/run/provenance.hpp"
#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/registry.hpp"

namespace ccp {
namespace {

namespace fs = std::filesystem;

constexpr const char* systems_format = "ccpbench-systems";

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

/// Contact space: scaling and right-hand side in contact axes.
void freeze_newton(const PosedSystem& posed, const Problem& problem, FrozenSystem& frozen) {
  const ContactProblem& host = problem.host();
  const auto n = static_cast<std::size_t>(problem.contacts());
  frozen.alpha = posed.newton->alpha;
  frozen.beta = posed.newton->beta;
  frozen.f_cen = posed.newton->f_cen;
  frozen.s = posed.newton->s;
  const auto to_contact_axes = [&](const VectorView& v) {
    problem.to_contact_axes(v, v);
    return download(v);
  };
  const VectorView b("ccp::freeze::b", 3 * n), tw("ccp::freeze::tw", 3 * n);
  Kokkos::deep_copy(b, read_view(*posed.rhs));
  frozen.rhs = to_contact_axes(b);
  const auto scaling =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), posed.newton->scaling);
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
}

/// The system, and with the first one what all have in common.
FrozenSystem freeze(const PosedSystem& posed, const Problem& problem, FrozenSystems& common) {
  FrozenSystem frozen;
  frozen.outer = posed.outer;
  const bool is_first = common.systems.empty();
  common.space = posed.space;
  if (posed.space == Space::contact) {
    if (!problem.pools().empty()) {
      throw InputError("problem " + common.instance, "solver " + common.solver,
                       "a problem of contacts alone: systems in contact space are kept by contact",
                       "rolling resistance or equality constraints");
    }
    freeze_newton(posed, problem, frozen);
    if (!is_first) return frozen;
    const auto rho =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), posed.newton->regularization);
    for (std::size_t c = 0; c < common.contacts; ++c) {
      common.regularization.insert(common.regularization.end(), {rho(c, 0), rho(c, 1)});
    }
    return frozen;
  }
  if (posed.blocks.is_null()) {
    throw InputError("problem " + common.instance, "solver " + common.solver,
                     "bodies, whose systems are matrices of blocks", "only N");
  }
  HostBlocks blocks = posed.blocks->to_host();
  frozen.blocks = std::move(blocks.values);
  frozen.rhs = download(read_view(*posed.rhs));
  if (!is_first) return frozen;
  common.pattern = std::move(blocks);
  common.pattern.values.clear();
  const auto body = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), posed.body);
  common.body.assign(body.data(), body.data() + body.extent(0));
  return frozen;
}

/// Solvers that are a SystemSource.
std::vector<std::string> sources() {
  std::vector<std::string> ids;
  for (const SolverEntry& entry : solver_entries()) {
    if (dynamic_cast<SystemSource*>(entry.make().get()) != nullptr) ids.push_back(entry.id);
  }
  return ids;
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
    if (!parse_number(part, value) || value < 0 || value > 1000000) throw fail();
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
  auto* const source = dynamic_cast<SystemSource*>(solver.get());
  if (source == nullptr) {
    throw InputError(
        "solver " + spec.id, "",
        fmt::format("{}[...], whose linear systems these are", fmt::join(sources(), "[...], ")),
        "'" + spec.text() + "'");
  }
  const Problem problem(host);
  FreezeOutcome outcome;
  FrozenSystems& systems = outcome.systems;
  systems.instance = host.name;
  systems.instance_hash = host.content_hash();
  systems.solver = canonical_solver(spec).text();
  systems.contacts = host.contacts();
  std::set<long> open(at.begin(), at.end());
  source->on_system = [&](const PosedSystem& posed) {
    if (!at.empty() && open.erase(posed.outer) == 0) return;
    systems.systems.push_back(freeze(posed, problem, systems));
  };
  solver->setup(problem);
  Vector gamma(problem.map(), 1);
  UntilLast observer(at);
  const Info info = solver->solve(gamma, observer);
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

namespace {

/// What one kind of systems keeps beside `outer` and `rhs`: fields of FrozenSystem that are
/// numbers, and those that are arrays with the shape of one system.
struct Numbers {
  const char* name;
  double FrozenSystem::*field;
  bool positive;
};
constexpr Numbers newton_numbers[] = {{"alpha", &FrozenSystem::alpha, true},
                                      {"beta", &FrozenSystem::beta, false},
                                      {"f_cen", &FrozenSystem::f_cen, false},
                                      {"s", &FrozenSystem::s, false}};
struct Arrays {
  const char* name;
  std::vector<double> FrozenSystem::*field;
  std::vector<std::size_t> shape;
  bool positive;
};
std::vector<Arrays> arrays_of(const FrozenSystems& systems) {
  const std::size_t n = systems.contacts;
  if (systems.space == Space::contact) {
    return {{"w", &FrozenSystem::w, {n, 3}, false},
            {"det", &FrozenSystem::det, {n}, true},
            {"rhs", &FrozenSystem::rhs, {n, 3}, false}};
  }
  const auto size = static_cast<std::size_t>(systems.pattern.block_size);
  return {{"blocks", &FrozenSystem::blocks, {systems.pattern.columns.size(), size, size}, false},
          {"rhs", &FrozenSystem::rhs, {systems.pattern.rows(), size}, false}};
}

}  // namespace

void write_systems(const std::string& path, const FrozenSystems& systems, bool overwrite) {
  const bool in_contact_space = systems.space == Space::contact;
  const std::size_t k = systems.systems.size();
  Hdf5File file = Hdf5File::create(path, overwrite);
  file.set_attribute("/", "format", systems_format);
  file.set_attribute("/", "version", std::int64_t{in_contact_space ? 1 : systems_schema_version});
  file.set_attribute("/", "instance", systems.instance);
  file.set_attribute("/", "instance_hash", systems.instance_hash);
  file.set_attribute("/", "problem", systems.problem);
  file.set_attribute("/", "solver", systems.solver);
  file.set_attribute("/", "contacts", static_cast<std::int64_t>(systems.contacts));
  file.set_attribute("/", "space", to_string(systems.space));
  file.set_attribute("/", "block_size", static_cast<std::int64_t>(systems.block_size()));
  std::vector<std::int64_t> outer;
  for (const FrozenSystem& system : systems.systems) outer.push_back(system.outer);
  file.write("/systems/outer", outer, {k});
  if (in_contact_space) {
    file.write("/regularization", systems.regularization, {systems.contacts, 2});
    for (const Numbers& numbers : newton_numbers) {
      std::vector<double> column;
      for (const FrozenSystem& system : systems.systems) column.push_back(system.*numbers.field);
      file.write(std::string("/systems/") + numbers.name, column, {k});
    }
  } else {
    const HostBlocks& pattern = systems.pattern;
    file.write("/pattern/row_offsets", pattern.row_offsets, {pattern.row_offsets.size()});
    file.write("/pattern/columns",
               std::vector<std::int64_t>(pattern.columns.begin(), pattern.columns.end()),
               {pattern.columns.size()});
    file.write("/pattern/body", systems.body, {systems.body.size()});
  }
  for (const Arrays& arrays : arrays_of(systems)) {
    std::vector<double> all;
    for (const FrozenSystem& system : systems.systems) {
      all.insert(all.end(), (system.*arrays.field).begin(), (system.*arrays.field).end());
    }
    std::vector<std::size_t> shape{k};
    shape.insert(shape.end(), arrays.shape.begin(), arrays.shape.end());
    file.write(std::string("/systems/") + arrays.name, all, shape);
  }
  file.make_group("/provenance");
  for (const auto& [name, value] : systems.provenance) {
    file.set_attribute("/provenance", name, value);
  }
  file.commit();
}

namespace {

/// Reads a file of systems, part by part.
class SystemsReader {
 public:
  explicit SystemsReader(const std::string& path) : path_(path), file_(Hdf5File::open(path)) {}

  FrozenSystems read() {
    read_attributes();
    const auto outer = file_.read<std::int64_t>("/systems/outer");
    const std::size_t k = outer.data.size();
    if (outer.shape.size() != 1 || k == 0)
      fault("/systems/outer", "a list of iterations", shape_text(outer.shape));
    systems_.systems.resize(k);
    for (std::size_t i = 0; i < k; ++i) {
      if (outer.data[i] < 0 || (i > 0 && outer.data[i] <= outer.data[i - 1])) {
        fault(fmt::format("/systems/outer, entry {}", i), "ascending iterations",
              fmt::format("{}", outer.data[i]));
      }
      systems_.systems[i].outer = static_cast<long>(outer.data[i]);
    }
    if (systems_.space == Space::contact) {
      systems_.regularization = numbers("/regularization", {systems_.contacts, 2}, false);
      for (const Numbers& field : newton_numbers) {
        const auto column = numbers(std::string("/systems/") + field.name, {k}, field.positive);
        for (std::size_t i = 0; i < k; ++i) systems_.systems[i].*field.field = column[i];
      }
    } else {
      read_pattern();
    }
    for (const Arrays& arrays : arrays_of(systems_)) read_arrays(arrays);
    for (const std::string& name : file_.attribute_names("/provenance")) {
      if (const auto value = file_.string_attribute("/provenance", name)) {
        systems_.provenance.emplace_back(name, *value);
      }
    }
    return std::move(systems_);
  }

 private:
  [[noreturn]] void fault(const std::string& place, const std::string& expected,
                          const std::string& found) const {
    throw InputError(path_, place, expected, found);
  }
  std::string text(const std::string& name) const {
    const auto value = file_.string_attribute("/", name);
    if (!value) fault("root attribute " + name, "a string", "nothing");
    return *value;
  }
  double number(const std::string& name) const {
    const auto value = file_.number_attribute("/", name);
    if (!value || value->size() != 1) fault("root attribute " + name, "a number", "nothing");
    return value->front();
  }

  void read_attributes() {
    const auto format = file_.string_attribute("/", "format");
    if (!format || *format != systems_format) {
      fault("root attribute format", fmt::format("'{}'", systems_format),
            format ? "'" + *format + "'" : "nothing");
    }
    const double version = number("version");
    if (version != 1 && version != systems_schema_version) {
      fault("root attribute version", fmt::format("1 or {}", systems_schema_version),
            fmt::format("{}", version));
    }
    systems_.instance = text("instance");
    systems_.instance_hash = text("instance_hash");
    systems_.problem = text("problem");
    systems_.solver = text("solver");
    const double contacts = number("contacts");
    if (!(contacts >= 0) || contacts != std::floor(contacts) || contacts > 1e9) {
      fault("root attribute contacts", "a number of contacts", fmt::format("{}", contacts));
    }
    systems_.contacts = static_cast<std::size_t>(contacts);
    // Files of before there were two kinds do not say which.
    const std::string space = version == 1 ? "contact" : text("space");
    if (space != "contact" && space != "body") {
      fault("root attribute space", "contact or body", "'" + space + "'");
    }
    systems_.space = space == "body" ? Space::body : Space::contact;
    if (systems_.space == Space::contact) return;
    const double size = number("block_size");
    if (size != 3 && size != 6) {
      fault("root attribute block_size", "3 or 6", fmt::format("{}", size));
    }
    systems_.pattern.block_size = static_cast<int>(size);
  }

  /// The lower triangle by rows, the diagonal block last in each.
  void read_pattern() {
    const auto offsets = integers("/pattern/row_offsets"), columns = integers("/pattern/columns");
    systems_.body = integers("/pattern/body");
    const std::size_t rows = systems_.body.size();
    if (offsets.size() != rows + 1 || offsets.front() != 0 ||
        offsets.back() != static_cast<std::int64_t>(columns.size())) {
      fault("/pattern/row_offsets",
            fmt::format("{} offsets from 0 to {}", rows + 1, columns.size()),
            fmt::format("{} values", offsets.size()));
    }
    for (std::size_t i = 0; i < rows; ++i) {
      const std::int64_t begin = offsets[i], end = offsets[i + 1];
      const bool inside = begin >= 0 && begin < end && end <= offsets.back();
      for (std::int64_t k = begin; inside && k < end; ++k) {
        const std::int64_t least = k == begin ? 0 : columns[k - 1] + 1;
        if (columns[k] < least || columns[k] > static_cast<std::int64_t>(i)) {
          fault(fmt::format("/pattern/columns, entry {}", k),
                "ascending columns up to the row's own", fmt::format("{}", columns[k]));
        }
      }
      if (!inside || columns[end - 1] != static_cast<std::int64_t>(i)) {
        fault(fmt::format("/pattern/row_offsets, row {}", i),
              "a row that ends with its diagonal block", "another");
      }
    }
    std::vector<bool> seen(rows, false);
    for (const std::int64_t body : systems_.body) {
      if (body < 0 || body >= static_cast<std::int64_t>(rows) || seen[body]) {
        fault("/pattern/body", fmt::format("every body from 0 to {} once", rows - 1),
              fmt::format("{}", body));
      }
      seen[body] = true;
    }
    systems_.pattern.row_offsets = offsets;
    systems_.pattern.columns.assign(columns.begin(), columns.end());
  }

  std::vector<std::int64_t> integers(const std::string& name) const {
    auto array = file_.read<std::int64_t>(name);
    if (array.shape.size() != 1) fault(name, "a list", "shape " + shape_text(array.shape));
    return std::move(array.data);
  }

  std::vector<double> numbers(const std::string& name, const std::vector<std::size_t>& shape,
                              bool positive) const {
    auto array = file_.read<double>(name);
    if (array.shape != shape) fault(name, "shape " + shape_text(shape), shape_text(array.shape));
    for (std::size_t i = 0; i < array.data.size(); ++i) {
      const double value = array.data[i];
      if (!std::isfinite(value) || (positive && !(value > 0))) {
        fault(fmt::format("{}, entry {}", name, i), positive ? "a number > 0" : "a finite number",
              fmt::format("{}", value));
      }
    }
    return std::move(array.data);
  }

  void read_arrays(const Arrays& arrays) {
    std::vector<std::size_t> shape{systems_.systems.size()};
    shape.insert(shape.end(), arrays.shape.begin(), arrays.shape.end());
    const auto all = numbers(std::string("/systems/") + arrays.name, shape, arrays.positive);
    const std::size_t each = all.size() / shape.front();
    for (std::size_t i = 0; i < shape.front(); ++i) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * each);
      (systems_.systems[i].*arrays.field).assign(begin, begin + static_cast<std::ptrdiff_t>(each));
    }
  }

  std::string path_;
  Hdf5File file_;
  FrozenSystems systems_;
};

}  // namespace

FrozenSystems read_systems(const std::string& path) {
  return SystemsReader(path).read();
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

}  // namespace ccp
