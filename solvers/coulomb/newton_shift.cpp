#include "solvers/coulomb/newton_shift.hpp"

#include "solvers/core/vector_kernels.hpp"

namespace ccp {
namespace {

/// dr = ds n.
void along_normals(const Problem& problem, const ConstVectorView& ds, const VectorView& dr) {
  const auto normal = problem.normal();
  Kokkos::parallel_for(
      "ccp::Coulomb::along_normals", range(ds.extent(0)),
      KOKKOS_LAMBDA(const int c) { store3(dr, c, ds(c) * row3(normal, c)); });
}

/// y = a y + b x + c slide . u, contact by contact.
void add_sliding(double a, double b, const ConstVectorView& x, double c,
                 const ConstVectorView& slide, const ConstVectorView& u, const VectorView& y) {
  Kokkos::parallel_for(
      "ccp::Coulomb::add_sliding", range(y.extent(0)), KOKKOS_LAMBDA(const int i) {
        const double sum = b * x(i) + c * dot(load3(slide, i), load3(u, i));
        y(i) = a == 0 ? sum : a * y(i) + sum;
      });
}

}  // namespace

/// y = x - mu t . R (x n).
class NewtonShift::System : public Operator {
 public:
  System(const Problem& problem, const VectorView& slide)
      : problem_(problem),
        map_(make_map(problem.contacts())),
        slide_(slide),
        dr_("ccp::Coulomb::dr", slide.extent(0)),
        du_("ccp::Coulomb::du", slide.extent(0)) {}

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  void apply(const Vector& x, Vector& y, Teuchos::ETransp = Teuchos::NO_TRANS, double alpha = 1,
             double beta = 0) const override {
    const auto in = read_view(x);
    along_normals(problem_, in, dr_);
    if (!failed_) failed_ = !(*response_)(dr_, du_);
    add_sliding(beta, alpha, in, failed_ ? 0 : -alpha, slide_, du_, read_write_view(y));
  }

  void use(const Response& response) {
    response_ = &response;
    failed_ = false;
  }
  bool failed() const { return failed_; }

 private:
  const Problem& problem_;
  Teuchos::RCP<const Map> map_;
  VectorView slide_, dr_, du_;
  const Response* response_ = nullptr;
  mutable bool failed_ = false;
};

NewtonShift::NewtonShift(const ShiftedProblem& shifted, const Options& options)
    : shifted_(shifted),
      options_(options),
      slide_("ccp::Coulomb::slide", shifted.problem().r().extent(0)),
      system_(Teuchos::rcp(new System(shifted.problem(), slide_))),
      krylov_(std::make_unique<KrylovSolver>(
          KrylovOptions{"gmres", options.max_iterations, options.max_iterations, false}, system_,
          Teuchos::null)),
      rhs_(Teuchos::rcp(new Vector(system_->getDomainMap(), 1))),
      ds_(Teuchos::rcp(new Vector(system_->getDomainMap(), 1))) {}

NewtonShift::~NewtonShift() = default;

bool NewtonShift::change(const ConstVectorView& u, const ConstVectorView& du,
                         const Response& response, const VectorView& dr) {
  {
    const auto rhs = overwrite_view(*rhs_);
    shifted_.residual_at(u, rhs, slide_);
    add_sliding(1, 0, rhs, 1, slide_, du, rhs);
    Kokkos::deep_copy(overwrite_view(*ds_), 0.0);
  }
  system_->use(response);
  iterations_ += krylov_->solve(rhs_, ds_, options_.tolerance).iterations;
  along_normals(shifted_.problem(), read_view(*ds_), dr);
  return !system_->failed();
}

void NewtonShift::advance(double theta) {
  vector_kernels::add(1, shifted_.s(), theta, read_view(*ds_), shifted_.s());
  shifted_.apply();
}

}  // namespace ccp
