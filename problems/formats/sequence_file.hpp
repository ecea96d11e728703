#pragma once

#include <string>
#include <vector>

#include "problems/formats/problem_place.hpp"
#include "problems/model/contact_problem.hpp"

namespace ccp {

/// Writes consecutive time steps of one scene to one file, each laid out like a problem file.
/// @param name  of the sequence; the steps have names of their own
/// @throws InputError for an invalid step, steps that contradict each other (check_sequence), no
///         steps at all, or if the file exists and `overwrite` is false
void write_sequence(const std::string& path, const std::string& name,
                    const std::vector<ContactProblem>& steps, bool overwrite);

/// Reads and checks all of a sequence: every step as read_problem does, with identities for its
/// contacts; a number names the same two bodies, the same way round, in all steps; all steps have
/// the same form, number of bodies and time step; no two have the same name.
/// @throws InputError naming file, step, expected and found
SequenceSummary check_sequence(const std::string& path);

}  // namespace ccp
