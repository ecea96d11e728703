#pragma once

#include <cstddef>
#include <string>

/// Finds host code that touches the memory of the device, on a machine where the two are one.
/// Linked into a program, host_access.cpp gives Kokkos the memory of our views and of Tpetra's
/// vectors, and takes the pages away whenever a kernel ends: what touches them before the next
/// kernel, copy or transfer (core/transfer.hpp) begins is a fault, which is counted, and then let
/// go on.
///
/// What it does not see: accesses between a transfer and the end of the next kernel, since the
/// host's copy of an array is then the array itself; those of host threads inside a kernel, who are
/// the device here; and whatever comes after an access, up to the next kernel's end.
namespace ccp::test {

/// Guards views that are made while it lives; one at a time. @pre Kokkos is initialised
class GuardedMemory {
 public:
  GuardedMemory();
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  /// Accesses of the host so far.
  std::size_t accesses() const;
  /// Label of the view that was touched last; empty = none was.
  std::string last() const;
};

}  // namespace ccp::test
