#pragma once

// Studies and results that the tests of the harness start from.
#include <string>

#include "harness/run/run.hpp"
#include "harness/study/study.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/scenes/hand_scenes.hpp"
#include "tests/support.hpp"

namespace ccp::test {

/// A folder with the scenes "stack" and "v-groove" and a study to be written.
struct Folder : TemporaryFolder {
  Folder() {
    write_problem(file("stack.h5"), make_scene("stack"), false);
    write_problem(file("groove.h5"), make_scene("v-groove"), false);
  }
  Study read(const std::string& text) const {
    write_text(file("study.yaml"), text);
    return read_study(file("study.yaml"));
  }
  /// The complaint about a study; it names the file.
  std::string complaint(const std::string& text) const {
    const std::string message = error_of([&] { read(text); });
    check_begins(message, file("study.yaml") + ": ");
    return message;
  }
};

inline const std::string smallest = "name: demo\nproblems: [stack.h5]\nsolvers: [pgj]\n";

RunRequest some_request();
RunResult some_result();

}  // namespace ccp::test
