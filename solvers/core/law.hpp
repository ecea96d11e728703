#pragma once

#include <optional>
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

/// The law that to_string() wrote, or nothing.
inline std::optional<Law> parse_law(const std::string& name) {
  for (const Law law : {Law::convex, Law::coulomb}) {
    if (name == to_string(law)) return law;
  }
  return std::nullopt;
}

}  // namespace ccp
