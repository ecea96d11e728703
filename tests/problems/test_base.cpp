#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "problems/base/error.hpp"
#include "problems/base/options.hpp"
#include "problems/base/output_file.hpp"
#include "problems/base/text.hpp"
#include "tests/support.hpp"

namespace ccp {
namespace {

namespace fs = std::filesystem;
using test::check_parts;
using test::error_of;
using test::read_text;
using test::TemporaryFolder;
using test::write_text;

TEST_CASE("bytes that are not UTF-8 are replaced, and nothing else is") {
  const std::string mark = "\xEF\xBF\xBD";
  for (const char* good : {"", "plain", "br\xC3\xBClant", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                           "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    CHECK(valid_utf8(good) == good);
  }
  CHECK(valid_utf8("br\xFClant") == "br" + mark + "lant");             // Latin-1
  CHECK(valid_utf8("\xC0\xAF") == mark + mark);                        // overlong /
  CHECK(valid_utf8("\xE0\x80\x80") == mark + mark + mark);             // overlong NUL
  CHECK(valid_utf8("\xED\xA0\x80") == mark + mark + mark);             // a surrogate
  CHECK(valid_utf8("\xF4\x90\x80\x80") == mark + mark + mark + mark);  // above U+10FFFF
  CHECK(valid_utf8("cut \xE2\x82") == "cut " + mark + mark);
}

TEST_CASE("a file is there when it is complete") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.txt");
  write_text(path, "before");
  {
    OutputFile file(path);
    file.print("{}\n", 1);
    CHECK(read_text(path) == "before");
  }
  CHECK(read_text(path) == "before");
  CHECK(folder.names() == std::vector<std::string>{"x.txt"});
  OutputFile file(path);
  file.print("{}\n", 2);
  file.commit();
  CHECK(read_text(path) == "2\n");
  CHECK(folder.names() == std::vector<std::string>{"x.txt"});
}

TEST_CASE("of several files all are written or none") {
  const TemporaryFolder folder;
  std::deque<OutputFile> files;
  for (const char* name : {"a", "b"}) files.emplace_back(folder.file(name)).print("{}", name);
  check_parts(error_of([&] { files.emplace_back(folder.file("no/c")); }), {"no/c", "No such file"});
  files.clear();
  CHECK(folder.names().empty());
  for (const char* name : {"a", "b"}) files.emplace_back(folder.file(name)).print("{}", name);
  commit_all(files);
  files.clear();
  CHECK(read_text(folder.file("b")) == "b");
  CHECK(folder.names() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("an output may not be an input, by whatever name") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5"), link = folder.file("link"),
                    hard = folder.file("hard");
  write_text(path, "input");
  fs::create_symlink("x.h5", link);
  fs::create_hard_link(path, hard);
  for (const std::string& output :
       {path, link, hard, folder.file("../") + folder.path().filename().string() + "/x.h5"}) {
    for (const bool overwrite : {false, true}) {
      check_parts(
          error_of([&] {
            check_output_path(output, overwrite, {"", "cold", path});
          }),
          {output + ": expected a file of its own for the output, found the input " + path});
    }
  }
  CHECK_NOTHROW(check_output_path(path, true, {"", folder.file("other")}));
  check_parts(error_of([&] { check_output_path("/dev/null", true); }),
              {"expected a regular file, found a device or a pipe"});
}

TEST_CASE("where a link leads is written") {
  const TemporaryFolder folder;
  fs::create_symlink("target", folder.file("link"));
  OutputFile file(folder.file("link"));
  file.print("new");
  file.commit();
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(read_text(folder.file("target")) == "new");
}

TEST_CASE("what is found instead of a number is told in few letters") {
  CHECK(found_value("nan") == "'nan'");
  CHECK(found_value("1.5") == "'1.5'");
  CHECK(found_value("1e999") == "'1e999', which is too large");
  CHECK(found_value("-99999999999") == "'-99999999999', which is too large");
  CHECK(found_value(std::string(300, '9')) ==
        "'" + std::string(40, '9') + "...', which is too large");
  CHECK(found_value("") == "''");
}

}  // namespace
}  // namespace ccp
