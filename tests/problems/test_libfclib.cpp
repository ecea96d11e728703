// What `export fclib` writes, as FCLIB's own library reads it.
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <memory>

extern "C" {
#include <fclib.h>
}

#include "problems/formats/fclib/export_fclib.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

using Doubles = std::vector<double>;

/// M of the problems here is diagonal.
MassSolve diagonal_factoriser(const std::vector<std::int64_t>& offset, const std::vector<int>& row,
                              const std::vector<double>& value) {
  if (offset.size() != row.size() + 1) return {};
  return [value](Doubles& x) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] /= value[i];
  };
}

/// Dense, row-major.
Doubles dense(const fclib_matrix& a) {
  REQUIRE(a.nz == -1);
  Doubles result(static_cast<std::size_t>(a.m) * a.n, 0.0);
  for (int j = 0; j < a.n; ++j) {
    for (int k = a.p[j]; k < a.p[j + 1]; ++k) result[a.i[k] * a.n + j] = a.x[k];
  }
  return result;
}

/// H^T M^-1 H for a diagonal M.
Doubles condensed(const fclib_matrix& m, const fclib_matrix& h) {
  const Doubles mass = dense(m), contact = dense(h);
  const std::size_t size = h.n;
  Doubles n(size * size, 0.0);
  for (int l = 0; l < h.m; ++l) {
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        n[i * size + j] += contact[l * size + i] * contact[l * size + j] /
                           mass[l * static_cast<std::size_t>(m.n) + l];
      }
    }
  }
  return n;
}

/// libfclib releases what a problem holds; the struct itself is left to the caller.
struct Release {
  void operator()(fclib_global* problem) const {
    fclib_delete_global(problem);
    std::free(problem);
  }
  void operator()(fclib_local* problem) const {
    fclib_delete_local(problem);
    std::free(problem);
  }
};

}  // namespace

TEST_CASE("libfclib reads our global problems") {
  const TemporaryFolder folder;
  const std::string path = folder.file("pile.hdf5");
  ContactProblem problem = random_pile(20, 50, 1);
  problem.reference = Reference{};
  problem.reference->gamma = random_vector(150, 2);
  export_fclib(path, problem, false, diagonal_factoriser, false);
  const std::unique_ptr<fclib_global, Release> read(fclib_read_global(path.c_str()));
  REQUIRE(read);
  CHECK(read->spacedim == 3);
  REQUIRE(read->H->n == 150);
  CHECK(read->G == nullptr);
  CHECK(Doubles(read->mu, read->mu + 50) == problem.mu);
  CHECK(Doubles(read->w, read->w + 150) == problem.r);
  CHECK(relative_difference(condensed(*read->M, *read->H), dense_delassus(problem)) < 1e-14);
  CHECK(std::string(read->info->title) == problem.name);

  int count = 0;
  fclib_solution* guesses = fclib_read_guesses(path.c_str(), &count);
  REQUIRE(count == 1);
  CHECK(Doubles(guesses->r, guesses->r + 150) == problem.reference->gamma);
  Doubles u = multiply(dense_delassus(problem), problem.reference->gamma);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] += problem.r[i];
  CHECK(relative_difference(Doubles(guesses->u, guesses->u + 150), u) < 1e-13);
  fclib_delete_solutions(guesses, count);
}

TEST_CASE("libfclib reads our equality constraints") {
  const TemporaryFolder folder;
  const std::string path = folder.file("joint.hdf5");
  ContactProblem problem = random_pile(4, 6, 1);
  problem.equality.bodies = {0, 1};
  problem.equality.rows = {2};
  problem.equality.jacobian_a = {-1, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  problem.equality.jacobian_b = {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  problem.equality.r = {0.5, -0.25, 0};
  problem.guesses["joint"] = {Doubles(21, 0.0), "made up"};
  problem.guesses["joint"].gamma[18] = 3;
  problem.validate("joint");
  export_fclib(path, problem, false, diagonal_factoriser, false);
  const std::unique_ptr<fclib_global, Release> read(fclib_read_global(path.c_str()));
  REQUIRE(read);
  REQUIRE(read->G);
  REQUIRE(read->G->n == 2);
  Doubles g(24, 0.0);
  g[0] = g[3] = -1;
  g[6] = g[9] = 1;
  CHECK(dense(*read->G) == g);
  CHECK(Doubles(read->b, read->b + 2) == Doubles{0.5, -0.25});
  int count = 0;
  fclib_solution* guesses = fclib_read_guesses(path.c_str(), &count);
  REQUIRE(count == 1);
  CHECK(Doubles(guesses->l, guesses->l + 2) == Doubles{3, 0});
  CHECK(guesses->v[0] == -3 * problem.inverse_mass[0]);
  CHECK(guesses->v[3] == 3 * problem.inverse_mass[1]);
  fclib_delete_solutions(guesses, count);
}

TEST_CASE("libfclib reads our local problems") {
  const TemporaryFolder folder;
  const std::string path = folder.file("stack.hdf5");
  const ContactProblem problem = make_scene("assembled-stack");
  export_fclib(path, problem, false, diagonal_factoriser, false);
  const std::unique_ptr<fclib_local, Release> read(fclib_read_local(path.c_str()));
  REQUIRE(read);
  CHECK(read->spacedim == 3);
  CHECK(read->V == nullptr);
  CHECK(read->R == nullptr);
  CHECK(Doubles(read->q, read->q + 9) == problem.r);
  CHECK(relative_difference(dense(*read->W), dense_delassus(make_scene("stack"))) < 1e-14);

  // FCLIB's own measure of its first guess. The stack does not slide: both laws agree.
  int count = 0;
  fclib_solution* guesses = fclib_read_guesses(path.c_str(), &count);
  REQUIRE(count == 1);
  CHECK(fclib_merit_local(read.get(), MERIT_1, guesses) < 1e-12);
  fclib_delete_solutions(guesses, count);
}
