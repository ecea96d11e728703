#include "solvers/core/body_exchange.hpp"

#include <Teuchos_ArrayView.hpp>
#include <Tpetra_Import.hpp>
#include <algorithm>
#include <utility>
#include <vector>

#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

using Import = Tpetra::Import<Map::local_ordinal_type, Map::global_ordinal_type>;
using Number = Map::global_ordinal_type;

Teuchos::RCP<const Map> map_of(const Ranks& ranks, const std::vector<Number>& numbers) {
  const auto unknown = Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid();
  return Teuchos::rcp(
      new Map(unknown, Teuchos::ArrayView<const Number>(numbers), 0, ranks.communicator()));
}

using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, MemSpace>;

}  // namespace

struct BodyExchange::Plan {
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
  const Ranks& ranks = distribution.ranks;
  const std::vector<Number> owned(distribution.owned_body.begin(), distribution.owned_body.end());
  const std::vector<Number> ghosts(distribution.ghost_body.begin(), distribution.ghost_body.end());
  const auto ghost_map = map_of(ranks, ghosts);
  const Import all(map_of(ranks, owned), ghost_map);
  const auto sent = all.getExportLIDs();
  std::vector<int> copied(sent.begin(), sent.end());
  std::sort(copied.begin(), copied.end());
  copied.erase(std::unique(copied.begin(), copied.end()), copied.end());
  std::vector<Number> numbers;
  for (const int row : copied) numbers.push_back(owned[static_cast<std::size_t>(row)]);

  auto plan = std::make_shared<Plan>();
  plan->owned = static_cast<int>(owned.size());
  plan->ghosts = static_cast<int>(ghosts.size());
  plan->copied = upload<DeviceArray<int*>>("ccp::BodyExchange::copied", copied, copied.size());
  plan->import = Teuchos::rcp(new Import(map_of(ranks, numbers), ghost_map));
  plan_ = plan;
}

BodyExchange::BodyExchange(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}
BodyExchange::~BodyExchange() = default;

std::shared_ptr<BodyExchange> BodyExchange::clone() const {
  return std::shared_ptr<BodyExchange>(new BodyExchange(plan_));
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

void BodyExchange::sum(const DeviceArray<double**>& rows) const {
  const auto columns = static_cast<int>(rows.extent(1));
  Buffers& own = buffers(rows.extent(1));
  const int first_ghost = plan_->owned;
  const auto copied = plan_->copied;
  {
    const Matrix out = own.copied.getLocalViewDevice(Tpetra::Access::OverwriteAll);
    Kokkos::parallel_for(
        "ccp::BodyExchange::pack_copied", range(copied.extent(0)), KOKKOS_LAMBDA(const int k) {
          for (int j = 0; j < columns; ++j) out(k, j) = rows(copied(k), j);
        });
    const Matrix partial = own.ghosts.getLocalViewDevice(Tpetra::Access::OverwriteAll);
    Kokkos::parallel_for(
        "ccp::BodyExchange::pack_ghosts", range(plan_->ghosts), KOKKOS_LAMBDA(const int k) {
          for (int j = 0; j < columns; ++j) partial(k, j) = rows(first_ghost + k, j);
        });
    fence();  // Tpetra may read on the host
  }
  own.copied.doExport(own.ghosts, *plan_->import, Tpetra::ADD);
  own.ghosts.doImport(own.copied, *plan_->import, Tpetra::REPLACE);
  const auto whole = own.copied.getLocalViewDevice(Tpetra::Access::ReadOnly);
  Kokkos::parallel_for(
      "ccp::BodyExchange::unpack_copied", range(copied.extent(0)), KOKKOS_LAMBDA(const int k) {
        for (int j = 0; j < columns; ++j) rows(copied(k), j) = whole(k, j);
      });
  const auto back = own.ghosts.getLocalViewDevice(Tpetra::Access::ReadOnly);
  Kokkos::parallel_for(
      "ccp::BodyExchange::unpack_ghosts", range(plan_->ghosts), KOKKOS_LAMBDA(const int k) {
        for (int j = 0; j < columns; ++j) rows(first_ghost + k, j) = back(k, j);
      });
}

}  // namespace ccp
