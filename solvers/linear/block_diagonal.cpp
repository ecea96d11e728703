#include "solvers/linear/block_diagonal.hpp"

namespace ccp {

BlockDiagonalInverse::BlockDiagonalInverse(Teuchos::RCP<const Map> map, int blocks,
                                           const BlockRoots& roots)
    : map_(std::move(map)), inverse_("ccp::BlockDiagonalInverse::inverse", blocks), roots_(roots) {}

void BlockDiagonalInverse::update(const DeviceArray<const Sym3*>& blocks) {
  const auto inverse = inverse_;
  Kokkos::parallel_for(
      "ccp::BlockDiagonalInverse::update", range(inverse_.extent(0)),
      KOKKOS_LAMBDA(const int c) { inverse(c) = ccp::inverse(blocks(c)); });
}

namespace {

/// out = alpha (R^T R)^-1 in + beta out of one row, or of a pair of them.
struct RootSolve {
  BlockRoots roots;
  ConstVectorView in;
  VectorView out;
  double alpha, beta;

  KOKKOS_INLINE_FUNCTION void put(int row, const double* value) const {
    const Vec3 own = alpha * Vec3{value[0], value[1], value[2]};
    store3(out, row, beta == 0 ? own : own + beta * load3(out, row));
  }
  KOKKOS_INLINE_FUNCTION void operator()(int row) const {
    const Vec3 own = load3(in, row);
    const int k = roots.pair.extent(0) > 0 ? roots.pair(row) : -1;
    if (k < 0) {
      double value[3] = {own.x, own.y, own.z};
      roots.alone(row).solve(value);
      put(row, value);
      return;
    }
    const int second = roots.rows() + k;
    const Vec3 beside = load3(in, second);
    double value[6] = {own.x, own.y, own.z, beside.x, beside.y, beside.z};
    roots.together(k).solve(value);
    put(row, value);
    put(second, value + 3);
  }
};

}  // namespace

void BlockDiagonalInverse::apply_roots(const ConstVectorView& in, const VectorView& out,
                                       double alpha, double beta) const {
  const RootSolve solve{roots_, in, out, alpha, beta};
  Kokkos::parallel_for("ccp::BlockDiagonalInverse::apply_roots", range(roots_.rows()), solve);
}

void BlockDiagonalInverse::apply(const Vector& x, Vector& y, Teuchos::ETransp, double alpha,
                                 double beta) const {
  ++applies_;
  const auto inverse = inverse_;
  const auto in = read_view(x);
  const int first = roots_.rows() + static_cast<int>(roots_.together.extent(0));
  const auto own = Kokkos::RangePolicy<>(first, static_cast<int>(inverse_.extent(0)));
  const auto out = beta == 0 ? overwrite_view(y) : read_write_view(y);
  if (first > 0) apply_roots(in, out, alpha, beta);
  if (beta == 0) {
    Kokkos::parallel_for(
        "ccp::BlockDiagonalInverse::apply", own,
        KOKKOS_LAMBDA(const int c) { store3(out, c, alpha * (inverse(c) * load3(in, c))); });
  } else {
    Kokkos::parallel_for(
        "ccp::BlockDiagonalInverse::apply", own, KOKKOS_LAMBDA(const int c) {
          store3(out, c, alpha * (inverse(c) * load3(in, c)) + beta * load3(out, c));
        });
  }
}

}  // namespace ccp
