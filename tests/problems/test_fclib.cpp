// FCLIB files: every storage of matrices, both kinds of problems, what is refused, and the real
// files.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "problems/base/hdf5_file.hpp"
#include "problems/formats/fclib/export_fclib.hpp"
#include "problems/formats/fclib/import_fclib.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/model/constraint_math.hpp"
#include "problems/model/impulses.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

using Ints = std::vector<std::int32_t>;
using Doubles = std::vector<double>;

/// Cholesky, dense: slow and independent of ours.
MassSolve dense_factoriser(const std::vector<std::int64_t>& offset, const std::vector<int>& row,
                           const std::vector<double>& value) {
  const std::size_t n = offset.size() - 1;
  Doubles l(n * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::int64_t k = offset[j]; k < offset[j + 1]; ++k) l[row[k] * n + j] = value[k];
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) l[i * n + j] -= l[i * n + k] * l[j * n + k];
      if (i == j) {
        if (!(l[j * n + j] > 0)) return {};
        l[j * n + j] = std::sqrt(l[j * n + j]);
      } else {
        l[i * n + j] /= l[j * n + j];
      }
    }
  }
  return [l, n](Doubles& x) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < i; ++k) x[i] -= l[i * n + k] * x[k];
      x[i] /= l[i * n + i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) x[i] -= l[k * n + i] * x[k];
      x[i] /= l[i * n + i];
    }
  };
}

Imported import_file(const std::string& path, FclibForm form = FclibForm::automatic) {
  return import_fclib(path, form, dense_factoriser);
}

/// The assembled N, dense.
Doubles dense(const ContactProblem& p) {
  const std::size_t size = 3 * p.contacts();
  Doubles a(size * size, 0.0);
  for (std::size_t c = 0; c < p.contacts(); ++c) {
    for (std::int64_t k = p.delassus.row_offsets[c]; k < p.delassus.row_offsets[c + 1]; ++k) {
      for (std::size_t l = 0; l < 9; ++l) {
        a[(3 * c + l / 3) * size + 3 * p.delassus.columns[k] + l % 3] =
            p.delassus.blocks[9 * k + l];
      }
    }
  }
  return a;
}

void put(Hdf5File& file, const std::string& dataset, std::int32_t value) {
  file.write(dataset, Ints{value}, {1});
}

enum class Storage { columns, rows, triplets, swapped_triplets };

/// A dense matrix [m x n], row-major, in one of FCLIB's storages; triplets with room to spare.
void put_matrix(Hdf5File& file, const std::string& group, const Doubles& a, int m, int n,
                Storage storage) {
  Ints p, i;
  Doubles x;
  if (storage == Storage::columns || storage == Storage::rows) {
    const bool rows = storage == Storage::rows;
    p.push_back(0);
    for (int j = 0; j < (rows ? m : n); ++j) {
      for (int k = 0; k < (rows ? n : m); ++k) {
        const double value = rows ? a[j * n + k] : a[k * n + j];
        if (value == 0) continue;
        i.push_back(k);
        x.push_back(value);
      }
      p.push_back(static_cast<std::int32_t>(i.size()));
    }
    put(file, group + "/nz", rows ? -2 : -1);
  } else {
    for (int j = n; j-- > 0;) {  // in no order that would help
      for (int k = 0; k < m; ++k) {
        if (a[k * n + j] == 0) continue;
        i.push_back(k);
        p.push_back(j);
        x.push_back(a[k * n + j]);
      }
    }
    put(file, group + "/nz", static_cast<std::int32_t>(x.size()));
    i.insert(i.end(), 5, 0);
    p.insert(p.end(), 5, 0);
    x.insert(x.end(), 5, 1e9);
    if (storage == Storage::swapped_triplets) std::swap(i, p);
  }
  put(file, group + "/nzmax", static_cast<std::int32_t>(x.size()));
  put(file, group + "/m", m);
  put(file, group + "/n", n);
  file.write(group + "/p", p, {p.size()});
  file.write(group + "/i", i, {i.size()});
  file.write(group + "/x", x, {x.size()});
}

// Two contacts; W is symmetric but for one entry.
const Doubles unsymmetric = {4, 0, 0, 1, 0,   0,  //
                             0, 3, 0, 0, 0.5, 0,  //
                             0, 0, 3, 0, 0,   0,  //
                             1, 0, 0, 5, 0,   0,  //
                             0, 1, 0, 0, 2,   0,  //
                             0, 0, 0, 0, 0,   2};

/// A local file; `change` may spoil it before it is written.
template <class Change>
std::string local_file(const TemporaryFolder& folder, const Doubles& w, Storage storage,
                       const Change& change) {
  const std::string path = folder.file("local.hdf5");
  Hdf5File file = Hdf5File::create(path, true);
  put(file, "/fclib_local/spacedim", 3);
  put_matrix(file, "/fclib_local/W", w, 6, 6, storage);
  file.write("/fclib_local/vectors/q", Doubles{-1, 0, 0.5, -2, 0, 0}, {6});
  file.write("/fclib_local/vectors/mu", Doubles{0.3, 0}, {2});
  file.write_text("/fclib_local/info/title", "two");
  change(file);
  file.commit();
  return path;
}
std::string local_file(const TemporaryFolder& folder, const Doubles& w, Storage storage) {
  return local_file(folder, w, storage, [](Hdf5File&) {});
}

}  // namespace

TEST_CASE("FCLIB: a local problem in every storage of its matrix") {
  const TemporaryFolder folder;
  Doubles expected = unsymmetric;
  expected[6 * 1 + 4] = expected[6 * 4 + 1] = 0.75;
  for (const Storage storage :
       {Storage::columns, Storage::rows, Storage::triplets, Storage::swapped_triplets}) {
    const Imported imported = import_file(local_file(folder, unsymmetric, storage));
    const ContactProblem& p = imported.problem;
    p.validate("imported");
    CHECK(p.form == ContactProblem::Form::assembled);
    CHECK(p.mu == Doubles{0.3, 0});
    CHECK(p.r == Doubles{-1, 0, 0.5, -2, 0, 0});
    CHECK(dense(p) == expected);
    CHECK(p.delassus.asymmetry == 0.1);  // 0.5 of 5
    REQUIRE(imported.notes.size() == 1);
    check_parts(imported.notes[0], {"unsymmetric by 0.1"});
    const auto about = nlohmann::json::parse(p.source.parameters);
    CHECK(about["title"] == "two");
    CHECK(about["asymmetry_of_w"] == 0.1);
  }
}

TEST_CASE("FCLIB: a contact whose W is zero keeps its place") {
  const TemporaryFolder folder;
  Doubles w = unsymmetric;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 6; ++j) w[6 * i + j] = w[6 * j + i] = 0;
  }
  const ContactProblem p = import_file(local_file(folder, w, Storage::columns)).problem;
  p.validate("imported");
  CHECK(dense(p) == w);
}

// One deformable body of four velocities, two contacts on it. By hand from the definition.
TEST_CASE("FCLIB: a global problem is condensed") {
  const Doubles m = {2, 1, 0, 0, 1, 2, 0, 0, 0, 0, 4, 0, 0, 0, 0, 5};
  const Doubles h = {1, 0, 0, 0, 0, 0,  //
                     0, 1, 0, 1, 0, 0,  //
                     0, 0, 1, 0, 2, 0,  //
                     0, 0, 0, 0, 0, 1};
  const Doubles f = {3, 0, 4, 5}, w = {0, 0, 0, 10, 0, 0};
  const TemporaryFolder folder;
  const std::string path = folder.file("global.hdf5");
  for (const Storage storage :
       {Storage::columns, Storage::rows, Storage::triplets, Storage::swapped_triplets}) {
    {
      Hdf5File file = Hdf5File::create(path, true);
      put(file, "/fclib_global/spacedim", 3);
      put_matrix(file, "/fclib_global/M", m, 4, 4, storage);
      put_matrix(file, "/fclib_global/H", h, 4, 6, storage);
      file.write("/fclib_global/vectors/f", f, {4});
      file.write("/fclib_global/vectors/w", w, {6});
      file.write("/fclib_global/vectors/mu", Doubles{1, 1}, {2});
      file.commit();
    }
    const Imported imported = import_file(path);
    REQUIRE(imported.notes.size() == 1);
    check_parts(imported.notes[0], {"condensed", "no multiple of 3"});
    const ContactProblem& p = imported.problem;
    p.validate("imported");
    // M^-1 of the first two: (2, -1; -1, 2)/3; v = M^-1 f = (2, -1, 1, 1).
    const double a = 2.0 / 3, b = -1.0 / 3;
    const Doubles expected = {a, b, 0,    b, 0,   0,  //
                              b, a, 0,    a, 0,   0,  //
                              0, 0, 0.25, 0, 0.5, 0,  //
                              b, a, 0,    a, 0,   0,  //
                              0, 0, 0.5,  0, 1,   0,  //
                              0, 0, 0,    0, 0,   0.2};
    CHECK(relative_difference(dense(p), expected) < 1e-15);
    CHECK(relative_difference(p.r, {2, -1, 1, 9, 2, 1}) < 1e-15);
    check_parts(error_of([&] { import_file(path, FclibForm::bodies); }),
                {path, "/fclib_global", "rigid bodies", "no multiple of 3"});
  }
}

TEST_CASE("FCLIB: bodies go out as masses and come back as bodies") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.hdf5");
  for (const bool rotates : {false, true}) {
    RandomShape shape;
    shape.rotates = rotates;
    ContactProblem problem = random_problem(shape);
    // FCLIB knows no bodies of infinite mass; they become part of the ground.
    for (std::size_t b = 0; b < problem.bodies(); ++b) {
      if (problem.inverse_mass[b] > 0) continue;
      problem.inverse_mass[b] = 0.5;
      if (rotates) {
        for (int i = 0; i < 3; ++i) problem.inverse_inertia[9 * b + 4 * i] = 1;
      }
    }
    export_fclib(path, problem, false, dense_factoriser, true);
    const Imported back = import_file(path);
    CHECK(back.notes.empty());
    back.problem.validate("imported");
    REQUIRE(back.problem.form == ContactProblem::Form::bodies);
    CHECK(back.problem.rotates() == rotates);
    CHECK(back.problem.r == problem.r);
    CHECK(back.problem.mu == problem.mu);
    const Doubles n = dense_delassus(problem);
    CHECK(relative_difference(dense_delassus(back.problem), n) < 1e-13);

    const ContactProblem condensed = import_file(path, FclibForm::assembled).problem;
    condensed.validate("condensed");
    CHECK(relative_difference(dense(condensed), n) < 1e-13);
    CHECK(relative_difference(condensed.r, problem.r) < 1e-15);

    export_fclib(path, problem, true, dense_factoriser, true);
    const ContactProblem local = import_file(path).problem;
    CHECK(relative_difference(dense(local), n) < 1e-13);
    CHECK(local.r == problem.r);
  }
}

TEST_CASE("FCLIB: immovable bodies leave their contacts") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.hdf5");
  RandomShape shape;  // has a body of infinite mass
  const ContactProblem problem = random_problem(shape);
  REQUIRE(std::count(problem.inverse_mass.begin(), problem.inverse_mass.end(), 0.0) == 1);
  export_fclib(path, problem, true, dense_factoriser, false);
  CHECK(relative_difference(dense(import_file(path).problem), dense_delassus(problem)) < 1e-13);
}

TEST_CASE("FCLIB: every scene survives the way out and back") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.hdf5");
  for (const HandScene& scene : hand_scenes()) {
    INFO(scene.name);
    const ContactProblem problem = make_scene(scene.name);
    export_fclib(path, problem, false, dense_factoriser, true);
    const ContactProblem back = import_file(path).problem;
    back.validate("imported");
    CHECK(back.mu == problem.mu);
    CHECK(back.r == problem.r);
    const bool bodies = problem.form == ContactProblem::Form::bodies;
    CHECK(relative_difference(bodies ? dense_delassus(back) : dense(back),
                              bodies ? dense_delassus(problem) : dense(problem)) < 1e-14);
  }
}

TEST_CASE("FCLIB: reference and guesses go out as guesses and come back") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.hdf5");
  ContactProblem scene = make_scene("sliding-block");
  scene.guesses["zero"] = {{0, 0, 0}, "nothing"};
  scene.guesses["other"] = {{1, 2, 3}, "made up"};
  export_fclib(path, scene, false, dense_factoriser, false);
  const Imported back = import_file(path);
  back.problem.validate("imported");
  REQUIRE(back.problem.guesses.size() == 2);
  CHECK(back.problem.guesses.at("fclib-1").gamma == scene.reference->gamma);
  CHECK(back.problem.guesses.at("fclib-2").gamma == Doubles{1, 2, 3});
  REQUIRE(back.notes.size() == 1);
  check_parts(back.notes[0], {"zeros", "1 of 3"});
  const Hdf5File file = Hdf5File::open(path);
  CHECK_FALSE(file.has("/solution"));
  CHECK(relative_difference(file.read<double>("/guesses/1/r").data, {0.96, -0.48, 0}) < 1e-15);
  CHECK(relative_difference(file.read<double>("/guesses/1/u").data, {0.38, 0.76, 0}) < 1e-14);
  CHECK(file.read<double>("/guesses/1/v").data.size() == 3);
}

namespace {

/// Joints of one, two and three rows, one of them with the ground, on the bodies of a problem that
/// has none.
ContactProblem with_joints(bool rotates) {
  RandomShape shape;
  shape.rotates = rotates;
  ContactProblem p = random_problem(shape);
  for (std::size_t b = 0; b < p.bodies(); ++b) {
    if (p.inverse_mass[b] > 0) continue;
    p.inverse_mass[b] = 0.5;
    for (std::size_t i = 0; rotates && i < 3; ++i) p.inverse_inertia[9 * b + 4 * i] = 1;
  }
  EqualityPool& pool = p.equality;
  pool.bodies = {0, 1, -1, 2, 1, 3};
  pool.rows = {3, 2, 1};
  pool.jacobian_a = random_vector(54, 31);
  pool.jacobian_b = random_vector(54, 32);
  pool.r = random_vector(9, 33);
  for (std::size_t row = 0; row < 9; ++row) {
    const bool in_use = static_cast<std::int32_t>(row % 3) < pool.rows[row / 3];
    if (!in_use) pool.r[row] = 0;
    for (std::size_t k = 0; k < 6; ++k) {
      if (in_use && (rotates || k < 3)) continue;
      pool.jacobian_a[6 * row + k] = pool.jacobian_b[6 * row + k] = 0;
    }
  }
  std::fill(pool.jacobian_a.begin() + 18, pool.jacobian_a.begin() + 36, 0.0);
  p.validate("joints");
  return p;
}

}  // namespace

TEST_CASE("FCLIB: equality constraints of bodies go out as G and b and come back") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.hdf5");
  for (const bool rotates : {false, true}) {
    ContactProblem p = with_joints(rotates);
    Doubles gamma = random_vector(3 * p.triples(), 34);
    const std::size_t first = 3 * p.contacts();
    for (const std::size_t unused : {5, 7, 8}) gamma[first + unused] = 0;
    p.guesses["made up"] = {gamma, "random"};
    export_fclib(path, p, false, dense_factoriser, true);
    const Imported back = import_file(path);
    CHECK(back.notes.empty());
    back.problem.validate("imported");
    const EqualityPool &found = back.problem.equality, &given = p.equality;
    CHECK(found.bodies == given.bodies);
    CHECK(found.rows == given.rows);
    CHECK(found.jacobian_a == given.jacobian_a);
    CHECK(found.jacobian_b == given.jacobian_b);
    CHECK(found.r == given.r);
    CHECK(back.problem.guesses.at("fclib-1").gamma == gamma);
    // What the impulses do to the bodies, as the file says it and as the problem does.
    const Hdf5File file = Hdf5File::open(path);
    CHECK(file.read<double>("/guesses/1/l").data.size() == 6);
    const Doubles changes = body_velocity_changes(p, gamma);
    Doubles v;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      if (rotates || i % 6 < 3) v.push_back(changes[i]);
    }
    CHECK(relative_difference(file.read<double>("/guesses/1/v").data, v) < 1e-13);
    check_parts(error_of([&] { import_file(path, FclibForm::assembled); }),
                {"/fclib_global/G", "--form assembled"});
  }
}

TEST_CASE("FCLIB: equality constraints of bodies go out as V, R and s of a local problem") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.hdf5");
  for (const bool compliant : {false, true}) {
    ContactProblem p = with_joints(true);
    if (compliant) {
      p.compliance = Doubles(2 * p.contacts(), 0.25);
      p.equality.compliance = {0.1, 0.2, 0.3, 0.4, 0.5, 0, 0.6, 0, 0};
    }
    Doubles gamma = random_vector(3 * p.triples(), 35);
    const std::size_t n = 3 * p.contacts();
    for (const std::size_t unused : {5, 7, 8}) gamma[n + unused] = 0;
    p.guesses["made up"] = {gamma, "random"};
    export_fclib(path, p, true, dense_factoriser, true);
    const Hdf5File file = Hdf5File::open(path);
    CHECK(file.read<double>("/fclib_local/vectors/s").data ==
          Doubles{p.equality.r[0], p.equality.r[1], p.equality.r[2], p.equality.r[3],
                  p.equality.r[4], p.equality.r[6]});
    CHECK(file.read<double>("/guesses/1/l").data.size() == 6);

    // u of the guess is what the impulses of all kinds make of the contacts.
    const Doubles v = body_velocity_changes(p, gamma);
    Doubles u;
    for (std::size_t c = 0; c < p.contacts(); ++c) {
      Vec3 d;
      for (int side = 0; side < 2; ++side) {
        const std::int32_t i = p.contact_bodies[2 * c + static_cast<std::size_t>(side)];
        if (i < 0) continue;
        const auto b = static_cast<std::size_t>(i);
        d = d + side_sign(side) *
                    velocity_at(triple(v, 2 * b), triple(v, 2 * b + 1), arm_of(p, c, side));
      }
      const Vec3 own = to_contact_axes(&p.frame[9 * c], d);
      u.insert(u.end(), {own.x, own.y, own.z});
    }
    for (std::size_t i = 0; i < n; ++i) u[i] += p.r[i] + (compliant ? 0.25 * gamma[i] : 0);
    CHECK(relative_difference(file.read<double>("/guesses/1/u").data, u) < 1e-12);

    const Imported back = import_file(path);
    back.problem.validate("imported");
    check_parts(back.notes.back(), {"6 equality rows", "eliminated"});
    CHECK(back.problem.contacts() == p.contacts());
    CHECK(back.problem.guesses.at("fclib-1").gamma.size() == n);
  }
}

TEST_CASE("FCLIB: a force on bodies with joints becomes a part of their free velocities") {
  const TemporaryFolder folder;
  const std::string path = folder.file("force.hdf5");
  Hdf5File file = Hdf5File::create(path, true);
  put(file, "/fclib_global/spacedim", 3);
  // Two bodies of 2 kg, one on the ground (n = z); a rod along x between them.
  Doubles mass(36, 0.0), contact(18, 0.0);
  for (std::size_t i = 0; i < 6; ++i) mass[7 * i] = 2;
  contact[2 * 3] = contact[0 * 3 + 1] = contact[1 * 3 + 2] = 1;
  put_matrix(file, "/fclib_global/M", mass, 6, 6, Storage::columns);
  put_matrix(file, "/fclib_global/H", contact, 6, 3, Storage::rows);
  put_matrix(file, "/fclib_global/G", Doubles{-1, 0, 0, 1, 0, 0}, 6, 1, Storage::triplets);
  file.write("/fclib_global/vectors/f", Doubles{4, 0, -6, 10, 0, 0}, {6});
  file.write("/fclib_global/vectors/w", Doubles{0, 0, 0}, {3});
  file.write("/fclib_global/vectors/b", Doubles{0.25}, {1});
  file.write("/fclib_global/vectors/mu", Doubles{0.5}, {1});
  file.commit();
  const ContactProblem p = import_file(path).problem;
  p.validate("imported");
  CHECK(p.r == Doubles{-3, 2, 0});
  CHECK(p.equality.bodies == Ints{0, 1});
  CHECK(p.equality.rows == Ints{1});
  CHECK(p.equality.r == Doubles{3.25, 0, 0});
}

TEST_CASE("FCLIB: equality constraints of a local problem are eliminated") {
  const TemporaryFolder folder;
  const Doubles v = {1, 0, 0, 0.5, 0, 0, 0, 1, 0, 0, 0.25, 0}, r = {2, 0.5, 0.5, 4}, s = {1, -3};
  const std::string path = local_file(folder, unsymmetric, Storage::columns, [&](Hdf5File& file) {
    put_matrix(file, "/fclib_local/V", v, 6, 2, Storage::rows);
    put_matrix(file, "/fclib_local/R", r, 2, 2, Storage::columns);
    file.write("/fclib_local/vectors/s", s, {2});
  });
  const Imported found = import_file(path);
  found.problem.validate("imported");
  check_parts(found.notes.back(), {"2 equality rows", "eliminated"});
  // R^-1 by hand: det = 7.75.
  const Doubles inverse = {4 / 7.75, -0.5 / 7.75, -0.5 / 7.75, 2 / 7.75};
  Doubles w(36), q = {-1, 0, 0.5, -2, 0, 0};
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) {
      w[6 * i + j] = (unsymmetric[6 * i + j] + unsymmetric[6 * j + i]) / 2;
      for (std::size_t k = 0; k < 4; ++k) {
        w[6 * i + j] -= v[2 * i + k / 2] * inverse[k] * v[2 * j + k % 2];
      }
    }
    for (std::size_t k = 0; k < 4; ++k) q[i] -= v[2 * i + k / 2] * inverse[k] * s[k % 2];
  }
  CHECK(relative_difference(dense(found.problem), w) < 1e-14);
  CHECK(relative_difference(found.problem.r, q) < 1e-14);

  const std::string other = local_file(folder, unsymmetric, Storage::rows, [&](Hdf5File& file) {
    put_matrix(file, "/fclib_local/V", v, 6, 2, Storage::rows);
    put_matrix(file, "/fclib_local/R", {1, 2, 2, 1}, 2, 2, Storage::columns);
    file.write("/fclib_local/vectors/s", s, {2});
  });
  check_parts(error_of([&] { import_file(other); }), {"/fclib_local/R", "positive definite"});
}

namespace {

/// A rotation matrix.
Doubles rotation(unsigned seed) {
  const Doubles q = random_vector(4, 200 + seed);
  const double size = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double w = q[0] / size, x = q[1] / size, y = q[2] / size, z = q[3] / size;
  return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
}

/// With joints, and with rolling friction on two of three contacts.
ContactProblem with_rolling_friction() {
  ContactProblem p = with_joints(true);
  for (std::size_t c = 0; c < p.contacts(); ++c) {
    if (c % 3 == 1) continue;
    p.rolling.contact.push_back(static_cast<std::int32_t>(c));
    p.rolling.rho.push_back(0.01 * static_cast<double>(c + 1));
    p.rolling.rows.push_back(2);
  }
  p.rolling.r = random_vector(3 * p.rolling.size(), 35);
  Doubles gamma = random_vector(3 * p.triples(), 36);
  for (std::size_t k = 0; k < p.rolling.size(); ++k) {
    p.rolling.r[3 * k] = gamma[3 * (p.contacts() + k)] = 0;
  }
  for (const std::size_t unused : {4, 2, 1}) gamma[gamma.size() - unused] = 0;
  p.guesses["made-up"] = {gamma, "random"};
  p.validate("rolling");
  return p;
}

/// A file's rolling problem, with the rotation of every body counted in axes of its own.
void turn_bodies(const std::string& from, const std::string& to) {
  const Hdf5File given = Hdf5File::open(from);
  const std::string group = "/fclib_global_rolling";
  Hdf5File file = Hdf5File::create(to, true);
  const auto dense_matrix = [&](const std::string& name, std::size_t& rows, std::size_t& columns) {
    const std::string at = group + name;
    rows = static_cast<std::size_t>(given.read<std::int32_t>(at + "/m").data[0]);
    columns = static_cast<std::size_t>(given.read<std::int32_t>(at + "/n").data[0]);
    const Ints p = given.read<std::int32_t>(at + "/p").data,
               i = given.read<std::int32_t>(at + "/i").data;
    const Doubles x = given.read<double>(at + "/x").data;
    Doubles a(rows * columns, 0.0);
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::int32_t k = p[j]; k < p[j + 1]; ++k) a[i[k] * columns + j] = x[k];
    }
    return a;
  };
  // Q^T of every body on the rows of its rotation.
  const auto turned = [](const Doubles& a, std::size_t rows, std::size_t columns) {
    Doubles b = a;
    for (std::size_t row = 0; row < rows; ++row) {
      if (row % 6 < 3) continue;
      const Doubles q = rotation(static_cast<unsigned>(row / 6));
      for (std::size_t j = 0; j < columns; ++j) {
        b[row * columns + j] = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          b[row * columns + j] += q[3 * k + row % 3] * a[(row - row % 3 + k) * columns + j];
        }
      }
    }
    return b;
  };
  const auto transposed = [](const Doubles& a, std::size_t size) {
    Doubles b(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) b[k % size * size + k / size] = a[k];
    return b;
  };
  put(file, group + "/spacedim", 5);
  std::size_t rows = 0, columns = 0;
  for (const char* const name : {"/M", "/H", "/G"}) {
    Doubles a = dense_matrix(name, rows, columns);
    a = turned(a, rows, columns);
    if (std::string(name) == "/M") a = turned(transposed(a, rows), rows, columns);
    put_matrix(file, group + name, a, static_cast<int>(rows), static_cast<int>(columns),
               Storage::columns);
  }
  for (const char* const name : {"/f", "/w", "/mu", "/mu_r", "/b"}) {
    const std::string at = group + "/vectors" + name;
    const Doubles values = given.read<double>(at).data;
    file.write(at, values, {values.size()});
  }
  file.commit();
}

}  // namespace

TEST_CASE("FCLIB: rolling friction of bodies goes out with five unknowns per contact, and back") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.hdf5");
  const ContactProblem p = with_rolling_friction();
  export_fclib(path, p, false, dense_factoriser, false);
  const Imported back = import_file(path);
  CHECK(back.notes.empty());
  back.problem.validate("imported");
  CHECK(back.problem.rolling.contact == p.rolling.contact);
  CHECK(back.problem.rolling.rho == p.rolling.rho);
  CHECK(back.problem.rolling.rows == p.rolling.rows);
  CHECK(back.problem.rolling.r == p.rolling.r);
  CHECK(back.problem.equality.rows == p.equality.rows);
  CHECK(back.problem.equality.r == p.equality.r);
  const Doubles& gamma = p.guesses.at("made-up").gamma;
  CHECK(back.problem.guesses.at("fclib-1").gamma == gamma);
  // Velocities and impulses of the file, five per contact, are those of the problem.
  const Doubles u = constraint_velocities(p, body_velocity_changes(p, gamma));
  CHECK(relative_difference(
            constraint_velocities(back.problem, body_velocity_changes(back.problem, gamma)), u) <
        1e-13);
  const Doubles in_file = Hdf5File::open(path).read<double>("/guesses/1/u").data;
  REQUIRE(in_file.size() == 5 * p.contacts());
  for (std::size_t k = 0; k < p.rolling.size(); ++k) {
    const auto c = static_cast<std::size_t>(p.rolling.contact[k]);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(std::abs(in_file[5 * c + i] - u[3 * c + i] - p.r[3 * c + i]) < 1e-12);
      if (i == 0) continue;
      const std::size_t t = 3 * (p.contacts() + k) + i;
      CHECK(std::abs(in_file[5 * c + 2 + i] - u[t] - p.rolling.r[3 * k + i]) < 1e-12);
    }
  }
  check_parts(error_of([&] { import_file(path, FclibForm::assembled); }),
              {"/fclib_global_rolling", "--form assembled"});
}

TEST_CASE("FCLIB: rolling friction of bodies that count rotation in their own axes is turned") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.hdf5"), turned = folder.file("turned.hdf5");
  const ContactProblem p = with_rolling_friction();
  export_fclib(path, p, false, dense_factoriser, false);
  turn_bodies(path, turned);
  const ContactProblem back = import_file(turned).problem;
  back.validate("turned");
  CHECK(relative_difference(back.inverse_inertia, p.inverse_inertia) < 1e-12);
  CHECK(relative_difference(dense_delassus(back), dense_delassus(p)) < 1e-12);
  CHECK(relative_difference(back.rolling.r, p.rolling.r) < 1e-12);
  CHECK(relative_difference(back.equality.jacobian_b, p.equality.jacobian_b) < 1e-12);
}

TEST_CASE("FCLIB: rolling friction about other axes than the tangents is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.hdf5");
  const auto write = [&](std::int32_t dimension, double limit, double second) {
    Hdf5File file = Hdf5File::create(path, true);
    const std::string group = "/fclib_global_rolling";
    put(file, group + "/spacedim", dimension);
    Doubles mass(36, 0.0), h(30, 0.0);
    for (std::size_t k = 0; k < 6; ++k) mass[7 * k] = 2;
    for (std::size_t k = 0; k < 3; ++k) h[6 * k] = 1;
    h[4 * 5 + 3] = 1;
    h[5 * 5 + 4] = second;
    put_matrix(file, group + "/M", mass, 6, 6, Storage::columns);
    put_matrix(file, group + "/H", h, 6, 5, Storage::columns);
    file.write(group + "/vectors/f", Doubles(6, 0.0), {6});
    file.write(group + "/vectors/w", Doubles(5, 0.1), {5});
    file.write(group + "/vectors/mu", Doubles{0.5}, {1});
    file.write(group + "/vectors/mu_r", Doubles{limit}, {1});
    file.commit();
  };
  const auto complaint = [&](std::int32_t dimension, double limit, double second) {
    write(dimension, limit, second);
    return error_of([&] { import_file(path); });
  };
  write(5, 0.1, 1);
  CHECK(import_file(path).problem.rolling.r == Doubles{0, 0.1, 0.1});
  write(5, 0, 0.9);  // a contact without a limit has no part in the problem
  CHECK(import_file(path).problem.rolling.size() == 0);
  check_parts(complaint(5, 0.1, 0.9), {"rigid bodies", "rolling axes of contact 0"});
  check_parts(complaint(5, -0.1, 1), {"/vectors/mu_r[0]", ">= 0", "-0.1"});
  check_parts(complaint(3, 0.1, 1), {"/spacedim", "expected 5", "found 3"});
}

TEST_CASE("FCLIB: what its files cannot say is not written") {
  const TemporaryFolder folder;
  const std::string path = folder.file("out.hdf5");
  const auto complaint = [&](const ContactProblem& p, bool local) {
    return error_of([&] { export_fclib(path, p, local, dense_factoriser, false); });
  };
  ContactProblem rolling = with_joints(true);
  rolling.rolling = {{0, 1}, {0.1, 0.1}, Doubles(6, 0.0), {}, {2, 3}};
  check_parts(complaint(rolling, false), {"/rolling/rows", "2 rows", "3 of them"});
  rolling.rolling.rows = {2, 2};
  check_parts(complaint(rolling, true), {"/rolling", "--local"});
  rolling.rolling.compliance = {0, 0, 0, 0.1};
  check_parts(complaint(rolling, false), {"/rolling/compliance", "does not yield"});
  ContactProblem yielding = with_joints(true);
  yielding.equality.compliance.assign(9, 0.0);
  yielding.equality.compliance[0] = 0.1;
  check_parts(complaint(yielding, false), {"/equality/compliance", "--local"});
  ContactProblem compliant = random_problem(RandomShape{});
  compliant.compliance.assign(2 * compliant.contacts(), 0.25);
  compliant.compliance[0] = 0.5;
  check_parts(complaint(compliant, false), {"/contacts/compliance", "--local"});
  CHECK_FALSE(std::filesystem::exists(path));

  export_fclib(path, compliant, true, dense_factoriser, false);
  const ContactProblem back = import_file(path).problem;
  compliant.compliance.clear();
  Doubles n = dense_delassus(compliant);
  const std::size_t size = 3 * compliant.contacts();
  for (std::size_t i = 0; i < size; ++i) n[i * size + i] += i == 0 ? 0.5 : 0.25;
  CHECK(relative_difference(dense(back), n) < 1e-13);
}

TEST_CASE("FCLIB: what is refused, and where it says the fault is") {
  const TemporaryFolder folder;
  const auto complaint = [&](const auto& change) {
    const std::string path = local_file(folder, unsymmetric, Storage::rows, change);
    const std::string message = error_of([&] { import_file(path); });
    check_begins(message, path + ": ");
    return message;
  };
  const auto complaint_with = [&](const std::string& dataset, const auto& values) {
    const std::string path = folder.file("local.hdf5");
    local_file(folder, unsymmetric, Storage::rows);
    // A file in which this dataset is another one.
    const std::string changed = folder.file("changed.hdf5");
    {
      Hdf5File file = Hdf5File::create(changed, true);
      const Hdf5File from = Hdf5File::open(path);
      for (const char* name : {"spacedim", "W/nzmax", "W/m", "W/n", "W/nz", "W/p", "W/i"}) {
        const std::string set = std::string("/fclib_local/") + name;
        if (set == dataset) continue;
        const auto array = from.read<std::int32_t>(set);
        file.write(set, array.data, array.shape);
      }
      for (const char* name : {"W/x", "vectors/q", "vectors/mu"}) {
        const std::string set = std::string("/fclib_local/") + name;
        if (set == dataset) continue;
        const auto array = from.read<double>(set);
        file.write(set, array.data, array.shape);
      }
      if (!values.empty()) file.write(dataset, values, {values.size()});
      file.commit();
    }
    return error_of([&] { import_file(changed); });
  };
  check_parts(complaint_with("/fclib_local/spacedim", Ints{2}), {"/spacedim", "expected 3", "2"});
  check_parts(complaint_with("/fclib_local/spacedim", Ints{3, 3}), {"/spacedim", "one number"});
  check_parts(complaint_with("/fclib_local/spacedim", Ints{}), {"/spacedim", "nothing"});
  check_parts(complaint_with("/fclib_local/vectors/mu", Doubles{0.3}), {"/mu", "2 values", "1"});
  check_parts(complaint_with("/fclib_local/vectors/q", Doubles{1}), {"/q", "6 values", "found 1"});
  check_parts(complaint_with("/fclib_local/vectors/q", Doubles{1, 2, 3, 4, 5, NAN}),
              {"/q[5]", "finite"});
  check_parts(complaint_with("/fclib_local/W/m", Ints{9}), {"/W/m", "expected 6", "9"});
  check_parts(complaint_with("/fclib_local/W/n", Ints{3}), {"/W/m", "expected 3", "6"});
  check_parts(complaint_with("/fclib_local/W/nz", Ints{-3}), {"/W/nz", "-3"});
  check_parts(complaint_with("/fclib_local/W/nz", Ints{2000000000}),
              {"/W/p", "at least 2000000000"});
  check_parts(complaint_with("/fclib_local/W/p", Ints{0, 2, 4, 5, 7, 9, 1000}),
              {"/W/i", "at least 1000"});
  check_parts(complaint_with("/fclib_local/W/p", Ints{0, 4, 2, 5, 7, 9, 10}),
              {"/W/p[2]", "ascending"});
  check_parts(complaint_with("/fclib_local/W/p", Ints{1, 2, 4, 5, 7, 9, 10}), {"/W/p[0]", "0"});
  check_parts(complaint_with("/fclib_local/W/p", Ints{0, 2, 4}), {"/W/p", "at least 7"});
  check_parts(complaint_with("/fclib_local/W/i", Ints{0, 3, 1, 4, 2, 0, 3, 1, 6, 5}),
              {"/W/i[8]", "[0, 6)", "6"});
  check_parts(complaint_with("/fclib_local/W/i", Ints{0, 3, 1, 4, 2, 0, 3, 1, -1, 5}),
              {"/W/i[8]", "-1"});
  check_parts(complaint_with("/fclib_local/W/x", Doubles{1, 2}), {"/W/x", "at least 10"});
  check_parts(complaint([](Hdf5File& f) { f.write("/fclib_local/V/x", Doubles{1}, {1}); }),
              {"/fclib_local", "V, R and vectors/s", "a part"});
  check_parts(complaint([](Hdf5File& f) { f.write("/fclib_local/R/x", Doubles{1}, {1}); }),
              {"/fclib_local", "V, R and vectors/s", "a part"});
  check_parts(complaint([](Hdf5File& f) { f.write("/fclib_local/vectors/s", Doubles{1}, {1}); }),
              {"/fclib_local", "V, R and vectors/s", "a part"});
  check_parts(complaint([](Hdf5File& f) { f.write("/fclib_local/G/x", Doubles{1}, {1}); }),
              {"/fclib_local/G", "this kind of problem", "equality constraints"});
  check_parts(complaint([](Hdf5File& f) { f.make_group("/fclib_global_rolling"); }),
              {"local, global or rolling"});
  check_parts(complaint([](Hdf5File& f) { f.write("/solution/r", Doubles{1}, {1}); }),
              {"/solution/r", "6 values"});

  const std::string path = folder.file("other.hdf5");
  Hdf5File file = Hdf5File::create(path, true);
  put(file, "/fclib_local/spacedim", 3);
  put(file, "/fclib_local/W/n", 5);
  file.write("/fclib_local/vectors/mu", Doubles{0.3}, {1});
  file.commit();
  check_parts(error_of([&] { import_file(path); }), {"5: rolling friction"});
  write_problem(path, make_scene("stack"), true);
  check_parts(error_of([&] { import_file(path); }), {"/fclib_local or /fclib_global or", "none"});
}

TEST_CASE("FCLIB: of a file with a local and a global problem one must be asked for") {
  const TemporaryFolder folder;
  const std::string path = folder.file("both.hdf5");
  Hdf5File file = Hdf5File::create(path, true);
  const Doubles identity = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  put(file, "/fclib_local/spacedim", 3);
  put_matrix(file, "/fclib_local/W", identity, 3, 3, Storage::columns);
  file.write("/fclib_local/vectors/q", Doubles{-1, 0, 0}, {3});
  file.write("/fclib_local/vectors/mu", Doubles{0.3}, {1});
  put(file, "/fclib_global/spacedim", 3);
  put_matrix(file, "/fclib_global/M", identity, 3, 3, Storage::columns);
  put_matrix(file, "/fclib_global/H", identity, 3, 3, Storage::columns);
  file.write("/fclib_global/vectors/f", Doubles{0, 0, 0}, {3});
  file.write("/fclib_global/vectors/w", Doubles{-2, 0, 0}, {3});
  file.write("/fclib_global/vectors/mu", Doubles{0.7}, {1});
  file.commit();
  check_parts(
      error_of([&] { import_file(path); }),
      {path + ": expected one problem, or --group local, global or rolling, found /fclib_local "
              "and /fclib_global"});
  const auto mu = [&](FclibGroup group) {
    return import_fclib(path, FclibForm::automatic, dense_factoriser, group).problem.mu;
  };
  CHECK(mu(FclibGroup::local) == Doubles{0.3});
  CHECK(mu(FclibGroup::global) == Doubles{0.7});
}

TEST_CASE("FCLIB: a mass matrix that is none is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("global.hdf5");
  Hdf5File file = Hdf5File::create(path, true);
  put(file, "/fclib_global/spacedim", 3);
  put_matrix(file, "/fclib_global/M", {1, 2, 2, 1}, 2, 2, Storage::columns);
  put_matrix(file, "/fclib_global/H", {1, 0, 0, 0, 1, 0}, 2, 3, Storage::columns);
  file.write("/fclib_global/vectors/f", Doubles{0, 0}, {2});
  file.write("/fclib_global/vectors/w", Doubles{0, 0, 0}, {3});
  file.write("/fclib_global/vectors/mu", Doubles{1}, {1});
  file.commit();
  check_parts(error_of([&] { import_file(path); }),
              {"/fclib_global/M", "positive definite", "rows 0 to 1"});
}

TEST_CASE("FCLIB: solutions of zeros are recognised") {
  const TemporaryFolder folder;
  const auto notes = [&](const Doubles& r) {
    const auto add = [&](Hdf5File& file) { file.write("/solution/r", r, {6}); };
    return import_file(local_file(folder, unsymmetric, Storage::rows, add)).notes;
  };
  check_parts(notes(Doubles(6, 0.0)).back(), {"all zeros", "ignored"});
  check_parts(notes(Doubles(6, 1.0)).back(), {"Coulomb"});
}

// The real files; not in the repository.
TEST_CASE("FCLIB: the twelve real files") {
  const auto folder = shared_folder() / "data" / "fclib";
  if (!std::filesystem::is_directory(folder)) SKIP("no " + folder.string());
  struct Expected {
    const char* name;
    std::size_t contacts;
    double asymmetry;  // to two digits; 0: below 1e-12
  };
  const Expected all[] = {{"Capsules-i125-1213", 286, 1.3e-3},
                          {"FC3D_Example1", 3, 0},
                          {"GFC3D_TwoRods1", 3, 0},
                          {"KaplasTower-i1061-4", 570, 0},
                          {"LMGC_100_PR_PerioBox-i00361-60-03000", 60, 0},
                          {"LMGC_GFC3D-i00501-4-00000", 4, 0},
                          {"LMGC_GlobalFrictionContactProblem00046", 9, 1.5e-7},
                          {"NESpheres_30_1", 44, 0},
                          {"OneObject-i100000-499", 24, 8.1e-5},
                          {"Rover1039", 4, 9.2e-6},
                          {"Spheres-i099-356-679", 356, 0},
                          {"local_problem_test", 48, 0}};
  const TemporaryFolder out;
  for (const Expected& expected : all) {
    INFO(expected.name);
    const auto path = folder / (std::string(expected.name) + ".hdf5");
    if (!std::filesystem::exists(path)) SKIP("no " + path.string());
    const ContactProblem p = import_file(path.string()).problem;
    CHECK(p.contacts() == expected.contacts);
    CHECK(std::abs(p.delassus.asymmetry - expected.asymmetry) <= 0.05 * expected.asymmetry + 1e-12);
    const std::string file = out.file("x.h5");
    write_problem(file, p, true);
    const ContactProblem back = read_problem(file);
    CHECK(back.delassus.asymmetry == p.delassus.asymmetry);
    // Positive semidefinite to rounding: no negative diagonal, and x.Nx >= 0 for some x.
    const Doubles x = random_vector(3 * p.contacts(), 1);
    const Doubles nx = multiply(dense(p), x);
    double product = 0;
    for (std::size_t i = 0; i < x.size(); ++i) product += x[i] * nx[i];
    CHECK(product >= 0);
  }
}
