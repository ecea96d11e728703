#pragma once

#include <memory>
#include <string>
#include <vector>

#include "problems/base/options.hpp"
#include "solvers/linear/sparse_matrix.hpp"

namespace ccp {

/// What a preconditioner wants of the matrix A.
enum class MatrixForm {
  none,       ///< nothing, or the diagonal blocks, which are always there
  crs,        ///< a CrsMatrix
  block_crs,  ///< a BlockCrsMatrix
};
/// "nothing but the diagonal blocks", "a CrsMatrix", ...
std::string to_string(MatrixForm form);

/// A symmetric positive definite matrix A of 3x3 blocks, as preconditioners see it. Its owner
/// changes values in place and keeps the structure.
struct PreconditionerInput {
  Teuchos::RCP<const Map> map;                   ///< of 3n entries
  int blocks = 0;                                ///< n
  DeviceArray<const Sym3*> diagonal;             ///< [n] the diagonal blocks
  Teuchos::RCP<const CrsMatrix> crs;             ///< null unless asked for
  Teuchos::RCP<const BlockCrsMatrix> block_crs;  ///< null unless asked for
};

/// How a computation of new values went.
struct PreconditionerReport {
  bool good = true;     ///< false: there is no preconditioner for these values
  std::string message;  ///< why not
  double shift = 0;     ///< diagonal shift it was computed with, relative to the diagonal
  int restarts = 0;     ///< computations given up before that one
};

/// An approximate inverse of A as an operator, computed anew when A's values have changed.
///
/// Life of one: construct, `options().set(...)`, `setup` once per structure, `compute` per values.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  /// The options, bound to this object. The same name in two preconditioners must mean the same,
  /// with the same default and range: ipm offers each name once.
  virtual OptionList options() { return OptionList("", "preconditioner"); }

  /// Everything that depends on the structure of A but not on its values. The matrices must outlive
  /// the preconditioner.
  virtual void setup(const PreconditionerInput& input) = 0;

  /// Everything that depends on the values. Numerical trouble is told, not thrown.
  virtual PreconditionerReport compute() = 0;

  /// y = approximately A^-1 x, once computed; null: the identity.
  virtual Teuchos::RCP<const Operator> inverse() const = 0;
};

/// What `PreconditionerEntry::make` is for a class that needs no arguments.
template <class P>
std::unique_ptr<Preconditioner> construct() {
  return std::make_unique<P>();
}

/// One row of the table of preconditioners.
struct PreconditionerEntry {
  std::string id;
  MatrixForm form;
  bool symmetric;  ///< the inverse is symmetric in exact arithmetic, as cg and minres need it
  bool definite;   ///< and positive definite by construction, so that nobody need watch it
  std::string summary;
  std::unique_ptr<Preconditioner> (*make)();
};

/// All preconditioners. Adding one is one line in registry.cpp.
const std::vector<PreconditionerEntry>& preconditioner_entries();
std::vector<std::string> preconditioner_ids();

/// @throws InputError for an unknown id, with the nearest known one
const PreconditionerEntry& preconditioner_entry(const std::string& id);

/// A preconditioner with the options of `id[name=value,...]` set. @throws InputError
std::unique_ptr<Preconditioner> make_preconditioner(const SolverSpec& spec);

}  // namespace ccp
