#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/app/app.hpp"
#include "problems/base/error.hpp"
#include "problems/base/root_folder.hpp"

namespace ccp::app {
namespace fs = std::filesystem;

namespace {

/// A program of scripts/: in the folder that CCPBENCH_SCRIPTS_DIR names, or our own.
std::string find_script(const std::string& name) {
  const char* configured = std::getenv("CCPBENCH_SCRIPTS_DIR");
  const fs::path folder =
      configured && *configured ? fs::path(configured) : fs::path(root_folder()) / "scripts";
  if (is_regular_file((folder / name).string())) return (folder / name).string();
  throw InputError((folder / name).string(), "", "the program that does this",
                   "no such file (CCPBENCH_SCRIPTS_DIR says where it is)");
}

/// Becomes that program; its exit code is ours. What it asks of ccpbench, it asks of us.
void become(const Context& context, std::vector<std::string> words) {
  setenv("CCPBENCH", context.program.c_str(), 1);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  execv(arguments[0], arguments.data());
  throw InputError(words[0], "", "to start it (it needs Python 3)", std::strerror(errno));
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("report", "Make an HTML page of the results in a folder");
  struct Arguments {
    std::string folder, output, measure, title, figures, site;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("folder", arguments->folder, "Folder of result files")
      ->required()
      ->type_name("FOLDER");
  command
      ->add_option("-o,--output", arguments->output, "The page (default report.html in the folder)")
      ->type_name("FILE");
  command
      ->add_option("--measure", arguments->measure,
                   "What is shown first (default: that of the stop)")
      ->type_name("MEASURE");
  command->add_option("--title", arguments->title, "Instead of the study's name");
  command
      ->add_option("--figures", arguments->figures,
                   "Also write the figures as PNG and PDF to this folder")
      ->type_name("FOLDER");
  command
      ->add_option("--site", arguments->site,
                   "Write pages to this folder instead: profiles, instances, solvers, raw files")
      ->type_name("FOLDER");
  command->callback([arguments, &context] {
    std::vector<std::string> words = {find_script("report"), arguments->folder};
    const auto add = [&](const char* name, const std::string& value) {
      if (!value.empty()) words.insert(words.end(), {name, value});
    };
    add("--output", arguments->output);
    add("--measure", arguments->measure);
    add("--title", arguments->title);
    add("--figures", arguments->figures);
    add("--site", arguments->site);
    become(context, words);
  });
}

void add_compare(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand("compare", "Compare two folders of results, run by run");
  struct Arguments {
    std::string a, b, target;
    bool mixed = false, json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("DIR_A", arguments->a, "Results to compare with")
      ->required()
      ->type_name("FOLDER");
  command->add_option("DIR_B", arguments->b, "Results that may have got worse")
      ->required()
      ->type_name("FOLDER");
  command
      ->add_option("--target", arguments->target,
                   "At which to compare (default: the stop of the runs)")
      ->type_name("MEASURE=VALUE");
  command->add_flag("--mixed", arguments->mixed,
                    "Compare different problems of one name, and referee versions");
  command->add_flag("--json", arguments->json, "Print one JSON object");
  command->callback([arguments, &context] {
    std::vector<std::string> words = {find_script("compare"), arguments->a, arguments->b};
    if (!arguments->target.empty()) words.insert(words.end(), {"--target", arguments->target});
    if (arguments->mixed) words.emplace_back("--mixed");
    if (arguments->json) words.emplace_back("--json");
    become(context, words);
  });
}

void add_merge(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "merge", "Put results of several machines into one folder, a series of each machine");
  struct Arguments {
    std::vector<std::string> folders;
    std::string output;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("folders", arguments->folders, "Folders of result files: DIR or NAME=DIR")
      ->required();
  command->add_option("-o,--output", arguments->output, "A folder without result files")
      ->required();
  command->callback([arguments, &context] {
    std::vector<std::string> words = {find_script("merge"), "--output", arguments->output, "--"};
    words.insert(words.end(), arguments->folders.begin(), arguments->folders.end());
    become(context, words);
  });
}

void add_submit(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "submit", "Judge results of others again, and put them beside those of a folder");
  struct Arguments {
    std::vector<std::string> files;
    std::string folder, problems;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("files", arguments->files, "Result files with impulses (--keep-gamma)")
      ->required()
      ->type_name("FILE");
  command->add_option("--to", arguments->folder, "The folder of results")
      ->required()
      ->type_name("FOLDER");
  command
      ->add_option("--problems", arguments->problems,
                   "Where the problems are, beside the catalogue's")
      ->type_name("FOLDER");
  command->callback([arguments, &context] {
    std::vector<std::string> words = {find_script("submit"), "--to", arguments->folder};
    if (!arguments->problems.empty()) {
      words.insert(words.end(), {"--problems", arguments->problems});
    }
    words.emplace_back("--");
    words.insert(words.end(), arguments->files.begin(), arguments->files.end());
    become(context, words);
  });
}

void add_capture(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "capture", "Freeze contact problems of steps of MuJoCo, Pinocchio, Drake or PyBullet");
  struct Arguments {
    std::string engine, scene, output, steps, after, every, contacts;
    bool force = false;
  };
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("engine", arguments->engine,
                   "mujoco, pinocchio, drake, pybullet; collection: scenes of all of them; review: "
                   "what solvers reach on them")
      ->required()
      ->type_name("ENGINE");
  command
      ->add_option("scene", arguments->scene,
                   "A file that the engine reads, or boxes, marbles, gripper, quadruped, humanoid "
                   "with [count=N,slope=DEGREES]; of a review: the folder")
      ->type_name("SCENE");
  command
      ->add_option("-o,--output", arguments->output,
                   "The file of steps; of the collection: its folder")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--steps", arguments->steps,
                   "So many (default 10); in a review: of each file (default all)")
      ->type_name("N");
  command
      ->add_option("--after", arguments->after, "The first is the K-th of the engine (default 0)")
      ->type_name("K");
  command->add_option("--every", arguments->every, "Every K-th step (default 1)")->type_name("K");
  command
      ->add_option("--contacts", arguments->contacts,
                   "rigid (default), or the engine's own regularised ones (MuJoCo)")
      ->type_name("MODEL");
  command->add_flag("--force", arguments->force, "Overwrite the output");
  command->callback([arguments, &context] {
    const Arguments& a = *arguments;
    std::vector<std::string> words = {find_script("capture"), "--output=" + a.output};
    const auto add = [&](const char* name, const std::string& value) {
      if (!value.empty()) words.push_back(std::string(name) + "=" + value);
    };
    add("--steps", a.steps);
    add("--after", a.after);
    add("--every", a.every);
    add("--contacts", a.contacts);
    if (a.force) words.emplace_back("--force");
    words.emplace_back("--");
    words.push_back(a.engine);
    if (!a.scene.empty()) words.push_back(a.scene);
    become(context, words);
  });
}

void add_export_results(CLI::App& command, Context& context) {
  struct Arguments {
    std::string folder, output;
    bool curves = false;
  };
  for (const std::string kind : {"csv", "parquet"}) {
    auto* one = command.add_subcommand(
        kind, kind == "csv" ? "The results in a folder as a table, for spreadsheets and R"
                            : "The same as a Parquet file (needs Python's pyarrow)");
    auto arguments = std::make_shared<Arguments>();
    one->add_option("folder", arguments->folder, "Folder of result files")->required();
    one->add_option("-o,--output", arguments->output,
                    "The table (default runs." + kind + " in the folder)");
    one->add_flag("--curves", arguments->curves, "A row per look at an iterate, not per run");
    one->callback([arguments, kind, &context] {
      std::vector<std::string> words = {find_script("export"), kind, arguments->folder};
      if (!arguments->output.empty()) {
        words.insert(words.end(), {"--output", arguments->output});
      }
      if (arguments->curves) words.push_back("--curves");
      become(context, words);
    });
  }
}

}  // namespace ccp::app
