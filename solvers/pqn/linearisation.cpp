#include "solvers/pqn/linearisation.hpp"

#include <stdexcept>

#include "problems/base/mat3.hpp"
#include "solvers/core/smooth_cone.hpp"

namespace ccp::pqn {
namespace {

/// Inverse of a 3x3 matrix with one division. A singular one gives the inverse of `spare` times the
/// identity.
KOKKOS_INLINE_FUNCTION Mat3 inverse_or(const Mat3& a, double spare) {
  Mat3 inverse = adjugate(a);
  const double det = determinant(a, inverse);
  const bool regular = is_regular(det, largest_entry(a));
  const double f = 1 / det;
  for (int k = 0; k < 9; ++k) {
    inverse[k] = regular ? f * inverse[k] : k % 4 == 0 ? 1 / spare : 0;
  }
  return inverse;
}

void require_plain(double alpha, double beta) {
  if (alpha != 1 || beta != 0) throw std::invalid_argument("Linearisation: alpha=1, beta=0");
}

DeviceArray<Sym3*> inverse_blocks(const DeviceArray<double* [3][3]>& block, double spare) {
  DeviceArray<Sym3*> inverse("ccp::Pqn::weight", block.extent(0));
  Kokkos::parallel_for(
      "ccp::Pqn::inverse_blocks", range(block.extent(0)), KOKKOS_LAMBDA(const int c) {
        inverse(c) = inverse_or_shifted(upper_triangle(block, c), spare);
      });
  return inverse;
}

/// Sum of r . N_cc^-1 r, the energy of the free motion; 1 where that is zero.
double free_energy(const DeviceArray<Sym3*>& weight, const ConstVectorView& r) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Pqn::free_energy", range(weight.extent(0)),
      KOKKOS_LAMBDA(const int c, double& total) {
        total += weighted_square(weight(c), load3(r, c));
      },
      sum);
  return sum > 0 ? sum : 1;
}

double sum_of(const ConstVectorView& values) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Pqn::sum", range(values.extent(0)),
      KOKKOS_LAMBDA(const int i, double& total) { total += values(i); }, sum);
  return sum;
}

}  // namespace

Linearisation::Linearisation(const Problem& problem)
    : problem_(problem),
      delassus_(problem.delassus()),
      diagonal_(problem.shared_delassus().diagonal_blocks()),
      weight_(inverse_blocks(diagonal_, problem.delassus_scale())),
      y_("ccp::Pqn::y", problem.contacts()),
      slope_("ccp::Pqn::slope", 3 * static_cast<std::size_t>(problem.contacts())),
      merit_("ccp::Pqn::merit", problem.contacts()),
      block_inverse_(Teuchos::rcp(new ContactBlocks(problem))),
      merit_scale_(free_energy(weight_, problem.r())) {}

double Linearisation::update(const ConstVectorView& p, const VectorView& out) {
  ++applies_;
  const auto r = problem_.r();
  const auto normal = problem_.normal();
  const auto mu = problem_.mu();
  const auto w = diagonal_;
  const auto weight = weight_;
  const auto y = y_;
  const auto slope = slope_;
  const auto merit = merit_;
  const auto inverse = block_inverse_->blocks;
  const bool coulomb = parameters_.coulomb;
  const double omega = parameters_.omega, delta = parameters_.delta;
  const double rho = parameters_.rho;
  delassus_->apply_fused(
      p, KOKKOS_LAMBDA(const int c, const Vec3& product) {
        const Vec3 n = row3(normal, c), scaled = rho * load3(p, c), u = product + load3(r, c);
        const Split s = split(u, n);
        const double m = mu(c), lift = coulomb ? m : 0;
        const double smooth = sqrt(s.size * s.size + omega * omega);
        const Vec3 f = u + (lift * (smooth - omega)) * n, bend = (lift / smooth) * s.t;
        const SmoothPolar polar = smooth_polar_projection(scaled - f, n, m, omega);
        store3(out, c, f + polar.value);
        store3(slope, c, bend);
        y(c) = polar.gradient;

        // Row i of W_cc plus n_i (slope . W_cc) is dF/dU W_cc; then (I - Y) of it, rho Y and delta.
        double e[9];
        Mat3 block;
        for (int j = 0; j < 3; ++j) {
          const double turned = bend.x * w(c, 0, j) + bend.y * w(c, 1, j) + bend.z * w(c, 2, j);
          e[j] = w(c, 0, j) + n.x * turned;
          e[3 + j] = w(c, 1, j) + n.y * turned;
          e[6 + j] = w(c, 2, j) + n.z * turned;
        }
        for (int j = 0; j < 3; ++j) {
          const Vec3 unit{j == 0 ? 1.0 : 0, j == 1 ? 1.0 : 0, j == 2 ? 1.0 : 0};
          const Vec3 column{e[j], e[3 + j], e[6 + j]};
          const Vec3 a = column + polar.gradient * (rho * unit - column) + delta * unit;
          block[j] = a.x, block[3 + j] = a.y, block[6 + j] = a.z;
        }
        const Mat3 inverted = inverse_or(block, rho);
        for (int k = 0; k < 9; ++k) inverse(c, k) = inverted[k];

        const Vec3 sharp = u + (lift * s.size) * n;
        const Vec3 violation = scaled - project_friction_cone(scaled - sharp, n, m);
        merit(c) = weighted_square(weight(c), violation);
      });
  return sum_of(merit_) / merit_scale_;
}

void Linearisation::apply(const Vector& z, Vector& out, Teuchos::ETransp, double alpha,
                          double beta) const {
  require_plain(alpha, beta);
  ++applies_;
  if (on_apply) on_apply();
  const auto in = read_view(z);
  const auto to = overwrite_view(out);
  const auto normal = problem_.normal();
  const auto y = y_;
  const auto slope = slope_;
  const double delta = parameters_.delta;
  const double rho = parameters_.rho;
  delassus_->apply_fused(
      in, KOKKOS_LAMBDA(const int c, const Vec3& d) {
        const Vec3 zc = load3(in, c), e = d + dot(load3(slope, c), d) * row3(normal, c);
        store3(to, c, e + y(c) * (rho * zc - e) + delta * zc);
      });
}

void ContactBlocks::apply(const Vector& x, Vector& y, Teuchos::ETransp, double alpha,
                          double beta) const {
  require_plain(alpha, beta);
  const auto in = read_view(x);
  const auto out = overwrite_view(y);
  const auto b = blocks;
  Kokkos::parallel_for(
      "ccp::Pqn::block_inverse", range(b.extent(0)), KOKKOS_LAMBDA(const int c) {
        const Vec3 v = load3(in, c);
        store3(out, c,
               Vec3{b(c, 0) * v.x + b(c, 1) * v.y + b(c, 2) * v.z,
                    b(c, 3) * v.x + b(c, 4) * v.y + b(c, 5) * v.z,
                    b(c, 6) * v.x + b(c, 7) * v.y + b(c, 8) * v.z});
      });
}

void Linearisation::step(const VectorView& p, const ConstVectorView& dp) const {
  const auto normal = problem_.normal();
  const auto mu = problem_.mu();
  Kokkos::parallel_for(
      "ccp::Pqn::step", range(problem_.contacts()), KOKKOS_LAMBDA(const int c) {
        store3(p, c, project_friction_cone(load3(p, c) - load3(dp, c), row3(normal, c), mu(c)));
      });
}

Linearisation::Diagonal Linearisation::diagonal() const {
  Diagonal result;
  const int n = problem_.contacts();
  if (n == 0) return result;
  const auto w = diagonal_;
  Kokkos::parallel_reduce(
      "ccp::Pqn::diagonal", range(n),
      KOKKOS_LAMBDA(const int c, double& least, double& sum, double& largest) {
        for (int i = 0; i < 3; ++i) {
          const double entry = w(c, i, i);
          if (entry < least) least = entry;
          if (entry > largest) largest = entry;
          sum += entry;
        }
      },
      Kokkos::Min<double>(result.least), Kokkos::Sum<double>(result.mean),
      Kokkos::Max<double>(result.largest));
  result.mean /= 3.0 * n;
  return result;
}

}  // namespace ccp::pqn
