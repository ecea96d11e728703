#include "solvers/admm/ordered_triples.hpp"

#include "solvers/core/scales.hpp"

namespace ccp {

OrderedTriples::OrderedTriples(const Problem& problem, const DeviceArray<const int*>& order)
    : contacts_(problem.contacts()),
      rolling_(problem.pools().rolling()),
      equality_(problem.pools().equality()),
      pools_(problem.pools().size()),
      compliant_(problem.pools().is_compliant()),
      order_(order),
      compliance_("ccp::OrderedTriples::compliance",
                  problem.shared_delassus().constraints().compliance().extent(0)),
      units_(pool_units(problem)),
      scale_("ccp::OrderedTriples::scale", problem.triples()),
      rolling_of_("ccp::OrderedTriples::rolling_of", rolling_ > 0 ? contacts_ : 0),
      rows_(problem.pools().rows()),
      r_("ccp::OrderedTriples::r", 3 * static_cast<std::size_t>(problem.triples())) {
  const OrderedContacts contacts(problem, order);
  normal_ = contacts.normal;
  mu_ = contacts.mu;
  set_up(problem, contacts);
  take_free_velocity(problem);
}

void OrderedTriples::set_up(const Problem& problem, const OrderedContacts& contacts) {
  const auto scale = scale_, of_contact = contacts.scale;
  const auto order = order_;
  const auto rolling_of = rolling_of_;
  const int first = contacts_, rolling = rolling_;
  const double typical = problem.delassus_scale();
  const auto given = problem.pools().rolling_of();
  const auto compliance = compliance_;
  const auto sigma = problem.shared_delassus().constraints().compliance();
  Kokkos::parallel_for(
      "ccp::OrderedTriples::contacts", range(contacts_), KOKKOS_LAMBDA(const int c) {
        scale(c) = of_contact(c);
        if (compliance.extent(0) > 0) {
          for (int k = 0; k < 2; ++k) compliance(c, k) = sigma(order(c), k);
        }
        if (rolling == 0) return;
        const int k = given(order(c));
        rolling_of(c) = k < 0 ? -1 : first + k;
        if (k >= 0) scale(first + k) = of_contact(c);
      });
  Kokkos::parallel_for(
      "ccp::OrderedTriples::joints", range(equality_),
      KOKKOS_LAMBDA(const int k) { scale(first + rolling + k) = typical; });
}

void OrderedTriples::take_free_velocity(const Problem& problem) {
  gather_velocities(problem.r(), r_);
  q_ = velocity_scale(problem);
}

void OrderedTriples::gather_impulses(const ConstVectorView& from, const VectorView& to) const {
  gather(from, to, true);
}
void OrderedTriples::gather_velocities(const ConstVectorView& from, const VectorView& to) const {
  gather(from, to, false);
}

void OrderedTriples::gather(const ConstVectorView& from, const VectorView& to,
                            bool impulses) const {
  const auto order = order_;
  const auto length = units_.length;
  const int contacts = contacts_;
  Kokkos::parallel_for(
      "ccp::OrderedTriples::gather", range(size()), KOKKOS_LAMBDA(const int t) {
        if (t < contacts) {
          store3(to, t, load3(from, order(t)));
          return;
        }
        const double unit = length(t - contacts);
        store3(to, t, (impulses ? 1 / unit : unit) * load3(from, t));
      });
}

void OrderedTriples::write(const Problem& problem, const ConstVectorView& from, Vector& to) const {
  const VectorView view = overwrite_view(to);
  const auto order = order_;
  const auto length = units_.length;
  const int contacts = contacts_;
  Kokkos::parallel_for(
      "ccp::OrderedTriples::write", range(size()), KOKKOS_LAMBDA(const int t) {
        if (t < contacts) {
          store3(view, order(t), load3(from, t));
        } else {
          store3(view, t, length(t - contacts) * load3(from, t));
        }
      });
  problem.to_contact_axes(view, view);
}

void OrderedTriples::soften(const DeviceArray<const double*>& rho,
                            const DeviceArray<Sym3*>& blocks) const {
  const auto sigma = units_.compliance;
  const bool compliant = compliant_;
  const int contacts = contacts_;
  Kokkos::parallel_for(
      "ccp::OrderedTriples::soften", range(pools_), KOKKOS_LAMBDA(const int j) {
        const double own = rho(contacts + j);
        if (!compliant) {
          blocks(j) = {1 / own, 0, 0, 1 / own, 0, 1 / own};
          return;
        }
        Sym3 stiff = sigma(j);
        stiff.xx += own, stiff.yy += own, stiff.zz += own;
        blocks(j) = inverse(stiff);
      });
}

}  // namespace ccp
