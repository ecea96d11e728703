#include "harness/systems/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "problems/base/error.hpp"
#include "problems/base/output_file.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/linear/sparse_matrix.hpp"
#include "solvers/velocity_space/body_order.hpp"
#include "solvers/velocity_space/make_system.hpp"

namespace ccp {
namespace {

void write_vector(OutputFile& out, const std::string& what, const std::vector<double>& data) {
  out.print("%%MatrixMarket matrix array real general\n% {}\n{} 1\n", what, data.size());
  for (const double value : data) out.print("{:.17g}\n", value);
}

/// The files PREFIX-NAME.mtx under construction, if all can be written.
struct Outputs {
  Outputs(const std::string& prefix, const std::vector<std::string>& names, bool overwrite,
          const std::vector<std::string>& inputs) {
    for (const std::string& name : names) {
      paths.push_back(prefix + "-" + name + ".mtx");
      check_output_path(paths.back(), overwrite, inputs);
    }
    for (const std::string& path : paths) files.emplace_back(path);
  }
  /// @return their paths
  std::vector<std::string> commit() {
    commit_all(files);
    return paths;
  }

  std::vector<std::string> paths;
  std::deque<OutputFile> files;
};

/// Symmetric 3x3 blocks on the contacts, contact axes.
using Blocks = std::vector<Sym3>;

/// Writes N, or N + blocks with identity rows where mu = 0; entries that are zero are left out.
class DelassusWriter {
 public:
  explicit DelassusWriter(const ContactProblem& problem)
      : problem_(problem), matrix_(assemble_delassus(problem)) {}

  void write(OutputFile& out, const std::string& what, const Blocks* added) const {
    const std::size_t n = problem_.contacts();
    std::size_t entries = 0;
    for_each(added, [&](std::size_t, std::size_t, double) { ++entries; });
    out.print("%%MatrixMarket matrix coordinate real symmetric\n% {}\n{} {} {}\n", what, 3 * n,
              3 * n, entries);
    for_each(added, [&](std::size_t row, std::size_t column, double value) {
      out.print("{} {} {:.17g}\n", row + 1, column + 1, value);
    });
  }

 private:
  /// Calls visit(row, column, value) for the lower triangle, row by row.
  template <class Visit>
  void for_each(const Blocks* added, const Visit& visit) const {
    for (std::size_t c = 0; c < problem_.contacts(); ++c) {
      for (std::size_t i = 0; i < 3; ++i) {
        const bool idle = added && i > 0 && problem_.mu[c] == 0;
        for (std::int64_t k = matrix_.row_offsets[c]; k < matrix_.row_offsets[c + 1]; ++k) {
          const auto d = static_cast<std::size_t>(matrix_.columns[k]);
          if (d > c) break;
          for (std::size_t j = 0; j < 3 && 3 * d + j <= 3 * c + i; ++j) {
            double value;
            if (idle || (added && j > 0 && problem_.mu[d] == 0)) {
              value = c == d && i == j ? 1 : 0;
            } else {
              value = entry(c, d, i, j, &matrix_.blocks[9 * static_cast<std::size_t>(k)]);
              if (added && c == d) value += (*added)[c](static_cast<int>(i), static_cast<int>(j));
            }
            if (value != 0) visit(3 * c + i, 3 * d + j, value);
          }
        }
      }
    }
  }

  /// Entry (i, j) of F_c block F_d^T.
  double entry(std::size_t c, std::size_t d, std::size_t i, std::size_t j,
               const double* block) const {
    if (problem_.form == ContactProblem::Form::assembled) return block[3 * i + j];
    const double *f = &problem_.frame[9 * c + 3 * i], *g = &problem_.frame[9 * d + 3 * j];
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      sum += f[k] * (block[3 * k] * g[0] + block[3 * k + 1] * g[1] + block[3 * k + 2] * g[2]);
    }
    return sum;
  }

  const ContactProblem& problem_;
  const BlockMatrix matrix_;
};

/// T P(w) T + R of every contact, contact axes; where mu = 0 only (n, n) is not zero.
Blocks scaling_blocks(const FrozenSystem& system, const std::vector<double>& regularization,
                      const std::vector<double>& mu) {
  Blocks blocks(mu.size());
  for (std::size_t c = 0; c < mu.size(); ++c) {
    const double det = system.det[c];
    if (mu[c] == 0) {
      blocks[c].xx = det + regularization[2 * c];
      continue;
    }
    const double stretch[3] = {mu[c], 1, 1}, sign[3] = {1, -1, -1};
    const double* w = &system.w[3 * c];
    blocks[c] = symmetric([&](int i, int j) {
      return stretch[i] * stretch[j] * (w[i] * w[j] - (i == j ? det * sign[i] : 0)) +
             (i == j ? regularization[2 * c + (i > 0)] : 0);
    });
  }
  return blocks;
}

void write_velocity_matrix(OutputFile& out, const std::string& what, const ContactProblem& problem,
                           VelocitySystem& velocity, const BodyOrder& order, const Blocks& blocks) {
  const std::size_t n = problem.contacts();
  // K in world axes, by the system's order of contacts.
  const auto contact_order =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), velocity.contact_order());
  std::vector<Sym3> k;
  for (std::size_t position = 0; position < n; ++position) {
    const auto c = static_cast<std::size_t>(contact_order(position));
    const Sym3& block = blocks[c];
    const Sym3 own = problem.mu[c] == 0 ? Sym3{1 / block.xx} : inverse(block);  // (n, n) alone
    const double* f = &problem.frame[9 * c];
    k.push_back(congruence([&](int i, int j) { return f[3 * j + i]; }, own));
  }
  velocity.assemble(upload<DeviceArray<Sym3*>>("ccp::export::blocks", k, n));
  std::vector<std::int64_t> offsets;
  std::vector<int> rows;
  std::vector<double> values;
  velocity.lower_pattern(offsets, rows);
  velocity.lower_values(values);
  const std::size_t size = offsets.size() - 1;
  const std::size_t each = problem.bodies() > 0 ? size / problem.bodies() : 3;
  const auto number = [&](std::size_t unknown) {  // in the problem's order of bodies
    return each * static_cast<std::size_t>(order.body[unknown / each]) + unknown % each;
  };
  out.print("%%MatrixMarket matrix coordinate real symmetric\n% {}\n{} {} {}\n", what, size, size,
            values.size());
  for (std::size_t column = 0; column < size; ++column) {
    for (std::int64_t k = offsets[column]; k < offsets[column + 1]; ++k) {
      const std::size_t i = number(static_cast<std::size_t>(rows[k])), j = number(column);
      out.print("{} {} {:.17g}\n", std::max(i, j) + 1, std::min(i, j) + 1, values[k]);
    }
  }
}

/// S and b of systems in body space, in the problem's order of bodies.
void export_body_systems(Outputs& outputs, const FrozenSystems& systems,
                         const ContactProblem& problem) {
  const HostBlocks& pattern = systems.pattern;
  const auto size = static_cast<std::size_t>(pattern.block_size), rows = pattern.rows();
  auto file = outputs.files.begin();
  for (const FrozenSystem& system : systems.systems) {
    const std::string of = fmt::format(
        " of {} after {} outer iterations of {}, mass-scaled body velocities, world axes",
        problem.name, system.outer, systems.solver);
    OutputFile& out = *file++;
    out.print("%%MatrixMarket matrix coordinate real symmetric\n% {}\n{} {} {}\n", "S" + of,
              size * rows, size * rows,
              size * size * pattern.columns.size() - rows * size * (size - 1) / 2);
    std::vector<double> b(system.rhs.size());
    for (std::size_t i = 0; i < rows; ++i) {
      const std::size_t row = size * static_cast<std::size_t>(systems.body[i]);
      for (std::size_t p = 0; p < size; ++p) b[row + p] = system.rhs[size * i + p];
      for (std::int64_t k = pattern.row_offsets[i]; k < pattern.row_offsets[i + 1]; ++k) {
        const auto j = static_cast<std::size_t>(pattern.columns[k]);
        const std::size_t column = size * static_cast<std::size_t>(systems.body[j]);
        for (std::size_t p = 0; p < size; ++p) {
          for (std::size_t q = 0; q < (i == j ? p + 1 : size); ++q) {
            out.print("{} {} {:.17g}\n", std::max(row + p, column + q) + 1,
                      std::min(row + p, column + q) + 1,
                      system.blocks[size * (size * static_cast<std::size_t>(k) + p) + q]);
          }
        }
      }
    }
    write_vector(*file++, "b" + of, b);
  }
}

}  // namespace

std::vector<std::string> export_problem_matrices(const std::string& prefix,
                                                 const ContactProblem& problem, bool overwrite,
                                                 const std::vector<std::string>& inputs) {
  Outputs outputs(prefix, {"N", "r", "mu"}, overwrite, inputs);
  auto& files = outputs.files;
  const std::string of = " of " + problem.name;
  DelassusWriter(problem).write(files[0], "N" + of + ", contact axes (n, t1, t2), 1/kg", nullptr);
  write_vector(files[1], "r" + of + ", contact axes (n, t1, t2), m/s", problem.r);
  write_vector(files[2], "mu" + of, problem.mu);
  return outputs.commit();
}

std::vector<std::string> export_system_matrices(const std::string& prefix,
                                                const FrozenSystems& systems,
                                                const ContactProblem& problem, bool overwrite,
                                                const std::vector<std::string>& inputs) {
  const bool bodies = problem.form == ContactProblem::Form::bodies;
  const bool in_body_space = systems.space == Space::body;
  std::vector<std::string> names;
  for (const FrozenSystem& system : systems.systems) {
    if (in_body_space) {
      for (const char* name : {"S", "b"}) names.push_back(fmt::format("{}-{}", system.outer, name));
      continue;
    }
    for (const char* name : {"A", "b", "S"}) {
      if (*name != 'S' || bodies) names.push_back(fmt::format("{}-{}", system.outer, name));
    }
  }
  Outputs outputs(prefix, names, overwrite, inputs);
  if (in_body_space) {
    export_body_systems(outputs, systems, problem);
    return outputs.commit();
  }
  const DelassusWriter delassus(problem);
  const Problem device(problem);
  std::unique_ptr<VelocitySystem> velocity;
  BodyOrder order;
  if (bodies) {
    velocity = make_velocity_system(device, "natural", "block_jacobi");
    order = order_bodies(problem, "natural", false);
  }
  auto file = outputs.files.begin();
  for (const FrozenSystem& system : systems.systems) {
    const std::string of =
        fmt::format(" of {} after {} outer iterations", problem.name, system.outer);
    const Blocks blocks = scaling_blocks(system, systems.regularization, problem.mu);
    delassus.write(*file++, "A" + of + ", contact axes (n, t1, t2), 1/kg", &blocks);
    write_vector(*file++, "b" + of, system.rhs);
    if (bodies) {
      write_velocity_matrix(*file++, "S" + of + ", mass-scaled body velocities, world axes",
                            problem, *velocity, order, blocks);
    }
  }
  return outputs.commit();
}

}  // namespace ccp
