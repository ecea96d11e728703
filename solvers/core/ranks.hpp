#pragma once

#include <Teuchos_Comm.hpp>
#include <Teuchos_RCP.hpp>
#include <functional>

namespace ccp {

/// The processes that share a problem, each of which holds a part of it. Every reduction over ranks
/// is here and ends in one reduceAll; with one rank nothing is called at all, and MPI need not be
/// started.
///
/// All but the first three functions are collective: every rank calls them, in the same order.
/// Results are the same on all ranks; sums are so from run to run for a number of ranks.
class Ranks {
 public:
  using Communicator = Teuchos::RCP<const Teuchos::Comm<int>>;

  Ranks();  ///< one
  explicit Ranks(Communicator communicator);

  int rank() const { return rank_; }
  int size() const { return size_; }
  const Communicator& communicator() const { return communicator_; }

  double sum(double value) const;
  long long sum(long long value) const;
  /// Of every entry, in place.
  void sum(double* values, int count) const;
  /// The largest; NaN if one is.
  double largest(double value) const;
  /// The sum of what the ranks before this one say.
  long long sum_before(long long value) const;
  /// What rank 0 says: for what ranks measure and must agree about, like the time.
  double of_first(double value) const;

  /// Does this rank's part of a work that may find bad input, without calling any other rank. If
  /// one of them throws an InputError, all throw the one of the first such rank.
  void together(const std::function<void()>& work) const;

 private:
  Communicator communicator_;
  int rank_ = 0, size_ = 1;
};

}  // namespace ccp
