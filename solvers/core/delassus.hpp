#pragma once

#include <memory>

#include "solvers/core/body_exchange.hpp"
#include "solvers/core/constraint_map.hpp"
#include "solvers/core/constraint_pools.hpp"
#include "solvers/core/staged_loop.hpp"

namespace ccp {

/// Adds Sigma p to the product that it hands on.
template <class Sink>
struct CompliantSink {
  Sink sink;
  DeviceArray<const double* [2]> compliance;
  DeviceArray<const double* [3]> normal;
  ConstVectorView p;

  KOKKOS_INLINE_FUNCTION void operator()(int c, const Vec3& d) const {
    sink(c, d + comply(compliance, normal, c, load3(p, c)));
  }
};

/// The Delassus operator N = D^T M^-1 D [1/kg] on the device, in world axes, without ever forming
/// it for problems in bodies form; a block-CSR product for assembled ones.
///
/// World axes: with p_c = F_c^T gamma_c for every contact, N reads  d_c = (F^T N F p)_c, the
/// relative velocity of the two bodies that the impulses p cause. The frames F_c drop out; what is
/// left of them is the unit normal, which the friction cone needs. A product then moves about 100
/// bytes per contact instead of 208 with the frames. Solvers work in these axes and go back to
/// contact axes (n, t1, t2) only when somebody looks (Problem::to_contact_axes). An assembled N has
/// no frames: there "world" is contact axes, and every normal is (1, 0, 0).
///
/// Matrix-free, d = N p takes two passes, each a parallel loop without atomics, so that the result
/// does not depend on the number of threads:
///   1. per body     v_b = M_b^-1 sum over its contacts of -+ p_c, and the torques
///   2. per contact  d_c = v_B + w_B x arm_B - v_A - w_A x arm_A
/// Immovable bodies are an extra body of zero inverse mass.
///
/// For problems with compliant contacts all of this is N + Sigma: Sigma_c = diag(C_n, C_t, C_t) in
/// contact axes, C_n n n^T + C_t (1 - n n^T) in world axes. In pass 2 it costs one more read of p
/// and n; in assembled form it is in the blocks.
///
/// Triples of other kinds than contacts (ConstraintPools) follow the contacts in every vector, and
/// their own kernels follow those of the contacts in every pass.
///
/// On several ranks each has a part of the contacts, and of their bodies (Distribution). Between
/// the passes the ranks add up what they know of the bodies that several have; M^-1 is linear, so
/// that velocities may be added in place of impulses. Sums over triples and bodies are those of all
/// ranks. Every function with a product or a sum is collective then.
///
/// Copies share the constant data; the work arrays belong to one object each, so every user takes a
/// copy of its own with `clone()`.
class DelassusOperator : public Operator {
 public:
  explicit DelassusOperator(const ContactProblem& problem);
  /// @param problem  the part of this rank, in bodies form with contacts alone
  DelassusOperator(const ContactProblem& problem, const Distribution& distribution);

  /// Shares the constant data with this operator but has work arrays of its own.
  Teuchos::RCP<DelassusOperator> clone() const;

  Teuchos::RCP<const Map> getDomainMap() const override { return domain_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return domain_; }
  bool hasTransposeApply() const override { return true; }  // N is symmetric
  /// y = alpha N x + beta y.
  void apply(const Vector& x, Vector& y, Teuchos::ETransp mode = Teuchos::NO_TRANS,
             double alpha = 1, double beta = 0) const override;

  int contacts() const { return contacts_; }
  int bodies() const { return bodies_; }
  const Ranks& ranks() const { return ranks_; }
  /// What it was made of; null with one rank.
  const Distribution* distribution() const {
    return exchange_ ? exchange_->distribution() : nullptr;
  }
  /// most_neighbours() of the problem that several ranks share; 0 with one rank.
  double most_neighbours() const { return most_neighbours_; }
  /// The 3x3 diagonal blocks of N in world axes. @return [n][3][3] 1/kg
  DeviceArray<double* [3][3]> diagonal_blocks() const;

  /// Calls sink(c, (N p)_c) for every triple: for contacts and, where the problem has them, for
  /// those of the pools. Whatever is done with the product needs no pass of its own then. Both a
  /// Tpetra vector's view and any other flat view of as many entries will do for p.
  template <class Sink>
  void apply_fused(const ConstVectorView& p, const Sink& sink) const {
    if (assembled_) {
      multiply_blocks(p, sink);
      return;
    }
    accumulate_bodies(p, velocity_);
    if (map_.is_compliant()) {
      contact_velocities(velocity_,
                         CompliantSink<Sink>{sink, map_.compliance(), map_.compliant_normal(), p});
    } else {
      contact_velocities(velocity_, sink);
    }
    if (!pools_.empty()) pools_.for_each_velocity(velocity_, p, sink);
  }

  /// What a vector of impulses does: the velocities it gives to the bodies, [m + 1][3 or 6], from
  /// which a product with N is one pass over the triples; N p itself, [triples][3], in assembled
  /// form and where constraints are compliant. Images add up like the impulses do, and in bodies
  /// form are four times shorter.
  using Image = DeviceArray<double**>;
  Image make_image(const std::string& label) const;
  void compute_image(const ConstVectorView& p, const Image& image) const;
  /// Whether images are N p: in assembled form, and where constraints are compliant.
  bool image_is_product() const { return assembled_ || is_compliant() || compliant_elsewhere_; }
  /// N p of all triples from the image of p.
  void product_of(const Image& image, const VectorView& product) const;
  /// p . N p, from the image of p. @param p  looked at only where the image is N p
  double energy(const Image& image, const ConstVectorView& p) const;
  /// p . N p of a difference p, from the images of the two. @param p  as above
  double energy_of_difference(const Image& image, const Image& other,
                              const ConstVectorView& p) const;
  /// Calls sink(c, (N p)_c) for every contact, and no other triple, for p with that image. A sink
  /// without branches runs in SIMD lanes.
  template <class Sink>
  void for_each_velocity(const Image& image, const Sink& sink) const;
  /// Calls sink(c, (N p)_c, a_c, b_c) for every contact, no other triple, and adds up what it puts
  /// into a_c and b_c, on all ranks.
  template <class Sink>
  void sum_velocities(const Image& image, const Sink& sink, double& a, double& b) const;

  /// One step p <- update(c, p_c, (N p)_c) of a fixed-point iteration, in place, for a problem of
  /// contacts alone.
  template <class Update>
  void advance(const VectorView& p, const Update& update) const;

  /// Velocities M^-1 D gamma that impulses p give to the bodies (bodies form).
  /// @return [m + 1][3 or 6] m/s and rad/s; the last row is the immovable body
  DeviceArray<double**> body_velocities(const ConstVectorView& p) const {
    accumulate_bodies(p, velocity_);
    return velocity_;
  }

  bool is_assembled() const { return assembled_; }
  bool is_compliant() const { return map_.is_compliant() || pools_.is_compliant(); }
  /// Who touches whom (bodies form). Its Sigma is empty in assembled form, whose blocks contain it.
  const ConstraintMap& constraints() const { return map_; }
  /// The triples beside the contacts; empty in assembled form.
  const ConstraintPools& pools() const { return pools_; }

  // Public only because device lambdas may not live in private members.
  void accumulate_bodies(const ConstVectorView& p, const Image& velocity) const;
  template <class Sink>
  void contact_velocities(const Image& velocity, const Sink& sink) const;
  template <class Sink>
  void multiply_blocks(const ConstVectorView& p, const Sink& sink) const;

 private:
  DelassusOperator() = default;

  Image make_body_velocities() const;
  void count_neighbours(const ContactProblem& problem);

  Ranks ranks_;
  Teuchos::RCP<const Map> domain_;
  int contacts_ = 0, bodies_ = 0;
  int owned_bodies_ = 0;  ///< those that belong to this rank; they come first
  bool assembled_ = false, rotates_ = false;
  bool compliant_elsewhere_ = false;  ///< a contact of another rank is compliant
  double most_neighbours_ = 0;

  ConstraintMap map_;  ///< bodies form
  ConstraintPools pools_;
  BodyMatrices masses_;  ///< M, pseudo-inverse
  BlockRows rows_;       ///< assembled form

  // Work arrays of this object.
  DeviceArray<double**> velocity_;          ///< bodies form: [m + 1][3 or 6]
  VectorView next_;                         ///< assembled form: the next impulses of advance()
  std::shared_ptr<BodyExchange> exchange_;  ///< with several ranks
};

// ---- kernels ------------------------------------------------------------------------------------

/// An image of fixed width, whose rows are found without multiplying by a stride.
template <int width>
using ImageRows = Kokkos::View<double* [width], MemSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <int width>
ImageRows<width> image_rows(const DelassusOperator::Image& image) {
  return ImageRows<width>(image.data(), image.extent(0));
}

template <class Sink>
void DelassusOperator::contact_velocities(const Image& velocity, const Sink& sink) const {
  const char* label = "ccp::Delassus::contact_velocities";
  if (rotates_) {
    const auto relative = map_.relative_at_arms(SpatialRows<ImageRows<6>>{image_rows<6>(velocity)});
    Kokkos::parallel_for(
        label, range(contacts_), KOKKOS_LAMBDA(const int c) { sink(c, relative(c)); });
  } else {
    const auto relative = map_.relative(Rows<ImageRows<3>>{image_rows<3>(velocity)});
    Kokkos::parallel_for(
        label, range(contacts_), KOKKOS_LAMBDA(const int c) { sink(c, relative(c)); });
  }
}

template <class Sink>
void DelassusOperator::for_each_velocity(const Image& image, const Sink& sink) const {
  const char* label = "ccp::Delassus::for_each_velocity";
  if (image_is_product()) {
    for_each_staged(label, contacts_, Rows<ImageRows<3>>{image_rows<3>(image)}, sink);
  } else if (rotates_) {
    for_each_staged(label, contacts_,
                    map_.relative_at_arms(SpatialRows<ImageRows<6>>{image_rows<6>(image)}), sink);
  } else {
    for_each_staged(label, contacts_, map_.relative(Rows<ImageRows<3>>{image_rows<3>(image)}),
                    sink);
  }
}

template <class Sink>
void DelassusOperator::sum_velocities(const Image& image, const Sink& sink, double& a,
                                      double& b) const {
  const char* label = "ccp::Delassus::sum_velocities";
  if (image_is_product()) {
    sum_staged(label, contacts_, Rows<ImageRows<3>>{image_rows<3>(image)}, sink, a, b);
  } else if (rotates_) {
    sum_staged(label, contacts_,
               map_.relative_at_arms(SpatialRows<ImageRows<6>>{image_rows<6>(image)}), sink, a, b);
  } else {
    sum_staged(label, contacts_, map_.relative(Rows<ImageRows<3>>{image_rows<3>(image)}), sink, a,
               b);
  }
  if (ranks_.size() == 1) return;
  double sums[2] = {a, b};
  ranks_.sum(sums, 2);
  a = sums[0];
  b = sums[1];
}

template <class Sink>
void DelassusOperator::multiply_blocks(const ConstVectorView& p, const Sink& sink) const {
  const BlockRows rows = rows_;
  Kokkos::parallel_for(
      "ccp::Delassus::multiply_blocks", range(contacts_),
      KOKKOS_LAMBDA(const int c) { sink(c, rows.product(p, c)); });
}

template <class Update>
void DelassusOperator::advance(const VectorView& p, const Update& update) const {
  if (!assembled_) {
    const auto step = KOKKOS_LAMBDA(const int c, const Vec3& d) {
      store3(p, c, update(c, load3(p, c), d));
    };
    if (is_compliant()) {
      apply_fused(p, step);
    } else {
      accumulate_bodies(p, velocity_);
      for_each_velocity(velocity_, step);
    }
    return;
  }
  // Other rows still read the old impulses, so the new ones go to a second array.
  const auto next = next_;
  multiply_blocks(
      p, KOKKOS_LAMBDA(const int c, const Vec3& d) { store3(next, c, update(c, load3(p, c), d)); });
  Kokkos::deep_copy(ExecSpace(), p, next);
}

}  // namespace ccp
