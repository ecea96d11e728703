#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "problems/base/options.hpp"

namespace ccp::app {

/// The options of an OptionList as options of a command: `flow_dt` is `--flow-dt`, with help,
/// allowed values and default from the list.
class ListedOptions {
 public:
  /// @param several  name of an option that takes several values, comma-separated; see values()
  ListedOptions(CLI::App& command, const OptionList& list, const std::string& several = "");

  ListedOptions(const ListedOptions&) = delete;  // CLI11 keeps pointers into it
  ListedOptions& operator=(const ListedOptions&) = delete;

  /// Sets what was given on the command line. @throws InputError for values that are not allowed
  void apply(OptionList list) const;

  /// The values of the option `several`: what was given, or its default.
  const std::vector<std::string>& values() const { return values_; }

  /// "--flow-dt" of "flow_dt".
  static std::string flag(const std::string& name);

 private:
  struct Given {
    std::string name, text;
    CLI::Option* option;
  };
  std::deque<Given> given_;
  std::vector<std::string> values_;
};

// Options of commands that are numbers, with the range in their help. What is none (nan,
// infinities, what is too large to be held) is a fault of usage, and told as such.
CLI::Option* add_number(CLI::App& command, const std::string& names, double& field,
                        OptionList::Range range, const std::string& help);
CLI::Option* add_integer(CLI::App& command, const std::string& names, int& field,
                         OptionList::Range range, const std::string& help);
/// Several, comma-separated.
CLI::Option* add_integers(CLI::App& command, const std::string& names, std::vector<int>& field,
                          OptionList::Range range, const std::string& help);
/// --threads
CLI::Option* add_threads(CLI::App& command, int& threads);

}  // namespace ccp::app
