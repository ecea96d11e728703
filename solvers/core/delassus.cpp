#include "solvers/core/delassus.hpp"

#include "problems/model/incidence.hpp"
#include "solvers/core/rank_map.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

/// Contacts of the body that has most, whatever ranks they are on.
double most_neighbours_of_ranks(const ContactProblem& problem, const BodyExchange& exchange,
                                const Ranks& ranks) {
  const Incidence incidence = incidence_of(problem.contact_bodies, problem.bodies());
  const auto offset =
      upload<DeviceArray<int*>>("ccp::Delassus::offset", incidence.offset, incidence.offset.size());
  const DeviceArray<double**> count("ccp::Delassus::count", problem.bodies(), 1);
  Kokkos::parallel_for(
      "ccp::Delassus::count_contacts", range(problem.bodies()),
      KOKKOS_LAMBDA(const int i) { count(i, 0) = offset(i + 1) - offset(i); });
  exchange.sum(count);
  double most = 0;
  Kokkos::parallel_reduce(
      "ccp::Delassus::most_neighbours", range(problem.bodies()),
      KOKKOS_LAMBDA(const int i, double& maximum) {
        if (count(i, 0) > maximum) maximum = count(i, 0);
      },
      Kokkos::Max<double>(most));
  return ranks.largest(most);
}

}  // namespace

DelassusOperator::DelassusOperator(const ContactProblem& problem)
    : domain_(make_map(3 * problem.triples())),
      contacts_(static_cast<int>(problem.contacts())),
      bodies_(static_cast<int>(problem.bodies())),
      owned_bodies_(bodies_),
      assembled_(problem.form == ContactProblem::Form::assembled),
      rotates_(problem.rotates()) {
  if (assembled_) {
    rows_ = make_block_rows(with_compliance(problem, problem.delassus));
    next_ = VectorView("ccp::Delassus::next", 3 * problem.contacts());
  } else {
    map_ = ConstraintMap(problem);
    pools_ = ConstraintPools(problem, map_.masses());
    masses_ = body_matrices(problem, MassPower::mass);
    velocity_ = make_body_velocities();
  }
}

DelassusOperator::DelassusOperator(const ContactProblem& problem, const Distribution& distribution)
    : DelassusOperator(problem) {
  ranks_ = distribution.ranks;
  domain_ = map_of(distribution.ranks, distribution.contact, 3);
  if (ranks_.size() == 1) return;
  exchange_ = std::make_shared<BodyExchange>(distribution);
  owned_bodies_ = exchange_->owned();
  count_neighbours(problem);
  compliant_elsewhere_ = ranks_.largest(is_compliant() ? 1 : 0) > 0;
}

void DelassusOperator::count_neighbours(const ContactProblem& problem) {
  most_neighbours_ = most_neighbours_of_ranks(problem, *exchange_, ranks_);
}

Teuchos::RCP<DelassusOperator> DelassusOperator::clone() const {
  auto copy = Teuchos::rcp(new DelassusOperator(*this));
  if (assembled_) {
    copy->next_ = VectorView("ccp::Delassus::next", next_.extent(0));
  } else {
    copy->velocity_ = make_body_velocities();
  }
  if (exchange_) copy->exchange_ = exchange_->clone();
  return copy;
}

void DelassusOperator::apply(const Vector& x, Vector& y, Teuchos::ETransp, double alpha,
                             double beta) const {
  const auto in = read_view(x);
  if (beta == 0) {
    const auto out = overwrite_view(y);
    apply_fused(
        in, KOKKOS_LAMBDA(const int c, const Vec3& d) { store3(out, c, alpha * d); });
  } else {
    const auto out = read_write_view(y);
    apply_fused(
        in, KOKKOS_LAMBDA(const int c, const Vec3& d) {
          store3(out, c, alpha * d + beta * load3(out, c));
        });
  }
}

DelassusOperator::Image DelassusOperator::make_image(const std::string& label) const {
  if (image_is_product()) return Image(label, contacts_ + pools_.size(), 3);
  return Image(label, bodies_ + 1, rotates_ ? 6 : 3);
}

DelassusOperator::Image DelassusOperator::make_body_velocities() const {
  return Image("ccp::Delassus::velocity", bodies_ + 1, rotates_ ? 6 : 3);
}

void DelassusOperator::compute_image(const ConstVectorView& p, const Image& image) const {
  if (!image_is_product()) {
    accumulate_bodies(p, image);
    return;
  }
  apply_fused(
      p, KOKKOS_LAMBDA(const int c, const Vec3& d) {
        image(c, 0) = d.x;
        image(c, 1) = d.y;
        image(c, 2) = d.z;
      });
}

void DelassusOperator::product_of(const Image& image, const VectorView& product) const {
  const auto store = KOKKOS_LAMBDA(const int c, const Vec3& d) {
    store3(product, c, d);
  };
  if (image_is_product()) {
    Kokkos::parallel_for(
        "ccp::Delassus::product_of", range(image.extent(0)),
        KOKKOS_LAMBDA(const int c) { store3(product, c, row3(image, c)); });
    return;
  }
  contact_velocities(image, store);
  if (!pools_.empty()) pools_.for_each_velocity(image, {}, store);
}

double DelassusOperator::energy(const Image& image, const ConstVectorView& p) const {
  return energy_of_difference(image, Image(), p);
}

double DelassusOperator::energy_of_difference(const Image& image, const Image& other,
                                              const ConstVectorView& p) const {
  const bool differs = other.extent(0) > 0;
  const bool product = image_is_product(), rotates = rotates_ && !product;
  const BodyMatrices m = masses_;
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Delassus::energy", range(product ? contacts_ + pools_.size() : owned_bodies_),
      KOKKOS_LAMBDA(const int i, double& total) {
        Vec3 v = row3(image, i);
        if (differs) v = v - row3(other, i);
        // N p is known for every contact, or v . M v is twice the kinetic energy.
        total += product ? dot(v, load3(p, i)) : m.linear(i) * dot(v, v);
        if (!rotates) return;
        double spin[3];
        for (int k = 0; k < 3; ++k) spin[k] = image(i, 3 + k) - (differs ? other(i, 3 + k) : 0);
        for (int j = 0; j < 3; ++j) {
          for (int k = 0; k < 3; ++k) total += spin[j] * m.angular(i, j, k) * spin[k];
        }
      },
      sum);
  return ranks_.sum(sum);
}

void DelassusOperator::accumulate_bodies(const ConstVectorView& p, const Image& velocity) const {
  const auto v = velocity;
  const BodyMatrices inverse = map_.masses();
  if (!rotates_) {
    const auto force = map_.force(p);
    Kokkos::parallel_for(
        "ccp::Delassus::accumulate_bodies", range(bodies_), KOKKOS_LAMBDA(const int i) {
          const Vec3 sum = force(i);
          v(i, 0) = inverse.linear(i) * sum.x;
          v(i, 1) = inverse.linear(i) * sum.y;
          v(i, 2) = inverse.linear(i) * sum.z;
        });
    if (!pools_.empty()) pools_.add_body_velocities(p, v);
    if (exchange_) exchange_->sum(v);
    return;
  }
  const auto wrench = map_.wrench(p);
  Kokkos::parallel_for(
      "ccp::Delassus::accumulate_bodies", range(bodies_), KOKKOS_LAMBDA(const int i) {
        const BodyWrench::Sum sum = wrench(i);
        v(i, 0) = inverse.linear(i) * sum.force.x;
        v(i, 1) = inverse.linear(i) * sum.force.y;
        v(i, 2) = inverse.linear(i) * sum.force.z;
        for (int k = 0; k < 3; ++k) {
          v(i, 3 + k) = inverse.angular(i, k, 0) * sum.torque.x +
                        inverse.angular(i, k, 1) * sum.torque.y +
                        inverse.angular(i, k, 2) * sum.torque.z;
        }
      });
  if (!pools_.empty()) pools_.add_body_velocities(p, v);
  if (exchange_) exchange_->sum(v);
}

DeviceArray<double* [3][3]> DelassusOperator::diagonal_blocks() const {
  return assembled_ ? ccp::diagonal_blocks(rows_) : map_.diagonal_blocks();
}

}  // namespace ccp
