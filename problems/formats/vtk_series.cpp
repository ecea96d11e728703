#include "problems/formats/vtk_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "problems/base/error.hpp"
#include "problems/base/mat3.hpp"
#include "problems/base/quaternion.hpp"
#include "problems/formats/poly_data.hpp"

namespace ccp {
namespace {

Surface unit_cube() {
  Surface cube;
  for (int i = 0; i < 8; ++i) {
    cube.points.push_back({i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0});
  }
  cube.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return cube;
}

/// Half lengths along a body's own axes, and whether it is round.
struct Drawn {
  double half[3];
  bool round;
};

Drawn drawn(const std::string& kind, const double* size) {
  if (kind == "sphere") return {{size[0], size[0], size[0]}, true};
  if (kind == "ellipsoid") return {{size[0], size[1], size[2]}, true};
  if (kind == "ellipse") return {{size[0], 0.1 * std::min(size[0], size[1]), size[1]}, true};
  if (kind == "rod") return {{size[0], 0.02 * size[0], 0.02 * size[0]}, true};
  if (kind == "box") return {{size[0], size[1], size[2]}, false};
  return {{0.01, 0.01, 0.01}, false};  // what has no size of its own, like a wall: a mark
}

/// F q of a pseudo-rigid body's point q, which is drawn as it is deformed; a sphere stays one, and
/// rigid bodies have no F.
std::optional<Mat3> deformation_of(const Trajectory& t, std::size_t body, std::size_t at) {
  if (!t.deforms || t.body_shape[body] == "sphere") return std::nullopt;
  Mat3 f;
  std::copy_n(&t.deformation[9 * at], 9, f.a);
  return largest_entry(f) > 0 ? std::optional<Mat3>(f) : std::nullopt;
}

PolyData frame_of(const Trajectory& t, std::size_t frame, const Surface& round, const Surface& box,
                  bool centres) {
  PolyData out;
  out.corners_each = centres ? 1 : 3;
  out.point_fields = {
      {"body", 1, {}}, {"velocity", 3, {}}, {"angular_velocity", 3, {}}, {"speed", 1, {}}};
  for (std::size_t i = 0; i < t.bodies; ++i) {
    const std::size_t at = frame * t.bodies + i;
    const Drawn look = drawn(t.body_shape[i], &t.body_size[3 * i]);
    const Surface& surface = centres || look.round ? round : box;
    const Vec3 centre{t.position[3 * at], t.position[3 * at + 1], t.position[3 * at + 2]};
    const double* q = &t.orientation[4 * at];
    const Quaternion turn{q[0], q[1], q[2], q[3]};
    const double* v = &t.velocity[6 * at];
    const std::optional<Mat3> f = deformation_of(t, i, at);
    const std::size_t first = out.points.size() / 3;
    for (const auto& p : surface.points) {
      const Vec3 own{look.half[0] * p[0], look.half[1] * p[1], look.half[2] * p[2]};
      const Vec3 from_centre = f ? *f * own : rotate(turn, own);
      const Vec3 x = centres ? centre : centre + from_centre;
      out.points.insert(out.points.end(), {x.x, x.y, x.z});
      out.point_fields[0].data.push_back(static_cast<double>(i));
      out.point_fields[1].data.insert(out.point_fields[1].data.end(), v, v + 3);
      out.point_fields[2].data.insert(out.point_fields[2].data.end(), v + 3, v + 6);
      out.point_fields[3].data.push_back(std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }
    if (centres) out.corners.push_back(first);
    for (const auto& triangle : surface.triangles) {
      for (const std::size_t corner : triangle) out.corners.push_back(first + corner);
    }
  }
  return out;
}

/// s, of a frame.
double time_of(const Trajectory& t, std::size_t frame) {
  const auto step = static_cast<std::size_t>(t.frame_step[frame]);
  return step == 0 ? 0 : t.time[step - 1];
}

}  // namespace

std::vector<std::string> export_vtk_series(const std::string& prefix, const Trajectory& trajectory,
                                           const VtkOptions& options) {
  const bool centres = options.detail < 0;
  const Surface round = centres ? Surface{{{0, 0, 0}}, {}} : subdivided_icosahedron(options.detail);
  const Surface box = centres ? round : unit_cube();
  std::vector<std::string> files = {prefix + ".pvd"};
  for (std::size_t k = 0; k < trajectory.frames(); ++k) {
    files.push_back(fmt::format("{}-{:04}.vtp", prefix, k));
  }
  for (const std::string& file : files) {
    check_output_path(file, options.overwrite, options.inputs);
  }
  OutputFile series(files[0]);
  series.print("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n");
  series.print("<Collection>\n");
  for (std::size_t k = 0; k < trajectory.frames(); ++k) {
    OutputFile frame(files[k + 1]);
    frame_of(trajectory, k, round, box, centres).write(frame);
    frame.commit();
    series.print("<DataSet timestep=\"{:.9g}\" file=\"{}\"/>\n", time_of(trajectory, k),
                 escaped(std::filesystem::path(files[k + 1]).filename().string()));
  }
  series.print("</Collection>\n</VTKFile>\n");
  series.commit();
  return files;
}

}  // namespace ccp
