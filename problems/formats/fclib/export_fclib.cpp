#include "problems/formats/fclib/export_fclib.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"

namespace ccp {
namespace {

void write_number(Hdf5File& file, const std::string& dataset, std::size_t value) {
  file.write(dataset, std::vector<std::int32_t>{static_cast<std::int32_t>(value)}, {1});
}

/// In compressed columns.
void write_matrix(Hdf5File& file, const std::string& group, const SparseColumns& a) {
  const std::size_t entries = a.row.size();
  if (entries > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw InputError(file.path(), group, "fewer than 2^31 entries, as FCLIB counts them",
                     fmt::format("{}", entries));
  }
  write_number(file, group + "/nzmax", entries);
  write_number(file, group + "/m", a.rows);
  write_number(file, group + "/n", a.columns);
  file.write(group + "/nz", std::vector<std::int32_t>{-1}, {1});
  file.write(group + "/p", std::vector<std::int32_t>(a.offset.begin(), a.offset.end()),
             {a.offset.size()});
  file.write(group + "/i", a.row, {entries});
  file.write(group + "/x", a.value, {entries});
}

SparseColumns to_columns(const BlockMatrix& n) {
  std::vector<Triplet> triplets;
  const std::size_t rows = n.row_offsets.size() - 1;
  for (std::size_t c = 0; c < rows; ++c) {
    for (std::int64_t k = n.row_offsets[c]; k < n.row_offsets[c + 1]; ++k) {
      for (int l = 0; l < 9; ++l) {
        triplets.push_back({static_cast<std::int32_t>(3 * c + l / 3), 3 * n.columns[k] + l % 3,
                            n.blocks[9 * k + l]});
      }
    }
  }
  return SparseColumns::from_triplets(3 * rows, 3 * rows, std::move(triplets));
}

/// What FCLIB cannot say. @throws InputError
void check_expressible(const ContactProblem& problem, bool global, const std::string& path) {
  const auto refuse = [&](const char* place, const char* expected, const char* found) {
    throw InputError(path, place, expected, found);
  };
  const RollingPool& rolling = problem.rolling;
  for (std::size_t k = 0; k < rolling.size(); ++k) {
    if (!rolling.twists(k)) continue;
    refuse("/rolling/rows", "2 rows: FCLIB's rolling friction has no moment about the normal",
           "3 of them");
  }
  if (rolling.size() > 0 && !global) {
    refuse("/rolling", "a problem without rolling friction with --local, as FCLIB has none",
           "one with it");
  }
  const auto yields = [](const std::vector<double>& all) {
    return std::any_of(all.begin(), all.end(), [](double value) { return value != 0; });
  };
  if (yields(rolling.compliance)) {
    refuse("/rolling/compliance", "rolling resistance that does not yield", "compliant one");
  }
  if (problem.is_compliant() && global) {
    refuse("/contacts/compliance", "rigid contacts in a global problem (--local takes others)",
           "compliant ones");
  }
  if (global && yields(problem.equality.compliance)) {
    refuse("/equality/compliance",
           "equality constraints that do not yield in a global problem (--local takes others)",
           "compliant ones");
  }
}

/// Adds Sigma, n and across, to the diagonal of N.
void add_compliance(const std::vector<double>& sigma, BlockMatrix& n) {
  for (std::size_t c = 0; c < sigma.size() / 2; ++c) {
    for (std::int64_t k = n.row_offsets[c]; k < n.row_offsets[c + 1]; ++k) {
      if (n.columns[k] != static_cast<std::int32_t>(c)) continue;
      for (std::size_t l = 0; l < 3; ++l) n.blocks[9 * k + 4 * l] += sigma[2 * c + (l > 0)];
    }
  }
}

/// gamma by contacts, the two moments of rolling friction by contacts if there is any, and lambda
/// by the rows of equality constraints in use.
struct Impulses {
  std::vector<double> gamma, moments, lambda;
};
Impulses split(const ContactProblem& problem, const std::vector<double>& all) {
  const std::size_t n = problem.contacts(), rolling = problem.rolling.size();
  Impulses result{{all.begin(), all.begin() + static_cast<std::ptrdiff_t>(3 * n)}, {}, {}};
  if (rolling > 0) result.moments.assign(2 * n, 0.0);
  for (std::size_t k = 0; k < rolling; ++k) {
    std::copy_n(&all[3 * (n + k) + 1], 2, &result.moments[2 * problem.rolling.contact[k]]);
  }
  for (std::size_t k = 0; k < problem.equality.size(); ++k) {
    for (std::int32_t row = 0; row < problem.equality.rows[k]; ++row) {
      result.lambda.push_back(all[3 * (n + rolling + k) + static_cast<std::size_t>(row)]);
    }
  }
  return result;
}

/// By contacts, three entries of one and two of the other; the first alone where the other is
/// empty.
std::vector<double> joined(const std::vector<double>& three, const std::vector<double>& two) {
  if (two.empty()) return three;
  std::vector<double> all;
  for (std::size_t c = 0; c < two.size() / 2; ++c) {
    for (std::size_t k = 0; k < 3; ++k) all.push_back(three[3 * c + k]);
    for (std::size_t k = 0; k < 2; ++k) all.push_back(two[2 * c + k]);
  }
  return all;
}
SparseColumns joined(const SparseColumns& three, const SparseColumns& two) {
  if (two.columns == 0) return three;
  std::vector<Triplet> triplets;
  three.for_each([&](std::int32_t row, std::int32_t column, double value) {
    triplets.push_back({row, column / 3 * 5 + column % 3, value});
  });
  two.for_each([&](std::int32_t row, std::int32_t column, double value) {
    triplets.push_back({row, column / 2 * 5 + 3 + column % 2, value});
  });
  return SparseColumns::from_triplets(three.rows, three.columns + two.columns, std::move(triplets));
}

/// A local problem, u = W r + V lambda + q and V^T r + R lambda + s = 0.
struct LocalForm {
  SparseColumns w, v, r;
  std::vector<double> q, s;
};

/// The columns of a matrix after those of another.
SparseColumns beside(const SparseColumns& a, const SparseColumns& b, std::size_t columns) {
  std::vector<Triplet> triplets;
  a.for_each([&](int i, int j, double value) { triplets.push_back({i, j, value}); });
  const auto first = static_cast<std::int32_t>(a.columns);
  b.for_each([&](int i, int j, double value) { triplets.push_back({i, first + j, value}); });
  return SparseColumns::from_triplets(a.rows, columns, std::move(triplets));
}

/// Contacts and rows of equality constraints are condensed together, columns of H and then of G,
/// and taken apart.
LocalForm local_form(const ContactProblem& problem, const MassFactoriser& factorise,
                     const std::string& path) {
  LocalForm local;
  const bool bodies = problem.form == ContactProblem::Form::bodies;
  MassForm form;
  if (bodies) form = from_bodies(problem, path);
  const std::size_t size = 3 * problem.contacts(), rows = form.b.size();
  BlockMatrix n = problem.delassus;
  local.q = problem.r;
  if (bodies) {
    const std::size_t padded = size + (rows + 2) / 3 * 3;  // blocks of three
    if (rows > 0) form.contact = beside(form.contact, form.joint, padded);
    form.w.resize(padded, 0.0);
    condense(form, factorise, path, "masses", n, local.q);
    local.q.resize(size);
    local.s = form.b;
  }
  add_compliance(problem.compliance, n);
  const SparseColumns all = to_columns(n);
  if (rows == 0) {
    local.w = all;
    return local;
  }
  std::vector<Triplet> w, v, r;
  const auto first = static_cast<std::int32_t>(size);
  all.for_each([&](int i, int j, double value) {
    if (j < first && i < first) w.push_back({i, j, value});
    if (j >= first && i < first) v.push_back({i, j - first, value});
    if (j >= first && i >= first) r.push_back({i - first, j - first, value});
  });
  std::int32_t row = 0;
  for (std::size_t k = 0; k < problem.equality.size(); ++k) {
    for (std::size_t l = 0; l < static_cast<std::size_t>(problem.equality.rows[k]); ++l, ++row) {
      if (problem.equality.compliance.empty()) continue;
      r.push_back({row, row, problem.equality.compliance[3 * k + l]});
    }
  }
  local.w = SparseColumns::from_triplets(size, size, std::move(w));
  local.v = SparseColumns::from_triplets(size, rows, std::move(v));
  local.r = SparseColumns::from_triplets(rows, rows, std::move(r));
  return local;
}

/// mu_r by contacts.
void write_limits(Hdf5File& file, const std::string& group, const ContactProblem& problem) {
  std::vector<double> limits(problem.contacts(), 0.0);
  for (std::size_t k = 0; k < problem.rolling.size(); ++k) {
    limits[static_cast<std::size_t>(problem.rolling.contact[k])] = problem.rolling.rho[k];
  }
  file.write(group + "/vectors/mu_r", limits, {limits.size()});
}

}  // namespace

void export_fclib(const std::string& path, const ContactProblem& problem, bool local,
                  const MassFactoriser& factorise, bool overwrite) {
  const bool bodies = problem.form == ContactProblem::Form::bodies;
  check_expressible(problem, bodies && !local, path);
  Hdf5File file = Hdf5File::create(path, overwrite);
  const bool rolling = problem.rolling.size() > 0;
  const std::size_t width = rolling ? 5 : 3, size = width * problem.contacts();
  const std::string group = rolling            ? "/fclib_global_rolling"
                            : bodies && !local ? "/fclib_global"
                                               : "/fclib_local";
  write_number(file, group + "/spacedim", width);
  std::vector<Impulses> guesses;
  if (problem.reference) guesses.push_back(split(problem, problem.reference->gamma));
  for (const auto& named : problem.guesses) guesses.push_back(split(problem, named.second.gamma));
  if (!guesses.empty()) write_number(file, "/guesses/number_of_guesses", guesses.size());
  const auto write_guess = [&](std::size_t k, const std::vector<double>& u) {
    const std::string name = fmt::format("/guesses/{}", k + 1);
    file.write(name + "/u", u, {size});
    file.write(name + "/r", joined(guesses[k].gamma, guesses[k].moments), {size});
    return name;
  };
  if (bodies && !local) {
    const MassForm form = from_bodies(problem, path);
    write_matrix(file, group + "/M", form.mass);
    const SparseColumns h = joined(form.contact, form.rolling);
    const std::vector<double> w = joined(form.w, form.w_rolling);
    write_matrix(file, group + "/H", h);
    file.write(group + "/vectors/f", form.f, {form.f.size()});
    file.write(group + "/vectors/w", w, {size});
    if (rolling) write_limits(file, group, problem);
    if (!form.b.empty()) {
      write_matrix(file, group + "/G", form.joint);
      file.write(group + "/vectors/b", form.b, {form.b.size()});
    }
    for (std::size_t k = 0; k < guesses.size(); ++k) {
      const auto& [gamma, moments, lambda] = guesses[k];
      const std::vector<double> v = velocities(form, gamma, moments, lambda, factorise, path);
      const std::string name = write_guess(k, multiply_transposed_add(h, v, w));
      file.write(name + "/v", v, {v.size()});
      if (!lambda.empty()) file.write(name + "/l", lambda, {lambda.size()});
    }
  } else {
    const LocalForm form = local_form(problem, factorise, path);
    write_matrix(file, group + "/W", form.w);
    file.write(group + "/vectors/q", form.q, {size});
    if (!form.s.empty()) {
      write_matrix(file, group + "/V", form.v);
      write_matrix(file, group + "/R", form.r);
      file.write(group + "/vectors/s", form.s, {form.s.size()});
    }
    for (std::size_t k = 0; k < guesses.size(); ++k) {
      const std::vector<double>& lambda = guesses[k].lambda;
      std::vector<double> u = multiply_add(form.w, guesses[k].gamma, form.q);
      if (!lambda.empty()) u = multiply_add(form.v, lambda, std::move(u));
      const std::string name = write_guess(k, u);
      if (!lambda.empty()) file.write(name + "/l", lambda, {lambda.size()});
    }
  }
  file.write(group + "/vectors/mu", problem.mu, {problem.contacts()});
  file.write_text(group + "/info/title", problem.name);
  file.write_text(group + "/info/description", problem.source.description);
  file.write_text(group + "/info/math_info",
                  fmt::format("ccpbench problem, content hash {}", problem.content_hash()));
  file.commit();
}

}  // namespace ccp
