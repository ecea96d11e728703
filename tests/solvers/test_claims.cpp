// "Converged" is a claim; the referee must find the same. And small problems that were answered
// wrongly once must be answered rightly (tests/hard_problems.hpp).
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>

#include "problems/model/solvable.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/linear/definiteness.hpp"
#include "tests/hard_problems.hpp"
#include "tests/solve_once.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

// lcp claims the solution of a polyhedral law, which no measure here is of.
const char* const solvers[] = {
    "pgj[omega=0.3]",
    "pgs",
    "pgs[law=coulomb]",
    "pgs[local=step,omega=0.5]",
    "apgd",
    "apgd[metric=plain]",
    "bb",
    "bb[metric=plain]",
    "bb[step=bb2]",
    "ipm",
    "ipm[krylov=cholmod]",
    "admm",
    "pqn",
    "pqn[law=convex]",
    "ssn",
    "coulomb[iteration=newton,inner=vipm[linear_solver=cholesky]]",
    "vipm[linear_solver=cg]",
    "vipm[linear_solver=cholesky]",
};

Measure judge(Law law) {
  return law == Law::coulomb ? Measure::coulomb_residual : Measure::residual;
}

Law law_of(const char* spec) {
  return make_solver(SolverSpec::parse(spec))->law();
}

bool takes(const char* spec, const ContactProblem& problem) {
  const bool needs_bodies = std::string(spec).find("linear_solver=cg") != std::string::npos;
  if (needs_bodies && problem.form == ContactProblem::Form::assembled) return false;
  return supports(SolverSpec::parse(spec), problem);
}

/// What a solver says when nobody but a generous limit of iterations ends it.
Solved claim_of(const ContactProblem& problem, const char* spec) {
  IterationLimit limit(200000);
  return solve_once(problem, spec, limit);
}

void check_claim(const ContactProblem& problem, const char* spec) {
  const Solved solved = claim_of(problem, spec);
  const double residual = solved.measures[judge(law_of(spec))];
  INFO(spec << " on " << problem.name << ": " << to_string(solved.info.status) << " ("
            << solved.info.message << ") with own " << solved.info.own_residual << ", referee "
            << residual << ", " << solved.info.counters.outer << " outer");
  for (const double g : solved.gamma) REQUIRE(std::isfinite(g));
  if (solved.info.status == Status::converged) CHECK(residual <= 1e-6);
}

/// A solver that is given time must get there, whatever it says.
void check_reached(const ContactProblem& problem, const char* spec, double value = 1e-8) {
  const Problem on_device(problem);
  RefereeStop until(on_device, judge(law_of(spec)), value);
  const Solved solved = solve_once(problem, spec, until);
  const double residual = solved.measures[judge(law_of(spec))];
  INFO(spec << " on " << problem.name << ": " << to_string(solved.info.status) << " ("
            << solved.info.message << ") with own " << solved.info.own_residual << ", referee "
            << residual << ", " << solved.info.counters.outer << " outer");
  CHECK(residual <= value);
}

}  // namespace

TEST_CASE("no solver claims what the referee contradicts", "[claims]") {
  for (const ContactProblem& problem :
       {flat(), flat_two(), rank_one(), normal_only(), zero_normal(), rounded_box(),
        two_immovable(), mass_ratio(1e8), one_slippery_contact()}) {
    for (const char* const spec : solvers) {
      if (takes(spec, problem)) check_claim(problem, spec);
    }
  }
}

TEST_CASE("singular contact blocks are solved by every solver", "[claims]") {
  for (const ContactProblem& problem : {flat(), flat_two(), rank_one(), normal_only()}) {
    for (const char* const spec : solvers) {
      if (takes(spec, problem)) check_reached(problem, spec);
    }
  }
}

TEST_CASE("the planar contact has the impulse computed by hand", "[claims]") {
  const ContactProblem problem = flat();
  for (const char* const spec : solvers) {
    if (!takes(spec, problem)) continue;
    const Problem on_device(problem);
    RefereeStop until(on_device, judge(law_of(spec)), 1e-9);
    const Solved solved = solve_once(problem, spec, until);
    const bool coulomb = law_of(spec) == Law::coulomb;
    INFO(spec << ": " << solved.gamma[0] << " " << solved.gamma[1] << " " << solved.gamma[2]);
    CHECK(std::abs(solved.gamma[0] - (coulomb ? 1.0 / 2 : 5.0 / 9)) <= 1e-4);
    CHECK(std::abs(solved.gamma[1] - (coulomb ? -1.0 / 5 : -2.0 / 9)) <= 1e-4);
  }
}

TEST_CASE("no measure is zero where the problem is not solved", "[claims]") {
  for (const ContactProblem& problem : {flat(), rank_one(), normal_only()}) {
    const Problem on_device(problem);
    Referee referee(on_device);
    const Measures at_zero = referee.measure(Vector(on_device.map(), 1));
    INFO(problem.name);
    for (const Measure m : {Measure::residual, Measure::natural_map, Measure::merit,
                            Measure::coulomb_residual, Measure::coulomb_merit}) {
      CHECK(!(at_zero[m] <= 1e-6));
    }
  }
}

TEST_CASE("a solver's check of itself has the referee's terms", "[claims]") {
  RandomShape shape;
  const ContactProblem problem = random_problem(shape);
  const Problem on_device(problem);
  Referee referee(on_device);
  const auto gamma = to_vector(random_vector(3 * problem.contacts(), 3));
  const Measures measured = referee.measure(*gamma);
  for (const Law law : {Law::convex, Law::coulomb}) {
    const Optimality own = optimality(on_device, law, *gamma);
    CHECK(std::abs(own.residual() - measured[judge(law)]) <= 1e-12 * measured[judge(law)]);
  }
}

namespace {

/// Looks at every iterate and ends the solve at iteration `last`, content with it or not.
class Until : public Observer {
 public:
  Until(const Problem& problem, long last, bool content)
      : seen_(problem.map(), 1), last_(last), content_(content) {}
  bool observe(const Progress& progress, const std::function<void(Vector&)>& write_gamma) override {
    write_gamma(seen_);
    ended_ = progress.counters.outer >= last_;
    return ended_;
  }
  bool satisfied() const override { return content_ && ended_; }
  std::vector<double> seen() const { return to_host(seen_); }

 private:
  Vector seen_;
  long last_;
  bool content_, ended_ = false;
};

}  // namespace

TEST_CASE("what an observer is content with is handed back, and looking changes nothing",
          "[claims]") {
  std::vector<std::string> specs(std::begin(solvers), std::end(solvers));
  for (const char* const more :
       {"lcp", "pqn[max_iterations=2]", "pqn[law=convex,max_iterations=2]",
        "vipm[linear_solver=cholesky,tolerance=0]",
        "vipm[linear_solver=cg,preconditioner=block_jacobi,tolerance=0]",
        "coulomb[iteration=newton,tolerance=0]", "coulomb[iteration=anderson,inner=apgd]",
        "coulomb[iteration=plain,inner=vipm[linear_solver=cholesky]]"}) {
    specs.push_back(more);
  }
  std::map<std::string, int> preferred;  // by id: how often a limit has it hand back another one
  for (const ContactProblem& problem :
       {random_pile(40, 100, 1), make_scene("mass-ratio-stack"),
        assembled_form(random_pile(20, 40, 2)), one_slippery_contact()}) {
    for (const std::string& spec : specs) {
      if (!takes(spec.c_str(), problem)) continue;
      const Problem on_device(problem);
      for (const long last : {1, 2, 3, 5, 8, 13, 21, 34}) {
        Until content(on_device, last, true), limit(on_device, last, false);
        const Solved solved = solve_once(problem, spec, content);
        INFO(spec << " on " << problem.name << ", " << last << ": " << to_string(solved.info.status)
                  << " " << solved.info.message);
        // One that ends by itself before has nobody to please.
        if (content.satisfied()) CHECK(solved.gamma == content.seen());
        const Solved at_limit = solve_once(problem, spec, limit);
        preferred[SolverSpec::parse(spec).id] += at_limit.gamma != limit.seen();
        // Looking changes nothing.
        IterationLimit blind(last);
        CHECK(solve_once(problem, spec, blind).gamma == at_limit.gamma);
      }
    }
  }
  for (const auto& [id, count] : preferred) {
    INFO(id << " " << count);
    CHECK((count > 0) == (id == "vipm" || id == "pqn" || id == "coulomb"));
  }
}

TEST_CASE("an N that is not of mechanics is told by its eigenvalue", "[claims]") {
  const auto spectrum = [](const ContactProblem& p) { return definiteness(Problem(p)); };
  const Definiteness bad = spectrum(
      dense_problem("indefinite_block", {1, 0, 0, 0, 1, 0, 0, 0, -0.5}, {-1, 0.2, 0.1}, {0.4}));
  CHECK_FALSE(bad.is_semidefinite());
  CHECK(std::abs(bad.least + 0.5) <= 1e-12);
  CHECK(bad.text() == "the eigenvalue -0.5 beside 1 1/kg");
  const Definiteness negative = spectrum(
      dense_problem("negative_definite", {-1, 0, 0, 0, -1, 0, 0, 0, -1}, {-1, 0.2, 0.1}, {0.4}));
  CHECK_FALSE(negative.is_semidefinite());
  CHECK(Problem(dense_problem("negative_definite", {-1, 0, 0, 0, -1, 0, 0, 0, -1}, {-1, 0.2, 0.1},
                              {0.4}))
            .mean_diagonal() == -1);
  for (const ContactProblem& good : {flat(), rank_one(), zero_normal(), separate(300)}) {
    INFO(good.name);
    CHECK(spectrum(good).is_semidefinite());
    CHECK(spectrum(good).least >= -1e-12);
  }
  const Definiteness printed = spectrum(rounded_box());  // with six digits
  CHECK(printed.least < 0);
  CHECK(printed.is_semidefinite());
}

TEST_CASE("an inertia that is not of mechanics is named", "[claims]") {
  ContactProblem problem = random_problem({3, 6, true, true, 1});
  const double bad[9] = {1, 2, 0, 2, 1, 0, 0, 0, 1};  // eigenvalues -1, 1, 3
  std::copy(bad, bad + 9, problem.inverse_inertia.begin() + 9);
  check_parts(error_of([&] { problem.validate("x.h5"); }),
              {"x.h5: /bodies/inverse_inertia[1]: ", "positive semidefinite", "eigenvalue -1"});
}

TEST_CASE("two immovable bodies that approach are told, and those that part are not", "[claims]") {
  ContactProblem problem = two_immovable();
  CHECK(unsolvable_contact(problem) == 1);
  problem.r[3] = 0.2;
  CHECK(unsolvable_contact(problem) == -1);
  CHECK(unsolvable_contact(flat()) == -1);
}
