#include "solvers/batch/batch.hpp"

#include <algorithm>
#include <numeric>

#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

Info info_of(int status, int outer, int applies, double residual) {
  Info info;
  info.status = static_cast<Status>(status);
  info.counters.outer = outer;
  info.counters.operator_applies = applies;
  info.own_residual = residual;
  info.own_residual_name = "residual as the batch's kernel finds it";
  return info;
}

}  // namespace

void BatchSolver::make_progress(const Batch& batch) {
  batch_ = &batch;
  const int size = batch.size();
  progress_.status = DeviceArray<int*>("ccp::Batch::status", size);
  progress_.outer = DeviceArray<int*>("ccp::Batch::outer", size);
  progress_.applies = DeviceArray<int*>("ccp::Batch::applies", size);
  progress_.residual = DeviceArray<double*>("ccp::Batch::residual", size);
  progress_.active = DeviceArray<int*>("ccp::Batch::active", size);
}

std::vector<Info> BatchSolver::solve(const BatchStop& stop, const VectorView& gamma) {
  // What the referee finds differs by rounding.
  constexpr double margin = 0.999;
  progress_.goal = margin * stop.residual;
  progress_.iteration_limit =
      static_cast<int>(std::min<long>(stop.iteration_limit, std::numeric_limits<int>::max()));
  const ExecSpace space;
  Kokkos::deep_copy(space, progress_.status, static_cast<int>(Status::running));
  Kokkos::deep_copy(space, progress_.outer, 0);
  Kokkos::deep_copy(space, progress_.applies, 0);
  start();
  std::vector<int> active(batch_->size());
  std::iota(active.begin(), active.end(), 0);
  std::vector<int> status;
  for (;;) {
    const auto front =
        Kokkos::subview(progress_.active, Kokkos::make_pair(std::size_t{0}, active.size()));
    upload_to(front, active);
    advance(static_cast<int>(active.size()));
    status = download(progress_.status);
    const auto ended = [&](int k) { return status[k] != static_cast<int>(Status::running); };
    active.erase(std::remove_if(active.begin(), active.end(), ended), active.end());
    if (active.empty() || (stop.out_of_time && stop.out_of_time())) break;
  }
  answer(gamma);
  batch_->problem().to_contact_axes(gamma, gamma);
  fence();
  const auto outer = download(progress_.outer), applies = download(progress_.applies);
  const auto residual = download(progress_.residual);
  std::vector<Info> infos;
  for (int k = 0; k < batch_->size(); ++k) {
    infos.push_back(info_of(status[k], outer[k], applies[k], residual[k]));
    count(outer[k], infos.back());
  }
  return infos;
}

}  // namespace ccp
