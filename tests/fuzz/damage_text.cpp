#include <array>
#include <cctype>
#include <vector>

#include "tests/fuzz/damage.hpp"

namespace ccp::fuzz {
namespace {

/// Words that readers of numbers, lists and XML may stumble over.
constexpr std::array<const char*, 28> words = {
    "0",          "-1",    "1e308", "-1e-320", "nan",   "inf", "99999999999999999999",
    "2147483648", "1e400", "0x10",  "''",      "[",     "]",   "{",
    "}",          ": ",    "- ",    "<<: *a",  "&a ",   "*a",  "!!binary ",
    "<",          "/>",    "<!-- ", "]]>",     "&amp;", "\t",  "\xff\xfe"};

std::vector<std::pair<std::size_t, std::size_t>> spans(const std::string& text,
                                                       bool (*belongs)(unsigned char)) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && belongs(static_cast<unsigned char>(text[end]))) ++end;
    if (end > i) found.emplace_back(i, end - i);
    i = end + 1;
  }
  return found;
}

bool in_line(unsigned char c) {
  return c != '\n';
}
bool in_number(unsigned char c) {
  return std::isdigit(c) || c == '.' || c == '-' || c == 'e';
}
bool in_word(unsigned char c) {
  return std::isalnum(c) || c == '_';
}

}  // namespace

std::string damage_text(const std::string& text, Random& random) {
  std::string damaged = text;
  const auto any = [&](bool (*belongs)(unsigned char)) {
    const auto found = spans(damaged, belongs);
    return found.empty() ? std::pair<std::size_t, std::size_t>{0, 0}
                         : found[below(random, found.size())];
  };
  const std::string word = words[below(random, words.size())];
  switch (below(random, 9)) {
    case 0: {  // a number is another one
      const auto [begin, size] = any(in_number);
      return damaged.replace(begin, size, word);
    }
    case 1: {  // a word is missing, or another one
      const auto [begin, size] = any(in_word);
      return damaged.replace(begin, size, below(random, 2) ? "" : word);
    }
    case 2: {  // a line is missing
      const auto [begin, size] = any(in_line);
      return damaged.erase(begin, size + 1);
    }
    case 3: {  // a line comes twice
      const auto [begin, size] = any(in_line);
      return damaged.insert(begin, damaged.substr(begin, size) + "\n");
    }
    case 4: {  // a line is where another one belongs
      const auto [begin, size] = any(in_line);
      const std::string line = damaged.substr(begin, size);
      const auto [other, length] = any(in_line);
      return damaged.replace(other, length, line);
    }
    case 5:  // the end is missing
      return damaged.substr(0, below(random, damaged.size() + 1));
    case 6:  // something is there that does not belong
      return damaged.insert(below(random, damaged.size() + 1), word);
    case 7: {  // a byte is another one
      if (!damaged.empty()) {
        damaged[below(random, damaged.size())] = static_cast<char>(below(random, 256));
      }
      return damaged;
    }
    default: {  // deep nesting
      const std::string bracket(1 + below(random, 3000), "[{<"[below(random, 3)]);
      return damaged.insert(below(random, damaged.size() + 1), bracket);
    }
  }
}

}  // namespace ccp::fuzz
