#pragma once

#include <memory>
#include <vector>

#include "solvers/core/ranks.hpp"

namespace ccp {

/// Rows of a table of which every rank has a range (first_row), brought to the ranks that want
/// them, and sums over wanted rows brought back. All functions are collective.
class RowImport {
 public:
  /// @param rows    of the whole table
  /// @param wanted  numbers of the rows that this rank wants, each once
  RowImport(const Ranks& ranks, long long rows, const std::vector<long long>& wanted);
  ~RowImport();
  RowImport(const RowImport&) = delete;
  RowImport& operator=(const RowImport&) = delete;

  /// @param own  [range of this rank][width]  @return [wanted][width]
  std::vector<double> operator()(const std::vector<double>& own, std::size_t width) const;
  /// Whole numbers below 2^53.
  std::vector<long long> operator()(const std::vector<long long>& own, std::size_t width) const;
  /// Sums over all ranks. @param values  [wanted]  @return [range of this rank]
  std::vector<long long> add_up(const std::vector<long long>& values) const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

/// What ranks get if each sends every number to a rank. @return ascending
std::vector<long long> sent_to_ranks(const Ranks& ranks, const std::vector<long long>& numbers,
                                     const std::vector<int>& destinations);

}  // namespace ccp
