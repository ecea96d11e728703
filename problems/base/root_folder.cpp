#include "problems/base/root_folder.hpp"

#include <filesystem>

#include "folders.hpp"

namespace ccp {

std::string root_folder() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed = program.parent_path().parent_path() / "share" / "ccpbench";
  if (!error && fs::is_directory(installed, error)) return installed.string();
  if (!fs::is_directory(CCP_SOURCE_DIR, error) && fs::is_directory(CCP_INSTALL_DIR, error)) {
    return CCP_INSTALL_DIR;
  }
  return CCP_SOURCE_DIR;
}

}  // namespace ccp
