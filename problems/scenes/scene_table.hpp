#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "problems/base/enum_text.hpp"
#include "problems/scenes/scene.hpp"

namespace ccp {

/// What a scene can do.
enum class SceneAbility {
  problem,     ///< Scene::problem(): `ccpbench generate ID`
  sequence,    ///< Scene::sequence(): `ccpbench generate ID --steps K`
  simulation,  ///< Scene::simulate() and height_at_rest(): `ccpbench simulate ID`
  motion,      ///< Scene::setup(): `ccpbench simulate ID[option=value]`
  record,      ///< problem() calls tools.record with every state
  by_hand,     ///< its problem carries the exact solution as reference
};
template <>
struct EnumTable<SceneAbility> {
  static constexpr EnumText<SceneAbility> rows[] = {
      {SceneAbility::problem, "problem"},       {SceneAbility::sequence, "sequence"},
      {SceneAbility::simulation, "simulation"}, {SceneAbility::motion, "motion"},
      {SceneAbility::record, "record"},         {SceneAbility::by_hand, "by hand"}};
};

/// A scene of the table.
struct SceneEntry {
  std::string id;
  std::string summary;
  std::vector<SceneAbility> abilities;
  /// The solver of its time steps unless the user names another; "": problem() and sequence() need
  /// no tools.solver.
  std::string step_solver;
  /// The option that is its size: `ccpbench simulate` takes several values of it. "": none
  std::string size;
  std::function<std::unique_ptr<Scene>()> make;

  bool can(SceneAbility ability) const;
};

/// All scenes. `ccpbench generate`, `simulate` and `list scenes` build themselves from this table.
const std::vector<SceneEntry>& scene_entries();

/// Adds a row. @throws InputError if there is one with that id
void add_scene(SceneEntry entry);

/// @throws InputError for an unknown id, with the nearest known one
const SceneEntry& find_scene(const std::string& id);

}  // namespace ccp
