#include "problems/model/repeated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "problems/base/error.hpp"

namespace ccp {
namespace {

template <class T>
void append(std::vector<T>& all, const std::vector<T>& one) {
  all.insert(all.end(), one.begin(), one.end());
}

}  // namespace

ContactProblem repeated(const ContactProblem& one, int copies) {
  const std::string where = "problem " + one.name;
  if (one.form != ContactProblem::Form::bodies || one.triples() != one.contacts()) {
    throw InputError(where, "form", "bodies, with contacts alone", "another one");
  }
  if (copies < 1) throw InputError(where, "copies", "1 or more", std::to_string(copies));
  // Unknowns have 32-bit numbers: three a contact, up to six a body.
  const auto limit = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() / 6);
  const std::size_t largest = std::max(one.contacts(), one.bodies());
  if (largest * static_cast<std::size_t>(copies) > limit) {
    throw InputError(where, fmt::format("{} copies", copies),
                     fmt::format("at most {} contacts and bodies", limit),
                     fmt::format("{}", largest * static_cast<std::size_t>(copies)));
  }
  ContactProblem all;
  all.name = fmt::format("{} x {}", one.name, copies);
  all.dt = one.dt;
  all.gravity = one.gravity;
  for (int copy = 0; copy < copies; ++copy) {
    append(all.r, one.r);
    append(all.mu, one.mu);
    append(all.compliance, one.compliance);
    append(all.frame, one.frame);
    append(all.arm_a, one.arm_a);
    append(all.arm_b, one.arm_b);
    append(all.inverse_mass, one.inverse_mass);
    append(all.inverse_inertia, one.inverse_inertia);
    append(all.position, one.position);
    const auto first = static_cast<std::int32_t>(static_cast<std::size_t>(copy) * one.bodies());
    for (const std::int32_t body : one.contact_bodies) {
      all.contact_bodies.push_back(body < 0 ? body : first + body);
    }
  }
  return all;
}

}  // namespace ccp
