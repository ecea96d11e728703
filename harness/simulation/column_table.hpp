#pragma once

#include <string>
#include <vector>

#include "harness/run/provenance.hpp"
#include "problems/scenes/scene.hpp"

namespace ccp {

/// Version of the file schema of tables of simulated columns; see docs/sequence-format.md.
inline constexpr int column_table_version = 1;

/// One simulation of a column.
struct ColumnRow {
  long spheres = 0, iterations = 0;  ///< of the column, and of the solver in every step
  std::string start;
  double theory = 0;  ///< m, height by Hertz's law
  SettlingRun run;
};

/// @throws InputError if the file exists (and `overwrite` is false) or cannot be written
void write_column_table(const std::string& path, const std::string& solver,
                        const std::vector<ColumnRow>& rows, const Provenance& provenance,
                        bool overwrite);

/// Reads and checks such a file. @throws InputError
std::vector<ColumnRow> read_column_table(const std::string& path);

}  // namespace ccp
