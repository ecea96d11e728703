#pragma once

#include <functional>
#include <string>
#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// A scene small enough to be solved by hand; its file holds the solution as reference.
struct HandScene {
  std::string name;
  std::string summary;
  std::function<ContactProblem()> build;  ///< without name and source: see make_scene()
};

/// All of them, in the order in which they are explained in problems/README.md.
const std::vector<HandScene>& hand_scenes();

/// Builds one of them. The reference solves the convex CCP exactly (to rounding).
/// @throws InputError for an unknown name, with the nearest known one
ContactProblem make_scene(const std::string& name);

}  // namespace ccp
