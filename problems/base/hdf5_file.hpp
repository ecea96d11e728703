#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ccp {

class OutputFile;

/// A thin owner of one HDF5 file: whole datasets in and out, errors as InputError naming file and
/// dataset. Supported element types: double, int32, int64 (numbers of other widths are converted by
/// HDF5 when read) and strings as attributes or 1-D datasets.
///
/// A file being written is put together in memory, or on disk where it may be large; commit()
/// writes it, as an OutputFile.
class Hdf5File {
 public:
  enum class Storage { memory, disk };

  static Hdf5File open(const std::string& path);
  /// @param overwrite  false: an existing file is an InputError
  /// @param storage    where it is before commit()
  static Hdf5File create(const std::string& path, bool overwrite,
                         Storage storage = Storage::memory);
  /// The file at `path`, to be changed and then committed as `target`, which may exist; the file at
  /// `path` stays as it is.
  static Hdf5File edit(const std::string& path, const std::string& target);
  ~Hdf5File();
  Hdf5File(Hdf5File&& other) noexcept;
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;
  Hdf5File& operator=(Hdf5File&&) = delete;

  /// What messages call the file.
  const std::string& path() const { return name_.empty() ? path_ : name_; }
  /// From now on every path is one below this group ("/": of the whole file, as at first).
  /// @param name  what messages call it, e.g. FILE#3
  void enter(const std::string& group, const std::string& name);
  bool has(const std::string& object) const;

  template <class T>
  struct Array {
    std::vector<T> data;
    std::vector<std::size_t> shape;
  };
  /// Extents of a dataset; none for a scalar. @throws InputError if it is missing
  std::vector<std::size_t> shape(const std::string& dataset) const;
  /// Reads a whole dataset. @throws InputError if it is missing, not numeric or cannot be read, or
  /// claims more elements than the file can hold (before memory is taken for them)
  template <class T>
  Array<T> read(const std::string& dataset) const;
  /// Reads `count` rows from row `first` on, and nothing else of the dataset. @throws InputError
  /// also for rows that it does not have
  template <class T>
  Array<T> read_range(const std::string& dataset, std::size_t first, std::size_t count) const;
  std::vector<std::string> read_strings(const std::string& dataset) const;
  /// Writes a chunked, shuffled and compressed dataset; groups on the way are made.
  template <class T>
  void write(const std::string& dataset, const std::vector<T>& data,
             const std::vector<std::size_t>& shape);
  /// Writes or takes some rows of an array, [count][...] from the row `first` on.
  using WriteRows = std::function<void(std::size_t first, std::size_t count, double* to)>;
  using TakeRows = std::function<void(std::size_t first, std::size_t count, const double* from)>;
  /// The same for one that is not in memory: asks for its rows, in order, a chunk at a time.
  void write_rows(const std::string& dataset, const std::vector<std::size_t>& shape,
                  const WriteRows& rows);
  /// Reads a dataset in order, a chunk at a time. @throws InputError as read()
  void read_rows(const std::string& dataset, const TakeRows& rows) const;
  void write_strings(const std::string& dataset, const std::vector<std::string>& data);
  /// Writes one text as a scalar of fixed length, as FCLIB has them.
  void write_text(const std::string& dataset, const std::string& text);

  /// Names of what a group holds, sorted; none where there is no such group.
  std::vector<std::string> names(const std::string& group) const;
  /// Names of the attributes of a group or dataset, sorted.
  std::vector<std::string> attribute_names(const std::string& object) const;
  std::optional<std::string> string_attribute(const std::string& object,
                                              const std::string& name) const;
  std::optional<std::vector<double>> number_attribute(const std::string& object,
                                                      const std::string& name) const;
  /// An attribute of that name that is there already is replaced.
  void set_attribute(const std::string& object, const std::string& name, const std::string& text);
  void set_attribute(const std::string& object, const std::string& name, const char* text) {
    set_attribute(object, name, std::string(text));
  }
  void set_attribute(const std::string& object, const std::string& name, double value);
  void set_attribute(const std::string& object, const std::string& name, std::int64_t value);
  void set_attribute(const std::string& object, const std::string& name,
                     const std::vector<double>& values);
  /// Makes a group (and its parents) if it is not there.
  void make_group(const std::string& group);

  /// Writes the finished file and closes it.
  /// @param durable  wait until it is on the disk; without, only a crash of the machine can lose it
  void commit(bool durable = true);

 private:
  Hdf5File(std::int64_t id, std::string path);
  std::string inside(const std::string& object) const;
  [[noreturn]] void fail(const std::string& place, const std::string& expected,
                         const std::string& found) const;
  struct Numbers;
  template <class T>
  Numbers open_numbers(const std::string& dataset) const;
  [[noreturn]] void fail_to_read(const std::string& dataset, const Numbers& numbers) const;

  std::int64_t id_ = -1;               ///< hid_t; -1 = closed
  std::unique_ptr<OutputFile> aside_;  ///< of one that is written on disk
  std::string path_;
  std::string root_;  ///< of the group entered; empty: the whole file
  std::string name_;  ///< for messages; empty: the path
};

}  // namespace ccp
