#include "solvers/core/body_exchange.hpp"

#include <Teuchos_ArrayView.hpp>
#include <Tpetra_Import.hpp>
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "solvers/core/rank_map.hpp"
#include "solvers/core/rank_times.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

using Import = Tpetra::Import<Map::local_ordinal_type, Map::global_ordinal_type>;

using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, MemSpace>;

}  // namespace

struct BodyExchange::Plan {
  std::optional<Distribution> distribution;
  int owned = 0, ghosts = 0;
  DeviceArray<const int*> copied;     ///< rows of this rank's bodies that others have
  Teuchos::RCP<const Import> import;  ///< from these bodies to the ghosts
};

struct BodyExchange::Buffers {
  Buffers(const Plan& plan, std::size_t columns)
      : copied(plan.import->getSourceMap(), columns),
        ghosts(plan.import->getTargetMap(), columns) {}
  Vector copied, ghosts;
};

BodyExchange::BodyExchange(const Distribution& distribution) {
  auto plan = make_plan(distribution.ranks, distribution.owned_body, distribution.ghost_body);
  plan->distribution = distribution;
  plan_ = plan;
}

BodyExchange::BodyExchange(const Ranks& ranks, const std::vector<long long>& owned,
                           const std::vector<long long>& ghosts)
    : plan_(make_plan(ranks, owned, ghosts)) {}

std::shared_ptr<BodyExchange::Plan> BodyExchange::make_plan(const Ranks& ranks,
                                                            const std::vector<long long>& owned,
                                                            const std::vector<long long>& ghosts) {
  const auto ghost_map = map_of(ranks, ghosts);
  const Import all(map_of(ranks, owned), ghost_map);
  const auto sent = all.getExportLIDs();
  std::vector<int> copied(sent.begin(), sent.end());
  std::sort(copied.begin(), copied.end());
  copied.erase(std::unique(copied.begin(), copied.end()), copied.end());
  std::vector<long long> numbers;
  for (const int row : copied) numbers.push_back(owned[static_cast<std::size_t>(row)]);

  auto plan = std::make_shared<Plan>();
  plan->owned = static_cast<int>(owned.size());
  plan->ghosts = static_cast<int>(ghosts.size());
  plan->copied = upload<DeviceArray<int*>>("ccp::BodyExchange::copied", copied, copied.size());
  plan->import = Teuchos::rcp(new Import(map_of(ranks, numbers), ghost_map));
  return plan;
}

BodyExchange::BodyExchange(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}
BodyExchange::~BodyExchange() = default;

std::shared_ptr<BodyExchange> BodyExchange::clone() const {
  return std::shared_ptr<BodyExchange>(new BodyExchange(plan_));
}

const Distribution* BodyExchange::distribution() const {
  return plan_->distribution ? &*plan_->distribution : nullptr;
}
int BodyExchange::owned() const {
  return plan_->owned;
}
int BodyExchange::ghosts() const {
  return plan_->ghosts;
}
int BodyExchange::copied() const {
  return static_cast<int>(plan_->copied.extent(0));
}

BodyExchange::Buffers& BodyExchange::buffers(std::size_t columns) const {
  if (!buffers_ || buffers_->copied.getNumVectors() != columns) {
    buffers_ = std::make_unique<Buffers>(*plan_, columns);
  }
  return *buffers_;
}

namespace {

class ExchangeWatch : RankWatch {
 public:
  ExchangeWatch() : RankWatch(&RankTimes::exchange, &RankTimes::exchanges) {}
};

/// Rows of bodies to a buffer, and back. A buffer has the rows that `place` names, or, where that
/// is empty, those from `first` on.
struct BodyRows {
  DeviceArray<double**> rows;
  DeviceArray<const int*> place;
  int first = 0;

  KOKKOS_INLINE_FUNCTION int of(int k) const { return place.extent(0) > 0 ? place(k) : first + k; }
};

void pack(const BodyRows& own, Vector& buffer) {
  const Matrix out = buffer.getLocalViewDevice(Tpetra::Access::OverwriteAll);
  const int columns = static_cast<int>(out.extent(1));
  Kokkos::parallel_for(
      "ccp::BodyExchange::pack", range(out.extent(0)), KOKKOS_LAMBDA(const int k) {
        for (int j = 0; j < columns; ++j) out(k, j) = own.rows(own.of(k), j);
      });
}

void unpack(const Vector& buffer, const BodyRows& own) {
  const auto in = buffer.getLocalViewDevice(Tpetra::Access::ReadOnly);
  const int columns = static_cast<int>(in.extent(1));
  Kokkos::parallel_for(
      "ccp::BodyExchange::unpack", range(in.extent(0)), KOKKOS_LAMBDA(const int k) {
        for (int j = 0; j < columns; ++j) own.rows(own.of(k), j) = in(k, j);
      });
}

}  // namespace

void BodyExchange::sum(const DeviceArray<double**>& rows) const {
  const ExchangeWatch watch;
  Buffers& own = buffers(rows.extent(1));
  const BodyRows copied{rows, plan_->copied}, ghosts{rows, {}, plan_->owned};
  pack(copied, own.copied);
  pack(ghosts, own.ghosts);
  fence();  // Tpetra may read on the host
  own.copied.doExport(own.ghosts, *plan_->import, Tpetra::ADD);
  own.ghosts.doImport(own.copied, *plan_->import, Tpetra::REPLACE);
  unpack(own.copied, copied);
  unpack(own.ghosts, ghosts);
}

void BodyExchange::add_to_owners(const DeviceArray<double**>& rows) const {
  const ExchangeWatch watch;
  Buffers& own = buffers(rows.extent(1));
  const BodyRows copied{rows, plan_->copied};
  pack(copied, own.copied);
  pack({rows, {}, plan_->owned}, own.ghosts);
  fence();
  own.copied.doExport(own.ghosts, *plan_->import, Tpetra::ADD);
  unpack(own.copied, copied);
}

void BodyExchange::copy_to_ghosts(const DeviceArray<double**>& rows) const {
  const ExchangeWatch watch;
  Buffers& own = buffers(rows.extent(1));
  pack({rows, plan_->copied}, own.copied);
  fence();
  own.ghosts.doImport(own.copied, *plan_->import, Tpetra::REPLACE);
  unpack(own.ghosts, {rows, {}, plan_->owned});
}

}  // namespace ccp
