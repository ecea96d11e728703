#include "harness/systems/frozen_systems.hpp"

#include <limits>

#include "harness/systems/precond.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "solvers/ipm/ipm.hpp"
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
    solver.on_newton_step = [&](const IpmSolver::NewtonStep& step) {
      if (step.outer != 2 && step.outer != 5) return;
      products.push_back(product_of(step.system, x));
      sides.push_back(to_host(step.b));
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
              {"solver pgj", "ipm[...]"});
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
