#include "solvers/distributed/gather.hpp"

#include <Tpetra_Import.hpp>
#include <algorithm>

namespace ccp {
namespace {

using Number = Map::global_ordinal_type;
using Import = Tpetra::Import<Map::local_ordinal_type, Number>;

}  // namespace

std::vector<double> gathered_on_first(const Vector& vector) {
  constexpr Number chunk = 3'000'000;  // entries on the way at a time
  const auto from = vector.getMap();
  const auto size = static_cast<Number>(from->getGlobalNumElements());
  const auto communicator = from->getComm();
  std::vector<double> gathered;
  for (Number first = 0; first < size; first += chunk) {
    const Number count = std::min(chunk, size - first);
    std::vector<Number> numbers(communicator->getRank() == 0 ? count : 0);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = first + static_cast<Number>(i);
    }
    const auto to =
        Teuchos::rcp(new Map(static_cast<Tpetra::global_size_t>(count),
                             Teuchos::ArrayView<const Number>(numbers), 0, communicator));
    Vector part(to, 1);
    part.doImport(vector, Import(from, to), Tpetra::REPLACE);
    const auto view = part.getLocalViewHost(Tpetra::Access::ReadOnly);
    gathered.insert(gathered.end(), view.data(), view.data() + view.extent(0));
  }
  return gathered;
}

struct Redistribution::Plan {
  Plan(const Teuchos::RCP<const Map>& from, const Teuchos::RCP<const Map>& to)
      : import(from, to), target(to, 1) {}
  Import import;
  Vector target;
};

Redistribution::Redistribution(const Teuchos::RCP<const Map>& from,
                               const Teuchos::RCP<const Map>& to)
    : plan_(std::make_unique<Plan>(from, to)) {}
Redistribution::~Redistribution() = default;

const Vector& Redistribution::operator()(const Vector& vector) {
  plan_->target.doImport(vector, plan_->import, Tpetra::REPLACE);
  return plan_->target;
}

}  // namespace ccp
