#pragma once

#include <memory>
#include <string>

#include "solvers/velocity_space/machine_rates.hpp"
#include "solvers/velocity_space/velocity_system.hpp"

namespace ccp {

/// How ranks precondition S.
struct SchwarzOptions {
  int overlap = 6;        ///< >= 0, layers of contacts by which a part's bodies reach into others'
  double thinning = 0.1;  ///< >= 0: ThinnedFactor::Options::thinning
  int parts = 1;          ///< >= 1, of every rank
  /// How parts are solved with: "auto" by the thinned factor, else by one of
  /// body_preconditioner_ids(), for less memory and more iterations.
  std::string preconditioner = "auto";
  /// Whether the thinned factor takes the place of these, for good, once the iterations that it
  /// saves cost more than it does: both counted (MachineRates), by sums over all parts.
  bool factors_later = false;
  MachineRates rates{};
};

/// The velocity side of a problem that several ranks share. Each has the unknowns of its bodies, in
/// the order of Distribution::owned_body, and a BodySystem of its part: a product with S adds up
/// what ranks have of the rows of bodies that several have, like one with N.
///
/// Preconditioner: overlapping additive Schwarz (Dryja and Widlund 1987), sum_k R_k^T A_k^-1 R_k.
/// A_k are the rows and columns of S of a part: a range of bodies, of which a rank has one or more
/// (subparts()), and what lies at most `overlap` contacts from them, factored without the small
/// blocks (ThinnedFactor), or incompletely. S >= 1 makes each positive definite; without a coarse
/// space iterations grow slowly with the parts. They do not depend on which ranks have these.
///
/// Cost: a product has one exchange of shared bodies, an application of the preconditioner one of
/// the bodies of the overlap, both ways; making it sends 6 numbers per contact of the overlap.
/// @param problem  of any number of ranks, in bodies form, contacts alone; must outlive the system
std::unique_ptr<VelocitySystem> make_distributed_system(const Problem& problem,
                                                        const SchwarzOptions& options);

}  // namespace ccp
