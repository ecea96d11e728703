#pragma once

#include <random>
#include <string>

namespace ccp::fuzz {

using Random = std::mt19937_64;

/// A number in [0, size), size > 0.
inline std::size_t below(Random& random, std::size_t size) {
  return static_cast<std::size_t>(random() % size);
}

/// Damages an HDF5 file in place, once, through the HDF5 library: it stays an HDF5 file.
void damage_hdf5(const std::string& path, Random& random);

/// Text with one thing wrong that was not before.
std::string damage_text(const std::string& text, Random& random);

}  // namespace ccp::fuzz
