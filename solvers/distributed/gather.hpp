#pragma once

#include <memory>
#include <vector>

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// A vector's entries in the order of their numbers, on rank 0; nothing on the others. Collective.
std::vector<double> gathered_on_first(const Vector& vector);

/// Brings vectors from one map to another that has the same numbers elsewhere.
class Redistribution {
 public:
  Redistribution(const Teuchos::RCP<const Map>& from, const Teuchos::RCP<const Map>& to);
  ~Redistribution();
  Redistribution(const Redistribution&) = delete;
  Redistribution& operator=(const Redistribution&) = delete;

  /// @return valid until the next call. Collective.
  const Vector& operator()(const Vector& vector);

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace ccp
