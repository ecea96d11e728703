#include "solvers/core/ranks.hpp"

#include <Teuchos_CommHelpers.hpp>
#include <Teuchos_DefaultSerialComm.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "problems/base/error.hpp"
#include "solvers/core/rank_times.hpp"

namespace ccp {
namespace {

/// The time of a reduction or broadcast.
class ReductionWatch : RankWatch {
 public:
  ReductionWatch() : RankWatch(&RankTimes::reduction, &RankTimes::reductions) {}
};

}  // namespace

Ranks::Ranks() : communicator_(Teuchos::rcp(new Teuchos::SerialComm<int>())) {}

Ranks::Ranks(Communicator communicator)
    : communicator_(std::move(communicator)),
      rank_(communicator_->getRank()),
      size_(communicator_->getSize()) {}

void Ranks::sum(double* values, int count) const {
  if (size_ == 1) return;
  const ReductionWatch watch;
  const std::vector<double> own(values, values + count);
  Teuchos::reduceAll(*communicator_, Teuchos::REDUCE_SUM, count, own.data(), values);
}

double Ranks::sum(double value) const {
  sum(&value, 1);
  return value;
}

long long Ranks::sum(long long value) const {
  if (size_ == 1) return value;
  const ReductionWatch watch;
  long long total = 0;
  Teuchos::reduceAll(*communicator_, Teuchos::REDUCE_SUM, 1, &value, &total);
  return total;
}

double Ranks::largest(double value) const {
  if (size_ == 1) return value;
  const ReductionWatch watch;
  // MPI does not say what the maximum of numbers and a NaN is.
  const double own[2] = {std::isnan(value) ? 0 : value, std::isnan(value) ? 1.0 : 0.0};
  double most[2] = {};
  Teuchos::reduceAll(*communicator_, Teuchos::REDUCE_MAX, 2, own, most);
  return most[1] > 0 ? std::numeric_limits<double>::quiet_NaN() : most[0];
}

long long Ranks::sum_before(long long value) const {
  if (size_ == 1) return 0;
  const ReductionWatch watch;
  long long with_own = 0;
  Teuchos::scan(*communicator_, Teuchos::REDUCE_SUM, value, Teuchos::outArg(with_own));
  return with_own - value;
}

double Ranks::of_first(double value) const {
  if (size_ == 1) return value;
  const ReductionWatch watch;
  Teuchos::broadcast(*communicator_, 0, &value);
  return value;
}

void Ranks::together(const std::function<void()>& work) const {
  if (size_ == 1) return work();
  std::string message;
  bool failed = false;
  try {
    work();
  } catch (const InputError& error) {
    message = error.what();
    failed = true;
  }
  const int none = size_, own = failed ? rank_ : none;
  int first = none;
  Teuchos::reduceAll(*communicator_, Teuchos::REDUCE_MIN, 1, &own, &first);
  if (first == none) return;
  int length = static_cast<int>(message.size());
  Teuchos::broadcast(*communicator_, first, &length);
  message.resize(static_cast<std::size_t>(length));
  Teuchos::broadcast(*communicator_, first, length, message.data());
  throw InputError(message);
}

}  // namespace ccp
