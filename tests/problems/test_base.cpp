#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/base/options.hpp"
#include "problems/base/output_file.hpp"
#include "problems/base/spilled_array.hpp"
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

TEST_CASE("numbers kept aside come back, and take no memory") {
  const TemporaryFolder folder;
  SpilledArray array(folder.path().string());
  std::vector<double> all;
  const auto append = [&](std::size_t count) {
    std::vector<double> some(count);
    for (std::size_t i = 0; i < count; ++i) some[i] = static_cast<double>(all.size() + i);
    array.append(some.data(), count);
    all.insert(all.end(), some.begin(), some.end());
  };
  const auto check = [&](std::size_t first, std::size_t count) {
    std::vector<double> found(count);
    array.read(first, count, found.data());
    CHECK(found == std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                       all.begin() + static_cast<std::ptrdiff_t>(first + count)));
  };
  append(3);
  check(1, 2);
  CHECK(array.held() < 1000);
  for (const std::size_t count : {100, 40000, 7, 0, 30000, 20000}) append(count);
  REQUIRE(array.size() == all.size());
  check(0, all.size());
  check(40100, 20);
  check(all.size() - 5, 5);
  check(all.size(), 0);
  check_parts(error_of([&] { check(all.size() - 1, 2); }), {"numbers aside"});
  const std::size_t held = array.held();
  for (int k = 0; k < 200; ++k) append(10000);
  check(0, all.size());
  CHECK(array.held() <= held);
  CHECK(folder.names().empty());  // the file has no name

  SpilledArray other(std::move(array));
  CHECK(other.size() == all.size());
  SpilledArray nowhere(folder.file("no"));
  const std::vector<double> many(100000);
  check_parts(error_of([&] { nowhere.append(many.data(), many.size()); }),
              {"no: ", "No such file"});
  CHECK(nowhere.size() == 0);
}

TEST_CASE("rows of an array are written and read a chunk at a time") {
  const TemporaryFolder folder;
  const auto value = [](std::size_t i) { return 0.5 * static_cast<double>(i); };
  for (const std::vector<std::size_t>& shape :
       {std::vector<std::size_t>{7, 3}, {0, 4}, {3, 0}, {5, 30000, 3}, {70001}, {1001, 100}}) {
    std::size_t row = 1;
    for (std::size_t i = 1; i < shape.size(); ++i) row *= shape[i];
    const std::string path = folder.file("rows.h5");
    Hdf5File file = Hdf5File::create(path, true, Hdf5File::Storage::disk);
    std::size_t most = 0;
    file.write_rows("/a/b", shape, [&](std::size_t first, std::size_t count, double* to) {
      for (std::size_t i = 0; i < count * row; ++i) to[i] = value(first * row + i);
      most = std::max(most, count * row);
    });
    file.commit();
    CHECK(folder.names() == std::vector<std::string>{"rows.h5"});
    CHECK(most <= std::max<std::size_t>(1 << 16, row));
    const Hdf5File again = Hdf5File::open(path);
    const auto whole = again.read<double>("/a/b");
    CHECK(whole.shape == shape);
    std::vector<double> pieces;
    again.read_rows("/a/b", [&](std::size_t first, std::size_t count, const double* from) {
      CHECK(first * row == pieces.size());
      pieces.insert(pieces.end(), from, from + count * row);
    });
    CHECK(pieces == whole.data);
    for (std::size_t i = 0; i < whole.data.size(); ++i) {
      if (whole.data[i] != value(i)) FAIL("another value at " << i);
    }
  }
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
