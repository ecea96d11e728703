#pragma once

#include <type_traits>

#include "solvers/core/extremes.hpp"
#include "solvers/core/staged_loop.hpp"
#include "solvers/core/trilinos.hpp"

/// Loops of one team over what belongs to its problem.
namespace ccp::batch {

using Policy = Kokkos::TeamPolicy<ExecSpace, Kokkos::Schedule<Kokkos::Dynamic>>;
using Team = Policy::member_type;

/// On the host a problem is worked on by one thread, so that its sums have one order whatever the
/// number of threads.
inline constexpr bool on_host = std::is_same_v<ExecSpace, Kokkos::DefaultHostExecutionSpace>;
inline constexpr int team_size = on_host ? 1 : 32;

/// act(i) for i in [begin, end), and all of it done afterwards.
template <class Act>
KOKKOS_INLINE_FUNCTION void each(const Team& team, int begin, int end, const Act& act) {
  Kokkos::parallel_for(Kokkos::TeamThreadRange(team, begin, end), act);
  team.team_barrier();
}

/// act(first, count) for stages (staged_loop.hpp) of [begin, end), likewise.
template <class Act>
KOKKOS_INLINE_FUNCTION void each_stage(const Team& team, int begin, int end, const Act& act) {
  each(team, 0, (end - begin + stage - 1) / stage, [&](const int k) {
    const int first = begin + k * stage;
    act(first, staged_count(first, end));
  });
}

/// A reduction of values that know how to add up: T is zero to begin with and has add(T).
template <class T>
struct Added {
  using reducer = Added;
  using value_type = T;
  using result_view_type = Kokkos::View<T, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged>;
  T* total;

  KOKKOS_INLINE_FUNCTION explicit Added(T& value) : total(&value) {}
  KOKKOS_INLINE_FUNCTION void init(T& value) const { value = T(); }
  KOKKOS_INLINE_FUNCTION void join(T& sum, const T& part) const { sum.add(part); }
  KOKKOS_INLINE_FUNCTION void join(volatile T& sum, const volatile T& part) const {
    const_cast<T&>(sum).add(const_cast<const T&>(part));
  }
  KOKKOS_INLINE_FUNCTION T& reference() const { return *total; }
  KOKKOS_INLINE_FUNCTION result_view_type view() const { return result_view_type(total); }
  KOKKOS_INLINE_FUNCTION bool references_scalar() const { return true; }
};

/// The sum of what act(i, part) adds for i in [begin, end); every thread of the team gets it.
template <class T, class Act>
KOKKOS_INLINE_FUNCTION T sum(const Team& team, int begin, int end, const Act& act) {
  T total;
  Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, begin, end), act, Added<T>(total));
  team.team_barrier();
  return total;
}
/// The same with act(first, count, part) for stages.
template <class T, class Act>
KOKKOS_INLINE_FUNCTION T sum_stages(const Team& team, int begin, int end, const Act& act) {
  return sum<T>(team, 0, (end - begin + stage - 1) / stage, [&](const int k, T& part) {
    const int first = begin + k * stage;
    act(first, staged_count(first, end), part);
  });
}

struct Number {
  double value = 0;
  KOKKOS_INLINE_FUNCTION void add(const Number& part) { value += part.value; }
};

}  // namespace ccp::batch
