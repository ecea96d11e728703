#include "solvers/core/problem.hpp"

#include <type_traits>
#include <utility>

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

/// Free velocities of all triples, in contact axes.
std::vector<double> free_velocities(const ContactProblem& host) {
  std::vector<double> r = host.r;
  r.insert(r.end(), host.rolling.r.begin(), host.rolling.r.end());
  r.insert(r.end(), host.equality.r.begin(), host.equality.r.end());
  return r;
}

/// Of N, 1/kg; of the rows in use of the joints where there are no contacts.
double mean_diagonal_of(const DelassusOperator& delassus, long long contacts,
                        const ConstraintPools& pools) {
  if (contacts > 0) {
    return delassus.ranks().sum(trace_of(delassus)) / (3.0 * static_cast<double>(contacts));
  }
  if (pools.empty()) return 0;
  const auto blocks = pools.diagonal_blocks();
  const auto rows = pools.rows();
  double trace = 0, count = 0;
  Kokkos::parallel_reduce(
      "ccp::Problem::joint_trace", range(pools.equality()),
      KOKKOS_LAMBDA(const int k, double& sum, double& in_use) {
        sum += blocks(k).xx + blocks(k).yy + blocks(k).zz;
        in_use += rows(k);
      },
      Kokkos::Sum<double>(trace), Kokkos::Sum<double>(count));
  return count > 0 ? trace / count : 0;
}

/// Problem::pool_length(). @param scale  Problem::delassus_scale()
DeviceArray<double*> pool_length_of(const DelassusOperator& delassus, const ConstraintPools& pools,
                                    double scale) {
  const int size = pools.size(), rolling = pools.rolling();
  DeviceArray<double*> length("ccp::Problem::pool_length", size);
  if (size == 0) return length;
  const auto blocks = pools.diagonal_blocks();
  const auto of_contacts = delassus.diagonal_blocks();
  const auto contact = pools.contact(), rows = pools.rows();
  const FreeTwist free_twist = pools.free_twist();
  Kokkos::parallel_for(
      "ccp::Problem::pool_length", range(size), KOKKOS_LAMBDA(const int j) {
        const double trace = blocks(j).xx + blocks(j).yy + blocks(j).zz;
        double wanted = 0;
        if (j < rolling) {
          const int c = contact(j);
          wanted = of_contacts(c, 0, 0) + of_contacts(c, 1, 1) + of_contacts(c, 2, 2);
          if (free_twist.rows(j) == 2) wanted *= 2.0 / 3;
        } else {
          wanted = scale * rows(j - rolling);
        }
        length(j) = trace > 0 && wanted > 0 ? sqrt(wanted / trace) : 1;
      });
  return length;
}

}  // namespace

Problem::Problem(const ContactProblem& host)
    : Problem(host, DelassusOperator(host), static_cast<long long>(host.contacts())) {}

Problem::Problem(const ContactProblem& host, const Distribution& distribution)
    : Problem(host, DelassusOperator(host, distribution), distribution.contacts) {
  number_ = distribution.contact;
}

Problem::Problem(const ContactProblem& host, DelassusOperator delassus, long long all_contacts)
    : host_(host), delassus_(std::move(delassus)), all_contacts_(all_contacts) {
  const std::size_t n = host.contacts(), triples = host.triples();
  mu_ = upload<DeviceArray<double*>>("ccp::Problem::mu", host.mu, n);
  const auto r = upload<VectorView>("ccp::Problem::r", free_velocities(host), 3 * triples);
  std::vector<double> normal(3 * triples, 0.0);
  for (std::size_t c = delassus_.is_assembled() ? 0 : n; c < triples; ++c) normal[3 * c] = 1;
  if (!delassus_.is_assembled()) {
    frame_ = frames(host);
    for (std::size_t c = 0; c < n; ++c) {
      for (int k = 0; k < 3; ++k) normal[3 * c + k] = host.frame[9 * c + k];
    }
  }
  normal_ = upload<DeviceArray<double* [3]>>("ccp::Problem::normal", normal, triples);
  to_world_axes(r, r);
  r_ = r;

  mean_diagonal_ = mean_diagonal_of(delassus_, all_contacts_, pools());
  pool_length_ = pool_length_of(delassus_, pools(), delassus_scale());
}

Problem::Problem(const Problem& other, const ConstVectorView& r)
    : host_(other.host_),
      delassus_(*other.delassus_.clone()),
      r_(r),
      mu_(other.mu_),
      normal_(other.normal_),
      frame_(other.frame_),
      pool_length_(other.pool_length_),
      mean_diagonal_(other.mean_diagonal_),
      all_contacts_(other.all_contacts_),
      number_(other.number_) {}

double Problem::most_neighbours() const {
  return ranks().size() > 1 ? delassus_.most_neighbours() : ccp::most_neighbours(host_);
}

namespace {

/// Which frame belongs to a triple; -1: none.
struct FrameOf {
  int contacts, rolling;
  bool turned;  ///< contacts have frames
  DeviceArray<const int*> contact;

  explicit FrameOf(const Problem& problem)
      : contacts(problem.contacts()),
        rolling(problem.pools().rolling()),
        turned(!problem.shared_delassus().is_assembled()),
        contact(problem.pools().contact()) {}
  KOKKOS_INLINE_FUNCTION int operator()(int t) const {
    if (t < contacts) return turned ? t : -1;
    return t < contacts + rolling ? contact(t - contacts) : -1;
  }
};

}  // namespace

void Problem::to_world_axes(const ConstVectorView& contact, const VectorView& world) const {
  const auto f = frame_;
  const FrameOf frame_of(*this);
  Kokkos::parallel_for(
      "ccp::Problem::to_world_axes", range(triples()), KOKKOS_LAMBDA(const int t) {
        const Vec3 g = load3(contact, t);
        const int c = frame_of(t);
        if (c < 0) {
          store3(world, t, g);
          return;
        }
        store3(world, t,
               Vec3{f(c, 0, 0) * g.x + f(c, 1, 0) * g.y + f(c, 2, 0) * g.z,
                    f(c, 0, 1) * g.x + f(c, 1, 1) * g.y + f(c, 2, 1) * g.z,
                    f(c, 0, 2) * g.x + f(c, 1, 2) * g.y + f(c, 2, 2) * g.z});
      });
}

void Problem::to_contact_axes(const ConstVectorView& world, const VectorView& contact) const {
  const auto f = frame_;
  const FrameOf frame_of(*this);
  const FreeTwist free_twist = pools().free_twist();
  const int contacts = this->contacts();
  Kokkos::parallel_for(
      "ccp::Problem::to_contact_axes", range(triples()), KOKKOS_LAMBDA(const int t) {
        const Vec3 p = load3(world, t);
        const int c = frame_of(t);
        if (c < 0) {
          store3(contact, t, p);
          return;
        }
        Vec3 g{f(c, 0, 0) * p.x + f(c, 0, 1) * p.y + f(c, 0, 2) * p.z,
               f(c, 1, 0) * p.x + f(c, 1, 1) * p.y + f(c, 1, 2) * p.z,
               f(c, 2, 0) * p.x + f(c, 2, 1) * p.y + f(c, 2, 2) * p.z};
        if (t >= contacts && free_twist.rows(t - contacts) == 2) g.x = 0;  // but for rounding
        store3(contact, t, g);
      });
}

}  // namespace ccp
