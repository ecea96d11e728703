#include "solvers/core/problem.hpp"

namespace ccp {
namespace {

template <class View>
View upload_flat(const std::string& label, const std::vector<double>& data) {
  View device(Kokkos::view_alloc(label, Kokkos::WithoutInitializing), data.size());
  const auto host = Kokkos::create_mirror_view(device);
  for (std::size_t i = 0; i < data.size(); ++i) host(i) = data[i];
  Kokkos::deep_copy(device, host);
  return device;
}

}  // namespace

Problem::Problem(const ContactProblem& host) : host_(host), delassus_(host) {
  r_ = upload_flat<VectorView>("ccp::Problem::r", host.r);
  mu_ = upload_flat<DeviceArray<double*>>("ccp::Problem::mu", host.mu);
  const auto diagonal = delassus_.diagonal_blocks();
  double trace = 0;
  Kokkos::parallel_reduce(
      "ccp::Problem::trace", range(host.contacts()),
      KOKKOS_LAMBDA(const int c, double& sum) {
        sum += diagonal(c, 0, 0) + diagonal(c, 1, 1) + diagonal(c, 2, 2);
      },
      trace);
  if (trace > 0) delassus_scale_ = trace / (3.0 * static_cast<double>(host.contacts()));
}

}  // namespace ccp
