#pragma once

#include <string>

#include "solvers/core/cone.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {

#if defined(__GNUC__) && !defined(KOKKOS_ENABLE_CUDA)
#define CCP_FLATTEN __attribute__((flatten))  ///< SIMD lanes need every call inlined
#define CCP_LANES _Pragma("GCC ivdep")        ///< the iterations of this loop are independent
/// Keeps the compiler from turning a loop into gather instructions, which are several times slower
/// than single loads on many processors.
#define CCP_NO_GATHER asm volatile("")
#else
#define CCP_FLATTEN
#define CCP_LANES
#define CCP_NO_GATHER (void)0
#endif

/// Contacts that one host thread takes together in for_each_staged: their triples are fetched one
/// after the other, then worked on in SIMD lanes. On a device every thread has one contact.
#ifdef KOKKOS_ENABLE_CUDA
inline constexpr int stage = 1;
#else
inline constexpr int stage = 16;
#endif

/// How many stages `size` contacts have, and how many contacts the one that starts at `begin`.
inline std::size_t stages(int size) {
  return (static_cast<std::size_t>(size) + stage - 1) / stage;
}
KOKKOS_INLINE_FUNCTION int staged_count(int begin, int size) {
  return size - begin < stage ? size - begin : stage;
}

/// The body of for_each_staged.
template <class Fetch, class Sink>
struct StagedLoop {
  int size;
  Fetch fetch;
  Sink sink;

  KOKKOS_INLINE_FUNCTION void operator()(const int block) const {
    const int begin = block * stage;
    if (begin + stage <= size) {
      run(begin, stage);
    } else {
      run(begin, size - begin);
    }
  }

  CCP_FLATTEN KOKKOS_INLINE_FUNCTION void run(const int begin, const int count) const {
    Vec3 fetched[stage];
    for (int i = 0; i < count; ++i) {
      fetched[i] = fetch(begin + i);
      CCP_NO_GATHER;
    }
    CCP_LANES
    for (int i = 0; i < count; ++i) sink(begin + i, fetched[i]);
  }
};

/// sink(i, fetch(i)) for i in [0, size), in parallel, where `fetch` reads from all over the memory
/// and `sink` works on what lies at i. A sink without branches runs in SIMD lanes on the host.
template <class Fetch, class Sink>
void for_each_staged(const std::string& label, int size, const Fetch& fetch, const Sink& sink) {
  Kokkos::parallel_for(label, range(stages(size)), StagedLoop<Fetch, Sink>{size, fetch, sink});
}

/// The body of sum_staged.
template <class Fetch, class Sink>
struct StagedSum {
  int size;
  Fetch fetch;
  Sink sink;

  KOKKOS_INLINE_FUNCTION void operator()(const int block, double& a, double& b) const {
    const int begin = block * stage;
    if (begin + stage <= size) {
      run(begin, stage, a, b);
    } else {
      run(begin, size - begin, a, b);
    }
  }

  CCP_FLATTEN KOKKOS_INLINE_FUNCTION void run(const int begin, const int count, double& a,
                                              double& b) const {
    Vec3 fetched[stage];
    double first[stage], second[stage];
    for (int i = 0; i < count; ++i) {
      fetched[i] = fetch(begin + i);
      CCP_NO_GATHER;
    }
    CCP_LANES
    for (int i = 0; i < count; ++i) sink(begin + i, fetched[i], first[i], second[i]);
    for (int i = 0; i < count; ++i) {
      a += first[i];
      b += second[i];
    }
  }
};

/// The same with two sums: sink(i, fetch(i), a_i, b_i) sets what i adds to each.
template <class Fetch, class Sink>
void sum_staged(const std::string& label, int size, const Fetch& fetch, const Sink& sink, double& a,
                double& b) {
  Kokkos::parallel_reduce(label, range(stages(size)), StagedSum<Fetch, Sink>{size, fetch, sink}, a,
                          b);
}

}  // namespace ccp
