#include "problems/formats/kleinert.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <pugixml.hpp>

#include "problems/base/error.hpp"
#include "problems/base/text.hpp"

namespace ccp {
namespace {

std::vector<double> numbers(const std::string& path, const std::string& place,
                            const pugi::xml_node& array, std::size_t expected) {
  const std::string format = array.attribute("format").as_string("ascii");
  if (format != "ascii") {
    throw InputError(path, place, "format=\"ascii\"", fmt::format("format=\"{}\"", format));
  }
  std::vector<double> values;
  // The count is what the file says, which may be anything: no room is made for it in advance.
  const char* text = array.child_value();
  while (true) {
    while (*text && std::isspace(static_cast<unsigned char>(*text))) ++text;
    if (!*text) break;
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    if (end == text || !std::isfinite(value)) {
      throw InputError(path, fmt::format("{} value {}", place, values.size()), "a finite number",
                       fmt::format("'{}'", std::string(text).substr(0, 16)));
    }
    values.push_back(value);
    text = end;
  }
  if (values.size() != expected) {
    throw InputError(path, place, fmt::format("{} values", expected),
                     fmt::format("{}", values.size()));
  }
  return values;
}

pugi::xml_node point_array(const pugi::xml_node& piece, const char* name) {
  return piece.child("PointData").find_child_by_attribute("DataArray", "Name", name);
}

std::vector<double> positive(const std::string& path, const pugi::xml_node& piece, const char* name,
                             std::size_t count) {
  const std::string place = fmt::format("PointData array '{}'", name);
  const pugi::xml_node array = point_array(piece, name);
  if (!array) throw InputError(path, place, "an array of that name", "none");
  std::vector<double> values = numbers(path, place, array, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i] <= 0) {
      throw InputError(path, fmt::format("{} value {}", place, i), "a number > 0",
                       fmt::format("{}", values[i]));
    }
  }
  return values;
}

/// The states of the papers' Test Problems, as the author's archive names them, are told apart from
/// our own piles of that description.
std::string name_of(const std::string& stem) {
  if (stem == "particles2048pile") return "kleinert-tp1";
  if (stem == "particles5040pile") return "kleinert-tp2";
  if (stem == "particles10192pile") return "kleinert-tp3";
  return valid_utf8(stem);
}

}  // namespace

Spheres read_kleinert(const std::string& path) {
  if (!is_regular_file(path)) {
    throw InputError(path, "", "a VTK unstructured grid (.vtu)", "no such file");
  }
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_file(path.c_str());
  if (!parsed) {
    throw InputError(path, fmt::format("byte {}", parsed.offset), "well-formed XML",
                     parsed.description());
  }
  const pugi::xml_node root = document.child("VTKFile");
  const pugi::xml_node piece = root.child("UnstructuredGrid").child("Piece");
  if (!piece) {
    throw InputError(path, "VTKFile/UnstructuredGrid/Piece", "such an element", "none");
  }
  const auto count = static_cast<std::size_t>(piece.attribute("NumberOfPoints").as_ullong());
  const pugi::xml_node points = piece.child("Points").child("DataArray");
  if (!points || points.attribute("NumberOfComponents").as_int() != 3) {
    throw InputError(path, "Points", "a DataArray with 3 components",
                     points ? points.attribute("NumberOfComponents").value() : "none");
  }
  Spheres spheres;
  spheres.position = numbers(path, "Points", points, 3 * count);
  spheres.radius = positive(path, piece, "radius", count);
  spheres.mass = positive(path, piece, "mass", count);
  if (const pugi::xml_node velocity = point_array(piece, "velocity")) {
    spheres.velocity = numbers(path, "PointData array 'velocity'", velocity, 3 * count);
  } else {
    spheres.velocity.assign(3 * count, 0.0);
  }
  return spheres;
}

ContactProblem import_kleinert(const std::string& path, std::size_t contacts,
                               const SphereModel& model, const HeavySpheres& heavy) {
  Spheres spheres = read_kleinert(path);
  if (contacts == 0) contacts = papers_contacts(spheres.count());
  sort_spatially(spheres);
  std::vector<Candidate> candidates;
  if (contacts > 0) {
    candidates = nearest_candidates(spheres, contacts);
  } else if (spheres.count() > 0) {
    const double mean = std::accumulate(spheres.radius.begin(), spheres.radius.end(), 0.0) /
                        static_cast<double>(spheres.count());
    candidates = find_candidates(spheres, papers_cutoff * mean);
  }
  make_heavier(spheres, heavy);
  ContactProblem problem = sphere_problem(spheres, candidates, model);
  problem.name = name_of(std::filesystem::path(path).stem().string());
  problem.source.kind = "imported";
  problem.source.description =
      fmt::format("particle state {} of Kleinert's nonsmooth granular benchmarks",
                  valid_utf8(std::filesystem::path(path).filename().string()));
  problem.source.licence = "MIT";
  return problem;
}

namespace {

class Kleinert : public Importer {
 public:
  OptionList options() override {
    using Range = OptionList::Range;
    return OptionList("kleinert", "importer")
        .integer("contacts", contacts_, Range::at_least(0),
                 "Number of contacts, nearest candidates first (0: the papers' for 2048, 5040 and "
                 "10192 particles, else all pairs within 0.666 mean radii)")
        .number("mu", model_.mu, Range::at_least(0), "Friction coefficient")
        .number("dt", model_.dt, Range::positive(), "Time step, s")
        .number("gravity", gravity_, {}, "Along -z, m/s^2")
        .number("young", model_.young, Range::at_least(0),
                "Young's modulus, Pa (0: store no stiffness)")
        .number("poisson", model_.poisson, {0, 0.5}, "Poisson's ratio")
        .include(heavy_options(heavy_));
  }
  Imported read(const std::string& path, const ImportTools&) override {
    SphereModel model = model_;
    model.gravity = {0, 0, -gravity_};
    return {import_kleinert(path, contacts_, model, heavy_), {}};
  }

 private:
  std::uint64_t contacts_ = 0;
  double gravity_ = 10;
  SphereModel model_;
  HeavySpheres heavy_;
};

}  // namespace

std::unique_ptr<Importer> kleinert_importer() {
  return std::make_unique<Kleinert>();
}

}  // namespace ccp
