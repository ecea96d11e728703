#include "solvers/ipm/newton_matrix.hpp"

#include <Tpetra_BlockCrsMatrix.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <array>

#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

/// Multiplies rows and columns of triples beside the contacts by what makes them comparable, or by
/// zero where rolling resistance has no limit.
void take_units(const Problem& problem, BlockMatrix& matrix) {
  const ContactProblem& host = problem.host();
  std::vector<double> factor(host.contacts(), 1.0);
  const std::vector<double> length = download(problem.pool_length());
  factor.insert(factor.end(), length.begin(), length.end());
  for (std::size_t k = 0; k < host.rolling.size(); ++k) {
    if (host.rolling.rho[k] == 0) factor[host.contacts() + k] = 0;
  }
  for (std::size_t t = 0; t < factor.size(); ++t) {
    for (std::int64_t k = matrix.row_offsets[t]; k < matrix.row_offsets[t + 1]; ++k) {
      const double both = factor[t] * factor[static_cast<std::size_t>(matrix.columns[k])];
      for (int i = 0; i < 9; ++i) matrix.blocks[9 * k + i] *= both;
    }
  }
}

/// N without the rows and columns of the tangential parts of contacts with mu = 0. (Their
/// identity is on the diagonal, which is not ours.)
BlockMatrix active_delassus(const Problem& given) {
  const ContactProblem& problem = given.host();
  BlockMatrix matrix = assemble_triples(problem);
  if (!given.pools().empty()) take_units(given, matrix);
  const auto idle = [&](std::size_t c) { return c < problem.contacts() && problem.mu[c] == 0; };
  const auto normal = [&](std::size_t c) -> std::array<double, 3> {
    if (problem.form == ContactProblem::Form::assembled) return {1, 0, 0};
    return {problem.frame[9 * c], problem.frame[9 * c + 1], problem.frame[9 * c + 2]};
  };
  for (std::size_t c = 0; c < problem.triples(); ++c) {
    for (std::int64_t k = matrix.row_offsets[c]; k < matrix.row_offsets[c + 1]; ++k) {
      const auto d = static_cast<std::size_t>(matrix.columns[k]);
      double* const b = &matrix.blocks[9 * k];
      if (idle(c)) {  // b <- n n^T b
        const auto n = normal(c);
        for (int j = 0; j < 3; ++j) {
          const double along = n[0] * b[j] + n[1] * b[3 + j] + n[2] * b[6 + j];
          for (int i = 0; i < 3; ++i) b[3 * i + j] = n[i] * along;
        }
      }
      if (idle(d)) {  // b <- b n n^T
        const auto n = normal(d);
        for (int i = 0; i < 3; ++i) {
          const double along = b[3 * i] * n[0] + b[3 * i + 1] * n[1] + b[3 * i + 2] * n[2];
          for (int j = 0; j < 3; ++j) b[3 * i + j] = along * n[j];
        }
      }
    }
  }
  return matrix;
}

}  // namespace

NewtonMatrix::NewtonMatrix(const Problem& problem, Forms forms)
    : diagonal_("ccp::NewtonMatrix::diagonal", problem.triples()) {
  if (!forms.crs && !forms.block_crs) return;
  const BlockMatrix matrix = active_delassus(problem);
  std::vector<std::array<int, 2>> pairs;
  for (const std::int32_t contact : problem.host().rolling.contact) {
    pairs.push_back({contact, problem.contacts() + static_cast<int>(pairs.size())});
  }
  if (forms.crs) {
    crs_ = make_crs(matrix, problem.map(), pairs);
    crs_place_ = diagonal_places(*crs_);
    crs_pair_place_ = pair_places(*crs_, pairs);
  }
  if (forms.block_crs) {
    block_crs_ = make_block_crs(matrix, problem.map());
    block_place_ = diagonal_places(*block_crs_);
    block_pair_place_ = pair_places(*block_crs_, pairs);
  }
}

void NewtonMatrix::update(const NewtonSystem& system) {
  system.diagonal_blocks(diagonal_);
  const PairBlocks pairs = system.pools().pairs();
  if (!crs_.is_null()) {
    replace_diagonal(diagonal_, crs_place_, *crs_);
    replace_pairs(pairs, crs_pair_place_, *crs_);
  }
  if (!block_crs_.is_null()) {
    replace_diagonal(diagonal_, block_place_, *block_crs_);
    replace_pairs(pairs, block_pair_place_, *block_crs_);
  }
}

Teuchos::RCP<const Operator> NewtonEquations::product(const std::string& apply) {
  Teuchos::RCP<const Operator> matrix;
  if (apply == "crs") matrix = matrix_->crs();
  if (apply == "block_crs") matrix = matrix_->block_crs();
  system_->use_matrix(matrix);
  return system_;
}

}  // namespace ccp
