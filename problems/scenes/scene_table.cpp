#include "problems/scenes/scene_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "problems/base/error.hpp"
#include "problems/scenes/blade.hpp"
#include "problems/scenes/brazil_nut.hpp"
#include "problems/scenes/column.hpp"
#include "problems/scenes/hand_motions.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "problems/scenes/joint_motions.hpp"
#include "problems/scenes/lifter_drum.hpp"
#include "problems/scenes/pile.hpp"
#include "problems/scenes/planar.hpp"
#include "problems/scenes/pouring.hpp"
#include "problems/scenes/rolling_pile.hpp"
#include "problems/scenes/rotating_drum.hpp"
#include "problems/scenes/shaken_cubes.hpp"
#include "problems/scenes/soft_ellipsoids.hpp"
#include "problems/scenes/tiled_pile.hpp"
#include "problems/scenes/triaxial_cell.hpp"

namespace ccp {
namespace {

using Can = SceneAbility;

const std::vector<SceneEntry>& larger_scenes() {
  static const std::vector<SceneEntry> rows = {
      {"pile",
       "A pile of non-rotating spheres, settled on the ground (Test Problems 1-3)",
       {Can::problem, Can::sequence},
       "pgj[omega=0.2]",
       "spheres",
       pile_scene},
      {"tiled-pile",
       "A large pile of non-rotating spheres, made of settled tiles",
       {Can::problem},
       "apgd",
       "spheres",
       tiled_pile_scene},
      {"column",
       "A 1-D column of elastic spheres that sinks under its weight (Wang 2016)",
       {Can::sequence, Can::simulation, Can::motion},
       "",
       "spheres",
       column_scene},
      {"rolling-pile",
       "Spheres with rolling resistance that collapse into a heap (Wang 2016)",
       {Can::motion},
       "",
       "spheres",
       rolling_pile_scene},
      {"pouring",
       "Spheres with rolling resistance, let in over time, that form a heap (Wang 2016)",
       {Can::motion},
       "",
       "spheres",
       pouring_scene},
      {"rotating-drum",
       "Spheres of two sizes in a drum that turns (Wang 2016)",
       {Can::motion},
       "",
       "spheres",
       rotating_drum_scene},
      {"lifter-drum",
       "Ellipsoids or spheres in a drum with lifters that turns (Koziara 2019)",
       {Can::motion},
       "",
       "bodies",
       lifter_drum_scene},
      {"shaken-cubes",
       "An array of cubes in a box that is shaken (Koziara 2019)",
       {Can::motion},
       "",
       "cubes",
       shaken_cubes_scene},
      {"triaxial-cell",
       "Spheres that servo walls press together, then strain (Wang 2016)",
       {Can::motion},
       "",
       "spheres",
       triaxial_cell_scene},
      {"blade",
       "A blade that is drawn through a trench of spheres (Kleinert 2017)",
       {Can::motion},
       "",
       "spheres",
       blade_scene},
      {"soft-ellipsoids",
       "Pseudo-rigid ellipsoids that fall into a box (Koziara 2019)",
       {Can::motion},
       "",
       "ellipsoids",
       soft_ellipsoids_scene},
      {"pyramid",
       "A triangle of spheres that roll in a plane (Anitescu slides)",
       {Can::problem, Can::record, Can::motion},
       "lcp[edges=2]",
       "rows",
       pyramid_scene},
      {"brazil-nut",
       "A large disc below small ones in a box that is shaken (Anitescu slides)",
       {Can::motion},
       "",
       "discs",
       brazil_nut_scene},
      {"particle",
       "A particle thrown along the ground (Anitescu slides)",
       {Can::problem, Can::record},
       "lcp[edges=2]",
       "",
       particle_scene},
  };
  return rows;
}

/// A scene solved by hand: it has no options, and needs no solver.
class SolvedScene : public Scene {
 public:
  explicit SolvedScene(std::string id) : id_(std::move(id)) {}
  OptionList options() override { return OptionList(id_, "scene"); }
  ContactProblem problem(const SceneTools&) override { return make_scene(id_); }

 private:
  std::string id_;
};

std::vector<SceneEntry>& table() {
  static std::vector<SceneEntry> rows = [] {
    std::vector<SceneEntry> all;
    for (const HandScene& scene : hand_scenes()) {
      all.push_back(
          {scene.name, scene.summary, {Can::problem, Can::by_hand}, "", "", [id = scene.name] {
             return std::make_unique<SolvedScene>(id);
           }});
    }
    all.insert(all.end(), larger_scenes().begin(), larger_scenes().end());
    for (const auto* motions : {&hand_motions(), &joint_motions()}) {
      for (const HandMotion& motion : *motions) {
        all.push_back({motion.id, motion.summary, {Can::motion}, "", "", motion.make});
      }
    }
    return all;
  }();
  return rows;
}

}  // namespace

bool SceneEntry::can(SceneAbility ability) const {
  return std::find(abilities.begin(), abilities.end(), ability) != abilities.end();
}

const std::vector<SceneEntry>& scene_entries() {
  return table();
}

void add_scene(SceneEntry entry) {
  for (const SceneEntry& known : table()) {
    if (known.id == entry.id) {
      throw InputError(fmt::format("the scene {} is there already", entry.id));
    }
  }
  table().push_back(std::move(entry));
}

const SceneEntry& find_scene(const std::string& id) {
  std::vector<std::string> names;
  for (const SceneEntry& entry : table()) {
    if (entry.id == id) return entry;
    names.push_back(entry.id);
  }
  throw InputError(fmt::format("unknown scene '{}'{} (`ccpbench list scenes` shows all)", id,
                               did_you_mean(id, names)));
}

}  // namespace ccp
