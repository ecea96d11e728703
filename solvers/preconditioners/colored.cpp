#include <Tpetra_BlockCrsMatrix.hpp>
#include <algorithm>
#include <numeric>

#include "solvers/core/transfer.hpp"
#include "solvers/preconditioners/block_cholesky.hpp"
#include "solvers/preconditioners/block_factor.hpp"

namespace ccp {
namespace {

/// The blocks of a symmetric matrix off its diagonal, by rows, on the host: columns in any order,
/// and where the values of each block are.
struct FullRows {
  std::vector<std::size_t> offset{0};
  std::vector<int> column;
  std::vector<std::size_t> place;
  std::vector<std::size_t> diagonal;  ///< [rows] where the diagonal blocks are
  int rows() const { return static_cast<int>(offset.size()) - 1; }
};

FullRows full_rows(const BlockCrsMatrix& a) {
  const auto graph = a.getCrsGraph().getLocalGraphHost();
  FullRows full;
  for (int i = 0; i < static_cast<int>(graph.numRows()); ++i) {
    for (std::size_t k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
      if (graph.entries(k) == i) {
        full.diagonal.push_back(k);
      } else {
        full.column.push_back(graph.entries(k));
        full.place.push_back(k);
      }
    }
    full.offset.push_back(full.column.size());
  }
  return full;
}

/// Of SymmetricBlockMatrix, which stores the blocks of both triangles.
FullRows full_rows(const BlockPattern& pattern) {
  const auto row_offset = download(pattern.row_offset), column = download(pattern.column),
             column_offset = download(pattern.column_offset), row = download(pattern.row);
  FullRows full;
  for (int i = 0; i < pattern.rows; ++i) {
    full.diagonal.push_back(i);
    for (int k = row_offset[i]; k < row_offset[i + 1]; ++k) {
      full.column.push_back(column[k]);
      full.place.push_back(k + column_offset[i]);
    }
    for (int l = column_offset[i]; l < column_offset[i + 1]; ++l) {
      full.column.push_back(row[l]);
      full.place.push_back(l + row_offset[i + 1]);
    }
    full.offset.push_back(full.column.size());
  }
  return full;
}

/// Rows sorted by colour, first fit in their own order: those of a colour do not touch, so that
/// there are at most as many levels as colours.
struct ColoredRows {
  LowerRows lower;
  std::vector<int> order;                     ///< [rows] the row at each position
  std::vector<std::size_t> diagonal, source;  ///< where the values of rows and blocks are
};

std::vector<int> first_fit_colors(const FullRows& full, int& colors) {
  std::vector<int> color(full.rows(), -1), seen;  // seen[c]: the last row with a neighbour of c
  for (int i = 0; i < full.rows(); ++i) {
    for (std::size_t k = full.offset[i]; k < full.offset[i + 1]; ++k) {
      if (color[full.column[k]] >= 0) seen[color[full.column[k]]] = i;
    }
    const auto free = std::find_if(seen.begin(), seen.end(), [i](int row) { return row != i; });
    color[i] = static_cast<int>(free - seen.begin());
    if (free == seen.end()) seen.push_back(-1);
  }
  colors = static_cast<int>(seen.size());
  return color;
}

ColoredRows color(const FullRows& full) {
  int colors = 0;
  const std::vector<int> color = first_fit_colors(full, colors);
  ColoredRows result;
  result.order.resize(full.rows());
  std::iota(result.order.begin(), result.order.end(), 0);
  std::stable_sort(result.order.begin(), result.order.end(),
                   [&](int a, int b) { return color[a] < color[b]; });
  std::vector<int> place(full.rows());
  for (int i = 0; i < full.rows(); ++i) place[result.order[i]] = i;
  result.lower.offset.push_back(0);
  for (int i = 0; i < full.rows(); ++i) {
    const int row = result.order[i];
    result.diagonal.push_back(full.diagonal[row]);
    std::vector<std::pair<int, std::size_t>> left;
    for (std::size_t k = full.offset[row]; k < full.offset[row + 1]; ++k) {
      if (place[full.column[k]] < i) left.emplace_back(place[full.column[k]], full.place[k]);
    }
    std::sort(left.begin(), left.end());
    for (const auto& [column, at] : left) {
      result.lower.column.push_back(column);
      result.source.push_back(at);
    }
    result.lower.offset.push_back(static_cast<int>(result.lower.column.size()));
  }
  return result;
}

using Places = DeviceArray<std::size_t*>;

template <int NB>
Teuchos::RCP<IncompleteCholesky<NB, double>> make_factor(const ColoredRows& rows, FactorKind kind) {
  return Teuchos::rcp(new IncompleteCholesky<NB, double>(
      make_pattern(rows.lower), kind, {},
      upload<DeviceArray<int*>>("ccp::Colored::order", rows.order, rows.order.size())));
}

class ContactFactor : public BlockFactor {
 public:
  ContactFactor(Teuchos::RCP<const BlockCrsMatrix> a, FactorKind kind) : a_(std::move(a)) {
    const ColoredRows rows = color(full_rows(*a_));
    blocks_.diagonal_place =
        upload<Places>("ccp::Colored::diagonal", rows.diagonal, rows.diagonal.size());
    blocks_.lower_place = upload<Places>("ccp::Colored::lower", rows.source, rows.source.size());
    factor_ = make_factor<3>(rows, kind);
  }
  bool factorize(double shift, double least, bool complete) override {
    blocks_.values = a_->getValuesDevice();
    return factor_->factorize(blocks_, shift, least, complete);
  }
  Teuchos::RCP<const Operator> inverse() const override { return factor_; }

 private:
  Teuchos::RCP<const BlockCrsMatrix> a_;
  ScatteredBlocks<3> blocks_;
  Teuchos::RCP<IncompleteCholesky<3, double>> factor_;
};

template <int NB>
class BodyFactor : public BlockFactor {
 public:
  BodyFactor(const SymmetricBlocks& a, FactorKind kind) {
    const auto& matrix = dynamic_cast<const SymmetricBlockMatrix<NB>&>(a);
    const ColoredRows rows = color(full_rows(a.pattern()));
    blocks_.values = matrix.off_diagonal();
    blocks_.diagonal_values = matrix.diagonal();
    blocks_.diagonal_place =
        upload<Places>("ccp::Colored::diagonal", rows.diagonal, rows.diagonal.size());
    blocks_.lower_place = upload<Places>("ccp::Colored::lower", rows.source, rows.source.size());
    factor_ = make_factor<NB>(rows, kind);
  }
  bool factorize(double shift, double least, bool complete) override {
    return factor_->factorize(blocks_, shift, least, complete);
  }
  Teuchos::RCP<const Operator> inverse() const override { return factor_; }

 private:
  ReorderedBlocks<NB> blocks_;
  Teuchos::RCP<IncompleteCholesky<NB, double>> factor_;
};

/// Symmetric Gauss-Seidel or incomplete Cholesky without fill, in blocks, rows by colour.
class ColoredPreconditioner : public BlockFactorPreconditioner {
 public:
  explicit ColoredPreconditioner(FactorKind kind) : kind_(kind) {}

  OptionList options() override {
    if (kind_ == FactorKind::gauss_seidel) return OptionList("colored_sgs", "preconditioner");
    return OptionList("colored_ic0", "preconditioner")
        .number("shift", rule_.first, OptionList::Range::positive(), shift_help);
  }

  void setup(const PreconditionerInput& input) override {
    limit_shifts(input.space);
    if (input.space == Space::contact) {
      factor_ = std::make_unique<ContactFactor>(input.block_crs, kind_);
    } else if (input.block_size() == 3) {
      factor_ = std::make_unique<BodyFactor<3>>(*input.ordered, kind_);
    } else {
      factor_ = std::make_unique<BodyFactor<6>>(*input.ordered, kind_);
    }
  }

 private:
  FactorKind kind_;
};

}  // namespace

std::unique_ptr<Preconditioner> make_colored_ic0() {
  return std::make_unique<ColoredPreconditioner>(FactorKind::cholesky);
}

std::unique_ptr<Preconditioner> make_colored_sgs() {
  return std::make_unique<ColoredPreconditioner>(FactorKind::gauss_seidel);
}

}  // namespace ccp
