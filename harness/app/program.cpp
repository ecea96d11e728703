#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "harness/app/app.hpp"
#include "harness/app/completion.hpp"
#include "harness/app/usage_fault.hpp"
#include "harness/run/provenance.hpp"
#include "problems/base/error.hpp"
#include "problems/base/output_file.hpp"
#include "problems/base/text.hpp"

namespace {

std::string version_text() {
  const ccp::Provenance p = ccp::build_provenance();
  return fmt::format(
      "ccpbench {}\ncommit    {}\ncompiler  {} ({} {})\nKokkos    {}, {}\nTrilinos  {}", p.version,
      p.commit, p.compiler, p.build_type, p.flags, p.kokkos, p.backend, p.trilinos);
}

std::string quoted(const std::string& word) {
  const bool plain = word.find_first_of(" '\"[]*?$&|;<>()") == std::string::npos && !word.empty();
  return plain ? word : "'" + word + "'";
}

}  // namespace

namespace ccp::app {
namespace {

/// Help with the defaults behind the descriptions, not in the middle of the types.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() != 0) text += " " + option->get_type_name();
    if (option->get_expected_max() > 1) text += " ...";
    return text + (option->get_required() ? " REQUIRED" : "");
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    const std::string value = option->get_default_str();
    if (option->get_type_size() != 0 && !value.empty()) text += " (default: " + value + ")";
    for (const CLI::Option* other : option->get_needs()) text += "; only with " + other->get_name();
    for (const CLI::Option* other : option->get_excludes())
      text += "; not with " + other->get_name();
    return text;
  }
};

void complain(const std::string& message) {
  fmt::print(stderr, "{}\n", valid_utf8(message));
}

/// A process that is interrupted leaves no half-written file, and ends by the signal all the same.
/// A signal that is ignored (nohup) stays so.
void clean_up_when_interrupted() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = [](int signal) {
      remove_unfinished_files();
      raise(signal);
    };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(number, &action, nullptr);
  }
}

/// Says that standard output took less than what was printed.
int not_printed() {
  fmt::print(stderr, "ccpbench: standard output: expected room for what is printed, found {}\n",
             std::strerror(errno));
  return bad_input;
}

}  // namespace

int run_program(int argc, char** argv) {
  clean_up_when_interrupted();
  Context context;
  std::error_code error;
  context.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) context.program = argv[0];
  context.command_line = "ccpbench";
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (const std::string& word : words) context.command_line += " " + valid_utf8(quoted(word));

  CLI::App app{"Benchmark suite for cone complementarity problems of nonsmooth contact dynamics"};
  app.name("ccpbench");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", version_text(),
                       "Print version, commit, compiler and libraries");
  app.require_subcommand(1);
  const std::string codes =
      "Exit codes: 0 done, 1 bad input, 2 usage, 3 target not reached, 4 a run crashed.";
  app.footer(codes);  // of the commands, too
  add_list(app, context);
  add_generate(app, context);
  add_certify(app, context);
  add_simulate(app, context);
  add_import(app, context);
  add_export(app, context);
  add_info(app, context);
  add_check(app, context);
  add_solve(app, context);
  add_run(app, context);
  add_freeze_systems(app, context);
  add_precond(app, context);
  add_report(app, context);
  add_compare(app, context);
  add_merge(app, context);
  add_submit(app, context);
  add_capture(app, context);
  add_manual(app);
  app.footer(codes +
             "\nccpbench COMMAND --help has the options of a command.\n"
             "Start with: ccpbench list problems; ccpbench solve test-problem-1 --solver vipm");
  if (!words.empty() && words.front() == "--complete") {  // asked by the shells' scripts
    fmt::print("{}", completion_text(complete(app, {words.begin() + 1, words.end()})));
    return std::fflush(stdout) == 0 ? done : not_printed();
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    context.exit_code = app.exit(request);
  } catch (const CLI::ParseError& fault) {
    complain(usage_fault(app, words, fault));
    return usage;
  } catch (const ccp::InputError& fault) {
    complain(std::string("ccpbench: ") + fault.what());
    return bad_input;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "ccpbench: out of memory\n");
    return run_crashed;
  } catch (const std::exception& fault) {
    if (std::ferror(stdout) != 0) return not_printed();  // fmt threw it
    complain(std::string("ccpbench: internal error: ") + fault.what());
    return run_crashed;
  }
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? context.exit_code : not_printed();
}

}  // namespace ccp::app
