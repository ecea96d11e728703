#pragma once

#include <string>

namespace ccp {

/// Which contact law a solver solves.
enum class Law {
  convex,   ///< the cone complementarity problem K ∋ gamma ⊥ u ∈ K*, a convex program
  coulomb,  ///< Coulomb friction: K ∋ gamma ⊥ u + (mu |u_t|, 0, 0) ∈ K*, with De Saxce's term
};
inline std::string to_string(Law law) {
  return law == Law::convex ? "convex" : "coulomb";
}

}  // namespace ccp
