#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "harness/app/app.hpp"
#include "harness/run/provenance.hpp"
#include "problems/base/error.hpp"

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

/// Says that standard output took less than what was printed.
int not_printed() {
  fmt::print(stderr, "ccpbench: standard output: expected room for what is printed, found {}\n",
             std::strerror(errno));
  return bad_input;
}

}  // namespace

int run_program(int argc, char** argv) {
  Context context;
  std::error_code error;
  context.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) context.program = argv[0];
  context.command_line = "ccpbench";
  for (int i = 1; i < argc; ++i) context.command_line += " " + quoted(argv[i]);

  CLI::App app{"Benchmark suite for cone complementarity problems of nonsmooth contact dynamics"};
  app.name("ccpbench");
  app.set_version_flag("--version", version_text(),
                       "Print version, commit, compiler and libraries");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 bad input, 2 usage, 3 target not reached, 4 a run crashed.\n"
      "Start with: ccpbench list problems; ccpbench solve test-problem-1 --solver ipm");
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
  add_manual(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {  // --help, --version
    return app.exit(request);
  } catch (const CLI::ParseError& fault) {
    app.exit(fault);
    return usage;
  } catch (const ccp::InputError& fault) {
    fmt::print(stderr, "ccpbench: {}\n", fault.what());
    return bad_input;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "ccpbench: out of memory\n");
    return run_crashed;
  } catch (const std::exception& fault) {
    if (std::ferror(stdout) != 0) return not_printed();  // fmt threw it
    fmt::print(stderr, "ccpbench: internal error: {}\n", fault.what());
    return run_crashed;
  }
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? context.exit_code : not_printed();
}

}  // namespace ccp::app
