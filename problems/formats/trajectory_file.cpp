#include "problems/formats/trajectory_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <type_traits>

#include "problems/base/error.hpp"

namespace ccp {
namespace {

/// A row of the list of datasets, of a trajectory that is read into or, const, one that is written:
/// exactly one of the two pointers is not null.
template <class T>
struct Field {
  template <class Value>
  using Array =
      std::conditional_t<std::is_const_v<T>, const std::vector<Value>, std::vector<Value>>;
  std::string path;
  Array<double>* numbers = nullptr;
  Array<std::int64_t>* counts = nullptr;
  std::vector<std::size_t> shape;  ///< the first extent is of steps, frames, bodies or obstacles
  SpilledArray FrameArrays::*aside = nullptr;  ///< where frames are that the trajectory has not
};

/// What a file holds; reader and writer walk this list.
template <class T>
std::vector<Field<T>> fields_of(T& t) {
  const std::size_t steps = t.steps(), frames = t.frames(), m = t.bodies, o = t.obstacles;
  std::vector<Field<T>> fields = {
      {"/steps/time", &t.time, nullptr, {steps}},
      {"/steps/contacts", nullptr, &t.contacts, {steps}},
      {"/steps/outer", nullptr, &t.outer, {steps}},
      {"/steps/krylov", nullptr, &t.krylov, {steps}},
      {"/steps/solver_time", &t.solver_time, nullptr, {steps}},
      {"/steps/residual", &t.residual, nullptr, {steps}},
      {"/steps/penetration", &t.penetration, nullptr, {steps}},
      {"/steps/kinetic", &t.kinetic, nullptr, {steps}},
      {"/steps/potential", &t.potential, nullptr, {steps}},
      {"/frames/step", nullptr, &t.frame_step, {frames}},
      {"/bodies/position", &t.position, nullptr, {frames, m, 3}, &FrameArrays::position},
      {"/bodies/orientation", &t.orientation, nullptr, {frames, m, 4}, &FrameArrays::orientation},
      {"/bodies/velocity", &t.velocity, nullptr, {frames, m, 6}, &FrameArrays::velocity},
      {"/bodies/size", &t.body_size, nullptr, {m, 3}},
  };
  if (t.deforms) {
    fields.push_back({"/bodies/deformation",
                      &t.deformation,
                      nullptr,
                      {frames, m, 3, 3},
                      &FrameArrays::deformation});
    fields.push_back({"/bodies/deformation_rate",
                      &t.deformation_rate,
                      nullptr,
                      {frames, m, 3, 3},
                      &FrameArrays::deformation_rate});
  }
  if (!t.row_step.empty()) {
    const std::size_t rows = t.row_step.size();
    fields.push_back({"/row_residuals/step", nullptr, &t.row_step, {rows}});
    fields.push_back({"/row_residuals/solve", nullptr, &t.row_solve, {rows}});
    fields.push_back({"/row_residuals/outer", nullptr, &t.row_outer, {rows}});
    fields.push_back({"/row_residuals/normal", &t.row_normal, nullptr, {rows}});
    fields.push_back({"/row_residuals/tangential", &t.row_tangential, nullptr, {rows}});
    fields.push_back({"/row_residuals/rolling", &t.row_rolling, nullptr, {rows}});
    fields.push_back({"/row_residuals/equality", &t.row_equality, nullptr, {rows}});
  }
  if (!t.joint_error.empty()) {
    fields.push_back({"/steps/joint_error", &t.joint_error, nullptr, {steps}});
  }
  if (o > 0) {
    fields.push_back({"/obstacles/force", &t.obstacle_force, nullptr, {steps, o, 3}});
    fields.push_back({"/obstacles/size", &t.obstacle_size, nullptr, {o, 3}});
  }
  return fields;
}

std::string text_of(const std::vector<std::size_t>& shape) {
  return fmt::format("({})", fmt::join(shape, ", "));
}

/// Numbers in one row of an array.
std::size_t row_of(const std::vector<std::size_t>& shape) {
  return std::accumulate(shape.begin() + 1, shape.end(), std::size_t{1}, std::multiplies<>());
}

void check_shape(const Hdf5File& file, const Field<Trajectory>& field,
                 const std::vector<std::size_t>& found) {
  if (found == field.shape) return;
  throw InputError(file.path(), field.path, "extents " + text_of(field.shape), text_of(found));
}

template <class T>
void take(const Hdf5File& file, const Field<Trajectory>& field, std::vector<T>& to) {
  auto array = file.read<T>(field.path);
  check_shape(file, field, array.shape);
  to = std::move(array.data);
}

/// @param frame, bodies  the first one's number, and how many are in each
void check_units(const std::string& path, const double* quaternion, std::size_t count,
                 std::size_t frame, std::size_t bodies) {
  for (std::size_t i = 0; i < count; ++i) {
    double square = 0;
    for (std::size_t k = 0; k < 4; ++k) square += std::pow(quaternion[4 * i + k], 2);
    if (std::abs(square - 1) < 1e-8 || std::isnan(square)) continue;
    throw InputError(
        path, fmt::format("/bodies/orientation, frame {}, body {}", frame + i / bodies, i % bodies),
        "a unit quaternion", fmt::format("one of length {}", std::sqrt(square)));
  }
}

void take_aside(const Hdf5File& file, const Field<Trajectory>& field, SpilledArray& to) {
  check_shape(file, field, file.shape(field.path));
  const std::size_t row = row_of(field.shape), bodies = field.shape[1];
  file.read_rows(field.path, [&](std::size_t first, std::size_t count, const double* from) {
    if (field.aside == &FrameArrays::orientation) {
      check_units(file.path(), from, count * bodies, first, bodies);
    }
    to.append(from, count * row);
  });
}

std::string required(const Hdf5File& file, const std::string& name) {
  const auto text = file.string_attribute("/", name);
  if (!text) throw InputError(file.path(), "root attribute " + name, "a text", "nothing");
  return *text;
}

template <class T>
void check_ascending(const std::string& path, const char* dataset, const std::vector<T>& values) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (!(values[i] > values[i - 1])) {
      throw InputError(path, fmt::format("{}[{}]", dataset, i),
                       fmt::format("more than {}", values[i - 1]), fmt::format("{}", values[i]));
    }
  }
}

/// The largest value, at least 0; NaN if one is.
double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) {
    if (std::isnan(value)) return value;
    most = std::max(most, value);
  }
  return most;
}

}  // namespace

double Trajectory::largest_residual() const {
  return largest(residual);
}
double Trajectory::deepest_penetration() const {
  return largest(penetration);
}
double Trajectory::largest_joint_error() const {
  return largest(joint_error);
}

void write_trajectory(const std::string& path, const Trajectory& t, bool overwrite,
                      const std::function<void(Hdf5File&)>& more, const FrameArrays* frames) {
  Hdf5File file = Hdf5File::create(path, overwrite, Hdf5File::Storage::disk);
  file.set_attribute("/", "format", trajectory_format);
  file.set_attribute("/", "version", static_cast<std::int64_t>(trajectory_version));
  file.set_attribute("/", "scene", t.scene);
  file.set_attribute("/", "options", t.options);
  file.set_attribute("/", "stepper", t.stepper);
  file.set_attribute("/", "solver", t.solver);
  for (const auto& field : fields_of(t)) {
    if (frames && field.aside) {
      const std::size_t row = row_of(field.shape);
      file.write_rows(field.path, field.shape,
                      [&](std::size_t first, std::size_t count, double* to) {
                        (frames->*field.aside).read(first * row, count * row, to);
                      });
    } else if (field.numbers) {
      file.write(field.path, *field.numbers, field.shape);
    } else {
      file.write(field.path, *field.counts, field.shape);
    }
  }
  file.write_strings("/steps/status", t.status);
  file.write_strings("/bodies/shape", t.body_shape);
  if (t.obstacles > 0) file.write_strings("/obstacles/shape", t.obstacle_shape);
  file.make_group("/provenance");
  for (const auto& [name, value] : t.provenance) file.set_attribute("/provenance", name, value);
  if (more) more(file);
  file.commit();
}

Trajectory read_trajectory(const std::string& path, FrameArrays* frames) {
  const Hdf5File file = Hdf5File::open(path);
  const auto format = file.string_attribute("/", "format");
  if (format != trajectory_format) {
    throw InputError(path, "root attribute format", fmt::format("'{}'", trajectory_format),
                     format ? "'" + *format + "'" : "nothing");
  }
  if (file.number_attribute("/", "version") != std::vector<double>{trajectory_version}) {
    throw InputError(path, "root attribute version", fmt::format("{}", trajectory_version),
                     "something else");
  }
  Trajectory t;
  t.scene = required(file, "scene");
  t.options = required(file, "options");
  t.stepper = required(file, "stepper");
  t.solver = required(file, "solver");
  for (const std::string& name : file.attribute_names("/provenance")) {
    t.provenance.emplace_back(name, file.string_attribute("/provenance", name).value_or(""));
  }
  t.status = file.read_strings("/steps/status");
  t.body_shape = file.read_strings("/bodies/shape");
  if (file.has("/obstacles/shape")) t.obstacle_shape = file.read_strings("/obstacles/shape");
  t.bodies = t.body_shape.size();
  t.obstacles = t.obstacle_shape.size();
  // The extents that the others are held against.
  t.time = file.read<double>("/steps/time").data;
  t.frame_step = file.read<std::int64_t>("/frames/step").data;
  if (file.has("/steps/joint_error")) t.joint_error.resize(t.steps());
  t.deforms = file.has("/bodies/deformation");
  if (file.has("/row_residuals/step")) {
    t.row_step = file.read<std::int64_t>("/row_residuals/step").data;
  }
  if (t.status.size() != t.steps()) {
    throw InputError(path, "/steps/status", fmt::format("{} texts, as /steps/time", t.steps()),
                     fmt::format("{}", t.status.size()));
  }
  for (const auto& field : fields_of(t)) {
    if (frames && field.aside) {
      take_aside(file, field, frames->*field.aside);
    } else if (field.numbers) {
      take(file, field, *field.numbers);
    } else {
      take(file, field, *field.counts);
    }
  }
  check_ascending(path, "/steps/time", t.time);
  check_ascending(path, "/frames/step", t.frame_step);
  if (t.frames() > 0 && t.frame_step.back() > static_cast<std::int64_t>(t.steps())) {
    throw InputError(path, "/frames/step", fmt::format("at most {} steps", t.steps()),
                     fmt::format("{}", t.frame_step.back()));
  }
  check_units(path, t.orientation.data(), t.orientation.size() / 4, 0, t.bodies);
  return t;
}

}  // namespace ccp
