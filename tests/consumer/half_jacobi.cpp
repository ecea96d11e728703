// The whole of ccpbench with one more solver in its table: projected Gauss-Jacobi with the step
//
//     gamma_c <- P_Kmu( gamma_c - 1/2 eta_c (N gamma + r)_c ),    eta_c = 3 / trace(N_cc)
#include <memory>

#include "harness/app/app.hpp"
#include "solvers/registry.hpp"

namespace {

using namespace ccp;

class HalfJacobi : public Solver {
 public:
  OptionList options() override {
    return OptionList("half_jacobi")
        .integer("max_iterations", max_iterations_, {1}, "limit of iterations");
  }

  void setup(const Problem& problem) override {
    problem_ = &problem;
    delassus_ = problem.delassus();
    step_ = DeviceArray<double*>("HalfJacobi::step", problem.contacts());
    const auto diagonal = problem.shared_delassus().diagonal_blocks();
    const auto step = step_;
    Kokkos::parallel_for(
        "HalfJacobi::setup", range(problem.contacts()), KOKKOS_LAMBDA(const int c) {
          const double trace = diagonal(c, 0, 0) + diagonal(c, 1, 1) + diagonal(c, 2, 2);
          step(c) = trace > 0 ? 1.5 / trace : 0;
        });
  }

  void iterate(const VectorView& p) const {
    const auto r = problem_->r();
    const auto normal = problem_->normal();
    const auto mu = problem_->mu();
    const auto step = step_;
    delassus_->advance(
        p, KOKKOS_LAMBDA(const int c, const Vec3& g, const Vec3& d) {
          return project_friction_cone(g - step(c) * (d + load3(r, c)), row3(normal, c), mu(c));
        });
  }

  Info solve(Vector& gamma, Observer& observer) override {
    Info info;
    info.own_residual_name = "none";
    const VectorView p("HalfJacobi::p", 3 * static_cast<std::size_t>(problem_->contacts()));
    const auto write_gamma = [&](Vector& out) {
      problem_->to_contact_axes(p, overwrite_view(out));
    };
    problem_->to_world_axes(read_view(gamma), p);
    info.status = Status::max_iterations;
    while (info.counters.outer < max_iterations_) {
      if (observer.observe({info.counters, 0}, write_gamma)) {
        info.status = Status::stopped_by_observer;
        break;
      }
      iterate(p);
      ++info.counters.outer;
      ++info.counters.operator_applies;
    }
    write_gamma(gamma);
    return info;
  }

 private:
  int max_iterations_ = 100000;
  const Problem* problem_ = nullptr;
  Teuchos::RCP<DelassusOperator> delassus_;
  DeviceArray<double*> step_;
};

std::unique_ptr<Solver> make() {
  return std::make_unique<HalfJacobi>();
}

}  // namespace

int main(int argc, char** argv) {
  add_solver({"half_jacobi",
              {Law::convex},
              {Form::bodies, Form::assembled},
              {},
              true,
              "projected Gauss-Jacobi with a step of one half",
              make});
  return app::run_program(argc, argv);
}
