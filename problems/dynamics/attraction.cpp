#include "problems/dynamics/attraction.hpp"

#include "problems/dynamics/body_contacts.hpp"
#include "problems/model/constraint_math.hpp"

namespace ccp {
namespace {

void add_to_triple(std::vector<double>& values, std::size_t k, const Vec3& more) {
  set_triple(values, k, triple(values, k) + more);
}

}  // namespace

OptionList& add_attraction_options(OptionList& list, Attraction& attraction) {
  using Range = OptionList::Range;
  return list
      .number("cohesion", attraction.force, Range::at_least(0), "Force that holds each contact, N")
      .number("cohesion_reach", attraction.reach, Range::positive(), "Largest gap it acts over, m");
}

void add_attraction(const Bodies& bodies, const Attraction& attraction,
                    std::vector<double>* on_bodies, std::vector<double>* on_obstacles) {
  if (!attraction.acts()) return;
  const auto pull = [&](std::int32_t body, const Vec3& point, const Vec3& force) {
    if (on_bodies == nullptr) return;
    const auto i = static_cast<std::size_t>(body);
    add_to_triple(*on_bodies, 2 * i, force);
    add_to_triple(*on_bodies, 2 * i + 1, cross(point - bodies.placed_at(i), force));
  };
  for (const BodyContact& contact : find_body_contacts(bodies, attraction.reach, 0)) {
    const Vec3 towards_b = attraction.force * contact.normal;
    pull(contact.b, contact.point, -1.0 * towards_b);
    if (contact.obstacle < 0) {
      pull(contact.a, contact.point, towards_b);
    } else if (on_obstacles != nullptr) {
      add_to_triple(*on_obstacles, static_cast<std::size_t>(contact.obstacle), towards_b);
    }
  }
}

}  // namespace ccp
