#include "solvers/core/problem.hpp"

#include <type_traits>

#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

double trace_of(const DelassusOperator& delassus) {
  const auto diagonal = delassus.diagonal_blocks();
  double trace = 0;
  Kokkos::parallel_reduce(
      "ccp::Problem::trace", range(delassus.contacts()),
      KOKKOS_LAMBDA(const int c, double& sum) {
        sum += diagonal(c, 0, 0) + diagonal(c, 1, 1) + diagonal(c, 2, 2);
      },
      trace);
  return trace;
}

/// The frames on the device. Where that is the host they need no second copy: 72 bytes per contact.
DeviceArray<const double* [3][3]> frames(const ContactProblem& host) {
  using Frames = DeviceArray<const double* [3][3]>;
  if constexpr (std::is_same_v<MemSpace, Kokkos::HostSpace> &&
                std::is_same_v<Frames::array_layout, Kokkos::LayoutRight>) {
    return Frames(host.frame.data(), host.contacts());
  } else {
    return upload<DeviceArray<double* [3][3]>>("ccp::Problem::frame", host.frame, host.contacts());
  }
}

}  // namespace

Problem::Problem(const ContactProblem& host) : host_(host), delassus_(host) {
  const std::size_t n = host.contacts();
  mu_ = upload<DeviceArray<double*>>("ccp::Problem::mu", host.mu, n);
  const auto r = upload<VectorView>("ccp::Problem::r", host.r, 3 * n);
  std::vector<double> normal(3 * n, 0.0);
  if (delassus_.is_assembled()) {
    for (std::size_t c = 0; c < n; ++c) normal[3 * c] = 1;
  } else {
    frame_ = frames(host);
    for (std::size_t c = 0; c < n; ++c) {
      for (int k = 0; k < 3; ++k) normal[3 * c + k] = host.frame[9 * c + k];
    }
  }
  normal_ = upload<DeviceArray<double* [3]>>("ccp::Problem::normal", normal, n);
  to_world_axes(r, r);
  r_ = r;

  if (n > 0) mean_diagonal_ = trace_of(delassus_) / (3.0 * static_cast<double>(n));
}

Problem::Problem(const Problem& other, const ConstVectorView& r)
    : host_(other.host_),
      delassus_(*other.delassus_.clone()),
      r_(r),
      mu_(other.mu_),
      normal_(other.normal_),
      frame_(other.frame_),
      mean_diagonal_(other.mean_diagonal_) {}

void Problem::to_world_axes(const ConstVectorView& contact, const VectorView& world) const {
  const auto f = frame_;
  const bool turned = !delassus_.is_assembled();
  Kokkos::parallel_for(
      "ccp::Problem::to_world_axes", range(contacts()), KOKKOS_LAMBDA(const int c) {
        const Vec3 g = load3(contact, c);
        if (!turned) {
          store3(world, c, g);
          return;
        }
        store3(world, c,
               Vec3{f(c, 0, 0) * g.x + f(c, 1, 0) * g.y + f(c, 2, 0) * g.z,
                    f(c, 0, 1) * g.x + f(c, 1, 1) * g.y + f(c, 2, 1) * g.z,
                    f(c, 0, 2) * g.x + f(c, 1, 2) * g.y + f(c, 2, 2) * g.z});
      });
}

void Problem::to_contact_axes(const ConstVectorView& world, const VectorView& contact) const {
  const auto f = frame_;
  const bool turned = !delassus_.is_assembled();
  Kokkos::parallel_for(
      "ccp::Problem::to_contact_axes", range(contacts()), KOKKOS_LAMBDA(const int c) {
        const Vec3 p = load3(world, c);
        if (!turned) {
          store3(contact, c, p);
          return;
        }
        store3(contact, c,
               Vec3{f(c, 0, 0) * p.x + f(c, 0, 1) * p.y + f(c, 0, 2) * p.z,
                    f(c, 1, 0) * p.x + f(c, 1, 1) * p.y + f(c, 1, 2) * p.z,
                    f(c, 2, 0) * p.x + f(c, 2, 1) * p.y + f(c, 2, 2) * p.z});
      });
}

}  // namespace ccp
