#pragma once

#include <functional>
#include <string>

#include "solvers/linear/block_matrix.hpp"

namespace ccp {

/// Where the unknowns of a solver's linear systems live.
enum class Space {
  contact,  ///< impulses: 3 unknowns per contact, blocks of 3, the graph of contacts that share a
            ///< body
  body,     ///< mass-scaled velocities: blocks of 3, or 6 if bodies rotate, the graph of bodies
};
/// "contact", "body".
std::string to_string(Space space);

/// A linear system  A x = b  as a solver is about to solve it. Everything in it is the solver's own
/// and changes after the call; what is kept must be copied.
struct PosedSystem {
  Space space = Space::contact;
  int block_size = 3;
  long outer = 0;                       ///< outer iterations done before it
  Teuchos::RCP<const Operator> matrix;  ///< y = A x, as the solver multiplies; null: it does not
  Teuchos::RCP<const Vector> rhs;       ///< b; world axes

  /// Contact space: what A = T P(w) T + N + R (NewtonSystem) is rebuilt from, given the problem.
  struct Newton {
    DeviceArray<const double* [4]> scaling;         ///< [n] T w and det w, world axes
    DeviceArray<const double* [2]> regularization;  ///< [n] R along and across the normal, 1/kg
    double alpha = 0, beta = 0;  ///< the point of the central path aimed at, J, and its factor
    double f_cen = 0, s = 0;     ///< centrality and artificial variable of the iterate
  };
  const Newton* newton = nullptr;

  /// Body space: A itself, and the problem's number of the body in each row. Null where A is not a
  /// matrix of such blocks (only N is known).
  Teuchos::RCP<const SymmetricBlocks> blocks;
  DeviceArray<const int*> body;
};

/// A solver whose outer iterations solve linear systems that others may look at.
class SystemSource {
 public:
  virtual ~SystemSource() = default;
  /// Called with the system of every outer iteration before it is solved, the last one where an
  /// iteration has several right-hand sides: its solution is the direction that is taken. May be
  /// empty.
  std::function<void(const PosedSystem&)> on_system;
};

}  // namespace ccp
