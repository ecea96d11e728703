#pragma once

#include <functional>
#include <stdexcept>

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// A symmetric function of vectors as an operator.
class FunctionOperator : public Operator {
 public:
  using Apply = std::function<void(const ConstVectorView&, const VectorView&)>;
  FunctionOperator(Teuchos::RCP<const Map> map, Apply apply)
      : map_(std::move(map)), apply_(std::move(apply)) {}

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  bool hasTransposeApply() const override { return true; }
  void apply(const Vector& x, Vector& y, Teuchos::ETransp, double alpha,
             double beta) const override {
    if (alpha != 1 || beta != 0) throw std::invalid_argument("FunctionOperator: alpha=1, beta=0");
    apply_(read_view(x), overwrite_view(y));
  }

 private:
  Teuchos::RCP<const Map> map_;
  Apply apply_;
};

}  // namespace ccp
