#include "solvers/distributed/row_import.hpp"

#include <Teuchos_ArrayView.hpp>
#include <Tpetra_Distributor.hpp>
#include <Tpetra_Import.hpp>
#include <algorithm>

#include "problems/partition/partition.hpp"
#include "solvers/core/rank_map.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {
namespace {

using Number = Map::global_ordinal_type;
using Import = Tpetra::Import<Map::local_ordinal_type, Number>;

Teuchos::RCP<const Map> map_of_ranges(const Ranks& ranks, long long rows) {
  const long long first = first_row(ranks.rank(), ranks.size(), rows);
  const auto count =
      static_cast<std::size_t>(first_row(ranks.rank() + 1, ranks.size(), rows) - first);
  return Teuchos::rcp(
      new Map(static_cast<Tpetra::global_size_t>(rows), count, 0, ranks.communicator()));
}

void fill(Vector& vector, const std::vector<double>& rows, std::size_t width) {
  const auto view = vector.getLocalViewHost(Tpetra::Access::OverwriteAll);
  for (std::size_t i = 0; i < view.extent(0); ++i) {
    for (std::size_t j = 0; j < width; ++j) view(i, j) = rows[width * i + j];
  }
}

std::vector<double> rows_of(const Vector& vector, std::size_t width) {
  const auto view = vector.getLocalViewHost(Tpetra::Access::ReadOnly);
  std::vector<double> rows(width * view.extent(0));
  for (std::size_t i = 0; i < view.extent(0); ++i) {
    for (std::size_t j = 0; j < width; ++j) rows[width * i + j] = view(i, j);
  }
  return rows;
}

std::vector<double> to_doubles(const std::vector<long long>& values) {
  return {values.begin(), values.end()};
}
std::vector<long long> to_numbers(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

struct RowImport::Plan {
  Plan(const Teuchos::RCP<const Map>& ranges, const Teuchos::RCP<const Map>& wanted)
      : import(ranges, wanted) {}
  Import import;
};

RowImport::RowImport(const Ranks& ranks, long long rows, const std::vector<long long>& wanted)
    : plan_(std::make_unique<Plan>(map_of_ranges(ranks, rows), map_of(ranks, wanted))) {}
RowImport::~RowImport() = default;

std::vector<double> RowImport::operator()(const std::vector<double>& own, std::size_t width) const {
  Vector from(plan_->import.getSourceMap(), width), to(plan_->import.getTargetMap(), width);
  fill(from, own, width);
  to.doImport(from, plan_->import, Tpetra::REPLACE);
  return rows_of(to, width);
}

std::vector<long long> RowImport::operator()(const std::vector<long long>& own,
                                             std::size_t width) const {
  return to_numbers((*this)(to_doubles(own), width));
}

std::vector<long long> RowImport::add_up(const std::vector<long long>& values) const {
  Vector from(plan_->import.getTargetMap(), 1), to(plan_->import.getSourceMap(), 1);
  fill(from, to_doubles(values), 1);
  to.doExport(from, plan_->import, Tpetra::ADD);
  return to_numbers(rows_of(to, 1));
}

std::vector<long long> sent_to_ranks(const Ranks& ranks, const std::vector<long long>& numbers,
                                     const std::vector<int>& destinations) {
  using Host = Kokkos::View<Number*, Kokkos::HostSpace>;
  Tpetra::Distributor plan(ranks.communicator());
  const std::size_t count = plan.createFromSends(Teuchos::ArrayView<const int>(destinations));
  const Host out("ccp::sent_to_ranks::out", numbers.size()), in("ccp::sent_to_ranks::in", count);
  std::copy(numbers.begin(), numbers.end(), out.data());
  plan.doPostsAndWaits(Kokkos::View<const Number*, Kokkos::HostSpace>(out), 1, in);
  std::vector<long long> received(in.data(), in.data() + count);
  std::sort(received.begin(), received.end());
  return received;
}

}  // namespace ccp
