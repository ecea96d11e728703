#include "solvers/admm/admm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/core/extremes.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/core/vector_kernels.hpp"

namespace ccp {

OptionList AdmmSolver::options() {
  return OptionList("admm")
      .number("rho", options_.rho, OptionList::Range::positive(),
              "first penalty relative to trace(N_cc)/3")
      .number("relaxation", options_.relaxation, {0, 1.99, true}, "over-relaxation of x (1: none)")
      .integer("adapt_after", options_.adapt_after, {1},
               "iterations before the first look at the balance of residuals; then 2, 4, ... times")
      .number("adapt_threshold", options_.adapt_threshold, {1}, "imbalance that is left alone")
      .integer("max_refactorizations", options_.max_refactorizations, {0}, "changes of rho")
      .number("tolerance", options_.tolerance, {0}, "stop: own residual (0: never)")
      .integer("max_iterations", options_.max_iterations, {1}, "limit of iterations");
}

void AdmmSolver::setup(const Problem& problem) {
  problem_ = &problem;
  matrix_.reset();
  const int n = problem.triples();
  if (n == 0) return;
  const std::size_t size = 3 * static_cast<std::size_t>(n);
  matrix_ = ShiftedDelassus::make(problem);
  triples_ = OrderedTriples(problem, matrix_->contact_order());
  rho_ = DeviceArray<double*>("ccp::Admm::rho", n);
  yield_ = DeviceArray<Sym3*>("ccp::Admm::yield", problem.pools().size());
  for (VectorView* array : {&z_, &w_, &push_, &d_}) {
    *array = VectorView("ccp::Admm::vector", size);
  }
}

namespace {

/// What a kernel needs of (D + Sigma)^-1 and Sigma where no contact is compliant: most problems.
struct RigidYield {
  DeviceArray<const double*> rho;
  DeviceArray<const Sym3*> beside;  ///< the contacts
  int contacts;
  OrderedTriples triples;

  KOKKOS_INLINE_FUNCTION Vec3 operator()(int t, const Vec3& v) const {
    return t < contacts ? (1 / rho(t)) * v : beside(t - contacts) * v;
  }
  KOKKOS_INLINE_FUNCTION Vec3 yielded(int t, const Vec3& p) const {
    return triples.yielded_beside(t, p);
  }
};

/// The same of compliant contacts.
struct CompliantYield : Yield {
  OrderedTriples triples;

  KOKKOS_INLINE_FUNCTION Vec3 yielded(int t, const Vec3& p) const { return triples.yielded(t, p); }
};

/// Calls act with one of them.
template <class Act>
auto with_yield(const Yield& yield, const OrderedTriples& triples, const Act& act) {
  if (yield.compliance.extent(0) > 0) return act(CompliantYield{yield, triples});
  return act(RigidYield{yield.rho, yield.beside, yield.contacts, triples});
}

}  // namespace

/// z = the guess, w = the multipliers that its velocities would be: -P_K*(u) / rho, without a guess
/// zero.
void AdmmSolver::start(const ConstVectorView& gamma) const {
  Kokkos::deep_copy(w_, 0.0);
  Kokkos::deep_copy(z_, 0.0);
  if (!(vector_kernels::dot(gamma, gamma) > 0)) return;
  const VectorView p("ccp::Admm::start", gamma.extent(0)), u("ccp::Admm::start", gamma.extent(0));
  problem_->to_world_axes(gamma, p);
  const auto r = problem_->r();
  problem_->delassus()->apply_fused(
      p, KOKKOS_LAMBDA(const int t, const Vec3& d) { store3(u, t, d + load3(r, t)); });
  const OrderedTriples triples = triples_;
  triples.gather_impulses(p, z_);
  triples.gather_velocities(u, push_);
  const auto rho = rho_;
  const auto z = z_, w = w_, given = push_;
  Kokkos::parallel_for(
      "ccp::Admm::start", range(triples.cones()), KOKKOS_LAMBDA(const int cone) {
        const int all[2] = {triples.first_triple(cone), triples.second_triple(cone)};
        for (const int t : all) {
          if (t >= 0) store3(w, t, -1.0 * load3(given, t));
        }
        triples.project(cone, z);
        // Moreau: P_K*(u) = u + P_K(-u).
        triples.project(cone, w);
        for (const int t : all) {
          if (t >= 0) store3(w, t, (-1 / rho(t)) * (load3(given, t) + load3(w, t)));
        }
      });
}

void AdmmSolver::set_rho(double value) const {
  const auto rho = rho_;
  const OrderedTriples triples = triples_;
  Kokkos::parallel_for(
      "ccp::Admm::set_rho", range(rho.extent(0)),
      KOKKOS_LAMBDA(const int t) { rho(t) = value * triples.penalty(t); });
  triples.soften(rho, yield_);
}

void AdmmSolver::rescale(double factor) const {
  const auto w = w_;
  Kokkos::parallel_for(
      "ccp::Admm::rescale", range(w.extent(0)), KOKKOS_LAMBDA(const int i) { w(i) *= factor; });
}

void AdmmSolver::prepare() const {
  with_yield(make_yield(), triples_, [this](const auto& yield) { prepare_with(yield); });
}

AdmmSolver::Step AdmmSolver::advance() const {
  return with_yield(make_yield(), triples_,
                    [this](const auto& yield) { return advance_with(yield); });
}

template <class AnyYield>
void AdmmSolver::prepare_with(const AnyYield& yield) const {
  const OrderedTriples triples = triples_;
  const auto z = z_, w = w_, push = push_;
  const auto r = triples.r();
  Kokkos::parallel_for(
      "ccp::Admm::prepare", range(triples.size()), KOKKOS_LAMBDA(const int t) {
        const Vec3 wanted = load3(z, t) - load3(w, t);
        store3(push, t, wanted - yield(t, load3(r, t) + yield.yielded(t, wanted)));
      });
}

template <class AnyYield>
AdmmSolver::Step AdmmSolver::advance_with(const AnyYield& yield) const {
  const OrderedTriples triples = triples_;
  const auto z = z_, w = w_, push = push_, d = d_;
  const double a = options_.relaxation;
  Step step;
  Kokkos::parallel_reduce(
      "ccp::Admm::advance", range(triples.cones()),
      KOKKOS_LAMBDA(const int cone, double& primal, double& dual, double& impulse,
                    double& velocity) {
        const int all[2] = {triples.first_triple(cone), triples.second_triple(cone)};
        Vec3 x[2], old[2];
        for (int k = 0; k < 2; ++k) {
          const int t = all[k];
          if (t < 0) continue;
          const Vec3 product = load3(d, t);
          old[k] = load3(z, t);
          x[k] = load3(push, t) - yield(t, product);
          const Vec3 target = a * x[k] + (1 - a) * old[k] + load3(w, t);
          store3(z, t, target);
          store3(w, t, target);
          raise(velocity, norm(product));
        }
        triples.project(cone, z);
        for (int k = 0; k < 2; ++k) {
          const int t = all[k];
          if (t < 0) continue;
          const Vec3 next = load3(z, t);
          store3(w, t, load3(w, t) - next);
          raise(primal, triples.scale(t) * norm(x[k] - next));
          raise(dual, yield.rho(t) * norm(next - old[k]));
          raise(impulse, triples.scale(t) * norm(next));
        }
      },
      Largest(step.primal), Largest(step.dual), Largest(step.impulse), Largest(step.velocity));
  return step;
}

Info AdmmSolver::solve(Vector& gamma, Observer& observer) {
  Info info;
  info.own_residual_name = "max(t|x - z|, rho|dz|)/q";
  if (problem_->triples() == 0) {
    info.status = Status::converged;
    return info;
  }
  const auto write_gamma = [&](Vector& out) { triples_.write(*problem_, z_, out); };
  const auto finish = [&](Status status, const std::string& message = "") {
    write_gamma(gamma);
    info.message = message;
    info.status = confirmed(status, *problem_, law(), gamma, options_.tolerance, info.message);
    return info;
  };
  triples_.take_free_velocity(*problem_);
  matrix_->begin(observer, info);
  double rho = options_.rho;
  set_rho(rho);
  start(read_view(gamma));
  info.own_residual = std::numeric_limits<double>::quiet_NaN();  // none yet
  if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
    return finish(Status::stopped_by_observer);
  }
  if (!matrix_->factorize(make_yield())) {
    return finish(Status::numerical_error, "the matrix is not positive definite");
  }
  long next_look = options_.adapt_after;
  int refactorizations = 0;
  while (info.counters.outer < options_.max_iterations) {
    prepare();
    matrix_->product(push_, d_);
    const Step step = advance();
    ++info.counters.outer;
    ++info.counters.projections;
    info.own_residual = std::max(step.primal, step.dual) / triples_.q();
    if (!std::isfinite(step.primal + step.dual)) {
      return finish(Status::numerical_error, "iterate became NaN");
    }
    if (observer.observe({info.counters, info.own_residual}, write_gamma)) {
      return finish(Status::stopped_by_observer);
    }
    if (info.own_residual <= options_.tolerance) return finish(Status::converged);
    if (info.counters.outer < next_look) continue;
    next_look *= 2;
    if (refactorizations >= options_.max_refactorizations || step.dual == 0) continue;
    // Both residuals relative to what they are differences of.
    const double primal = step.primal / std::max(step.impulse, 1e-300),
                 dual = step.dual / std::max(step.velocity, triples_.q());
    const double factor = std::clamp(std::sqrt(primal / dual), 1e-3, 1e3);
    if (factor < options_.adapt_threshold && factor > 1 / options_.adapt_threshold) continue;
    rho *= factor;
    set_rho(rho);
    rescale(1 / factor);
    ++refactorizations;
    if (!matrix_->factorize(make_yield())) {
      return finish(Status::numerical_error, "the matrix is not positive definite");
    }
  }
  return finish(Status::max_iterations);
}

}  // namespace ccp
