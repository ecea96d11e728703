#pragma once

#include "solvers/batch/team.hpp"

namespace ccp::batch {

/// One round of a batch: every problem that runs gets some iterations. One whose round is over
/// takes another at once while others wait for their turn; of these there are no more than
/// problems, so that nobody waits for long. Else the longest problem would end alone, and what the
/// other threads do then is nothing. Which problem is where and when, no result depends on.
struct Round {
  int size = 0;                  ///< problems that run
  int iterations = 0;            ///< of each
  DeviceArray<int*> problem;     ///< their numbers, at the front
  DeviceArray<int*> begun_left;  ///< how many have begun, and further rounds that may be taken

  /// The team's problem.
  KOKKOS_INLINE_FUNCTION int begin(const Team& team) const {
    Kokkos::single(Kokkos::PerTeam(team), [&]() { Kokkos::atomic_increment(&begun_left(0)); });
    return problem(team.league_rank());
  }
  /// Whether the team goes on after that many iterations.
  KOKKOS_INLINE_FUNCTION bool goes_on(const Team& team, int done) const {
    if (done % iterations != 0 || done == 0) return true;
    int another = 0;
    Kokkos::single(
        Kokkos::PerTeam(team),
        [&](int& answer) {
          answer = Kokkos::atomic_fetch_add(&begun_left(0), 0) < size &&
                   Kokkos::atomic_fetch_add(&begun_left(1), -1) > 0;
        },
        another);
    return another != 0;
  }
};

/// Teams take the problems in this order, one by one.
inline Policy policy(int problems) {
  Policy policy(problems, team_size);
  policy.set_chunk_size(1);
  return policy;
}

}  // namespace ccp::batch
