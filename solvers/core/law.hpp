#pragma once

#include "problems/base/enum_text.hpp"

namespace ccp {

/// Which contact law a solver solves.
enum class Law {
  convex,   ///< the cone complementarity problem K ∋ gamma ⊥ u ∈ K*, a convex program
  coulomb,  ///< Coulomb friction: K ∋ gamma ⊥ u + (mu |u_t|, 0, 0) ∈ K*, with De Saxce's term
};

template <>
struct EnumTable<Law> {
  static constexpr EnumText<Law> rows[] = {{Law::convex, "convex"}, {Law::coulomb, "coulomb"}};
};

}  // namespace ccp
