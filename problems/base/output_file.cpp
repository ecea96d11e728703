#include "problems/base/output_file.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <utility>

#include "problems/base/error.hpp"

namespace ccp {
namespace fs = std::filesystem;

namespace {

/// The file that a path leads to, be it there or not.
std::string end_of_links(fs::path path) {
  constexpr int most = 40;  // as the system allows
  std::error_code error;
  for (int k = 0; k < most && fs::is_symlink(path, error); ++k) {
    path = path.parent_path() / fs::read_symlink(path, error);  // an absolute one replaces it
  }
  return path.string();
}

/// The temporary name of a file being written. A handler may look at any moment, so that nothing
/// here is ever freed.
struct Note {
  std::atomic<bool> taken{false};
  std::atomic<pid_t> writer{0};  ///< 0: the name does not count
  char name[PATH_MAX] = {};
};
Note notes[64];

int note_down(const std::string& name) {
  if (name.size() >= PATH_MAX) return -1;
  for (int i = 0; i < static_cast<int>(std::size(notes)); ++i) {
    if (notes[i].taken.exchange(true)) continue;
    std::memcpy(notes[i].name, name.c_str(), name.size() + 1);
    notes[i].writer = getpid();
    return i;
  }
  return -1;
}

void strike_out(int i) {
  if (i < 0) return;
  notes[i].writer = 0;
  notes[i].taken = false;
}

}  // namespace

void remove_unfinished_files() {
  const pid_t self = getpid();  // what a fork has not made, it must not remove
  for (const Note& note : notes) {
    if (note.writer == self) unlink(note.name);
  }
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  return fs::equivalent(a, b, none);
}

void check_output_path(const std::string& path, bool overwrite,
                       const std::vector<std::string>& inputs) {
  const fs::path target(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw InputError(path, "", "an existing folder to write to", "no folder " + folder.string());
  }
  if (access(folder.c_str(), W_OK) != 0) {
    throw InputError(path, "", "a writable folder",
                     fmt::format("{}: {}", folder.string(), std::strerror(errno)));
  }
  if (fs::is_directory(target, error)) {
    throw InputError(path, "", "a file name", "a folder");
  }
  for (const std::string& input : inputs) {
    if (same_file(path, input)) {
      throw InputError(path, "", "a file of its own for the output", "the input " + input);
    }
  }
  if (!fs::exists(target, error)) return;
  if (!fs::is_regular_file(target, error)) {
    throw InputError(path, "", "a regular file", "a device or a pipe");
  }
  if (!overwrite) {
    throw InputError(path, "", "no file of that name (--force overwrites it)", "an existing file");
  }
}

OutputFile::OutputFile(const std::string& path) : path_(path), target_(end_of_links(path)) {
  aside_ = fmt::format("{}.{}.part", target_, getpid());
  note_ = note_down(aside_);
  stream_ = std::fopen(aside_.c_str(), "wb");
  if (stream_) return;
  const int reason = errno;
  strike_out(note_);
  throw InputError(path_, "", "to make the file", std::strerror(reason));
}

OutputFile::~OutputFile() {
  if (stream_) std::fclose(stream_);
  if (!aside_.empty()) std::remove(aside_.c_str());
  strike_out(note_);
}

void OutputFile::write(const char* data, std::size_t size) {
  size_ += size;
  if (fault_ == 0 && std::fwrite(data, 1, size, stream_) != size) fault_ = errno;
}

void OutputFile::close(bool durable) {
  const auto step = [&](bool succeeded) {
    if (!succeeded && fault_ == 0) fault_ = errno;
  };
  step(std::fflush(stream_) == 0);
  if (durable) step(fsync(fileno(stream_)) == 0);
  step(std::fclose(std::exchange(stream_, nullptr)) == 0);
  if (fault_ != 0) fail();
}

void OutputFile::rename() {
  if (std::rename(aside_.c_str(), target_.c_str()) != 0) {
    fault_ = errno;
    fail();
  }
  aside_.clear();
}

void OutputFile::fail() const {
  throw InputError(path_, "", fmt::format("to write {} bytes", size_), std::strerror(fault_));
}

void OutputFile::commit(bool durable) {
  close(durable);
  rename();
}

void commit_all(std::deque<OutputFile>& files) {
  for (OutputFile& file : files) file.close(false);
  for (OutputFile& file : files) file.rename();
}

}  // namespace ccp
