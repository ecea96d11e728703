#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "problems/base/error.hpp"
#include "problems/model/contact_problem.hpp"

namespace ccp::test {

/// A folder of its own for one test case, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Full path of a file in it.
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }
  /// Names of what lies in it, sorted.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

void write_text(const std::string& path, const std::string& text);
std::string read_text(const std::string& path);

/// The message of the InputError that `work` throws; the test fails if it throws none.
template <class Work>
std::string error_of(const Work& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  FAIL("no InputError was thrown");
  return "";
}

/// Fails unless the message begins so.
void check_begins(const std::string& message, const std::string& beginning);

/// Fails unless every part is in the message.
void check_parts(const std::string& message, const std::vector<std::string>& parts);

/// The top folder of the source tree, also on another machine (root_folder()).
std::string source_folder();

/// The folder of data that is not in the repository: $CCPBENCH_SHARED or ../shared beside it.
std::filesystem::path shared_folder();

// ---- problems and their dense counterparts -----------------------------------------------------

/// Shape of a random problem in bodies form.
struct RandomShape {
  std::size_t bodies = 5, contacts = 12;
  bool rotates = true;
  bool frictionless_contacts = true;  ///< every fifth contact has mu = 0
  unsigned seed = 1;
};

/// Random masses, full inertia tensors, arms and frames; contacts with immovable bodies on either
/// side, several per pair, and one body of infinite mass (zero inverse mass and inertia).
ContactProblem random_problem(const RandomShape& shape);

/// Replaces r so that the problem has a solution: r = u - N gamma with random gamma and u inside
/// K*.
void make_feasible(ContactProblem& problem, unsigned seed);

/// N = J M^-1 J^T + Sigma, dense [3n][3n] row-major, from the definition
///     u = frame (v_B + w_B x arm_b - v_A - w_A x arm_a) + Sigma gamma.
std::vector<double> dense_delassus(const ContactProblem& problem);

/// Body velocities M^-1 J^T gamma, [m][6].
std::vector<double> dense_body_velocities(const ContactProblem& problem,
                                          const std::vector<double>& gamma);

/// The same problem with random compliances, tangential ones far smaller; every fourth contact has
/// none.
ContactProblem compliant_form(ContactProblem problem, unsigned seed);

/// The same problem with N written out.
ContactProblem assembled_form(const ContactProblem& bodies);

/// A dense matrix [3n][3n] in 3x3 blocks; those of zeros are left out, but for the diagonal ones.
BlockMatrix blocks_of(const std::vector<double>& matrix, std::size_t n);

/// y = A x for a dense row-major matrix.
std::vector<double> multiply(const std::vector<double>& a, const std::vector<double>& x);

/// A loose pile of spheres of radius 8 to 16 mm with its `contacts` nearest pairs, under gravity.
ContactProblem random_pile(std::size_t spheres, std::size_t contacts, unsigned seed);

std::vector<double> random_vector(std::size_t size, unsigned seed);

/// a . b.
double inner(const std::vector<double>& a, const std::vector<double>& b);

/// Largest absolute difference relative to the largest absolute value of b.
double relative_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace ccp::test
