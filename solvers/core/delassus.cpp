#include "solvers/core/delassus.hpp"

#include <algorithm>
#include <cstring>

#include "solvers/core/transfer.hpp"

namespace ccp {
namespace {

/// Inverse of a symmetric, positive semidefinite 3x3 matrix; zero for the zero matrix. A singular
/// one (a body that turns about some axes only) is shifted by 1e-8 of its mean eigenvalue, which
/// changes what is in its range by as much.
void invert_inertia(const double* matrix, double* inverse) {
  double a[3][3];
  std::memcpy(a, matrix, sizeof a);
  const double mean = (a[0][0] + a[1][1] + a[2][2]) / 3;
  std::fill_n(inverse, 9, 0.0);
  if (!(mean > 0)) return;
  const auto cofactor = [&](int i, int j) {
    const int p = (i + 1) % 3, q = (i + 2) % 3, r = (j + 1) % 3, s = (j + 2) % 3;
    return a[p][r] * a[q][s] - a[p][s] * a[q][r];
  };
  const auto determinant = [&] {
    return a[0][0] * cofactor(0, 0) + a[0][1] * cofactor(0, 1) + a[0][2] * cofactor(0, 2);
  };
  if (determinant() < 1e-6 * mean * mean * mean) {
    for (int i = 0; i < 3; ++i) a[i][i] += 1e-8 * mean;
  }
  const double det = determinant();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) inverse[3 * i + j] = cofactor(j, i) / det;
  }
}

}  // namespace

DelassusOperator::DelassusOperator(const ContactProblem& problem) {
  contacts_ = static_cast<int>(problem.contacts());
  bodies_ = static_cast<int>(problem.bodies());
  map_ = make_map(3 * problem.contacts());
  assembled_ = problem.form == ContactProblem::Form::assembled;
  rotates_ = problem.rotates();
  const std::size_t n = problem.contacts(), m = problem.bodies();

  if (assembled_) {
    const BlockMatrix& a = problem.delassus;
    row_offset_ = upload<DeviceArray<std::int64_t*>>("ccp::Delassus::row_offset", a.row_offsets,
                                                     a.row_offsets.size());
    column_ = upload<DeviceArray<int*>>("ccp::Delassus::column", a.columns, a.columns.size());
    block_ =
        upload<DeviceArray<double* [3][3]>>("ccp::Delassus::block", a.blocks, a.columns.size());
    next_ = VectorView("ccp::Delassus::next", 3 * n);
    return;
  }

  std::vector<int> body(problem.contact_bodies.begin(), problem.contact_bodies.end());
  std::vector<int> offset(m + 1, 0);
  for (int& i : body) {
    if (i < 0) {
      i = bodies_;
    } else {
      ++offset[i + 1];
    }
  }
  for (std::size_t i = 0; i < m; ++i) offset[i + 1] += offset[i];
  std::vector<int> incidence(offset[m]), fill(offset.begin(), offset.end() - 1);
  for (std::size_t k = 0; k < body.size(); ++k) {
    if (body[k] < bodies_) {
      incidence[fill[body[k]]++] = static_cast<int>(6 * (k / 2) + k % 2);  // see incidence_
    }
  }
  std::vector<double> inverse_mass = problem.inverse_mass;
  inverse_mass.push_back(0);

  body_ = upload<DeviceArray<int* [2]>>("ccp::Delassus::body", body, n);
  incidence_offset_ = upload<DeviceArray<int*>>("ccp::Delassus::incidence_offset", offset, m + 1);
  incidence_ = upload<DeviceArray<int*>>("ccp::Delassus::incidence", incidence, incidence.size());
  inverse_mass_ = upload<DeviceArray<double*>>("ccp::Delassus::inverse_mass", inverse_mass, m + 1);
  velocity_ = make_image("ccp::Delassus::velocity");
  std::vector<double> mass(m + 1, 0.0);
  for (std::size_t i = 0; i < m; ++i) mass[i] = inverse_mass[i] > 0 ? 1 / inverse_mass[i] : 0;
  mass_ = upload<DeviceArray<double*>>("ccp::Delassus::mass", mass, m + 1);
  if (rotates_) {
    std::vector<double> inverse_inertia = problem.inverse_inertia;
    inverse_inertia.resize(9 * (m + 1), 0.0);
    inverse_inertia_ = upload<DeviceArray<double* [3][3]>>("ccp::Delassus::inverse_inertia",
                                                           inverse_inertia, m + 1);
    std::vector<double> inertia(9 * (m + 1), 0.0);
    for (std::size_t i = 0; i < m; ++i) invert_inertia(&inverse_inertia[9 * i], &inertia[9 * i]);
    inertia_ = upload<DeviceArray<double* [3][3]>>("ccp::Delassus::inertia", inertia, m + 1);
    std::vector<double> arm(6 * n);
    for (std::size_t c = 0; c < n; ++c) {
      std::memcpy(&arm[6 * c], &problem.arm_a[3 * c], 3 * sizeof(double));
      std::memcpy(&arm[6 * c + 3], &problem.arm_b[3 * c], 3 * sizeof(double));
    }
    arm_ = upload<DeviceArray<double* [2][3]>>("ccp::Delassus::arm", arm, n);
  }
}

Teuchos::RCP<DelassusOperator> DelassusOperator::clone() const {
  auto copy = Teuchos::rcp(new DelassusOperator(*this));
  if (assembled_) {
    copy->next_ = VectorView("ccp::Delassus::next", next_.extent(0));
  } else {
    copy->velocity_ = make_image("ccp::Delassus::velocity");
  }
  return copy;
}

void DelassusOperator::apply(const Vector& x, Vector& y, Teuchos::ETransp, double alpha,
                             double beta) const {
  const auto in = read_view(x);
  if (beta == 0) {
    const auto out = overwrite_view(y);
    apply_fused(
        in, KOKKOS_LAMBDA(const int c, const Vec3& d) { store3(out, c, alpha * d); });
  } else {
    const auto out = read_write_view(y);
    apply_fused(
        in, KOKKOS_LAMBDA(const int c, const Vec3& d) {
          store3(out, c, alpha * d + beta * load3(out, c));
        });
  }
}

DelassusOperator::Image DelassusOperator::make_image(const std::string& label) const {
  if (assembled_) return Image(label, contacts_, 3);
  return Image(label, bodies_ + 1, rotates_ ? 6 : 3);
}

void DelassusOperator::compute_image(const ConstVectorView& p, const Image& image) const {
  if (!assembled_) {
    accumulate_bodies(p, image);
    return;
  }
  multiply_blocks(
      p, KOKKOS_LAMBDA(const int c, const Vec3& d) {
        image(c, 0) = d.x;
        image(c, 1) = d.y;
        image(c, 2) = d.z;
      });
}

double DelassusOperator::energy(const Image& image, const ConstVectorView& p) const {
  return energy_of_difference(image, Image(), p);
}

double DelassusOperator::energy_of_difference(const Image& image, const Image& other,
                                              const ConstVectorView& p) const {
  const bool differs = other.extent(0) > 0;
  const bool assembled = assembled_, rotates = rotates_;
  const auto mass = mass_;
  const auto inertia = inertia_;
  double sum = 0;
  Kokkos::parallel_reduce(
      "ccp::Delassus::energy", range(assembled_ ? contacts_ : bodies_),
      KOKKOS_LAMBDA(const int i, double& total) {
        Vec3 v = row3(image, i);
        if (differs) v = v - row3(other, i);
        // N p is known for every contact, or v . M v is twice the kinetic energy.
        total += assembled ? dot(v, load3(p, i)) : mass(i) * dot(v, v);
        if (!rotates) return;
        double spin[3];
        for (int k = 0; k < 3; ++k) spin[k] = image(i, 3 + k) - (differs ? other(i, 3 + k) : 0);
        for (int j = 0; j < 3; ++j) {
          for (int k = 0; k < 3; ++k) total += spin[j] * inertia(i, j, k) * spin[k];
        }
      },
      sum);
  return sum;
}

void DelassusOperator::accumulate_bodies(const ConstVectorView& p, const Image& velocity) const {
  const auto offset = incidence_offset_;
  const auto incidence = incidence_;
  const auto v = velocity;
  const auto inverse_mass = inverse_mass_;
  if (!rotates_) {
    Kokkos::parallel_for(
        "ccp::Delassus::accumulate_bodies", range(bodies_), KOKKOS_LAMBDA(const int i) {
          const double signs[2] = {-1, 1};
          Vec3 sum;
          for (int k = offset(i); k < offset(i + 1); ++k) {
            const double sign = signs[incidence(k) & 1];
            const int first = incidence(k) >> 1;
            sum = sum + sign * Vec3{p(first), p(first + 1), p(first + 2)};
          }
          v(i, 0) = inverse_mass(i) * sum.x;
          v(i, 1) = inverse_mass(i) * sum.y;
          v(i, 2) = inverse_mass(i) * sum.z;
        });
    return;
  }
  const auto arm = arm_;
  const auto inverse_inertia = inverse_inertia_;
  Kokkos::parallel_for(
      "ccp::Delassus::accumulate_bodies", range(bodies_), KOKKOS_LAMBDA(const int i) {
        double s[3] = {0, 0, 0}, torque[3] = {0, 0, 0};
        for (int k = offset(i); k < offset(i + 1); ++k) {
          const int first = incidence(k) >> 1, c = first / 3, side = incidence(k) & 1;
          const double sign = side ? 1 : -1;
          const double p0 = sign * p(first), p1 = sign * p(first + 1), p2 = sign * p(first + 2);
          const double r0 = arm(c, side, 0), r1 = arm(c, side, 1), r2 = arm(c, side, 2);
          s[0] += p0, s[1] += p1, s[2] += p2;
          torque[0] += r1 * p2 - r2 * p1;
          torque[1] += r2 * p0 - r0 * p2;
          torque[2] += r0 * p1 - r1 * p0;
        }
        for (int k = 0; k < 3; ++k) {
          v(i, k) = inverse_mass(i) * s[k];
          v(i, 3 + k) = inverse_inertia(i, k, 0) * torque[0] +
                        inverse_inertia(i, k, 1) * torque[1] + inverse_inertia(i, k, 2) * torque[2];
        }
      });
}

DeviceArray<double* [3][3]> DelassusOperator::diagonal_blocks() const {
  DeviceArray<double* [3][3]> diagonal("ccp::Delassus::diagonal_blocks", contacts_);
  if (assembled_) {
    const auto offset = row_offset_;
    const auto column = column_;
    const auto block = block_;
    Kokkos::parallel_for(
        "ccp::Delassus::diagonal_blocks", range(contacts_), KOKKOS_LAMBDA(const int c) {
          for (std::int64_t k = offset(c); k < offset(c + 1); ++k) {
            if (column(k) != c) continue;
            for (int i = 0; i < 3; ++i) {
              for (int j = 0; j < 3; ++j) diagonal(c, i, j) = block(k, i, j);
            }
          }
        });
    return diagonal;
  }
  const auto body = body_;
  const auto inverse_mass = inverse_mass_;
  const auto inverse_inertia = inverse_inertia_;
  const auto arm = arm_;
  const bool rotates = rotates_;
  Kokkos::parallel_for(
      "ccp::Delassus::diagonal_blocks", range(contacts_), KOKKOS_LAMBDA(const int c) {
        const double mass = inverse_mass(body(c, 0)) + inverse_mass(body(c, 1));
        for (int i = 0; i < 3; ++i) diagonal(c, i, i) = mass;
        if (!rotates) return;
        for (int side = 0; side < 2; ++side) {
          const int k = body(c, side);
          // Columns of the arm's cross-product matrix: torques of unit impulses along the axes.
          const double r0 = arm(c, side, 0), r1 = arm(c, side, 1), r2 = arm(c, side, 2);
          const double lever[3][3] = {{0, r2, -r1}, {-r2, 0, r0}, {r1, -r0, 0}};
          for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
              double sum = 0;
              for (int p = 0; p < 3; ++p) {
                for (int q = 0; q < 3; ++q)
                  sum += lever[i][p] * inverse_inertia(k, p, q) * lever[j][q];
              }
              diagonal(c, i, j) += sum;
            }
          }
        }
      });
  return diagonal;
}

}  // namespace ccp
