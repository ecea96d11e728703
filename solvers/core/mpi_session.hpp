#pragma once

#include "solvers/core/ranks.hpp"

namespace ccp {

/// MPI for the life of this object. A process that an MPI launcher started starts MPI, and joins
/// the others; where MPI is started already it is joined, and left running at the end. Any other
/// process is one rank, and MPI is not even looked at. To be made before KokkosSession.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// All processes that the launcher started together.
  const Ranks& world() const { return world_; }

  /// Whether a launcher (Open MPI's, MPICH's or one that talks PMIx) started this process.
  static bool is_launched();
  /// Ends all ranks at once, from one that cannot go on.
  [[noreturn]] void abort(int exit_code) const;

 private:
  bool started_here_ = false;
  Ranks world_;
};

}  // namespace ccp
