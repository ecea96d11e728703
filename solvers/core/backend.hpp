#pragma once

#include "problems/base/enum_text.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {

/// What runs the kernels: the Kokkos execution space of Trilinos' default node.
enum class Backend { serial, openmp, cuda };

template <>
struct EnumTable<Backend> {
  static constexpr EnumText<Backend> rows[] = {
      {Backend::serial, "Serial"}, {Backend::openmp, "OpenMP"}, {Backend::cuda, "Cuda"}};
};

/// That of this build. @throws InputError for an execution space that is none of the three
inline Backend backend() {
  return read_enum<Backend>(ExecSpace::name(), "Kokkos", "execution space");
}

}  // namespace ccp
