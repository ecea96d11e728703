#pragma once

#include <string>
#include <vector>

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// As long as it lives, data go from the host to the device or back. It says so to Kokkos' tools,
/// as a region, also where the two share their memory and nothing is copied: what counts transfers
/// (tests/solvers/test_allocations.cpp) finds on any machine what a device would have to do. All
/// transfers of solvers are those of the functions below.
class Transfer {
 public:
  static constexpr const char* label = "ccp::transfer";
  Transfer() { Kokkos::Profiling::pushRegion(label); }
  ~Transfer() { Kokkos::Profiling::popRegion(); }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
};

/// Copies host data laid out [rows][...] row-major into a new device array of those extents.
template <class Array, class T>
Array upload(const std::string& label, const std::vector<T>& data, std::size_t rows) {
  using Value = typename Array::non_const_value_type;
  Array device(to_be_filled(label), rows);
  const auto host = Kokkos::create_mirror_view(device);
  std::size_t next = 0;
  if constexpr (Array::rank == 1) {
    for (std::size_t i = 0; i < rows; ++i) host(i) = static_cast<Value>(data[next++]);
  } else if constexpr (Array::rank == 2) {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < device.extent(1); ++j)
        host(i, j) = static_cast<Value>(data[next++]);
    }
  } else {
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < device.extent(1); ++j) {
        for (std::size_t k = 0; k < device.extent(2); ++k) {
          host(i, j, k) = static_cast<Value>(data[next++]);
        }
      }
    }
  }
  const Transfer transfer;
  Kokkos::deep_copy(device, host);
  return device;
}

/// Fills a flat device array from as many host values.
template <class View>
void upload_to(const View& device, const std::vector<typename View::non_const_value_type>& data) {
  using Value = typename View::non_const_value_type;
  const Transfer transfer;
  Kokkos::deep_copy(
      device,
      Kokkos::View<const Value*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          data.data(), data.size()));
}

/// The array where the host can read it: itself, or a copy.
template <class View>
auto host_copy(const View& device) {
  const Transfer transfer;
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
}

/// An array for the host to fill, to be sent by send(); it may be the device's own.
template <class View>
auto host_mirror(const View& device) {
  return Kokkos::create_mirror_view(device);
}
template <class View, class Mirror>
void send(const View& device, const Mirror& mirror) {
  const Transfer transfer;
  Kokkos::deep_copy(device, mirror);
}

/// Copies a flat device array to the host.
template <class View>
std::vector<typename View::non_const_value_type> download(const View& device) {
  const auto host = host_copy(device);
  return {host.data(), host.data() + host.extent(0)};
}

/// The same into an array that is there.
template <class View>
void download_to(std::vector<typename View::non_const_value_type>& host, const View& device) {
  using Value = typename View::non_const_value_type;
  host.resize(device.extent(0));
  const Transfer transfer;
  Kokkos::deep_copy(
      Kokkos::View<Value*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(host.data(),
                                                                                       host.size()),
      device);
}

}  // namespace ccp
