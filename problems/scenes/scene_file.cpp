#include "problems/scenes/scene_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "problems/base/pi.hpp"
#include "problems/base/sha256.hpp"
#include "problems/base/yaml_file.hpp"
#include "problems/dynamics/joint_rows.hpp"
#include "problems/dynamics/stepper_table.hpp"
#include "problems/geometry/shape_table.hpp"

namespace ccp {
namespace {

using Range = OptionList::Range;

void set_triple_of(std::vector<double>& to, std::size_t i, const Vec3& v) {
  to[3 * i] = v.x, to[3 * i + 1] = v.y, to[3 * i + 2] = v.z;
}

/// What is wrong by itself, told with the place of an entry.
template <class Work>
auto at_place(const YamlEntry& entry, const std::string& key, const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    const std::string message = error.what();
    throw InputError(message.rfind(entry.file + ": ", 0) == 0 ? message
                                                              : entry.where(key) + ": " + message);
  }
}

/// `plane`, or {sphere: 0.1}, {box: [0.1, 0.2, 0.3]}.
Shape read_shape(const YamlEntry& entry) {
  std::string kind;
  std::vector<double> sizes;
  if (entry.node.IsScalar()) {
    kind = entry.text("shape");
  } else if (entry.node.IsMap() && entry.node.size() == 1) {
    const auto pair = *entry.node.begin();
    kind = pair.first.Scalar();
    const YamlEntry value{pair.second, entry.file};
    if (value.node.IsSequence()) {
      for (const YamlEntry& size : value.list(kind)) sizes.push_back(size.number(kind));
    } else {
      sizes.push_back(value.number(kind));
    }
  } else {
    entry.fail("shape", "a kind, or a map of a kind and its sizes in m: {sphere: 0.1}");
  }
  return at_place(entry, "shape", [&] { return make_shape(kind, sizes); });
}

Quaternion quaternion_of(const YamlEntry& entry) {
  const std::vector<double> q = entry.numbers("orientation", 4);
  const Quaternion given{q[0], q[1], q[2], q[3]};
  if (!is_unit(given)) {
    throw InputError(entry.file, entry.place("orientation"), "a quaternion w, x, y, z of length 1",
                     fmt::format("one of length {:.6g}", norm(given)));
  }
  return normalized(given);
}

/// The shortest turn of the third axis onto a direction.
Quaternion turn_onto(const YamlEntry& entry) {
  const Vec3 direction = entry.vector("axis");
  const double length = norm(direction);
  if (!(length > 0)) {
    throw InputError(entry.file, entry.place("axis"), "a direction", "a vector of length 0");
  }
  const Vec3 unit = 1 / length * direction, z{0, 0, 1};
  const Vec3 turn = cross(z, unit);
  const double sine = norm(turn);
  if (sine < 1e-15) return unit.z > 0 ? Quaternion{} : Quaternion{0, 1, 0, 0};
  return rotation(std::atan2(sine, unit.z) / sine * turn);
}

Pose read_pose(const YamlMap& map) {
  map.at_most_one_of({"orientation", "axis", "degrees"});
  Pose pose;
  map.read("position", pose.position);
  if (map.has("orientation")) pose.orientation = quaternion_of(map.at("orientation"));
  if (map.has("axis")) pose.orientation = turn_onto(map.at("axis"));
  if (map.has("degrees")) {
    pose.orientation = rotation(pi / 180 * map.at("degrees").vector("degrees"));
  }
  return pose;
}

// ---- motions of obstacles -----------------------------------------------------------------------

/// Positions at times, in between on straight lines, and at rest before and after.
class Path {
 public:
  explicit Path(const YamlEntry& entry) {
    for (const YamlEntry& item : entry.list("path")) {
      const std::vector<double> row = item.numbers("path", 4);
      if (!time_.empty() && !(row[0] > time_.back())) {
        throw InputError(entry.file, item.place("path"),
                         fmt::format("a time after {} s: motions do not jump", time_.back()),
                         fmt::format("{} s", row[0]));
      }
      time_.push_back(row[0]);
      position_.push_back({row[1], row[2], row[3]});
    }
  }
  Vec3 at(double time) const {
    if (time <= time_.front()) return position_.front();
    if (time >= time_.back()) return position_.back();
    const auto after = std::upper_bound(time_.begin(), time_.end(), time);
    const auto k = static_cast<std::size_t>(after - time_.begin());
    const double part = (time - time_[k - 1]) / (time_[k] - time_[k - 1]);
    return (1 - part) * position_[k - 1] + part * position_[k];
  }

 private:
  std::vector<double> time_;
  std::vector<Vec3> position_;
};

/// What moves an obstacle from its pose at time zero.
std::function<Pose(double)> read_motion(const YamlEntry& entry, const Pose& start) {
  const YamlMap map(entry, "motion",
                    {"velocity", "angular_velocity", "amplitude", "frequency", "from", "path"});
  map.at_most_one_of({"velocity", "path"});
  map.at_most_one_of({"amplitude", "path"});
  if (entry.node.size() == 0) entry.fail("motion", "at least one key");
  if (map.has("amplitude") != map.has("frequency")) {
    throw InputError(entry.file, entry.place("motion"), "amplitude and frequency",
                     "one of them only");
  }
  Vec3 velocity, spin, amplitude;
  double frequency = 0, from = 0;
  map.read("velocity", velocity);
  map.read("angular_velocity", spin);
  map.read("amplitude", amplitude);
  map.read("frequency", frequency, Range::positive());
  map.read("from", from);
  std::optional<Path> path;
  if (map.has("path")) path.emplace(map.at("path"));
  return [=](double time) {
    const double t = std::max(0.0, time - from);
    Pose pose = start;
    if (path) pose.position = path->at(time);
    pose.position = pose.position + t * velocity + std::sin(2 * pi * frequency * t) * amplitude;
    pose.orientation = rotation(t * spin) * start.orientation;
    return pose;
  };
}

// ---- bodies, obstacles, joints ------------------------------------------------------------------

const std::vector<std::string> common_keys = {"name", "shape",   "position", "orientation",
                                              "axis", "degrees", "mu",       "rolling"};

std::vector<std::string> keys(std::vector<std::string> all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

class Reader {
 public:
  explicit Reader(SceneFile& scene) : scene_(scene), bodies_(scene.setup.bodies) {}

  void read_bodies(const YamlEntry& list) {
    for (const YamlEntry& item : list.list("bodies")) read_body(item);
  }
  void read_obstacles(const YamlEntry& list) {
    for (const YamlEntry& item : list.list("obstacles")) {
      read_obstacle(YamlMap(item, "obstacle", keys(common_keys, {"motion", "belt"})));
    }
  }
  void read_joints(const YamlEntry& list) {
    for (const YamlEntry& item : list.list("joints")) {
      read_joint(item);
      // Now, so that the message has the place of the joint.
      at_place(item, "joint", [&] { check_joints(bodies_, "joints so far"); });
    }
  }
  /// Whether a body or an obstacle has a coefficient of rolling resistance.
  bool rolls() const { return rolls_; }
  /// Constant forces on bodies, N.
  void add_forces() {
    if (forces_.empty()) return;
    scene_.setup.model.load = [forces = forces_](const Bodies&, std::vector<double>& load) {
      for (const auto& [body, force] : forces) {
        load[6 * body] += force.x, load[6 * body + 1] += force.y, load[6 * body + 2] += force.z;
      }
    };
  }

 private:
  void add_name(const YamlMap& map, const JointSide& side) {
    if (!map.has("name")) return;
    const YamlEntry entry = map.at("name");
    const std::string name = entry.text("name");
    if (name == "world" || !sides_.emplace(name, side).second) {
      throw InputError(entry.file, entry.place("name"), "a name that nothing else has",
                       "'" + name + "' again");
    }
  }

  void read_obstacle(const YamlMap& map) {
    Obstacle obstacle;
    obstacle.shape = read_shape(map.at("shape"));
    obstacle.pose = read_pose(map);
    map.read("belt", obstacle.belt);
    map.read("mu", obstacle.mu, Range::at_least(0));
    map.read("rolling", obstacle.rolling, Range::at_least(0));
    rolls_ = rolls_ || map.has("rolling");
    if (map.has("motion")) {
      const YamlEntry motion = map.at("motion");
      if (motion.node["path"] && map.has("position")) {
        throw InputError(motion.file, map.at("position").place("position"),
                         "none beside a path, which says where it is", "one");
      }
      obstacle.motion = read_motion(motion, obstacle.pose);
      obstacle.pose = obstacle.motion(0);
    }
    JointSide side;
    side.obstacle = static_cast<int>(bodies_.obstacles.size());
    add_name(map, side);
    bodies_.obstacles.push_back(std::move(obstacle));
  }

  void read_body(const YamlEntry& item) {
    const YamlMap map(
        item, "body",
        keys(common_keys, {"mass", "density", "inertia", "velocity", "angular_velocity", "moves",
                           "force", "fixed", "motion", "belt", "copies", "pseudo_rigid"}));
    bool fixed = false;
    map.read("fixed", fixed);
    if (fixed || map.has("motion")) {
      if (fixed) map.at_most_one_of({"fixed", "motion"});
      for (const char* key : {"mass", "density", "inertia", "velocity", "angular_velocity", "moves",
                              "force", "copies", "pseudo_rigid"}) {
        if (!map.has(key)) continue;
        throw InputError(item.file, map.at(key).place(key),
                         "no such key: nothing but its motion moves this body", "one");
      }
      read_obstacle(map);
      return;
    }
    if (map.has("belt")) {
      throw InputError(item.file, map.at("belt").place("belt"), "an obstacle", "a body that moves");
    }
    const std::size_t first = bodies_.count();
    for (const Vec3& shift : read_copies(map)) add_body(map, shift);
    at_place(item, "body", [&] { bodies_.check("bodies so far"); });
    JointSide side;
    side.body = static_cast<int>(first);
    if (map.has("copies") && map.has("name")) {
      throw InputError(item.file, map.at("name").place("name"), "no name for several bodies",
                       map.at("name").found());
    }
    add_name(map, side);
  }

  /// Shifts of the copies of a body: a grid.
  static std::vector<Vec3> read_copies(const YamlMap& map) {
    if (!map.has("copies")) return {{}};
    const YamlMap copies(map.at("copies"), "copies", {"count", "pitch"});
    const YamlEntry count_entry = copies.at("count");
    const Vec3 count = count_entry.vector("count"), pitch = copies.at("pitch").vector("pitch");
    const double each[3] = {count.x, count.y, count.z};
    for (const double n : each) {
      if (!(n >= 1) || n != std::floor(n) || n > 1e5) {
        count_entry.fail("count", "three whole numbers from 1");
      }
    }
    check_size(map.entry().file, "copies", count.x * count.y * count.z);
    std::vector<Vec3> shifts;
    for (int k = 0; k < count.z; ++k) {
      for (int j = 0; j < count.y; ++j) {
        for (int i = 0; i < count.x; ++i) {
          shifts.push_back({i * pitch.x, j * pitch.y, k * pitch.z});
        }
      }
    }
    return shifts;
  }

  void add_body(const YamlMap& map, const Vec3& shift) {
    map.at_most_one_of({"moves", "pseudo_rigid"});
    const YamlEntry shape_entry = map.at("shape");
    const Shape shape = read_shape(shape_entry);
    const auto [kind, axis] = read_moves(map);
    const MassProperties mass = read_mass(map, shape, kind);
    const Vec3 inertia{mass.inertia[0], mass.inertia[1], mass.inertia[2]};
    const std::size_t i = kind == BodyKind::wall ? bodies_.add_wall(shape, mass.mass, axis)
                                                 : bodies_.add(shape, kind, mass.mass, inertia);
    const Pose pose = read_pose(map);
    set_triple_of(bodies_.position, i, pose.position + shift);
    bodies_.turn(i, pose.orientation);
    Vec3 velocity, spin, force;
    map.read("velocity", velocity);
    map.read("angular_velocity", spin);
    map.read("force", force);
    set_triple_of(bodies_.velocity, i, velocity);
    set_triple_of(bodies_.angular_velocity, i, spin);
    map.read("mu", bodies_.mu[i], Range::at_least(0));
    map.read("rolling", bodies_.rolling[i], Range::at_least(0));
    rolls_ = rolls_ || map.has("rolling");
    if (map.has("force")) forces_.emplace_back(i, force);
    if (map.has("pseudo_rigid")) read_pseudo_rigid(map.at("pseudo_rigid"), i);
  }

  void read_pseudo_rigid(const YamlEntry& entry, std::size_t body) {
    const YamlMap map(entry, "pseudo_rigid", {"young", "poisson", "damping"});
    const double young = map.at("young").number("young", Range::positive());
    double poisson = 0, damping = 0;
    map.read("poisson", poisson, {-1, 0.5, true, true});
    map.read("damping", damping, Range::at_least(0));
    at_place(entry, "pseudo_rigid",
             [&] { bodies_.make_pseudo_rigid(body, young, poisson, damping); });
  }

  /// rigid, non_rotating, planar, or {wall: direction}.
  static std::pair<BodyKind, Vec3> read_moves(const YamlMap& map) {
    if (!map.has("moves")) return {BodyKind::rigid, {}};
    const YamlEntry entry = map.at("moves");
    if (entry.node.IsMap()) {
      const YamlMap wall(entry, "moves", {"wall"});
      const YamlEntry along = wall.at("wall");
      const Vec3 axis = along.vector("wall");
      if (!(norm(axis) > 0)) along.fail("wall", "the direction that the wall slides along");
      return {BodyKind::wall, 1 / norm(axis) * axis};
    }
    const std::map<std::string, BodyKind> kinds = {{"rigid", BodyKind::rigid},
                                                   {"non_rotating", BodyKind::non_rotating},
                                                   {"planar", BodyKind::planar}};
    const auto found = entry.node.IsScalar() ? kinds.find(entry.node.Scalar()) : kinds.end();
    if (found == kinds.end()) {
      entry.fail("moves", "rigid, non_rotating, planar, or {wall: [x, y, z]}");
    }
    return {found->second, {}};
  }

  /// Mass and moments: of a density, or those of the homogeneous shape of that mass.
  static MassProperties read_mass(const YamlMap& map, const Shape& shape, BodyKind kind) {
    map.at_most_one_of({"mass", "density"});
    MassProperties own;
    if (map.has("density")) {
      const double density = map.at("density").number("density", Range::positive());
      own = at_place(map.at("density"), "density", [&] { return mass_properties(shape, density); });
    } else {
      own.mass = map.at("mass").number("mass", Range::positive());
      const bool bounded = shape_kind(shape.kind).mass_properties != nullptr;
      if (!bounded && kind != BodyKind::wall) {
        throw InputError(map.entry().file, map.at("shape").place("shape"),
                         "a bounded shape, of a body that moves", std::string(shape.kind));
      }
      if (bounded) {
        const MassProperties unit = mass_properties(shape, 1);
        for (std::size_t k = 0; k < 3; ++k) {
          own.inertia[k] = own.mass / unit.mass * unit.inertia[k];
        }
      }
    }
    if (map.has("inertia")) {
      const std::vector<double> given = map.at("inertia").numbers("inertia", 3);
      std::copy(given.begin(), given.end(), own.inertia.begin());
    }
    return own;
  }

  JointSide side_of(const YamlEntry& entry) const {
    const std::string name = entry.text("between");
    if (name == "world") return {};
    const auto found = sides_.find(name);
    if (found != sides_.end()) return found->second;
    std::vector<std::string> known = {"world"};
    for (const auto& [other, side] : sides_) known.push_back(other);
    throw InputError(entry.where("between") + ": unknown name '" + name + "'" +
                     did_you_mean(name, known) +
                     fmt::format(" (there are {})", fmt::join(known, ", ")));
  }

  void read_joint(const YamlEntry& item) {
    std::vector<std::string> kinds;
    for (const auto& row : EnumTable<JointKind>::rows) kinds.emplace_back(row.text);
    const YamlMap map(
        item, "joint",
        {"type", "between", "at", "axis", "length", "stiffness", "damping", "speed", "collide"});
    Joint joint;
    const YamlEntry type = map.at("type");
    const auto kind = std::find(kinds.begin(), kinds.end(), type.text("type"));
    if (kind == kinds.end()) {
      throw InputError(type.where("type") + ": unknown joint '" + type.node.Scalar() + "'" +
                       did_you_mean(type.node.Scalar(), kinds) +
                       fmt::format(" (there are {})", fmt::join(kinds, ", ")));
    }
    joint.kind = EnumTable<JointKind>::rows[kind - kinds.begin()].value;
    const bool spring = joint.kind == JointKind::spring, motor = joint.kind == JointKind::motor;
    const bool two_points = spring || joint.kind == JointKind::distance;
    const bool has_axis =
        motor || joint.kind == JointKind::hinge || joint.kind == JointKind::slider;
    const auto only = [&](const char* key, bool takes) {
      if (map.has(key) && !takes) {
        throw InputError(item.file, map.at(key).place(key),
                         fmt::format("no such key of a {}", *kind), "one");
      }
    };
    only("axis", has_axis);
    only("length", two_points);
    only("stiffness", spring);
    only("damping", spring);
    only("speed", motor);
    only("at", !motor);
    const YamlEntry between = map.at("between");
    const std::vector<YamlEntry> sides = between.list("between");
    if (sides.size() != 2) between.fail("between", "two names");
    joint.a = side_of(sides[0]);
    joint.b = side_of(sides[1]);
    map.read("length", joint.length, Range::positive());
    map.read("stiffness", joint.stiffness, Range::at_least(0));
    map.read("damping", joint.damping, Range::at_least(0));
    if (motor) joint.speed = map.at("speed").number("speed");
    map.read("collide", joint.collide);
    Vec3 a, b, axis{0, 0, 1};
    if (two_points) {
      const YamlEntry at = map.at("at");
      const std::vector<YamlEntry> points = at.list("at");
      if (points.size() != 2) at.fail("at", "two points, [[x, y, z], [x, y, z]]");
      a = points[0].vector("at");
      b = points[1].vector("at");
    } else if (!motor) {
      a = b = map.at("at").vector("at");
    }
    if (has_axis) {
      const YamlEntry given = map.at("axis");
      axis = given.vector("axis");
      if (!(norm(axis) > 0)) given.fail("axis", "a direction");
    }
    add_joint(bodies_, joint, a, b, axis);
  }

  SceneFile& scene_;
  Bodies& bodies_;
  std::map<std::string, JointSide> sides_;
  std::vector<std::pair<std::size_t, Vec3>> forces_;
  bool rolls_ = false;
};

/// Steps that obstacles make: motions that jump are refused before any is simulated.
void check_motions(const YamlEntry& root, const SceneSetup& setup) {
  for (std::size_t o = 0; o < setup.bodies.obstacles.size(); ++o) {
    at_place(root, "motion", [&] { obstacle_motion(setup.bodies, o, 0, setup.model.dt); });
  }
}

}  // namespace

bool is_scene_file(const std::string& scene) {
  const std::size_t dot = scene.rfind('.');
  return dot != std::string::npos && (scene.substr(dot) == ".yaml" || scene.substr(dot) == ".yml");
}

SceneFile read_scene_file(const std::string& path) {
  const YamlEntry root{load_yaml(path, "a scene file"), path};
  const YamlMap map(
      root, "scene",
      {"name",           "description", "dt",          "until",        "gravity", "mu",
       "rolling",        "twisting",    "restitution", "impact_speed", "margin",  "cohesion",
       "cohesion_reach", "young",       "poisson",     "stepper",      "solver",  "fastest",
       "bodies",         "obstacles",   "joints"});
  SceneFile scene;
  scene.digest = file_sha256(path);
  scene.name = map.at("name").text("name");
  map.read("description", scene.description);
  SceneSetup& setup = scene.setup;
  StepModel& model = setup.model;
  model.gravity = {0, 0, -9.81};
  model.dt = map.at("dt").number("dt", Range::positive());
  setup.until = map.at("until").number("until", Range::positive());
  map.read("gravity", model.gravity);
  map.read("mu", model.mu, Range::at_least(0));
  map.read("rolling", model.rolling, Range::at_least(0));
  map.read("twisting", model.twisting);
  map.read("restitution", model.restitution, {0, 1});
  map.read("impact_speed", model.impact_speed, Range::at_least(0));
  map.read("margin", model.margin, Range::at_least(0));
  map.read("cohesion", model.attraction.force, Range::at_least(0));
  map.read("cohesion_reach", model.attraction.reach, Range::positive());
  map.read("young", model.hertz.young, Range::positive());
  map.read("poisson", model.hertz.poisson, {0, 0.5});
  map.read("stepper", setup.stepper);
  map.read("solver", setup.solver);
  map.read("fastest", setup.fastest, Range::positive());
  Reader reader(scene);
  if (map.has("obstacles")) reader.read_obstacles(map.at("obstacles"));
  reader.read_bodies(map.at("bodies"));
  if (setup.bodies.count() == 0) {
    map.at("bodies").fail("bodies", "at least one body that can move");
  }
  if (map.has("joints")) reader.read_joints(map.at("joints"));
  reader.add_forces();
  // Where only sides have a coefficient, it is theirs alone.
  constexpr double no_limit = std::numeric_limits<double>::infinity();
  if (reader.rolls() && !map.has("rolling")) model.rolling = no_limit;
  check_motions(root, setup);
  if (map.has("stepper")) {
    at_place(map.at("stepper"), "stepper", [&] { make_stepper(setup.stepper, model); });
  }
  return scene;
}

}  // namespace ccp
