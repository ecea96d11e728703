#pragma once

#include <vector>

#include "problems/base/options.hpp"
#include "problems/dynamics/bodies.hpp"

namespace ccp {

/// What pulls together bodies and obstacles that touch or nearly do, as films of water and charges
/// do: a force along the normal of every contact with a gap of at most `reach`, whatever the
/// contact carries. With a contact's law beside it the two sides hold each other up to a tension of
/// `force`, and slide where friction exceeds mu times what presses them together, force included.
struct Attraction {
  double force = 0;     ///< N, of each contact; 0: none
  double reach = 1e-4;  ///< m
  bool acts() const { return force > 0; }
};

/// Adds both as options, `cohesion` and `cohesion_reach`. @param attraction  must outlive the list
OptionList& add_attraction_options(OptionList& list, Attraction& attraction);

/// Adds what attraction does to bodies, [m][6] N and N m, and to obstacles, [obstacles][3] N, each
/// if it is not null, where the bodies are.
void add_attraction(const Bodies& bodies, const Attraction& attraction,
                    std::vector<double>* on_bodies, std::vector<double>* on_obstacles);

}  // namespace ccp
