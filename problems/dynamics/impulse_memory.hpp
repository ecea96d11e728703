#pragma once

#include <cstdint>
#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// A number that the contact of a pair keeps as long as the bodies do: (a + 1) 2^32 + b.
std::int64_t pair_identity(std::int32_t a, std::int32_t b);

/// The impulses of a step, to start the next one from.
class ImpulseMemory {
 public:
  void keep(const ContactProblem& problem, const std::vector<double>& gamma);
  /// The kept impulses of the same pairs, as forces times the problem's dt, turned with the
  /// contacts' frames (they are kept in world axes); zero for pairs that were not there.
  /// @param problem  contacts ordered by their bodies (by_bodies), as were those kept
  std::vector<double> recall(const ContactProblem& problem) const;

 private:
  std::vector<std::int32_t> bodies_;  ///< [n][2]
  std::vector<double> impulse_;       ///< [n][3] N s, world axes
  double dt_ = 1;
};

/// Makes gamma_n >= 0 and shortens gamma_t to mu gamma_n: Wang 2016 Sect. 3.
void clamp_into_cones(const std::vector<double>& mu, std::vector<double>& gamma);

}  // namespace ccp
