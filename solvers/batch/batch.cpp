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
  progress_.round.problem = DeviceArray<int*>("ccp::Batch::problem", size);
  progress_.round.begun_left = DeviceArray<int*>("ccp::Batch::begun_left", 2);
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
  std::vector<double> residual;
  // A short round tells which problems will take long; nobody runs ahead of the others in it.
  batch::Round& round = progress_.round;
  round.iterations = std::min(100, of_a_round());
  int further = 0;
  for (;;) {
    round.size = static_cast<int>(active.size());
    upload_to(Kokkos::subview(round.problem, Kokkos::make_pair(0, round.size)), active);
    upload_to(round.begun_left, {0, further * round.size});
    advance();
    status = download(progress_.status);
    residual = download(progress_.residual);
    const auto ended = [&](int k) { return status[k] != static_cast<int>(Status::running); };
    active.erase(std::remove_if(active.begin(), active.end(), ended), active.end());
    if (active.empty() || (stop.out_of_time && stop.out_of_time())) break;
    std::stable_sort(active.begin(), active.end(),
                     [&](int a, int b) { return residual[a] > residual[b]; });
    round.iterations = of_a_round();
    further = space.concurrency() > 1 ? 1 : 0;
  }
  answer(gamma);
  batch_->problem().to_contact_axes(gamma, gamma);
  fence();
  const auto outer = download(progress_.outer), applies = download(progress_.applies);
  std::vector<Info> infos;
  for (int k = 0; k < batch_->size(); ++k) {
    infos.push_back(info_of(status[k], outer[k], applies[k], residual[k]));
    count(outer[k], infos.back());
  }
  return infos;
}

}  // namespace ccp
