#include "solvers/admm/shifted_delassus.hpp"

#include <Tpetra_CrsMatrix.hpp>

#include "solvers/core/stopwatch.hpp"
#include "solvers/linear/direct.hpp"
#include "solvers/velocity_space/make_system.hpp"
#include "solvers/velocity_space/velocity_solver.hpp"

namespace ccp {
namespace {

class OnBodies : public ShiftedDelassus {
 public:
  explicit OnBodies(const Problem& problem)
      // The factorisation has an order of bodies of its own.
      : system_(make_velocity_system(problem, "natural", "block_jacobi")),
        k_("ccp::Admm::k", problem.triples()),
        f_(Teuchos::rcp(new Vector(system_->map(), 1))),
        z_(Teuchos::rcp(new Vector(system_->map(), 1))) {}

  DeviceArray<const int*> contact_order() const override { return system_->contact_order(); }

  void begin(Observer& observer, Info& info) override {
    info_ = &info;
    VelocitySolver::Options options;
    options.method = "cholesky";
    options.max_iterations = 1;
    options.shifts = false;  // the same factor serves many iterations
    solver_ = std::make_unique<VelocitySolver>(options, *system_, observer, info);
  }

  bool factorize(const Yield& yield) override {
    {
      const Stopwatch watch(info_->timers["assembly"]);
      set_blocks(yield);
      system_->assemble(k_, {});
    }
    solver_->matrix_changed();
    // It factors when it first solves.
    f_->putScalar(0);
    return solver_->solve(f_, z_, 0) == VelocitySolver::Outcome::solved;
  }

  void product(const ConstVectorView& q, const VectorView& d) override {
    system_->load(q, overwrite_view(*f_));
    solver_->solve(f_, z_, 0);
    ++info_->counters.operator_applies;
    system_->contact_velocities(read_view(*z_), d);
  }

  // Public only because device lambdas may not live in private members.
  void set_blocks(const Yield& yield) const {
    const auto k = k_;
    Kokkos::parallel_for(
        "ccp::Admm::blocks", range(k.extent(0)),
        KOKKOS_LAMBDA(const int t) { k(t) = yield.block(t); });
  }

 private:
  std::unique_ptr<VelocitySystem> system_;
  DeviceArray<Sym3*> k_;  ///< [triples] kg
  Teuchos::RCP<Vector> f_, z_;
  std::unique_ptr<VelocitySolver> solver_;
  Info* info_ = nullptr;
};

class Assembled : public ShiftedDelassus {
 public:
  explicit Assembled(const Problem& problem)
      : matrix_(make_crs(assemble_delassus(problem.host()), problem.map())),
        place_(diagonal_places(*matrix_)),
        block_(problem.shared_delassus().diagonal_blocks()),
        diagonal_("ccp::Admm::diagonal", problem.contacts()),
        order_("ccp::Admm::order", problem.contacts()),
        right_(problem.map(), 1),
        x_(problem.map(), 1) {
    number(order_);
    solver_ = make_direct_solver("cholmod", matrix_);
  }

  DeviceArray<const int*> contact_order() const override { return order_; }
  void begin(Observer&, Info& info) override { info_ = &info; }

  bool factorize(const Yield& yield) override {
    const Stopwatch watch(info_->timers["factorization"]);
    rho_ = yield.rho;
    set_diagonal(rho_);
    replace_diagonal(diagonal_, place_, *matrix_);
    ++info_->counters.factorizations;
    return solver_->factorize().empty();
  }

  void product(const ConstVectorView& q, const VectorView& d) override {
    const auto right = overwrite_view(right_);
    scale(q, right);
    {
      const Stopwatch watch(info_->timers["direct_solve"]);
      solver_->solve(right_, x_);
    }
    ++info_->counters.operator_applies;
    subtract(read_view(right_), read_view(x_), d);
  }

  // Public only because device lambdas may not live in private members.
  static void number(const DeviceArray<int*>& order) {
    Kokkos::parallel_for(
        "ccp::Admm::order", range(order.extent(0)), KOKKOS_LAMBDA(const int c) { order(c) = c; });
  }
  void set_diagonal(const DeviceArray<const double*>& rho) const {
    const auto block = block_;
    const auto diagonal = diagonal_;
    Kokkos::parallel_for(
        "ccp::Admm::diagonal", range(diagonal.extent(0)), KOKKOS_LAMBDA(const int c) {
          diagonal(c) = upper_triangle(block, c);
          diagonal(c).xx += rho(c);
          diagonal(c).yy += rho(c);
          diagonal(c).zz += rho(c);
        });
  }
  /// right = D q.
  void scale(const ConstVectorView& q, const VectorView& right) const {
    const auto rho = rho_;
    Kokkos::parallel_for(
        "ccp::Admm::scale", range(rho.extent(0)),
        KOKKOS_LAMBDA(const int c) { store3(right, c, rho(c) * load3(q, c)); });
  }
  /// d = right - D x, which is N x.
  void subtract(const ConstVectorView& right, const ConstVectorView& x, const VectorView& d) const {
    const auto rho = rho_;
    Kokkos::parallel_for(
        "ccp::Admm::subtract", range(rho.extent(0)),
        KOKKOS_LAMBDA(const int c) { store3(d, c, load3(right, c) - rho(c) * load3(x, c)); });
  }

 private:
  Teuchos::RCP<CrsMatrix> matrix_;
  DeviceArray<const int*> place_;
  DeviceArray<double* [3][3]> block_;  ///< of N
  DeviceArray<Sym3*> diagonal_;
  DeviceArray<int*> order_;
  DeviceArray<const double*> rho_;
  Vector right_, x_;
  std::unique_ptr<DirectSolver> solver_;
  Info* info_ = nullptr;
};

}  // namespace

std::unique_ptr<ShiftedDelassus> ShiftedDelassus::make(const Problem& problem) {
  if (problem.shared_delassus().is_assembled()) return std::make_unique<Assembled>(problem);
  return std::make_unique<OnBodies>(problem);
}

}  // namespace ccp
