#include "problems/formats/fclib/import_fclib.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/base/text.hpp"

namespace ccp {
namespace {

constexpr const char *local_group = "/fclib_local", *global_group = "/fclib_global",
                     *rolling_group = "/fclib_global_rolling";

struct GroupRow {
  FclibGroup group;
  const char *option, *path;
};
constexpr GroupRow group_table[] = {{FclibGroup::local, "local", local_group},
                                    {FclibGroup::global, "global", global_group},
                                    {FclibGroup::rolling, "rolling", rolling_group}};

/// Reads the parts of one FCLIB file. Whatever sizes the file claims are compared with what it
/// holds before anything of that size is made.
class FclibReader {
 public:
  explicit FclibReader(const std::string& path) : file_(Hdf5File::open(path)) {}

  const Hdf5File& file() const { return file_; }

  /// The group of the problem. @throws InputError if it is none that can be imported, or if there
  /// are two and none is asked for
  std::string problem_group(FclibGroup asked) const {
    std::vector<std::string> wanted, found;
    for (const GroupRow& row : group_table) {
      if (asked == FclibGroup::any || asked == row.group) wanted.emplace_back(row.path);
    }
    for (const std::string& path : wanted) {
      if (file_.has(path)) found.push_back(path);
    }
    if (found.empty()) refuse("", fmt::format("a group {}", fmt::join(wanted, " or ")), "none");
    if (found.size() > 1) {
      refuse("", "one problem, or --group local, global or rolling",
             fmt::format("{}", fmt::join(found, " and ")));
    }
    return found.front();
  }

  std::int64_t number(const std::string& dataset) const {
    const auto shape = file_.shape(dataset);
    for (const std::size_t extent : shape) {
      if (extent != 1) {
        refuse(dataset, "one number", fmt::format("shape [{}]", fmt::join(shape, ", ")));
      }
    }
    const std::vector<std::int64_t> values = file_.read<std::int64_t>(dataset).data;
    if (values.size() != 1) {
      throw InputError(file_.path(), dataset, "one number", fmt::format("{}", values.size()));
    }
    return values.front();
  }

  /// A vector of any length, of finite numbers.
  std::vector<double> vector(const std::string& dataset) const {
    std::vector<double> values = file_.read<double>(dataset).data;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) {
        refuse(fmt::format("{}[{}]", dataset, i), "a finite number", fmt::format("{}", values[i]));
      }
    }
    return values;
  }
  std::vector<double> vector(const std::string& dataset, std::size_t size,
                             const std::string& unit) const {
    std::vector<double> values = vector(dataset);
    if (values.size() != size) {
      refuse(dataset, fmt::format("{} values, {}", size, unit), fmt::format("{}", values.size()));
    }
    return values;
  }

  SparseColumns matrix(const std::string& group, std::size_t rows, std::size_t columns) const;

  /// Whether the problem has equality constraints. @throws InputError if it has a part of them, or
  /// those of the other kind of problem
  bool has_equality(const std::string& group) const {
    const bool local = group == local_group;
    const std::vector<const char*> own = local ? std::vector<const char*>{"/V", "/R", "/vectors/s"}
                                               : std::vector<const char*>{"/G", "/vectors/b"},
                                   others =
                                       local ? std::vector<const char*>{"/G", "/vectors/b"}
                                             : std::vector<const char*>{"/V", "/R", "/vectors/s"};
    for (const char* name : others) {
      if (file_.has(group + name)) {
        refuse(group + name, "no such thing in this kind of problem", "equality constraints");
      }
    }
    const auto there = std::count_if(own.begin(), own.end(),
                                     [&](const char* name) { return file_.has(group + name); });
    if (there > 0 && there < static_cast<std::ptrdiff_t>(own.size())) {
      refuse(group, local ? "V, R and vectors/s of equality constraints" : "G and vectors/b",
             "a part of them");
    }
    return there > 0;
  }

  std::string text(const std::string& dataset) const {
    if (!file_.has(dataset)) return "";
    const std::vector<std::string> strings = file_.read_strings(dataset);
    return strings.empty() ? "" : strings.front();
  }

  [[noreturn]] void refuse(const std::string& place, const std::string& expected,
                           const std::string& found) const {
    throw InputError(file_.path(), place, expected, found);
  }

 private:
  std::vector<std::int32_t> indices(const std::string& dataset, std::size_t at_least) const {
    std::vector<std::int32_t> values = file_.read<std::int32_t>(dataset).data;
    if (values.size() < at_least) {
      refuse(dataset, fmt::format("at least {} values", at_least),
             fmt::format("{}", values.size()));
    }
    return values;
  }

  Hdf5File file_;
};

SparseColumns FclibReader::matrix(const std::string& group, std::size_t rows,
                                  std::size_t columns) const {
  for (const auto& [name, expected] :
       {std::pair<const char*, std::size_t>{"/m", rows}, {"/n", columns}}) {
    const std::int64_t found = number(group + name);
    if (found != static_cast<std::int64_t>(expected)) {
      refuse(group + name, fmt::format("{}", expected), fmt::format("{}", found));
    }
  }
  const std::int64_t nz = number(group + "/nz");
  if (nz < -2) {
    refuse(group + "/nz", "-1 (columns), -2 (rows) or a number of triplets", fmt::format("{}", nz));
  }
  const bool compressed = nz < 0, by_rows = nz == -2;
  const std::size_t lists = by_rows ? rows : columns, others = by_rows ? columns : rows;
  std::vector<std::int32_t> p = indices(group + "/p", compressed ? lists + 1 : nz);
  const std::size_t entries = compressed ? static_cast<std::size_t>(std::max(p[lists], 0)) : nz;
  std::vector<std::int32_t> i = indices(group + "/i", entries);
  const std::vector<double> x = vector(group + "/x");
  if (x.size() < entries) {
    refuse(group + "/x", fmt::format("at least {} values", entries), fmt::format("{}", x.size()));
  }
  std::vector<Triplet> triplets;
  triplets.reserve(entries);
  if (compressed) {
    if (p[0] != 0) refuse(group + "/p[0]", "0", fmt::format("{}", p[0]));
    for (std::size_t j = 0; j < lists; ++j) {
      if (p[j + 1] < p[j] || p[j + 1] > p[lists]) {
        refuse(fmt::format("{}/p[{}]", group, j + 1), "ascending offsets",
               fmt::format("{}", p[j + 1]));
      }
      for (std::int32_t k = p[j]; k < p[j + 1]; ++k) {
        const auto list = static_cast<std::int32_t>(j);
        triplets.push_back(by_rows ? Triplet{list, i[k], x[k]} : Triplet{i[k], list, x[k]});
      }
    }
  } else {
    // FCLIB's header says p is the row; every real file has the row in i. Where only the former
    // fits the size of the matrix, it is believed.
    const auto fit = [&](std::size_t i_below, std::size_t p_below) {
      const auto below = [nz](const std::vector<std::int32_t>& values, std::size_t bound) {
        return std::all_of(values.begin(), values.begin() + nz, [bound](std::int32_t value) {
          return value >= 0 && static_cast<std::size_t>(value) < bound;
        });
      };
      return below(i, i_below) && below(p, p_below);
    };
    if (!fit(rows, columns) && fit(columns, rows)) std::swap(i, p);
    for (std::size_t k = 0; k < entries; ++k) triplets.push_back({i[k], p[k], x[k]});
  }
  for (std::size_t k = 0; k < entries; ++k) {
    const Triplet& t = triplets[k];
    const auto out = [](std::int32_t value, std::size_t bound) {
      return value < 0 || static_cast<std::size_t>(value) >= bound;
    };
    if (out(t.row, rows) || out(t.column, columns)) {
      refuse(fmt::format("{}/i[{}]", group, k),
             compressed ? fmt::format("an index in [0, {})", others)
                        : fmt::format("a row below {} and a column below {}", rows, columns),
             fmt::format("({}, {})", t.row, t.column));
    }
  }
  return SparseColumns::from_triplets(rows, columns, std::move(triplets));
}

bool is_zero(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return x == 0; });
}

BlockMatrix to_blocks(const SparseColumns& a) {
  std::vector<Block> blocks;
  // By columns of blocks: at most three entries of a block row lie between two of another.
  std::vector<std::int64_t> place(a.rows / 3, -1);
  for (std::size_t column = 0; column < a.columns / 3; ++column) {
    const auto begin = static_cast<std::int64_t>(blocks.size());
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t j = 3 * column + k;
      for (std::int64_t l = a.offset[j]; l < a.offset[j + 1]; ++l) {
        const std::int32_t row = a.row[l] / 3;
        if (place[row] < begin) {
          place[row] = static_cast<std::int64_t>(blocks.size());
          blocks.push_back({row, static_cast<std::int32_t>(column), {}});
        }
        blocks[place[row]].value[3 * (a.row[l] % 3) + k] = a.value[l];
      }
    }
  }
  return block_matrix(a.columns / 3, std::move(blocks));
}

/// a - b.
BlockMatrix difference(const BlockMatrix& a, const BlockMatrix& b) {
  std::vector<Block> blocks;
  const auto add = [&](const BlockMatrix& matrix, double sign) {
    for (std::size_t c = 0; c + 1 < matrix.row_offsets.size(); ++c) {
      for (std::int64_t k = matrix.row_offsets[c]; k < matrix.row_offsets[c + 1]; ++k) {
        Block block{static_cast<std::int32_t>(c), matrix.columns[k], {}};
        for (int l = 0; l < 9; ++l) block.value[l] = sign * matrix.blocks[9 * k + l];
        blocks.push_back(block);
      }
    }
  };
  add(a, 1);
  add(b, -1);
  return block_matrix(a.row_offsets.size() - 1, std::move(blocks));
}

/// V^T r + R lambda + s = 0, solved for lambda:  N = W - V R^-1 V^T,  r = q - V R^-1 s.
void eliminate_equality(const FclibReader& reader, const MassFactoriser& factorise,
                        Imported& result, nlohmann::ordered_json& about) {
  const std::string group = local_group;
  ContactProblem& problem = result.problem;
  MassForm of_rows;
  of_rows.f = reader.vector(group + "/vectors/s");
  const std::size_t rows = of_rows.f.size(), size = 3 * problem.contacts();
  for (double& value : of_rows.f) value = -value;
  double asymmetry = 0;
  of_rows.mass = symmetric_part(reader.matrix(group + "/R", rows, rows), asymmetry);
  std::vector<Triplet> turned;
  reader.matrix(group + "/V", size, rows).for_each([&](int i, int j, double value) {
    turned.push_back({j, i, value});
  });
  of_rows.contact = SparseColumns::from_triplets(rows, size, std::move(turned));
  of_rows.w = problem.r;
  BlockMatrix taken;
  condense(of_rows, factorise, reader.file().path(), group + "/R", taken, problem.r);
  problem.delassus = difference(problem.delassus, taken);
  about["equality_rows"] = rows;
  about["asymmetry_of_r"] = asymmetry;
  result.notes.push_back(
      fmt::format("{} equality rows eliminated: N = W - V R^-1 V^T, r = q - V R^-1 s", rows));
}

void import_local(const FclibReader& reader, const MassFactoriser& factorise, Imported& result,
                  nlohmann::ordered_json& about) {
  const std::string group = local_group;
  ContactProblem& problem = result.problem;
  const std::size_t size = 3 * problem.contacts();
  problem.form = ContactProblem::Form::assembled;
  problem.r = reader.vector(group + "/vectors/q", size, "3 per contact");
  double asymmetry = 0;
  const SparseColumns n = symmetric_part(reader.matrix(group + "/W", size, size), asymmetry);
  problem.delassus = to_blocks(n);
  about["asymmetry_of_w"] = asymmetry;
  if (asymmetry > 1e-12) {
    result.notes.push_back(
        fmt::format("W is unsymmetric by {:.2g} of its largest entry: N = (W + W^T)/2", asymmetry));
  }
  if (reader.has_equality(group)) eliminate_equality(reader, factorise, result, about);
  problem.delassus.asymmetry = asymmetry;
}

/// Columns first to past of every `width` columns.
SparseColumns some_columns(const SparseColumns& a, int width, int first, int past) {
  std::vector<Triplet> triplets;
  const int taken = past - first;
  a.for_each([&](std::int32_t row, std::int32_t column, double value) {
    const int k = column % width;
    if (k < first || k >= past) return;
    triplets.push_back({row, column / width * taken + k - first, value});
  });
  return SparseColumns::from_triplets(a.rows, a.columns / width * taken, std::move(triplets));
}
std::vector<double> some_entries(const std::vector<double>& all, int width, int first, int past) {
  std::vector<double> some;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int k = static_cast<int>(i) % width;
    if (k >= first && k < past) some.push_back(all[i]);
  }
  return some;
}

/// The contacts with rolling friction, and how much.
void import_limits(const FclibReader& reader, const std::string& group, ContactProblem& problem) {
  const std::string path = group + "/vectors/mu_r";
  const std::vector<double> rho = reader.vector(path, problem.contacts(), "one per contact");
  for (std::size_t c = 0; c < rho.size(); ++c) {
    if (rho[c] < 0) {
      reader.refuse(fmt::format("{}[{}]", path, c), "a value >= 0", fmt::format("{}", rho[c]));
    }
    if (rho[c] == 0) continue;
    problem.rolling.contact.push_back(static_cast<std::int32_t>(c));
    problem.rolling.rho.push_back(rho[c]);
    problem.rolling.rows.push_back(2);
  }
}

void import_global(const FclibReader& reader, const std::string& group, FclibForm form,
                   const MassFactoriser& factorise, Imported& result,
                   nlohmann::ordered_json& about) {
  ContactProblem& problem = result.problem;
  const bool rolling = group == rolling_group;
  const int width = rolling ? 5 : 3;
  const std::size_t size = width * problem.contacts();
  MassForm given;
  const std::vector<double> w =
      reader.vector(group + "/vectors/w", size, fmt::format("{} per contact", width));
  given.f = reader.vector(group + "/vectors/f");
  const std::size_t velocities = given.f.size();
  double asymmetry = 0;
  given.mass = symmetric_part(reader.matrix(group + "/M", velocities, velocities), asymmetry);
  const SparseColumns h = reader.matrix(group + "/H", velocities, size);
  given.w = some_entries(w, width, 0, 3);
  given.contact = some_columns(h, width, 0, 3);
  given.w_rolling = some_entries(w, width, 3, width);
  given.rolling = some_columns(h, width, 3, width);
  if (rolling) import_limits(reader, group, problem);
  if (reader.has_equality(group)) {
    given.b = reader.vector(group + "/vectors/b");
    given.joint = reader.matrix(group + "/G", velocities, given.b.size());
    about["equality_rows"] = given.b.size();
  }
  about["velocities"] = velocities;
  about["asymmetry_of_m"] = asymmetry;
  if (asymmetry > 1e-12) {
    result.notes.push_back(
        fmt::format("M is unsymmetric by {:.2g} of its largest entry: (M + M^T)/2", asymmetry));
  }
  if (form != FclibForm::assembled) {
    const std::string fault = to_bodies(given, problem);
    if (fault.empty()) return;
    if (form == FclibForm::bodies || !given.b.empty() || rolling) {
      reader.refuse(group, "M and H of rigid bodies with orthonormal contact axes", fault);
    }
    result.notes.push_back("condensed to N = H^T M^-1 H, because " + fault);
  }
  if (rolling) {
    reader.refuse(group, "a problem without rolling friction for --form assembled", "one with it");
  }
  if (!given.b.empty()) {
    reader.refuse(group + "/G", "a problem without equality constraints for --form assembled",
                  "one with them");
  }
  problem.form = ContactProblem::Form::assembled;
  condense(given, factorise, reader.file().path(), group + "/M", problem.delassus, problem.r);
  problem.delassus.asymmetry = asymmetry;
}

/// gamma with the lambda of rows behind it, three per constraint.
void append_lambda(const FclibReader& reader, const std::string& dataset, const EqualityPool& pool,
                   std::vector<double>& gamma) {
  std::size_t rows = 0;
  for (const std::int32_t own : pool.rows) rows += static_cast<std::size_t>(own);
  std::vector<double> lambda(rows, 0.0);
  if (reader.file().has(dataset)) lambda = reader.vector(dataset, rows, "one per column of G");
  auto next = lambda.begin();
  for (const std::int32_t own : pool.rows) {
    for (std::int32_t row = 0; row < 3; ++row) gamma.push_back(row < own ? *next++ : 0);
  }
}

/// Guesses that say something, by the names fclib-1, fclib-2, ...
/// @param width  unknowns per contact
void import_guesses(const FclibReader& reader, int width, Imported& result) {
  const char* const count = "/guesses/number_of_guesses";
  if (!reader.file().has(count)) return;
  ContactProblem& problem = result.problem;
  const std::int64_t number = reader.number(count);
  int zeros = 0;
  for (std::int64_t k = 1; k <= number; ++k) {
    const std::string group = fmt::format("/guesses/{}", k);
    const std::vector<double> all = reader.vector(group + "/r", width * problem.contacts(),
                                                  fmt::format("{} per contact", width));
    std::vector<double> r = some_entries(all, width, 0, 3);
    for (const std::int32_t c : problem.rolling.contact) {
      r.insert(r.end(), {0, all[5 * c + 3], all[5 * c + 4]});
    }
    // Of constraints that are eliminated nobody asks for lambda.
    if (problem.equality.size() > 0) append_lambda(reader, group + "/l", problem.equality, r);
    if (is_zero(r)) {
      ++zeros;
      continue;
    }
    problem.guesses[fmt::format("fclib-{}", k)] = {std::move(r), group + " of the FCLIB file"};
  }
  if (zeros > 0) {
    result.notes.push_back(fmt::format("guesses of zeros left out: {} of {}", zeros, number));
  }
}

}  // namespace

Imported import_fclib(const std::string& path, FclibForm form, const MassFactoriser& factorise,
                      FclibGroup wanted) {
  const FclibReader reader(path);
  const std::string group = reader.problem_group(wanted);
  const bool local = group == local_group;
  const int width = group == rolling_group ? 5 : 3;
  const std::int64_t dimension = reader.number(group + "/spacedim");
  if (dimension != width) {
    reader.refuse(group + "/spacedim",
                  fmt::format("{}: contacts in space{}", width, width == 5 ? " that roll" : ""),
                  fmt::format("{}", dimension));
  }
  Imported result;
  ContactProblem& problem = result.problem;
  problem.name = valid_utf8(std::filesystem::path(path).stem().string());
  problem.mu = reader.vector(group + "/vectors/mu");
  const std::int64_t columns = reader.number(group + (local ? "/W/n" : "/H/n"));
  const auto n = static_cast<std::int64_t>(problem.contacts());
  if (width == 3 && (reader.file().has(group + "/vectors/mu_r") || (n > 0 && columns == 5 * n))) {
    reader.refuse(group, "3 unknowns per contact", "5: rolling friction");
  }
  const std::int64_t rows = local ? reader.number(group + "/W/m") : columns;
  if (rows != columns) {
    reader.refuse(group + "/W/m", fmt::format("{}", columns), fmt::format("{}", rows));
  }
  if (columns % width != 0) {
    reader.refuse(group + (local ? "/W/n" : "/H/n"), fmt::format("{} columns per contact", width),
                  fmt::format("{}", columns));
  }
  if (columns != width * n) {
    reader.refuse(group + "/vectors/mu", fmt::format("{} values, one per contact", columns / width),
                  fmt::format("{}", n));
  }

  nlohmann::ordered_json about;
  about["kind"] = local ? "local" : width == 5 ? "global, with rolling friction" : "global";
  for (const char* name : {"title", "description", "math_info"}) {
    about[name] = reader.text(group + "/info/" + name);
  }
  if (local) {
    import_local(reader, factorise, result, about);
  } else {
    import_global(reader, group, form, factorise, result, about);
  }
  if (reader.file().has("/solution/r")) {
    const std::vector<double> r = reader.vector("/solution/r", width * problem.contacts(),
                                                fmt::format("{} per contact", width));
    result.notes.emplace_back(is_zero(r) ? "/solution/r is all zeros: ignored"
                                         : "/solution is of Coulomb's law: not taken as reference");
  }
  import_guesses(reader, width, result);
  problem.source.kind = "imported";
  problem.source.description =
      fmt::format("{} problem {} of the Friction Contact Library", local ? "local" : "global",
                  valid_utf8(std::filesystem::path(path).filename().string()));
  // Texts may hold bytes that are no UTF-8.
  problem.source.parameters =
      about.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return result;
}

namespace {

class Fclib : public Importer {
 public:
  OptionList options() override {
    return OptionList("fclib", "importer")
        .choice("form", form_, {"auto", "bodies", "assembled"},
                "Of global problems: bodies, assembled, or bodies where M and H allow it")
        .choice("group", group_, {"auto", "local", "global", "rolling"},
                "Which problem of a file that holds several")
        .text("licence", licence_, "Of the data, as an SPDX identifier");
  }
  Imported read(const std::string& path, const ImportTools& tools) override {
    const FclibForm form = form_ == "bodies"      ? FclibForm::bodies
                           : form_ == "assembled" ? FclibForm::assembled
                                                  : FclibForm::automatic;
    FclibGroup group = FclibGroup::any;
    for (const GroupRow& row : group_table) {
      if (group_ == row.option) group = row.group;
    }
    Imported imported = import_fclib(path, form, tools.factorise, group);
    imported.problem.source.licence = licence_;
    return imported;
  }

 private:
  std::string form_ = "auto", group_ = "auto", licence_;
};

}  // namespace

std::unique_ptr<Importer> fclib_importer() {
  return std::make_unique<Fclib>();
}

}  // namespace ccp
