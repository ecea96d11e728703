#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ccp {

/// Numbers that are appended and read back in pieces, on disk: in memory is only what was appended
/// last. The file has no name and is gone with the process, however that ends; none is made for
/// what fits into the memory.
class SpilledArray {
 public:
  /// @param folder  where the file is; "": TMPDIR, or the system's folder for such files
  explicit SpilledArray(std::string folder = "") : folder_(std::move(folder)) {}
  ~SpilledArray();
  SpilledArray(SpilledArray&& other) noexcept;
  SpilledArray& operator=(SpilledArray&& other) noexcept;
  SpilledArray(const SpilledArray&) = delete;
  SpilledArray& operator=(const SpilledArray&) = delete;

  /// @throws InputError where the file cannot be made or the disk is full; nothing is appended then
  void append(const double* data, std::size_t count);
  std::size_t size() const { return stored_ + tail_.size(); }
  /// @throws InputError if there are fewer, or the file cannot be read
  void read(std::size_t first, std::size_t count, double* to) const;
  /// Bytes of memory.
  std::size_t held() const { return tail_.capacity() * sizeof(double); }

 private:
  void open();
  void store(const double* data, std::size_t count);
  [[noreturn]] void fail(const char* what) const;

  std::string folder_;
  int file_ = -1;
  std::size_t stored_ = 0;    ///< numbers in the file
  std::vector<double> tail_;  ///< those behind them
};

}  // namespace ccp
