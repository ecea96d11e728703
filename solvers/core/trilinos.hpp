#pragma once

// The one place that knows which Trilinos and Kokkos this is. Everything else uses these names.

#include <Kokkos_Core.hpp>
#include <Teuchos_DefaultSerialComm.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Operator.hpp>
#include <cstddef>
#include <string>

#include "solvers/core/blas_threads.hpp"

namespace ccp {

using Vector = Tpetra::MultiVector<double>;  ///< always one column here
using Operator = Tpetra::Operator<double>;
using Map = Vector::map_type;

using ExecSpace = Vector::execution_space;  ///< of Trilinos' default node: where everything runs
#ifdef CCP_MEMORY_SPACE
using MemSpace = CCP_MEMORY_SPACE;  ///< one that Tpetra's vectors can be assigned to
#else
using MemSpace = Vector::device_type::memory_space;
#endif

/// A labelled array in the memory of the execution space, e.g. DeviceArray<double*[3]>.
template <class Data>
using DeviceArray = Kokkos::View<Data, MemSpace>;

/// A label for an array that is filled before it is read: its memory is touched first by whoever
/// fills it, on all threads.
inline auto to_be_filled(const std::string& label) {
  return Kokkos::view_alloc(label, Kokkos::WithoutInitializing);
}

/// Flat views of a vector's single column.
using VectorView = Kokkos::View<double*, Kokkos::LayoutLeft, MemSpace>;
using ConstVectorView = Kokkos::View<const double*, Kokkos::LayoutLeft, MemSpace>;

/// The map of `size` entries held by one process. No MPI is started: the communicator is serial.
inline Teuchos::RCP<const Map> make_map(std::size_t size) {
  return Teuchos::rcp(new Map(static_cast<Tpetra::global_size_t>(size), 0,
                              Teuchos::rcp(new Teuchos::SerialComm<int>())));
}

inline ConstVectorView read_view(const Vector& x) {
  return Kokkos::subview(x.getLocalViewDevice(Tpetra::Access::ReadOnly), Kokkos::ALL(), 0);
}
inline VectorView read_write_view(Vector& x) {
  return Kokkos::subview(x.getLocalViewDevice(Tpetra::Access::ReadWrite), Kokkos::ALL(), 0);
}
inline VectorView overwrite_view(Vector& x) {
  return Kokkos::subview(x.getLocalViewDevice(Tpetra::Access::OverwriteAll), Kokkos::ALL(), 0);
}

/// Policy over [0, size) on the default execution space.
inline Kokkos::RangePolicy<ExecSpace> range(std::size_t size) {
  return Kokkos::RangePolicy<ExecSpace>(0, static_cast<int>(size));
}

/// Waits until all work given to the device is done; before any clock is read.
inline void fence() {
  ExecSpace().fence();
}

/// Starts Kokkos for the life of this object, and gives the BLAS the threads that Kokkos has on the
/// host. @param threads 0 = whatever the environment says
class KokkosSession {
 public:
  explicit KokkosSession(int threads = 0) {
#if KOKKOS_VERSION >= 40000
    Kokkos::InitializationSettings settings;
    if (threads > 0) settings.set_num_threads(threads);
    settings.set_disable_warnings(true);
#else
    Kokkos::InitArguments settings;
    if (threads > 0) settings.num_threads = threads;
    settings.disable_warnings = true;
#endif
    Kokkos::initialize(settings);
    set_blas_threads(Kokkos::DefaultHostExecutionSpace().concurrency());
  }
  ~KokkosSession() {
    Kokkos::finalize();
  }
  KokkosSession(const KokkosSession&) = delete;
  KokkosSession& operator=(const KokkosSession&) = delete;
};

/// What runs the kernels, for reports: "Serial", "OpenMP", "Cuda".
inline std::string backend_name() {
  return ExecSpace::name();
}
/// Threads on the host; a device's are not counted.
inline int backend_threads() {
  return Kokkos::DefaultHostExecutionSpace().concurrency();
}
std::string trilinos_version();

}  // namespace ccp
