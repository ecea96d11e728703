#include "solvers/core/blas_threads.hpp"

#include <dlfcn.h>

#include <initializer_list>

namespace ccp {

void set_blas_threads(int threads) {
  // Which BLAS this is, is known when the program starts (Debian's alternatives), not when it is
  // linked: so the functions are looked for then. A linker would settle a weak symbol too early.
  for (const char* name : {"openblas_set_num_threads", "omp_set_num_threads"}) {
    using Setter = void (*)(int);
    if (auto* const set = reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, name))) set(threads);
  }
  // CHOLMOD takes four threads of OpenMP where it is told one. Where no parallel region may be
  // active it gets its own.
  if (threads != 1) return;
  using Setter = void (*)(int);
  if (auto* const set =
          reinterpret_cast<Setter>(dlsym(RTLD_DEFAULT, "omp_set_max_active_levels"))) {
    set(0);
  }
}

}  // namespace ccp
