#pragma once

#include <memory>
#include <vector>

#include "problems/model/contact_problem.hpp"
#include "solvers/core/problem.hpp"

namespace ccp {

/// The constraints of problems that do not touch each other, as one: bodies after bodies, contacts
/// after contacts. All in the same form; without what only people need (guesses, references,
/// names).
/// @param problems  of contacts alone, at least one
ContactProblem merge(const std::vector<const ContactProblem*>& problems);

/// Many small problems on the device as one, and where each of them is: all arrays are flat, those
/// of problem k from contact_offset(k) to contact_offset(k + 1), or between its bodies. Problems
/// must outlive it; nothing is allocated for one of them.
class Batch {
 public:
  /// @throws InputError naming the problem that is no part of such a batch (why_not_in_batch), or
  ///         the first that is not in the form of the others
  explicit Batch(const std::vector<const ContactProblem*>& problems);

  int size() const { return static_cast<int>(problems_.size()); }
  const std::vector<const ContactProblem*>& problems() const { return problems_; }
  const ContactProblem& host() const { return *merged_; }
  const Problem& problem() const { return *problem_; }

  /// [size + 1] first contacts and first bodies, on the device and on the host.
  DeviceArray<const int*> contact_offset() const { return contact_offset_; }
  DeviceArray<const int*> body_offset() const { return body_offset_; }
  const std::vector<int>& contact_offsets() const { return contact_offsets_; }
  const std::vector<int>& body_offsets() const { return body_offsets_; }
  /// [contacts] the problem of each.
  DeviceArray<const int*> problem_of() const { return problem_of_; }
  /// [size][2] of each problem q = rms(r), m/s, and s = trace(N) / 3n, 1/kg; 1 where it is zero.
  DeviceArray<const double* [2]> scales() const { return scales_; }
  /// [contacts] trace(N_cc), 1/kg.
  DeviceArray<const double*> trace() const {
    return trace_;
  }

  // Public only because device lambdas may not live in private members.
  void measure_scales();

 private:
  std::vector<const ContactProblem*> problems_;
  std::vector<int> contact_offsets_, body_offsets_;
  std::unique_ptr<ContactProblem> merged_;
  std::unique_ptr<Problem> problem_;
  DeviceArray<int*> contact_offset_, body_offset_, problem_of_;
  DeviceArray<double* [2]> scales_;
  DeviceArray<double*> trace_;
};

/// Most contacts of a problem of a batch: the dense matrix of its bodies belongs to a team.
inline constexpr int most_contacts_in_batch = 200;

/// Why a problem is not solved in a batch, in one sentence; "" if it is: it has too many contacts
/// or bodies, or triples beside the contacts.
std::string why_not_in_batch(const ContactProblem& problem);

}  // namespace ccp
