// The frozen problems that come with the project, hashes of files, and suggestions.
#include "problems/formats/catalogue.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <set>

#include "problems/base/sha256.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/sequence_file.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

/// Sets an environment variable for the life of this object.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old, had_ = true;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::string old_;
  bool had_ = false;
};

}  // namespace

TEST_CASE("every problem of the catalogue is there, unchanged and valid") {
  std::set<std::string> names;
  for (const CatalogueEntry& entry : catalogue()) {
    INFO(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK_FALSE(entry.summary.empty());
    CHECK(entry.command.rfind("ccpbench ", 0) == 0);
    REQUIRE(std::filesystem::exists(entry.file));
    CHECK(file_sha256(entry.file) == entry.sha256);
    if (is_sequence(entry.file)) {
      SequenceSummary sequence;
      REQUIRE_NOTHROW(sequence = check_sequence(entry.file));
      CHECK(sequence.name == entry.name);
      CHECK(resolve_problem(entry.name + "#1") == entry.file + "#1");
      continue;
    }
    ContactProblem p;
    REQUIRE_NOTHROW(p = read_problem(entry.file));
    CHECK(p.name == entry.name);
    CHECK_FALSE(p.source.licence.empty());
    CHECK(resolve_problem(entry.name) == entry.file);
  }
}

TEST_CASE("the catalogue may lie elsewhere") {
  const TemporaryFolder folder;
  const Environment environment("CCPBENCH_DATA_DIR", folder.path().string());
  check_parts(error_of([] { catalogue(); }), {folder.file("manifest.json"), "no readable file"});
  write_text(folder.file("manifest.json"), "{\"problems\": [{\"name\": \"a\"}]}");
  check_parts(error_of([] { catalogue(); }), {folder.file("manifest.json"), "expected a manifest"});
  write_text(folder.file("manifest.json"), "{");
  check_parts(error_of([] { catalogue(); }), {folder.file("manifest.json"), "expected a manifest"});
  write_text(folder.file("manifest.json"),
             "{\"problems\": [{\"name\": \"pile\", \"file\": \"p.h5\", \"sha256\": \"0\", "
             "\"command\": \"ccpbench x\", \"summary\": \"s\"}]}");
  REQUIRE(catalogue().size() == 1);
  CHECK(resolve_problem("pile") == folder.file("p.h5"));
  check_parts(error_of([] { resolve_problem("pille"); }),
              {"unknown problem 'pille'", "did you mean 'pile'?"});
}

TEST_CASE("a problem is looked for below the folder first, then as a path, then as a name") {
  const TemporaryFolder folder;
  write_text(folder.file("x.h5"), "");
  CHECK(resolve_problem("x.h5", folder.path().string()) == folder.file("x.h5"));
  CHECK(resolve_problem(folder.file("x.h5")) == folder.file("x.h5"));
  check_parts(error_of([&] { resolve_problem("y.h5", folder.path().string()); }),
              {"y.h5: expected a problem file or a name", "found no such file"});
  check_parts(error_of([] { resolve_problem("a/b"); }), {"a/b: expected a problem file"});
  CHECK_THROWS_AS(resolve_problem(""), InputError);
}

TEST_CASE("SHA-256 of known texts") {
  Sha256 empty, abc;
  CHECK(empty.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  abc.update(std::string("a"));
  abc.update("bc", 2);
  CHECK(abc.hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const TemporaryFolder folder;
  write_text(folder.file("million"), std::string(1000000, 'a'));
  CHECK(file_sha256(folder.file("million")) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  check_parts(error_of([&] { file_sha256(folder.file("none")); }), {folder.file("none")});
}

TEST_CASE("suggestions") {
  const std::vector<std::string> known = {"pgj", "ipm", "apgd"};
  CHECK(did_you_mean("pgs", known) == "; did you mean 'pgj'?");
  CHECK(did_you_mean("ipmm", known) == "; did you mean 'ipm'?");
  CHECK(did_you_mean("ap", known) == "; did you mean 'apgd'?");
  CHECK(did_you_mean("gauss-seidel", known).empty());
  CHECK(did_you_mean("", known).empty());
  CHECK(did_you_mean("x", std::vector<std::string>{}).empty());
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("same", "same") == 0);
  CHECK(edit_distance("imp", "ipm") == 1);  // neighbours swapped
}
