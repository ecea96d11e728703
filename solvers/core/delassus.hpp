#pragma once

#include "problems/contact_problem.hpp"
#include "solvers/core/cone.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {

/// The Delassus operator N = D^T M^-1 D [1/kg] on the device, without ever forming it for problems in
/// bodies form; a block-CSR product for assembled ones.
///
/// Matrix-free, y = N x takes three passes, each a parallel loop without atomics, so that the result
/// does not depend on the number of threads:
///   1. per contact  p_c = F_c^T x_c                      (impulse in world axes)
///   2. per body     v_b = M_b^-1 sum over its contacts of -+ p_c, and the torques
///   3. per contact  y_c = F_c (v_B + w_B x arm_B - v_A - w_A x arm_A)
/// Immovable bodies are an extra body of zero inverse mass. Per contact and product about 208 bytes
/// move (frame twice, x, p, y and indices); 150 bytes per contact are stored.
///
/// Copies share the constant data; the work arrays (p and v) belong to one object each, so every user
/// takes a copy of its own with `clone()`.
class DelassusOperator : public Operator {
 public:
  explicit DelassusOperator(const ContactProblem& problem);

  /// Shares the constant data with this operator but has work arrays of its own.
  Teuchos::RCP<DelassusOperator> clone() const;

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  bool hasTransposeApply() const override { return true; }  // N is symmetric
  /// y = alpha N x + beta y.
  void apply(const Vector& x, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override;

  int contacts() const { return contacts_; }
  int bodies() const { return bodies_; }
  /// The 3x3 diagonal blocks of N. @return [n][3][3] 1/kg
  DeviceArray<double* [3][3]> diagonal_blocks() const;

  /// Calls sink(c, u_c) with u = N g for every contact, where g_c = impulse(c). Both are device
  /// functors; whatever is done around the product then needs no pass of its own.
  template <class Impulse, class Sink>
  void apply_fused(const Impulse& impulse, const Sink& sink) const {
    load(impulse);
    if (assembled_) {
      multiply_blocks(sink);
    } else {
      accumulate_bodies();
      contact_velocities(sink);
    }
  }

  /// For fixed-point iterations gamma <- update(c, (N gamma)_c): after `load(gamma)`, each `advance`
  /// computes u = N gamma for the impulses of the last load or advance and takes update's result as
  /// the next impulses, reading every frame once instead of twice.
  template <class Impulse>
  void load(const Impulse& impulse) const;
  template <class Update>
  void advance(const Update& update) const;

  /// Velocities M^-1 D gamma of the bodies for the impulses last loaded (bodies form).
  /// @return [m + 1][3 or 6] m/s and rad/s; the last row is the immovable body
  DeviceArray<double**> body_velocities() const {
    accumulate_bodies();
    return velocity_;
  }

  bool is_assembled() const { return assembled_; }

  // Public only because device lambdas may not live in private members.
  void accumulate_bodies() const;
  template <class Sink>
  void contact_velocities(const Sink& sink) const;
  template <class Sink>
  void multiply_blocks(const Sink& sink) const;

 private:
  DelassusOperator() = default;

  Teuchos::RCP<const Map> map_;
  int contacts_ = 0, bodies_ = 0;
  bool assembled_ = false, rotates_ = false;

  // Bodies form. Index m stands for the immovable body.
  DeviceArray<double* [3][3]> frame_;
  DeviceArray<int* [2]> body_;
  DeviceArray<double* [2][3]> arm_;
  DeviceArray<int*> incidence_offset_;  ///< [m + 1]
  DeviceArray<int*> incidence_;         ///< 2 * contact + side, grouped by body
  DeviceArray<double*> inverse_mass_;
  DeviceArray<double* [3][3]> inverse_inertia_;

  // Assembled form.
  DeviceArray<std::int64_t*> row_offset_;
  DeviceArray<int*> column_;
  DeviceArray<double* [3][3]> block_;

  // Work arrays of this object.
  DeviceArray<double* [3]> impulse_;       ///< p, or g itself in assembled form
  DeviceArray<double* [3]> next_impulse_;  ///< assembled form only
  DeviceArray<double**> velocity_;         ///< [m + 1][3 or 6]
};

// ---- kernels ------------------------------------------------------------------------------------

template <class Impulse>
void DelassusOperator::load(const Impulse& impulse) const {
  const auto p = impulse_;
  if (assembled_) {
    Kokkos::parallel_for(
        "ccp::Delassus::load", range(contacts_), KOKKOS_LAMBDA(const int c) {
          const Vec3 g = impulse(c);
          p(c, 0) = g.n, p(c, 1) = g.t1, p(c, 2) = g.t2;
        });
    return;
  }
  const auto f = frame_;
  Kokkos::parallel_for(
      "ccp::Delassus::load", range(contacts_), KOKKOS_LAMBDA(const int c) {
        const Vec3 g = impulse(c);
        for (int k = 0; k < 3; ++k) {
          p(c, k) = f(c, 0, k) * g.n + f(c, 1, k) * g.t1 + f(c, 2, k) * g.t2;
        }
      });
}

template <class Sink>
void DelassusOperator::contact_velocities(const Sink& sink) const {
  const auto f = frame_;
  const auto body = body_;
  const auto v = velocity_;
  const auto arm = arm_;
  if (!rotates_) {
    Kokkos::parallel_for(
        "ccp::Delassus::contact_velocities", range(contacts_), KOKKOS_LAMBDA(const int c) {
          const int a = body(c, 0), b = body(c, 1);
          const double d0 = v(b, 0) - v(a, 0), d1 = v(b, 1) - v(a, 1), d2 = v(b, 2) - v(a, 2);
          sink(c, Vec3{f(c, 0, 0) * d0 + f(c, 0, 1) * d1 + f(c, 0, 2) * d2,
                       f(c, 1, 0) * d0 + f(c, 1, 1) * d1 + f(c, 1, 2) * d2,
                       f(c, 2, 0) * d0 + f(c, 2, 1) * d1 + f(c, 2, 2) * d2});
        });
    return;
  }
  Kokkos::parallel_for(
      "ccp::Delassus::contact_velocities", range(contacts_), KOKKOS_LAMBDA(const int c) {
        double d[3] = {0, 0, 0};
        for (int side = 0; side < 2; ++side) {
          const int i = body(c, side);
          const double sign = side == 0 ? -1 : 1;
          const double w0 = v(i, 3), w1 = v(i, 4), w2 = v(i, 5);
          const double r0 = arm(c, side, 0), r1 = arm(c, side, 1), r2 = arm(c, side, 2);
          d[0] += sign * (v(i, 0) + w1 * r2 - w2 * r1);
          d[1] += sign * (v(i, 1) + w2 * r0 - w0 * r2);
          d[2] += sign * (v(i, 2) + w0 * r1 - w1 * r0);
        }
        sink(c, Vec3{f(c, 0, 0) * d[0] + f(c, 0, 1) * d[1] + f(c, 0, 2) * d[2],
                     f(c, 1, 0) * d[0] + f(c, 1, 1) * d[1] + f(c, 1, 2) * d[2],
                     f(c, 2, 0) * d[0] + f(c, 2, 1) * d[1] + f(c, 2, 2) * d[2]});
      });
}

template <class Sink>
void DelassusOperator::multiply_blocks(const Sink& sink) const {
  const auto offset = row_offset_;
  const auto column = column_;
  const auto block = block_;
  const auto g = impulse_;
  Kokkos::parallel_for(
      "ccp::Delassus::multiply_blocks", range(contacts_), KOKKOS_LAMBDA(const int c) {
        double u[3] = {0, 0, 0};
        for (std::int64_t k = offset(c); k < offset(c + 1); ++k) {
          const int j = column(k);
          for (int row = 0; row < 3; ++row) {
            u[row] += block(k, row, 0) * g(j, 0) + block(k, row, 1) * g(j, 1) +
                      block(k, row, 2) * g(j, 2);
          }
        }
        sink(c, Vec3{u[0], u[1], u[2]});
      });
}

template <class Update>
void DelassusOperator::advance(const Update& update) const {
  const auto p = impulse_;
  if (assembled_) {
    // Rows still read the old impulses, so the new ones go to a second array.
    const auto next = next_impulse_;
    multiply_blocks(KOKKOS_LAMBDA(const int c, const Vec3& u) {
      const Vec3 g = update(c, u);
      next(c, 0) = g.n, next(c, 1) = g.t1, next(c, 2) = g.t2;
    });
    Kokkos::deep_copy(ExecSpace(), p, next);
    return;
  }
  accumulate_bodies();
  const auto f = frame_;
  contact_velocities(KOKKOS_LAMBDA(const int c, const Vec3& u) {
    const Vec3 g = update(c, u);
    for (int k = 0; k < 3; ++k) {
      p(c, k) = f(c, 0, k) * g.n + f(c, 1, k) * g.t1 + f(c, 2, k) * g.t2;
    }
  });
}

}  // namespace ccp
