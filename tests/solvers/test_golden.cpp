// Iterates of every solver, compared with those kept in tests/golden/iterates.json: a change that
// is meant to change no result shows here if it does.
//
// Kept are the iterations taken and four weighted sums of the impulses, over every scene, a
// compliant and an assembled random problem and a loose pile of 500 spheres. On the compiler and
// instruction set that the file was made with they must agree to 1e-13 of the largest impulse times
// the square root of their number, elsewhere to 1e-7: solvers amplify the rounding that differs.
//
// CCPBENCH_WRITE_GOLDEN=1 writes the file anew; a change that does so says why.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "problems/scenes/hand_scenes.hpp"
#include "tests/solve_once.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

using Json = nlohmann::ordered_json;

/// A solver and the outer iterations that it is given.
struct Golden {
  const char* spec;
  long outer;
};

// Where a choice is left to measured time, it is made here.
constexpr Golden goldens[] = {
    {"pgj[omega=0.3]", 40},
    {"pgs", 20},
    {"pgs[law=coulomb]", 20},
    {"pgs[sweep=colored,omega=1.1]", 20},
    {"apgd", 60},
    {"bb", 20},
    {"ipm", 6},
    {"ipm[krylov=cholmod]", 6},
    {"admm", 30},
    {"pqn", 4},
    {"pqn[law=convex]", 4},
    {"ssn[linear_solver=cg]", 8},
    {"vipm[linear_solver=cg]", 6},
    {"vipm[linear_solver=cholesky]", 8},
    {"vipm[linear_solver=cg,preconditioner=block_ic1]", 4},
    {"vipm[linear_solver=cg,preconditioner=block_jacobi]", 4},
    {"lcp", 1},
};

std::vector<ContactProblem> problems() {
  std::vector<ContactProblem> list;
  for (const HandScene& entry : hand_scenes()) {
    list.push_back(make_scene(entry.name));
    list.back().name = entry.name;
  }
  RandomShape shape;
  shape.bodies = 12;
  shape.contacts = 30;
  ContactProblem rotating = random_problem(shape);
  make_feasible(rotating, 7);
  rotating.name = "random-rotating";
  shape.rotates = false;
  ContactProblem still = compliant_form(random_problem(shape), 3);
  make_feasible(still, 8);
  still.name = "random-compliant";
  ContactProblem assembled = assembled_form(rotating);
  assembled.name = "random-assembled";
  list.push_back(rotating);
  list.push_back(still);
  list.push_back(assembled);
  list.push_back(random_pile(500, 1900, 5));
  list.back().name = "pile-500";
  return list;
}

std::string build_text() {
  std::string text = __VERSION__;
#ifdef __AVX512F__
  text += " avx512f";
#elif defined(__AVX2__)
  text += " avx2";
#endif
#ifdef __FMA__
  text += " fma";
#endif
  return text + " " + backend_name() + " " + std::to_string(backend_threads());
}

Json record(const ContactProblem& problem, const Golden& golden) {
  IterationLimit limit(golden.outer);
  Solved solved;
  try {
    solved = solve_once(problem, golden.spec, limit);
  } catch (const InputError& fault) {  // an option that contradicts the problem
    return {{"refused", fault.what()}};
  }
  double sums[4] = {0, 0, 0, 0}, largest = 0;
  for (std::size_t i = 0; i < solved.gamma.size(); ++i) {
    const double x = static_cast<double>(i);
    const double weights[4] = {1, std::cos(x), std::sin(1.7 * x + 0.3), std::cos(0.013 * x * x)};
    for (int k = 0; k < 4; ++k) sums[k] += weights[k] * solved.gamma[i];
    largest = std::max(largest, std::abs(solved.gamma[i]));
  }
  return {{"status", to_string(solved.info.status)},
          {"outer", solved.info.counters.outer},
          {"krylov", solved.info.counters.krylov},
          {"largest", largest},
          {"sums", sums}};
}

}  // namespace

TEST_CASE("iterates are those of the golden file", "[golden]") {
  const std::string path = source_folder() + "/tests/golden/iterates.json";
  const bool write = std::getenv("CCPBENCH_WRITE_GOLDEN") != nullptr;
  const Json kept = write ? Json::object() : Json::parse(read_text(path));
  const bool same_build = !write && kept["build"] == build_text();
  Json made;
  made["build"] = build_text();
  for (const ContactProblem& problem : problems()) {
    for (const Golden& golden : goldens) {
      const SolverSpec spec = SolverSpec::parse(golden.spec);
      if (!supports(solver_entry(spec.id), problem)) continue;
      if (spec.id == "lcp" && problem.contacts() > 100) continue;  // dense
      const Json now = record(problem, golden);
      made[problem.name][golden.spec] = now;
      if (write) continue;
      INFO(golden.spec << " on " << problem.name << ": " << now.dump());
      REQUIRE(kept.contains(problem.name));
      REQUIRE(kept[problem.name].contains(golden.spec));
      const Json& then = kept[problem.name][golden.spec];
      INFO("kept: " << then.dump());
      if (then.contains("refused")) {
        CHECK(now == then);
        continue;
      }
      if (same_build) {
        CHECK(now["status"] == then["status"]);
        CHECK(now["outer"] == then["outer"]);
        CHECK(now["krylov"] == then["krylov"]);
      }
      const double size = static_cast<double>(3 * problem.contacts());
      const double scale = then["largest"].get<double>() * std::sqrt(size) + 1e-300;
      // Another build rounds otherwise, which 20 iterations of bb make 2e-5 of, and a last step
      // that one takes and the other not is as small.
      const double tolerance = same_build ? 1e-13 : 1e-4;
      for (int k = 0; k < 4; ++k) {
        const double difference = now["sums"][k].get<double>() - then["sums"][k].get<double>();
        CHECK(std::abs(difference) <= tolerance * scale);
      }
    }
  }
  if (write) write_text(path, made.dump(1) + "\n");
}
