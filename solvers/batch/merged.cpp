#include "solvers/batch/merged.hpp"

#include <fmt/format.h>

#include "problems/base/error.hpp"
#include "solvers/batch/team.hpp"
#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// The same, or as many zeros where the problem has none of it and another one does.
void append_or_zeros(std::vector<double>& to, const std::vector<double>& from, std::size_t size,
                     bool wanted) {
  if (!wanted) return;
  if (from.empty()) {
    to.resize(to.size() + size, 0.0);
  } else {
    append(to, from);
  }
}

void append_blocks(BlockMatrix& to, const BlockMatrix& from, int first_contact) {
  if (to.row_offsets.empty()) to.row_offsets.push_back(0);
  const std::int64_t first = to.row_offsets.back();
  for (std::size_t c = 1; c < from.row_offsets.size(); ++c) {
    to.row_offsets.push_back(first + from.row_offsets[c]);
  }
  for (const std::int32_t column : from.columns) to.columns.push_back(first_contact + column);
  append(to.blocks, from.blocks);
}

}  // namespace

ContactProblem merge(const std::vector<const ContactProblem*>& problems) {
  ContactProblem all;
  all.name = "batch";
  all.form = problems.front()->form;
  bool rotates = false, compliant = false;
  std::size_t contacts = 0, bodies = 0;
  for (const ContactProblem* problem : problems) {
    rotates = rotates || problem->rotates();
    compliant = compliant || problem->is_compliant();
    contacts += problem->contacts();
    bodies += problem->bodies();
  }
  // What grows would be moved again and again; this is half of the time.
  all.r.reserve(3 * contacts);
  all.mu.reserve(contacts);
  all.contact_bodies.reserve(2 * contacts);
  all.frame.reserve(9 * contacts);
  all.inverse_mass.reserve(bodies);
  if (compliant) all.compliance.reserve(2 * contacts);
  if (rotates) {
    all.inverse_inertia.reserve(9 * bodies);
    all.arm_a.reserve(3 * contacts);
    all.arm_b.reserve(3 * contacts);
  }
  for (const ContactProblem* problem : problems) {
    const std::size_t n = problem->contacts(), m = problem->bodies();
    const auto first_contact = static_cast<int>(all.contacts()),
               first_body = static_cast<int>(all.bodies());
    append(all.r, problem->r);
    append(all.mu, problem->mu);
    append_or_zeros(all.compliance, problem->compliance, 2 * n, compliant);
    append(all.inverse_mass, problem->inverse_mass);
    append_or_zeros(all.inverse_inertia, problem->inverse_inertia, 9 * m, rotates);
    for (const std::int32_t body : problem->contact_bodies) {
      all.contact_bodies.push_back(body < 0 ? body : first_body + body);
    }
    append(all.frame, problem->frame);
    append_or_zeros(all.arm_a, problem->arm_a, 3 * n, rotates);
    append_or_zeros(all.arm_b, problem->arm_b, 3 * n, rotates);
    if (all.form == ContactProblem::Form::assembled) {
      append_blocks(all.delassus, problem->delassus, first_contact);
    }
  }
  return all;
}

std::string why_not_in_batch(const ContactProblem& problem) {
  if (problem.contacts() > most_contacts_in_batch) {
    return fmt::format("it has {} contacts, and a problem of a batch at most {}",
                       problem.contacts(), most_contacts_in_batch);
  }
  if (problem.bodies() > 2 * most_contacts_in_batch) {
    return fmt::format("it has {} bodies, and a problem of a batch at most {}", problem.bodies(),
                       2 * most_contacts_in_batch);
  }
  if (problem.has(ConstraintKind::rolling))
    return "it has rolling resistance, and a batch takes none";
  if (problem.has(ConstraintKind::equality)) {
    return "it has equality constraints, and a batch takes none";
  }
  return "";
}

Batch::Batch(const std::vector<const ContactProblem*>& problems) : problems_(problems) {
  if (problems.empty()) throw InputError("batch", "", "at least one problem", "none");
  contact_offsets_.push_back(0);
  body_offsets_.push_back(0);
  for (const ContactProblem* problem : problems) {
    if (const std::string reason = why_not_in_batch(*problem); !reason.empty()) {
      throw InputError("batch", problem->name, "a problem that fits into a batch", reason);
    }
    if (problem->form != problems.front()->form) {
      throw InputError("batch", problem->name,
                       "a problem in " + to_string(problems.front()->form) + " form, as that of " +
                           problems.front()->name,
                       to_string(problem->form) + " form");
    }
    contact_offsets_.push_back(contact_offsets_.back() + static_cast<int>(problem->contacts()));
    body_offsets_.push_back(body_offsets_.back() + static_cast<int>(problem->bodies()));
  }
  merged_ = std::make_unique<ContactProblem>(merge(problems));
  problem_ = std::make_unique<Problem>(*merged_);
  const auto rows = static_cast<std::size_t>(size()) + 1;
  contact_offset_ = upload<DeviceArray<int*>>("ccp::Batch::contact_offset", contact_offsets_, rows);
  body_offset_ = upload<DeviceArray<int*>>("ccp::Batch::body_offset", body_offsets_, rows);
  std::vector<int> problem_of;
  problem_of.reserve(contact_offsets_.back());
  for (int k = 0; k < size(); ++k) problem_of.resize(contact_offsets_[k + 1], k);
  problem_of_ = upload<DeviceArray<int*>>("ccp::Batch::problem_of", problem_of, problem_of.size());
  scales_ = DeviceArray<double* [2]>("ccp::Batch::scales", size());
  trace_ = DeviceArray<double*>(to_be_filled("ccp::Batch::trace"), contact_offsets_.back());
  measure_scales();
}

void Batch::measure_scales() {
  const auto offset = contact_offset_;
  const auto scales = scales_;
  const auto traces = trace_;
  const auto r = problem_->r();
  const auto blocks = problem_->shared_delassus().diagonal_blocks();
  Kokkos::parallel_for(
      "ccp::Batch::scales", range(size()), KOKKOS_LAMBDA(const int k) {
        double squares = 0, trace = 0;
        for (int c = offset(k); c < offset(k + 1); ++c) {
          const Vec3 own = load3(r, c);
          squares += dot(own, own);
          traces(c) = blocks(c, 0, 0) + blocks(c, 1, 1) + blocks(c, 2, 2);
          trace += traces(c);
        }
        const double rows = 3.0 * (offset(k + 1) - offset(k));
        scales(k, 0) = squares > 0 ? sqrt(squares / rows) : 1;
        scales(k, 1) = trace > 0 ? trace / rows : 1;
      });
}

}  // namespace ccp
