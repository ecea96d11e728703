// The particle states of Kleinert's benchmarks: a tiny file in all its bad variants, and the real
// ones.
#include "problems/formats/kleinert.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;
using Catch::Approx;

namespace {

/// Three spheres; the parts a test may exchange.
struct Tiny {
  std::string points = "0 0 1  2.5 0 1\n 0 50 10";
  std::string point_attributes = "NumberOfComponents=\"3\" format=\"ascii\" type=\"Float32\"";
  std::string radius =
      "<DataArray Name=\"radius\" format=\"ascii\" type=\"Float32\">1 1 1</DataArray>";
  std::string mass = "<DataArray Name=\"mass\" format=\"ascii\" type=\"Float32\">2 4 8</DataArray>";
  std::string velocity;

  std::string text() const {
    return "<?xml version=\"1.0\" ?>\n<VTKFile byte_order=\"LittleEndian\" "
           "type=\"UnstructuredGrid\" "
           "version=\"0.1\">\n<UnstructuredGrid>\n<Piece NumberOfCells=\"0\" "
           "NumberOfPoints=\"3\">\n"
           "<Points>\n<DataArray " +
           point_attributes + ">\n" + points + "\n</DataArray>\n</Points>\n<PointData>\n" + radius +
           mass + velocity + "\n</PointData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
  }
};

std::string complaint(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = folder.file("tiny.vtu");
  write_text(path, text);
  const std::string message = error_of([&] { read_kleinert(path); });
  check_begins(message, path + ": ");
  return message;
}

}  // namespace

TEST_CASE("a tiny particle file") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tiny.vtu");
  write_text(path, Tiny{}.text());
  const Spheres s = read_kleinert(path);
  CHECK(s.position == std::vector<double>{0, 0, 1, 2.5, 0, 1, 0, 50, 10});
  CHECK(s.radius == std::vector<double>{1, 1, 1});
  CHECK(s.mass == std::vector<double>{2, 4, 8});
  CHECK(s.velocity == std::vector<double>(9, 0.0));

  // No number of the papers: all pairs closer than 0.666 mean radii, here a-b and two with the
  // ground.
  const ContactProblem p = import_kleinert(path, 0, SphereModel{});
  CHECK(p.contacts() == 3);
  CHECK(p.name == "tiny");
  CHECK(p.source.kind == "imported");
  CHECK(p.source.licence == "MIT");
  CHECK_NOTHROW(p.validate(path));
  CHECK(import_kleinert(path, 2, SphereModel{}).contacts() == 2);
  // The author's archive: not to be taken for our own test-problem-1.
  const std::string authors = folder.file("particles2048pile.vtu");
  write_text(authors, Tiny{}.text());
  CHECK(import_kleinert(authors, 0, SphereModel{}).name == "kleinert-tp1");
  check_parts(error_of([&] { import_kleinert(path, 100, SphereModel{}); }),
              {"100 contacts asked for"});
}

TEST_CASE("velocities are read where the file has them") {
  const TemporaryFolder folder;
  Tiny tiny;
  tiny.velocity =
      "<DataArray Name=\"velocity\" NumberOfComponents=\"3\">1 2 3 4 5 6 7 8 9</DataArray>";
  write_text(folder.file("v.vtu"), tiny.text());
  CHECK(read_kleinert(folder.file("v.vtu")).velocity ==
        std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("particle files that cannot be used") {
  const Tiny good;
  check_parts(error_of([] { read_kleinert("/no/such.vtu"); }),
              {"/no/such.vtu: expected a VTK unstructured grid (.vtu), found no such file"});
  Tiny t = good;
  t.radius = "";
  check_parts(complaint(t.text()),
              {"PointData array 'radius': expected an array of that name, found none"});
  t = good;
  t.mass = "";
  check_parts(complaint(t.text()),
              {"PointData array 'mass': expected an array of that name, found none"});
  t = good;
  t.points = "0 0 1 2.5 0 1 0 50";
  check_parts(complaint(t.text()), {"Points: expected 9 values, found 8"});
  t = good;
  t.radius = "<DataArray Name=\"radius\">1 1</DataArray>";
  check_parts(complaint(t.text()), {"PointData array 'radius': expected 3 values, found 2"});
  t = good;
  t.mass = "<DataArray Name=\"mass\">1 heavy 1</DataArray>";
  check_parts(complaint(t.text()),
              {"PointData array 'mass' value 1: expected a finite number, found 'heavy 1'"});
  t = good;
  t.mass = "<DataArray Name=\"mass\">1 nan 1</DataArray>";
  check_parts(complaint(t.text()),
              {"PointData array 'mass' value 1: expected a finite number, found 'nan 1'"});
  t = good;
  t.mass = "<DataArray Name=\"mass\">1 2 0</DataArray>";
  check_parts(complaint(t.text()),
              {"PointData array 'mass' value 2: expected a number > 0, found 0"});
  t = good;
  t.radius = "<DataArray Name=\"radius\">1 -1 1</DataArray>";
  check_parts(complaint(t.text()),
              {"PointData array 'radius' value 1: expected a number > 0, found -1"});
  t = good;
  t.point_attributes = "NumberOfComponents=\"3\" format=\"binary\"";
  check_parts(complaint(t.text()), {"Points: expected format=\"ascii\", found format=\"binary\""});
  t = good;
  t.radius = "<DataArray Name=\"radius\" format=\"appended\"/>";
  check_parts(complaint(t.text()),
              {"'radius': expected format=\"ascii\", found format=\"appended\""});
  t = good;
  t.point_attributes = "NumberOfComponents=\"2\"";
  check_parts(complaint(t.text()), {"Points: expected a DataArray with 3 components, found 2"});
  check_parts(complaint("<VTKFile><PolyData/></VTKFile>"),
              {"VTKFile/UnstructuredGrid/Piece: expected such an element, found none"});
  for (const std::size_t bytes : {0, 200, 420}) {
    check_parts(complaint(good.text().substr(0, bytes)),
                {"byte ", "expected well-formed XML, found "});
  }
  check_parts(complaint("this is no XML"), {"expected well-formed XML, found "});
}

TEST_CASE("Test Problems 1 to 3 have the papers' numbers of contacts") {
  struct Paper {
    const char* file;
    std::size_t spheres, contacts, ground;
  };
  const Paper papers[] = {{"particles2048pile.vtu", 2048, 8378, 725},
                          {"particles5040pile.vtu", 5040, 21050, 1245},
                          {"particles10192pile.vtu", 10192, 43409, 2090}};
  for (const Paper& paper : papers) {
    const auto path = shared_folder() / "data" / "kleinert" / paper.file;
    if (!std::filesystem::exists(path))
      SKIP("no " << path.string() << " (CCPBENCH_SHARED says where)");
    const ContactProblem p = import_kleinert(path.string(), 0, SphereModel{});
    CHECK_NOTHROW(p.validate(paper.file));
    CHECK(p.bodies() == paper.spheres);
    CHECK(p.contacts() == paper.contacts);
    std::size_t ground = 0;
    for (std::size_t c = 0; c < p.contacts(); ++c) ground += p.contact_bodies[2 * c] < 0;
    CHECK(ground == paper.ground);
    for (std::size_t i = 0; i < p.bodies(); ++i) {
      CHECK((p.radius[i] >= 0.0079 && p.radius[i] <= 0.0161));
    }
  }
}
