#pragma once

#include <deque>
#include <vector>

#include "solvers/core/trilinos.hpp"

namespace ccp {

/// Anderson acceleration of a fixed point s = g(s) with s >= 0 (Walker and Ni 2011, type II): with
/// the last m differences of s and of f = g(s) - s,
///
///     s <- max(0, s + f - (dS + dF) theta),      theta = argmin |f - dF theta|
///
/// The least squares problem is solved by orthogonalising the differences, the newest first; one
/// that those before it contain is left out.
class Anderson {
 public:
  /// @param size  entries of s  @param memory  m >= 0; 0 repeats s <- g(s)
  Anderson(std::size_t size, int memory);

  /// s in, the next s out. @param f  g(s) - s
  void step(const VectorView& s, const ConstVectorView& f);
  /// Forgets all differences.
  void restart();

 private:
  struct Difference {
    VectorView s, f;
  };
  void remember(const ConstVectorView& s, const ConstVectorView& f);
  VectorView spare();

  std::size_t size_, memory_;
  std::deque<Difference> differences_;  ///< the newest first
  std::vector<VectorView> spare_, q_;
  VectorView s_, f_, left_;
  bool started_ = false;
};

}  // namespace ccp
