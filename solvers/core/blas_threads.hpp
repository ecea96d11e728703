#pragma once

namespace ccp {

/// Tells the BLAS (OpenBLAS, and any that follows OpenMP) and CHOLMOD how many threads to take.
/// KokkosSession calls it with the run's threads: left to itself, OpenBLAS takes every processor
/// and CHOLMOD four threads, and a run on one thread would not be one.
void set_blas_threads(int threads);

}  // namespace ccp
