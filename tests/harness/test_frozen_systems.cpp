#include "harness/systems/frozen_systems.hpp"

#include <cmath>
#include <limits>
#include <map>

#include "harness/systems/precond.hpp"
#include "harness/systems/thawed_systems.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "solvers/ipm/ipm.hpp"
#include "solvers/registry.hpp"
#include "solvers/velocity_space/make_system.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

namespace ccp::test {
namespace {

FrozenSystems frozen(const ContactProblem& host, const std::vector<long>& at) {
  FrozenSystems systems = freeze_systems(host, SolverSpec::parse("ipm"), at).systems;
  systems.problem = host.name + ".h5";
  systems.provenance = {{"host", "here"}};
  return systems;
}

}  // namespace

TEST_CASE("iterations as lists and ranges") {
  CHECK(parse_iterations("5,10,20", "--at") == std::vector<long>{5, 10, 20});
  CHECK(parse_iterations("0:8:4,2,2", "--at") == std::vector<long>{0, 2, 4, 8});
  CHECK(parse_iterations("3:5", "--at") == std::vector<long>{3, 4, 5});
  CHECK(parse_iterations("all", "--at").empty());
  for (const char* text : {"", "5,", "a", "-1", "5:1", "0:5:0", "1:2:3:4", "1e3", "1.5", " 1"}) {
    INFO(text);
    check_parts(error_of([&] { parse_iterations(text, "--at"); }), {"--at", "0:40:2", text});
  }
}

TEST_CASE("frozen systems are those of the solve: A and b come back, with and without file") {
  const TemporaryFolder folder;
  for (const bool rotates : {true, false}) {
    ContactProblem host = random_problem({6, 30, rotates, true, 31});
    make_feasible(host, 1);
    const Problem problem(host);
    // The solve itself, watched.
    IpmSolver solver;
    std::vector<std::vector<double>> products, sides;
    const auto x = random_vector(90, 7);
    solver.on_system = [&](const PosedSystem& posed) {
      if (posed.outer != 2 && posed.outer != 5) return;
      products.push_back(product_of(*posed.matrix, x));
      sides.push_back(to_host(*posed.rhs));
    };
    solver.setup(problem);
    Vector gamma(problem.map(), 1);
    IterationLimit limit(6);
    solver.solve(gamma, limit);

    const std::string path = folder.file(rotates ? "a.h5" : "b.h5");
    const FrozenSystems kept = frozen(host, {2, 5});
    write_systems(path, kept, false);
    const FrozenSystems read = read_systems(path);
    CHECK(read.instance_hash == host.content_hash());
    CHECK(read.problem == kept.problem);
    CHECK(read.solver == "ipm");
    CHECK(read.provenance == kept.provenance);
    REQUIRE(read.systems.size() == 2);
    NewtonSystem system(problem, regularization_of(read));
    for (std::size_t i = 0; i < 2; ++i) {
      CHECK(read.systems[i].outer == (i == 0 ? 2 : 5));
      CHECK(read.systems[i].w == kept.systems[i].w);
      CHECK(read.systems[i].alpha == kept.systems[i].alpha);
      const auto b = thaw(read.systems[i], problem, system);
      CHECK(relative_difference(to_host(*b), sides[i]) < 1e-14);
      CHECK(relative_difference(product_of(system, x), products[i]) < 1e-12);
    }
  }
}

namespace {

/// Keeps every iterate of a solver whose system k is posed between look k and look k + 1.
class Keeper : public Observer {
 public:
  Keeper(const Problem& problem, long last) : problem_(problem), last_(last) {}
  bool observe(const Progress& progress, const std::function<void(Vector&)>& write_gamma) override {
    Vector look(problem_.map(), 1);
    write_gamma(look);
    gamma[progress.counters.outer] = to_host(look);  // the last look before the next step
    return progress.counters.outer >= last_;
  }
  std::map<long, std::vector<double>> gamma;

 private:
  const Problem& problem_;
  long last_;
};

std::map<long, std::vector<double>> iterates(const ContactProblem& host, const std::string& spec,
                                             long last) {
  const Problem problem(host);
  const auto solver = make_solver(SolverSpec::parse(spec));
  solver->setup(problem);
  Vector gamma(problem.map(), 1);
  Keeper keeper(problem, last);
  solver->solve(gamma, keeper);
  return keeper.gamma;
}

/// The solution of a frozen system, by factorisation.
std::vector<double> solution(const FrozenSystems& systems, const FrozenSystem& frozen,
                             const ContactProblem& host) {
  const Problem problem(host);
  const auto thawed = thaw(systems, problem);
  LinearSolver solver(thawed->matrix(), "cholmod", {}, "matrix_free", preconditioner_entry("none"),
                      make_preconditioner({"none", {}}));
  const auto b = thawed->take(frozen);
  const auto x = Teuchos::rcp(new Vector(b->getMap(), 1));
  REQUIRE(solver.prepare().good);
  solver.solve(b, x, 0);
  return to_host(*x);
}

/// E^T gamma in the order of the rows of `systems`, from impulses in contact axes.
std::vector<double> load(const ContactProblem& host, const std::vector<double>& gamma) {
  const Problem problem(host);
  const auto system = make_velocity_system(problem, "auto", "auto");
  const auto order =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), system->contact_order());
  const std::vector<double> world = world_axes(host, gamma);
  std::vector<double> sorted;
  for (std::size_t k = 0; k < order.extent(0); ++k) {
    for (std::size_t i = 0; i < 3; ++i) sorted.push_back(world[3 * order(k) + i]);
  }
  const VectorView f("ccp::test::f", system->size());
  system->load(to_view(sorted), f);
  return to_host(ConstVectorView(f));
}

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] - b[i];
  return result;
}

/// 1 - cos of the angle between two vectors.
double turned(const std::vector<double>& a, const std::vector<double>& b) {
  return 1 - inner(a, b) / std::sqrt(inner(a, a) * inner(b, b));
}

}  // namespace

// A step is theta times the direction that the frozen system gives:
//   ipm   gamma' - gamma = theta A^-1 b
//   vipm  E^T (gamma' - gamma) = theta S^-1 b, with exact directions, for z = E^T gamma throughout
//   ssn   z = E^T p - b, and z' - z = t S^-1 b; p is what an observer sees
TEST_CASE("the solution of a frozen system is the direction that the solver takes") {
  const TemporaryFolder folder;
  for (const bool rotates : {false, true}) {
    INFO("rotates: " << rotates);
    ContactProblem host = random_problem({8, 24, rotates, true, 41});
    make_feasible(host, 2);
    const auto frozen_by = [&](const std::string& spec) {
      const std::string path = folder.file("systems.h5");
      write_systems(path, freeze_systems(host, SolverSpec::parse(spec), {0, 1, 2, 3}).systems,
                    true);
      return read_systems(path);
    };
    {
      const std::string spec = "ipm[krylov=cholmod]";
      const FrozenSystems systems = frozen_by(spec);
      CHECK(systems.space == Space::contact);
      const auto gamma = iterates(host, spec, 4);
      for (const FrozenSystem& frozen : systems.systems) {
        const auto step = difference(gamma.at(frozen.outer + 1), gamma.at(frozen.outer));
        CHECK(turned(world_axes(host, step), solution(systems, frozen, host)) < 1e-10);
      }
    }
    {
      const std::string spec = "vipm[linear_solver=cholesky]";
      const FrozenSystems systems = frozen_by(spec);
      CHECK(systems.space == Space::body);
      CHECK(systems.block_size() == (rotates ? 6 : 3));
      const auto gamma = iterates(host, spec, 4);
      for (const FrozenSystem& frozen : systems.systems) {
        const auto step = difference(gamma.at(frozen.outer + 1), gamma.at(frozen.outer));
        CHECK(turned(load(host, step), solution(systems, frozen, host)) < 1e-10);
      }
    }
    {
      const std::string spec = "ssn[linear_solver=cholesky]";
      const FrozenSystems systems = frozen_by(spec);
      CHECK(systems.space == Space::body);
      const auto p = iterates(host, spec, 4);
      for (std::size_t k = 0; k + 1 < systems.systems.size(); ++k) {
        const FrozenSystem &now = systems.systems[k], &next = systems.systems[k + 1];
        const auto z = difference(load(host, p.at(now.outer)), now.rhs),
                   z_next = difference(load(host, p.at(next.outer)), next.rhs);
        CHECK(turned(difference(z_next, z), solution(systems, now, host)) < 1e-10);
      }
    }
  }
}

TEST_CASE("every preconditioner that takes body space solves frozen systems of vipm and ssn") {
  for (const bool rotates : {false, true}) {
    ContactProblem host = random_problem({12, 40, rotates, true, 42});
    make_feasible(host, 3);
    for (const char* spec : {"vipm[linear_solver=cg]", "ssn[linear_solver=cg]"}) {
      const FrozenSystems systems = freeze_systems(host, SolverSpec::parse(spec), {1, 3}).systems;
      PrecondRequest request;
      request.methods = {"cg", "gmres", "cholmod"};
      for (const PreconditionerEntry& entry : preconditioner_entries()) {
        request.preconditioners.push_back({entry.id, {}});
      }
      request.tolerance = 1e-8;
      request.max_iterations = 2000;
      for (const char* op : {"matrix_free", "crs", "block_crs"}) {
        request.apply = op;
        const auto rows = run_precond(request, systems, host);
        CHECK(rows.size() == systems.systems.size() * (2 * request.preconditioners.size() + 1));
        for (const PrecondRow& row : rows) {
          INFO(spec << ": " << row.method << " with " << row.preconditioner << ", " << op << ": "
                    << row.status << " " << row.message << ", residual " << row.residual);
          if (row.preconditioner == "ilut" && row.method == "cg") {
            CHECK(row.status == "refused");
            continue;
          }
          CHECK(row.status == "converged");
          CHECK(row.residual <= 1.5 * request.tolerance);
        }
      }
    }
  }
}

TEST_CASE("precond refuses a preconditioner that does not take the systems, and judges itself") {
  const ContactProblem host = random_pile(40, 120, 3);
  PrecondRequest request;
  request.methods = {"cg"};
  request.preconditioners = parse_specs("block_ic1,none", "--preconditioner");
  request.max_iterations = 3;
  request.tolerance = 1e-10;
  const auto rows = run_precond(request, frozen(host, {4}), host);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].status == "refused");
  check_parts(rows[0].message,
              {"block_ic1 takes blocks of 3 and 6 in body space", "blocks of 3 in contact space"});
  CHECK(rows[1].status == "max_iterations");
  CHECK(rows[1].residual > 1e-10);
}

TEST_CASE("what is not met is said; other solvers are refused") {
  const ContactProblem host = make_scene("sliding-block");
  const FreezeOutcome some = freeze_systems(host, SolverSpec::parse("ipm"), {1, 5000});
  CHECK(some.systems.systems.size() == 1);
  check_parts(some.ended, {"converged after", "outer iterations"});
  const FreezeOutcome all = freeze_systems(host, SolverSpec::parse("ipm"), {});
  CHECK(all.systems.systems.size() > 5);
  check_parts(error_of([&] { freeze_systems(host, SolverSpec::parse("ipm"), {5000}); }),
              {"one of the iterations asked for", "converged"});
  check_parts(error_of([&] { freeze_systems(host, SolverSpec::parse("pgj"), {1}); }),
              {"solver pgj", "ipm[...]", "vipm[...]", "ssn[...]"});
  check_parts(
      error_of([&] { freeze_systems(assembled_form(host), SolverSpec::parse("vipm"), {1}); }),
      {"solver vipm", "bodies", "only N"});
}

TEST_CASE("damaged and foreign files of systems") {
  const TemporaryFolder folder;
  const ContactProblem host = make_scene("stack");
  const std::string path = folder.file("systems.h5"), bad = folder.file("bad.h5");
  const FrozenSystems good = frozen(host, {1, 2});
  write_systems(path, good, false);
  check_parts(error_of([&] { write_systems(path, good, false); }), {"existing file"});
  write_problem(folder.file("problem.h5"), host, false);
  check_parts(error_of([&] { read_systems(folder.file("problem.h5")); }),
              {"root attribute format", "'ccpbench-systems'", "'ccpbench-problem'"});
  write_text(bad, read_text(path).substr(0, 3000));
  check_parts(error_of([&] { read_systems(bad); }), {bad, "truncated or damaged"});

  const auto refused = [&](const std::function<void(FrozenSystems&)>& damage,
                           const std::vector<std::string>& parts) {
    FrozenSystems systems = good;
    damage(systems);
    write_systems(bad, systems, true);
    check_parts(error_of([&] { read_systems(bad); }), parts);
  };
  refused([](FrozenSystems& s) { s.systems[1].outer = 0; }, {"/systems/outer", "ascending"});
  refused([](FrozenSystems& s) { s.systems[1].det[0] = -1; }, {"/systems/det", "a number > 0"});
  refused([](FrozenSystems& s) { s.systems[0].rhs[2] = std::numeric_limits<double>::infinity(); },
          {"/systems/rhs", "entry 2", "a finite number"});
}

TEST_CASE("damaged files of systems in body space") {
  const TemporaryFolder folder;
  const std::string bad = folder.file("bad.h5");
  const FrozenSystems good =
      freeze_systems(make_scene("stack"), SolverSpec::parse("vipm"), {1, 2}).systems;
  const auto refused = [&](const std::function<void(FrozenSystems&)>& damage,
                           const std::vector<std::string>& parts) {
    FrozenSystems systems = good;
    damage(systems);
    write_systems(bad, systems, true);
    check_parts(error_of([&] { read_systems(bad); }), parts);
  };
  refused([](FrozenSystems& s) { s.pattern.columns.back() = 0; }, {"/pattern/"});
  refused([](FrozenSystems& s) { s.pattern.row_offsets[1] = 0; }, {"/pattern/row_offsets, row 0"});
  refused([](FrozenSystems& s) { s.body[0] = s.body[1]; }, {"/pattern/body", "once"});
  refused([](FrozenSystems& s) { s.systems[1].blocks[3] = std::nan(""); },
          {"/systems/blocks", "a finite number"});
}

// Schema version 1 knew one kind of systems and did not name it.
TEST_CASE("files of before there were two spaces stay readable") {
  const TemporaryFolder folder;
  const std::string path = folder.file("old.h5");
  {
    Hdf5File file = Hdf5File::create(path, false);
    file.set_attribute("/", "format", "ccpbench-systems");
    file.set_attribute("/", "version", std::int64_t{1});
    for (const char* name : {"instance", "instance_hash", "problem", "solver"}) {
      file.set_attribute("/", name, name);
    }
    file.set_attribute("/", "contacts", std::int64_t{1});
    using Doubles = std::vector<double>;
    file.write("/regularization", Doubles{1, 2}, {1, 2});
    file.write("/systems/outer", std::vector<std::int64_t>{5}, {1});
    for (const char* name : {"alpha", "beta", "f_cen", "s"}) {
      file.write(std::string("/systems/") + name, Doubles{0.5}, {1});
    }
    file.write("/systems/w", Doubles{2, 0, 1}, {1, 1, 3});
    file.write("/systems/det", Doubles{1.5}, {1, 1});
    file.write("/systems/rhs", Doubles{1, 2, 3}, {1, 1, 3});
    file.make_group("/provenance");
    file.commit();
  }
  const FrozenSystems systems = read_systems(path);
  CHECK(systems.space == Space::contact);
  CHECK(systems.block_size() == 3);
  CHECK(systems.contacts == 1);
  REQUIRE(systems.systems.size() == 1);
  CHECK(systems.systems[0].outer == 5);
  CHECK(systems.systems[0].w == std::vector<double>{2, 0, 1});
  CHECK(systems.systems[0].rhs == std::vector<double>{1, 2, 3});
}

TEST_CASE("the problem of the systems: beside their file, elsewhere, missing, or another one") {
  const TemporaryFolder folder;
  const ContactProblem host = make_scene("stack");
  const FrozenSystems systems = frozen(host, {1});
  const std::string path = folder.file("systems.h5");
  check_parts(error_of([&] { problem_of(systems, path, ""); }),
              {"the problem stack", "--problem says where else"});
  write_problem(folder.file("stack.h5"), host, false);
  CHECK(problem_of(systems, path, "").name == "stack");
  CHECK(problem_of(systems, path, folder.file("stack.h5")).name == "stack");
  write_problem(folder.file("other.h5"), make_scene("sliding-block"), false);
  check_parts(error_of([&] { problem_of(systems, path, folder.file("other.h5")); }),
              {"content hash", systems.instance_hash});
}

TEST_CASE("results of precond come back from their file") {
  const TemporaryFolder folder;
  const ContactProblem host = random_pile(40, 120, 3);
  PrecondRequest request;
  request.methods = {"cg", "cholmod"};
  request.preconditioners = parse_specs("none,ilut,iluk[level=1]", "--preconditioner");
  request.eigenvalue_steps = 20;
  const FrozenSystems systems = frozen(host, {2, 4});
  const auto rows = run_precond(request, systems, host);
  REQUIRE(rows.size() == 8);
  CHECK(rows[0].outer == 2);
  CHECK(rows[4].outer == 4);
  CHECK(rows[1].status == "refused");
  CHECK(rows[2].preconditioner == "iluk[level=1]");
  CHECK(rows[3].method == "cholmod");
  CHECK(rows[3].residual < 1e-12);
  CHECK(rows[0].eigenvalue_method == "lanczos");
  CHECK(rows[0].low > 0);
  CHECK(rows[0].high > rows[0].low);
  const std::string path = folder.file("precond.h5");
  write_precond(path, request, systems, rows, build_provenance(), false);
  const auto read = read_precond(path);
  REQUIRE(read.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(read[i].preconditioner == rows[i].preconditioner);
    CHECK(read[i].status == rows[i].status);
    CHECK(read[i].iterations == rows[i].iterations);
    CHECK(read[i].solve == rows[i].solve);
  }
  check_parts(error_of([&] { parse_specs("a,,b", "--preconditioner"); }), {"--preconditioner"});
  check_parts(error_of([&] { parse_specs("a[x=1", "--preconditioner"); }), {"'a[x=1'"});
}

}  // namespace ccp::test
