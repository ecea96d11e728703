// Problems on several ranks. CTest starts this program with mpiexec on 1 to 4 of them; every check
// is of values that all ranks agree about, so that they pass or fail together.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "harness/measure/referee.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/partition/partition.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "solvers/core/mpi_session.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/core/scales.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/distributed/gather.hpp"
#include "solvers/distributed/read_part.hpp"
#include "solvers/registry.hpp"
#include "tests/kokkos_support.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

/// A file that rank 0 writes and all may read, in a folder that they agree on.
class SharedFile {
 public:
  SharedFile(const Ranks& ranks, const ContactProblem& problem) : ranks_(ranks) {
    folder_ = std::filesystem::temp_directory_path() /
              ("ccpbench-distributed-" + std::to_string(getppid()));
    if (ranks.rank() == 0) {
      std::filesystem::create_directories(folder_);
      write_problem(path(), problem, true);
    }
    ranks.sum(0.0);  // nobody reads before it is there
  }
  ~SharedFile() {
    ranks_.sum(0.0);  // nor is it taken from anybody
    std::error_code error;
    if (ranks_.rank() == 0) std::filesystem::remove_all(folder_, error);
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  std::string path() const { return (folder_ / "problem.h5").string(); }

 private:
  Ranks ranks_;
  std::filesystem::path folder_;
};

/// The rows of a whole array that this rank has.
std::vector<double> rows_of(const std::vector<double>& whole, const std::vector<long long>& numbers,
                            std::size_t width) {
  std::vector<double> rows;
  for (const long long number : numbers) {
    const auto row = whole.begin() + static_cast<std::ptrdiff_t>(width) * number;
    rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(width));
  }
  return rows;
}

/// Largest difference on any rank, relative to the largest entry of the whole vector.
double difference(const Ranks& ranks, const std::vector<double>& own,
                  const std::vector<double>& whole, const std::vector<long long>& numbers) {
  const std::vector<double> expected = rows_of(whole, numbers, 3);
  if (own.size() != expected.size()) return ranks.largest(std::nan(""));
  double most = 0, scale = 0;
  for (std::size_t i = 0; i < own.size(); ++i)
    most = std::max(most, std::abs(own[i] - expected[i]));
  for (const double value : whole) scale = std::max(scale, std::abs(value));
  return ranks.largest(scale > 0 ? most / scale : most);
}

/// The answer after a number of iterations, and what the solver says.
Info solve(const std::string& solver, const Problem& problem, long iterations, Vector& gamma) {
  const auto method = make_solver(SolverSpec::parse(solver));
  method->setup(problem);
  IterationLimit limit(iterations);
  return method->solve(gamma, limit);
}

/// Whether ranks find what one process finds, after 1, 10 and 100 iterations. Where a method is as
/// near to the solution as rounding lets it come, rounding decides what it does next.
void check_iterates(const std::string& path, const std::string& solver, double tolerance,
                    long most = 100) {
  const MpiSession mpi;
  const ContactProblem host = read_problem(path);
  const Problem whole(host);
  const ProblemPart part = read_part(path, mpi.world());
  const Problem problem(part.problem, part.distribution);
  for (const long iterations : {1, 10, 100}) {
    if (iterations > most) break;
    INFO(path << ": " << solver << " after " << iterations);
    Vector expected(whole.map(), 1), found(problem.map(), 1);
    const Info info = solve(solver, whole, iterations, expected);
    const Info info_here = solve(solver, problem, iterations, found);
    CHECK(info_here.counters.outer == info.counters.outer);
    // Rounding may end a Krylov method an iteration earlier or later.
    const double applies = static_cast<double>(info.counters.operator_applies);
    CHECK(static_cast<double>(info_here.counters.operator_applies) ==
          Approx(applies).epsilon(0).margin(info.counters.krylov > 0 ? 0.1 * applies : 0));
    CHECK(info_here.own_residual == Approx(info.own_residual).epsilon(1e4 * tolerance));
    CHECK(difference(mpi.world(), to_host(found), to_host(expected), part.distribution.contact) <=
          tolerance);
  }
}

}  // namespace

TEST_CASE("what ranks add up is the same on all of them", "[ranks]") {
  const MpiSession mpi;
  const Ranks& ranks = mpi.world();
  const int size = ranks.size(), rank = ranks.rank();
  CHECK(ranks.sum(1.0) == size);
  CHECK(ranks.sum(static_cast<long long>(rank)) == size * (size - 1) / 2);
  double two[] = {1, static_cast<double>(rank)};
  ranks.sum(two, 2);
  CHECK(two[0] == size);
  CHECK(two[1] == size * (size - 1) / 2);
  CHECK(ranks.largest(-5.0 - rank) == -5);
  CHECK(ranks.sum_before(10) == 10 * rank);
  CHECK(ranks.of_first(100 + rank) == 100);
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(ranks.largest(rank == size - 1 ? not_a_number : 7.0)));
  // The fault of the last rank is everybody's.
  const std::string message = error_of([&] {
    ranks.together([&] {
      if (rank == size - 1) throw InputError("file", "place", "one thing", "another");
    });
  });
  CHECK(message == "file: place: expected one thing, found another");
  CHECK_NOTHROW(ranks.together([] {}));
}

TEST_CASE("every rank reads its part of a problem", "[reading]") {
  const MpiSession mpi;
  const Ranks& ranks = mpi.world();
  RandomShape shape;
  shape.bodies = 40, shape.contacts = 130;
  ContactProblem host = compliant_form(random_problem(shape), 3);
  for (std::size_t k = 0; k < 260; ++k) host.stiffness.push_back(1.0 + static_cast<double>(k));
  host.reference = Reference{random_vector(390, 5), {}, {{"residual", 0.5}}, "made up"};
  const SharedFile file(ranks, host);
  for (const PartitionKind kind : enum_values<PartitionKind>()) {
    INFO(to_string(kind));
    const ProblemPart part = read_part(file.path(), ranks, kind);
    const Distribution& d = part.distribution;
    const ContactProblem& own = part.problem;
    CHECK(d.contacts == 130);
    CHECK(d.bodies == 40);
    CHECK(ranks.sum(static_cast<long long>(d.contact.size())) == 130);
    CHECK(ranks.sum(static_cast<long long>(d.owned_body.size())) == 40);
    CHECK(std::is_sorted(d.contact.begin(), d.contact.end()));
    CHECK(part.hash == host.content_hash());
    CHECK(own.mu == rows_of(host.mu, d.contact, 1));
    CHECK(own.r == rows_of(host.r, d.contact, 3));
    CHECK(own.frame == rows_of(host.frame, d.contact, 9));
    CHECK(own.arm_a == rows_of(host.arm_a, d.contact, 3));
    CHECK(own.arm_b == rows_of(host.arm_b, d.contact, 3));
    CHECK(own.compliance == rows_of(host.compliance, d.contact, 2));
    CHECK(own.stiffness == rows_of(host.stiffness, d.contact, 2));
    CHECK(own.reference->gamma == rows_of(host.reference->gamma, d.contact, 3));
    CHECK(own.reference->method == "made up");
    CHECK(own.reference->measures.at("residual") == 0.5);
    std::vector<long long> bodies = d.owned_body;
    bodies.insert(bodies.end(), d.ghost_body.begin(), d.ghost_body.end());
    CHECK(own.inverse_mass == rows_of(host.inverse_mass, bodies, 1));
    CHECK(own.inverse_inertia == rows_of(host.inverse_inertia, bodies, 9));
    bool same = own.contact_bodies.size() == 2 * d.contact.size();
    for (std::size_t k = 0; same && k < own.contact_bodies.size(); ++k) {
      const std::int32_t expected = host.contact_bodies[2 * d.contact[k / 2] + k % 2];
      const std::int32_t place = own.contact_bodies[k];
      same = place < 0 ? expected == -1 : bodies[place] == expected;
    }
    CHECK(ranks.sum(same ? 0.0 : 1.0) == 0);
  }
  if (ranks.size() == 1) {  // the arrays of read_problem, so that one rank is the ordinary run
    const ProblemPart part = read_part(file.path(), ranks);
    CHECK(part.problem.contact_bodies == host.contact_bodies);
    CHECK(part.problem.inverse_mass == host.inverse_mass);
  }
}

TEST_CASE("ranks come to the partition and the ghosts that one process counts", "[reading]") {
  const MpiSession mpi;
  const Ranks& ranks = mpi.world();
  const ContactProblem host = random_pile(200, 600, 2);
  const SharedFile file(ranks, host);
  const ProblemPart part = read_part(file.path(), ranks);
  const Partition partition = contiguous_partition(host.contact_bodies, 200, ranks.size());
  const auto expected = statistics_of(partition, host.contact_bodies).ranks[ranks.rank()];
  const BodyExchange exchange(part.distribution);
  CHECK(part.distribution.contact.size() == static_cast<std::size_t>(expected.contacts));
  CHECK(exchange.owned() == expected.bodies);
  CHECK(exchange.ghosts() == expected.ghosts);
  // A body that two ranks have as a ghost is one copied row, which goes to both.
  CHECK(exchange.copied() <= expected.copies);
  CHECK((exchange.copied() > 0) == (expected.copies > 0));
  bool same = true;
  for (const long long c : part.distribution.contact) {
    same = same && partition.contact[static_cast<std::size_t>(c)] == ranks.rank();
  }
  for (const long long i : part.distribution.owned_body) {
    same = same && partition.body[static_cast<std::size_t>(i)] == ranks.rank();
  }
  CHECK(same);
}

TEST_CASE("products, sums and scales of ranks are those of one process", "[operator]") {
  const MpiSession mpi;
  const Ranks& ranks = mpi.world();
  RandomShape shape;
  shape.bodies = 30, shape.contacts = 100;
  for (const bool rotates : {false, true}) {
    for (const bool compliant : {false, true}) {
      INFO("rotates " << rotates << ", compliant " << compliant);
      shape.rotates = rotates;
      ContactProblem host = random_problem(shape);
      if (compliant) host = compliant_form(host, 4);
      const SharedFile file(ranks, host);
      const Problem whole(host);
      for (const PartitionKind kind : enum_values<PartitionKind>()) {
        const ProblemPart part = read_part(file.path(), ranks, kind);
        const Problem problem(part.problem, part.distribution);
        CHECK(problem.all_contacts() == 100);
        CHECK(problem.mean_diagonal() == Approx(whole.mean_diagonal()).epsilon(1e-14));
        CHECK(problem.most_neighbours() == whole.most_neighbours());
        CHECK(velocity_scale(problem) == Approx(velocity_scale(whole)).epsilon(1e-14));
        const std::vector<double> x = world_axes(host, random_vector(300, 8));
        const auto numbers = part.distribution.contact;
        const auto in = to_view(rows_of(x, numbers, 3));
        const auto n = problem.delassus();
        const VectorView out("ccp::test::out", in.extent(0));
        n->apply_fused(
            in, KOKKOS_LAMBDA(const int c, const Vec3& d) { store3(out, c, d); });
        const std::vector<double> expected = product_of(*whole.delassus(), x);
        CHECK(difference(ranks, to_host(ConstVectorView(out)), expected, numbers) < 1e-14);
        // Twice, as the work arrays are used again; and by images.
        const auto image = n->make_image("ccp::test::image");
        n->compute_image(in, image);
        CHECK(n->energy(image, in) == Approx(inner(x, expected)).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("impulses of all ranks are gathered in the order of their contacts", "[reading]") {
  const MpiSession mpi;
  const Ranks& ranks = mpi.world();
  const ContactProblem host = random_pile(60, 150, 2);
  const SharedFile file(ranks, host);
  const ProblemPart part = read_part(file.path(), ranks);
  const Problem problem(part.problem, part.distribution);
  const std::vector<double> whole = random_vector(450, 3);
  Vector gamma(problem.map(), 1);
  upload_to(overwrite_view(gamma), rows_of(whole, part.distribution.contact, 3));
  const std::vector<double> gathered = gathered_on_first(gamma);
  CHECK(gathered == (ranks.rank() == 0 ? whole : std::vector<double>()));
}

TEST_CASE("iterates do not depend on the number of ranks", "[solvers]") {
  const MpiSession mpi;
  RandomShape shape;
  shape.bodies = 30, shape.contacts = 60;
  ContactProblem host = random_problem(shape);
  make_feasible(host, 2);
  {
    const SharedFile file(mpi.world(), host);
    check_iterates(file.path(), "pgj", 1e-13);
    check_iterates(file.path(), "apgd", 1e-10);
    check_iterates(file.path(), "bb", 1e-8);  // whose lengths amplify what rounding does
    for (const char* const method : {"cg", "bicgstab", "gmres"}) {
      const std::string solver = "ipm[krylov=" + std::string(method);
      check_iterates(file.path(), solver + "]", 1e-9, 1);
      check_iterates(file.path(), solver + ",krylov_tolerance=1e-12]", 1e-7, 10);
    }
    check_iterates(file.path(), "ipm[preconditioner=none,krylov_tolerance=1e-12]", 1e-7, 10);
  }
  const SharedFile compliant(mpi.world(), compliant_form(host, 7));
  check_iterates(compliant.path(), "pgj", 1e-13);
  check_iterates(compliant.path(), "apgd", 1e-10);
  check_iterates(compliant.path(), "ipm[krylov_tolerance=1e-12]", 1e-7, 10);
}

TEST_CASE("pgj's iterates on Test Problem 3 agree to 1e-13", "[solvers]") {
  check_iterates(resolve_problem("test-problem-3"), "pgj", 1e-13);
}

namespace {

/// Whether the referee of ranks says what that of one process says, and the solvers get there.
void check_solved(const ContactProblem& host) {
  const MpiSession mpi;
  const SharedFile file(mpi.world(), host);
  const Problem whole(host);
  Referee referee(whole);
  const ProblemPart part = read_part(file.path(), mpi.world());
  const Problem problem(part.problem, part.distribution);
  const ProblemPart numbered = read_part(file.path(), mpi.world(), PartitionKind::by_number);
  const Problem judged(numbered.problem, numbered.distribution);
  Referee shared_referee(judged);
  Redistribution to_referee(problem.map(), judged.map());
  for (const char* const solver :
       {"apgd[tolerance=1e-10]", "bb[tolerance=1e-10]", "ipm[krylov_tolerance=1e-8]"}) {
    INFO(solver);
    Vector gamma(problem.map(), 1);
    const Info info = solve(solver, problem, 5000, gamma);
    CHECK(info.status == Status::converged);
    const Measures found = shared_referee.measure(to_referee(gamma));
    CHECK(found[Measure::residual] < 1e-8);
    std::vector<double> everywhere(3 * host.contacts(), 0.0);
    const std::vector<double> own = to_host(gamma);
    for (std::size_t i = 0; i < own.size(); ++i) {
      everywhere[3 * part.distribution.contact[i / 3] + i % 3] = own[i];
    }
    mpi.world().sum(everywhere.data(), static_cast<int>(everywhere.size()));
    const Measures expected = referee.measure(*to_vector(everywhere));
    for (const Measure m : all_measures()) {
      INFO(name_of(m));
      if (std::isnan(expected[m])) {
        CHECK(std::isnan(found[m]));
      } else {
        // `energy` is the root of what is rounding in part.
        CHECK(found[m] == Approx(expected[m]).epsilon(1e-4).margin(1e-12));
      }
    }
  }
}

}  // namespace

TEST_CASE("distributed solvers reach a residual of 1e-8", "[solvers]") {
  check_solved(make_scene("hyperstatic-table"));
  check_solved(random_pile(40, 30, 3));
}

// Three spheres on a floor, one contact each: on four ranks one has neither contact nor body.
TEST_CASE("ranks may have no contacts and no bodies", "[solvers]") {
  const MpiSession mpi;
  const Ranks& ranks = mpi.world();
  RandomShape shape;
  shape.bodies = 3, shape.contacts = 12;
  for (const bool rotates : {false, true}) {
    shape.rotates = rotates;
    ContactProblem host = random_problem(shape);
    make_feasible(host, 5);
    const SharedFile file(ranks, host);
    const ProblemPart part = read_part(file.path(), ranks);
    const bool idle = part.distribution.contact.empty();
    if (ranks.size() == 4) CHECK(ranks.sum(idle ? 1.0 : 0.0) > 0);
    CHECK(part.problem.rotates() == rotates);
    check_iterates(file.path(), "pgj", 1e-13);
    check_iterates(file.path(), "apgd", 1e-9, 10);
    check_iterates(file.path(), "ipm[krylov_tolerance=1e-12]", 1e-7, 10);
    const SharedFile compliant(ranks, compliant_form(host, 6));
    check_iterates(compliant.path(), "apgd", 1e-9, 10);
    check_iterates(compliant.path(), "bb", 1e-8, 10);
  }
}

TEST_CASE("bad input that a solver finds in the part of one rank is that of all", "[solvers]") {
  const MpiSession mpi;
  RandomShape shape;
  shape.bodies = 3, shape.contacts = 12;
  const SharedFile file(mpi.world(), random_problem(shape));
  const ProblemPart part = read_part(file.path(), mpi.world());
  const Problem problem(part.problem, part.distribution);
  // A rank without contacts misses no stiffness.
  const auto solver = make_solver(SolverSpec::parse("ipm[regularization=elastic]"));
  check_parts(error_of([&] { solver->setup(problem); }), {"expected contact stiffnesses and dt"});
}

TEST_CASE("what cannot be spread over ranks is refused by all of them", "[reading]") {
  const MpiSession mpi;
  const Ranks& ranks = mpi.world();
  const auto refusal = [&](const std::string& path) {
    return error_of([&] { read_part(path, ranks); });
  };
  check_parts(refusal("nowhere.h5"), {"nowhere.h5", "no such file"});
  const ContactProblem stack = make_scene("stack");
  {
    const SharedFile file(ranks, assembled_form(stack));
    check_parts(refusal(file.path()), {"expected bodies", "spread over ranks", "found assembled"});
  }
  const SharedFile file(ranks, stack);
  CHECK(error_of([&] { check_for_ranks(file.path(), 99); }) ==
        file.path() + ": contacts: expected at least as many as ranks, 99, found " +
            std::to_string(stack.contacts()));
  CHECK_NOTHROW(check_for_ranks(file.path(), 1));
  const ProblemPart part = read_part(file.path(), ranks.size() <= 3 ? ranks : Ranks());
  CHECK(part.distribution.contacts == static_cast<long long>(stack.contacts()));
}
