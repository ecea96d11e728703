#include "solvers/gauss_seidel/pool_visits.hpp"

#include "solvers/core/transfer.hpp"

namespace ccp {

PoolRecords pool_records(const Problem& problem, const DeviceArray<double* [2]>& weight,
                         const std::vector<int>& contacts) {
  const ConstraintPools& pools = problem.pools();
  const RollingPool& rolling = problem.host().rolling;
  std::vector<int> place_of(contacts.size()), place;
  for (std::size_t i = 0; i < contacts.size(); ++i) place_of[contacts[i]] = static_cast<int>(i);
  for (const std::int32_t c : rolling.contact) place.push_back(place_of[c]);

  PoolRecords records;
  records.place = upload<DeviceArray<int*>>("ccp::PoolRecords::place", place, place.size());
  records.inverse = DeviceArray<Sym3*>("ccp::PoolRecords::inverse", pools.size());
  records.bound = pool_metric(problem);
  records.contact = DeviceArray<double* [2]>("ccp::PoolRecords::contact", pools.rolling());
  const auto contact = pools.contact(), rows = pools.rows();
  const auto blocks = pools.diagonal_blocks();
  const FreeTwist free_twist = pools.free_twist();
  const int count = pools.rolling();
  Kokkos::parallel_for(
      "ccp::PoolRecords", range(pools.size()), KOKKOS_LAMBDA(const int j) {
        const double spare = records.bound(j);
        Sym3 block = j < count ? free_twist.filled(j, blocks(j), spare) : blocks(j);
        const int used = j < count ? 3 : rows(j - count);
        if (used < 3) block.zz = spare;
        if (used < 2) block.yy = spare;
        records.inverse(j) = inverse_or_shifted(block, spare);
        if (used < 3) records.inverse(j).zz = 0;
        if (used < 2) records.inverse(j).yy = 0;
        if (j >= count) return;
        records.contact(j, 0) = weight(contact(j), 0);
        records.contact(j, 1) = weight(contact(j), 1);
      });
  return records;
}

}  // namespace ccp
