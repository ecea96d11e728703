// Options, solver specifications and the registry.
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "solvers/core/backend.hpp"
#include "solvers/linear/device_factor.hpp"
#include "solvers/registry.hpp"
#include "solvers/vipm/vipm.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

struct Fields {
  double step = 0.5, factor = 1;
  int limit = 10;
  bool verbose = false;
  std::string method = "cg";
};

OptionList options_of(Fields& f) {
  return OptionList("demo")
      .number("step", f.step, {0, 2, true}, "a step")
      .number("factor", f.factor, {}, "any number")
      .integer("limit", f.limit, {1}, "a limit")
      .flag("verbose", f.verbose, "a flag")
      .choice("method", f.method, {"cg", "gmres"}, "a method");
}

}  // namespace

TEST_CASE("options are set and listed") {
  Fields f;
  OptionList options = options_of(f);
  options.set("step", "2");
  options.set("factor", "-1e-3");
  options.set("limit", "1");
  options.set("verbose", "true");
  options.set("method", "gmres");
  CHECK(f.step == 2);
  CHECK(f.factor == -1e-3);
  CHECK(f.limit == 1);
  CHECK(f.verbose);
  CHECK(f.method == "gmres");
  const auto entries = options.entries();
  REQUIRE(entries.size() == 5);
  const char* expected[5][3] = {{"step", "2", "number > 0 and <= 2"},
                                {"factor", "-0.001", "number any"},
                                {"limit", "1", "integer >= 1"},
                                {"verbose", "true", "true or false"},
                                {"method", "gmres", "one of cg, gmres"}};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(entries[i].name == expected[i][0]);
    CHECK(entries[i].value == expected[i][1]);
    CHECK(entries[i].allowed == expected[i][2]);
  }
  CHECK(entries[4].help == "a method");
}

TEST_CASE("options refuse what they do not allow and keep their value") {
  Fields f;
  OptionList options = options_of(f);
  for (const auto& [name, text] : {std::pair{"step", "0"},
                                   {"step", "2.1"},
                                   {"step", "nan"},
                                   {"step", "inf"},
                                   {"step", ""},
                                   {"step", "1x"},
                                   {"step", " 1"},
                                   {"factor", "inf"},
                                   {"factor", "one"},
                                   {"limit", "0"},
                                   {"limit", "1.5"},
                                   {"limit", "1e3"},
                                   {"limit", "99999999999"},
                                   {"verbose", "yes"},
                                   {"verbose", "TRUE"},
                                   {"method", "CG"},
                                   {"method", ""}}) {
    INFO(name << "=" << text);
    check_parts(error_of([&, name = name, text = text] { options.set(name, text); }),
                {std::string("solver demo: option ") + name + ": expected ",
                 std::string(", found '") + text + "'"});
  }
  CHECK(f.step == 0.5);
  CHECK(f.factor == 1);
  CHECK(f.limit == 10);
  CHECK_FALSE(f.verbose);
  CHECK(f.method == "cg");
  check_parts(error_of([&] { options.set("stepp", "1"); }),
              {"solver demo: unknown option 'stepp'", "did you mean 'step'?",
               "(it has step, factor, limit, verbose, method)"});
}

TEST_CASE("numbers as text read back as the same number") {
  for (const double value : {0.3, 1e-12, -2.5e300, 1.0 / 3, 0.0, 123456789.0}) {
    double back = -1;
    CHECK(parse_number(number_text(value), back));
    CHECK(back == value);
  }
  double value = 7;
  for (const char* text : {"", "x", "1 ", "1,2", "0x10", "--1"})
    CHECK_FALSE(parse_number(text, value));
}

TEST_CASE("solver specifications") {
  CHECK(SolverSpec::parse("pgj").id == "pgj");
  CHECK(SolverSpec::parse("pgj").options.empty());
  CHECK(SolverSpec::parse("pgj[]").options.empty());
  const SolverSpec spec = SolverSpec::parse("ipm[krylov=cg,krylov_tolerance=1e-3]");
  CHECK(spec.id == "ipm");
  REQUIRE(spec.options.size() == 2);
  CHECK(spec.options[0] == std::pair<std::string, std::string>{"krylov", "cg"});
  CHECK(spec.options[1] == std::pair<std::string, std::string>{"krylov_tolerance", "1e-3"});
  CHECK(spec.text() == "ipm[krylov=cg,krylov_tolerance=1e-3]");
  CHECK(SolverSpec::parse("pgj").text() == "pgj");
  // A value may be a solver with options of its own.
  const std::string nested = "coulomb[inner=vipm[forcing=0.1,start=5],memory=3]";
  const SolverSpec outer = SolverSpec::parse(nested);
  REQUIRE(outer.options.size() == 2);
  CHECK(outer.options[0].second == "vipm[forcing=0.1,start=5]");
  CHECK(outer.options[1] == std::pair<std::string, std::string>("memory", "3"));
  CHECK(outer.text() == nested);
}

TEST_CASE("solver specifications that are none") {
  const std::pair<const char*, const char*> bad[] = {
      {"", "no solver name"},
      {"[omega=1]", "no solver name"},
      {"pgj ", "no solver name"},
      {"pgj]", "no solver name"},
      {"a/b", "no solver name"},
      {"pgj[omega=1", "no closing ]"},
      {"pgj[", "no closing ]"},
      {"pgj[omega=1]x", "no closing ]"},
      {"pgj[omega]", "'omega'"},
      {"pgj[omega=]", "'omega='"},
      {"pgj[=1]", "'=1'"},
      {"pgj[o m=1]", "'o m=1'"},
      {"pgj[omega=1,]", "a comma before ]"},
      {"pgj[,omega=1]", "''"},
      {"pgj[omega=1,,lambda=1]", "''"},
      {"pgj[omega=1,omega=2]", "option omega twice"}};
  for (const auto& [text, found] : bad) {
    INFO(text);
    check_parts(
        error_of([text = text] { SolverSpec::parse(text); }),
        {"solver '" + std::string(text) + "': expected id or id[name=value,...], found " + found});
  }
}

TEST_CASE("a law that a solver does not solve is refused by name") {
  CHECK_NOTHROW(make_solver(SolverSpec::parse("pgj[law=convex]")));
  try {
    make_solver(SolverSpec::parse("pgj[law=coulomb]"));
    FAIL("not refused");
  } catch (const InputError& error) {
    const std::string message = error.what();
    CHECK(message.find("solver pgj: law: expected convex, the only one it solves, found coulomb") !=
          std::string::npos);
  }
}

TEST_CASE("the registry") {
  std::set<std::string> ids;
  for (const SolverEntry& entry : solver_entries()) {
    INFO(entry.id);
    CHECK(ids.insert(entry.id).second);
    CHECK_FALSE(entry.laws.empty());
    CHECK_FALSE(entry.summary.empty());
    CHECK_FALSE(entry.forms.empty());
    CHECK(&solver_entry(entry.id) == &entry);
    // Every option accepts the value it says it has.
    const auto solver = entry.make();
    OptionList options = solver->options();
    std::set<std::string> names;
    for (const auto& option : options.entries()) {
      INFO(option.name);
      CHECK(names.insert(option.name).second);
      CHECK_FALSE(option.help.empty());
      CHECK_NOTHROW(options.set(option.name, option.value));
    }
  }
  check_parts(error_of([] { solver_entry("ipmm"); }),
              {"unknown solver 'ipmm'", "did you mean 'ipm'?"});
  check_parts(error_of([] { make_solver(SolverSpec::parse("pgj[omga=1]")); }),
              {"solver pgj: unknown option 'omga'", "did you mean 'omega'?"});
  check_parts(error_of([] { make_solver(SolverSpec::parse("pgj[omega=-1]")); }),
              {"solver pgj: option omega: expected number > 0", "found '-1'"});

  const auto solver = make_solver(SolverSpec::parse("pgj[omega=0.125]"));
  bool found = false;
  for (const auto& option : solver->options().entries()) {
    if (option.name == "omega") found = option.value == "0.125";
  }
  CHECK(found);
}

TEST_CASE("a solver supports the forms it declares") {
  ContactProblem p;
  const SolverEntry bodies_only{"x", {Law::convex}, {Form::bodies}, {}, false, "", nullptr};
  CHECK(supports(bodies_only, p));
  p.form = ContactProblem::Form::assembled;
  CHECK(why_unsupported(bodies_only, p) == "x does not take problems in assembled form");
  CHECK_FALSE(supports(bodies_only, p));
  p.form = ContactProblem::Form::bodies;
  p.mu = {0.5};
  p.compliance = {1, 0};
  CHECK(why_unsupported(bodies_only, p) ==
        "x does not take problems with compliant contacts (/contacts/compliance)");
  const SolverEntry compliant{"y", {Law::convex}, {Form::bodies}, {Feature::compliant}, false,
                              "",  nullptr};
  CHECK(supports(compliant, p));
}

TEST_CASE("a solver that does not take rolling or equality triples says so") {
  ContactProblem rolling, equality;
  rolling.rolling.contact = {0};
  equality.equality.rows = {1};
  for (const SolverEntry& entry : solver_entries()) {
    CHECK(why_unsupported(entry, rolling) ==
          (entry.has(Feature::rolling)
               ? ""
               : entry.id + " does not take problems with rolling resistance (/rolling)"));
    CHECK(why_unsupported(entry, equality) ==
          (entry.has(Feature::equality)
               ? ""
               : entry.id + " does not take problems with equality constraints (/equality)"));
  }
}

namespace {

/// A text for every enumerator, each its own, and the way back; an unknown text is refused with the
/// nearest one. @param count  how many enumerators there are: the last one's number and 1
template <class Enum>
void check_texts(std::size_t count) {
  const std::vector<Enum> values = enum_values<Enum>();
  REQUIRE(values.size() == count);
  std::set<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(static_cast<std::size_t>(values[i]) == i);
    const std::string text = to_string(values[i]);
    CHECK(texts.insert(text).second);
    CHECK(parse_enum<Enum>(text) == values[i]);
    CHECK(read_enum<Enum>(text, "here") == values[i]);
    check_parts(error_of([&] { read_enum<Enum>(text + "x", "here", "there"); }),
                {"here: there: expected ", text + "x'; did you mean '" + text + "'?"});
  }
  CHECK_FALSE(parse_enum<Enum>("").has_value());
}

}  // namespace

TEST_CASE("enumerations and their texts") {
  check_texts<Law>(static_cast<std::size_t>(Law::coulomb) + 1);
  check_texts<Form>(static_cast<std::size_t>(Form::assembled) + 1);
  check_texts<Feature>(static_cast<std::size_t>(Feature::device) + 1);
  check_texts<Backend>(static_cast<std::size_t>(Backend::cuda) + 1);
  check_texts<Status>(static_cast<std::size_t>(Status::out_of_memory) + 1);
  CHECK(error_of([] { read_enum<Law>("convx", "--law"); }) ==
        "--law: expected convex or coulomb, found 'convx'; did you mean 'convex'?");
  check_parts(error_of([] { read_enum<Feature>("", "x"); }),
              {"x: expected one of compliant, rolling, equality, distributed, device, found ''"});
  // Results of years ago have these words in them.
  CHECK(to_string(Status::stopped_by_observer) == "stopped_by_observer");
  CHECK(to_string(Status::out_of_memory) == "out_of_memory");
  CHECK(to_string(Form::assembled) == "assembled");
  CHECK_NOTHROW(backend());
}

TEST_CASE("a factor on the device is refused where there is none, and beside what has none") {
  for (const char* const id : {"vipm", "ssn", "sap"}) {
    const SolverSpec spec{id, {{"factor", "cusolver"}}};
    if (has_cusolver) {
      CHECK_NOTHROW(make_solver(spec));
    } else {
      check_parts(error_of([&] { make_solver(spec); }),
                  {std::string("solver ") + id, "option factor", "preset cuda", "cusolver"});
    }
    CHECK_NOTHROW(make_solver({id, {{"factor", "cholmod"}}}));
  }
  check_parts(
      error_of([] { make_solver(SolverSpec::parse("vipm[linear_solver=cg,factor=cholmod]")); }),
      {"option factor", "only with a factorisation"});
}

TEST_CASE("a feature that a solver does not have is refused in one sentence") {
  CHECK(why_unsupported_on_ranks({"admm", {}}) ==
        "admm does not run on several ranks; pgj, pgs, apgd, bb, ipm, vipm do");
  const auto reason = [](const std::string& text) {
    return why_unsupported_on_ranks(SolverSpec::parse(text));
  };
  CHECK(reason("ipm[krylov=gmres,preconditioner=none]").empty());
  CHECK(reason("ipm[krylov=cholmod]") ==
        "ipm with krylov=cholmod does not run on several ranks; krylov=cg does");
  CHECK(reason("ipm[operator=crs]") ==
        "ipm with operator=crs does not run on several ranks; operator=matrix_free does");
  CHECK(reason("vipm[linear_solver=cg,overlap=3]").empty());
  CHECK(reason("vipm[preconditioner=block_ic1]").empty());
  CHECK(reason("vipm[ordering=natural]") ==
        "vipm with ordering=natural does not run on several ranks; ordering=auto "
        "does: conjugate gradients with overlapping Schwarz");
  VipmSolver on_device;
  on_device.options().set("factor", "cusolver");
  CHECK(on_device.why_not_on_ranks() ==
        "vipm with factor=cusolver does not run on several ranks; factor=cholmod does, on the "
        "parts of each");
  CHECK(reason("ipm[preconditioner=block_ic0]") ==
        "ipm with preconditioner=block_ic0 does not run on several ranks; "
        "preconditioner=block_diagonal does");
  ContactProblem p;
  p.mu = {0.5};
  p.compliance = {1, 0};
  for (const SolverEntry& entry : solver_entries()) {
    INFO(entry.id);
    CHECK(supports(entry, p) == entry.has(Feature::compliant));
    CHECK(why_unsupported_on_ranks({entry.id, {}}).empty() == entry.has(Feature::distributed));
  }
}
