#include "solvers/coulomb/anderson.hpp"

#include <cmath>

#include "solvers/core/vector_kernels.hpp"

namespace ccp {

using vector_kernels::add;
using vector_kernels::dot;

Anderson::Anderson(std::size_t size, int memory)
    : size_(size),
      memory_(static_cast<std::size_t>(memory)),
      s_("ccp::Anderson::s", size),
      f_("ccp::Anderson::f", size),
      left_("ccp::Anderson::left", size) {}

void Anderson::restart() {
  for (const Difference& one : differences_) {
    spare_.push_back(one.s);
    spare_.push_back(one.f);
  }
  differences_.clear();
  started_ = false;
}

VectorView Anderson::spare() {
  if (spare_.empty()) return VectorView("ccp::Anderson::difference", size_);
  const VectorView array = spare_.back();
  spare_.pop_back();
  return array;
}

void Anderson::remember(const ConstVectorView& s, const ConstVectorView& f) {
  if (started_ && memory_ > 0) {
    if (differences_.size() == memory_) {
      spare_.push_back(differences_.back().s);
      spare_.push_back(differences_.back().f);
      differences_.pop_back();
    }
    const Difference one{spare(), spare()};
    add(1, s, -1, s_, one.s);
    add(1, f, -1, f_, one.f);
    differences_.push_front(one);
  }
  Kokkos::deep_copy(s_, s);
  Kokkos::deep_copy(f_, f);
  started_ = true;
}

void Anderson::step(const VectorView& s, const ConstVectorView& f) {
  constexpr double dependent = 1e-9;  // what is left of a difference that others contain
  remember(s, f);
  const std::size_t m = differences_.size();
  while (q_.size() < m) q_.emplace_back("ccp::Anderson::q", size_);
  std::vector<std::vector<double>> r(m, std::vector<double>(m, 0.0));
  std::vector<double> theta(m, 0.0);
  std::vector<bool> used(m, false);
  Kokkos::deep_copy(left_, f);
  for (std::size_t j = 0; j < m; ++j) {
    Kokkos::deep_copy(q_[j], differences_[j].f);
    const double before = std::sqrt(dot(q_[j], q_[j]));
    for (std::size_t i = 0; i < j; ++i) {
      if (!used[i]) continue;
      r[i][j] = dot(q_[i], q_[j]);
      add(1, q_[j], -r[i][j], q_[i], q_[j]);
    }
    r[j][j] = std::sqrt(dot(q_[j], q_[j]));
    used[j] = r[j][j] > dependent * before;
    if (!used[j]) continue;
    vector_kernels::scale(1 / r[j][j], q_[j], q_[j]);
    theta[j] = dot(q_[j], left_);
    add(1, left_, -theta[j], q_[j], left_);
  }
  for (std::size_t j = m; j-- > 0;) {
    if (!used[j]) continue;
    for (std::size_t k = j + 1; k < m; ++k) theta[j] -= r[j][k] * theta[k];
    theta[j] /= r[j][j];
  }
  add(1, s, 1, f, s);
  for (std::size_t j = 0; j < m; ++j) {
    if (!used[j]) continue;
    add(1, s, -theta[j], differences_[j].s, s);
    add(1, s, -theta[j], differences_[j].f, s);
  }
  Kokkos::parallel_for(
      "ccp::Anderson::clip", range(size_), KOKKOS_LAMBDA(const int i) {
        if (s(i) < 0) s(i) = 0;
      });
}

}  // namespace ccp
