#pragma once

#include <string>

namespace ccp {

/// The folder with `problems/data`, `harness/studies` and `scripts`: PREFIX/share/ccpbench where
/// this program is PREFIX/bin/..., wherever PREFIX has been moved to; otherwise that of the source
/// tree, or the one it was installed in, whichever is there.
std::string root_folder();

}  // namespace ccp
