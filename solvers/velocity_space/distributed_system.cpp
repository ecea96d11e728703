#include "solvers/velocity_space/distributed_system.hpp"

#include <stdexcept>

#include "solvers/core/rank_map.hpp"
#include "solvers/distributed/overlap.hpp"
#include "solvers/linear/function_operator.hpp"
#include "solvers/velocity_space/body_system.hpp"
#include "solvers/velocity_space/thinned_factor.hpp"

namespace ccp {
namespace {

constexpr const char* no_preconditioner = "none";
constexpr const char* own_order = "natural";

/// A system of this rank's bodies and some of others, and the way there and back of vectors that
/// have the rank's own bodies alone.
class LocalBodies {
 public:
  /// @param bodies  of the local problem: the first of them are the rank's
  LocalBodies(const ContactProblem& problem, std::shared_ptr<BodyExchange> bodies, int width)
      : system_(make_body_system(problem, own_order, no_preconditioner)),
        exchange_(std::move(bodies)),
        body_(system_->body_order()),
        rows_("ccp::LocalBodies::rows", problem.bodies(), width),
        x_(system_->map(), 1),
        y_(system_->map(), 1) {}

  VelocitySystem& system() const { return *system_; }
  int width() const { return static_cast<int>(rows_.extent(1)); }
  int owned() const { return exchange_->owned(); }

  /// Own rows and those of the others' owners, or zero there, in the order of the system.
  ConstVectorView spread(const ConstVectorView& z) const {
    take_owned(z);
    exchange_->copy_to_ghosts(rows_);
    return ordered();
  }
  ConstVectorView alone(const ConstVectorView& z) const {
    Kokkos::deep_copy(ExecSpace(), rows_, 0.0);
    take_owned(z);
    return ordered();
  }
  /// The sum of what all ranks have of the rank's rows.
  void collect(const ConstVectorView& y, const VectorView& f) const {
    const auto rows = rows_;
    const auto body = body_;
    const int columns = width();
    Kokkos::parallel_for(
        "ccp::LocalBodies::collect", range(body.extent(0)), KOKKOS_LAMBDA(const int i) {
          for (int k = 0; k < columns; ++k) rows(body(i), k) = y(columns * i + k);
        });
    exchange_->add_to_owners(rows_);
    Kokkos::parallel_for(
        "ccp::LocalBodies::give_owned", range(owned()), KOKKOS_LAMBDA(const int i) {
          for (int k = 0; k < columns; ++k) f(columns * i + k) = rows(i, k);
        });
  }
  /// Room for a result of the system.
  VectorView result() const { return overwrite_view(y_); }

  /// f = S z, with S the sum of all ranks' systems, each of which has a 1 of its own.
  void multiply(const ConstVectorView& z, const VectorView& f) const {
    spread(z);
    system_->matrix()->apply(x_, y_);
    const auto x = read_view(x_);
    const auto y = read_write_view(y_);
    const auto body = body_;
    const int columns = width(), owned_bodies = owned();
    Kokkos::parallel_for(
        "ccp::LocalBodies::drop_ones", range(body.extent(0)), KOKKOS_LAMBDA(const int i) {
          if (body(i) < owned_bodies) return;
          for (int k = 0; k < columns; ++k) y(columns * i + k) -= x(columns * i + k);
        });
    collect(y, f);
  }

  // Public only because device lambdas may not live in private members.
  void take_owned(const ConstVectorView& z) const {
    const auto rows = rows_;
    const int columns = width();
    Kokkos::parallel_for(
        "ccp::LocalBodies::take_owned", range(owned()), KOKKOS_LAMBDA(const int i) {
          for (int k = 0; k < columns; ++k) rows(i, k) = z(columns * i + k);
        });
  }
  ConstVectorView ordered() const {
    const auto x = overwrite_view(x_);
    const auto rows = rows_;
    const auto body = body_;
    const int columns = width();
    Kokkos::parallel_for(
        "ccp::LocalBodies::ordered", range(body.extent(0)), KOKKOS_LAMBDA(const int i) {
          for (int k = 0; k < columns; ++k) x(columns * i + k) = rows(body(i), k);
        });
    return x;
  }

 private:
  std::unique_ptr<VelocitySystem> system_;
  std::shared_ptr<BodyExchange> exchange_;
  DeviceArray<const int*> body_;  ///< [rows of the system] place in the local problem
  DeviceArray<double**> rows_;    ///< [bodies][3 or 6] in the order of the local problem
  mutable Vector x_, y_;          ///< in the order of the system
};

class DistributedSystem : public VelocitySystem {
 public:
  DistributedSystem(const Problem& problem, const SchwarzOptions& options);

  int size() const override { return part_.width() * part_.owned(); }
  Teuchos::RCP<const Map> map() const override { return map_; }
  DeviceArray<const int*> contact_order() const override { return part_.system().contact_order(); }
  void contact_velocities(const ConstVectorView& z, const VectorView& d) const override {
    part_.system().contact_velocities(part_.spread(z), d);
  }
  void load(const ConstVectorView& p, const VectorView& f) const override {
    const VectorView sums = part_.result();
    part_.system().load(p, sums);
    part_.collect(sums, f);
  }
  double speed(const ConstVectorView& f) const override;
  void assemble(const DeviceArray<Sym3*>& k, const DeviceArray<CrossBlock*>& cross) override {
    part_.system().assemble(k, cross);
    k_ = k;
  }
  Teuchos::RCP<const Operator> matrix() const override { return matrix_; }
  PreconditionerReport precondition() override;
  bool strengthen() override { return false; }
  Teuchos::RCP<const Operator> preconditioner() const override { return preconditioner_; }
  void lower_pattern(std::vector<std::int64_t>&, std::vector<int>&) const override {
    throw std::logic_error("DistributedSystem: not for factorisations");
  }
  void lower_values(std::vector<double>&) const override {
    throw std::logic_error("DistributedSystem: not for factorisations");
  }
  int block_size() const override { return part_.width(); }

  // Public only because device lambdas may not live in private members.
  void send_blocks();
  void apply_schwarz(const ConstVectorView& r, const VectorView& y) const;

 private:
  Ranks ranks_;
  Teuchos::RCP<const Map> map_;
  LocalBodies part_;  ///< of this rank's contacts
  OverlappedPart reach_;
  LocalBodies overlap_;
  DeviceArray<Sym3*> k_;          ///< of assemble()
  DeviceArray<double**> k_rows_;  ///< [contacts of the overlap][6] in the order of reach_
  DeviceArray<Sym3*> overlap_k_;  ///< the same in the order of overlap_
  Info info_;                     ///< of factorisations
  mutable ThinnedFactor factor_;
  bool factored_ = false;
  Teuchos::RCP<const Operator> matrix_, preconditioner_;
};

int width_of(const ContactProblem& problem) {
  return problem.rotates() ? 6 : 3;
}

DistributedSystem::DistributedSystem(const Problem& problem, const SchwarzOptions& options)
    : ranks_(problem.ranks()),
      map_(map_of(problem.ranks(), problem.distribution()->owned_body, width_of(problem.host()))),
      part_(problem.host(), std::make_shared<BodyExchange>(*problem.distribution()),
            width_of(problem.host())),
      reach_(overlapped_part(problem.host(), *problem.distribution(), options.overlap)),
      overlap_(reach_.problem, reach_.bodies, part_.width()),
      k_rows_("ccp::DistributedSystem::k_rows", reach_.problem.contacts(), 6),
      overlap_k_("ccp::DistributedSystem::overlap_k", k_rows_.extent(0)),
      factor_({options.thinning, true}, overlap_.system(), info_) {
  matrix_ = Teuchos::rcp(new FunctionOperator(
      map_, [this](const ConstVectorView& z, const VectorView& f) { part_.multiply(z, f); }));
  preconditioner_ = Teuchos::rcp(new FunctionOperator(
      map_, [this](const ConstVectorView& r, const VectorView& y) { apply_schwarz(r, y); }));
}

/// By the overlap, which knows all contacts of the rank's bodies and so how far they reach.
double DistributedSystem::speed(const ConstVectorView& f) const {
  return ranks_.largest(overlap_.system().speed(overlap_.alone(f)));
}

/// K of the contacts of the overlap, from the ranks that they belong to.
void DistributedSystem::send_blocks() {
  const auto rows = k_rows_;
  const auto k = k_;
  const auto own_order = contact_order();
  Kokkos::parallel_for(
      "ccp::DistributedSystem::own_blocks", range(own_order.extent(0)), KOKKOS_LAMBDA(const int c) {
        const Sym3 block = k(c);
        const int row = own_order(c);
        rows(row, 0) = block.xx, rows(row, 1) = block.xy, rows(row, 2) = block.xz;
        rows(row, 3) = block.yy, rows(row, 4) = block.yz, rows(row, 5) = block.zz;
      });
  reach_.contacts->copy_to_ghosts(rows);
  const auto order = overlap_.system().contact_order();
  const auto all = overlap_k_;
  Kokkos::parallel_for(
      "ccp::DistributedSystem::all_blocks", range(order.extent(0)), KOKKOS_LAMBDA(const int c) {
        const int row = order(c);
        all(c) = {rows(row, 0), rows(row, 1), rows(row, 2),
                  rows(row, 3), rows(row, 4), rows(row, 5)};
      });
}

PreconditionerReport DistributedSystem::precondition() {
  send_blocks();
  overlap_.system().assemble(overlap_k_);
  factored_ = factor_.factorise();  // S >= 1: it fails at no shift, unless there are NaNs
  return {};
}

void DistributedSystem::apply_schwarz(const ConstVectorView& r, const VectorView& y) const {
  const ConstVectorView residual = overlap_.spread(r);
  const VectorView sums = overlap_.result();
  if (factored_) {
    factor_.solve(residual, sums);
  } else {
    Kokkos::deep_copy(sums, residual);
  }
  overlap_.collect(sums, y);
}

}  // namespace

std::unique_ptr<VelocitySystem> make_distributed_system(const Problem& problem,
                                                        const SchwarzOptions& options) {
  return std::make_unique<DistributedSystem>(problem, options);
}

}  // namespace ccp
