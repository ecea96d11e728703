// Copies of a problem beside each other, against the problem itself.
#include <catch2/catch_test_macros.hpp>

#include "problems/base/error.hpp"
#include "problems/model/repeated.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

TEST_CASE("repeated: N of three copies is three times N on the diagonal") {
  // The first has bodies that turn, immovable ones and contacts with the ground on either side.
  for (const ContactProblem& one :
       {random_problem({}), compliant_form(random_problem({}), 1), random_pile(6, 9, 1)}) {
    const std::size_t contacts = one.contacts(), rows = 3 * contacts;
    const ContactProblem three = repeated(one, 3);
    three.validate("three copies");
    REQUIRE(three.contacts() == 3 * contacts);
    REQUIRE(three.bodies() == 3 * one.bodies());
    const std::vector<double> n = dense_delassus(one), all = dense_delassus(three);
    REQUIRE(all.size() == 9 * rows * rows);
    for (std::size_t i = 0; i < 3 * rows; ++i) {
      for (std::size_t j = 0; j < 3 * rows; ++j) {
        const bool same = i / rows == j / rows;
        const double expected = same ? n[i % rows * rows + j % rows] : 0.0;
        if (all[3 * rows * i + j] != expected) FAIL("row " << i << ", column " << j);
      }
    }
    for (std::size_t c = 0; c < three.contacts(); ++c) CHECK(three.mu[c] == one.mu[c % contacts]);
    for (std::size_t k = 0; k < three.r.size(); ++k) CHECK(three.r[k] == one.r[k % rows]);
    REQUIRE(three.position.size() == 3 * one.position.size());
    for (std::size_t k = 0; k < three.position.size(); ++k) {
      CHECK(three.position[k] == one.position[k % one.position.size()]);
    }
  }
}

TEST_CASE("repeated: what has no copies is refused") {
  const ContactProblem one = random_pile(6, 9, 1);
  CHECK_THROWS_AS(repeated(assembled_form(one), 2), InputError);
  CHECK_THROWS_AS(repeated(one, 0), InputError);
  CHECK_THROWS_AS(repeated(one, 100'000'000), InputError);
  ContactProblem rolling = one;
  rolling.rolling.contact = {0};
  rolling.rolling.rho = {0.1};
  rolling.rolling.r = {0, 0, 0};
  CHECK_THROWS_AS(repeated(rolling, 2), InputError);
}
