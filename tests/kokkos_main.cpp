// main() of the tests that need Kokkos, which runs on OMP_NUM_THREADS threads (default 1).
#include <catch2/catch_session.hpp>
#include <cstdlib>

#include "solvers/core/mpi_session.hpp"
#include "solvers/core/trilinos.hpp"

int main(int argc, char** argv) {
  Catch::Session session;
  if (const int code = session.applyCommandLine(argc, argv); code != 0) return code;
  const auto& config = session.configData();
  // Listing must work on a machine without the device that the tests need.
  if (config.listTests || config.listTags || config.listReporters || config.showHelp) {
    return session.run();
  }
  const ccp::MpiSession mpi;  // of the tests that mpiexec starts
  const char* text = std::getenv("OMP_NUM_THREADS");
  const int threads = text ? std::atoi(text) : 1;
  const bool serial = ccp::backend_name() == "Serial";
  const ccp::KokkosSession kokkos(serial ? 0 : threads > 0 ? threads : 1);
  return session.run();
}
