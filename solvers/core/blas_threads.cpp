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
}

}  // namespace ccp
