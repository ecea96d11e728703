#include "problems/base/hdf5_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <type_traits>

#include "problems/base/error.hpp"
#include "problems/base/output_file.hpp"

namespace ccp {
namespace fs = std::filesystem;

static_assert(sizeof(hid_t) == sizeof(std::int64_t), "hid_t is kept as int64 in the header");

namespace {

/// Closes an HDF5 identifier with the function that belongs to it.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  Id& operator=(Id&&) = delete;
  operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor)
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// HDF5 prints its error stack by default; ours are the exceptions.
void silence_hdf5() {
  static const bool done = [] {
    // A file that a full disk kept from being closed would crash the library's clean-up at exit.
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    return true;
  }();
  (void)done;
}

/// HDF5's types for the element types of Hdf5File: in memory and in files.
template <class T>
struct ElementType;
template <>
struct ElementType<double> {
  static hid_t memory() { return H5T_NATIVE_DOUBLE; }
  static hid_t file() { return H5T_IEEE_F64LE; }
};
template <>
struct ElementType<std::int32_t> {
  static hid_t memory() { return H5T_NATIVE_INT32; }
  static hid_t file() { return H5T_STD_I32LE; }
};
template <>
struct ElementType<std::int64_t> {
  static hid_t memory() { return H5T_NATIVE_INT64; }
  static hid_t file() { return H5T_STD_I64LE; }
};

/// Whether a dataset of that type can be read as numbers of type T, and what those are called.
template <class T>
bool is_readable_as(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  return kind == H5T_INTEGER || (kind == H5T_FLOAT && !std::is_integral_v<T>);
}
template <class T>
const char* kind_of() {
  return std::is_integral_v<T> ? "integers" : "numbers";
}

std::string shape_text(const std::vector<hsize_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::vector<hsize_t> extents_of(hid_t space) {
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> shape(static_cast<std::size_t>(std::max(rank, 0)));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  return shape;
}

/// Whether a dataset may hold so many elements. Deflate makes at most 1032 bytes of one; data that
/// were never written take no room at all (real files have some) and are smaller than the rest.
bool may_hold(hid_t file, hid_t dataset, hssize_t elements, std::size_t width) {
  constexpr double inflation = 1100;
  const auto stored = static_cast<double>(H5Dget_storage_size(dataset));
  hsize_t whole = 0;
  H5Fget_filesize(file, &whole);
  const double most = stored > 0 ? inflation * stored : static_cast<double>(whole);
  return static_cast<double>(elements) * static_cast<double>(width) <= most;
}

Id string_type() {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return Id(type, H5Tclose);
}

Id link_creation() {
  hid_t list = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(list, 1);
  return Id(list, H5Pclose);
}

/// Strings of an attribute or dataset, fixed or variable length.
template <class Read>
std::vector<std::string> strings_of(hid_t type, std::size_t count, const Read& read) {
  std::vector<std::string> result;
  if (H5Tis_variable_str(type) > 0) {
    std::vector<char*> raw(count, nullptr);
    const Id memory = string_type();
    if (read(memory, raw.data()) < 0) return result;
    for (char* text : raw) {
      result.emplace_back(text ? text : "");
      if (text) H5free_memory(text);
    }
  } else {
    const std::size_t width = H5Tget_size(type);
    std::vector<char> raw(width * count);
    if (read(type, raw.data()) < 0) return result;
    for (std::size_t i = 0; i < count; ++i) {
      const char* begin = &raw[i * width];
      result.emplace_back(begin, strnlen(begin, width));
    }
  }
  return result;
}

}  // namespace

namespace {

/// Why a file that is there cannot be read now, or "". HDF5 locks what it opens, and whoever writes
/// a file holds its lock alone.
std::string why_locked(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const int taken = flock(file, LOCK_SH | LOCK_NB);
  const int reason = errno;
  close(file);
  if (taken == 0) return "";
  if (reason == EWOULDBLOCK) return "one that another program has locked, to write to it";
  return fmt::format("a file system without locks ({}); HDF5_USE_FILE_LOCKING=FALSE does without",
                     std::strerror(reason));
}

}  // namespace

Hdf5File Hdf5File::open(const std::string& path) {
  silence_hdf5();
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw InputError(path, "", "an HDF5 file", "no such file");
  }
  if (fs::is_directory(path, error)) {
    throw InputError(path, "", "an HDF5 file", "a folder");
  }
  if (!fs::is_regular_file(path, error)) {  // whoever opens a pipe waits for a writer
    throw InputError(path, "", "an HDF5 file", "a device or a pipe");
  }
  if (access(path.c_str(), R_OK) != 0) {
    throw InputError(path, "", "a readable HDF5 file", std::strerror(errno));
  }
  if (H5Fis_hdf5(path.c_str()) <= 0) {
    throw InputError(path, "", "an HDF5 file",
                     fmt::format("{} bytes of something else", fs::file_size(path, error)));
  }
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  if (id < 0) {
    if (const std::string locked = why_locked(path); !locked.empty()) {
      throw InputError(path, "", "a file that can be read now", locked);
    }
    throw InputError(
        path, "", "a whole HDF5 file",
        fmt::format("a truncated or damaged one ({} bytes)", fs::file_size(path, error)));
  }
  return Hdf5File(id, path);
}

Hdf5File::Hdf5File(std::int64_t id, std::string path) : id_(id), path_(std::move(path)) {}

Hdf5File Hdf5File::create(const std::string& path, bool overwrite, Storage storage) {
  silence_hdf5();
  check_output_path(path, overwrite);
  if (storage == Storage::disk) {
    auto aside = std::make_unique<OutputFile>(path);
    const hid_t id = H5Fcreate(aside->aside().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0) throw InputError(path, "", "to make the file", "HDF5 could not create it");
    Hdf5File file(id, path);
    file.aside_ = std::move(aside);
    return file;
  }
  constexpr std::size_t increment = 1 << 20;
  const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, increment, false);
  const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  if (id < 0) throw InputError(path, "", "memory for the file", "HDF5 could not create it");
  return Hdf5File(id, path);
}

Hdf5File Hdf5File::edit(const std::string& path, const std::string& target) {
  open(path);  // for its complaints
  check_output_path(target, true);
  constexpr std::size_t increment = 1 << 20;
  const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, increment, false);
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
  if (id < 0) throw InputError(path, "", "memory for the file", "HDF5 could not open it");
  return Hdf5File(id, target);
}

Hdf5File::Hdf5File(Hdf5File&& other) noexcept
    : id_(std::exchange(other.id_, -1)),
      aside_(std::move(other.aside_)),
      path_(std::move(other.path_)),
      root_(std::move(other.root_)),
      name_(std::move(other.name_)) {}

Hdf5File::~Hdf5File() {
  if (id_ >= 0) H5Fclose(id_);
}

void Hdf5File::commit(bool durable) {
  if (aside_) {
    if (H5Fflush(id_, H5F_SCOPE_LOCAL) < 0 || H5Fclose(std::exchange(id_, -1)) < 0) {
      fail("", "to write the file", "a failed write");
    }
    aside_->commit(durable);
    return;
  }
  H5Fflush(id_, H5F_SCOPE_LOCAL);
  const ssize_t size = H5Fget_file_image(id_, nullptr, 0);
  std::vector<char> image(size > 0 ? static_cast<std::size_t>(size) : 0);
  if (size <= 0 || H5Fget_file_image(id_, image.data(), image.size()) != size) {
    fail("", "memory for the file", "HDF5 could not put it together");
  }
  H5Fclose(std::exchange(id_, -1));

  OutputFile file(path_);
  file.write(image.data(), image.size());
  file.commit(durable);
}

void Hdf5File::fail(const std::string& place, const std::string& expected,
                    const std::string& found) const {
  throw InputError(path(), place, expected, found);
}

std::string Hdf5File::inside(const std::string& object) const {
  return root_.empty() ? object : object == "/" ? root_ : root_ + object;
}

void Hdf5File::enter(const std::string& group, const std::string& name) {
  root_ = group == "/" ? "" : group;
  name_ = name;
}

bool Hdf5File::has(const std::string& object) const {
  const std::string full = inside(object);
  if (full == "/") return true;
  // Every link on the way must exist before the last one may be asked for.
  for (std::size_t slash = full.find('/', 1); slash != std::string::npos;
       slash = full.find('/', slash + 1)) {
    if (H5Lexists(id_, full.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return H5Lexists(id_, full.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::size_t> Hdf5File::shape(const std::string& dataset) const {
  if (!has(dataset)) fail(dataset, "a dataset", "nothing of that name");
  const Id data(H5Dopen2(id_, inside(dataset).c_str(), H5P_DEFAULT), H5Dclose);
  if (!data.valid()) fail(dataset, "a dataset", "something else");
  const Id space(H5Dget_space(data), H5Sclose);
  const std::vector<hsize_t> extents = extents_of(space);
  return {extents.begin(), extents.end()};
}

/// A dataset of numbers that is open.
struct Hdf5File::Numbers {
  Id data;
  Id space;
  std::vector<hsize_t> shape;
};

template <class T>
Hdf5File::Numbers Hdf5File::open_numbers(const std::string& dataset) const {
  if (!has(dataset)) fail(dataset, "a dataset", "nothing of that name");
  Id data(H5Dopen2(id_, inside(dataset).c_str(), H5P_DEFAULT), H5Dclose);
  if (!data.valid()) fail(dataset, "a dataset", "something else");
  const Id type(H5Dget_type(data), H5Tclose);
  if (!is_readable_as<T>(type)) fail(dataset, kind_of<T>(), "values of another type");
  Id space(H5Dget_space(data), H5Sclose);
  std::vector<hsize_t> shape = extents_of(space);
  if (!may_hold(id_, data, H5Sget_simple_extent_npoints(space), H5Tget_size(type))) {
    fail(dataset, "as much as the file could hold", "a claim to the shape " + shape_text(shape));
  }
  return {std::move(data), std::move(space), std::move(shape)};
}

void Hdf5File::fail_to_read(const std::string& dataset, const Numbers& numbers) const {
  fail(dataset, "readable data of shape " + shape_text(numbers.shape), "damaged or missing data");
}

template <class T>
Hdf5File::Array<T> Hdf5File::read(const std::string& dataset) const {
  const Numbers from = open_numbers<T>(dataset);
  const hssize_t size = H5Sget_simple_extent_npoints(from.space);
  Array<T> array;
  array.shape.assign(from.shape.begin(), from.shape.end());
  array.data.resize(static_cast<std::size_t>(size));
  if (size > 0 && H5Dread(from.data, ElementType<T>::memory(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                          array.data.data()) < 0) {
    fail_to_read(dataset, from);
  }
  return array;
}

template <class T>
Hdf5File::Array<T> Hdf5File::read_range(const std::string& dataset, std::size_t first,
                                        std::size_t count) const {
  const Numbers from = open_numbers<T>(dataset);
  const std::size_t rows = from.shape.empty() ? 0 : from.shape.front();
  if (first > rows || count > rows - first) {
    fail(dataset, fmt::format("rows {} to {}", first, first + count),
         "the shape " + shape_text(from.shape));
  }
  std::vector<hsize_t> shape = from.shape;
  shape.front() = count;
  Array<T> array;
  array.shape.assign(shape.begin(), shape.end());
  std::size_t size = 1;
  for (const hsize_t extent : shape) size *= extent;
  array.data.resize(size);
  if (size == 0) return array;
  std::vector<hsize_t> start(shape.size(), 0);
  start.front() = first;
  H5Sselect_hyperslab(from.space, H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr);
  const Id memory(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                  H5Sclose);
  if (H5Dread(from.data, ElementType<T>::memory(), memory, from.space, H5P_DEFAULT,
              array.data.data()) < 0) {
    fail_to_read(dataset, from);
  }
  return array;
}

namespace {

constexpr std::size_t chunk_elements = 1 << 16;

/// A dataset of an array that is still to be written; not valid where that failed.
Id new_dataset(hid_t file, const std::string& name, hid_t type, std::vector<hsize_t> extents) {
  const Id space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                 H5Sclose);
  const Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);  // the same data make the same bytes
  hsize_t all = 1;
  for (const hsize_t extent : extents) all *= extent;
  if (all > 64) {
    extents[0] = std::min(extents[0], std::max<hsize_t>(1, chunk_elements * extents[0] / all));
    H5Pset_chunk(creation, static_cast<int>(extents.size()), extents.data());
    H5Pset_shuffle(creation);
    H5Pset_deflate(creation, 9);
  }
  const Id links = link_creation();
  return Id(H5Dcreate2(file, name.c_str(), type, space, links, creation, H5P_DEFAULT), H5Dclose);
}

/// Calls visit(first, count, data, memory, file) for some rows after the other, until it is false:
/// with room for them, and the dataspaces that a transfer of them goes between.
template <class Visit>
bool by_chunks(hid_t dataset, const std::vector<hsize_t>& extents, const Visit& visit) {
  if (extents.empty()) return false;
  hsize_t row = 1;
  for (std::size_t i = 1; i < extents.size(); ++i) row *= extents[i];
  const hsize_t most = std::max<hsize_t>(1, chunk_elements / std::max<hsize_t>(1, row));
  std::vector<double> data;
  std::vector<hsize_t> start(extents.size(), 0), some = extents;
  for (hsize_t count = 0; row > 0 && start[0] < extents[0]; start[0] += count) {
    some[0] = count = std::min(most, extents[0] - start[0]);
    data.resize(count * row);
    const Id memory(H5Screate_simple(static_cast<int>(some.size()), some.data(), nullptr),
                    H5Sclose);
    const Id file(H5Dget_space(dataset), H5Sclose);
    H5Sselect_hyperslab(file, H5S_SELECT_SET, start.data(), nullptr, some.data(), nullptr);
    if (!visit(start[0], count, data.data(), hid_t{memory}, hid_t{file})) return false;
  }
  return true;
}

}  // namespace

template <class T>
void Hdf5File::write(const std::string& dataset, const std::vector<T>& data,
                     const std::vector<std::size_t>& shape) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  const Id set = new_dataset(id_, inside(dataset), ElementType<T>::file(), extents);
  if (!set.valid() || (!data.empty() && H5Dwrite(set, ElementType<T>::memory(), H5S_ALL, H5S_ALL,
                                                 H5P_DEFAULT, data.data()) < 0)) {
    fail(dataset, "to write " + shape_text(extents), "a failed write");
  }
}

void Hdf5File::write_rows(const std::string& dataset, const std::vector<std::size_t>& shape,
                          const WriteRows& rows) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  const Id set = new_dataset(id_, inside(dataset), ElementType<double>::file(), extents);
  const bool written =
      set.valid() &&
      by_chunks(set, extents,
                [&](hsize_t first, hsize_t count, double* data, hid_t memory, hid_t at) {
                  rows(first, count, data);
                  return H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, at, H5P_DEFAULT, data) >= 0;
                });
  if (!written) fail(dataset, "to write " + shape_text(extents), "a failed write");
}

void Hdf5File::read_rows(const std::string& dataset, const TakeRows& rows) const {
  const Numbers from = open_numbers<double>(dataset);
  const bool read =
      by_chunks(from.data, from.shape,
                [&](hsize_t first, hsize_t count, double* data, hid_t memory, hid_t at) {
                  if (H5Dread(from.data, H5T_NATIVE_DOUBLE, memory, at, H5P_DEFAULT, data) < 0) {
                    return false;
                  }
                  rows(first, count, data);
                  return true;
                });
  if (!read) fail_to_read(dataset, from);
}

template Hdf5File::Array<double> Hdf5File::read(const std::string&) const;
template Hdf5File::Array<std::int32_t> Hdf5File::read(const std::string&) const;
template Hdf5File::Array<std::int64_t> Hdf5File::read(const std::string&) const;
template Hdf5File::Array<double> Hdf5File::read_range(const std::string&, std::size_t,
                                                      std::size_t) const;
template Hdf5File::Array<std::int32_t> Hdf5File::read_range(const std::string&, std::size_t,
                                                            std::size_t) const;
template void Hdf5File::write(const std::string&, const std::vector<double>&,
                              const std::vector<std::size_t>&);
template void Hdf5File::write(const std::string&, const std::vector<std::int32_t>&,
                              const std::vector<std::size_t>&);
template void Hdf5File::write(const std::string&, const std::vector<std::int64_t>&,
                              const std::vector<std::size_t>&);

std::vector<std::string> Hdf5File::read_strings(const std::string& dataset) const {
  if (!has(dataset)) fail(dataset, "a dataset", "nothing of that name");
  const Id data(H5Dopen2(id_, inside(dataset).c_str(), H5P_DEFAULT), H5Dclose);
  const Id type(H5Dget_type(data), H5Tclose);
  if (!data.valid() || H5Tget_class(type) != H5T_STRING) {
    fail(dataset, "strings", "something else");
  }
  const Id space(H5Dget_space(data), H5Sclose);
  const hssize_t size = H5Sget_simple_extent_npoints(space);
  if (!may_hold(id_, data, size, H5Tget_size(type))) {
    fail(dataset, "as much as the file could hold", fmt::format("a claim to {} strings", size));
  }
  return strings_of(type, static_cast<std::size_t>(size), [&](hid_t memory, void* out) {
    return H5Dread(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
  });
}

void Hdf5File::write_strings(const std::string& dataset, const std::vector<std::string>& data) {
  const hsize_t size = data.size();
  const Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  const Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  const Id type = string_type();
  const Id links = link_creation();
  const Id set(H5Dcreate2(id_, inside(dataset).c_str(), type, space, links, creation, H5P_DEFAULT),
               H5Dclose);
  std::vector<const char*> raw;
  for (const std::string& text : data) raw.push_back(text.c_str());
  if (!set.valid() ||
      (size > 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw.data()) < 0)) {
    fail(dataset, "to write strings", "a failed write");
  }
}

void Hdf5File::write_text(const std::string& dataset, const std::string& text) {
  const Id space(H5Screate(H5S_SCALAR), H5Sclose);
  const Id type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, text.size() + 1);
  const Id creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  const Id links = link_creation();
  const Id set(H5Dcreate2(id_, dataset.c_str(), type, space, links, creation, H5P_DEFAULT),
               H5Dclose);
  if (!set.valid() || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.c_str()) < 0) {
    fail(dataset, "to write a text", "a failed write");
  }
}

std::vector<std::string> Hdf5File::names(const std::string& group) const {
  std::vector<std::string> names;
  if (!has(group)) return names;
  const Id holder(H5Oopen(id_, inside(group).c_str(), H5P_DEFAULT), H5Oclose);
  if (H5Iget_type(holder) != H5I_GROUP) fail(group, "a group", "something else");
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  hsize_t index = 0;
  H5Literate(holder, H5_INDEX_NAME, H5_ITER_INC, &index, collect, &names);
  return names;
}

std::vector<std::string> Hdf5File::attribute_names(const std::string& object) const {
  std::vector<std::string> names;
  if (!has(object)) return names;
  const Id holder(H5Oopen(id_, inside(object).c_str(), H5P_DEFAULT), H5Oclose);
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  hsize_t index = 0;
  H5Aiterate2(holder, H5_INDEX_NAME, H5_ITER_INC, &index, collect, &names);
  return names;
}

namespace {

/// An attribute that is there.
struct Attribute {
  Attribute(hid_t file, const std::string& object, const std::string& name)
      : id(H5Aopen_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose),
        type(H5Aget_type(id), H5Tclose),
        space(H5Aget_space(id), H5Sclose),
        count(H5Sget_simple_extent_npoints(space)) {}
  H5T_class_t kind() const { return H5Tget_class(type); }

  Id id, type, space;
  hssize_t count;
};

bool attribute_exists(hid_t file, const std::string& object, const std::string& name) {
  return H5Aexists_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

}  // namespace

std::optional<std::string> Hdf5File::string_attribute(const std::string& object,
                                                      const std::string& name) const {
  if (!has(object) || !attribute_exists(id_, inside(object), name)) return std::nullopt;
  const Attribute attribute(id_, inside(object), name);
  const std::string place = object + " attribute " + name;
  if (attribute.kind() != H5T_STRING) fail(place, "a string", "something else");
  if (attribute.count != 1) {
    fail(place, "one string", fmt::format("{} strings", attribute.count));
  }
  const auto strings = strings_of(attribute.type, 1, [&](hid_t memory, void* out) {
    return H5Aread(attribute.id, memory, out);
  });
  if (strings.empty()) fail(place, "a string", "unreadable data");
  return strings.front();
}

std::optional<std::vector<double>> Hdf5File::number_attribute(const std::string& object,
                                                              const std::string& name) const {
  if (!has(object) || !attribute_exists(id_, inside(object), name)) return std::nullopt;
  const Attribute attribute(id_, inside(object), name);
  std::vector<double> values(static_cast<std::size_t>(attribute.count));
  const bool numeric = attribute.kind() == H5T_INTEGER || attribute.kind() == H5T_FLOAT;
  if (!numeric ||
      (!values.empty() && H5Aread(attribute.id, H5T_NATIVE_DOUBLE, values.data()) < 0)) {
    fail(object + " attribute " + name, "a number", "something else");
  }
  return values;
}

namespace {

template <class Write>
bool put_attribute(hid_t file, const std::string& object, const std::string& name, hid_t type,
                   hid_t space, const Write& write) {
  if (attribute_exists(file, object, name)) {
    H5Adelete_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT);
  }
  const Id attribute(H5Acreate_by_name(file, object.c_str(), name.c_str(), type, space, H5P_DEFAULT,
                                       H5P_DEFAULT, H5P_DEFAULT),
                     H5Aclose);
  return attribute.valid() && write(attribute) >= 0;
}

}  // namespace

void Hdf5File::set_attribute(const std::string& object, const std::string& name,
                             const std::string& text) {
  const Id space(H5Screate(H5S_SCALAR), H5Sclose);
  const Id type = string_type();
  const char* raw = text.c_str();
  if (!put_attribute(id_, inside(object), name, type, space,
                     [&](hid_t attribute) { return H5Awrite(attribute, type, &raw); })) {
    fail(object + " attribute " + name, "to write it", "a failed write");
  }
}

void Hdf5File::set_attribute(const std::string& object, const std::string& name, double value) {
  const Id space(H5Screate(H5S_SCALAR), H5Sclose);
  if (!put_attribute(id_, inside(object), name, H5T_IEEE_F64LE, space, [&](hid_t attribute) {
        return H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value);
      })) {
    fail(object + " attribute " + name, "to write it", "a failed write");
  }
}

void Hdf5File::set_attribute(const std::string& object, const std::string& name,
                             std::int64_t value) {
  const Id space(H5Screate(H5S_SCALAR), H5Sclose);
  if (!put_attribute(id_, inside(object), name, H5T_STD_I64LE, space, [&](hid_t attribute) {
        return H5Awrite(attribute, H5T_NATIVE_INT64, &value);
      })) {
    fail(object + " attribute " + name, "to write it", "a failed write");
  }
}

void Hdf5File::set_attribute(const std::string& object, const std::string& name,
                             const std::vector<double>& values) {
  const hsize_t size = values.size();
  const Id space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  if (!put_attribute(id_, inside(object), name, H5T_IEEE_F64LE, space, [&](hid_t attribute) {
        return H5Awrite(attribute, H5T_NATIVE_DOUBLE, values.data());
      })) {
    fail(object + " attribute " + name, "to write it", "a failed write");
  }
}

void Hdf5File::make_group(const std::string& group) {
  if (has(group)) return;
  const Id links = link_creation();
  const Id made(H5Gcreate2(id_, inside(group).c_str(), links, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
  if (!made.valid()) fail(group, "to make the group", "a failed write");
}

}  // namespace ccp
