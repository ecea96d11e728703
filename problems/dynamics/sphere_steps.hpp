#pragma once

#include <functional>
#include <limits>
#include <string>

#include "problems/geometry/contact_detection.hpp"

namespace ccp {

/// How well one time step of a simulation is to be solved: to both bounds.
struct StepAccuracy {
  double error = 1e-3;       ///< the papers' max(cost, feas), SI units
  int max_iterations = 100;  ///< outer iterations
  double residual = std::numeric_limits<double>::infinity();  ///< scale-free
  int interval = 20;       ///< outer iterations between looks at these
  bool converged = false;  ///< in place of the bounds: until the solver itself has converged
};

/// Solves the contact problem of one time step. A generator gets it injected: problems/ knows no
/// solver. Must be deterministic, or the generator is not.
class StepSolver {
 public:
  virtual ~StepSolver() = default;
  /// @param gamma  [n][3] N s; in: guess, out: impulses
  /// @throws InputError if the solver was to converge and did not
  virtual void solve(const ContactProblem& problem, const StepAccuracy& accuracy,
                     std::vector<double>& gamma) = 0;
};

/// Adds M^-1 D gamma to the velocities of bodies that do not rotate, [m][3].
/// @return gamma . N gamma, J
double add_impulses(const ContactProblem& problem, const std::vector<double>& gamma,
                    std::vector<double>& velocity);

/// The end of a time step: v += dt g + M^-1 D gamma, x += dt v.
/// @return the largest speed, m/s
double move_spheres(Spheres& spheres, const ContactProblem& problem,
                    const std::vector<double>& gamma);

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

/// What an elastic model says of the impulses: gamma_n = dt k_n delta^(3/2) of Hertz's law and
/// gamma_t = -(dt / gamma_t) u_t of Rayleigh's dissipation with the velocities at the start of the
/// step, clamped into the cones (Wang 2016 eq. 9-10 in our units: see docs/sequence-format.md).
/// @param problem  one of sphere_problem with model.hertz
std::vector<double> hertz_impulses(const ContactProblem& problem, const SphereModel& model);

/// Time stepping of spheres, one problem after the other, each with identities of its contacts and
/// the guesses "previous" (the step before, by identity and clamped into the cones) and, with
/// elastic contacts, "hertz".
class SphereStepper {
 public:
  using Search = std::function<std::vector<Candidate>(const Spheres&)>;

  /// @param search  the contacts of a step; empty: those of elastic spheres
  SphereStepper(Spheres spheres, SphereModel model, Search search = {});

  ContactProblem next() const;
  /// Ends the step with these impulses. @return the largest speed, m/s
  double advance(const ContactProblem& step, const std::vector<double>& gamma);
  const Spheres& spheres() const { return spheres_; }

 private:
  Spheres spheres_;
  SphereModel model_;
  Search search_;
  ImpulseMemory memory_;
};

/// A number that the contact of a pair keeps as long as the bodies do: (a + 1) 2^32 + b.
std::int64_t pair_identity(std::int32_t a, std::int32_t b);

/// What of a simulation becomes a sequence.
struct SequenceOptions {
  std::string name = "sequence";
  std::size_t steps = 5;
  double from = -1;  ///< s, simulated time of the first step; negative: when all is at rest
  StepAccuracy accuracy{std::numeric_limits<double>::infinity(), 300, 1e-10, 1};
};

/// Steps until no sphere is faster than `speed` m/s. @return the number of steps
/// @throws InputError if that takes more than `most` steps, or the solver diverges
int come_to_rest(SphereStepper& stepper, StepSolver& solver, const StepAccuracy& accuracy,
                 double speed, int most);

/// Solves `steps` steps accurately, each from what the step before gives, and keeps them with their
/// solutions as references, named NAME-0000, NAME-0001, ...
/// @throws InputError if the solver diverges
std::vector<ContactProblem> record_steps(SphereStepper& stepper, StepSolver& solver,
                                         const StepAccuracy& accuracy, std::size_t steps,
                                         const std::string& name);

}  // namespace ccp
