#pragma once

#include <string>
#include <vector>

#include "problems/base/options.hpp"
#include "problems/formats/fclib/mass_form.hpp"
#include "problems/model/contact_problem.hpp"

namespace ccp {

/// What an importer gets from outside.
struct ImportTools {
  MassFactoriser factorise;  ///< for formats that give M and H
};

/// A problem out of somebody else's file, and what there is to say about it.
struct Imported {
  ContactProblem problem;
  std::vector<std::string> notes;  ///< one line each
};

/// A foreign format with its options at their defaults until they are set.
class Importer {
 public:
  virtual ~Importer() = default;

  /// Bound to this object.
  virtual OptionList options() = 0;

  /// Reads a file. The caller gives `source.generator`, and a name if the user has one.
  /// @throws InputError naming file, place, expected and found; never anything else, whatever the
  ///         file holds
  virtual Imported read(const std::string& path, const ImportTools& tools) = 0;
};

}  // namespace ccp
