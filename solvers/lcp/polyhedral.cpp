#include "solvers/lcp/polyhedral.hpp"

#include <algorithm>
#include <cmath>

#include "problems/base/pi.hpp"

namespace ccp {
namespace {

using Triple = std::array<double, 3>;

double dot(const Triple& x, const Triple& y) {
  return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

/// Corners of the polygon in the unit circle, without the rounding errors of cos and sin that keep
/// opposite corners from being opposite.
std::vector<std::array<double, 2>> corners(int edges) {
  std::vector<std::array<double, 2>> d(edges);
  for (int k = 0; 2 * k < edges; ++k) {
    const double angle = 2 * pi * k / edges;
    d[k] = {std::cos(angle), std::sin(angle)};
    if (4 * k == edges) d[k] = {0, 1};
    d[k + edges / 2] = {-d[k][0], -d[k][1]};
  }
  return d;
}

int unknowns_of(double mu, int edges) {
  return mu == 0 ? 1 : edges + 2;
}

}  // namespace

std::size_t PolyhedralProblem::size(const ContactProblem& problem, int edges) {
  std::size_t size = 0;
  for (const double mu : problem.mu) size += unknowns_of(mu, edges);
  return size;
}

PolyhedralProblem::PolyhedralProblem(const ContactProblem& problem, Law law, int edges,
                                     double delassus_scale)
    : joints_(problem) {
  const std::size_t n = problem.contacts();
  const std::vector<double>& free = joints_.r();
  const auto d = corners(edges);
  std::vector<std::size_t> first{0};  // unknown of every contact
  for (std::size_t c = 0; c < n; ++c) {
    const double mu = problem.mu[c];
    const auto contact = static_cast<std::int32_t>(c);
    unknowns_.push_back({contact, {1, 0, 0}});
    if (mu > 0) {
      for (const auto& corner : d) unknowns_.push_back({contact, {0, corner[0], corner[1]}});
      unknowns_.push_back({contact, {0, 0, 0}});
    }
    first.push_back(unknowns_.size());
  }
  double largest = 0;
  for (const double r : free) largest = std::max(largest, std::abs(r));
  if (largest > 0) velocity_scale_ = largest;
  impulse_scale_ = velocity_scale_ / delassus_scale;

  // Every direction in the axes of the blocks.
  std::vector<Triple> axes(unknowns_.size());
  for (std::size_t i = 0; i < unknowns_.size(); ++i) {
    const Triple& own = unknowns_[i].direction;
    if (problem.form == ContactProblem::Form::assembled) {
      axes[i] = own;
      continue;
    }
    const double* frame = &problem.frame[9 * static_cast<std::size_t>(unknowns_[i].contact)];
    for (int k = 0; k < 3; ++k) {
      axes[i][k] = own[0] * frame[k] + own[1] * frame[3 + k] + own[2] * frame[6 + k];
    }
  }

  const BlockMatrix& delassus = joints_.delassus();
  const auto add = [&](std::size_t column, double value) {
    if (value == 0) return;
    lcp_.columns.push_back(static_cast<std::int32_t>(column));
    lcp_.values.push_back(value);
  };
  for (std::size_t c = 0; c < n; ++c) {
    const double mu = problem.mu[c];
    const bool lambda = mu > 0;
    const Triple r{free[3 * c], free[3 * c + 1], free[3 * c + 2]};
    for (std::size_t i = first[c]; i < first[c + 1]; ++i) {
      if (lambda && i + 1 == first[c + 1]) {  // zeta
        add(first[c], mu);
        for (std::size_t k = first[c] + 1; k < i; ++k) add(k, -1);
        lcp_.q.push_back(0);
      } else {
        for (std::int64_t block = delassus.row_offsets[c]; block < delassus.row_offsets[c + 1];
             ++block) {
          const auto other = static_cast<std::size_t>(delassus.columns[block]);
          const double* b = &delassus.blocks[9 * block];
          Triple row;  // direction^T N_cd / s
          for (int k = 0; k < 3; ++k) {
            row[k] = (axes[i][0] * b[k] + axes[i][1] * b[3 + k] + axes[i][2] * b[6 + k]) /
                     delassus_scale;
          }
          for (std::size_t j = first[other]; j < first[other + 1]; ++j) add(j, dot(row, axes[j]));
        }
        if (lambda && i > first[c]) add(first[c + 1] - 1, 1);
        if (lambda && i == first[c] && law == Law::convex) add(first[c + 1] - 1, -mu);
        lcp_.q.push_back(dot(unknowns_[i].direction, r) / velocity_scale_);
      }
      lcp_.row_offsets.push_back(static_cast<std::int64_t>(lcp_.columns.size()));
    }
  }
}

std::vector<double> PolyhedralProblem::gamma(const std::vector<double>& z) const {
  std::vector<double> gamma(joints_.r().size(), 0.0);
  for (std::size_t i = 0; i < unknowns_.size(); ++i) {
    for (int k = 0; k < 3; ++k) {
      gamma[3 * static_cast<std::size_t>(unknowns_[i].contact) + k] +=
          impulse_scale_ * z[i] * unknowns_[i].direction[k];
    }
  }
  return joints_.with_joints(std::move(gamma));
}

}  // namespace ccp
