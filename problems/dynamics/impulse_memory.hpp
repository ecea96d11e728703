#pragma once

#include <cstdint>
#include <vector>

#include "problems/dynamics/stepper.hpp"
#include "problems/model/contact_problem.hpp"

namespace ccp {

/// A number that the contact of a pair keeps as long as the bodies do: (a + 1) 2^32 + b.
std::int64_t pair_identity(std::int32_t a, std::int32_t b);

/// The impulses of a step, to start the next one from.
class ImpulseMemory {
 public:
  void keep(const ContactProblem& problem, const std::vector<double>& gamma);
  /// The kept impulses of the same contacts, by identity (by their bodies where there is none), as
  /// forces times the problem's dt, turned with the contacts' frames (they are kept in world axes);
  /// zero for contacts that were not there. Moments of rolling resistance in the same way; those of
  /// equality constraints by their places, if there are as many.
  std::vector<double> recall(const ContactProblem& problem) const;

  /// What is kept, as a part of a stepper's memory.
  void save(StepperMemory& memory) const;
  void restore(const StepperMemory& memory);

 private:
  std::vector<std::int64_t> identity_;  ///< [n] ascending
  std::vector<double> impulse_;         ///< [n][3] N s, world axes
  std::vector<double> moment_;  ///< [n][3] N m s, the same; empty without rolling resistance
  std::vector<double> joint_;   ///< [equality constraints][3]
  double dt_ = 1;
};

/// Makes gamma_n >= 0 and shortens gamma_t to mu gamma_n: Wang 2016 Sect. 3.
void clamp_into_cones(const std::vector<double>& mu, std::vector<double>& gamma);
/// The same, and gamma_r to rho gamma_n. @param gamma  [triples][3]
void clamp_into_cones(const ContactProblem& problem, std::vector<double>& gamma);

}  // namespace ccp
