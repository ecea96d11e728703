#include "solvers/linear/block_diagonal.hpp"

namespace ccp {

BlockDiagonalInverse::BlockDiagonalInverse(Teuchos::RCP<const Map> map, int blocks,
                                           const PairBlocks& pairs)
    : map_(std::move(map)),
      inverse_("ccp::BlockDiagonalInverse::inverse", blocks),
      pairs_(pairs),
      tilt_("ccp::BlockDiagonalInverse::tilt", pairs.size()) {
  if (pairs_.size() > 0) find_pairs(blocks);
}

void BlockDiagonalInverse::find_pairs(int blocks) {
  pair_ = DeviceArray<int*>("ccp::BlockDiagonalInverse::pair", blocks);
  Kokkos::deep_copy(pair_, -1);
  const auto pair = pair_;
  const PairBlocks pairs = pairs_;
  Kokkos::parallel_for(
      "ccp::BlockDiagonalInverse::find_pairs", range(pairs.size()),
      KOKKOS_LAMBDA(const int k) { pair(pairs.first(k)) = pair(pairs.second(k)) = k; });
}

void BlockDiagonalInverse::update(const DeviceArray<const Sym3*>& blocks) {
  const auto inverse = inverse_;
  Kokkos::parallel_for(
      "ccp::BlockDiagonalInverse::update", range(inverse_.extent(0)),
      KOKKOS_LAMBDA(const int c) { inverse(c) = ccp::inverse(blocks(c)); });
  if (pairs_.size() > 0) update_pairs(blocks);
}

void BlockDiagonalInverse::update_pairs(const DeviceArray<const Sym3*>& blocks) {
  const auto inverse = inverse_;
  const auto tilt = tilt_;
  const PairBlocks pairs = pairs_;
  Kokkos::parallel_for(
      "ccp::BlockDiagonalInverse::update_pairs", range(pairs.size()), KOKKOS_LAMBDA(const int k) {
        const double* const x = pairs.block(k).a;
        const Sym3 second = inverse(pairs.second(k));
        double solved[3][3];  // B^-1 X^T, by columns
        for (int q = 0; q < 3; ++q) {
          const Vec3 column = second * Vec3{x[3 * q], x[3 * q + 1], x[3 * q + 2]};
          solved[q][0] = column.x, solved[q][1] = column.y, solved[q][2] = column.z;
          for (int p = 0; p < 3; ++p) tilt(k).a[3 * p + q] = solved[q][p];
        }
        const Sym3 own = blocks(pairs.first(k));
        inverse(pairs.first(k)) = ccp::inverse(symmetric([&](int p, int q) {
          return own(p, q) - x[3 * p] * solved[q][0] - x[3 * p + 1] * solved[q][1] -
                 x[3 * p + 2] * solved[q][2];
        }));
      });
}

void BlockDiagonalInverse::apply(const Vector& x, Vector& y, Teuchos::ETransp, double alpha,
                                 double beta) const {
  ++applies_;
  const auto inverse = inverse_;
  const auto in = read_view(x);
  const bool paired = pairs_.size() > 0;
  const auto pair = pair_;
  const auto tilt = tilt_;
  const PairBlocks pairs = pairs_;
  const auto product = KOKKOS_LAMBDA(const int c)->Vec3 {
    const int k = paired ? pair(c) : -1;
    if (k < 0) return inverse(c) * load3(in, c);
    const int first = pairs.first(k), second = pairs.second(k);
    const Vec3 beside = load3(in, second);
    const Vec3 own = inverse(first) * (load3(in, first) - tilt(k).transposed(beside));
    return c == first ? own : inverse(second) * beside - tilt(k) * own;
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
