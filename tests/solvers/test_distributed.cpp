// Problems on several ranks. CTest starts this program with mpiexec on 1 to 4 of them; every check
// is of values that all ranks agree about, so that they pass or fail together.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include "harness/measure/recorder.hpp"
#include "harness/measure/referee.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/partition/partition.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "solvers/core/mpi_session.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/core/rank_times.hpp"
#include "solvers/core/scales.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/distributed/gather.hpp"
#include "solvers/distributed/overlap.hpp"
#include "solvers/distributed/read_part.hpp"
#include "solvers/distributed/subparts.hpp"
#include "solvers/registry.hpp"
#include "solvers/velocity_space/distributed_system.hpp"
#include "solvers/velocity_space/make_system.hpp"
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
                  const std::vector<double>& whole, const std::vector<long long>& numbers,
                  std::size_t width = 3) {
  const std::vector<double> expected = rows_of(whole, numbers, width);
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
  CHECK(two[1] == 0.5 * size * (size - 1));
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

TEST_CASE("what ranks spend with each other is counted, without looks", "[ranks]") {
  const MpiSession mpi;
  const Ranks& ranks = mpi.world();
  const bool alone = ranks.size() == 1;
  rank_times() = {};
  ranks.sum(1.0);
  ranks.largest(1.0);
  ranks.of_first(1.0);
  CHECK(ranks.sum(static_cast<double>(rank_times().reductions)) == (alone ? 0 : 3 * ranks.size()));

  const SharedFile file(ranks, random_pile(200, 600, 2));
  const ProblemPart part = read_part(file.path(), ranks);
  const Problem problem(part.problem, part.distribution);
  // One judge talks with the other ranks, and the other does not.
  std::vector<RankTimes> spent;
  for (const bool talks : {false, true}) {
    RecorderOptions options;
    options.stop = {};
    options.iteration_limit = 30;
    options.free_iterations = 1000;
    options.growth = 1;  // look at every iterate
    int looks = 0;
    Recorder recorder(problem.map(), options, [&](const Vector& gamma) {
      ++looks;
      for (int k = 0; talks && k < 100; ++k) ranks.sum(1.0);
      Vector d(gamma.getMap(), 1);
      if (talks) problem.delassus()->apply(gamma, d);
      return Measures(1);
    });
    const auto method = make_solver(SolverSpec::parse("pgj[tolerance=0]"));
    method->setup(problem);
    Vector gamma(problem.map(), 1);
    const auto start = std::chrono::steady_clock::now();
    recorder.start();
    const Info info = method->solve(gamma, recorder);
    recorder.finish(info, gamma);
    CHECK(looks > 30);
    spent.push_back(recorder.spent_with_ranks());
    const RankTimes& times = spent.back();
    CHECK(times.exchanges == (alone ? 0 : info.counters.operator_applies));
    CHECK((times.reductions > 0) == !alone);
    CHECK((times.exchange > 0) == !alone);
    CHECK((times.reduction > 0) == !alone);
    CHECK(times.exchange + times.reduction < seconds_since(start));
  }
  CHECK(spent[0].reductions == spent[1].reductions);
  CHECK(spent[0].exchanges == spent[1].exchanges);
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

namespace {

/// Bodies at most so many contacts from some, over bodies that are no hubs.
std::set<long long> around(const ContactProblem& host, std::set<long long> bodies, int layers) {
  const std::vector<std::int64_t> contacts = contacts_of_bodies(host.contact_bodies, host.bodies());
  const auto is_hub = [&](std::int32_t body) { return contacts[body] > 100; };
  for (int layer = 0; layer < layers; ++layer) {
    std::set<long long> next = bodies;
    for (std::size_t k = 0; k < 2 * host.contacts(); ++k) {
      const std::int32_t here = host.contact_bodies[k], there = host.contact_bodies[k ^ 1];
      if (here < 0 || there < 0 || is_hub(here) || is_hub(there)) continue;
      if (bodies.count(here) > 0) next.insert(there);
    }
    bodies = next;
  }
  return bodies;
}

/// Of a rank by read_part.
std::set<long long> bodies_of(const ContactProblem& host, int rank, int ranks) {
  const Partition partition = contiguous_partition(host.contact_bodies, host.bodies(), ranks);
  std::set<long long> bodies;
  for (std::size_t i = 0; i < host.bodies(); ++i) {
    if (partition.body[i] == rank) bodies.insert(static_cast<long long>(i));
  }
  return bodies;
}

/// What a rank reaches into others, and which bodies these should be.
struct Reach {
  ProblemPart part;
  OverlappedPart found;
  std::set<long long> expected;
  std::vector<long long> bodies;  ///< the same, as `found` should have them

  Reach(const ContactProblem& host, const Ranks& ranks, int layers)
      : part(read_part(SharedFile(ranks, host).path(), ranks)),
        found(overlapped_part(part.problem, part.distribution, layers)),
        bodies(part.distribution.owned_body) {
    const std::set<long long> owned(bodies.begin(), bodies.end());
    expected = around(host, owned, layers);
    std::set_difference(expected.begin(), expected.end(), owned.begin(), owned.end(),
                        std::back_inserter(bodies));
  }
};

void check_overlap(const ContactProblem& host, int layers) {
  const MpiSession mpi;
  const Ranks& ranks = mpi.world();
  const Reach reach(host, ranks, layers);
  const Distribution& d = reach.part.distribution;
  const std::set<long long>& expected = reach.expected;
  const std::vector<long long>& bodies = reach.bodies;
  std::vector<long long> contacts = d.contact;
  const auto touches = [&](long long c) {
    return expected.count(host.contact_bodies[2 * c]) > 0 ||
           expected.count(host.contact_bodies[2 * c + 1]) > 0;
  };
  for (long long c = 0; c < d.contacts; ++c) {
    const bool own = std::binary_search(d.contact.begin(), d.contact.end(), c);
    if (!own && touches(c)) contacts.push_back(c);
  }
  const ContactProblem& problem = reach.found.problem;
  bool same = problem.inverse_mass == rows_of(host.inverse_mass, bodies, 1) &&
              problem.contacts() == contacts.size();
  if (host.rotates()) {
    same = same && problem.inverse_inertia == rows_of(host.inverse_inertia, bodies, 9) &&
           problem.arm_a == rows_of(host.arm_a, contacts, 3) &&
           problem.arm_b == rows_of(host.arm_b, contacts, 3);
  }
  for (std::size_t k = 0; same && k < 2 * contacts.size(); ++k) {
    const std::int32_t body = host.contact_bodies[2 * contacts[k / 2] + k % 2],
                       place = problem.contact_bodies[k];
    same = place < 0 ? expected.count(body) == 0 : bodies[place] == body;
  }
  CHECK(ranks.sum(same ? 0.0 : 1.0) == 0);
}

}  // namespace

TEST_CASE("a part reaches so many contacts into those of other ranks", "[reading]") {
  RandomShape shape;
  shape.bodies = 40, shape.contacts = 60;
  for (const int layers : {0, 1, 3}) {
    INFO(layers << " layers");
    check_overlap(random_problem(shape), layers);
    check_overlap(random_pile(200, 600, 2), layers);
  }
  ContactProblem plate = random_pile(200, 600, 2);  // body 0 below 150 others
  for (std::int32_t c = 0; c < 150; ++c) {
    plate.contact_bodies[2 * c] = 0;
    plate.contact_bodies[2 * c + 1] = c + 1;
  }
  check_overlap(plate, 2);
}

namespace {

/// Whether the pieces of all ranks are those that one process finds, by bodies and by what is
/// around them.
void check_subparts(const ContactProblem& host, int all_parts, int layers) {
  const MpiSession mpi;
  const Ranks& ranks = mpi.world();
  const Reach reach(host, ranks, layers);
  const std::vector<long long>& number = reach.bodies;
  const int of_rank = all_parts / ranks.size();
  int wrong = 0;
  long long bodies = 0;
  std::vector<Subpart> found = subparts(reach.found, reach.part.distribution, of_rank, layers);
  auto next = found.begin();
  for (int p = 0; p < of_rank; ++p) {
    const std::set<long long> own = bodies_of(host, ranks.rank() * of_rank + p, all_parts);
    if (own.empty()) continue;  // there are no pieces without bodies
    if (next == found.end()) {
      ++wrong;
      break;
    }
    const Subpart& piece = *next++;
    std::set<long long> first, all;
    for (std::size_t i = 0; i < piece.bodies.size(); ++i) {
      const long long body = number.at(static_cast<std::size_t>(piece.bodies[i]));
      all.insert(body);
      if (static_cast<int>(i) < piece.own) first.insert(body);
    }
    if (first != own || all != around(host, own, layers)) ++wrong;
    // Every contact of its bodies is there, and no other; its rows are those of its bodies.
    std::size_t contacts = 0;
    for (std::size_t c = 0; c < host.contacts(); ++c) {
      const bool touches = all.count(host.contact_bodies[2 * c]) > 0 ||
                           all.count(host.contact_bodies[2 * c + 1]) > 0;
      contacts += touches ? 1 : 0;
    }
    if (piece.problem.contacts() != contacts) ++wrong;
    std::vector<long long> numbers;
    for (const int body : piece.bodies) numbers.push_back(number[static_cast<std::size_t>(body)]);
    if (piece.problem.inverse_mass != rows_of(host.inverse_mass, numbers, 1)) ++wrong;
    bodies += piece.own;
  }
  if (next != found.end()) ++wrong;
  CHECK(ranks.sum(static_cast<long long>(wrong)) == 0);
  CHECK(ranks.sum(bodies) == static_cast<long long>(host.bodies()));
}

}  // namespace

TEST_CASE("pieces of ranks are the same whatever the number of ranks", "[reading]") {
  for (const int layers : {0, 2}) {
    check_subparts(random_pile(200, 600, 2), 12, layers);
    RandomShape shape;
    shape.bodies = 40, shape.contacts = 60;
    check_subparts(random_problem(shape), 12, layers);
  }
  RandomShape few;
  few.bodies = 3, few.contacts = 12;  // pieces without bodies
  check_subparts(random_problem(few), 12, 1);
}

namespace {

/// K of a contact with that number in the whole problem: as good as random, positive definite.
Sym3 block_of_contact(long long number, double scale) {
  const std::vector<double> g = random_vector(9, static_cast<unsigned>(number) + 1);
  return symmetric([&](int i, int j) {
    double sum = i == j ? 0.1 : 0;
    for (int k = 0; k < 3; ++k) sum += g[3 * i + k] * g[3 * j + k];
    return scale * sum;
  });
}

/// @param scale  of all blocks
void assemble(VelocitySystem& system, const Problem& problem, double scale = 1) {
  const std::vector<int> order = download(system.contact_order());
  const DeviceArray<Sym3*> k("ccp::test::k", order.size());
  const auto mirror = host_mirror(k);
  for (std::size_t c = 0; c < order.size(); ++c) {
    mirror(c) = block_of_contact(problem.number_of(order[c]), scale);
  }
  send(k, mirror);
  system.assemble(k);
}

/// A x by an operator whose vectors ranks have parts of.
std::vector<double> product(const Operator& a, const std::vector<double>& x) {
  Vector in(a.getDomainMap(), 1), out(a.getRangeMap(), 1);
  upload_to(overwrite_view(in), x);
  a.apply(in, out);
  return to_host(out);
}

/// Whether the matrix of ranks is that of one process, and so what goes in and out of it.
void check_matrix(const ContactProblem& host, int overlap) {
  const MpiSession mpi;
  const Ranks& ranks = mpi.world();
  if (ranks.size() == 1) return;  // the ordinary system
  const SharedFile file(ranks, host);
  const Problem whole(host);
  const ProblemPart part = read_part(file.path(), ranks);
  const Problem problem(part.problem, part.distribution);
  const auto expected = make_velocity_system(whole, "natural", "none");
  const auto system = make_distributed_system(problem, {overlap, 0});
  const auto width = static_cast<std::size_t>(system->block_size());
  const std::vector<long long>& owned = part.distribution.owned_body;
  REQUIRE(ranks.sum(static_cast<long long>(system->size())) == expected->size());

  // Vectors of the whole in the order of bodies, and in that of its system.
  const std::vector<int> body = download(expected->body_order());
  const std::vector<double> z = random_vector(width * host.bodies(), 3);
  const auto ordered = [&](const std::vector<double>& by_body) {
    std::vector<double> result;
    for (const int i : body) {
      for (std::size_t k = 0; k < width; ++k) result.push_back(by_body[width * i + k]);
    }
    return result;
  };
  const auto by_body = [&](const std::vector<double>& in_order) {
    std::vector<double> result(in_order.size());
    for (std::size_t i = 0; i < body.size(); ++i) {
      for (std::size_t k = 0; k < width; ++k) result[width * body[i] + k] = in_order[width * i + k];
    }
    return result;
  };
  const auto apart = [&](const std::vector<double>& own, const std::vector<double>& all) {
    return difference(ranks, own, all, owned, width);
  };
  assemble(*system, problem);
  assemble(*expected, whole);
  const std::vector<double> own = rows_of(z, owned, width);
  const std::vector<double> expected_product = by_body(product(*expected->matrix(), ordered(z)));
  CHECK(apart(product(*system->matrix(), own), expected_product) < 1e-13);
  CHECK(system->speed(to_view(own)) == Approx(expected->speed(to_view(ordered(z)))).epsilon(1e-13));

  // E^T E z.
  const VectorView d("ccp::test::d", 3 * static_cast<std::size_t>(problem.contacts())),
      f("ccp::test::f", own.size()), d_whole("ccp::test::d", 3 * host.contacts()),
      f_whole("ccp::test::f", z.size());
  system->contact_velocities(to_view(own), d);
  system->load(d, f);
  expected->contact_velocities(to_view(ordered(z)), d_whole);
  expected->load(d_whole, f_whole);
  CHECK(apart(to_host(ConstVectorView(f)), by_body(to_host(ConstVectorView(f_whole)))) < 1e-13);

  // Ranks whose overlap is all that hangs together solve with the whole matrix, and each adds its
  // answer for the bodies that it has.
  system->precondition();
  std::vector<double> answer(z.size(), 0.0);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    for (const long long i : around(host, bodies_of(host, rank, ranks.size()), overlap)) {
      for (std::size_t k = 0; k < width; ++k) answer[width * i + k] += z[width * i + k];
    }
  }
  if (overlap > 10) {
    CHECK(apart(product(*system->preconditioner(), product(*system->matrix(), own)), answer) <
          1e-9);
  }
  // It is symmetric and positive definite whatever the overlap.
  const auto inner_of = [&](const std::vector<double>& a, const std::vector<double>& b) {
    return ranks.sum(inner(a, b));
  };
  const std::vector<double> other = rows_of(random_vector(z.size(), 4), owned, width);
  const std::vector<double> one = product(*system->preconditioner(), own),
                            two = product(*system->preconditioner(), other);
  const double size = std::sqrt(inner_of(one, one) * inner_of(other, other));
  CHECK(inner_of(other, one) == Approx(inner_of(own, two)).margin(1e-12 * size));
  CHECK(inner_of(own, one) > 0);
}

}  // namespace

TEST_CASE("the velocity system of ranks is that of one process", "[operator]") {
  RandomShape shape;
  shape.bodies = 40, shape.contacts = 120;
  for (const int overlap : {0, 2, 12}) {
    INFO("overlap " << overlap);
    for (const bool rotates : {false, true}) {
      shape.rotates = rotates;
      check_matrix(random_problem(shape), overlap);
    }
  }
  check_matrix(random_pile(100, 300, 2), 3);
  shape.bodies = 3, shape.contacts = 12;  // ranks without bodies
  check_matrix(random_problem(shape), 2);
}

TEST_CASE("what factors of parts leave out follows the matrix", "[operator]") {
  const MpiSession mpi;
  const SharedFile file(mpi.world(), random_pile(100, 300, 2));
  const ProblemPart part = read_part(file.path(), mpi.world());
  const Problem problem(part.problem, part.distribution);
  const auto fresh = make_distributed_system(problem, {2, 0.1}),
             used = make_distributed_system(problem, {2, 0.1});
  // Blocks that are nothing beside the 1 of S, and then large ones.
  for (const double scale : {1e-6, 1e-5, 100.0}) {
    assemble(*used, problem, scale);
    used->precondition();
  }
  assemble(*fresh, problem, 100);
  fresh->precondition();
  const std::vector<double> x = random_vector(static_cast<std::size_t>(fresh->size()), 3);
  CHECK(relative_difference(product(*used->preconditioner(), x),
                            product(*fresh->preconditioner(), x)) < 1e-12);
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
    check_iterates(file.path(), "bb", 1e-12, 10);  // later its lengths amplify what rounding does
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
       {"apgd[tolerance=1e-10]", "bb[tolerance=1e-10]", "pgs[tolerance=1e-10]",
        "ipm[krylov_tolerance=1e-8]", "vipm[tolerance=1e-10]", "vipm[tolerance=1e-10,overlap=1]",
        "vipm[tolerance=1e-10,overlap=1,parts=12]",
        "vipm[tolerance=1e-10,overlap=1,parts=12,preconditioner=block_ic0]"}) {
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
        const double rounding = m == Measure::energy ? 2e-8 : 1e-12;
        CHECK(found[m] == Approx(expected[m]).epsilon(1e-4).margin(rounding));
      }
    }
  }
}

}  // namespace

TEST_CASE("distributed solvers reach a residual of 1e-8", "[solvers]") {
  check_solved(make_scene("hyperstatic-table"));
  check_solved(random_pile(40, 30, 3));
}

namespace {

/// Whether it ends by its own rule, which confirm() has agreed to.
void check_vipm(const ProblemPart& part) {
  const Problem problem(part.problem, part.distribution);
  Vector gamma(problem.map(), 1);
  CHECK(solve("vipm", problem, 100, gamma).status == Status::converged);
}

}  // namespace

TEST_CASE("vipm takes as many outer iterations on ranks as on one, within 2", "[solvers]") {
  const MpiSession mpi;
  RandomShape shape;  // with too many bodies to be factored at once
  shape.bodies = 120, shape.contacts = 300, shape.rotates = false;
  ContactProblem host = random_problem(shape);
  make_feasible(host, 3);
  const SharedFile file(mpi.world(), host);
  const Problem whole(host);
  const ProblemPart part = read_part(file.path(), mpi.world());
  const Problem problem(part.problem, part.distribution);
  Vector expected(whole.map(), 1);
  const Info alone = solve("vipm", whole, 5000, expected);
  REQUIRE(alone.status == Status::converged);
  Vector found(problem.map(), 1);
  // So small a problem is not factored on one rank, nor corrected.
  Info info = solve("vipm[overlap=6,corrections=0]", problem, 5000, found);
  CHECK(info.status == Status::converged);
  CHECK(std::abs(info.counters.outer - alone.counters.outer) <= 2);
  if (mpi.world().size() == 1) return;
  Vector with_parts(whole.map(), 1);
  const Info in_parts = solve("vipm[parts=4]", whole, 5000, with_parts);
  found.putScalar(0);
  info = solve("vipm[overlap=3]", problem, 5000, found);
  CHECK(info.status == Status::converged);
  CHECK(std::abs(info.counters.outer - in_parts.counters.outer) <= 2);
  CHECK(info.counters.outer < alone.counters.outer);
}

TEST_CASE("vipm's iterations depend on the parts, not on the ranks that have them", "[solvers]") {
  const MpiSession mpi;
  ContactProblem host = random_pile(150, 300, 2);
  make_feasible(host, 3);
  const SharedFile file(mpi.world(), host);
  const Problem whole(host);
  const ProblemPart part = read_part(file.path(), mpi.world());
  const Problem problem(part.problem, part.distribution);
  std::vector<long> krylov;
  // To 1e-6 incomplete factors alone take a thousand iterations, whose number hangs on rounding.
  for (const char* const solver :
       {"vipm[parts=12,overlap=4,tolerance=1e-6]",
        "vipm[parts=24,overlap=4,tolerance=1e-6,corrections=0]",
        "vipm[parts=12,overlap=4,tolerance=1e-5,preconditioner=block_ic1,linear_solver=cg]",
        "vipm[parts=12,overlap=4,tolerance=1e-6,preconditioner=block_ic1]"}) {
    INFO(solver);
    Vector expected(whole.map(), 1), found(problem.map(), 1);
    const Info alone = solve(solver, whole, 5000, expected);
    const Info info = solve(solver, problem, 5000, found);
    CHECK(info.status == Status::converged);
    CHECK(info.counters.outer == alone.counters.outer);
    const auto expected_krylov = static_cast<double>(alone.counters.krylov);
    CHECK(std::abs(static_cast<double>(info.counters.krylov) - expected_krylov) <=
          0.05 * expected_krylov);
    for (const long before : krylov) CHECK(alone.counters.krylov != before);  // the parts matter
    krylov.push_back(alone.counters.krylov);
  }
  // Factors take the place of incomplete ones where these take too many iterations.
  CHECK(krylov.back() < krylov[2]);
  const auto seven = make_solver(SolverSpec::parse("vipm[parts=7]"));
  if (mpi.world().size() > 1) {
    CHECK(error_of([&] { seven->setup(problem); }) ==
          "solver vipm: option parts: expected a multiple of the ranks, " +
              std::to_string(mpi.world().size()) + ", found 7");
  }
}

TEST_CASE("vipm takes a bundled pile's iterations on ranks as on one", "[solvers]") {
  const MpiSession mpi;
  const Ranks& ranks = mpi.world();
  const std::string path = resolve_problem("test-problem-1");
  const char* const solver = "vipm[parts=12,overlap=3,tolerance=1e-5]";
  double outer = 0, krylov = 0;
  if (ranks.rank() == 0) {  // one process, while the others wait
    const ContactProblem host = read_problem(path);
    const Problem whole(host);
    Vector gamma(whole.map(), 1);
    const Info alone = solve(solver, whole, 100, gamma);
    CHECK(alone.status == Status::converged);
    outer = static_cast<double>(alone.counters.outer);
    krylov = static_cast<double>(alone.counters.krylov);
  }
  outer = ranks.of_first(outer);
  krylov = ranks.of_first(krylov);
  const ProblemPart part = read_part(path, ranks);
  const Problem problem(part.problem, part.distribution);
  Vector gamma(problem.map(), 1);
  const Info info = solve(solver, problem, 100, gamma);
  CHECK(info.status == Status::converged);
  CHECK(krylov > 0);
  CHECK(std::abs(static_cast<double>(info.counters.outer) - outer) <= 2);
  CHECK(std::abs(static_cast<double>(info.counters.krylov) - krylov) <= 0.05 * krylov);
}

namespace {

/// gamma N gamma / 2 + r gamma, of all ranks.
double objective(const Problem& problem, const Vector& gamma) {
  const VectorView p("ccp::test::p", 3 * static_cast<std::size_t>(problem.contacts())),
      d("ccp::test::d", p.extent(0));
  problem.to_world_axes(read_view(gamma), p);
  problem.delassus()->apply_fused(
      p, KOKKOS_LAMBDA(const int c, const Vec3& velocity) { store3(d, c, velocity); });
  const std::vector<double> impulse = to_host(ConstVectorView(p)), u = to_host(ConstVectorView(d)),
                            r = to_host(problem.r());
  double sum = 0;
  for (std::size_t i = 0; i < impulse.size(); ++i) sum += impulse[i] * (0.5 * u[i] + r[i]);
  return problem.ranks().sum(sum);
}

/// Whether sweeps of ranks side by side never raise the objective.
void check_descent(const ContactProblem& host, const std::string& solver) {
  const MpiSession mpi;
  INFO(solver);
  const SharedFile file(mpi.world(), host);
  const ProblemPart part = read_part(file.path(), mpi.world());
  const Problem problem(part.problem, part.distribution);
  double before = 0;
  for (int k = 1; k <= 20; ++k) {
    Vector after(problem.map(), 1);
    solve(solver, problem, k, after);
    const double now = objective(problem, after);
    CHECK(now <= before + 1e-12 * std::abs(before));
    before = now;
  }
  CHECK(before < 0);
}

}  // namespace

TEST_CASE("no sweep of pgs on ranks raises the objective", "[solvers]") {
  ContactProblem plate = random_pile(200, 600, 2);  // body 0, which all ranks push
  for (std::int32_t c = 0; c < 150; ++c) {
    plate.contact_bodies[2 * c] = 0;
    plate.contact_bodies[2 * c + 1] = c + 1;
  }
  RandomShape shape;
  shape.bodies = 6, shape.contacts = 200;  // each body on all ranks
  for (const char* const solver : {"pgs[tolerance=0]", "pgs[tolerance=0,sweep=colored]",
                                   "pgs[tolerance=0,omega=1.5,symmetric=true]"}) {
    check_descent(plate, solver);
    check_descent(random_problem(shape), solver);
    check_descent(compliant_form(random_problem(shape), 4), solver);
  }
}

TEST_CASE("pgs comes to the same impulses on ranks as on one", "[solvers]") {
  const MpiSession mpi;
  const Ranks& ranks = mpi.world();
  RandomShape shape;
  shape.bodies = 12, shape.contacts = 20;
  ContactProblem host = random_problem(shape);
  make_feasible(host, 2);
  const SharedFile file(ranks, host);
  const Problem whole(host);
  const ProblemPart part = read_part(file.path(), ranks);
  const Problem problem(part.problem, part.distribution);
  const auto numbers = part.distribution.contact;
  for (const char* const law : {"convex", "coulomb"}) {
    const std::string solver = "pgs[tolerance=1e-9,law=" + std::string(law) + "]";
    INFO(solver);
    Vector expected(whole.map(), 1), found(problem.map(), 1);
    const Info alone = solve(solver, whole, 100000, expected);
    const Info info = solve(solver, problem, 100000, found);
    CHECK(alone.status == Status::converged);
    CHECK(info.status == Status::converged);
    // Velocities are unique, impulses need not be.
    const auto velocities = [](const Problem& of, const Vector& gamma) {
      Vector world(of.map(), 1), d(of.map(), 1);
      of.to_world_axes(read_view(gamma), overwrite_view(world));
      of.delassus()->apply(world, d);
      return to_host(d);
    };
    if (std::string(law) == "convex") {
      CHECK(difference(ranks, velocities(problem, found), velocities(whole, expected), numbers) <
            1e-6);
    }
    if (ranks.size() > 1) continue;
    CHECK(info.counters.outer == alone.counters.outer);
    CHECK(to_host(found) == to_host(expected));  // to the last bit
  }
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
    check_descent(host, "pgs[tolerance=0]");
    check_vipm(part);
    const SharedFile compliant(ranks, compliant_form(host, 6));
    check_iterates(compliant.path(), "apgd", 1e-9, 10);
    check_iterates(compliant.path(), "bb", 1e-8, 10);
    check_vipm(read_part(compliant.path(), ranks));
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
