// The tables of pairs of shapes, scenes and importers: what their rows promise, and one row more.
#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <set>

#include "problems/dynamics/stepper_table.hpp"
#include "problems/formats/importer_table.hpp"
#include "problems/geometry/pair_table.hpp"
#include "problems/scenes/scene_table.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

PlacedShape sphere(const Vec3& centre, double radius) {
  return {{"sphere", {radius}}, centre};
}

void check_vec(const Vec3& found, const Vec3& expected) {
  CHECK(found.x == Approx(expected.x).margin(1e-15));
  CHECK(found.y == Approx(expected.y).margin(1e-15));
  CHECK(found.z == Approx(expected.z).margin(1e-15));
}

/// What must hold for any two shapes: a unit normal, and points that are `gap` apart along it.
void check_consistent(const Proximity& p) {
  CHECK(norm(p.normal) == Approx(1));
  check_vec(p.point_b - p.point_a, p.gap * p.normal);
}

/// Names that can be options of a command and keys of a file.
void check_options(const OptionList& list) {
  std::set<std::string> names;
  for (const OptionList::Entry& option : list.entries()) {
    INFO(option.name);
    CHECK(names.insert(option.name).second);
    CHECK(option.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
          std::string::npos);
    CHECK_FALSE(option.help.empty());
  }
  CHECK_NOTHROW(list.check());  // the defaults are in range
}

class NoSolver : public StepSolver {
  void solve(const ContactProblem&, const StepAccuracy&, std::vector<double>&) override {}
};

}  // namespace

// ---- pairs of shapes ---------------------------------------------------------------------------

//   (a: 1 m)   gap 2 m   (b: 2 m)     centres 5 m apart along (3, 4, 0)
TEST_CASE("two spheres, apart and overlapping") {
  const Proximity apart = proximity(sphere({1, 1, 1}, 1), sphere({4, 5, 1}, 2));
  CHECK(apart.gap == Approx(2));
  check_vec(apart.normal, {0.6, 0.8, 0});
  check_vec(apart.point_a, {1.6, 1.8, 1});
  check_vec(apart.point_b, {2.8, 3.4, 1});
  check_consistent(apart);
  const Proximity deep = proximity(sphere({0, 0, 0}, 1), sphere({0, 0, 0.5}, 1));
  CHECK(deep.gap == Approx(-1.5));
  check_consistent(deep);
  CHECK_FALSE(std::isfinite(proximity(sphere({1, 2, 3}, 1), sphere({1, 2, 3}, 2)).normal.x));
}

TEST_CASE("a plane that leans, and a sphere, either way round") {
  PlacedShape plane{{"plane", {}}, {0, 0, 1}};
  plane.axes[0] = {0.8, 0, 0.6};
  plane.axes[2] = {-0.6, 0, 0.8};
  const PlacedShape ball = sphere({0, 3, 3}, 0.5);  // 2 * 0.8 = 1.6 above it
  const Proximity p = proximity(plane, ball);
  CHECK(p.gap == Approx(1.1));
  check_vec(p.normal, {-0.6, 0, 0.8});
  check_vec(p.point_b, {0.3, 3, 2.6});
  check_consistent(p);
  const Proximity back = proximity(ball, plane);
  CHECK(back.gap == p.gap);
  check_vec(back.normal, -1 * p.normal);
  check_vec(back.point_a, p.point_b);
  check_consistent(back);
}

TEST_CASE("pairs that there are not, and one more") {
  const PlacedShape point{{"test-point", {}}, {0, 0, 2}};
  check_parts(error_of([&] {
                proximity(point, sphere({0, 0, 0}, 1));
              }),
              {"no contact between test-point and sphere", "plane and sphere"});
  add_pair({"sphere", "test-point", "along the line to the centre",
            [](const PlacedShape& a, const PlacedShape& b) {
              const double distance = norm(b.position - a.position);
              const Vec3 normal = 1 / distance * (b.position - a.position);
              const double radius = a.shape.size[0];
              return Proximity{distance - radius, normal, a.position + radius * normal, b.position};
            }});
  const Proximity p = proximity(point, sphere({0, 0, 0}, 0.5));
  CHECK(p.gap == Approx(1.5));
  check_vec(p.normal, {0, 0, -1});
  check_consistent(p);
  for (const auto& [a, b] :
       {std::pair("sphere", "test-point"), std::pair("test-point", "sphere")}) {
    check_parts(error_of([&, a = a, b = b] { add_pair({a, b, "", nullptr}); }), {"there already"});
  }
  check_parts(error_of([] { find_pair("sphere", "plane"); }), {"no contact between"});
}

// ---- scenes ------------------------------------------------------------------------------------

TEST_CASE("every scene has options with defaults in range, and does what its row says") {
  std::set<std::string> ids;
  for (const SceneEntry& entry : scene_entries()) {
    INFO(entry.id);
    CHECK(ids.insert(entry.id).second);
    CHECK_FALSE(entry.summary.empty());
    const std::unique_ptr<Scene> scene = entry.make();
    check_options(scene->options());
    if (!entry.size.empty()) CHECK(scene->options().has(entry.size));
    CHECK((entry.can(SceneAbility::problem) || entry.can(SceneAbility::sequence) ||
           entry.can(SceneAbility::simulation) || entry.can(SceneAbility::motion)));
    if (!entry.can(SceneAbility::problem)) {
      check_parts(error_of([&] { scene->problem({}); }), {"no single problem"});
    }
    if (!entry.can(SceneAbility::sequence)) {
      check_parts(error_of([&] { scene->sequence({}, {}); }), {"no sequence"});
    }
    if (entry.can(SceneAbility::simulation)) {
      CHECK(scene->height_at_rest() > 0);
    } else {
      check_parts(error_of([&] { scene->simulate({}, {}, {}); }), {"no simulation"});
      check_parts(error_of([&] { scene->height_at_rest(); }), {"no height"});
    }
    if (entry.can(SceneAbility::motion)) {
      const SceneSetup setup = scene->setup();
      CHECK(setup.bodies.count() > 0);
      CHECK_NOTHROW(setup.bodies.check(entry.id));
      CHECK_NOTHROW(make_stepper(setup.stepper, setup.model));
      CHECK(setup.until > 0);
      if (setup.values) CHECK_FALSE(setup.values(setup.bodies).empty());
    } else {
      check_parts(error_of([&] { scene->setup(); }), {"no motion"});
    }
    if (entry.can(SceneAbility::by_hand)) CHECK(scene->problem({}).reference.has_value());
    if (entry.can(SceneAbility::record)) {
      NoSolver solver;
      int states = 0;
      SceneTools tools;
      tools.solver = &solver;
      tools.record = [&](const SceneState& now) {
        CHECK(now.bodies.count() > 0);
        ++states;
      };
      scene->problem(tools);
      CHECK(states == 1);  // the start
    }
  }
  for (const char* id : {"stack", "pile", "column", "pyramid", "particle"})
    CHECK(ids.count(id) == 1);
}

TEST_CASE("an option of a scene shows in its problem, and one out of range is refused") {
  const std::unique_ptr<Scene> scene = find_scene("pyramid").make();
  NoSolver solver;
  SceneTools tools;
  tools.solver = &solver;
  scene->options().set("rows", "3");
  scene->options().set("mu", "0.75");
  const ContactProblem problem = scene->problem(tools);
  CHECK(problem.bodies() == 6);
  CHECK(problem.mu.front() == 0.75);
  check_parts(error_of([&] { scene->options().set("slope", "90"); }),
              {"scene pyramid", "option slope", "> -90 and < 90", "'90'"});
  check_parts(error_of([&] { scene->options().set("row", "3"); }),
              {"unknown option 'row'", "did you mean 'rows'?"});
}

TEST_CASE("scenes that there are not, and one more") {
  check_parts(error_of([] { find_scene("pill"); }), {"unknown scene 'pill'", "'pile'"});
  class Empty : public Scene {
   public:
    OptionList options() override { return OptionList("test-scene", "scene"); }
    ContactProblem problem(const SceneTools&) override { return {}; }
  };
  const SceneEntry row{"test-scene", "nothing", {SceneAbility::problem},
                       "",           "",        [] {
        return std::make_unique<Empty>(); }};
  add_scene(row);
  CHECK(find_scene("test-scene").make()->problem({}).contacts() == 0);
  check_parts(error_of([&] { add_scene(row); }), {"test-scene", "there already"});
}

// ---- importers ---------------------------------------------------------------------------------

TEST_CASE("every importer has options with defaults in range, and refuses what is no such file") {
  const TemporaryFolder folder;
  write_text(folder.file("x"), "nothing of the kind\n");
  std::set<std::string> ids;
  for (const ImporterEntry& entry : importer_entries()) {
    INFO(entry.id);
    CHECK(ids.insert(entry.id).second);
    CHECK_FALSE(entry.summary.empty());
    for (const std::string& extension : entry.extensions) CHECK(extension.front() == '.');
    const std::unique_ptr<Importer> importer = entry.make();
    check_options(importer->options());
    for (const char* name : {"x", "none"}) {
      check_parts(error_of([&] { importer->read(folder.file(name), {}); }), {folder.file(name)});
    }
  }
  CHECK(ids.count("kleinert") == 1);
  CHECK(ids.count("fclib") == 1);
}

TEST_CASE("one importer more") {
  class Fixed : public Importer {
   public:
    OptionList options() override {
      return OptionList("test-importer", "importer")
          .number("mu", mu_, OptionList::Range::at_least(0), "Friction coefficient");
    }
    Imported read(const std::string&, const ImportTools&) override {
      Imported imported;
      imported.problem.mu = {mu_};
      return imported;
    }

   private:
    double mu_ = 0.5;
  };
  const ImporterEntry row{
      "test-importer", "nothing", {".x"}, [] { return std::make_unique<Fixed>(); }};
  add_importer(row);
  const auto importer = importer_entries().back().make();
  importer->options().set("mu", "0.25");
  CHECK(importer->read("", {}).problem.mu.front() == 0.25);
  check_parts(error_of([&] { add_importer(row); }), {"test-importer", "there already"});
}
