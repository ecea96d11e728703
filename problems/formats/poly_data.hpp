#pragma once

#include <array>
#include <cstddef>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace ccp {

/// A text file under construction.
class TextFile {
 public:
  explicit TextFile(std::string path) : path_(std::move(path)), file_(path_, std::ios::binary) {}
  template <class... Arguments>
  void print(const char* format, const Arguments&... arguments) {
    file_ << fmt::format(fmt::runtime(format), arguments...);
  }
  /// @throws InputError if something of it could not be written
  void finish();

 private:
  std::string path_;
  std::ofstream file_;
};

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

  /// @throws InputError if it cannot be written
  void write(const std::string& path) const;
};

/// A surface as triangles.
struct Surface {
  std::vector<std::array<double, 3>> points;
  std::vector<std::array<std::size_t, 3>> triangles;
};

/// The unit sphere, of 20 * 4^detail triangles.
Surface subdivided_icosahedron(int detail);

}  // namespace ccp
