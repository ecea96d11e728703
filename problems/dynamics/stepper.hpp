#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "problems/dynamics/bodies.hpp"
#include "problems/dynamics/step_solver.hpp"

namespace ccp {

/// Where the solver of a step starts.
struct StepStart {
  std::string guess;          ///< one that the step's problem carries; "" is the stepper's own
  double factor = 1;          ///< on a guess of the problem
  bool normals_only = false;  ///< friction, rolling and joints from zero (Wang 2016 Sect. 4.2)
  /// Whether what the solver starts from moves the bodies, Wang 2016 eq. 8. If not, the solver
  /// works with velocities that its start has not changed, r - D^T M^-1 D gamma_0, and what acts in
  /// the step is gamma - gamma_0.
  bool moves_bodies = true;
};

/// A step that was made.
struct Step {
  ContactProblem problem;
  std::vector<double> gamma;  ///< [triples][3] N s, the impulses that acted
  double speed = 0;           ///< m/s, of the fastest body at the end; NaN if the solver diverged
  /// [obstacles][3] N s, what obstacles took, in all stages; empty of schemes that know none
  std::vector<double> obstacle_impulse;
};

/// What a scheme remembers, by name, for a simulation that goes on later.
struct StepperMemory {
  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, std::vector<std::int64_t>> identities;
};

/// A time-stepping scheme: which problem a step poses, and what its impulses do to the bodies.
///
///     problem:  q, v  ->  K_mu contains gamma  _|_  u = N gamma + r  in K_mu*
///     finish:   v+ = v + dt g + M^-1 D gamma,   q+ = q + dt v+
///
/// A scheme holds its model of contacts and what it remembers from one step to the next (impulses);
/// the state of the bodies belongs to the caller. Schemes of one problem a step implement problem()
/// and finish(); one with more stages overrides step() as well, and its Step is that of the first.
/// Equations, orders and what each conserves: README.md in this folder.
class Stepper {
 public:
  virtual ~Stepper() = default;

  /// The problem of the step from `bodies` on. It carries the guesses this scheme has to offer, and
  /// identities of its contacts where a later step can find them again.
  virtual ContactProblem problem(const Bodies& bodies) const = 0;

  /// Ends the step with these impulses. @return the largest speed, m/s
  virtual double finish(Bodies& bodies, const ContactProblem& problem,
                        const std::vector<double>& gamma) = 0;

  /// Where the solver starts unless told otherwise: from zero, or as the scheme knows better.
  virtual std::vector<double> own_start(const ContactProblem& problem) const;

  /// Makes one step. A problem without any rows is not given to the solver.
  /// @throws InputError for a guess that the problem does not carry, and what the solver throws
  virtual Step step(Bodies& bodies, StepSolver& solver, const StepAccuracy& accuracy,
                    const StepStart& start = {});

  /// Whether it moves pseudo-rigid bodies.
  virtual bool deforms() const { return false; }

  /// What restore() needs to go on with the same bits; nothing by default.
  virtual StepperMemory save() const { return {}; }
  virtual void restore(const StepperMemory& memory) { (void)memory; }

 protected:
  /// @throws InputError for pseudo-rigid bodies in a scheme that does not move them
  void check_deforms(const Bodies& bodies) const;
  /// Where the solver starts. @throws InputError for a guess that the problem does not carry
  std::vector<double> start_of(const ContactProblem& problem, const StepStart& start) const;

 private:
  std::vector<double> guessed(const ContactProblem& problem, const StepStart& start) const;
};

}  // namespace ccp
