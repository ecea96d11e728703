#pragma once

/// CCP_FUNCTION: a function that kernels may call, too. This folder knows no Kokkos; where a device
/// compiler reads it, the function is compiled for both sides.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define CCP_FUNCTION __host__ __device__ inline
#else
#define CCP_FUNCTION inline
#endif
