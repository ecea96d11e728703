#pragma once

#include <string>

namespace ccp {

/// A solver that runs on several ranks (Feature::distributed) with some of its options only.
class LimitedOnRanks {
 public:
  virtual ~LimitedOnRanks() = default;

  /// Why the options as they are do not, in one sentence; "" if they do. Asked before any work.
  virtual std::string why_not_on_ranks() const = 0;
};

}  // namespace ccp
