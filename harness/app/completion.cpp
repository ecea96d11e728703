#include "harness/app/completion.hpp"

#include <algorithm>
#include <map>

#include "harness/app/names.hpp"
#include "problems/base/error.hpp"
#include "solvers/preconditioners/linear_solver.hpp"

namespace ccp::app {
namespace {

using Words = std::vector<std::string>;

bool begins(const std::string& text, const std::string& with) {
  return text.compare(0, with.size(), with) == 0;
}

Words split(const std::string& text, char separator) {
  Words parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// What an option takes, by its type name; kinds are those of names_of().
struct Type {
  std::string kind;
  std::string suffix{};  ///< of every name: the word goes on
  bool several = false;  ///< with commas between
  bool files = false;    ///< or a file
};

const std::map<std::string, Type>& types() {
  static const std::map<std::string, Type> table = {
      {"SOLVER", {"solvers"}},
      {"PROBLEM", {"problems", "", false, true}},
      {"STUDY", {"studies", "", false, true}},
      {"SCENE", {"scenes"}},
      {"KIND", {"kinds"}},
      {"MEASURE", {"measures"}},
      {"MEASURE=VALUE", {"measures", "=", true}},
      {"PRECONDITIONER", {"preconditioners", "", true}},
      {"METHOD", {"methods", "", true}},
      {"START", {"starts", "", false, true}},
      {"FILE", {"", "", false, true}},
      {"FOLDER", {"", "", false, true}}};
  return table;
}

Words names(const std::string& kind) {
  if (kind == "kinds") return kinds();
  if (kind == "methods") return linear_methods();
  if (kind == "starts") return {"cold", "history", "reference"};
  try {
    return names_of(kind);
  } catch (const InputError&) {  // no catalogue
    return {};
  }
}

/// Completes a value.
/// @param before  what stands before it in the same word, "--solver="
void complete_value(const std::string& type, const std::string& before, const std::string& value,
                    Completion& completion) {
  const auto add = [&](const std::string& head, const std::string& name) {
    if (begins(head + name, value)) completion.words.push_back({before + head + name, ""});
  };
  if (type.find('|') != std::string::npos) {
    for (const std::string& choice : split(type, '|')) add("", choice);
    return;
  }
  const auto found = types().find(type);
  if (found == types().end()) return;
  const Type& takes = found->second;
  const std::size_t comma = takes.several ? value.rfind(',') : std::string::npos;
  const std::string head = comma == std::string::npos ? "" : value.substr(0, comma + 1);
  for (const std::string& name : names(takes.kind)) add(head, name + takes.suffix);
  completion.files = takes.files;
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

/// An option that is no secret, by one of its names.
const CLI::Option* find_option(const CLI::App& command, const std::string& name) {
  const CLI::Option* option = command.get_option_no_throw(name);
  return option != nullptr && !option->get_group().empty() ? option : nullptr;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) {
    return !command->get_name().empty() && !command->get_group().empty();
  });
}

/// The options of a command, those of its groups too.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

void complete_options(const CLI::App& command, const std::string& word, Completion& completion) {
  for (const CLI::Option* option : options_of(command)) {
    for (const std::string& name : option->get_lnames()) {
      if (begins("--" + name, word)) {
        completion.words.push_back({"--" + name, option->get_description()});
      }
    }
  }
}

/// Where the words before the last one lead.
struct Place {
  const CLI::App* command;
  const CLI::Option* pending = nullptr;  ///< an option that waits for its value
  std::size_t positionals = 0;           ///< values given by their place
};

Place place_of(const CLI::App& app, const Words& words) {
  Place place{&app};
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "=" && place.pending != nullptr) continue;  // bash takes --name=value apart
    if (place.pending != nullptr) {
      place.pending = nullptr;
    } else if (begins(word, "-")) {
      const std::size_t equals = word.find('=');
      const CLI::Option* option = find_option(*place.command, word.substr(0, equals));
      if (option != nullptr && takes_value(*option) && equals == std::string::npos) {
        place.pending = option;
      }
    } else {
      const auto commands = commands_of(*place.command);
      const auto next =
          std::find_if(commands.begin(), commands.end(),
                       [&](const CLI::App* command) { return command->get_name() == word; });
      if (next == commands.end()) {
        ++place.positionals;
      } else {
        place.command = *next;
        place.positionals = 0;
      }
    }
  }
  return place;
}

/// Completes a word that is neither an option nor its value.
void complete_place(const Place& place, const Words& words, Completion& completion) {
  const std::string& word = words.back();
  for (const CLI::App* command : commands_of(*place.command)) {
    if (begins(command->get_name(), word)) {
      completion.words.push_back({command->get_name(), command->get_description()});
    }
  }
  std::vector<const CLI::Option*> positionals;
  for (const CLI::Option* option : options_of(*place.command)) {
    if (option->get_positional()) positionals.push_back(option);
  }
  if (positionals.empty()) return;
  const std::size_t at = std::min(place.positionals, positionals.size() - 1);
  if (at < place.positionals && positionals[at]->get_items_expected_max() == 1) return;
  const std::string type = positionals[at]->get_type_name();
  if (type == "NAME" && place.positionals > 0) {  // of the kind that the word before says
    for (const std::string& name : names(words[words.size() - 1 - place.positionals])) {
      if (begins(name, word)) completion.words.push_back({name, ""});
    }
  }
  complete_value(type, "", word, completion);
}

}  // namespace

Completion complete(const CLI::App& app, const Words& typed) {
  Words words = typed.empty() ? Words{""} : typed;
  if (words.back() == "=") words.emplace_back();
  const Place place = place_of(app, words);
  const std::string& word = words.back();
  Completion completion;
  if (place.pending != nullptr) {
    complete_value(place.pending->get_type_name(), "", word, completion);
    return completion;
  }
  const std::size_t equals = word.find('=');
  if (begins(word, "-") && equals != std::string::npos) {
    const CLI::Option* option = find_option(*place.command, word.substr(0, equals));
    if (option != nullptr) {
      complete_value(option->get_type_name(), word.substr(0, equals + 1), word.substr(equals + 1),
                     completion);
    }
    return completion;
  }
  if (!begins(word, "-")) complete_place(place, words, completion);
  if (begins(word, "-") || (completion.words.empty() && !completion.files)) {
    complete_options(*place.command, word, completion);
  }
  return completion;
}

std::string completion_text(const Completion& completion) {
  std::string text;
  for (const Completion::Word& word : completion.words) {
    text += word.text + (word.help.empty() ? "" : "\t" + first_line(word.help)) + "\n";
  }
  return text + (completion.files ? ":files\n" : "");
}

std::string completion_script(const std::string& shell) {
  static const std::map<std::string, std::string> scripts = {
      {"bash", R"(# Completion of ccpbench for bash: source <(ccpbench manual --completion bash)
_ccpbench() {
  local word=${COMP_WORDS[COMP_CWORD]} line
  [[ $word == "=" ]] && word=""
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ":files" ]]; then
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$word")
      compopt -o filenames 2>/dev/null
    else
      COMPREPLY+=("${line%%$'\t'*}")
      [[ ${line%%$'\t'*} == *= ]] && compopt -o nospace 2>/dev/null
    fi
  done < <("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _ccpbench ccpbench
)"},
      {"zsh", R"(#compdef ccpbench
# Completion of ccpbench for zsh: as _ccpbench in a folder of $fpath, or
# source <(ccpbench manual --completion zsh)
_ccpbench() {
  local line name files=0
  local -a plain open help
  while IFS= read -r line; do
    if [[ $line == ":files" ]]; then
      files=1
      continue
    fi
    name=${line%%$'\t'*}
    if [[ $name == *= ]]; then
      open+=("$name")
    elif [[ $line == *$'\t'* ]]; then
      help+=("${name//:/\\:}:${line#*$'\t'}")
    else
      plain+=("$name")
    fi
  done < <("${words[1]}" --complete "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( ${#help} )) && _describe ccpbench help
  (( ${#plain} )) && compadd -- "${plain[@]}"
  (( ${#open} )) && compadd -S '' -- "${open[@]}"
  (( files )) && _files
  (( ${#help} + ${#plain} + ${#open} + files ))
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _ccpbench "$@"
else
  compdef _ccpbench ccpbench
fi
)"},
      {"fish", R"(# Completion of ccpbench for fish: ccpbench manual --completion fish | source
function __ccpbench
    set -l words (commandline -opc)
    for line in ($words[1] --complete $words[2..-1] (commandline -ct) 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c ccpbench -f -a '(__ccpbench)'
)"}};
  return scripts.at(shell);
}

}  // namespace ccp::app
