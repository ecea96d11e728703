#pragma once

#include <memory>
#include <string>
#include <vector>

#include "problems/base/options.hpp"
#include "solvers/linear/sparse_matrix.hpp"
#include "solvers/linear/system_source.hpp"
#include "solvers/linear/triangular_root.hpp"

namespace ccp {

/// What a preconditioner wants of the matrix A.
enum class MatrixForm {
  none,       ///< nothing, or the diagonal blocks, which are always there
  crs,        ///< a CrsMatrix
  block_crs,  ///< a BlockCrsMatrix
  blocks,     ///< its blocks: a BlockCrsMatrix in contact space, SymmetricBlocks in body space
};
/// "the diagonal blocks", "a CrsMatrix", ...
std::string to_string(MatrixForm form);

/// The systems that a preconditioner takes, by the space of the unknowns and the size of the
/// blocks; sums of these.
enum BlockKind : unsigned { contact3 = 1, body3 = 2, body6 = 4, body_blocks = 6, all_blocks = 7 };

/// A symmetric positive definite matrix A of square blocks, as preconditioners see it. Its owner
/// changes values in place and keeps the structure.
struct PreconditionerInput {
  Teuchos::RCP<const Map> map;                   ///< of all entries
  int blocks = 0;                                ///< n, rows of blocks
  DeviceArray<const Sym3*> diagonal;             ///< contact space: [n] the diagonal blocks
  Teuchos::RCP<const CrsMatrix> crs;             ///< null unless asked for
  Teuchos::RCP<const BlockCrsMatrix> block_crs;  ///< null unless asked for
  Space space = Space::contact;
  /// Body space: the matrix; null in contact space.
  Teuchos::RCP<const SymmetricBlocks> ordered = Teuchos::null;
  /// Contact space: diagonal blocks whose sums have lost too much, by their roots.
  BlockRoots roots = {};

  int block_size() const { return ordered.is_null() ? 3 : ordered->block_size(); }
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

  /// y = approximately A^-1 x, once set up; null: the identity.
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
  unsigned takes;  ///< a sum of BlockKind
  bool symmetric;  ///< the inverse is symmetric in exact arithmetic, as cg and minres need it
  bool definite;   ///< and positive definite by construction, so that nobody need watch it
  std::string summary;
  std::unique_ptr<Preconditioner> (*make)();
  std::string alias = "";  ///< a second name; "" = none
};

/// Whether it takes systems of that kind.
bool takes(const PreconditionerEntry& entry, Space space, int block_size);
/// "blocks of 3 in contact space, of 3 and 6 in body space".
std::string describe_blocks(unsigned takes);

/// All preconditioners, in the order in which they are listed.
const std::vector<PreconditionerEntry>& preconditioner_entries();

/// Adds a row, for a program's own preconditioners, before any solver is made.
/// @throws std::invalid_argument for an id or alias that is there already
void add_preconditioner(PreconditionerEntry entry);

/// Ids of those that take blocks of 3 in contact space; all ids and aliases of those that take body
/// space and need nothing but its blocks, which is what vipm and ssn have.
std::vector<std::string> contact_preconditioner_ids();
std::vector<std::string> body_preconditioner_ids();

/// By id or alias. @throws InputError for an unknown id, with the nearest known one
const PreconditionerEntry& preconditioner_entry(const std::string& id);

/// A preconditioner with the options of `id[name=value,...]` set. @throws InputError
std::unique_ptr<Preconditioner> make_preconditioner(const SolverSpec& spec);

}  // namespace ccp
