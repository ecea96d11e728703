// Sequences of time steps: the file, elastic contacts, what steps tell each other, the column.
#include <hdf5.h>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "problems/base/hdf5_file.hpp"
#include "problems/base/pi.hpp"
#include "problems/dynamics/steppers/elastic.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/sequence_file.hpp"
#include "problems/scenes/column.hpp"
#include "problems/scenes/pile.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

/// Exact solutions of frictionless 1-D problems and good ones of others: projected Gauss-Seidel on
/// the dense matrix, normal parts first.
class DenseSolver : public StepSolver {
 public:
  void solve(const ContactProblem& p, const StepAccuracy&, std::vector<double>& gamma) override {
    ++calls;
    const std::vector<double> n = dense_delassus(p);
    const std::size_t size = 3 * p.contacts();
    for (int sweep = 0; sweep < 3000; ++sweep) {
      double change = 0;
      for (std::size_t c = 0; c < p.contacts(); ++c) {
        const std::size_t i = 3 * c;
        double u = p.r[i];
        for (std::size_t j = 0; j < size; ++j) u += n[i * size + j] * gamma[j];
        const double next = std::max(0.0, gamma[i] - u / n[i * size + i]);
        change = std::max(change, std::abs(next - gamma[i]));
        gamma[i] = next;
        gamma[i + 1] = gamma[i + 2] = 0;
      }
      if (change < 1e-17) return;
    }
  }
  int calls = 0;
};

ColumnOptions small_column(std::size_t spheres) {
  ColumnOptions options;
  options.spheres = spheres;
  return options;
}

std::vector<ContactProblem> column_steps(std::size_t spheres, std::size_t steps, double from) {
  DenseSolver solver;
  SequenceOptions sequence;
  sequence.name = "test";
  sequence.steps = steps;
  sequence.from = from;
  return generate_column(small_column(spheres), sequence, solver);
}

double mass(const ColumnOptions& o) {
  return o.density * pi / 6 * std::pow(o.diameter, 3);
}

}  // namespace

//      o  5 spheres; the lowest contact carries all, the uppermost one of them
//      o
//      o        f = k delta^(3/2),  gamma_n = dt f
//    -----
TEST_CASE("a column at rest obeys Hertz's law") {
  const ColumnOptions options = small_column(5);
  const auto steps = column_steps(5, 2, -1);
  const double weight = mass(options) * 9.81, radius = options.diameter / 2;
  for (const ContactProblem& step : steps) {
    REQUIRE(step.contacts() == 5);
    for (std::size_t c = 0; c < 5; ++c) {
      const double reduced = c == 0 ? radius : radius / 2;
      const double k = 6e6 * std::sqrt(reduced) / (3 * (1 - 0.25 * 0.25));
      const double carried = static_cast<double>(5 - c) * weight;
      CHECK(-step.gap[c] == Approx(std::pow(carried / k, 2.0 / 3)).epsilon(1e-3));
      CHECK(step.reference->gamma[3 * c] == Approx(5e-3 * carried).epsilon(1e-3));
      CHECK(step.guesses.at("hertz").gamma[3 * c] == Approx(5e-3 * carried).epsilon(2e-3));
      CHECK(step.guesses.at("previous").gamma[3 * c] == Approx(5e-3 * carried).epsilon(2e-3));
      // Sigma_n = 4 eps Y / (dt s)^2 with eps = e_H / k, Y = 1/9 and s = 5/4 delta^(1/4).
      const double s = 1.25 * std::pow(-step.gap[c], 0.25);
      CHECK(step.compliance[2 * c] ==
            Approx(4 * (1.25 / k) / 9 / std::pow(5e-3 * s, 2)).epsilon(1e-12));
      CHECK(step.compliance[2 * c + 1] == Approx(1e-6 / 5e-3));
    }
  }
  double height = 5 * options.diameter;
  for (std::size_t c = 0; c < 5; ++c) height += steps.back().gap[c];
  CHECK(column_height(options) == Approx(height).epsilon(1e-5));
}

TEST_CASE("one elastic contact, by hand") {
  // A sphere of 1 m and 2 kg that overlaps the ground by 1/16 m and sinks at 0.5 m/s; dt = 0.1 s,
  // tau = 0.2 s: Y = 1/9. k = E sqrt(1) / (3 (1 - 1/4)) = 2.25 / 2.25 = 1 N/m^1.5.
  Spheres s;
  s.position = {0, 0, 1 - 0.0625};
  s.velocity = {0.3, 0, -0.5};
  s.radius = {1};
  s.mass = {2};
  SphereModel model;
  model.dt = 0.1;
  model.gravity = {0, 0, -10};
  model.hertz.young = 2.25;
  model.hertz.poisson = 0.5;
  model.hertz.tangential = 0.01;
  const ContactProblem p = sphere_problem(s, find_candidates(s, 0), model);
  REQUIRE(p.contacts() == 1);
  // sqrt(delta) = 1/4: Sigma_n = 3.2 / 9 / (0.01 * 1/4), Sigma_t = 0.01 / 0.1.
  CHECK(p.compliance[0] == Approx(3.2 / 9 / 0.0025));
  CHECK(p.compliance[1] == Approx(0.1));
  // r_n = (-0.5 - 1) + 0.5 / 9 - 3.2 / 9 / 0.1 / 16.
  CHECK(p.r[0] == Approx(-1.5 + 0.5 / 9 - 2.0 / 9));
  // Hertz: dt k delta^1.5 = 0.1 / 64; friction -(dt / 0.01) u_t = -3 m/s kg, clamped to mu gamma_n.
  const auto gamma = hertz_impulses(p, model);
  CHECK(gamma[0] == Approx(0.1 / 64));
  CHECK(std::hypot(gamma[1], gamma[2]) == Approx(0.4 * 0.1 / 64));
  CHECK(gamma[1] * p.r[1] + gamma[2] * p.r[2] < 0);
  CHECK_NOTHROW(p.validate("p"));
  // Just touching, or at most smallest_overlap apart: the stiffness of that overlap, no impulse
  // yet.
  model.hertz.smallest_overlap = 0.01;
  s.position[2] = 1.005;
  const ContactProblem near = sphere_problem(s, find_candidates(s, 0.01), model);
  REQUIRE(near.contacts() == 1);
  CHECK(near.compliance[0] == Approx(3.2 / 9 / (0.01 * 0.1)));
  CHECK(near.r[0] == Approx(-1.5 + 0.5 / 9 + 3.2 / 9 / 0.1 * 0.005));
  CHECK(hertz_impulses(near, model) == std::vector<double>{0, 0, 0});
}

TEST_CASE("steps hand on their impulses by identity, turned with the frames") {
  ContactProblem first;
  first.inverse_mass = {1, 1, 1};
  first.dt = 0.01;
  first.mu = {0.5, 0.5};
  first.contact_bodies = {-1, 0, 0, 1};
  first.frame = {0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  ContactProblem second = first;
  second.dt = 0.02;
  second.mu = {0.5, 0.5, 0.5};
  second.contact_bodies = {-1, 0, -1, 2, 0, 1};  // a new one between the two
  second.frame = {0, 0, 1, 0, 1, 0, 1, 0, 0,     // tangents exchanged
                  0, 0, 1, 1, 0, 0, 0, 1, 0,     //
                  0, 1, 0, 1, 0, 0, 0, 0, 1};    // the normal turned by a quarter
  ImpulseMemory memory;
  CHECK(memory.recall(second) == std::vector<double>(9, 0.0));
  memory.keep(first, {3, 1, 0.5, 4, 1, 0});
  auto gamma = memory.recall(second);
  CHECK(relative_difference(gamma, {6, 1, 2, 0, 0, 0, 2, 8, 0}) < 1e-15);
  clamp_into_cones(second.mu, gamma);
  CHECK(relative_difference(gamma, {6, 1, 2, 0, 0, 0, 2, 1, 0}) < 1e-15);
  std::vector<double> pulling = {-1, 2, 0};
  clamp_into_cones({0.5}, pulling);
  CHECK(pulling == std::vector<double>{0, 0, 0});
}

TEST_CASE("identities tell pairs apart") {
  CHECK(pair_identity(-1, 0) == 0);
  CHECK(pair_identity(-1, 7) == 7);
  CHECK(pair_identity(0, 1) == 4294967297);
  CHECK(pair_identity(0, 1) != pair_identity(1, 0));
}

TEST_CASE("a column from the start, each step from the one before") {
  const auto steps = column_steps(3, 6, 0);
  CHECK(steps[0].contacts() == 3);  // they touch
  CHECK(steps[0].guesses.at("previous").gamma == std::vector<double>(9, 0.0));
  for (std::size_t k = 1; k < steps.size(); ++k) {
    const ContactProblem &before = steps[k - 1], &now = steps[k];
    CHECK(now.name == "test-000" + std::to_string(k));
    // v of this step is v + dt g + M^-1 D gamma of the one before.
    std::vector<double> v(9), expected(9);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        v[3 * i + j] = now.velocity[6 * i + j];
        expected[3 * i + j] = before.velocity[6 * i + j] + before.dt * before.gravity[j];
      }
    }
    add_impulses(before, before.reference->gamma, expected);
    CHECK(relative_difference(v, expected) < 1e-14);
    for (std::size_t c = 0; c < now.contacts(); ++c) {
      double previous = 0;
      for (std::size_t d = 0; d < before.contacts(); ++d) {
        if (before.identity[d] == now.identity[c]) previous = before.reference->gamma[3 * d];
      }
      CHECK(now.guesses.at("previous").gamma[3 * c] == Approx(previous).margin(1e-18));
    }
  }
}

TEST_CASE("a simulated column has Hertz's height if its steps are solved well") {
  DenseSolver solver;
  ColumnOptions options = small_column(4);
  for (const StepStart& start : {StepStart{}, StepStart{"previous", 0.85}, StepStart{"hertz", 1}}) {
    const SettlingRun run = simulate_column(options, start, {}, solver);
    CHECK(run.at_rest);
    CHECK(std::abs(run.error) < 1e-4);
    CHECK(run.height == Approx((1 - run.error) * column_height(options)));
  }
  options.longest_time = 0.02;
  CHECK_FALSE(simulate_column(options, {}, {}, solver).at_rest);
  // Whoever does nothing lets it fall through the ground.
  class Nothing : public StepSolver {
    void solve(const ContactProblem&, const StepAccuracy&, std::vector<double>&) override {}
  } nothing;
  options.longest_time = 0.5;
  CHECK(simulate_column(options, {}, {}, nothing).error > 1);
}

TEST_CASE("columns that cannot be") {
  ColumnOptions options;
  options.model.hertz.young = 0;
  check_parts(error_of([&] { column_height(options); }), {"scene column", "option young", "> 0"});
  options = ColumnOptions();
  options.spheres = 0;
  check_parts(error_of([&] { column_height(options); }), {"column", "spheres", ">= 1"});
  options = ColumnOptions();
  options.longest_time = 0.01;
  DenseSolver solver;
  check_parts(error_of([&] { generate_column(options, {}, solver); }),
              {"not at rest after 2 steps"});
}

TEST_CASE("an elastic pile is a sequence, never a single problem") {
  PileOptions options;
  options.model.hertz.young = 6e6;
  DenseSolver solver;
  check_parts(error_of([&] { generate_pile(options, solver); }),
              {"generate pile", "a sequence of steps"});
}

// ---- the file ----------------------------------------------------------------------------------

TEST_CASE("a sequence survives the file, step by step") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.h5");
  const auto steps = column_steps(3, 4, 0.005);
  write_sequence(path, "a column", steps, false);
  CHECK(folder.names() == std::vector<std::string>{"s.h5"});
  CHECK(is_sequence(path));
  const SequenceSummary summary = check_sequence(path);
  CHECK(summary.name == "a column");
  CHECK(summary.steps == 4);
  for (std::size_t k = 0; k < 4; ++k) {
    const ContactProblem p = read_problem(path + "#" + std::to_string(k));
    CHECK(p.name == steps[k].name);
    CHECK(p.content_hash() == steps[k].content_hash());
    CHECK(p.identity == steps[k].identity);
    REQUIRE(p.guesses.size() == 2);
    for (const char* name : {"previous", "hertz"}) {
      CHECK(p.guesses.at(name).gamma == steps[k].guesses.at(name).gamma);
      CHECK(p.guesses.at(name).method == steps[k].guesses.at(name).method);
    }
    CHECK(p.compliance == steps[k].compliance);
    CHECK(p.reference->gamma == steps[k].reference->gamma);
  }
  write_sequence(folder.file("t.h5"), "a column", steps, false);
  CHECK(read_text(folder.file("t.h5")) == read_text(path));
  check_parts(error_of([&] { write_sequence(path, "x", steps, false); }), {path, "existing file"});
}

TEST_CASE("places of problems") {
  CHECK(split_place("a/b.h5").steps.empty());
  CHECK(split_place("a/b.h5").file == "a/b.h5");
  CHECK(split_place("a/b.h5#12").file == "a/b.h5");
  CHECK(split_place("a/b.h5#12").steps == "#12");
  CHECK(split_place("a#1.h5#3..10").file == "a#1.h5");
  CHECK(split_place("a#1.h5#3..10").steps == "#3..10");
  for (const char* file :
       {"a#b", "a#", "#3", "a#3..", "a#..3", "a#1..2..3", "a#-1", "a#1234567890"}) {
    CHECK(split_place(file).steps.empty());
  }
}

TEST_CASE("steps by number, by range, all, and those that are not there") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.h5"), plain = folder.file("p.h5");
  write_sequence(path, "s", column_steps(2, 3, 0.005), false);
  write_problem(plain, random_problem({3, 5, true, true, 1}), false);
  using List = std::vector<std::string>;
  CHECK(steps_of(path) == List{path + "#0", path + "#1", path + "#2"});
  CHECK(steps_of(path + "#1") == List{path + "#1"});
  CHECK(steps_of(path + "#1..2") == List{path + "#1", path + "#2"});
  CHECK(steps_of(plain) == List{plain});
  CHECK(steps_of(folder.file("none.h5")) == List{folder.file("none.h5")});  // others complain
  CHECK(resolve_problem("s.h5#1..2", folder.path().string()) == path + "#1..2");
  check_parts(error_of([&] { steps_of(path + "#3"); }), {path + "#3", "from #0 to #2", "found #3"});
  check_parts(error_of([&] { steps_of(path + "#2..1"); }), {"from #0 to #2", "found #2..1"});
  check_parts(error_of([&] { steps_of(plain + "#0"); }), {plain + "#0", "steps of a sequence"});
  check_parts(error_of([&] { read_problem(path); }), {path, "one step of the sequence", "#2"});
  check_parts(error_of([&] { read_problem(path + "#0..1"); }), {"one step", "several"});
  check_parts(error_of([&] { read_problem(path + "#7"); }), {path + "#7", "from #0 to #2"});
  check_parts(error_of([&] { read_problem(plain + "#0"); }), {"steps of a sequence"});
}

TEST_CASE("sequences that contradict themselves are not written") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.h5");
  const auto good = column_steps(3, 3, 0.01);
  const auto complaint = [&](const auto& change) {
    std::vector<ContactProblem> steps = good;
    change(steps);
    const std::string message = error_of([&] { write_sequence(path, "s", steps, false); });
    CHECK_FALSE(std::filesystem::exists(path));
    return message;
  };
  using Steps = std::vector<ContactProblem>;
  check_parts(complaint([](Steps& s) { s.clear(); }), {path, "1 to 10000 steps", "found 0"});
  check_parts(complaint([](Steps& s) { s[1].identity.clear(); }),
              {path + "#1: /contacts/identity", "contacts keep their numbers"});
  check_parts(complaint([](Steps& s) { s[2].name = s[0].name; }),
              {path + "#2: attribute name", "a name of its own"});
  check_parts(complaint([](Steps& s) { s[2].dt = 1; }), {path + "#2: /ccp attribute dt", "0.005"});
  check_parts(complaint([](Steps& s) {
                s[1] = random_problem({4, 3, false, true, 1});
                s[1].dt = 0.005;
                s[1].identity = {1000, 1001, 1002};
              }),
              {path + "#1: /bodies/inverse_mass", "3 values"});
  check_parts(complaint([](Steps& s) {
                s[1].identity[0] = s[0].identity[1];
                s[1].identity[1] = 99;
              }),
              {path + "#1: /contacts/identity[0]", "which bodies (0, 1) had"});
  check_parts(complaint([](Steps& s) { s[1].identity[1] = s[1].identity[0]; }),
              {path + "#1: /contacts/identity[1]", "each number once", "as in row 0"});
  check_parts(complaint([](Steps& s) { s[1].identity.push_back(7); }),
              {path + "#1: /contacts/identity", "values"});
}

TEST_CASE("damaged sequence files") {
  const TemporaryFolder folder;
  const std::string path = folder.file("s.h5");
  const auto complaint = [&](const auto& damage) {
    write_sequence(path, "s", column_steps(2, 3, 0.005), true);
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    REQUIRE(file >= 0);
    damage(file);
    H5Fclose(file);
    return error_of([&] { check_sequence(path); });
  };
  const auto remove = [](const char* name) {
    return [name](hid_t file) { REQUIRE(H5Ldelete(file, name, H5P_DEFAULT) >= 0); };
  };
  check_parts(complaint(remove("/steps/0001")), {path + ": /steps", "groups 0000 to 0001", "0002"});
  check_parts(complaint(remove("/steps")), {path + ": /steps", "at least one step"});
  check_parts(complaint(remove("/steps/0001/ccp/r")), {path + "#1: /ccp/r", "a dataset"});
  check_parts(complaint(remove("/steps/0002/contacts/identity")),
              {path + "#2: /contacts/identity"});
  check_parts(complaint([](hid_t file) { H5Adelete(file, "version"); }),
              {path + ": root attribute version", "expected 1"});
  check_parts(complaint([](hid_t file) { H5Adelete(file, "name"); }),
              {path + ": root attribute name"});
  check_parts(complaint([](hid_t file) {
                H5Adelete_by_name(file, "/steps/0001", "content_sha256", H5P_DEFAULT);
              }),
              {path + "#1: root attribute content_sha256"});
}

TEST_CASE("compliances are checked, and part of the hash only where there are any") {
  ContactProblem p = random_problem({3, 5, true, true, 1});
  const std::string without = p.content_hash();
  p.compliance.assign(10, 0.5);
  const std::string with = p.content_hash();
  CHECK(with != without);
  p.identity = {5, 4, 3, 2, 1};
  CHECK(p.content_hash() == with);  // numbers of contacts change no problem
  p.compliance[7] = -1;
  check_parts(error_of([&] { p.validate("x"); }),
              {"x: /contacts/compliance[3]", "a value >= 0", "-1"});
  p.compliance.resize(9);
  check_parts(error_of([&] { p.validate("x"); }), {"/contacts/compliance", "10 values", "9"});
  p.compliance.clear();
  CHECK(p.content_hash() == without);
}
