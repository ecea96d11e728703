// What an outer iteration allocates (docs/architecture.md, "Threads and determinism").
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "solvers/core/transfer.hpp"
#include "solvers/registry.hpp"
#include "tests/allocations.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

namespace ccp::test {
namespace {

Allocations operator-(const Allocations& a, const Allocations& b) {
  return {a.heap - b.heap, a.bytes - b.bytes, a.large - b.large, a.views - b.views,
          a.transfers - b.transfers};
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
Counting iterate(Solver& solver, std::size_t size) {
  ContactProblem pile = random_pile(60 * size, 200 * size, 1);
  make_feasible(pile, 2);
  const Problem problem(pile);
  solver.setup(problem);
  const auto gamma = to_vector(std::vector<double>(3 * pile.contacts(), 0.0));
  Counting counting(12);
  count_kokkos();
  solver.solve(*gamma, counting);
  REQUIRE(counting.end() > counting.first());
  return counting;
}
Counting iterate(const char* spec, std::size_t size) {
  return iterate(*make_solver(SolverSpec::parse(spec)), size);
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
  count_kokkos();
  const VectorView view("ccp::test::view", 10), other("somebody's", 10);
  CHECK((allocations() - before).views == 1);
}

TEST_CASE("transfers: they are counted, wherever the memory of the device is") {
  count_kokkos();
  const VectorView view("ccp::test::view", 10);
  const Allocations before = allocations();
  upload_to(view, std::vector<double>(10, 1.0));
  CHECK((allocations() - before).transfers >= 1);
  CHECK(download(view).size() == 10);
  CHECK((allocations() - before).transfers >= 2);
}

namespace {

/// pgj, which in every iteration does what the guards are there to find.
class Careless : public Solver {
 public:
  enum class Fault { none, allocates, transfers };
  explicit Careless(Fault fault) : fault_(fault) {}
  OptionList options() override { return inner_->options(); }
  void setup(const Problem& problem) override { inner_->setup(problem); }
  Info solve(Vector& gamma, Observer& observer) override {
    Watched watched(*this, observer);
    return inner_->solve(gamma, watched);
  }

 private:
  class Watched : public Observer {
   public:
    Watched(Careless& solver, Observer& observer) : solver_(solver), observer_(observer) {}
    bool observe(const Progress& progress,
                 const std::function<void(Vector&)>& write_gamma) override {
      if (solver_.fault_ == Fault::allocates) solver_.view_ = VectorView("ccp::Careless::x", 600);
      if (solver_.fault_ == Fault::transfers) solver_.seen_ = download(solver_.view_);
      return observer_.observe(progress, write_gamma);
    }

   private:
    Careless& solver_;
    Observer& observer_;
  };

  Fault fault_;
  std::unique_ptr<Solver> inner_ = make_solver(SolverSpec::parse("pgj"));
  VectorView view_{"ccp::Careless::x", 600};
  std::vector<double> seen_;
};

}  // namespace

TEST_CASE("the guards find a solver that allocates, and one that moves data, in its iterations") {
  using Fault = Careless::Fault;
  for (const Fault fault : {Fault::none, Fault::allocates, Fault::transfers}) {
    Careless solver(fault);
    const Counting counting = iterate(solver, 2);
    for (std::size_t k = counting.first(); k < counting.end(); ++k) {
      CHECK((counting.of(k).views > 0) == (fault == Fault::allocates));
      CHECK((counting.of(k).transfers > 0) == (fault == Fault::transfers));
    }
  }
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
      // admm's factor is CHOLMOD's, on the host: a right-hand side there, the solution back.
      CHECK(counting.of(k).transfers == (std::string(spec) == "admm" ? 2 : 0));
      // lcp keeps a list of its pivots, which grows now and then.
      CHECK(counting.of(k).large <= (std::string(spec) == "lcp" ? 8192 : 0));
    }
  }
}

// Belos makes vectors when a linear solve begins and small objects in each of its iterations,
// CHOLMOD workspace when it factors, and S travels to it in one view; vipm makes one when it has to
// keep its best iterate for the first time. Others of ours nobody makes, but those of block_ic1
// when preconditioner=auto changes to it.
//
// Between host and device nothing goes, but for factors of CHOLMOD, which are on the host: S there
// (in vipm with the norms of its blocks and, when it is thinned anew, its structure), and for each
// solve with a factor, in cg those of its iterations, a right-hand side there and the solution
// back.
TEST_CASE("allocations: methods with linear systems make no arrays of ours") {
  struct Allowed {
    const char* spec;
    std::size_t views;       ///< an iteration
    std::size_t per_krylov;  ///< calls of malloc for each Krylov iteration
    std::size_t transfers;   ///< an iteration, without those of solves within cg
  };
  for (const Allowed& allowed : {
           Allowed{"ipm", 0, 60, 0},
           {"ipm[krylov=gmres]", 0, 200, 0},
           {"ipm[krylov=minres]", 0, 60, 0},
           {"ipm[preconditioner=block_ic0]", 0, 60, 0},
           {"ipm[krylov=cholmod]", 0, 60, 0},
           {"pqn", 0, 200, 0},
           {"ssn", 14, 60, 0},
           {"vipm", 14, 60, 20},
           {"vipm[linear_solver=cg]", 14, 60, 12},
           {"vipm[linear_solver=cg,preconditioner=block_ic0]", 1, 60, 0},
           {"vipm[linear_solver=cg,preconditioner=colored_sgs]", 1, 60, 0},
           {"vipm[linear_solver=cg,preconditioner=block_chebyshev]", 1, 60, 0},
           {"vipm[linear_solver=cholesky]", 1, 60, 12},
       }) {
    CAPTURE(allowed.spec);
    const Counting counting = iterate(allowed.spec, 2);
    for (std::size_t k = counting.first(); k < counting.end(); ++k) {
      CAPTURE(k, counting.krylov(k));
      CHECK(counting.of(k).views <= allowed.views);
      const bool factors = allowed.transfers > 0;
      CHECK(counting.of(k).transfers <= allowed.transfers + (factors ? 2 * counting.krylov(k) : 0));
      CHECK(counting.of(k).heap <= 2000 + allowed.per_krylov * counting.krylov(k));
    }
  }
}

}  // namespace ccp::test
