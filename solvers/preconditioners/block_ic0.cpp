#include <Tpetra_BlockCrsMatrix.hpp>

#include "solvers/core/transfer.hpp"
#include "solvers/preconditioners/block_cholesky.hpp"
#include "solvers/preconditioners/block_factor.hpp"

namespace ccp {
namespace {

template <int NB, class Real>
using FactorOperator = Teuchos::RCP<IncompleteCholesky<NB, Real>>;

/// Of a matrix in body space, in the order that its rows have.
template <int NB, class Real>
class StoredFactor : public BlockFactor {
 public:
  StoredFactor(const SymmetricBlocks& a, bool fill, int sweeps)
      : a_(dynamic_cast<const SymmetricBlockMatrix<NB>&>(a)) {
    if (!fill) {
      factor_ = Teuchos::rcp(
          new IncompleteCholesky<NB, Real>(a.pattern(), FactorKind::cholesky, {}, {}, sweeps));
      return;
    }
    const LowerRows own = lower_rows(a.pattern()), filled = with_fill(own);
    std::vector<int> source(filled.column.size(), -1);
    for (int i = 0; i < own.rows(); ++i) {
      int k = own.offset[i];
      for (int f = filled.offset[i]; f < filled.offset[i + 1]; ++f) {
        if (k < own.offset[i + 1] && own.column[k] == filled.column[f]) source[f] = k++;
      }
    }
    factor_ = Teuchos::rcp(new IncompleteCholesky<NB, Real>(
        make_pattern(filled), FactorKind::cholesky,
        upload<DeviceArray<int*>>("ccp::BlockIc1::source", source, source.size()), {}, sweeps));
  }
  bool factorize(double shift, double least, bool complete) override {
    return factor_->factorize(StoredBlocks<NB>(a_), shift, least, complete);
  }
  Teuchos::RCP<const Operator> inverse() const override { return factor_; }

 private:
  const SymmetricBlockMatrix<NB>& a_;
  FactorOperator<NB, Real> factor_;
};

/// Of a matrix in contact space: in the natural order of contacts, sorted by level, in which A's
/// blocks are looked up where they are.
class ScatteredFactor : public BlockFactor {
 public:
  ScatteredFactor(Teuchos::RCP<const BlockCrsMatrix> a, int sweeps) : a_(std::move(a)) {
    const auto graph = a_->getCrsGraph().getLocalGraphHost();
    LowerRows natural{{0}, {}};
    std::vector<std::size_t> natural_diagonal, natural_lower;  // where the blocks are in A
    for (int i = 0; i < static_cast<int>(graph.numRows()); ++i) {
      std::size_t k = graph.row_map(i);
      for (; graph.entries(k) < i; ++k) {  // columns ascend
        natural.column.push_back(graph.entries(k));
        natural_lower.push_back(k);
      }
      natural.offset.push_back(static_cast<int>(natural.column.size()));
      natural_diagonal.push_back(k);
    }
    const LevelOrder order = level_order(natural);
    const SortedRows sorted = sort_rows(natural, order.row);
    std::vector<std::size_t> diagonal(order.row.size()), lower(sorted.source.size());
    for (std::size_t i = 0; i < diagonal.size(); ++i) diagonal[i] = natural_diagonal[order.row[i]];
    for (std::size_t k = 0; k < lower.size(); ++k) lower[k] = natural_lower[sorted.source[k]];
    using Places = DeviceArray<std::size_t*>;
    blocks_.diagonal_place =
        upload<Places>("ccp::BlockIc0::diagonal_place", diagonal, diagonal.size());
    blocks_.lower_place = upload<Places>("ccp::BlockIc0::lower_place", lower, lower.size());
    factor_ = Teuchos::rcp(new IncompleteCholesky<3, double>(
        make_pattern(sorted.rows), FactorKind::cholesky, {},
        upload<DeviceArray<int*>>("ccp::BlockIc0::order", order.row, order.row.size()), sweeps));
  }
  bool factorize(double shift, double least, bool complete) override {
    blocks_.values = a_->getValuesDevice();
    return factor_->factorize(blocks_, shift, least, complete);
  }
  Teuchos::RCP<const Operator> inverse() const override { return factor_; }

 private:
  Teuchos::RCP<const BlockCrsMatrix> a_;
  ScatteredBlocks<3> blocks_;
  FactorOperator<3, double> factor_;
};

/// Block incomplete Cholesky, without fill or with the pairs that eliminating each row once joins.
/// The latter is kept in single precision: the same iterations, half the memory.
class BlockCholeskyPreconditioner : public BlockFactorPreconditioner {
 public:
  explicit BlockCholeskyPreconditioner(bool fill) : fill_(fill) {}

  OptionList options() override {
    return OptionList(fill_ ? "block_ic1" : "block_ic0", "preconditioner")
        .number("shift", rule_.first, OptionList::Range::positive(), shift_help)
        .integer("jacobi_sweeps", sweeps_, {0, 1000},
                 "Of Jacobi's method in each triangular solve, over all rows at once; 0: exact "
                 "solves, by levels");
  }

  void setup(const PreconditionerInput& input) override {
    limit_shifts(input.space);
    if (input.space == Space::contact) {
      factor_ = std::make_unique<ScatteredFactor>(input.block_crs, sweeps_);
      return;
    }
    if (input.block_size() == 3) {
      make<3>(*input.ordered);
    } else {
      make<6>(*input.ordered);
    }
  }

 private:
  template <int NB>
  void make(const SymmetricBlocks& a) {
    if (fill_) {
      factor_ = std::make_unique<StoredFactor<NB, float>>(a, true, sweeps_);
    } else {
      factor_ = std::make_unique<StoredFactor<NB, double>>(a, false, sweeps_);
    }
  }

  bool fill_;
  int sweeps_ = 0;
};

}  // namespace

std::unique_ptr<Preconditioner> make_block_ic0() {
  return std::make_unique<BlockCholeskyPreconditioner>(false);
}

std::unique_ptr<Preconditioner> make_block_ic1() {
  return std::make_unique<BlockCholeskyPreconditioner>(true);
}

}  // namespace ccp
