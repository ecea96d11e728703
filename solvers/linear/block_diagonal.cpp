#include "solvers/linear/block_diagonal.hpp"

namespace ccp {

BlockDiagonalInverse::BlockDiagonalInverse(Teuchos::RCP<const Map> map, int blocks)
    : map_(std::move(map)), inverse_("ccp::BlockDiagonalInverse::inverse", blocks) {}

void BlockDiagonalInverse::update(const DeviceArray<const Sym3*>& blocks) {
  const auto inverse = inverse_;
  Kokkos::parallel_for(
      "ccp::BlockDiagonalInverse::update", range(inverse_.extent(0)),
      KOKKOS_LAMBDA(const int c) { inverse(c) = ccp::inverse(blocks(c)); });
}

void BlockDiagonalInverse::apply(const Vector& x, Vector& y, Teuchos::ETransp, double alpha,
                                 double beta) const {
  ++applies_;
  const auto inverse = inverse_;
  const auto in = read_view(x);
  const auto product = KOKKOS_LAMBDA(const int c)->Vec3 {
    return inverse(c) * load3(in, c);
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
