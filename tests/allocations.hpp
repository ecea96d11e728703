#pragma once

#include <cstddef>

namespace ccp::test {

/// Memory asked for since the program began, by every thread.
struct Allocations {
  std::size_t heap = 0;   ///< calls of malloc and its relatives, hence of operator new, too
  std::size_t bytes = 0;  ///< what they asked for
  std::size_t large = 0;  ///< the same of those that asked for 2 kB or more
  std::size_t views = 0;  ///< Kokkos views of ours: those whose label begins with "ccp::"
  /// Transfers between host and device, by the functions of core/transfer.hpp (also where the two
  /// share their memory) and by Kokkos' copies between memory spaces that are not the same.
  std::size_t transfers = 0;
};

/// The counts so far; asking allocates nothing. Only in a program that allocations.cpp is linked
/// into, whose malloc then stands before the C library's.
Allocations allocations();

/// From now on views and transfers are counted. @pre Kokkos is initialised
void count_kokkos();

}  // namespace ccp::test
