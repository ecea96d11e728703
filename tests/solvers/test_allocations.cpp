// What an outer iteration allocates (docs/architecture.md, "Threads and determinism").
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "solvers/registry.hpp"
#include "tests/allocations.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

namespace ccp::test {
namespace {

Allocations operator-(const Allocations& a, const Allocations& b) {
  return {a.heap - b.heap, a.bytes - b.bytes, a.large - b.large, a.views - b.views};
}

/// Notes what has been allocated whenever an iteration ends, and ends the solve after `limit` of
/// them. It allocates nothing itself.
class Counting : public Observer {
 public:
  explicit Counting(std::size_t limit) {
    marks_.reserve(limit + 1);
    krylov_.reserve(limit + 1);
  }

  bool observe(const Progress& progress, const std::function<void(Vector&)>&) override {
    marks_.push_back(allocations());
    krylov_.push_back(progress.counters.krylov);
    return marks_.size() == marks_.capacity();
  }

  /// Iterations that count: in the first two, what is made once may be made.
  std::size_t first() const { return 3; }
  std::size_t end() const { return marks_.size(); }
  Allocations of(std::size_t k) const { return marks_[k] - marks_[k - 1]; }
  std::size_t krylov(std::size_t k) const {
    return static_cast<std::size_t>(krylov_[k] - krylov_[k - 1]);
  }

 private:
  std::vector<Allocations> marks_;
  std::vector<long> krylov_;
};

/// Twelve iterations on a pile of 60 `size` spheres and 200 `size` contacts.
Counting iterate(const char* spec, std::size_t size) {
  ContactProblem pile = random_pile(60 * size, 200 * size, 1);
  make_feasible(pile, 2);
  const Problem problem(pile);
  const auto solver = make_solver(SolverSpec::parse(spec));
  solver->setup(problem);
  const auto gamma = to_vector(std::vector<double>(3 * pile.contacts(), 0.0));
  Counting counting(12);
  count_views();
  solver->solve(*gamma, counting);
  REQUIRE(counting.end() > counting.first());
  return counting;
}

}  // namespace

TEST_CASE("allocations: they are counted") {
  const Allocations before = allocations();
  const auto made = std::make_unique<double[]>(10);
  CHECK(made[9] == 0);
  const Allocations by_new = allocations() - before;
  CHECK(by_new.heap == 1);
  CHECK(by_new.bytes == 80);
  CHECK(by_new.large == 0);
  count_views();
  const VectorView view("ccp::test::view", 10), other("somebody's", 10);
  CHECK((allocations() - before).views == 1);
}

// Kokkos makes a std::string of a kernel's label whenever the kernel starts, and with OpenMP a copy
// of its policy: some hundred bytes a kernel, however many contacts there are. What has a number
// for each of the 400 contacts has more than 2 kB.
TEST_CASE("allocations: methods without iterative linear solves make nothing of a problem's size") {
  for (const char* spec :
       {"pgj", "pgs", "pgs[law=coulomb]", "pgs[sweep=colored]", "apgd", "bb", "admm", "lcp"}) {
    CAPTURE(spec);
    const Counting counting = iterate(spec, 2);
    for (std::size_t k = counting.first(); k < counting.end(); ++k) {
      CAPTURE(k);
      CHECK(counting.of(k).views == 0);
      // lcp keeps a list of its pivots, which grows now and then.
      CHECK(counting.of(k).large <= (std::string(spec) == "lcp" ? 8192 : 0));
    }
  }
}

// Belos makes vectors when a linear solve begins and small objects in each of its iterations,
// CHOLMOD workspace when it factors, and S travels to it in one view; vipm makes one when it has to
// keep its best iterate for the first time. Others of ours nobody makes, but those of block_ic1
// when preconditioner=auto changes to it.
TEST_CASE("allocations: methods with linear systems make no arrays of ours") {
  struct Allowed {
    const char* spec;
    std::size_t views;       ///< an iteration
    std::size_t per_krylov;  ///< calls of malloc for each Krylov iteration
  };
  for (const Allowed& allowed : {
           Allowed{"ipm", 0, 60},
           {"ipm[krylov=gmres]", 0, 200},
           {"ipm[krylov=minres]", 0, 60},
           {"ipm[preconditioner=block_ic0]", 0, 60},
           {"ipm[krylov=cholmod]", 0, 60},
           {"pqn", 0, 200},
           {"ssn", 13, 60},
           {"vipm", 13, 60},
           {"vipm[linear_solver=cg]", 13, 60},
           {"vipm[linear_solver=cg,preconditioner=block_ic0]", 1, 60},
       }) {
    CAPTURE(allowed.spec);
    const Counting counting = iterate(allowed.spec, 2);
    for (std::size_t k = counting.first(); k < counting.end(); ++k) {
      CAPTURE(k, counting.krylov(k));
      CHECK(counting.of(k).views <= allowed.views);
      CHECK(counting.of(k).heap <= 2000 + allowed.per_krylov * counting.krylov(k));
    }
  }
}

}  // namespace ccp::test
