#include "problems/model/contact_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "problems/base/error.hpp"
#include "problems/base/sha256.hpp"
#include "problems/base/sym3.hpp"

namespace ccp {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the content hash is defined over little-endian bytes");

std::vector<ArrayField> array_fields(ContactProblem& p) {
  using Rows = ArrayField::Rows;
  std::vector<ArrayField> fields;
  const auto add = [&](const char* path, std::vector<double>& data, std::vector<std::size_t> tail,
                       Rows rows, bool required) {
    fields.push_back({path, &data, nullptr, nullptr, std::move(tail), rows, required});
  };
  add("/ccp/mu", p.mu, {}, Rows::contacts, true);
  add("/ccp/r", p.r, {3}, Rows::contacts, true);
  if (p.form == ContactProblem::Form::bodies) {
    const bool rotates = p.rotates();
    add("/bodies/inverse_mass", p.inverse_mass, {}, Rows::bodies, true);
    add("/bodies/inverse_inertia", p.inverse_inertia, {3, 3}, Rows::bodies, false);
    fields.push_back(
        {"/contacts/bodies", nullptr, &p.contact_bodies, nullptr, {2}, Rows::contacts, true});
    add("/contacts/frame", p.frame, {3, 3}, Rows::contacts, true);
    add("/contacts/arm_a", p.arm_a, {3}, Rows::contacts, rotates);
    add("/contacts/arm_b", p.arm_b, {3}, Rows::contacts, rotates);
    add("/contacts/gap", p.gap, {}, Rows::contacts, false);
    add("/contacts/stiffness", p.stiffness, {2}, Rows::contacts, false);
    add("/bodies/position", p.position, {3}, Rows::bodies, false);
    add("/bodies/orientation", p.orientation, {4}, Rows::bodies, false);
    add("/bodies/radius", p.radius, {}, Rows::bodies, false);
    add("/bodies/velocity", p.velocity, {6}, Rows::bodies, false);
  } else {
    fields.push_back(
        {"/delassus/row_offsets", nullptr, nullptr, &p.delassus.row_offsets, {}, Rows::free, true});
    fields.push_back(
        {"/delassus/columns", nullptr, &p.delassus.columns, nullptr, {}, Rows::free, true});
    add("/delassus/blocks", p.delassus.blocks, {3, 3}, Rows::free, true);
    add("/contacts/stiffness", p.stiffness, {2}, Rows::contacts, false);
  }
  add("/contacts/compliance", p.compliance, {2}, Rows::contacts, false);
  if (p.form == ContactProblem::Form::assembled) return fields;
  const bool rolling = p.has(ConstraintKind::rolling);
  fields.push_back(
      {"/rolling/contact", nullptr, &p.rolling.contact, nullptr, {}, Rows::rolling, false});
  add("/rolling/rho", p.rolling.rho, {}, Rows::rolling, rolling);
  add("/rolling/r", p.rolling.r, {3}, Rows::rolling, rolling);
  add("/rolling/compliance", p.rolling.compliance, {2}, Rows::rolling, false);
  fields.push_back({"/rolling/rows", nullptr, &p.rolling.rows, nullptr, {}, Rows::rolling, false});
  const bool equality = p.has(ConstraintKind::equality);
  fields.push_back(
      {"/equality/bodies", nullptr, &p.equality.bodies, nullptr, {2}, Rows::equality, equality});
  fields.push_back(
      {"/equality/rows", nullptr, &p.equality.rows, nullptr, {}, Rows::equality, false});
  add("/equality/jacobian_a", p.equality.jacobian_a, {3, 6}, Rows::equality, equality);
  add("/equality/jacobian_b", p.equality.jacobian_b, {3, 6}, Rows::equality, equality);
  add("/equality/r", p.equality.r, {3}, Rows::equality, equality);
  add("/equality/compliance", p.equality.compliance, {3}, Rows::equality, false);
  return fields;
}

std::size_t ArrayField::size() const {
  return doubles ? doubles->size() : ints ? ints->size() : longs->size();
}

std::size_t ArrayField::bytes() const {
  return size() * (doubles ? sizeof(double) : ints ? sizeof(std::int32_t) : sizeof(std::int64_t));
}

const void* ArrayField::data() const {
  if (doubles) return doubles->data();
  if (ints) return ints->data();
  return longs->data();
}

namespace {

std::size_t tail_size(const ArrayField& field) {
  std::size_t size = 1;
  for (const std::size_t extent : field.tail) size *= extent;
  return size;
}

void check_finite(const std::string& where, const std::string& path, const double* data,
                  std::size_t size, std::size_t width) {
  for (std::size_t i = 0; i < size; ++i) {
    if (!std::isfinite(data[i])) {
      throw InputError(where, fmt::format("{}[{}]", path, i / width), "a finite number",
                       fmt::format("{}", data[i]));
    }
  }
}

/// Measures are quotients of squares and products of what a problem is made of. Where these
/// overflow or vanish, everything looks solved.
void check_range(const std::string& where, const ArrayField& field) {
  constexpr double most = 1e60, least = 1e-60;
  const std::string path = field.path;
  const std::vector<double>& data = *field.doubles;
  double largest = 0;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (std::abs(data[i]) > most) {
      throw InputError(where, fmt::format("{}[{}]", path, i / tail_size(field)),
                       fmt::format("values up to {:g}, in SI units", most),
                       fmt::format("{:g}", data[i]));
    }
    largest = std::max(largest, std::abs(data[i]));
  }
  const bool scale =
      path == "/ccp/r" || path == "/bodies/inverse_mass" || path == "/delassus/blocks";
  if (scale && largest > 0 && largest < least) {
    throw InputError(where, path, fmt::format("zeros, or values above {:g}, in SI units", least),
                     fmt::format("nothing above {:g}", largest));
  }
}

/// How many rows an array must have, and what one of them belongs to; null: any number.
std::pair<std::size_t, const char*> rows_of(const ArrayField& field, const ContactProblem& p) {
  switch (field.rows) {
    case ArrayField::Rows::contacts:
      return {p.contacts(), "contact"};
    case ArrayField::Rows::bodies:
      return {p.bodies(), "body"};
    case ArrayField::Rows::rolling:
      return {p.rolling.size(), "rolling contact"};
    case ArrayField::Rows::equality:
      return {p.equality.size(), "equality constraint"};
    case ArrayField::Rows::free:
      break;
  }
  return {0, nullptr};
}

void check_shapes(const std::string& where, ContactProblem& p) {
  for (const ArrayField& field : array_fields(p)) {
    const std::size_t size = field.size();
    if (size == 0 && !field.required) continue;
    if (const auto [rows, of] = rows_of(field, p); of != nullptr) {
      const std::size_t expected = rows * tail_size(field);
      if (size != expected) {
        throw InputError(where, field.path,
                         fmt::format("{} values ({} per {})", expected, tail_size(field), of),
                         fmt::format("{}", size));
      }
    }
    if (field.doubles) {
      check_finite(where, field.path, field.doubles->data(), size, tail_size(field));
      check_range(where, field);
    }
  }
}

void check_not_negative(const std::string& where, const char* path, const std::vector<double>& data,
                        std::size_t width = 1) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data[i] < 0) {
      throw InputError(where, fmt::format("{}[{}]", path, i / width), "a value >= 0",
                       fmt::format("{}", data[i]));
    }
  }
}

void check_identity(const std::string& where, const ContactProblem& p) {
  if (p.identity.empty()) return;
  if (p.identity.size() != p.contacts()) {
    throw InputError(where, "/contacts/identity", fmt::format("{} values", p.contacts()),
                     fmt::format("{}", p.identity.size()));
  }
  std::unordered_map<std::int64_t, std::size_t> seen;
  for (std::size_t c = 0; c < p.contacts(); ++c) {
    const auto [first, is_new] = seen.emplace(p.identity[c], c);
    if (!is_new) {
      throw InputError(where, fmt::format("/contacts/identity[{}]", c), "each number once",
                       fmt::format("{}, as in row {}", p.identity[c], first->second));
    }
  }
}

constexpr double tolerance = 1e-8;  // for what must be orthonormal, of unit length or symmetric

/// Pair c of a list of bodies A and B.
void check_pair(const std::string& where, const char* path, const std::vector<std::int32_t>& bodies,
                std::size_t c, std::int64_t m) {
  const std::int64_t a = bodies[2 * c], b = bodies[2 * c + 1];
  const auto in_range = [m](std::int64_t body) { return body >= -1 && body < m; };
  if (!in_range(a) || !in_range(b)) {
    throw InputError(where, fmt::format("{}[{}]", path, c),
                     fmt::format("body indices in [-1, {})", m), fmt::format("({}, {})", a, b));
  }
  if (a == b) {
    throw InputError(where, fmt::format("{}[{}]", path, c),
                     "two different bodies, at most one of them immovable (-1)",
                     fmt::format("({}, {})", a, b));
  }
}

/// About the normal of a rolling triple of two rows.
void check_no_twist(const std::string& where, const std::string& place, double value) {
  if (value == 0) return;
  throw InputError(where, place, "0 about the normal, for a rolling triple of 2 rows",
                   fmt::format("{}", value));
}

void check_rolling(const std::string& where, const ContactProblem& p) {
  const RollingPool& pool = p.rolling;
  if (pool.size() > 0 && !p.rotates()) {
    throw InputError(where, "/rolling", "bodies that rotate (/bodies/inverse_inertia)", "none");
  }
  for (std::size_t k = 0; k < pool.size(); ++k) {
    const std::int64_t c = pool.contact[k], least = k == 0 ? 0 : pool.contact[k - 1] + 1;
    if (c < least || c >= static_cast<std::int64_t>(p.contacts())) {
      throw InputError(where, fmt::format("/rolling/contact[{}]", k),
                       fmt::format("ascending contacts in [0, {})", p.contacts()),
                       fmt::format("{}", c));
    }
  }
  check_not_negative(where, "/rolling/rho", pool.rho);
  check_not_negative(where, "/rolling/compliance", pool.compliance, 2);
  for (std::size_t k = 0; k < pool.rows.size(); ++k) {
    if (pool.rows[k] != 2 && pool.rows[k] != 3) {
      throw InputError(where, fmt::format("/rolling/rows[{}]", k), "2 or 3 rows",
                       fmt::format("{}", pool.rows[k]));
    }
    if (pool.twists(k)) continue;
    check_no_twist(where, fmt::format("/rolling/r[{}]", k), pool.r[3 * k]);
    if (pool.compliance.empty()) continue;
    check_no_twist(where, fmt::format("/rolling/compliance[{}]", k), pool.compliance[2 * k]);
  }
}

/// Impulses of all triples have no moment about the normal where that row is missing.
void check_moments(const std::string& where, const std::string& path, const ContactProblem& p,
                   const std::vector<double>& gamma) {
  for (std::size_t k = 0; k < p.rolling.rows.size(); ++k) {
    const std::size_t t = p.contacts() + k;
    if (!p.rolling.twists(k)) check_no_twist(where, fmt::format("{}[{}]", path, t), gamma[3 * t]);
  }
}

/// Triple k of an array has zeros in the rows that are not in use; an empty array is all zeros.
void check_unused_rows(const std::string& where, const char* path, const std::vector<double>& data,
                       std::size_t k, std::int32_t rows) {
  for (std::size_t row = static_cast<std::size_t>(rows); row < 3 && !data.empty(); ++row) {
    if (data[3 * k + row] == 0) continue;
    throw InputError(where, fmt::format("{}[{}]", path, k),
                     fmt::format("zeros after its {} rows", rows),
                     fmt::format("{}", data[3 * k + row]));
  }
}

void check_equality(const std::string& where, const ContactProblem& p) {
  const EqualityPool& pool = p.equality;
  for (std::size_t k = 0; k < pool.size(); ++k) {
    check_pair(where, "/equality/bodies", pool.bodies, k, static_cast<std::int64_t>(p.bodies()));
    const std::int32_t rows = pool.rows[k];
    if (rows < 1 || rows > 3) {
      throw InputError(where, fmt::format("/equality/rows[{}]", k), "1 to 3",
                       fmt::format("{}", rows));
    }
    check_unused_rows(where, "/equality/r", pool.r, k, rows);
    check_unused_rows(where, "/equality/compliance", pool.compliance, k, rows);
    for (const auto* jacobian : {&pool.jacobian_a, &pool.jacobian_b}) {
      const auto begin = jacobian->begin() + static_cast<std::ptrdiff_t>(18 * k + 6 * rows),
                 end = jacobian->begin() + static_cast<std::ptrdiff_t>(18 * (k + 1));
      if (std::any_of(begin, end, [](double entry) { return entry != 0; })) {
        throw InputError(where, fmt::format("/equality/jacobian of constraint {}", k),
                         fmt::format("zeros after its {} rows", rows), "something else");
      }
    }
  }
  check_not_negative(where, "/equality/compliance", pool.compliance, 3);
}

void check_bodies(const std::string& where, const ContactProblem& p) {
  const auto m = static_cast<std::int64_t>(p.bodies());
  check_not_negative(where, "/bodies/inverse_mass", p.inverse_mass);
  for (std::size_t i = 0; i < p.radius.size(); ++i) {
    if (!(p.radius[i] > 0)) {
      throw InputError(where, fmt::format("/bodies/radius[{}]", i), "a radius > 0",
                       fmt::format("{}", p.radius[i]));
    }
  }
  for (std::size_t i = 0; i < p.inverse_inertia.size() / 9; ++i) {
    const double* a = &p.inverse_inertia[9 * i];
    double scale = 0, skew = 0;
    for (int j = 0; j < 9; ++j) scale = std::max(scale, std::abs(a[j]));
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < j; ++k) skew = std::max(skew, std::abs(a[3 * j + k] - a[3 * k + j]));
    }
    if (skew > tolerance * scale || a[0] < 0 || a[4] < 0 || a[8] < 0) {
      throw InputError(
          where, fmt::format("/bodies/inverse_inertia[{}]", i),
          "a symmetric matrix with diagonal >= 0",
          fmt::format("diagonal {}, {}, {}, asymmetry {:.3g}", a[0], a[4], a[8], skew));
    }
    const double least = smallest_eigenvalue({a[0], a[1], a[2], a[4], a[5], a[8]});
    if (least < -1e-6 * std::max({a[0], a[4], a[8]})) {
      throw InputError(where, fmt::format("/bodies/inverse_inertia[{}]", i),
                       "a positive semidefinite matrix",
                       fmt::format("one with the eigenvalue {:.3g}", least));
    }
  }
  for (std::size_t i = 0; i < p.orientation.size() / 4; ++i) {
    double square = 0;
    for (int k = 0; k < 4; ++k) square += p.orientation[4 * i + k] * p.orientation[4 * i + k];
    if (std::abs(square - 1) > tolerance) {
      throw InputError(where, fmt::format("/bodies/orientation[{}]", i), "a unit quaternion",
                       fmt::format("length {}", std::sqrt(square)));
    }
  }
  for (std::size_t c = 0; c < p.contacts(); ++c) {
    check_pair(where, "/contacts/bodies", p.contact_bodies, c, m);
    const double* f = &p.frame[9 * c];
    double worst = 0;
    for (int i = 0; i < 3; ++i) {
      for (int j = i; j < 3; ++j) {
        const double dot =
            f[3 * i] * f[3 * j] + f[3 * i + 1] * f[3 * j + 1] + f[3 * i + 2] * f[3 * j + 2];
        worst = std::max(worst, std::abs(dot - (i == j ? 1.0 : 0.0)));
      }
    }
    if (worst > tolerance) {
      throw InputError(where, fmt::format("/contacts/frame[{}]", c),
                       fmt::format("orthonormal rows n, t1, t2 (to {:g})", tolerance),
                       fmt::format("max|F F^T - I| = {:.3g}", worst));
    }
  }
}

/// Block k of a row must be the transpose of the block across the diagonal.
void check_partner(const std::string& where, const BlockMatrix& a, std::int64_t row, std::int64_t k,
                   double allowed) {
  const std::int64_t column = a.columns[k];
  const auto begin = a.columns.begin() + a.row_offsets[column];
  const auto end = a.columns.begin() + a.row_offsets[column + 1];
  const auto found = std::lower_bound(begin, end, row);
  double skew = 0;
  if (found == end || *found != row) {
    skew = std::numeric_limits<double>::infinity();
  } else {
    const std::int64_t other = found - a.columns.begin();
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        skew =
            std::max(skew, std::abs(a.blocks[9 * k + 3 * i + j] - a.blocks[9 * other + 3 * j + i]));
      }
    }
  }
  if (skew > allowed) {
    throw InputError(where, fmt::format("/delassus block ({}, {})", row, column),
                     fmt::format("the transpose of block ({}, {})", column, row),
                     fmt::format("a difference of {:.3g}", skew));
  }
}

void check_delassus(const std::string& where, const ContactProblem& p) {
  const BlockMatrix& a = p.delassus;
  const auto n = static_cast<std::int64_t>(p.contacts());
  const auto blocks = static_cast<std::int64_t>(a.columns.size());
  if (a.row_offsets.size() != p.contacts() + 1 || a.row_offsets.front() != 0 ||
      a.row_offsets.back() != blocks) {
    throw InputError(where, "/delassus/row_offsets",
                     fmt::format("{} offsets from 0 to {}", n + 1, blocks),
                     fmt::format("{} values", a.row_offsets.size()));
  }
  if (static_cast<std::int64_t>(a.blocks.size()) != 9 * blocks) {
    throw InputError(where, "/delassus/blocks", fmt::format("{} values", 9 * blocks),
                     fmt::format("{}", a.blocks.size()));
  }
  for (std::int64_t row = 0; row < n; ++row) {
    if (a.row_offsets[row + 1] < a.row_offsets[row] || a.row_offsets[row + 1] > blocks) {
      throw InputError(where, fmt::format("/delassus/row_offsets[{}]", row + 1),
                       "ascending offsets", fmt::format("{}", a.row_offsets[row + 1]));
    }
    for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
      const std::int64_t column = a.columns[k];
      if (column < 0 || column >= n || (k > a.row_offsets[row] && column <= a.columns[k - 1])) {
        throw InputError(where, fmt::format("/delassus/columns[{}]", k),
                         fmt::format("ascending block columns in [0, {})", n),
                         fmt::format("{}", column));
      }
    }
  }
  double largest = 0;
  for (const double value : a.blocks) largest = std::max(largest, std::abs(value));
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
      check_partner(where, a, row, k, tolerance * largest);
    }
  }
}

}  // namespace

bool ContactProblem::has(ConstraintKind kind) const {
  switch (kind) {
    case ConstraintKind::contact:
      return contacts() > 0;
    case ConstraintKind::rolling:
      return rolling.size() > 0;
    case ConstraintKind::equality:
      return equality.size() > 0;
  }
  return false;
}

void ContactProblem::validate(const std::string& where) const {
  // array_fields() hands out mutable pointers for the reader; nothing is changed here.
  auto& self = const_cast<ContactProblem&>(*this);
  check_shapes(where, self);
  check_not_negative(where, "/ccp/mu", mu);
  for (std::size_t i = 0; i < stiffness.size(); ++i) {
    if (!(stiffness[i] > 0)) {
      throw InputError(where, fmt::format("/contacts/stiffness[{}]", i / 2), "a stiffness > 0",
                       fmt::format("{}", stiffness[i]));
    }
  }
  check_not_negative(where, "/contacts/compliance", compliance, 2);
  check_identity(where, *this);
  if (!std::isfinite(dt) || dt < 0) {
    throw InputError(where, "/ccp attribute dt", "a time step >= 0", fmt::format("{}", dt));
  }
  check_finite(where, "/ccp attribute gravity", gravity.data(), 3, 1);
  if (form == Form::bodies) {
    check_bodies(where, *this);
    check_rolling(where, *this);
    check_equality(where, *this);
  } else {
    if (has(ConstraintKind::rolling) || has(ConstraintKind::equality)) {
      throw InputError(where, has(ConstraintKind::rolling) ? "/rolling" : "/equality",
                       "the bodies form", "the assembled one");
    }
    check_delassus(where, *this);
  }
  for (const auto& [guess, values] : guesses) {
    const std::string path = "/guesses/" + guess + "/gamma";
    const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; };
    if (guess.empty() || guess == "cold" || guess == "reference" ||
        !std::all_of(guess.begin(), guess.end(), plain)) {
      throw InputError(where, "/guesses",
                       "names of letters, digits, '-' and '_', other than 'cold' and 'reference'",
                       "'" + guess + "'");
    }
    if (values.gamma.size() != 3 * triples()) {
      throw InputError(where, path, fmt::format("{} values", 3 * triples()),
                       fmt::format("{}", values.gamma.size()));
    }
    check_finite(where, path, values.gamma.data(), values.gamma.size(), 3);
    check_moments(where, path, *this, values.gamma);
  }
  if (!reference) return;
  if (reference->gamma.size() != 3 * triples()) {
    throw InputError(where, "/reference/gamma", fmt::format("{} values", 3 * triples()),
                     fmt::format("{}", reference->gamma.size()));
  }
  check_finite(where, "/reference/gamma", reference->gamma.data(), reference->gamma.size(), 3);
  check_moments(where, "/reference/gamma", *this, reference->gamma);
  if (!reference->velocity.empty() && reference->velocity.size() != 6 * bodies()) {
    throw InputError(where, "/reference/velocity", fmt::format("{} values", 6 * bodies()),
                     fmt::format("{}", reference->velocity.size()));
  }
  check_finite(where, "/reference/velocity", reference->velocity.data(), reference->velocity.size(),
               6);
}

std::string ContactProblem::content_hash() const {
  auto& self = const_cast<ContactProblem&>(*this);
  Sha256 hash;
  hash.update(std::string("ccpbench-problem 1\n"));
  hash.update(std::string(form == Form::bodies ? "bodies\n" : "assembled\n"));
  const double scalars[4] = {dt, gravity[0], gravity[1], gravity[2]};
  hash.update(scalars, sizeof scalars);
  for (const ArrayField& field : array_fields(self)) {
    const std::uint64_t size = field.size();
    if (size == 0 && !field.required) continue;
    hash.update(field.path + "\n");
    hash.update(&size, sizeof size);
    hash.update(field.data(), field.bytes());
  }
  return hash.hex();
}

}  // namespace ccp
