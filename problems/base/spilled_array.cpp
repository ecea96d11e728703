#include "problems/base/spilled_array.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "problems/base/error.hpp"

namespace ccp {
namespace {

constexpr std::size_t most_in_memory = 1 << 15;  // numbers

}  // namespace

SpilledArray::~SpilledArray() {
  if (file_ >= 0) close(file_);
}

SpilledArray::SpilledArray(SpilledArray&& other) noexcept
    : folder_(std::move(other.folder_)),
      file_(std::exchange(other.file_, -1)),
      stored_(std::exchange(other.stored_, 0)),
      tail_(std::move(other.tail_)) {
  other.tail_.clear();
}

SpilledArray& SpilledArray::operator=(SpilledArray&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(file_, other.file_);
  std::swap(stored_, other.stored_);
  std::swap(tail_, other.tail_);
  return *this;
}

void SpilledArray::append(const double* data, std::size_t count) {
  if (tail_.capacity() == 0)
    tail_.reserve(std::min(most_in_memory, std::max(count, std::size_t{64})));
  if (tail_.size() + count <= most_in_memory) {
    tail_.insert(tail_.end(), data, data + count);
    return;
  }
  if (!tail_.empty()) {
    store(tail_.data(), tail_.size());
    stored_ += tail_.size();
    tail_.clear();
  }
  store(data, count);
  stored_ += count;
}

void SpilledArray::read(std::size_t first, std::size_t count, double* to) const {
  if (first > size() || count > size() - first) {
    throw InputError("numbers aside", fmt::format("[{}, {})", first, first + count),
                     fmt::format("places below {}", size()), "others");
  }
  const std::size_t on_disk = first < stored_ ? std::min(count, stored_ - first) : 0;
  auto* bytes = reinterpret_cast<char*>(to);
  for (std::size_t done = 0, all = on_disk * sizeof(double); done < all;) {
    const ssize_t got =
        pread(file_, bytes + done, all - done, static_cast<off_t>(first * sizeof(double) + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("to read numbers kept aside");
    done += static_cast<std::size_t>(got);
  }
  const std::size_t in_memory = first + on_disk - std::min(first + on_disk, stored_);
  std::copy_n(tail_.begin() + static_cast<std::ptrdiff_t>(in_memory), count - on_disk,
              to + on_disk);
}

void SpilledArray::open() {
  std::error_code none;
  if (folder_.empty()) folder_ = std::filesystem::temp_directory_path(none).string();
  if (folder_.empty()) folder_ = ".";
  std::string name = folder_ + "/.ccpbench-XXXXXX";
  file_ = mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0) fail("a file for numbers kept aside");
  unlink(name.c_str());
}

void SpilledArray::store(const double* data, std::size_t count) {
  if (file_ < 0) open();
  const auto* bytes = reinterpret_cast<const char*>(data);
  for (std::size_t done = 0, all = count * sizeof(double); done < all;) {
    const ssize_t put = pwrite(file_, bytes + done, all - done,
                               static_cast<off_t>(stored_ * sizeof(double) + done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) fail("room for numbers kept aside");
    done += static_cast<std::size_t>(put);
  }
}

void SpilledArray::fail(const char* what) const {
  throw InputError(folder_, "", what, std::strerror(errno));
}

}  // namespace ccp
