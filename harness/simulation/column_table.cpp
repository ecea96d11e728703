#include "harness/simulation/column_table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"

namespace ccp {
namespace {

constexpr const char* columns_format = "ccpbench-columns";

/// The numbers of a row, by the names of their columns in the file.
struct Columns {
  std::vector<std::pair<const char*, double SettlingRun::*>> numbers{
      {"height", &SettlingRun::height},
      {"error", &SettlingRun::error},
      {"time", &SettlingRun::time},
      {"speed", &SettlingRun::speed}};
  std::vector<std::pair<const char*, long ColumnRow::*>> counts{
      {"spheres", &ColumnRow::spheres}, {"iterations", &ColumnRow::iterations}};
};

}  // namespace

void write_column_table(const std::string& path, const std::string& solver,
                        const std::vector<ColumnRow>& rows, const Provenance& provenance,
                        bool overwrite) {
  Hdf5File file = Hdf5File::create(path, overwrite);
  file.set_attribute("/", "format", columns_format);
  file.set_attribute("/", "version", static_cast<std::int64_t>(column_table_version));
  file.set_attribute("/", "solver", solver);
  const std::vector<std::size_t> shape{rows.size()};
  const auto column = [&](const std::string& name, const auto& value) {
    std::vector<std::decay_t<decltype(value(ColumnRow()))>> data;
    for (const ColumnRow& row : rows) data.push_back(value(row));
    file.write("/rows/" + name, data, shape);
  };
  const Columns columns;
  for (const auto& [name, field] : columns.counts) {
    column(name, [f = field](const ColumnRow& row) { return std::int64_t{row.*f}; });
  }
  for (const auto& [name, field] : columns.numbers) {
    column(name, [f = field](const ColumnRow& row) { return row.run.*f; });
  }
  column("theory", [](const ColumnRow& row) { return row.theory; });
  column("at_rest", [](const ColumnRow& row) { return std::int64_t{row.run.at_rest}; });
  std::vector<std::string> starts;
  for (const ColumnRow& row : rows) starts.push_back(row.start);
  file.write_strings("/rows/start", starts);
  file.make_group("/provenance");
  for (const auto& [name, value] : provenance.entries()) {
    file.set_attribute("/provenance", name, value);
  }
  file.commit();
}

std::vector<ColumnRow> read_column_table(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  const auto format = file.string_attribute("/", "format");
  if (format != columns_format) {
    throw InputError(path, "root attribute format", fmt::format("'{}'", columns_format),
                     format ? "'" + *format + "'" : "nothing");
  }
  const auto version = file.number_attribute("/", "version");
  if (version != std::vector<double>{column_table_version}) {
    throw InputError(path, "root attribute version", fmt::format("{}", column_table_version),
                     "something else");
  }
  const std::vector<std::string> starts = file.read_strings("/rows/start");
  std::vector<ColumnRow> rows(starts.size());
  const auto take = [&](const std::string& name, const auto& data, const auto& put) {
    if (data.size() != rows.size()) {
      throw InputError(path, "/rows/" + name, fmt::format("{} values, as /rows/start", rows.size()),
                       fmt::format("{}", data.size()));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) put(rows[i], data[i]);
  };
  const auto counts = [&](const std::string& name) {
    return file.read<std::int64_t>("/rows/" + name).data;
  };
  const auto numbers = [&](const std::string& name) {
    return file.read<double>("/rows/" + name).data;
  };
  take("start", starts, [](ColumnRow& row, const std::string& text) { row.start = text; });
  const Columns columns;
  for (const auto& [name, field] : columns.counts) {
    take(name, counts(name), [f = field](ColumnRow& row, std::int64_t n) { row.*f = n; });
  }
  for (const auto& [name, field] : columns.numbers) {
    take(name, numbers(name), [f = field](ColumnRow& row, double x) { row.run.*f = x; });
  }
  take("theory", numbers("theory"), [](ColumnRow& row, double x) { row.theory = x; });
  take("at_rest", counts("at_rest"),
       [](ColumnRow& row, std::int64_t n) { row.run.at_rest = n != 0; });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double error = 1 - rows[i].run.height / rows[i].theory;
    if (std::abs(error - rows[i].run.error) > 1e-12) {
      throw InputError(path, fmt::format("/rows/error[{}]", i),
                       fmt::format("{}, as height and theory have it", error),
                       fmt::format("{}", rows[i].run.error));
    }
  }
  return rows;
}

}  // namespace ccp
