#include "harness/systems/precond.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "harness/systems/thawed_systems.hpp"
#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "solvers/core/stopwatch.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/linear/spectrum.hpp"
#include "solvers/preconditioners/linear_solver.hpp"
#include "solvers/registry.hpp"

namespace ccp {
namespace {

constexpr const char* precond_format = "ccpbench-precond";

/// |b - A x| / |b|.
double relative_residual(const Operator& a, const Vector& b, const Vector& x) {
  Vector r(b.getMap(), 1);
  a.apply(x, r);
  r.update(1, b, -1);
  double difference = 0, norm = 0;
  r.norm2(Teuchos::ArrayView<double>(&difference, 1));
  b.norm2(Teuchos::ArrayView<double>(&norm, 1));
  return norm > 0 ? difference / norm : difference;
}

/// Where the estimates of the spectrum start: fixed, irregular, and without idle parts, where A is
/// the identity.
Teuchos::RCP<Vector> spectrum_start(const ThawedSystems& systems) {
  const auto start = Teuchos::rcp(new Vector(systems.judge().getDomainMap(), 1));
  std::vector<double> values(start->getLocalLength());
  std::uint64_t state = 1;
  for (double& value : values) {  // the linear congruential generator of Knuth's MMIX
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(state >> 11) / 9007199254740992.0 - 0.5;
  }
  Kokkos::deep_copy(overwrite_view(*start),
                    upload<VectorView>("ccp::Precond::start", values, values.size()));
  systems.clear_idle(*start);
  return start;
}

/// The columns of the result file, which the reader and the writer walk.
struct Columns {
  std::vector<std::pair<const char*, std::string PrecondRow::*>> texts{
      {"method", &PrecondRow::method},
      {"preconditioner", &PrecondRow::preconditioner},
      {"status", &PrecondRow::status},
      {"message", &PrecondRow::message},
      {"eigenvalue_method", &PrecondRow::eigenvalue_method}};
  std::vector<std::pair<const char*, long PrecondRow::*>> counts{
      {"outer", &PrecondRow::outer},
      {"iterations", &PrecondRow::iterations},
      {"eigenvalue_steps", &PrecondRow::eigenvalue_steps},
      {"restarts", &PrecondRow::restarts}};
  std::vector<std::pair<const char*, double PrecondRow::*>> numbers{
      {"structure", &PrecondRow::structure},  {"assembly", &PrecondRow::assembly},
      {"setup", &PrecondRow::setup},          {"solve", &PrecondRow::solve},
      {"residual", &PrecondRow::residual},    {"eigenvalue_low", &PrecondRow::low},
      {"eigenvalue_high", &PrecondRow::high}, {"eigenvalue_imaginary", &PrecondRow::imaginary},
      {"shift", &PrecondRow::shift}};
};

PrecondRow empty_row() {
  PrecondRow row;
  row.residual = row.low = row.high = row.imaginary = std::nan("");
  return row;
}

/// Estimates by preconditioner and system: the method has no part in them.
using Spectra = std::map<std::pair<std::string, long>, Spectrum>;

/// What the residual of the answer says; the method's own word counts for nothing. A method that
/// stopped on its recursive residual, or on one in the preconditioner's norm, is a little off.
std::string judged_status(const PrecondRequest& request, const KrylovResult& outcome,
                          double residual) {
  constexpr double slack = 1.5;
  if (std::isfinite(residual) && residual <= slack * request.tolerance) return "converged";
  if (outcome.breakdown || !std::isfinite(residual)) return "breakdown";
  return outcome.converged ? "inaccurate" : "max_iterations";
}

/// All systems with one combination.
void run_combination(const PrecondRequest& request, const FrozenSystems& systems,
                     ThawedSystems& thawed, const std::string& method, const SolverSpec& spec,
                     Spectra& spectra, const std::function<void(PrecondRow)>& add) {
  const PreconditionerEntry& entry = preconditioner_entry(spec.id);
  PrecondRow row = empty_row();
  row.method = method;
  row.preconditioner = is_direct_method(method) ? "" : spec.text();
  row.message = combination_fault(method, entry);
  if (row.message.empty() && !takes(entry, systems.space, systems.block_size())) {
    row.message =
        fmt::format("{} takes {}; these are blocks of {} in {} space", entry.id,
                    describe_blocks(entry.takes), systems.block_size(), to_string(systems.space));
  }
  if (!row.message.empty()) {
    row.status = "refused";
    for (const FrozenSystem& frozen : systems.systems) {
      row.outer = frozen.outer;
      add(row);
    }
    return;
  }
  KrylovOptions krylov;
  krylov.max_iterations = request.max_iterations;
  krylov.restart = request.restart;
  fence();
  const auto start = std::chrono::steady_clock::now();
  LinearSolver solver(thawed.matrix(), method, krylov, request.apply, entry,
                      make_preconditioner(spec));
  fence();
  row.structure = seconds_since(start);
  for (const FrozenSystem& frozen : systems.systems) {
    PrecondRow result = row;
    result.outer = frozen.outer;
    const auto b = thawed.take(frozen);
    const PreconditionerReport report = solver.prepare();
    result.assembly = solver.times().assembly;
    result.setup = solver.times().setup;
    result.shift = report.shift;
    result.restarts = report.restarts;
    if (!report.good) {
      result.status = "no_preconditioner";
      result.message = report.message;
      add(result);
      continue;
    }
    const auto x = Teuchos::rcp(new Vector(b->getMap(), 1));
    const KrylovResult outcome = solver.solve(b, x, request.tolerance);
    result.solve = solver.times().solve;
    result.iterations = outcome.iterations;
    result.message = outcome.message;
    result.residual = relative_residual(thawed.judge(), *b, *x);
    result.status = judged_status(request, outcome, result.residual);
    if (request.eigenvalue_steps > 0 && !solver.is_direct()) {
      const auto [place, is_new] = spectra.try_emplace({row.preconditioner, frozen.outer});
      Spectrum& spectrum = place->second;
      if (is_new) {
        spectrum = estimate_spectrum(thawed.judge(), solver.inverse(), entry.symmetric,
                                     *spectrum_start(thawed), request.eigenvalue_steps);
      }
      result.low = spectrum.low;
      result.high = spectrum.high;
      result.imaginary = spectrum.imaginary;
      result.eigenvalue_steps = spectrum.steps;
      result.eigenvalue_method = spectrum.method;
    }
    add(result);
  }
}

}  // namespace

std::vector<SolverSpec> parse_specs(const std::string& text, const std::string& where) {
  std::vector<SolverSpec> specs;
  std::string item;
  int depth = 0;
  const auto finish = [&] {
    if (item.empty())
      throw InputError(where, "", "names with commas between them", "'" + text + "'");
    try {
      specs.push_back(SolverSpec::parse(item));
    } catch (const InputError&) {
      throw InputError(where, "", "ID or ID[option=value,...]", "'" + item + "'");
    }
    item.clear();
  };
  for (const char c : text) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == ',' && depth == 0) {
      finish();
    } else {
      item += c;
    }
  }
  finish();
  return specs;
}

std::vector<SolverSpec> parse_preconditioners(const std::string& text, const std::string& where) {
  std::vector<SolverSpec> specs = parse_specs(text, where);
  std::map<std::string, std::string> seen;  // by the one spelling, as it is written
  for (SolverSpec& spec : specs) {
    const std::string written = spec.text();
    spec = canonical_preconditioner(spec);
    const auto [before, is_new] = seen.emplace(spec.text(), written);
    if (is_new) continue;
    const std::string other = before->second == written ? "" : ", which is " + before->second;
    throw InputError(where, "", "each entry once", "'" + written + "'" + other);
  }
  return specs;
}

void check_request(const PrecondRequest& request) {
  const auto& methods = linear_methods();
  for (const std::string& method : request.methods) {
    if (std::find(methods.begin(), methods.end(), method) == methods.end()) {
      throw InputError(fmt::format("--krylov: unknown method '{}'{} (there are {})", method,
                                   did_you_mean(method, methods), fmt::join(methods, ", ")));
    }
  }
  const auto& operators = linear_operators();
  if (std::find(operators.begin(), operators.end(), request.apply) == operators.end()) {
    throw InputError("--operator", "", fmt::format("one of {}", fmt::join(operators, ", ")),
                     "'" + request.apply + "'");
  }
  for (const SolverSpec& spec : request.preconditioners) make_preconditioner(spec);
}

std::vector<PrecondRow> run_precond(const PrecondRequest& request, const FrozenSystems& systems,
                                    const ContactProblem& host,
                                    const std::function<void(const PrecondRow&)>& done) {
  check_request(request);
  const Problem problem(host);
  const auto thawed = thaw(systems, problem);
  std::vector<PrecondRow> rows;
  const auto add = [&](const PrecondRow& row) {
    rows.push_back(row);
    if (done) done(row);
  };
  Spectra spectra;
  for (const std::string& method : request.methods) {
    if (is_direct_method(method)) {
      run_combination(request, systems, *thawed, method, {"none", {}}, spectra, add);
      continue;
    }
    for (const SolverSpec& spec : request.preconditioners) {
      run_combination(request, systems, *thawed, method, spec, spectra, add);
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const PrecondRow& one, const PrecondRow& other) {
    return one.outer < other.outer;
  });
  return rows;
}

void write_precond(const std::string& path, const PrecondRequest& request,
                   const FrozenSystems& systems, const std::vector<PrecondRow>& rows,
                   const Provenance& provenance, bool overwrite) {
  Hdf5File file = Hdf5File::create(path, overwrite);
  file.set_attribute("/", "format", precond_format);
  file.set_attribute("/", "version", static_cast<std::int64_t>(precond_schema_version));
  file.set_attribute("/", "instance", systems.instance);
  file.set_attribute("/", "instance_hash", systems.instance_hash);
  file.set_attribute("/", "contacts", static_cast<std::int64_t>(systems.contacts));
  file.set_attribute("/", "space", to_string(systems.space));
  file.set_attribute("/", "block_size", static_cast<std::int64_t>(systems.block_size()));
  file.set_attribute("/", "solver", systems.solver);
  file.set_attribute("/", "operator", request.apply);
  file.set_attribute("/", "tolerance", request.tolerance);
  file.set_attribute("/", "max_iterations", static_cast<std::int64_t>(request.max_iterations));
  const Columns columns;
  const auto collect = [&](auto field) {
    std::vector<std::decay_t<decltype(std::declval<PrecondRow>().*field)>> column;
    for (const PrecondRow& row : rows) column.push_back(row.*field);
    return column;
  };
  for (const auto& [name, field] : columns.texts) {
    file.write_strings(std::string("/rows/") + name, collect(field));
  }
  for (const auto& [name, field] : columns.counts) {
    const auto column = collect(field);
    file.write(std::string("/rows/") + name,
               std::vector<std::int64_t>(column.begin(), column.end()), {rows.size()});
  }
  for (const auto& [name, field] : columns.numbers) {
    file.write(std::string("/rows/") + name, collect(field), {rows.size()});
  }
  file.make_group("/provenance");
  for (const auto& [name, value] : provenance.entries()) {
    file.set_attribute("/provenance", name, value);
  }
  file.commit();
}

std::vector<PrecondRow> read_precond(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const auto format = file.string_attribute("/", "format");
  if (!format || *format != precond_format) {
    throw InputError(path, "root attribute format", fmt::format("'{}'", precond_format),
                     format ? "'" + *format + "'" : "nothing");
  }
  const auto version = file.number_attribute("/", "version");
  if (!version || version->size() != 1 || version->front() != precond_schema_version) {
    throw InputError(
        path, "root attribute version", fmt::format("{}", precond_schema_version),
        version && version->size() == 1 ? fmt::format("{}", version->front()) : "nothing");
  }
  const Columns columns;
  std::vector<PrecondRow> rows(file.read<std::int64_t>("/rows/outer").data.size());
  const auto fill = [&](const std::string& name, const auto& column, auto field) {
    if (column.size() != rows.size()) {
      throw InputError(path, name, fmt::format("{} values, as /rows/outer", rows.size()),
                       fmt::format("{}", column.size()));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*field = column[i];
  };
  for (const auto& [name, field] : columns.texts) {
    const std::string dataset = std::string("/rows/") + name;
    fill(dataset, file.read_strings(dataset), field);
  }
  for (const auto& [name, field] : columns.counts) {
    const std::string dataset = std::string("/rows/") + name;
    fill(dataset, file.read<std::int64_t>(dataset).data, field);
  }
  for (const auto& [name, field] : columns.numbers) {
    const std::string dataset = std::string("/rows/") + name;
    fill(dataset, file.read<double>(dataset).data, field);
  }
  return rows;
}

}  // namespace ccp
