#include "problems/formats/poly_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace ccp {
namespace {

void write_array(OutputFile& file, const PolyData::Field& field) {
  file.print("<DataArray type=\"Float64\" Name=\"{}\" NumberOfComponents=\"{}\">\n", field.name,
             field.components);
  for (std::size_t k = 0; k < field.data.size(); ++k) {
    file.print("{:.9g}{}", field.data[k], (k + 1) % field.components == 0 ? '\n' : ' ');
  }
  file.print("</DataArray>\n");
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return out;
}

void PolyData::write(OutputFile& file) const {
  static const char* const kinds[] = {"Verts", "Lines", "Polys"};
  const std::size_t cells = corners.size() / corners_each;
  const auto count = [&](std::size_t kind) { return kind + 1 == corners_each ? cells : 0; };
  file.print("<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"0.1\">\n<PolyData>\n");
  file.print(
      "<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"{}\" "
      "NumberOfStrips=\"0\" NumberOfPolys=\"{}\">\n",
      points.size() / 3, count(0), count(1), count(2));
  file.print("<PointData>\n");
  for (const Field& field : point_fields) write_array(file, field);
  file.print("</PointData>\n<CellData>\n");
  for (const Field& field : cell_fields) write_array(file, field);
  file.print("</CellData>\n<Points>\n");
  write_array(file, {"points", 3, points});
  file.print("</Points>\n<{}>\n<DataArray type=\"Int64\" Name=\"connectivity\">\n",
             kinds[corners_each - 1]);
  for (std::size_t k = 0; k < corners.size(); ++k) {
    file.print("{}{}", corners[k], (k + 1) % corners_each == 0 ? '\n' : ' ');
  }
  file.print("</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\">\n");
  for (std::size_t k = 1; k <= cells; ++k) file.print("{}\n", k * corners_each);
  file.print("</DataArray>\n</{}>\n</Piece>\n</PolyData>\n</VTKFile>\n", kinds[corners_each - 1]);
}

Surface subdivided_icosahedron(int detail) {
  Surface sphere;
  const auto add = [&](double x, double y, double z) {
    const double length = std::sqrt(x * x + y * y + z * z);
    sphere.points.push_back({x / length, y / length, z / length});
    return sphere.points.size() - 1;
  };
  const double golden = (1 + std::sqrt(5.0)) / 2;
  for (const double x : {-1.0, 1.0}) {  // three rectangles at right angles
    for (const double y : {-golden, golden}) {
      add(x, y, 0);
      add(0, x, y);
      add(y, 0, x);
    }
  }
  // Three corners that are neighbours are a face.
  const auto near = [&](std::size_t i, std::size_t j) {
    double square = 0;
    for (int k = 0; k < 3; ++k) {
      square += std::pow(sphere.points[i][k] - sphere.points[j][k], 2);
    }
    return square < 1.2;  // an edge has length 1.05
  };
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t j = i + 1; j < 12; ++j) {
      for (std::size_t k = j + 1; k < 12; ++k) {
        if (near(i, j) && near(j, k) && near(i, k)) sphere.triangles.push_back({i, j, k});
      }
    }
  }
  for (int level = 0; level < detail; ++level) {
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> middles;
    const auto middle = [&](std::size_t i, std::size_t j) {
      const auto [found, is_new] = middles.try_emplace(std::minmax(i, j), 0);
      if (is_new) {
        const auto a = sphere.points[i], b = sphere.points[j];
        found->second = add(a[0] + b[0], a[1] + b[1], a[2] + b[2]);
      }
      return found->second;
    };
    std::vector<std::array<std::size_t, 3>> finer;
    for (const auto& [i, j, k] : sphere.triangles) {
      const std::size_t a = middle(i, j), b = middle(j, k), c = middle(k, i);
      using Triangle = std::array<std::size_t, 3>;
      for (const Triangle& part :
           {Triangle{i, a, c}, Triangle{a, j, b}, Triangle{c, b, k}, Triangle{a, b, c}}) {
        finer.push_back(part);
      }
    }
    sphere.triangles = std::move(finer);
  }
  return sphere;
}

}  // namespace ccp
