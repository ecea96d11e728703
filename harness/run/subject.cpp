#include "harness/run/subject.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "problems/formats/problem_file.hpp"
#include "solvers/core/scales.hpp"
#include "solvers/core/stopwatch.hpp"
#include "solvers/distributed/gather.hpp"
#include "solvers/distributed/read_part.hpp"

namespace ccp {
namespace {

using Clock = std::chrono::steady_clock;

/// A problem that one process has.
class WholeProblem : public Subject {
 public:
  WholeProblem(const std::string& path, double& seconds) : host_(read_problem(path)) {
    fence();
    const auto start = Clock::now();
    problem_ = std::make_unique<Problem>(host_);
    fence();
    seconds = seconds_since(start);
    referee_ = std::make_unique<Referee>(*problem_);
  }
  const ContactProblem& host() const override { return host_; }
  const Problem& problem() const override { return *problem_; }
  Measures judge(const Vector& gamma) override { return referee_->measure(gamma); }
  RunResult describe(const RunRequest& request, const std::string& command_line) const override {
    return ccp::describe(request, host_, command_line);
  }

 private:
  ContactProblem host_;
  std::unique_ptr<Problem> problem_;
  std::unique_ptr<Referee> referee_;
};

/// descriptors() of the problem that ranks share.
std::vector<std::pair<std::string, double>> descriptors_of(const ProblemPart& part,
                                                           const Problem& problem) {
  const ContactProblem& host = part.problem;
  const Distribution& distribution = part.distribution;
  const Ranks& ranks = distribution.ranks;
  const auto n = static_cast<double>(distribution.contacts);
  const auto bodies = static_cast<double>(distribution.bodies);
  const auto infinity = std::numeric_limits<double>::infinity();
  const double freedom = bodies * (host.rotates() ? 6 : 3);
  double ground = 0, mu_min = infinity, mu_max = 0, light = 0, heavy = infinity;
  for (std::size_t c = 0; c < host.contacts(); ++c) {
    if (std::min(host.contact_bodies[2 * c], host.contact_bodies[2 * c + 1]) < 0) ++ground;
    mu_min = std::min(mu_min, host.mu[c]);
    mu_max = std::max(mu_max, host.mu[c]);
  }
  for (const double w : host.inverse_mass) {
    if (w <= 0) continue;
    light = std::max(light, w);
    heavy = std::min(heavy, w);
  }
  ground = ranks.sum(ground);
  mu_min = -ranks.largest(-mu_min);
  mu_max = ranks.largest(mu_max);
  light = ranks.largest(light);
  heavy = -ranks.largest(-heavy);
  return {{"bodies", bodies},
          {"contacts", n},
          {"ground_contacts", ground},
          {"unknowns", 3 * n},
          {"degrees_of_freedom", freedom},
          {"rank_at_most", std::min(3 * n, freedom)},
          {"mu_min", mu_min},
          {"mu_max", mu_max},
          {"mass_ratio", light > 0 ? light / heavy : 0},
          {"contacts_per_body_mean", bodies > 0 ? (2 * n - ground) / bodies : 0},
          {"contacts_per_body_most", problem.most_neighbours()},
          {"rms_r", root_mean_square_of_r(problem)},
          {"dt", host.dt}};
}

/// This rank's part of a problem, and the part of it that the referee has here.
class SharedProblem : public Subject {
 public:
  SharedProblem(const std::string& path, const Ranks& ranks, double& seconds)
      : part_(read_part(path, ranks)), referees_(read_part(path, ranks, PartitionKind::by_number)) {
    fence();
    const auto start = Clock::now();
    problem_ = std::make_unique<Problem>(part_.problem, part_.distribution);
    fence();
    seconds = ranks.of_first(seconds_since(start));
    judged_ = std::make_unique<Problem>(referees_.problem, referees_.distribution);
    referee_ = std::make_unique<Referee>(*judged_);
    to_referee_ = std::make_unique<Redistribution>(problem_->map(), judged_->map());
  }
  const ContactProblem& host() const override { return part_.problem; }
  const Problem& problem() const override { return *problem_; }
  Measures judge(const Vector& gamma) override { return referee_->measure((*to_referee_)(gamma)); }
  RunResult describe(const RunRequest& request, const std::string& command_line) const override {
    RunResult result = ccp::describe(request, part_.problem, command_line);
    result.instance_hash = part_.hash;
    result.contacts = static_cast<long>(part_.distribution.contacts);
    result.bodies = static_cast<long>(part_.distribution.bodies);
    result.descriptors = descriptors_of(part_, *problem_);
    result.provenance.ranks = part_.distribution.ranks.size();
    return result;
  }

 private:
  ProblemPart part_, referees_;
  std::unique_ptr<Problem> problem_, judged_;
  std::unique_ptr<Referee> referee_;
  std::unique_ptr<Redistribution> to_referee_;
};

}  // namespace

std::unique_ptr<Subject> read_subject(const RunRequest& request, const Ranks& ranks,
                                      double& seconds) {
  if (ranks.size() == 1) return std::make_unique<WholeProblem>(request.problem_file, seconds);
  return std::make_unique<SharedProblem>(request.problem_file, ranks, seconds);
}

}  // namespace ccp
