#include "solvers/linear/direct.hpp"

#include <fmt/format.h>

#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>

#include "problems/base/error.hpp"
#include "solvers/linear/cholesky.hpp"

namespace ccp {

#ifdef CCP_HAVE_AMESOS2
std::unique_ptr<DirectSolver> make_klu2(const Teuchos::RCP<const CrsMatrix>& a);
#endif

namespace {

class CholmodSolver : public DirectSolver {
 public:
  explicit CholmodSolver(Teuchos::RCP<const CrsMatrix> a) : a_(std::move(a)) {
    // The columns of the lower triangle are the rows of the upper one.
    const auto local = a_->getLocalMatrixHost();
    std::vector<std::int64_t> offsets{0};
    std::vector<int> rows;
    for (int i = 0; i < static_cast<int>(local.numRows()); ++i) {
      for (std::size_t k = local.graph.row_map(i); k < local.graph.row_map(i + 1); ++k) {
        if (local.graph.entries(k) < i) continue;
        rows.push_back(local.graph.entries(k));
        source_.push_back(k);
      }
      offsets.push_back(static_cast<std::int64_t>(rows.size()));
    }
    values_.resize(source_.size());
    factor_ = std::make_unique<SparseCholesky>(offsets, rows);
  }

  std::string factorize() override {
    const auto a = a_->getLocalMatrixHost().values;
    for (std::size_t k = 0; k < source_.size(); ++k) values_[k] = a(source_[k]);
    return factor_->factorize(values_.data()) ? "" : "the matrix is not positive definite";
  }
  void solve(const Vector& b, Vector& x) override {
    const auto in = b.getLocalViewHost(Tpetra::Access::ReadOnly);
    const auto out = x.getLocalViewHost(Tpetra::Access::OverwriteAll);
    factor_->solve(in.data(), out.data());
  }
  double factor_entries() const override { return factor_->factor_entries(); }

 private:
  Teuchos::RCP<const CrsMatrix> a_;
  std::vector<std::size_t> source_;
  std::vector<double> values_;
  std::unique_ptr<SparseCholesky> factor_;
};

}  // namespace

const std::vector<std::string>& direct_methods() {
  static const std::vector<std::string> names = {"cholmod",
#ifdef CCP_HAVE_AMESOS2
                                                 "klu2"
#endif
  };
  return names;
}

bool is_direct_method(const std::string& name) {
  const auto& names = direct_methods();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::unique_ptr<DirectSolver> make_direct_solver(const std::string& name,
                                                 Teuchos::RCP<const CrsMatrix> a) {
  if (name == "cholmod") return std::make_unique<CholmodSolver>(std::move(a));
#ifdef CCP_HAVE_AMESOS2
  if (name == "klu2") return make_klu2(a);
#endif
  throw InputError("direct method", "", fmt::format("one of {}", fmt::join(direct_methods(), ", ")),
                   "'" + name + "'");
}

}  // namespace ccp
