// Problem files: round trips, hashes, and every way in which a file can be bad.
#include "problems/formats/problem_file.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>

#include "problems/base/hdf5_file.hpp"
#include "problems/base/output_file.hpp"
#include "tests/full_disk.hpp"
#include "tests/support.hpp"

using namespace ccp;
using namespace ccp::test;

namespace {

/// A line of what Linux says of this process, bytes.
double memory_of(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == key + ":" && status >> kilobytes) return 1024 * kilobytes;
  }
  return 0;
}

/// How far resident memory rises above what it is at the beginning, bytes; 0 where the system does
/// not tell.
double rise_during(const std::function<void()>& work) {
  std::ofstream reset("/proc/self/clear_refs");
  reset << "5" << std::flush;  // the high-water mark is what is resident now
  if (!reset) return 0;
  const double before = memory_of("VmRSS");
  work();
  return memory_of("VmHWM") - before;
}

/// Spheres and contacts whose numbers do not compress, some 136 bytes a contact.
ContactProblem large_problem(std::size_t n) {
  const ContactProblem small = random_problem({50, 500, false, false, 1});
  ContactProblem p;
  p.dt = 0.01;
  p.inverse_mass.assign(n / 4, 1.5);
  p.position = random_vector(3 * p.bodies(), 2);
  p.radius.assign(p.bodies(), 0.25);
  p.velocity = random_vector(6 * p.bodies(), 3);
  p.mu.assign(n, 0.5);
  p.r = random_vector(3 * n, 1);
  p.gap = random_vector(n, 4);
  p.stiffness.assign(2 * n, 1e9);
  for (std::size_t c = 0; c < n; ++c) {
    const auto body = static_cast<std::int32_t>(c % p.bodies());
    p.contact_bodies.insert(p.contact_bodies.end(), {c < p.bodies() ? -1 : 0, body + (body == 0)});
    const double* frame = &small.frame[9 * (c % small.contacts())];
    p.frame.insert(p.frame.end(), frame, frame + 9);
  }
  return p;
}

/// Bodies form with every optional array.
ContactProblem full_bodies() {
  ContactProblem p = random_problem({4, 30, true, true, 3});
  const std::size_t n = p.contacts(), m = p.bodies();
  p.name = "full";
  p.stiffness = random_vector(2 * n, 1);
  for (double& k : p.stiffness) k = 1e9 * (2 + k);
  p.compliance.assign(2 * n, 0.25);
  for (std::size_t c = 0; c < n; ++c) p.identity.push_back(7 * static_cast<std::int64_t>(c) - 3);
  p.position = random_vector(3 * m, 2);
  for (std::size_t i = 0; i < m; ++i) p.orientation.insert(p.orientation.end(), {0.6, 0, 0.8, 0});
  p.radius.assign(m, 0.25);
  p.velocity = random_vector(6 * m, 3);
  p.gap = random_vector(n, 4);
  p.reference = Reference{random_vector(3 * n, 5),
                          random_vector(6 * m, 6),
                          {{"residual", 1e-9}, {"cost", 2e-13}},
                          "by test"};
  p.source = {"generated", "a test", "test_problem_file", "{\"seed\": 3}", "BSD-3-Clause"};
  return p;
}

ContactProblem full_assembled() {
  ContactProblem p = assembled_form(random_problem({4, 30, true, true, 3}));
  p.stiffness.assign(2 * p.contacts(), 1e9);
  p.compliance.assign(2 * p.contacts(), 0.25);
  p.delassus.asymmetry = 1e-5;
  p.reference = Reference{random_vector(3 * p.contacts(), 5), {}, {{"residual", 1e-9}}, "by test"};
  p.source.kind = "imported";
  return p;
}

void check_equal(ContactProblem& a, ContactProblem& b) {
  CHECK(a.name == b.name);
  CHECK(a.form == b.form);
  CHECK(a.dt == b.dt);
  CHECK(a.gravity == b.gravity);
  const auto x = array_fields(a), y = array_fields(b);
  REQUIRE(x.size() == y.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    INFO(x[i].path);
    if (x[i].doubles) CHECK(*x[i].doubles == *y[i].doubles);
    if (x[i].ints) CHECK(*x[i].ints == *y[i].ints);
    if (x[i].longs) CHECK(*x[i].longs == *y[i].longs);
  }
  CHECK(a.identity == b.identity);
  CHECK(a.delassus.asymmetry == b.delassus.asymmetry);
  REQUIRE(a.reference.has_value() == b.reference.has_value());
  if (a.reference) {
    CHECK(a.reference->gamma == b.reference->gamma);
    CHECK(a.reference->velocity == b.reference->velocity);
    CHECK(a.reference->measures == b.reference->measures);
    CHECK(a.reference->method == b.reference->method);
  }
  CHECK(a.source.kind == b.source.kind);
  CHECK(a.source.description == b.source.description);
  CHECK(a.source.generator == b.source.generator);
  CHECK(a.source.parameters == b.source.parameters);
  CHECK(a.source.licence == b.source.licence);
  CHECK(a.content_hash() == b.content_hash());
}

/// Opens a written file to damage it.
void edit(const std::string& path, const std::function<void(hid_t)>& work) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  REQUIRE(file >= 0);
  work(file);
  H5Fclose(file);
}

void set_value(hid_t file, const char* dataset, std::size_t index, double value) {
  const hid_t data = H5Dopen2(file, dataset, H5P_DEFAULT);
  REQUIRE(data >= 0);
  const hid_t space = H5Dget_space(data);
  std::vector<double> all(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data());
  REQUIRE(index < all.size());
  all[index] = value;
  REQUIRE(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) >= 0);
  H5Sclose(space);
  H5Dclose(data);
}

/// Puts zeros of another type or shape in place of a dataset.
void replace(hid_t file, const char* dataset, hid_t type, const std::vector<hsize_t>& shape) {
  REQUIRE(H5Ldelete(file, dataset, H5P_DEFAULT) >= 0);
  const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
  const hid_t data = H5Dcreate2(file, dataset, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(data >= 0);
  H5Dclose(data);
  H5Sclose(space);
}

void set_text(hid_t file, const char* attribute, const std::string& text) {
  H5Adelete(file, attribute);
  const hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, text.size() + 1);  // a fixed-length string, which readers must take as well
  const hid_t made = H5Acreate2(file, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(H5Awrite(made, type, text.c_str()) >= 0);
  H5Aclose(made);
  H5Tclose(type);
  H5Sclose(space);
}

void set_number(hid_t file, const char* object, const char* attribute, double value) {
  H5Adelete_by_name(file, object, attribute, H5P_DEFAULT);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t made = H5Acreate_by_name(file, object, attribute, H5T_NATIVE_DOUBLE, space,
                                       H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(H5Awrite(made, H5T_NATIVE_DOUBLE, &value) >= 0);
  H5Aclose(made);
  H5Sclose(space);
}

/// The reader's complaint about a problem that was written well and then damaged; it names the
/// file.
std::string complaint(const ContactProblem& problem, const std::function<void(hid_t)>& damage) {
  const TemporaryFolder folder;
  const std::string path = folder.file("damaged.h5");
  write_problem(path, problem, false);
  edit(path, damage);
  const std::string message = error_of([&] { read_problem(path); });
  check_begins(message, path + ": ");
  return message;
}

/// What writing says of a problem that was never valid; nothing may be left behind.
std::string refusal(const ContactProblem& problem) {
  const TemporaryFolder folder;
  const std::string path = folder.file("bad.h5");
  const std::string message = error_of([&] { write_problem(path, problem, false); });
  CHECK(folder.names().empty());
  return message;
}

}  // namespace

TEST_CASE("a problem in bodies form survives the file") {
  const TemporaryFolder folder;
  ContactProblem p = full_bodies();
  write_problem(folder.file("a.h5"), p, false);
  ContactProblem q = read_problem(folder.file("a.h5"));
  check_equal(p, q);
  CHECK(folder.names() == std::vector<std::string>{"a.h5"});
}

namespace {

/// With two rolling contacts and a hinge's worth of equality constraints.
ContactProblem with_other_kinds() {
  ContactProblem p = full_bodies();
  p.rolling = {{1, 4}, {0.01, 0.02}, random_vector(6, 8), {0, 0, 1e-3, 2e-3}, {3, 3}};
  p.equality.bodies = {0, 1, -1, 2};
  p.equality.rows = {3, 2};
  p.equality.jacobian_a = random_vector(36, 9);
  p.equality.jacobian_b = random_vector(36, 10);
  for (auto* jacobian : {&p.equality.jacobian_a, &p.equality.jacobian_b}) {
    std::fill(jacobian->begin() + 30, jacobian->end(), 0.0);
  }
  p.equality.r = random_vector(6, 11);
  p.equality.r[5] = 0;
  p.equality.compliance = {1, 2, 3, 4, 5, 0};
  if (p.reference) p.reference->gamma = random_vector(3 * p.triples(), 12);
  for (auto& [name, guess] : p.guesses) guess.gamma = random_vector(3 * p.triples(), 13);
  return p;
}

}  // namespace

TEST_CASE("rolling and equality triples survive the file, and count for the hash") {
  const TemporaryFolder folder;
  ContactProblem p = with_other_kinds();
  write_problem(folder.file("a.h5"), p, false);
  ContactProblem q = read_problem(folder.file("a.h5"));
  check_equal(p, q);
  CHECK(q.has(ConstraintKind::rolling));
  CHECK(q.has(ConstraintKind::equality));
  CHECK(q.rolling.contact == p.rolling.contact);
  CHECK(q.equality.rows == p.equality.rows);
  q.rolling.rho[0] *= 2;
  CHECK(q.content_hash() != p.content_hash());
  q = p;
  q.rolling = {};
  q.equality = {};
  CHECK_FALSE(q.has(ConstraintKind::rolling));
  CHECK(q.content_hash() == full_bodies().content_hash());
}

TEST_CASE("a rolling triple of two rows survives the file, which older readers refuse") {
  const TemporaryFolder folder;
  ContactProblem p = with_other_kinds();
  const std::string before = p.content_hash();
  p.rolling.rows.clear();
  CHECK(p.content_hash() != before);
  CHECK(schema_version_of(p) == 2);
  p.rolling.rows = {2, 3};
  const auto error = [&] { return error_of([&] { p.validate("x.h5"); }); };
  check_begins(error(),
               "x.h5: /rolling/r[0]: expected 0 about the normal, for a rolling triple of");
  p.rolling.r[0] = 0;
  p.rolling.compliance[0] = 1;
  check_begins(error(), "x.h5: /rolling/compliance[0]: expected 0 about the normal");
  p.rolling.compliance[0] = 0;
  p.guesses = {{"own", {std::vector<double>(3 * p.triples(), 0.5), "made up"}}};
  p.reference.reset();
  check_begins(error(), "x.h5: /guesses/own/gamma[30]: expected 0 about the normal");
  p.guesses["own"].gamma[3 * p.contacts()] = 0;
  write_problem(folder.file("a.h5"), p, false);
  ContactProblem q = read_problem(folder.file("a.h5"));
  check_equal(p, q);
  CHECK(q.rolling.rows == p.rolling.rows);
  CHECK(schema_version_of(p) == 3);
  for (const std::int32_t rows : {1, 4}) {
    p.rolling.rows[1] = rows;
    check_begins(error(), "x.h5: /rolling/rows[1]: expected 2 or 3 rows, found ");
  }
}

TEST_CASE("faults of rolling and equality triples are named") {
  const auto complaint_of = [](const std::function<void(ContactProblem&)>& spoil) {
    ContactProblem p = with_other_kinds();
    spoil(p);
    return error_of([&] { p.validate("x.h5"); });
  };
  check_begins(complaint_of([](auto& p) {
                 p.rolling.contact = {4, 1};
               }),
               "x.h5: /rolling/contact[1]: expected ascending contacts in [0, 30), found 1");
  check_begins(complaint_of([](auto& p) { p.rolling.contact[1] = 30; }),
               "x.h5: /rolling/contact[1]: ");
  check_begins(complaint_of([](auto& p) { p.rolling.rho[0] = -1; }), "x.h5: /rolling/rho[0]: ");
  check_begins(complaint_of([](auto& p) { p.rolling.r.pop_back(); }),
               "x.h5: /rolling/r: expected 6 values (3 per rolling contact), found 5");
  check_begins(complaint_of([](auto& p) { p.rolling.rho.clear(); }), "x.h5: /rolling/rho: ");
  check_begins(complaint_of([](auto& p) { p.equality.bodies[3] = 4; }),
               "x.h5: /equality/bodies[1]: expected body indices in [-1, 4), found (-1, 4)");
  check_begins(complaint_of([](auto& p) { p.equality.rows[0] = 4; }),
               "x.h5: /equality/rows[0]: expected 1 to 3, found 4");
  check_begins(complaint_of([](auto& p) { p.equality.jacobian_b[35] = 1; }),
               "x.h5: /equality/jacobian of constraint 1: expected zeros after its 2 rows");
  check_begins(complaint_of([](auto& p) { p.equality.jacobian_a.pop_back(); }),
               "x.h5: /equality/jacobian_a: expected 36 values");
  check_begins(
      complaint_of([](auto& p) { p.inverse_inertia.clear(), p.arm_a.clear(), p.arm_b.clear(); }),
      "x.h5: /rolling: expected bodies that rotate");
  check_begins(complaint_of([](auto& p) {
                 const RollingPool rolling = p.rolling;
                 p = full_assembled();
                 p.rolling = rolling;
               }),
               "x.h5: /rolling: expected the bodies form");
}

TEST_CASE("a problem in assembled form survives the file") {
  const TemporaryFolder folder;
  ContactProblem p = full_assembled();
  write_problem(folder.file("a.h5"), p, false);
  ContactProblem q = read_problem(folder.file("a.h5"));
  check_equal(p, q);
}

TEST_CASE("a problem without any optional array, contact or body survives the file") {
  const TemporaryFolder folder;
  ContactProblem bare = random_problem({3, 5, false, false, 1}), empty, empty_assembled;
  empty_assembled.form = ContactProblem::Form::assembled;
  empty_assembled.delassus.row_offsets = {0};
  for (ContactProblem* p : {&bare, &empty, &empty_assembled}) {
    write_problem(folder.file("a.h5"), *p, true);
    ContactProblem q = read_problem(folder.file("a.h5"));
    check_equal(*p, q);
  }
}

TEST_CASE("writing the same problem twice makes the same bytes") {
  const TemporaryFolder folder;
  const ContactProblem p = full_bodies();
  write_problem(folder.file("a.h5"), p, false);
  write_problem(folder.file("b.h5"), p, false);
  CHECK(read_text(folder.file("a.h5")) == read_text(folder.file("b.h5")));
}

TEST_CASE("the hash depends on every array and scalar") {
  for (ContactProblem p : {with_other_kinds(), full_assembled()}) {
    const std::string before = p.content_hash();
    CHECK(before.size() == 64);
    for (const ArrayField& field : array_fields(p)) {
      INFO(field.path);
      const bool there = field.doubles ? !field.doubles->empty()
                         : field.ints  ? !field.ints->empty()
                                       : !field.longs->empty();
      if (!there) continue;  // pools of constraints that these problems do not have
      if (field.doubles) {
        double& value = field.doubles->back();
        const double kept = value;
        value = std::nextafter(value, 10);
        CHECK(p.content_hash() != before);
        value = kept;
        if (!field.required) {
          const std::vector<double> all = std::move(*field.doubles);
          field.doubles->clear();
          CHECK(p.content_hash() != before);
          *field.doubles = all;
        }
      }
      if (field.ints) {
        ++field.ints->back();
        CHECK(p.content_hash() != before);
        --field.ints->back();
      }
      if (field.longs) {
        ++field.longs->back();
        CHECK(p.content_hash() != before);
        --field.longs->back();
      }
      CHECK(p.content_hash() == before);
    }
    p.dt *= 2;
    CHECK(p.content_hash() != before);
    p.dt /= 2;
    p.gravity[2] = -9.81;
    CHECK(p.content_hash() != before);
  }
}

TEST_CASE("the hash does not depend on name, source and reference") {
  ContactProblem p = full_bodies();
  const std::string before = p.content_hash();
  p.name = "another";
  p.source = {};
  p.reference.reset();
  CHECK(p.content_hash() == before);
}

TEST_CASE("guesses survive the file and do not enter the hash") {
  ContactProblem p = full_bodies();
  const std::string hash = p.content_hash();
  p.guesses["previous"] = {random_vector(3 * p.contacts(), 8), "solution of the step before"};
  p.guesses["zero-0_1"] = {std::vector<double>(3 * p.contacts(), 0.0), ""};
  CHECK(p.content_hash() == hash);
  const TemporaryFolder folder;
  const std::string file = folder.file("p.h5");
  write_problem(file, p, false);
  const ContactProblem read = read_problem(file);
  REQUIRE(read.guesses.size() == 2);
  CHECK(read.guesses.at("previous").gamma == p.guesses["previous"].gamma);
  CHECK(read.guesses.at("previous").method == "solution of the step before");

  p.guesses["zero-0_1"].gamma.pop_back();
  check_parts(refusal(p), {"/guesses/zero-0_1/gamma: expected", "values, found"});
  p.guesses.erase("zero-0_1");
  p.guesses["previous"].gamma[4] = std::nan("");
  check_parts(refusal(p), {"/guesses/previous/gamma[1]", "found nan"});
  p.guesses.clear();
  for (const char* name : {"cold", "reference", "", "a/b"}) {
    p.guesses = {{name, {std::vector<double>(3 * p.contacts(), 0.0), ""}}};
    check_parts(refusal(p), {"/guesses: expected names of letters", name});
  }
}

TEST_CASE("the hash tells the two forms apart") {
  ContactProblem bodies, assembled;
  assembled.form = ContactProblem::Form::assembled;
  assembled.delassus.row_offsets = {0};
  CHECK(bodies.content_hash() != assembled.content_hash());
}

TEST_CASE("no file, a folder, or a file that is not HDF5") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  check_parts(error_of([&] { read_problem(path); }),
              {path + ": expected an HDF5 file, found no such file"});
  check_parts(error_of([&] { read_problem(folder.path().string()); }),
              {folder.path().string() + ": expected an HDF5 file, found a folder"});
  write_text(path, "x,y\n1,2\n");
  check_parts(error_of([&] { read_problem(path); }),
              {path + ": expected an HDF5 file, found 8 bytes of something else"});
  write_text(path, "");
  check_parts(error_of([&] { read_problem(path); }),
              {path + ": expected an HDF5 file, found 0 bytes of something else"});
  // Not even a pipe that nobody writes to is waited for.
  const std::string pipe = folder.file("pipe.h5");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& device : {pipe, std::string("/dev/null")}) {
    check_parts(error_of([&] { read_problem(device); }),
                {device + ": expected an HDF5 file, found a device or a pipe"});
  }
}

// rms(r) of 1e200 is infinite, and of 1e-200 zero: every residual was 0, and everything solved.
TEST_CASE("values whose squares leave the range of doubles are refused") {
  ContactProblem problem = random_problem({3, 6, true, true, 1});
  const auto complaint = [&] { return error_of([&] { problem.validate("x.h5"); }); };
  problem.r[3] = -1e200;
  check_parts(complaint(), {"x.h5: /ccp/r[1]: expected values up to 1e+60", "found -1e+200"});
  for (double& value : problem.r) value = -1e-200;
  check_parts(complaint(), {"x.h5: /ccp/r: expected zeros, or values above 1e-60"});
  for (double& value : problem.r) value = 0;
  problem.validate("x.h5");
  for (double& value : problem.inverse_mass) value *= 1e-200;
  check_parts(complaint(), {"x.h5: /bodies/inverse_mass: expected zeros, or values above"});
}

TEST_CASE("a truncated file") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  write_problem(path, full_bodies(), false);
  const std::string whole = read_text(path);
  for (const std::size_t bytes : {whole.size() - 1, whole.size() / 2, std::size_t{600}}) {
    write_text(path, whole.substr(0, bytes));
    check_parts(error_of([&] { read_problem(path); }),
                {path + ": expected a whole HDF5 file, found a truncated or damaged one (" +
                 std::to_string(bytes) + " bytes)"});
  }
}

TEST_CASE("a flipped bit in the data of any array does not pass the hash") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  for (ContactProblem p : {with_other_kinds(), full_assembled()}) {
    write_problem(path, p, true);
    // Where the values lie in the file. (Elsewhere HDF5 itself may crash on damage.)
    std::vector<std::pair<std::string, haddr_t>> places;
    edit(path, [&](hid_t file) {
      for (const ArrayField& field : array_fields(p)) {
        const hid_t data = H5Dopen2(file, field.path.c_str(), H5P_DEFAULT);
        haddr_t at = H5Dget_offset(data);
        hsize_t bytes = H5Dget_storage_size(data);
        if (at == HADDR_UNDEF) {
          const hid_t space = H5Dget_space(data);
          H5Dget_chunk_info(data, space, 0, nullptr, nullptr, &at, &bytes);
          H5Sclose(space);
        }
        H5Dclose(data);
        REQUIRE(at != HADDR_UNDEF);
        places.emplace_back(field.path, at + bytes / 2);
      }
    });
    const std::string whole = read_text(path);
    for (const auto& [name, at] : places) {
      INFO(name);
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 1);
      write_text(path, damaged);
      CHECK_THROWS_AS(read_problem(path), InputError);
    }
  }
}

TEST_CASE("another format or version") {
  const ContactProblem p = full_bodies();
  check_parts(complaint(p, [](hid_t file) { set_text(file, "format", "ccpbench-result"); }),
              {"root attribute format: expected 'ccpbench-problem', found 'ccpbench-result'"});
  check_parts(complaint(p, [](hid_t file) { H5Adelete(file, "format"); }),
              {"root attribute format: expected 'ccpbench-problem', found nothing"});
  check_parts(complaint(p, [](hid_t file) { set_number(file, "/", "version", 4); }),
              {"root attribute version: expected 1 to 3, found 4"});
  check_parts(complaint(p, [](hid_t file) { H5Adelete(file, "version"); }),
              {"root attribute version: expected 1 to 3, found nothing"});
  check_parts(complaint(p, [](hid_t file) { set_text(file, "form", "springs"); }),
              {"root attribute form: expected 'bodies' or 'assembled', found 'springs'"});
  check_parts(complaint(p, [](hid_t file) { H5Adelete(file, "name"); }),
              {"root attribute name: expected a string, found nothing"});
}

TEST_CASE("every required dataset is missed") {
  ContactProblem bodies = full_bodies(), assembled = full_assembled();
  for (ContactProblem* p : {&bodies, &assembled}) {
    for (const ArrayField& field : array_fields(*p)) {
      if (!field.required) continue;
      const std::string message = complaint(
          *p, [&](hid_t file) { REQUIRE(H5Ldelete(file, field.path.c_str(), H5P_DEFAULT) >= 0); });
      check_parts(message, {field.path + ": expected ", ", found "});
    }
  }
}

TEST_CASE("a dropped optional dataset does not pass the hash") {
  ContactProblem p = with_other_kinds();
  for (const ArrayField& field : array_fields(p)) {
    if (field.required || field.path == "/bodies/inverse_inertia") continue;
    // What the size of a pool is taken from: its other arrays are then too long.
    if (field.path == "/rolling/contact" || field.path == "/equality/rows") {
      check_parts(complaint(p, [&](hid_t f) { H5Ldelete(f, field.path.c_str(), H5P_DEFAULT); }),
                  {field.path.substr(0, field.path.rfind('/') + 1), "expected 0 values"});
      continue;
    }
    check_parts(complaint(p, [&](hid_t file) { H5Ldelete(file, field.path.c_str(), H5P_DEFAULT); }),
                {"root attribute content_sha256"});
  }
}

TEST_CASE("wrong shapes and types") {
  const ContactProblem p = full_bodies();
  check_parts(complaint(p,
                        [](hid_t f) {
                          replace(f, "/contacts/frame", H5T_IEEE_F64LE, {30, 9});
                        }),
              {"/contacts/frame: expected shape [rows, 3, 3], found [30, 9]"});
  check_parts(complaint(p, [](hid_t f) { replace(f, "/ccp/r", H5T_IEEE_F64LE, {90}); }),
              {"/ccp/r: expected shape [rows, 3], found [90]"});
  check_parts(complaint(p,
                        [](hid_t f) {
                          replace(f, "/ccp/r", H5T_IEEE_F64LE, {29, 3});
                        }),
              {"/ccp/r: expected 90 values (3 per contact), found 87"});
  check_parts(complaint(p, [](hid_t f) { replace(f, "/bodies/radius", H5T_IEEE_F64LE, {5}); }),
              {"/bodies/radius: expected 4 values (1 per body), found 5"});
  check_parts(complaint(p,
                        [](hid_t f) {
                          replace(f, "/contacts/bodies", H5T_IEEE_F64LE, {30, 2});
                        }),
              {"/contacts/bodies: expected integers, found values of another type"});
  check_parts(complaint(p, [](hid_t f) { replace(f, "/ccp/mu", H5T_C_S1, {30}); }),
              {"/ccp/mu: expected numbers, found values of another type"});
  check_parts(complaint(p,
                        [](hid_t f) {
                          H5Ldelete(f, "/ccp/mu", H5P_DEFAULT);
                          H5Gclose(H5Gcreate2(f, "/ccp/mu", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
                        }),
              {"/ccp/mu: expected a dataset, found something else"});
  check_parts(complaint(p,
                        [](hid_t f) {
                          replace(f, "/reference/gamma", H5T_IEEE_F64LE, {5, 3});
                        }),
              {"/reference/gamma: expected 90 values, found 15"});
}

TEST_CASE("values that cannot be") {
  const ContactProblem p = full_bodies();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  check_parts(complaint(p, [&](hid_t f) { set_value(f, "/ccp/r", 4, nan); }),
              {"/ccp/r[1]: expected a finite number, found nan"});
  check_parts(complaint(p, [&](hid_t f) { set_value(f, "/contacts/frame", 9, infinity); }),
              {"/contacts/frame[1]: expected a finite number, found inf"});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/contacts/bodies", 2, 4); }),
              {"/contacts/bodies[1]: expected body indices in [-1, 4), found (4, "});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/contacts/bodies", 3, -2); }),
              {"/contacts/bodies[1]: expected body indices in [-1, 4), found (", ", -2)"});
  check_parts(complaint(p,
                        [](hid_t f) {
                          set_value(f, "/contacts/bodies", 4, 2);
                          set_value(f, "/contacts/bodies", 5, 2);
                        }),
              {"/contacts/bodies[2]: expected two different bodies", "found (2, 2)"});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/bodies/inverse_mass", 1, -0.5); }),
              {"/bodies/inverse_mass[1]: expected a value >= 0, found -0.5"});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/ccp/mu", 7, -0.1); }),
              {"/ccp/mu[7]: expected a value >= 0, found -0.1"});
  check_parts(
      complaint(p, [](hid_t f) { set_value(f, "/contacts/frame", 3, 3); }),
      {"/contacts/frame[0]: expected orthonormal rows n, t1, t2 (to 1e-08), found max|F F^T - "
       "I| = "});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/bodies/radius", 0, 0); }),
              {"/bodies/radius[0]: expected a radius > 0, found 0"});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/contacts/stiffness", 3, 0); }),
              {"/contacts/stiffness[1]: expected a stiffness > 0, found 0"});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/contacts/compliance", 3, -1); }),
              {"/contacts/compliance[1]: expected a value >= 0, found -1"});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/bodies/inverse_inertia", 1, 50); }),
              {"/bodies/inverse_inertia[0]: expected a symmetric matrix"});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/bodies/orientation", 4, 1); }),
              {"/bodies/orientation[1]: expected a unit quaternion, found length 1.28"});
  check_parts(complaint(p, [](hid_t f) { set_number(f, "/ccp", "dt", -1); }),
              {"/ccp attribute dt: expected a time step >= 0, found -1"});
}

TEST_CASE("a gravity or reference that is not finite") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ContactProblem p = full_bodies();
  p.gravity[1] = nan;
  check_parts(refusal(p), {"gravity", "expected ", "found nan"});
  p = full_bodies();
  p.reference->gamma[3] = nan;
  check_parts(refusal(p), {"/reference/gamma[1]", "expected a finite number, found nan"});
}

TEST_CASE("content that is not what was hashed") {
  const ContactProblem p = full_bodies();
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/ccp/mu", 0, 0.625); }),
              {"root attribute content_sha256: expected the hash of the content, ", ", found ",
               p.content_hash()});
  check_parts(complaint(p, [](hid_t f) { set_number(f, "/ccp", "dt", 0.5); }),
              {"root attribute content_sha256"});
  check_parts(complaint(p, [](hid_t f) { H5Adelete(f, "content_sha256"); }),
              {"root attribute content_sha256: expected a string, found nothing"});
}

TEST_CASE("a bad block matrix") {
  const ContactProblem p = full_assembled();
  const auto blocks = std::to_string(p.delassus.columns.size());
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/delassus/columns", 1, 30); }),
              {"/delassus/columns[1]: expected ascending block columns in [0, 30), found 30"});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/delassus/columns", 0, -1); }),
              {"/delassus/columns[0]: expected ascending block columns in [0, 30), found -1"});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/delassus/columns", 1, 0); }),
              {"/delassus/columns[1]: expected ascending block columns"});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/delassus/row_offsets", 1, -3); }),
              {"/delassus/row_offsets[1]: expected ascending offsets, found -3"});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/delassus/row_offsets", 29, 1e6); }),
              {"/delassus/row_offsets[29]: expected ascending offsets, found 1000000"});
  check_parts(complaint(p, [](hid_t f) { set_value(f, "/delassus/row_offsets", 0, 1); }),
              {"/delassus/row_offsets: expected 31 offsets from 0 to " + blocks});
  check_parts(
      complaint(p, [](hid_t f) { replace(f, "/delassus/row_offsets", H5T_STD_I64LE, {30}); }),
      {"/delassus/row_offsets: expected 31 offsets from 0 to " + blocks + ", found 30 values"});
  // Not symmetric: in a value, and in the places of its blocks.
  check_parts(
      complaint(p, [](hid_t f) { set_value(f, "/delassus/blocks", 1, 7); }),
      {"/delassus block (0, 0): expected the transpose of block (0, 0), found a difference of "});
  ContactProblem lopsided = p;
  lopsided.delassus.row_offsets = {0, 2, 3};
  lopsided.delassus.columns = {0, 1, 1};
  lopsided.delassus.blocks.assign(27, 0.0);
  lopsided.mu.resize(2);
  lopsided.r.resize(6);
  lopsided.stiffness.clear();
  lopsided.compliance.clear();
  lopsided.reference.reset();
  lopsided.delassus.blocks[9] = 1;
  check_parts(refusal(lopsided),
              {"/delassus block (0, 1): expected the transpose of block (1, 0)"});
  check_parts(complaint(p,
                        [](hid_t f) {
                          replace(f, "/delassus/blocks", H5T_IEEE_F64LE, {2, 3, 3});
                        }),
              {"/delassus/blocks: expected ", ", found 18"});
  check_parts(complaint(p, [](hid_t f) { replace(f, "/delassus/blocks", H5T_IEEE_F64LE, {9}); }),
              {"/delassus/blocks: expected shape [rows, 3, 3], found [9]"});
}

TEST_CASE("an existing file is overwritten only when asked, and then wholly or not at all") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  ContactProblem p = full_bodies();
  write_problem(path, p, false);
  const std::string before = read_text(path);
  const ContactProblem other = random_problem({3, 5, false, false, 1});
  check_parts(error_of([&] { write_problem(path, other, false); }),
              {path + ": expected no file of that name (--force overwrites it), found an existing "
                      "file"});
  CHECK(read_text(path) == before);
  p.mu[0] = -1;
  error_of([&] { write_problem(path, p, true); });
  CHECK(read_text(path) == before);
  write_problem(path, other, true);
  CHECK(read_problem(path).contacts() == 5);
  CHECK(folder.names() == std::vector<std::string>{"x.h5"});
}

TEST_CASE("output that cannot be written is refused before the work") {
  const TemporaryFolder folder;
  check_parts(
      error_of([&] { check_output_path(folder.file("no/x.h5"), false); }),
      {folder.file("no/x.h5"), "expected an existing folder to write to, found no folder "});
  check_parts(error_of([&] { check_output_path(folder.path().string(), true); }),
              {"expected a file name, found a folder"});
  write_text(folder.file("x.h5"), "");
  check_parts(error_of([&] { check_output_path(folder.file("x.h5"), false); }),
              {"found an existing file"});
  CHECK_NOTHROW(check_output_path(folder.file("x.h5"), true));
  CHECK_NOTHROW(check_output_path(folder.file("y.h5"), false));
}

TEST_CASE("a file that is locked is not called damaged") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  write_problem(path, full_bodies(), false);
  const int writer = ::open(path.c_str(), O_RDWR);
  REQUIRE(flock(writer, LOCK_EX | LOCK_NB) == 0);
  check_parts(error_of([&] { read_problem(path); }),
              {path + ": expected a file that can be read now, found one that another program has "
                      "locked, to write to it"});
  close(writer);
  CHECK_NOTHROW(read_problem(path));
}

TEST_CASE("a name that is not UTF-8 is read with replacement characters") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  ContactProblem p = full_bodies();
  p.name = "br\xFClant";
  write_problem(path, p, false);
  CHECK(read_problem(path).name == "br\xEF\xBF\xBDlant");
}

TEST_CASE("an abandoned file leaves nothing behind") {
  const TemporaryFolder folder;
  {
    Hdf5File file = Hdf5File::create(folder.file("x.h5"), false);
    file.write("/a/b", std::vector<double>{1, 2}, {2});
    CHECK(folder.names().empty());  // what is written stays in memory until commit()
  }
  CHECK(folder.names().empty());
}

TEST_CASE("a full disk is an error, leaves nothing behind and spares the old file") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  const ContactProblem small = random_problem({3, 5, false, false, 1});
  const ContactProblem large = random_problem({50, 3000, true, true, 1});
  write_problem(path, small, false);
  check_full_disk(folder, path, [&] { write_problem(path, large, true); });
  write_problem(path, large, true);  // and the library is none the worse for it
  CHECK(read_problem(path).contacts() == 3000);
}

// Memory is of the order of the problem, whatever its size: neither the file nor a part of it that
// grows with it is held beside it.
TEST_CASE("large problems are written without a copy of them in memory, and read with one") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  const ContactProblem problem = large_problem(300000);
  double bytes = 0;
  for (const ArrayField& field : array_fields(const_cast<ContactProblem&>(problem))) {
    if (field.doubles) bytes += 8.0 * static_cast<double>(field.doubles->size());
    if (field.ints) bytes += 4.0 * static_cast<double>(field.ints->size());
  }
  REQUIRE(bytes > 40e6);
  write_problem(folder.file("first.h5"), random_problem({4, 30, true, true, 3}), false);
  const double writing = rise_during([&] { write_problem(path, problem, false); });
  CHECK(writing < 0.2 * bytes);
  CHECK(folder.names() == std::vector<std::string>{"first.h5", "x.h5"});
  ContactProblem read;
  const double reading = rise_during([&] { read = read_problem(path); });
  if (reading == 0) SKIP("this system does not tell how much memory was used at most");
  CHECK(reading < 1.2 * bytes);
  CHECK(reading > 0.9 * bytes);
  CHECK(read.content_hash() == problem.content_hash());
}
