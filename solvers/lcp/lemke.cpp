#include "solvers/lcp/lemke.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace ccp {
namespace {
// Numbers of the LCP are about one.
constexpr double dropped = 1e-13;         // entries of this size are rounding errors
constexpr double smallest_pivot = 1e-8;   // elements below it do not limit the entering variable,
constexpr double relative_pivot = 1e-12;  // nor do those below this times the column's largest
constexpr double tie = 1e-10;             // basic values this close are equal
constexpr double lowest = 1e-6;           // a basic value below -lowest is no rounding error
constexpr double perturbation = 1e-7;
constexpr long refine_interval = 50;  // pivots
constexpr double spoilt =
    1e-9;  // relative defect of w = M z + q at which the dictionary is made anew

/// A number that stands for a variable: those of a basis, combined by exclusive or, stand for the
/// basis (the mixing function of SplitMix64).
std::uint64_t mark(std::uint64_t variable) {
  variable += 0x9e3779b97f4a7c15;
  variable = (variable ^ (variable >> 30)) * 0xbf58476d1ce4e5b9;
  variable = (variable ^ (variable >> 27)) * 0x94d049bb133111eb;
  return variable ^ (variable >> 31);
}

}  // namespace

std::vector<double> Lcp::slack(const std::vector<double>& z) const {
  std::vector<double> w = q;
  for (std::size_t i = 0; i < size(); ++i) {
    for (std::int64_t k = row_offsets[i]; k < row_offsets[i + 1]; ++k) {
      w[i] += values[k] * z[columns[k]];
    }
  }
  return w;
}

double Lcp::violation(const std::vector<double>& z) const {
  const std::vector<double> w = slack(z);
  double largest = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    const double value = std::abs(std::min(z[i], w[i]));
    if (!(value <= largest)) largest = value;  // NaN passes on
  }
  return largest;
}

double Lemke::bytes(std::size_t size) {
  return 8.0 * static_cast<double>(size) * static_cast<double>(size + 2);
}

Lemke::Lemke(const Lcp& lcp) : lcp_(lcp), size_(lcp.size()), width_(lcp.size() + 2) {
  dictionary_.resize(size_ * width_);
  basic_.resize(size_);
  nonbasic_.resize(size_ + 1);
  place_.resize(2 * size_ + 1);
  q_ = lcp.q;
  start();
}

void Lemke::start() {
  fill();
  signature_ = 0;
  seen_.clear();
  // z_0 enters first and as far as the most negative q asks. Of equal ones the last leaves: a
  // perturbation by powers of epsilon makes it the smallest.
  std::size_t row = 0;
  for (std::size_t i = 1; i < size_; ++i) {
    if (q_[i] <= q_[row]) row = i;
  }
  if (size_ == 0 || q_[row] >= 0) {
    state_ = State::solved;
    return;
  }
  state_ = State::running;
  entering_ = 2 * size_;
  exchange(row, size_);
}

/// Begins anew with q raised by random amounts, so that nothing is tied.
void Lemke::perturb() {
  perturbed_ = true;
  std::mt19937_64 random(1);
  for (double& q : q_) q += perturbation * (1 + static_cast<double>(random() >> 11) * 0x1p-53);
  start();
}

/// The dictionary at the start: w = q + M z + e z_0.
void Lemke::fill() {
  std::fill(dictionary_.begin(), dictionary_.end(), 0.0);
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::int64_t k = lcp_.row_offsets[i]; k < lcp_.row_offsets[i + 1]; ++k) {
      at(i, lcp_.columns[k]) += lcp_.values[k];
    }
    at(i, size_) = 1;
    at(i, size_ + 1) = q_[i];
    basic_[i] = i;
    place_[i] = size_ + 1 + i;
    nonbasic_[i] = size_ + i;
    place_[size_ + i] = i;
  }
  nonbasic_[size_] = 2 * size_;
  place_[2 * size_] = size_;
}

/// Makes the dictionary of the same basis anew, by as many exchanges as there are basic z: each
/// takes the largest element in its column. @return false if the basis is singular
bool Lemke::rebuild() {
  std::vector<std::size_t> enter, leave;  // variables
  for (std::size_t i = 0; i < size_; ++i) {
    if (basic_[i] >= size_) enter.push_back(basic_[i]);
  }
  for (std::size_t k = 0; k < size_; ++k) {
    if (place_[k] <= size_) leave.push_back(k);
  }
  std::sort(enter.begin(), enter.end());
  const std::uint64_t signature = signature_;
  fill();
  for (const std::size_t variable : enter) {
    const std::size_t column = place_[variable];
    const auto largest =
        std::max_element(leave.begin(), leave.end(), [&](std::size_t x, std::size_t y) {
          return std::abs(at(place_[x] - size_ - 1, column)) <
                 std::abs(at(place_[y] - size_ - 1, column));
        });
    const std::size_t row = place_[*largest] - size_ - 1;
    if (!(std::abs(at(row, column)) > dropped)) return false;
    swap(row, column);
    *largest = leave.back();
    leave.pop_back();
  }
  signature_ = signature;
  return true;
}

/// Whether `row` is lexicographically smaller than `other`, both with their ratio: b and B^-1 over
/// -D of the entering column.
bool Lemke::chooses(std::size_t row, std::size_t other, std::size_t column) const {
  const double by_row = -1 / at(row, column), by_other = -1 / at(other, column);
  // Equal, if taking the larger ratio would take the other row less than a tie below zero.
  const double larger = std::max(std::abs(at(row, column)), std::abs(at(other, column)));
  const auto compare = [&](double x, double y) {
    const double scale = std::max({1.0, std::abs(x), std::abs(y)});
    return std::abs(x - y) * std::max(larger, 1e-3) <= tie * scale ? 0 : (x < y ? -1 : 1);
  };
  if (const int order = compare(at(row, size_ + 1) * by_row, at(other, size_ + 1) * by_other)) {
    return order < 0;
  }
  // z_0 leaves if it may: that is the solution.
  if (basic_[row] == 2 * size_) return true;
  if (basic_[other] == 2 * size_) return false;
  for (std::size_t k = 0; k < size_; ++k) {  // entry (., k) of B^-1 belongs to w_k
    double x = 0, y = 0;
    if (place_[k] <= size_) {
      x = -at(row, place_[k]) * by_row;
      y = -at(other, place_[k]) * by_other;
    } else {
      if (basic_[row] == k) x = by_row;
      if (basic_[other] == k) y = by_other;
    }
    if (const int order = compare(x, y)) return order < 0;
  }
  return false;
}

/// @return size if no row limits the entering variable
std::size_t Lemke::leaving_row(std::size_t column) const {
  double largest = 0;
  for (std::size_t i = 0; i < size_; ++i) largest = std::max(largest, std::abs(at(i, column)));
  std::size_t best = size_;
  for (std::size_t i = 0; i < size_; ++i) {
    if (at(i, column) >= -std::max(smallest_pivot, relative_pivot * largest)) continue;
    if (best == size_ || chooses(i, best, column)) best = i;
  }
  return best;
}

void Lemke::update_rows(std::size_t row, std::size_t column) {
  double* const d = dictionary_.data();
  const double* const pivot_row = d + row * width_;
  const std::size_t width = width_;
  const std::int32_t* const nonzero = nonzero_.data();
  const std::size_t count = nonzero_.size();
  const double factor = pivot_row[column];
  Kokkos::parallel_for("ccp::Lemke::update_rows",
                       Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, size_),
                       [=](const std::size_t i) {
                         double* const own = d + i * width;
                         const double multiple = own[column];
                         if (i == row || multiple == 0) return;
                         if (std::abs(multiple) < dropped) {
                           own[column] = 0;
                           return;
                         }
                         own[column] = 0;
                         if (2 * count < width) {
                           for (std::size_t k = 0; k < count; ++k) {
                             own[nonzero[k]] += multiple * pivot_row[nonzero[k]];
                           }
                         } else {
                           for (std::size_t k = 0; k < width; ++k)
                             own[k] += multiple * pivot_row[k];
                         }
                         own[column] = multiple * factor;
                       });
}

/// Makes the variable of `column` basic in `row`, and the one that was there nonbasic.
void Lemke::swap(std::size_t row, std::size_t column) {
  double* const pivot_row = &at(row, 0);
  const double inverse = 1 / pivot_row[column];
  pivot_row[column] = -1;
  nonzero_.clear();
  for (std::size_t k = 0; k < width_; ++k) {
    pivot_row[k] *= -inverse;
    if (std::abs(pivot_row[k]) < dropped && k + 1 < width_) pivot_row[k] = 0;
    if (pivot_row[k] != 0) nonzero_.push_back(static_cast<std::int32_t>(k));
  }
  update_rows(row, column);
  std::swap(basic_[row], nonbasic_[column]);
  place_[basic_[row]] = size_ + 1 + row;
  place_[nonbasic_[column]] = column;
  signature_ ^= mark(basic_[row]) ^ mark(nonbasic_[column]);
}

/// Swaps, and sets what enters next: the complement of what has left.
void Lemke::exchange(std::size_t row, std::size_t column) {
  swap(row, column);
  const std::size_t left = nonbasic_[column];
  if (left == 2 * size_)
    state_ = State::solved;
  else
    entering_ = left < size_ ? left + size_ : left - size_;
}

Lemke::State Lemke::pivot() {
  if (state_ != State::running) return state_;
  ++pivots_;
  const std::size_t column = place_[entering_];
  const std::size_t row = leaving_row(column);
  if (row == size_) return fail(State::ray);
  exchange(row, column);
  if (state_ == State::solved) {
    q_ = lcp_.q;
    for (int step = 0; step < 3; ++step) refine();
    return least_value() < -lowest && !perturbed_ ? fail(State::breakdown) : state_;
  }
  if (!seen_.insert(signature_).second) return fail(State::cycle);
  if (pivots_ % refine_interval == 0) {
    if (refine() > spoilt && (!rebuild() || refine() > spoilt)) return fail(State::breakdown);
    if (least_value() < -lowest) return fail(State::breakdown);
  }
  return state_;
}

/// The first failure is answered by a perturbed problem, the second is the answer.
Lemke::State Lemke::fail(State state) {
  state_ = state;
  if (!perturbed_) perturb();
  return state_;
}

/// The most negative basic value; rounding errors, unless something went wrong.
double Lemke::least_value() const {
  double least = 0;
  for (std::size_t i = 0; i < size_; ++i) least = std::min(least, at(i, size_ + 1));
  return least;
}

/// Corrects the basic values: x_B += B^-1 (q - (w - M z - e z_0)). @return the
/// largest correction of w - M z - e z_0, relative to the largest basic value
double Lemke::refine() {
  std::vector<double> w(size_, 0.0), z(size_, 0.0);
  double z0 = 0, scale = 1;
  for (std::size_t i = 0; i < size_; ++i) {
    const double value = at(i, size_ + 1);
    if (basic_[i] < size_)
      w[basic_[i]] = value;
    else if (basic_[i] < 2 * size_)
      z[basic_[i] - size_] = value;
    else
      z0 = value;
    scale = std::max(scale, std::abs(value));
  }
  std::vector<double> defect = lcp_.slack(z);
  double largest = 0, sum = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    defect[i] += q_[i] - lcp_.q[i] + z0 - w[i];
    largest = std::max(largest, std::abs(defect[i]));
    sum += std::abs(defect[i]);
  }
  if (!std::isfinite(sum)) return std::numeric_limits<double>::infinity();
  std::vector<double> by_column(size_ + 1, 0.0);
  for (std::size_t k = 0; k < size_; ++k) {  // column k of B^-1 belongs to w_k
    if (place_[k] > size_)
      at(place_[k] - size_ - 1, size_ + 1) += defect[k];
    else
      by_column[place_[k]] = defect[k];
  }
  for (std::size_t i = 0; i < size_; ++i) {
    double correction = 0;
    for (std::size_t k = 0; k <= size_; ++k) correction += at(i, k) * by_column[k];
    at(i, size_ + 1) -= correction;
  }
  return largest / scale;
}

std::vector<double> Lemke::z() const {
  std::vector<double> z(size_, 0.0);
  for (std::size_t i = 0; i < size_; ++i) {
    if (basic_[i] >= size_ && basic_[i] < 2 * size_) z[basic_[i] - size_] = at(i, size_ + 1);
  }
  return z;
}

double Lemke::artificial() const {
  const std::size_t place = place_[2 * size_];
  return place > size_ ? at(place - size_ - 1, size_ + 1) : 0;
}

}  // namespace ccp
