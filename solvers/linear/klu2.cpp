#include <Amesos2.hpp>
#include <Tpetra_CrsMatrix.hpp>

#include "problems/base/error.hpp"
#include "solvers/linear/direct.hpp"

namespace ccp {

std::unique_ptr<DirectSolver> make_klu2(const Teuchos::RCP<const CrsMatrix>& a);

namespace {

class Klu2Solver : public DirectSolver {
 public:
  explicit Klu2Solver(const Teuchos::RCP<const CrsMatrix>& a)
      : solver_(Amesos2::create<CrsMatrix, Vector>("KLU2", a)) {
    solver_->symbolicFactorization();
  }
  std::string factorize() override {
    try {
      solver_->numericFactorization();
    } catch (const std::exception& error) {
      return first_line(error.what());
    }
    return "";
  }
  void solve(const Vector& b, Vector& x) override { solver_->solve(&x, &b); }

 private:
  Teuchos::RCP<Amesos2::Solver<CrsMatrix, Vector>> solver_;
};

}  // namespace

std::unique_ptr<DirectSolver> make_klu2(const Teuchos::RCP<const CrsMatrix>& a) {
  return std::make_unique<Klu2Solver>(a);
}

}  // namespace ccp
