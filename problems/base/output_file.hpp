#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <deque>
#include <string>
#include <vector>

namespace ccp {

/// Whether two names lead to one file, by device and inode: links count, spelling does not.
bool same_file(const std::string& a, const std::string& b);

/// Refuses an output before the work, not after it.
/// @param inputs  files that are read to make it; names of no file are ignored
/// @throws InputError unless a file could be written at `path`: its folder is there and writable,
/// it is none of `inputs`, and it is not there, or a regular file and `overwrite`
void check_output_path(const std::string& path, bool overwrite,
                       const std::vector<std::string>& inputs = {});

/// Removes what every OutputFile of this process has written so far under its temporary name: for
/// handlers of signals that end the process, hence nothing but system calls. Of more than 64 files
/// at a time the first 64.
void remove_unfinished_files();

/// A file being written, under a temporary name beside its target: before commit(), and when
/// anything fails (a full disk), nothing is left behind and an older file of that name stays as it
/// is. Where the target is a symbolic link, the file that it leads to is written.
class OutputFile {
 public:
  /// @throws InputError if it cannot be made
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Its temporary name, for who writes it by other means; commit() then only names it.
  const std::string& aside() const { return aside_; }
  /// A failed write is told by commit().
  void write(const char* data, std::size_t size);
  template <class... Arguments>
  void print(const char* format, const Arguments&... arguments) {
    const std::string text = fmt::format(fmt::runtime(format), arguments...);
    write(text.data(), text.size());
  }

  /// Closes it and gives it its name.
  /// @param durable  wait until it is on the disk; without, only a crash of the machine can lose it
  /// @throws InputError if anything could not be written
  void commit(bool durable = false);

 private:
  friend void commit_all(std::deque<OutputFile>& files);
  void close(bool durable);
  void rename();
  [[noreturn]] void fail() const;

  std::string path_, target_, aside_;
  std::FILE* stream_ = nullptr;
  int note_ = -1;  ///< where remove_unfinished_files() finds aside_; -1 = nowhere
  std::size_t size_ = 0;
  int fault_ = 0;  ///< errno of the first write that failed
};

/// Commits several files: all of them, or none where one could not be written.
void commit_all(std::deque<OutputFile>& files);

}  // namespace ccp
