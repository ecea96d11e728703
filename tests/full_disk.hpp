#pragma once

#include <sys/resource.h>

#include <catch2/catch_test_macros.hpp>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "problems/base/error.hpp"
#include "tests/support.hpp"

namespace ccp::test {

/// Checks that what cannot be written, for the disk is full, is an InputError that names the file,
/// leaves nothing beside it in the folder and spares what it holds. A limit on the size of files
/// stands in for the end of the disk.
/// @param path   a file that is there, the only one of the folder
/// @param write  writes it
template <class Write>
void check_full_disk(const TemporaryFolder& folder, const std::string& path, const Write& write) {
  const std::string before = read_text(path);
  const std::string name = std::filesystem::path(path).filename().string();
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t limit : {rlim_t{0}, rlim_t{2048}, rlim_t{100000}}) {
    const rlimit tight{limit, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &tight);
    std::string message;
    try {
      write();
    } catch (const InputError& error) {
      message = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &old);
    INFO("limit " << limit << ": " << message);
    CHECK(message.find(path) != std::string::npos);
    CHECK(folder.names() == std::vector<std::string>{name});
    CHECK(read_text(path) == before);
  }
  signal(SIGXFSZ, handler);
}

}  // namespace ccp::test
