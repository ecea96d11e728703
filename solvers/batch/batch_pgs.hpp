#pragma once

#include "solvers/batch/batch.hpp"
#include "solvers/gauss_seidel/gauss_seidel.hpp"

namespace ccp {

/// pgs[sweep=sequential] of every problem. One iteration is a sweep; the residual is looked at in
/// sweeps 0, check_interval, ... Forms: both. Laws: both.
class BatchPgs : public BatchSolver {
 public:
  void add_options(OptionList& list);
  Law law() const override { return law_ == "convex" ? Law::convex : Law::coulomb; }
  void setup(const Batch& batch) override;

  // Public only because device lambdas may not live in private members.
  void weigh_idle_contacts();
  void start() override;
  void advance() override;
  void answer(const VectorView& p) override;

 private:
  void count(int outer, Info& info) const override;
  template <class Product>
  void sweep(const Product& product);

  std::string law_ = "convex", local_ = "exact";
  double omega_ = 1;
  int check_interval_ = 50, max_iterations_ = 10000000;
  std::unique_ptr<GaussSeidel> sweeps_;
  DeviceArray<int*> group_offset_;  ///< [size + 1] first groups of the order
  DeviceArray<int*> groups_;        ///< first places of groups, and the number of contacts
  VectorView p_;                    ///< impulses in the problems' order of contacts
  VectorView v_;                    ///< velocities that they give to the bodies
  std::function<void()> run_;       ///< a round, with the product that the batch has
};

}  // namespace ccp
