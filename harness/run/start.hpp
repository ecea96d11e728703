#pragma once

#include <string>
#include <vector>

#include "problems/model/contact_problem.hpp"

namespace ccp {

/// A start taken apart.
struct Start {
  std::string name;  ///< `cold`, or of a guess or file
  double factor = 1;
};
/// Takes `cold`, NAME, NAME*FACTOR, FILE.h5 or FILE.h5*FACTOR apart, with a factor > 0; `history`
/// and `history[beta=B]` are previous*0.85 (Wang 2016 eq. 7) and previous*B.
/// @param where  named in the error, e.g. "--start"
Start parse_start(const std::string& text, const std::string& where);
/// The one spelling of a start that has that form: `history` for previous*0.85, no factor where it
/// is
/// 1. @throws InputError as parse_start
std::string canonical_start(const std::string& start, const std::string& where);

/// Where a solve begins: `cold` (zero), the name of a guess that the problem carries, `reference`
/// (its reference solution), or a result file that keeps its impulses; times a factor if one is
/// given (`previous*0.85`).
/// @return [n][3] N s, contact axes; empty for `cold`
/// @throws InputError if the problem has no such guess, or the file no impulses of its size
std::vector<double> start_values(const std::string& start, const ContactProblem& problem);

/// What of a start decides on a result: `cold`, or the start with a digest of its values, because
/// guesses are not part of a problem's content hash.
std::string start_identity(const std::string& start, const ContactProblem& problem);

}  // namespace ccp
