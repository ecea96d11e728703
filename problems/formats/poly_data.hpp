#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "problems/base/output_file.hpp"

namespace ccp {

/// Text as the value of an XML attribute.
std::string escaped(const std::string& text);

/// A PolyData file of VTK: points, polygons of equal size (1: vertices, 2: lines, 3: triangles),
/// and arrays on either.
class PolyData {
 public:
  struct Field {
    std::string name;
    std::size_t components;
    std::vector<double> data;
  };
  std::vector<double> points;        ///< [.][3]
  std::vector<std::size_t> corners;  ///< [.][corners_each]
  std::size_t corners_each = 3;
  std::vector<Field> point_fields, cell_fields;

  void write(OutputFile& file) const;
};

/// A surface as triangles.
struct Surface {
  std::vector<std::array<double, 3>> points;
  std::vector<std::array<std::size_t, 3>> triangles;
};

/// The unit sphere, of 20 * 4^detail triangles.
Surface subdivided_icosahedron(int detail);

}  // namespace ccp
