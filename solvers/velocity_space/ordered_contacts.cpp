#include "solvers/velocity_space/ordered_contacts.hpp"

#include "solvers/core/scales.hpp"

namespace ccp {
namespace {

void fill(const OrderedContacts& contacts, const Problem& problem) {
  const auto normal = problem.normal();
  const auto mu = problem.mu();
  const auto block = problem.shared_delassus().diagonal_blocks();
  const double typical = problem.delassus_scale();
  const OrderedContacts own = contacts;
  Kokkos::parallel_for(
      "ccp::OrderedContacts::fill", range(problem.contacts()), KOKKOS_LAMBDA(const int c) {
        const int i = own.order(c);
        for (int k = 0; k < 3; ++k) own.normal(c, k) = normal(i, k);
        own.mu(c) = mu(i);
        const double mean = (block(i, 0, 0) + block(i, 1, 1) + block(i, 2, 2)) / 3;
        own.scale(c) = mean > 0 ? mean : typical;  // two bodies without motion
      });
}

}  // namespace

OrderedContacts::OrderedContacts(const Problem& problem, const DeviceArray<const int*>& numbers)
    : order(numbers),
      normal("ccp::OrderedContacts::normal", problem.contacts()),
      mu("ccp::OrderedContacts::mu", problem.contacts()),
      scale("ccp::OrderedContacts::scale", problem.contacts()),
      r("ccp::OrderedContacts::r", 3 * static_cast<std::size_t>(problem.contacts())) {
  fill(*this, problem);
  take_free_velocity(problem);
}

void OrderedContacts::take_free_velocity(const Problem& problem) {
  gather(problem.r(), r);
  q = velocity_scale(problem);
}

void OrderedContacts::gather(const ConstVectorView& from, const VectorView& to) const {
  const auto numbers = order;
  Kokkos::parallel_for(
      "ccp::OrderedContacts::gather", range(size()),
      KOKKOS_LAMBDA(const int c) { store3(to, c, load3(from, numbers(c))); });
}

void OrderedContacts::scatter(const ConstVectorView& from, const VectorView& to) const {
  const auto numbers = order;
  Kokkos::parallel_for(
      "ccp::OrderedContacts::scatter", range(size()),
      KOKKOS_LAMBDA(const int c) { store3(to, numbers(c), load3(from, c)); });
}

void OrderedContacts::write(const Problem& problem, const ConstVectorView& from, Vector& to) const {
  const VectorView view = overwrite_view(to);
  scatter(from, view);
  problem.to_contact_axes(view, view);
}

}  // namespace ccp
