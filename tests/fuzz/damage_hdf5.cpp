#include <hdf5.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/fuzz/damage.hpp"

namespace ccp::fuzz {
namespace {

/// Closes what it holds.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

struct Object {
  std::string path;
  bool is_dataset = false;
};

std::vector<Object> objects_of(hid_t file) {
  std::vector<Object> objects;
  const auto collect = [](hid_t, const char* name, const H5O_info_t* info, void* out) -> herr_t {
    const bool root = std::string(name) == ".";
    static_cast<std::vector<Object>*>(out)->push_back(
        {root ? "/" : "/" + std::string(name), info->type == H5O_TYPE_DATASET});
    return 0;
  };
#if H5_VERSION_GE(1, 12, 0)
  H5Ovisit1(file, H5_INDEX_NAME, H5_ITER_INC, collect, &objects);
#else
  H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, collect, &objects);
#endif
  return objects;
}

double extreme(Random& random) {
  const double values[] = {0,
                           -1,
                           1,
                           1e308,
                           -1e308,
                           1e-320,
                           std::nan(""),
                           std::numeric_limits<double>::infinity(),
                           2147483647.0,
                           -2147483648.0,
                           9e18,
                           0.5};
  return values[below(random, std::size(values))];
}

/// A type that may or may not be what a reader wants.
hid_t any_type(Random& random) {
  const auto copy = [](hid_t type) { return H5Tcopy(type); };
  switch (below(random, 11)) {
    case 0:
      return copy(H5T_IEEE_F64LE);
    case 1:
      return copy(H5T_IEEE_F32BE);
    case 2:
      return copy(H5T_STD_I32LE);
    case 3:
      return copy(H5T_STD_I64LE);
    case 4:
      return copy(H5T_STD_I8LE);
    case 5:
      return copy(H5T_STD_U64BE);
    case 6: {
      const hid_t text = copy(H5T_C_S1);
      H5Tset_size(text, 1 + below(random, 20));
      return text;
    }
    case 7: {
      const hid_t text = copy(H5T_C_S1);
      H5Tset_size(text, H5T_VARIABLE);
      return text;
    }
    case 8: {
      const hid_t pair = H5Tcreate(H5T_COMPOUND, 16);
      H5Tinsert(pair, "a", 0, H5T_IEEE_F64LE);
      H5Tinsert(pair, "b", 8, H5T_STD_I64LE);
      return pair;
    }
    case 9:
      return H5Tcreate(H5T_OPAQUE, 8);
    default:
      return H5Tvlen_create(H5T_IEEE_F64LE);
  }
}

/// A shape of any rank, now and then a huge one.
std::vector<hsize_t> any_shape(Random& random) {
  const hsize_t extents[] = {0, 1, 2, 3, 4, 6, 9, 10, 27, hsize_t{1} << 20, hsize_t{1} << 40};
  std::vector<hsize_t> shape(below(random, 5));
  double size = 1;
  for (hsize_t& extent : shape) {
    extent = extents[below(random, std::size(extents))];
    if (size * static_cast<double>(extent) > 1e15) extent = 1;  // HDF5 itself has a limit
    size *= static_cast<double>(extent);
  }
  return shape;
}

void make_dataset(hid_t file, const std::string& path, Random& random) {
  const std::vector<hsize_t> shape = any_shape(random);
  const Handle space(shape.empty()
                         ? H5Screate(below(random, 4) ? H5S_SCALAR : H5S_NULL)
                         : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                     H5Sclose);
  const Handle type(any_type(random), H5Tclose);
  double size = 1;
  for (const hsize_t extent : shape) size *= static_cast<double>(extent);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (size > 1e6) {  // claimed, not stored
    const std::vector<hsize_t> chunk(shape.size(), 1);
    H5Pset_chunk(creation, static_cast<int>(shape.size()), chunk.data());
  }
  const Handle set(H5Dcreate2(file, path.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                   H5Dclose);
  if (set < 0 || size > 4096 || H5Tget_class(type) > H5T_FLOAT) return;
  std::vector<double> values(static_cast<std::size_t>(size) + 1);
  for (double& value : values) value = extreme(random);
  H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

/// Puts extreme numbers into a dataset of numbers.
void spoil_values(hid_t file, const std::string& path, Random& random) {
  const Handle set(H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle space(H5Dget_space(set), H5Sclose), type(H5Dget_type(set), H5Tclose);
  const hssize_t size = H5Sget_simple_extent_npoints(space);
  if (size <= 0 || size > 100000 || H5Tget_class(type) > H5T_FLOAT) return;
  std::vector<double> values(static_cast<std::size_t>(size));
  H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  const std::size_t count = 1 + below(random, 3);
  for (std::size_t k = 0; k < count; ++k) values[below(random, values.size())] = extreme(random);
  H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

void spoil_attribute(hid_t file, const std::string& path, Random& random) {
  const Handle object(H5Oopen(file, path.c_str(), H5P_DEFAULT), H5Oclose);
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  hsize_t index = 0;
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &index, collect, &names);
  if (names.empty()) return;
  const std::string name = names[below(random, names.size())];
  H5Adelete(object, name.c_str());
  if (below(random, 3) == 0) return;
  const hsize_t extents[] = {0, 1, 2, 3};
  const hsize_t extent = extents[below(random, std::size(extents))];
  const Handle space(
      below(random, 2) ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &extent, nullptr), H5Sclose);
  const Handle type(any_type(random), H5Tclose);
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  if (attribute < 0) return;
  if (H5Tis_variable_str(type) > 0 && H5Sget_simple_extent_npoints(space) > 0) {
    const char* texts[] = {"", "ccpbench-problem", "2", ""};
    std::vector<const char*> raw(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)),
                                 texts[below(random, std::size(texts))]);
    H5Awrite(attribute, type, raw.data());
  } else if (H5Tget_class(type) <= H5T_FLOAT) {
    const double values[] = {extreme(random), extreme(random), extreme(random)};
    H5Awrite(attribute, H5T_NATIVE_DOUBLE, values);
  }
}

}  // namespace

void damage_hdf5(const std::string& path, Random& random) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  if (file < 0) throw std::runtime_error("cannot open " + path);
  const std::vector<Object> objects = objects_of(file);
  const Object& object = objects[below(random, objects.size())];
  const bool root = object.path == "/";
  const auto remove = [&] { H5Ldelete(file, object.path.c_str(), H5P_DEFAULT); };
  switch (below(random, 9)) {
    case 0:
      if (!root) remove();
      return;
    case 1:
    case 2:
      if (root) return;
      remove();
      return make_dataset(file, object.path, random);
    case 3:
    case 4:
      if (object.is_dataset) spoil_values(file, object.path, random);
      return;
    case 5: {
      if (root) return;
      remove();
      const Handle group(
          H5Gcreate2(file, object.path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
      return;
    }
    case 6:
      return spoil_attribute(file, object.path, random);
    case 7: {  // links that lead nowhere, round in circles, or elsewhere
      if (root) return;
      remove();
      const Object& other = objects[below(random, objects.size())];
      switch (below(random, 4)) {
        case 0:
          H5Lcreate_soft("/nowhere", file, object.path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
          return;
        case 1:
          H5Lcreate_soft(object.path.c_str(), file, object.path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
          return;
        case 2:
          H5Lcreate_hard(file, "/", file, object.path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
          return;
        default:
          H5Lcreate_soft(other.path.c_str(), file, object.path.c_str(), H5P_DEFAULT, H5P_DEFAULT);
          return;
      }
    }
    default: {  // something of a name that does not belong
      const std::string extra = (root || object.is_dataset ? "" : object.path) + "/extra";
      return make_dataset(file, extra, random);
    }
  }
}

}  // namespace ccp::fuzz
