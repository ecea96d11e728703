#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ccp::app {

/// What a word may become.
struct Completion {
  struct Word {
    std::string text, help;
  };
  std::vector<Word> words;
  bool files = false;  ///< names of files, too
};

/// Completes the last of the words that follow the program's name. Commands and options are those
/// of `app` without the hidden ones; what an option takes is told by its type name: SOLVER,
/// PROBLEM, STUDY, SCENE, MEASURE, MEASURE=VALUE, PRECONDITIONER, METHOD, START, FILE, FOLDER,
/// KIND, or the choices with | between.
Completion complete(const CLI::App& app, const std::vector<std::string>& words);

/// The same for the shells' scripts: a line for each word, with a tab before its help, and the line
/// ":files" where names of files fit as well.
std::string completion_text(const Completion& completion);

/// The script that makes a shell ask `ccpbench --complete WORDS...`.
/// @param shell  bash, zsh or fish
std::string completion_script(const std::string& shell);

}  // namespace ccp::app
