#include <fmt/format.h>

#include <memory>

#include "harness/app/app.hpp"
#include "harness/result_file.hpp"
#include "problems/error.hpp"
#include "problems/hdf5_file.hpp"
#include "problems/problem_file.hpp"

namespace ccp::app {
namespace {

std::string check_file(const std::string& path) {
  const auto format = Hdf5File::open(path).string_attribute("/", "format");
  if (format && *format == "ccpbench-result") {
    const ResultSummary summary = read_result(path);
    return fmt::format("result, {} on {}: {}", summary.solver, summary.instance, summary.status);
  }
  if (format && *format == "ccpbench-problem") {
    const ContactProblem problem = read_problem(path);
    return fmt::format("problem {}, {} contacts, {} bodies", problem.name, problem.contacts(),
                       problem.bodies());
  }
  throw InputError(path, "root attribute format", "'ccpbench-problem' or 'ccpbench-result'",
                   format ? "'" + *format + "'" : "nothing");
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("check", "Validate problem and result files");
  auto files = std::make_shared<std::vector<std::string>>();
  command->add_option("files", *files, "Files to look at")->required();
  command->callback([files, &context] {
    for (const std::string& path : *files) {
      try {
        fmt::print("{}: good ({})\n", path, check_file(path));
      } catch (const InputError& fault) {
        fmt::print(stderr, "ccpbench: {}\n", fault.what());
        context.exit_code = bad_input;
      }
    }
  });
}

}  // namespace ccp::app
