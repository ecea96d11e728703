#include "problems/formats/vtk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <filesystem>

#include "problems/base/error.hpp"
#include "problems/formats/poly_data.hpp"
#include "problems/model/impulses.hpp"

namespace ccp {
namespace {

/// [m][6] m/s and rad/s at the end of the step; bodies without mass do not fall.
std::vector<double> final_velocity(const ContactProblem& problem,
                                   const std::vector<double>& gamma) {
  std::vector<double> velocity = problem.velocity;
  velocity.resize(6 * problem.bodies(), 0.0);
  if (gamma.empty()) return velocity;
  const std::vector<double> change = body_velocity_changes(problem, gamma);
  for (std::size_t i = 0; i < problem.bodies(); ++i) {
    for (std::size_t k = 0; k < 6; ++k) velocity[6 * i + k] += change[6 * i + k];
    for (std::size_t k = 0; k < 3 && problem.inverse_mass[i] > 0; ++k) {
      velocity[6 * i + k] += problem.dt * problem.gravity[k];
    }
  }
  return velocity;
}

PolyData bodies_of(const ContactProblem& problem, const std::vector<double>& gamma, int detail) {
  PolyData out;
  Surface sphere{{{0, 0, 0}}, {}};
  const bool points_only = detail < 0 || problem.radius.empty();
  if (!points_only) sphere = subdivided_icosahedron(detail);
  out.corners_each = points_only ? 1 : 3;
  out.point_fields = {{"body", 1, {}},
                      {"mass", 1, {}},
                      {"velocity", 3, {}},
                      {"angular_velocity", 3, {}},
                      {"speed", 1, {}}};
  if (points_only && !problem.radius.empty()) out.point_fields.push_back({"radius", 1, {}});
  const std::vector<double> velocity = final_velocity(problem, gamma);
  for (std::size_t i = 0; i < problem.bodies(); ++i) {
    const std::size_t first = out.points.size() / 3;
    const double* v = &velocity[6 * i];
    const double inverse_mass = problem.inverse_mass[i];
    const double radius = problem.radius.empty() ? 0 : problem.radius[i];
    for (const auto& point : sphere.points) {
      for (int k = 0; k < 3; ++k) {
        out.points.push_back(problem.position[3 * i + k] + radius * point[k]);
      }
      auto field = out.point_fields.begin();
      (field++)->data.push_back(static_cast<double>(i));
      (field++)->data.push_back(inverse_mass > 0 ? 1 / inverse_mass : 0);  // 0: infinite
      for (int part = 0; part < 2; ++part, ++field) {
        field->data.insert(field->data.end(), v + 3 * part, v + 3 * part + 3);
      }
      (field++)->data.push_back(std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
      if (field != out.point_fields.end()) field->data.push_back(radius);
    }
    if (points_only) out.corners.push_back(first);
    for (const auto& triangle : sphere.triangles) {
      for (const std::size_t corner : triangle) out.corners.push_back(first + corner);
    }
  }
  return out;
}

PolyData contacts_of(const ContactProblem& problem, const std::vector<double>& gamma) {
  PolyData out;
  out.corners_each = 2;
  out.cell_fields = {{"contact", 1, {}}, {"mu", 1, {}},      {"gap", 1, {}},
                     {"gamma", 3, {}},   {"impulse", 3, {}}, {"gamma_norm", 1, {}}};
  for (std::size_t c = 0; c < problem.contacts(); ++c) {
    const double* frame = &problem.frame[9 * c];
    for (int side = 0; side < 2; ++side) {
      const std::int32_t body = problem.contact_bodies[2 * c + side];
      const std::int32_t other = problem.contact_bodies[2 * c + 1 - side];
      for (int k = 0; k < 3; ++k) {
        double x = 0;
        if (body >= 0) {
          x = problem.position[3 * static_cast<std::size_t>(body) + k];
        } else if (other >= 0) {  // the contact point, seen from the other body
          x = problem.position[3 * static_cast<std::size_t>(other) + k];
          if (problem.rotates()) {
            x += (side == 0 ? problem.arm_b : problem.arm_a)[3 * c + k];
          } else if (!problem.radius.empty()) {
            x += (side == 0 ? -1 : 1) * problem.radius[other] * frame[k];
          }
        }
        out.points.push_back(x);
      }
      out.corners.push_back(2 * c + side);
    }
    const double none[3] = {0, 0, 0};
    const double* g = gamma.empty() ? none : &gamma[3 * c];
    auto field = out.cell_fields.begin();
    (field++)->data.push_back(static_cast<double>(c));
    (field++)->data.push_back(problem.mu[c]);
    (field++)->data.push_back(problem.gap.empty() ? 0 : problem.gap[c]);
    field->data.insert(field->data.end(), g, g + 3);
    ++field;
    for (int k = 0; k < 3; ++k) {
      field->data.push_back(frame[k] * g[0] + frame[3 + k] * g[1] + frame[6 + k] * g[2]);
    }
    (++field)->data.push_back(std::sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]));
  }
  return out;
}

}  // namespace

void export_vtk(const std::string& prefix, const ContactProblem& problem,
                const std::vector<double>& gamma, const VtkOptions& options) {
  if (problem.form != ContactProblem::Form::bodies || problem.position.empty()) {
    throw InputError(problem.name, "/bodies/position", "positions of the bodies", "none");
  }
  const std::string bodies = prefix + "-bodies.vtp", contacts = prefix + "-contacts.vtp",
                    both = prefix + ".vtm";
  std::deque<OutputFile> files;
  for (const std::string& path : {bodies, contacts, both}) {
    check_output_path(path, options.overwrite, options.inputs);
  }
  for (const std::string& path : {bodies, contacts, both}) files.emplace_back(path);
  bodies_of(problem, gamma, options.detail).write(files[0]);
  contacts_of(problem, gamma).write(files[1]);
  const auto name = [](const std::string& path) {
    return escaped(std::filesystem::path(path).filename().string());
  };
  files[2].print(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"vtkMultiBlockDataSet\" version=\"1.0\">\n"
      "<vtkMultiBlockDataSet>\n<DataSet index=\"0\" name=\"bodies\" file=\"{}\"/>\n"
      "<DataSet index=\"1\" name=\"contacts\" file=\"{}\"/>\n"
      "</vtkMultiBlockDataSet>\n</VTKFile>\n",
      name(bodies), name(contacts));
  commit_all(files);
}

}  // namespace ccp
