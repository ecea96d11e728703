#include "problems/formats/problem_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "problems/base/error.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/base/text.hpp"
#include "problems/formats/problem_place.hpp"

namespace ccp {
namespace {

constexpr const char* format_name = "ccpbench-problem";

std::string text_or(const Hdf5File& file, const char* object, const char* name) {
  return valid_utf8(file.string_attribute(object, name).value_or(""));
}

/// A single number, or nothing.
std::optional<double> number(const Hdf5File& file, const std::string& object,
                             const std::string& name) {
  const auto values = file.number_attribute(object, name);
  if (!values) return std::nullopt;
  if (values->size() != 1) {
    throw InputError(file.path(), object + " attribute " + name, "one number",
                     fmt::format("{} numbers", values->size()));
  }
  return values->front();
}

std::string required_text(const Hdf5File& file, const char* name) {
  const auto text = file.string_attribute("/", name);
  if (!text) {
    throw InputError(file.path(), fmt::format("root attribute {}", name), "a string", "nothing");
  }
  return valid_utf8(*text);
}

/// Shape check before the data are looked at: [rows, tail...] with the rank and the tail given.
void check_shape(const Hdf5File& file, const ArrayField& field,
                 const std::vector<std::size_t>& shape) {
  const bool good = shape.size() == field.tail.size() + 1 &&
                    std::equal(field.tail.begin(), field.tail.end(), shape.begin() + 1);
  if (good) return;
  std::string expected = "shape [rows";
  for (const std::size_t extent : field.tail) expected += fmt::format(", {}", extent);
  throw InputError(file.path(), field.path, expected + "]",
                   fmt::format("[{}]", fmt::join(shape, ", ")));
}

void read_field(const Hdf5File& file, const ArrayField& field) {
  if (!file.has(field.path)) {
    if (field.required)
      throw InputError(file.path(), field.path, "a dataset", "nothing of that name");
    return;
  }
  const auto fill = [&](auto& target) {
    auto array = file.read<typename std::decay_t<decltype(target)>::value_type>(field.path);
    check_shape(file, field, array.shape);
    target = std::move(array.data);
  };
  if (field.doubles) fill(*field.doubles);
  if (field.ints) fill(*field.ints);
  if (field.longs) fill(*field.longs);
}

}  // namespace

Hdf5File open_problem(const std::string& path) {
  const ProblemPlace place = split_place(path);
  if (place.steps.empty() && is_sequence(path)) {
    throw InputError(path, "",
                     fmt::format("one step of the sequence, {}#0 to {}#{}", path, path,
                                 read_sequence_summary(path).steps - 1),
                     "all of it");
  }
  if (place.steps.empty()) return Hdf5File::open(path);
  if (steps_of(path).size() != 1) throw InputError(path, "", "one step", "several");
  Hdf5File file = Hdf5File::open(place.file);
  file.enter(step_group(std::stoul(place.steps.substr(1))), path);
  return file;
}

int schema_version_of(const ContactProblem& problem) {
  if (!problem.rolling.rows.empty()) return 3;
  return problem.triples() == problem.contacts() ? 1 : 2;
}

ContactProblem read_problem_head(const Hdf5File& file) {
  const std::string& path = file.path();
  const auto format = file.string_attribute("/", "format");
  if (!format || *format != format_name) {
    throw InputError(path, "root attribute format", fmt::format("'{}'", format_name),
                     found_format(file));
  }
  const auto version = number(file, "/", "version");
  if (!version || *version < 1 || *version > problem_schema_version) {
    throw InputError(path, "root attribute version", fmt::format("1 to {}", problem_schema_version),
                     version ? fmt::format("{}", *version) : "nothing");
  }
  ContactProblem problem;
  problem.name = required_text(file, "name");
  const std::string form = required_text(file, "form");
  if (form != "bodies" && form != "assembled") {
    throw InputError(path, "root attribute form", "'bodies' or 'assembled'", "'" + form + "'");
  }
  problem.form = form == "bodies" ? ContactProblem::Form::bodies : ContactProblem::Form::assembled;
  problem.dt = number(file, "/ccp", "dt").value_or(0);
  if (const auto gravity = file.number_attribute("/ccp", "gravity")) {
    if (gravity->size() != 3) {
      throw InputError(path, "/ccp attribute gravity", "3 numbers",
                       fmt::format("{}", gravity->size()));
    }
    std::copy(gravity->begin(), gravity->end(), problem.gravity.begin());
  }
  problem.source = {text_or(file, "/source", "kind"), text_or(file, "/source", "description"),
                    text_or(file, "/source", "generator"), text_or(file, "/source", "parameters"),
                    text_or(file, "/source", "licence")};
  return problem;
}

std::string stored_hash(const Hdf5File& file) {
  return required_text(file, "content_sha256");
}

ContactProblem read_problem(const std::string& path) {
  const Hdf5File file = open_problem(path);
  ContactProblem problem = read_problem_head(file);
  for (const ArrayField& field : array_fields(problem)) read_field(file, field);
  if (file.has("/contacts/identity")) {
    problem.identity = file.read<std::int64_t>("/contacts/identity").data;
  }
  if (problem.form == ContactProblem::Form::assembled) {
    problem.delassus.asymmetry = number(file, "/delassus", "asymmetry").value_or(0);
  }
  if (file.has("/reference")) {
    Reference reference;
    reference.gamma = file.read<double>("/reference/gamma").data;
    if (file.has("/reference/velocity")) {
      reference.velocity = file.read<double>("/reference/velocity").data;
    }
    reference.method = text_or(file, "/reference", "method");
    for (const std::string& name : file.attribute_names("/reference")) {
      if (name != "method") {
        reference.measures[name] = *number(file, "/reference", name);
      }
    }
    problem.reference = std::move(reference);
  }
  for (const std::string& name : file.names("/guesses")) {
    const std::string group = "/guesses/" + name;
    problem.guesses[name] = {file.read<double>(group + "/gamma").data,
                             text_or(file, group.c_str(), "method")};
  }
  problem.validate(path);

  const std::string expected = stored_hash(file);
  const std::string found = problem.content_hash();
  if (expected != found) {
    throw InputError(path, "root attribute content_sha256", "the hash of the content, " + found,
                     expected);
  }
  return problem;
}

bool has_reference(const std::string& path) {
  return open_problem(path).has("/reference");
}

void write_problem(const std::string& path, const ContactProblem& problem, bool overwrite) {
  problem.validate(path);
  // In memory the file would be there twice beside the problem, to be put together and to be
  // written.
  constexpr std::size_t large = 16 << 20;
  std::size_t bytes = 0;
  for (const ArrayField& field : array_fields(const_cast<ContactProblem&>(problem))) {
    bytes += field.bytes();
  }
  const auto storage = bytes > large ? Hdf5File::Storage::disk : Hdf5File::Storage::memory;
  Hdf5File file = Hdf5File::create(path, overwrite, storage);
  put_problem(file, problem);
  file.commit();
}

void put_problem(Hdf5File& file, const ContactProblem& problem) {
  file.make_group("/");
  file.set_attribute("/", "format", format_name);
  file.set_attribute("/", "version", static_cast<std::int64_t>(schema_version_of(problem)));
  file.set_attribute("/", "name", problem.name);
  file.set_attribute("/", "form",
                     problem.form == ContactProblem::Form::bodies ? "bodies" : "assembled");
  file.set_attribute("/", "content_sha256", problem.content_hash());

  auto& fields_of = const_cast<ContactProblem&>(problem);  // array_fields serves the reader too
  for (const ArrayField& field : array_fields(fields_of)) {
    std::size_t tail = 1;
    for (const std::size_t extent : field.tail) tail *= extent;
    const auto put = [&](const auto& data) {
      if (data.empty() && !field.required) return;
      std::vector<std::size_t> shape{data.size() / tail};
      shape.insert(shape.end(), field.tail.begin(), field.tail.end());
      file.write(field.path, data, shape);
    };
    if (field.doubles) put(*field.doubles);
    if (field.ints) put(*field.ints);
    if (field.longs) put(*field.longs);
  }
  if (!problem.identity.empty()) {
    file.write("/contacts/identity", problem.identity, {problem.contacts()});
  }
  file.set_attribute("/ccp", "dt", problem.dt);
  file.set_attribute("/ccp", "gravity",
                     std::vector<double>(problem.gravity.begin(), problem.gravity.end()));
  if (problem.form == ContactProblem::Form::assembled) {
    file.set_attribute("/delassus", "asymmetry", problem.delassus.asymmetry);
    file.set_attribute("/delassus", "symmetrisation", "(A + A^T) / 2");
  }
  if (problem.reference) {
    file.write("/reference/gamma", problem.reference->gamma, {problem.triples(), 3});
    if (!problem.reference->velocity.empty()) {
      file.write("/reference/velocity", problem.reference->velocity, {problem.bodies(), 6});
    }
    file.set_attribute("/reference", "method", problem.reference->method);
    for (const auto& [name, value] : problem.reference->measures) {
      file.set_attribute("/reference", name, value);
    }
  }
  for (const auto& [name, guess] : problem.guesses) {
    file.write("/guesses/" + name + "/gamma", guess.gamma, {problem.triples(), 3});
    file.set_attribute("/guesses/" + name, "method", guess.method);
  }
  file.make_group("/source");
  file.set_attribute("/source", "kind", problem.source.kind);
  file.set_attribute("/source", "description", problem.source.description);
  file.set_attribute("/source", "generator", problem.source.generator);
  file.set_attribute("/source", "parameters", problem.source.parameters);
  file.set_attribute("/source", "licence", problem.source.licence);
}

}  // namespace ccp
