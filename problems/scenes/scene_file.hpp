#pragma once

#include <string>

#include "problems/scenes/scene.hpp"

namespace ccp {

/// A scene that a user wrote: bodies, obstacles, joints, and how they move. docs/scene-files.md.
struct SceneFile {
  std::string name, description;
  SceneSetup setup;
  std::string digest;  ///< SHA-256 of the file
};

/// Whether `scene` names such a file and not a row of the table: it ends in .yaml or .yml.
bool is_scene_file(const std::string& scene);

/// @throws InputError naming file, line, column and key: unknown keys (with the nearest known one),
/// wrong types and ranges, names that are not there, shapes without size, quaternions that are not
/// of length 1, motions that jump, joints that overlap or hold nothing that can move
SceneFile read_scene_file(const std::string& path);

}  // namespace ccp
