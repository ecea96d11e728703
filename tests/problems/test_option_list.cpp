// Lists of options as scenes and importers use them; solvers' are in solvers/test_options.cpp.
#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "problems/base/options.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

struct Fields {
  double angle = 10;
  std::uint64_t count = 3;
  std::string licence = "MIT";
  OptionList list() {
    return OptionList("x", "scene")
        .number("angle", angle, {-90, 90, true, true}, "degrees")
        .integer("count", count, OptionList::Range::at_least(1), "how many")
        .text("licence", licence, "of the data");
  }
};

}  // namespace

TEST_CASE("options: intervals may be open at either end") {
  Fields fields;
  OptionList list = fields.list();
  CHECK(list.entries()[0].allowed == "number > -90 and < 90");
  for (const char* text : {"-90", "90", "nan", "inf", "1e999", "x", "", "1 "}) {
    check_parts(error_of([&] { list.set("angle", text); }),
                {"scene x", "option angle", "> -90 and < 90", std::string("'") + text + "'"});
  }
  CHECK(fields.angle == 10);
  list.set("angle", "-89.5");
  CHECK(fields.angle == -89.5);
}

TEST_CASE("options: whole numbers without a sign, and any text") {
  Fields fields;
  OptionList list = fields.list();
  CHECK(list.entries()[1].allowed == "integer >= 1");
  for (const char* text : {"0", "-1", "2.5", "1e3", "99999999999999999999"}) {
    CHECK_THROWS_AS(list.set("count", text), InputError);
  }
  list.set("count", "18446744073709551615");
  CHECK(fields.count == std::numeric_limits<std::uint64_t>::max());
  CHECK(list.entries()[1].value == "18446744073709551615");
  list.set("licence", "CC0-1.0, they say");
  CHECK(fields.licence == "CC0-1.0, they say");
}

TEST_CASE("options: fields that were set past the list are checked") {
  Fields fields;
  CHECK_NOTHROW(fields.list().check());
  fields.count = 0;
  check_parts(error_of([&] { fields.list().check(); }), {"option count", "integer >= 1", "'0'"});
  fields.count = 1;
  fields.angle = std::numeric_limits<double>::quiet_NaN();
  check_parts(error_of([&] { fields.list().check(); }), {"option angle", "'nan'"});
}
