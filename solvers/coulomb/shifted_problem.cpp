#include "solvers/coulomb/shifted_problem.hpp"

#include "solvers/core/cone.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/core/scales.hpp"

namespace ccp {

ShiftedProblem::ShiftedProblem(const Problem& problem)
    : original_(problem),
      s_("ccp::Coulomb::s", problem.contacts()),
      r_("ccp::Coulomb::r", problem.r().extent(0)),
      shifted_(problem, r_),
      delassus_(problem.delassus()),
      p_("ccp::Coulomb::p", r_.extent(0)),
      q_(velocity_scale(problem)) {
  Kokkos::deep_copy(r_, problem.r());
}

void ShiftedProblem::apply() const {
  const auto from = original_.r();
  const auto normal = original_.normal();
  const auto s = s_, r = r_;
  Kokkos::parallel_for(
      "ccp::Coulomb::apply", range(s.extent(0)), KOKKOS_LAMBDA(const int c) {
        if (s(c) < 0) s(c) = 0;
        store3(r, c, load3(from, c) + s(c) * row3(normal, c));
      });
}

void ShiftedProblem::residual(const Vector& gamma, const VectorView& f) const {
  original_.to_world_axes(read_view(gamma), p_);
  const auto r = original_.r();
  const auto normal = original_.normal();
  const auto mu = original_.mu();
  const auto s = s_;
  delassus_->apply_fused(
      p_, KOKKOS_LAMBDA(const int c, const Vec3& d) {
        f(c) = mu(c) * split(d + load3(r, c), row3(normal, c)).size - s(c);
      });
}

void ShiftedProblem::residual_at(const ConstVectorView& u, const VectorView& f,
                                 const VectorView& slide) const {
  const auto normal = original_.normal();
  const auto mu = original_.mu();
  const auto s = s_;
  Kokkos::parallel_for(
      "ccp::Coulomb::residual_at", range(s.extent(0)), KOKKOS_LAMBDA(const int c) {
        const Split part = split(load3(u, c), row3(normal, c));
        f(c) = mu(c) * part.size - s(c);
        store3(slide, c, part.size > 0 ? (mu(c) / part.size) * part.t : Vec3{});
      });
}

double ShiftedProblem::convex_residual(const Vector& gamma) const {
  return optimality(shifted_, Law::convex, gamma).residual() * velocity_scale(shifted_) / q_;
}

}  // namespace ccp
