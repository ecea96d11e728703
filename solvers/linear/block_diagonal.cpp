#include "solvers/linear/block_diagonal.hpp"

namespace ccp {

BlockDiagonalInverse::BlockDiagonalInverse(Teuchos::RCP<const Map> map, int blocks)
    : map_(std::move(map)), inverse_("ccp::BlockDiagonalInverse::inverse", blocks) {}

void BlockDiagonalInverse::update(const DeviceArray<const double* [6]>& blocks) {
  const auto inverse = inverse_;
  Kokkos::parallel_for(
      "ccp::BlockDiagonalInverse::update", range(inverse_.extent(0)), KOKKOS_LAMBDA(const int c) {
        double a[6], b[6];
        for (int k = 0; k < 6; ++k) a[k] = blocks(c, k);
        invert_symmetric(a, b);
        for (int k = 0; k < 6; ++k) inverse(c, k) = b[k];
      });
}

void BlockDiagonalInverse::apply(const Vector& x, Vector& y, Teuchos::ETransp, double alpha,
                                 double beta) const {
  ++applies_;
  const auto inverse = inverse_;
  const auto in = read_view(x);
  const auto product = KOKKOS_LAMBDA(const int c)->Vec3 {
    const Vec3 v = load3(in, c);
    return {inverse(c, 0) * v.x + inverse(c, 1) * v.y + inverse(c, 2) * v.z,
            inverse(c, 1) * v.x + inverse(c, 3) * v.y + inverse(c, 4) * v.z,
            inverse(c, 2) * v.x + inverse(c, 4) * v.y + inverse(c, 5) * v.z};
  };
  if (beta == 0) {
    const auto out = overwrite_view(y);
    Kokkos::parallel_for(
        "ccp::BlockDiagonalInverse::apply", range(inverse_.extent(0)),
        KOKKOS_LAMBDA(const int c) { store3(out, c, alpha * product(c)); });
  } else {
    const auto out = read_write_view(y);
    Kokkos::parallel_for(
        "ccp::BlockDiagonalInverse::apply", range(inverse_.extent(0)),
        KOKKOS_LAMBDA(const int c) { store3(out, c, alpha * product(c) + beta * load3(out, c)); });
  }
}

}  // namespace ccp
