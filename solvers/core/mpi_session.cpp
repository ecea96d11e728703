#include "solvers/core/mpi_session.hpp"

#include <mpi.h>

#include <Teuchos_DefaultMpiComm.hpp>
#include <cstdlib>

namespace ccp {

bool MpiSession::is_launched() {
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(name)) return true;
  }
  return false;
}

MpiSession::MpiSession() {
  int running = 0;
  MPI_Initialized(&running);
  if (!running) {
    if (!is_launched()) return;
    // Only the main thread calls MPI; kernels have threads of their own.
    int granted = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &granted);
    started_here_ = true;
  }
  world_ = Ranks(Teuchos::rcp(new Teuchos::MpiComm<int>(MPI_COMM_WORLD)));
}

MpiSession::~MpiSession() {
  world_ = Ranks();  // its communicator ends before MPI does
  if (started_here_) MPI_Finalize();
}

void MpiSession::abort(int exit_code) const {
  int running = 0;
  MPI_Initialized(&running);
  if (running) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::exit(exit_code);
}

}  // namespace ccp
