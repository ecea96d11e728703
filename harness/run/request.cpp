#include "harness/run/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>

#include "harness/run/start.hpp"
#include "problems/base/error.hpp"
#include "solvers/core/backend.hpp"
#include "solvers/registry.hpp"

namespace ccp {
namespace {

using FieldShape = RequestField::Shape;
using InKey = RequestField::InKey;
using R = const RunRequest&;
using Text = const std::string&;

/// A row as it is written below: what it is, then where it appears.
struct Row : RequestField {
  Row(Text field_name, FieldShape field_shape, Text allowed_text, Text help_text) {
    name = field_name;
    shape = field_shape;
    allowed = allowed_text;
    help = help_text;
  }
  Row& gets(std::function<Value(R)> get) {
    value = std::move(get);
    return *this;
  }
  Row& sets(std::function<void(RunRequest&, Text text, Text where)> put) {
    set = std::move(put);
    return *this;
  }
  Row& on_command_line(Text written, Text with = "") {
    option = written;
    needs = with;
    return *this;
  }
  Row& hidden_on_command_line(Text written, Text with = "") {
    hidden = true;
    return on_command_line(written, with);
  }
  Row& must_be_given() {
    required = true;
    return *this;
  }
  Row& in_studies() {
    in_study = true;
    return *this;
  }
  Row& in_keys(InKey use = InKey::always) {
    in_key = use;
    return *this;
  }
  Row& in_keys_as(std::function<std::string(R)> as) {
    key_text = std::move(as);
    return in_keys();
  }
  Row& at_root() {
    root_attribute = true;
    return *this;
  }
};

[[noreturn]] void refuse(Text where, Text allowed, Text text) {
  throw InputError(where, "", allowed, found_value(text));
}

double read_number(Text text, Text where, Text allowed, bool zero = false) {
  double value = 0;
  if (!parse_number(text, value) || !std::isfinite(value) || value < 0 || (value == 0 && !zero)) {
    refuse(where, allowed, text);
  }
  return value;
}

template <class Integer>
void read_integer(Text text, Text where, Text allowed, Integer& field) {
  Integer value = 0;
  if (!parse_number(text, value) || value < 1) refuse(where, allowed, text);
  field = value;
}

// Where a field is: in the request, or in its recorder's options.
template <class T>
T& at(RunRequest& request, T RunRequest::*field) {
  return request.*field;
}
template <class T>
T& at(RunRequest& request, T RecorderOptions::*field) {
  return request.recorder.*field;
}
template <class Field>
const auto& at(R request, Field field) {
  return at(const_cast<RunRequest&>(request), field);
}

template <class Field>
Row number(Text name, Field field, bool zero, Text help) {
  const std::string allowed = zero ? "a number >= 0" : "a number > 0";
  return Row(name, FieldShape::number, allowed, help)
      .gets([=](R r) { return at(r, field); })
      .sets([=](RunRequest& r, Text text, Text where) {
        at(r, field) = read_number(text, where, allowed, zero);
      });
}
template <class Field>
Row positive(Text name, Field field, Text help) {
  return number(name, field, false, help);
}
template <class Field>
Row not_negative(Text name, Field field, Text help) {
  return number(name, field, true, help);
}

template <class Field>
Row integer(Text name, Field field, Text help) {
  const std::string allowed = "a whole number >= 1";
  return Row(name, FieldShape::integer, allowed, help)
      .gets([=](R r) { return std::int64_t{at(r, field)}; })
      .sets([=](RunRequest& r, Text text, Text where) {
        read_integer(text, where, allowed, at(r, field));
      });
}

template <class Field>
Row flag(Text name, Field field, Text help) {
  const std::string allowed = "true or false";
  return Row(name, FieldShape::flag, allowed, help)
      .gets([=](R r) { return std::string(at(r, field) ? "true" : "false"); })
      .sets([=](RunRequest& r, Text text, Text where) {
        if (text != "true" && text != "false") refuse(where, allowed, text);
        at(r, field) = text == "true";
      });
}

Row text(Text name, std::string RunRequest::*field, Text help) {
  return Row(name, FieldShape::text, "a text", help)
      .gets([=](R r) { return r.*field; })
      .sets([=](RunRequest& r, Text text, Text) { r.*field = text; });
}

// ---- fields that are more than a number or a text

std::string iteration_limit_text(R r) {
  const long limit = r.recorder.iteration_limit;
  return limit == std::numeric_limits<long>::max() ? "" : fmt::format("{}", limit);
}

/// With its options; the name of an external one is nothing but a name.
void set_solver(RunRequest& r, Text text, Text) {
  if (r.external) {
    r.solver = {text, {}};
  } else {
    r.solver = SolverSpec::parse(text);
  }
}

void set_start(RunRequest& r, Text text, Text where) {
  r.start = canonical_start(text, where);
}

void set_stop(RunRequest& r, Text text, Text where) {
  if (text.empty()) refuse(where, "MEASURE=VALUE,...", text);
  const std::vector<Target> stop = parse_targets(text, where);
  std::set<Measure> measures;
  for (const Target& target : stop) {
    if (!measures.insert(target.measure).second) {
      throw InputError(where, "", "each measure once", name_of(target.measure) + " again");
    }
  }
  r.recorder.stop = stop;
}

void set_external(RunRequest& r, Text text, Text where) {
  if (!r.external) r.external.emplace();
  r.external->command = split_command(text, where);
}

/// What is between the commas.
std::vector<std::string> words_of_list(Text text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::vector<double> read_numbers(Text text, Text where) {
  std::vector<double> values;
  for (const std::string& word : words_of_list(text)) {
    values.push_back(read_number(word, where, "numbers > 0"));
  }
  return values;
}

std::vector<RequestField> make_fields() {
  using Request = RunRequest;
  using Recorder = RecorderOptions;
  return {
      text("problem", &Request::problem_file, "Problem file or catalogue name")
          .on_command_line("problem")
          .must_be_given(),
      // Before the solver, which is only a name where there is one.
      Row("external", FieldShape::text, "a command",
          "Command of somebody else's program, named by --solver: see "
          "docs/add-an-external-solver.md")
          .gets([](R r) { return r.external ? join_command(r.external->command) : ""; })
          .sets(set_external)
          .on_command_line("--external"),
      Row("law", FieldShape::choice, allowed_texts<Law>(), "Law that the external program solves")
          .gets([](R r) { return to_string(r.external ? r.external->law : Law::convex); })
          .sets([](Request& r, Text text, Text where) {
            const Law law = read_enum<Law>(text, where);
            if (r.external) r.external->law = law;
          })
          .on_command_line("--law", "external"),
      Row("tolerances", FieldShape::numbers, "numbers > 0",
          "Start the external program for each of these")
          .gets([](R r) { return r.external ? tolerances_text(*r.external) : ""; })
          .sets([](Request& r, Text text, Text where) {
            const std::vector<double> tolerances = read_numbers(text, where);
            if (r.external) r.external->tolerances = tolerances;
          })
          .on_command_line("--tolerances", "external"),
      Row("features", FieldShape::list, "compliant, rolling, equality",
          "What of problems the external program takes, beyond plain contacts")
          .gets([](R r) { return r.external ? features_text(*r.external) : ""; })
          .sets([](Request& r, Text text, Text where) {
            std::vector<Feature> features;
            for (const std::string& word : words_of_list(text)) {
              features.push_back(read_enum<Feature>(word, where));
            }
            if (r.external) r.external->features = features;
          })
          .on_command_line("--features", "external"),
      Row("depends", FieldShape::list, "files", "Files that the external program reads as well")
          .gets([](R r) { return r.external ? depends_text(*r.external) : ""; })
          .sets([](Request& r, Text text, Text) {
            if (r.external) r.external->depends = words_of_list(text);
          })
          .hidden_on_command_line("--depends", "external"),
      Row("folder", FieldShape::text, "a folder", "Where the external program is started")
          .gets([](R r) { return r.external ? r.external->folder : ""; })
          .sets([](Request& r, Text text, Text) {
            if (r.external) r.external->folder = text;
          })
          .hidden_on_command_line("--folder"),
      Row("solver", FieldShape::text, "a solver",
          "ID[option=value,...], see `ccpbench list solvers`")
          .gets([](R r) { return r.solver.text(); })
          .sets(set_solver)
          .on_command_line("-s,--solver")
          .must_be_given()
          .in_keys_as([](R r) { return r.solver.id; }),  // key_parts() adds the options
      Row("start", FieldShape::text, "a start",
          "Where to begin: cold, a guess of the problem (NAME or NAME*0.85), history, reference, "
          "or a result file with impulses")
          .gets([](R r) { return r.start; })
          .sets(set_start)
          .on_command_line("--start")
          .at_root(),  // key_parts() adds its values
      Row("stop", FieldShape::list, "MEASURE=VALUE,...",
          "End when the referee measures all of MEASURE=VALUE,...; the first is the one that is "
          "shown")
          .gets([](R r) { return targets_text(r.recorder.stop); })
          .sets(set_stop)
          .on_command_line("--stop")
          .in_studies()
          .in_keys()
          .at_root(),
      Row("targets", FieldShape::list, "MEASURE=VALUE,...",
          "Record when each MEASURE=VALUE,... is first reached")
          .gets([](R r) { return targets_text(r.recorder.targets); })
          .sets([](Request& r, Text text, Text where) {
            r.recorder.targets = parse_targets(text, where);
          })
          .on_command_line("--targets")
          .in_studies()
          .in_keys_as([](R r) { return targets_text(r.recorder.targets, ", "); }),
      positive("time_limit", &Recorder::time_limit, "Seconds of solving")
          .on_command_line("--time-limit")
          .in_studies()
          .in_keys()
          .at_root(),
      Row("max_outer", FieldShape::integer, "a whole number >= 1", "Limit of outer iterations")
          .gets(iteration_limit_text)
          .sets([](Request& r, Text text, Text where) {
            read_integer(text, where, "a whole number >= 1", r.recorder.iteration_limit);
          })
          .on_command_line("--max-outer")
          .in_keys(InKey::unless_default),
      positive("memory_limit", &Request::memory_limit, "GB that the process may hold")
          .hidden_on_command_line("--memory-limit")
          .in_studies()
          .in_keys(),
      integer("threads", &Request::threads, "Threads of the OpenMP back end")
          .on_command_line("--threads")
          .in_keys(),
      integer("ranks", &Request::ranks, "Processes that share the problem, started by mpiexec")
          .on_command_line("--ranks")
          .in_keys(),
      not_negative("warm_up", &Request::warm_up,
                   "Seconds of work before the solve that wake the processor")
          .on_command_line("--warm-up")
          .in_studies()
          .in_keys(),
      not_negative("look_budget", &Recorder::budget,
                   "Part of the solve time that looks at the iterate may take after 100 iterations")
          .on_command_line("--look-budget")
          .in_studies()
          .in_keys(InKey::unless_default),
      flag("keep_gamma", &Request::keep_gamma, "Store the impulses in the result file")
          .on_command_line("--keep-gamma"),
      flag("bare", &Request::bare_check, "Solve again unobserved and report the difference")
          .on_command_line("--bare")
          .in_studies()
          .in_keys(),
      integer("batch", &Request::batch, "How many problems were solved at once"),
      text("study", &Request::study, "Name of the study")
          .hidden_on_command_line("--study")
          .at_root(),
      text("study_description", &Request::study_description, "What the study is about")
          .hidden_on_command_line("--study-description"),
      integer("repetition", &Request::repetition, "Which of equal runs it is")
          .hidden_on_command_line("--repetition")
          .in_keys()
          .at_root(),
  };
}

/// The parts of the first keys, in their order, which the digest depends on: runs that were
/// finished then still are. What came later follows.
constexpr const char* first_key_parts[] = {
    "instance",     "solver", "options", "start",   "threads", "ranks",   "jobs",      "time_limit",
    "memory_limit", "stop",   "targets", "warm_up", "bare",    "referee", "repetition"};

}  // namespace

std::string RequestField::text(const RunRequest& request) const {
  const Value held = value(request);
  if (const auto* number = std::get_if<double>(&held)) return number_text(*number);
  if (const auto* integer = std::get_if<std::int64_t>(&held)) return fmt::format("{}", *integer);
  return std::get<std::string>(held);
}

bool RequestField::is_default(const RunRequest& request) const {
  return text(request) == text(RunRequest());
}

const std::vector<RequestField>& request_fields() {
  static const std::vector<RequestField> fields = make_fields();
  return fields;
}

std::vector<std::string> request_arguments(const RunRequest& request) {
  std::vector<std::string> words;
  for (const RequestField& field : request_fields()) {
    if (field.option.empty() || field.is_default(request)) continue;
    const std::string text = field.text(request);
    if (field.option.front() != '-') {
      words.push_back(text);
      continue;
    }
    const std::string name = field.option.substr(field.option.rfind("--"));
    if (field.shape == FieldShape::flag) {
      words.push_back(name);
    } else if (text.front() == '-') {  // no option of its own
      words.push_back(name + "=" + text);
    } else {
      words.insert(words.end(), {name, text});
    }
  }
  return words;
}

void check_threads(int threads, const std::string& where) {
  if (backend() == Backend::serial && threads != 1) {
    throw InputError(where, "", "1: this build runs on Kokkos Serial", fmt::format("{}", threads));
  }
}

namespace {

void check_on_ranks(const RunRequest& request) {
  const std::string found = fmt::format("{}", request.ranks);
  if (request.external) {
    throw InputError("--ranks", "", "1 with --external, whose program does as it likes", found);
  }
  if (const std::string reason = why_unsupported_on_ranks(request.solver); !reason.empty()) {
    throw InputError("--ranks", "", fmt::format("1 with {}", request.solver.id),
                     found + ": " + reason);
  }
  if (request.start != "cold") {
    throw InputError("--ranks", "", "1 with --start, as several ranks start cold", found);
  }
}

}  // namespace

void complete(RunRequest& request) {
  if (request.external) {
    request.external->name = request.solver.id;
    check_external(*request.external, "--external");
    if (request.start != "cold" || request.bare_check) {
      throw InputError("--external", "", "a cold start, and no bare run", "--start or --bare");
    }
  }
  check_threads(request.threads, "--threads");
  if (!request.external) request.solver = canonical_solver(request.solver);
  if (request.ranks > 1) check_on_ranks(request);
  judge_by_law(request);
}

Law law_of(const RunRequest& request) {
  return request.external ? request.external->law : make_solver(request.solver)->law();
}

std::vector<OptionList::Entry> options_of(const RunRequest& request) {
  if (!request.external) return make_solver(request.solver)->options().entries();
  return {{"command", join_command(request.external->command), "", ""},
          {"tolerances", tolerances_text(*request.external), "", ""}};
}

void judge_by_law(RunRequest& request) {
  const Law law = law_of(request);
  for (Target& target : request.recorder.stop) target = judged_by(law, target);
  for (Target& target : request.recorder.targets) target = judged_by(law, target);
}

KeyParts key_parts(const RunRequest& request, const std::string& instance, const std::string& start,
                   int jobs) {
  std::string options;
  if (request.external) {
    options = external_identity(*request.external);
  } else {
    for (const auto& option : options_of(request)) {
      options += (options.empty() ? "" : ", ") + option.name + "=" + option.value;
    }
  }
  KeyParts parts = {{"instance", instance},
                    {"options", options},
                    {"start", start},
                    {"jobs", fmt::format("{}", jobs)},
                    {"referee", fmt::format("{}", referee_version)}};
  for (const RequestField& field : request_fields()) {
    const bool enters = field.in_key == InKey::always ||
                        (field.in_key == InKey::unless_default && !field.is_default(request));
    if (!enters) continue;
    parts.emplace_back(field.name, field.key_text ? field.key_text(request) : field.text(request));
  }
  const auto place = [](const auto& part) {
    return std::find(std::begin(first_key_parts), std::end(first_key_parts), part.first);
  };
  std::stable_sort(parts.begin(), parts.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return parts;
}

}  // namespace ccp
