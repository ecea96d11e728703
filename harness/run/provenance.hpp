#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ccp {

/// Where and with what a run was made. Names are those of /provenance in the result file.
struct Provenance {
  // Build.
  std::string commit;  ///< with "-dirty" where tracked files differed at build time
  std::string compiler, flags, build_type, backend, trilinos, kokkos, version;
  // Machine.
  std::string host, cpu, gpu, os;
  int cores = 0;
  long memory_bytes = 0;
  // This process.
  int threads = 0, ranks = 1;
  std::string binding;   ///< what OMP_PROC_BIND and OMP_PLACES said
  std::string affinity;  ///< the processors its threads may run on, e.g. "0-3,8"
  std::string governor;  ///< of the processor's frequency, "" where the system does not say
  std::string load_average, command_line, date_utc;
  // Of programs of somebody else.
  std::string external;  ///< name and version
  std::string clock;     ///< whose the solve time is: "program" or "process"

  std::vector<std::pair<std::string, std::string>> entries() const;
};

/// What is fixed at build time; needs no Kokkos.
Provenance build_provenance();

/// Everything. @param threads  those of the execution space @param command_line as typed
Provenance collect_provenance(int threads, const std::string& command_line);

/// What makes times doubtful that are taken now: the load average of the last minute is above the
/// cores that the runs use. @return one sentence; "" if it is not
std::string overload(int cores);

/// As the system counts, in steps of about 10 ms; 0 where it does not say.
double seconds_since_process_start();

/// Named parts of a resume key.
using KeyParts = std::vector<std::pair<std::string, std::string>>;

/// The build as it enters resume keys: commit, compiler, flags, build type, back end, Trilinos; for
/// a dirty tree also the digest of the program itself, because the commit does not tell what was
/// built.
KeyParts build_identity();
/// The machine as it enters resume keys: host, cpu, gpu, number of processors.
KeyParts machine_identity();

}  // namespace ccp
