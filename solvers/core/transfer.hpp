#pragma once

#include <string>
#include <vector>

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// Copies host data laid out [rows][...] row-major into a new device array of those extents.
template <class Array, class T>
Array upload(const std::string& label, const std::vector<T>& data, std::size_t rows) {
  using Value = typename Array::non_const_value_type;
  Array device(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), rows);
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
  Kokkos::deep_copy(device, host);
  return device;
}

/// Fills a flat device array from as many host values.
inline void upload_to(const VectorView& device, const std::vector<double>& data) {
  Kokkos::deep_copy(
      device,
      Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          data.data(), data.size()));
}

/// Copies a flat device array to the host.
template <class View>
std::vector<typename View::non_const_value_type> download(const View& device) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), device);
  return {host.data(), host.data() + host.extent(0)};
}

}  // namespace ccp
