// Nothing of the host touches the memory of the device, but by transfers.
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "solvers/core/transfer.hpp"
#include "solvers/registry.hpp"
#include "tests/host_access.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

namespace ccp::test {
namespace {

/// Ends a solve after some iterations, and may look where it should not.
class Watching : public Observer {
 public:
  explicit Watching(const VectorView& peeked = {}) : peeked_(peeked) {}
  bool observe(const Progress&, const std::function<void(Vector&)>&) override {
    if (peeked_.data()) seen_ += peeked_(0);
    return ++calls_ == 12;
  }
  int calls() const { return calls_; }

 private:
  VectorView peeked_;
  double seen_ = 0;
  int calls_ = 0;
};

/// Twelve iterations of a solver, setup with them.
void iterate(const char* spec, Watching& watching) {
  ContactProblem pile = random_pile(120, 400, 1);
  make_feasible(pile, 2);
  const auto gamma = to_vector(std::vector<double>(3 * pile.contacts(), 0.0));
  const auto solver = make_solver(SolverSpec::parse(spec));
  const Problem problem(pile);
  solver->setup(problem);
  solver->solve(*gamma, watching);
  REQUIRE(watching.calls() > 2);
}

}  // namespace

TEST_CASE("host access: reading and writing a view is found, a transfer is none") {
  const GuardedMemory guarded;
  const VectorView view("ccp::test::view", 1000);
  Kokkos::deep_copy(ExecSpace(), view, 2.0);
  CHECK(download(view)[999] == 2);
  Kokkos::deep_copy(ExecSpace(), view, 3.0);
  CHECK(guarded.accesses() == 0);
  CHECK(view(999) == 3);
  CHECK(guarded.accesses() == 1);
  CHECK(guarded.last() == "ccp::test::view");
  Kokkos::deep_copy(ExecSpace(), view, 4.0);
  *view.data() = 5;
  CHECK(guarded.accesses() == 2);
}

TEST_CASE("host access: vectors of Tpetra's, too") {
  const GuardedMemory guarded;
  Vector x(make_map(1000), 1);
  x.putScalar(1);
  x.scale(2);
  double norm = 0;
  x.norm1(Teuchos::ArrayView<double>(&norm, 1));
  CHECK(norm == 2000);
  CHECK(guarded.accesses() == 0);
  CHECK(read_view(x)(7) == 2);
  CHECK(guarded.accesses() == 1);
}

TEST_CASE("host access: a solve that is looked into is found") {
  const GuardedMemory guarded;
  const VectorView view("ccp::test::view", 1000);
  Watching watching(view);
  iterate("pgj", watching);
  CHECK(guarded.accesses() == 12);
  CHECK(guarded.last() == "ccp::test::view");
}

// What is on the host reads Tpetra's vectors there, which on a device Tpetra copies: factors of
// CHOLMOD where the system is Tpetra's, and the rows of Tpetra's matrix, once, for a pattern in
// blocks. Belos' minres looks at a vector once a solve.
TEST_CASE("host access: no solver has any but where its factor is on the host") {
  struct Allowed {
    const char* spec;
    std::size_t accesses;  ///< in twelve iterations, setup with them
  };
  for (const Allowed& allowed : {
           Allowed{"pgj", 0},
           {"pgs", 0},
           {"pgs[law=coulomb]", 0},
           {"pgs[sweep=colored]", 0},
           {"apgd", 0},
           {"bb", 0},
           {"admm", 1},
           {"ipm", 0},
           {"ipm[krylov=gmres]", 0},
           {"ipm[krylov=minres]", 12},
           {"ipm[preconditioner=block_ic0]", 4},
           {"ipm[krylov=cholmod]", 24},
           {"pqn", 0},
           {"ssn", 0},
           {"vipm", 0},
           {"vipm[linear_solver=cg,preconditioner=block_ic0]", 0},
           {"vipm[linear_solver=cg,preconditioner=colored_sgs]", 0},
           {"vipm[linear_solver=cg,preconditioner=block_chebyshev]", 0},
           {"vipm[linear_solver=cholesky]", 0},
       }) {
    DYNAMIC_SECTION(allowed.spec) {
      const GuardedMemory guarded;
      Watching watching;
      iterate(allowed.spec, watching);
      CAPTURE(guarded.last());
      CHECK(guarded.accesses() <= allowed.accesses);
    }
  }
}

// Its triangular solves are sequential: both vectors go to the host in every application.
TEST_CASE("host access: a preconditioner on the host is found") {
  const GuardedMemory guarded;
  Watching watching;
  iterate("ipm[preconditioner=ic0]", watching);
  CHECK(guarded.accesses() > 12);
  CHECK(guarded.last().rfind("MV::", 0) == 0);
}

}  // namespace ccp::test
