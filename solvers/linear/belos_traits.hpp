#pragma once

// What Belos needs to know of our vectors: a Tpetra::MultiVector whose additions and products of
// single columns use vector_kernels.hpp. All else is Tpetra's.

#include <BelosMultiVecTraits.hpp>
#include <BelosOperatorTraits.hpp>
#include <BelosStubTsqrAdapter.hpp>
#include <BelosTpetraAdapter.hpp>
#include <cmath>
#include <vector>

#include "solvers/core/ranks.hpp"
#include "solvers/core/vector_kernels.hpp"

namespace ccp {

/// A Vector for Belos. Copies are shallow, as Tpetra's are.
class KrylovVector : public Vector {
 public:
  explicit KrylovVector(const Vector& vector) : Vector(vector) {}
};

/// x . y of vectors of which every rank has a part. Collective.
inline double dot(const Vector& x, const Vector& y) {
  return Ranks(x.getMap()->getComm()).sum(vector_kernels::dot(read_view(x), read_view(y)));
}

}  // namespace ccp

// NOLINTBEGIN(readability-identifier-naming): the names are Belos'.
namespace Belos {

template <>
class MultiVecTraits<double, ccp::KrylovVector> {
  using MV = ccp::KrylovVector;
  using Base = MultiVecTraits<double, ccp::Vector>;
  using Dense = Teuchos::SerialDenseMatrix<int, double>;

  template <class V>
  static Teuchos::RCP<MV> wrap(const Teuchos::RCP<V>& vector) {
    return Teuchos::rcp(new MV(*vector));
  }
  static bool single(const MV& x) { return x.getNumVectors() == 1; }

 public:
  static Teuchos::RCP<MV> Clone(const MV& x, int count) { return wrap(Base::Clone(x, count)); }
  static Teuchos::RCP<MV> CloneCopy(const MV& x) { return wrap(Base::CloneCopy(x)); }
  template <class Index>
  static Teuchos::RCP<MV> CloneCopy(const MV& x, const Index& index) {
    return wrap(Base::CloneCopy(x, index));
  }
  template <class Index>
  static Teuchos::RCP<MV> CloneViewNonConst(MV& x, const Index& index) {
    return wrap(Base::CloneViewNonConst(x, index));
  }
  template <class Index>
  static Teuchos::RCP<const MV> CloneView(const MV& x, const Index& index) {
    return wrap(Base::CloneView(x, index));
  }
  static ptrdiff_t GetGlobalLength(const MV& x) { return Base::GetGlobalLength(x); }
  static int GetNumberVecs(const MV& x) { return Base::GetNumberVecs(x); }
  static bool HasConstantStride(const MV& x) { return Base::HasConstantStride(x); }

  static void MvTimesMatAddMv(double alpha, const MV& a, const Dense& b, double beta, MV& x) {
    if (single(a) && single(x)) {
      ccp::vector_kernels::add(alpha * b(0, 0), ccp::read_view(a), beta, ccp::read_view(x),
                               ccp::read_write_view(x));
    } else {
      Base::MvTimesMatAddMv(alpha, a, b, beta, x);
    }
  }
  static void MvAddMv(double alpha, const MV& a, double beta, const MV& b, MV& x) {
    if (single(x)) {
      ccp::vector_kernels::add(alpha, ccp::read_view(a), beta, ccp::read_view(b),
                               ccp::read_write_view(x));
    } else {
      Base::MvAddMv(alpha, a, beta, b, x);
    }
  }
  static void MvScale(MV& x, double alpha) { Base::MvScale(x, alpha); }
  static void MvScale(MV& x, const std::vector<double>& alpha) { Base::MvScale(x, alpha); }
  static void MvTransMv(double alpha, const MV& a, const MV& b, Dense& c) {
    Base::MvTransMv(alpha, a, b, c);
  }
  static void MvDot(const MV& a, const MV& b, std::vector<double>& dots) {
    if (single(a) && single(b)) {
      dots[0] = ccp::dot(a, b);
    } else {
      Base::MvDot(a, b, dots);
    }
  }
  static void MvNorm(const MV& x, std::vector<double>& norms, NormType type = TwoNorm) {
    if (single(x) && type == TwoNorm) {
      norms[0] = std::sqrt(ccp::dot(x, x));
    } else {
      Base::MvNorm(x, norms, type);
    }
  }
  template <class Index>
  static void SetBlock(const MV& a, const Index& index, MV& x) {
    Base::SetBlock(a, index, x);
  }
  static void Assign(const MV& a, MV& x) { Base::Assign(a, x); }
  static void MvRandom(MV& x) { Base::MvRandom(x); }
  static void MvInit(MV& x, double alpha = 0) { Base::MvInit(x, alpha); }
  static void MvPrint(const MV& x, std::ostream& out) { Base::MvPrint(x, out); }
#ifdef HAVE_BELOS_TSQR
  using tsqr_adaptor_type = details::StubTsqrAdapter<MV>;
#endif
};

template <>
class OperatorTraits<double, ccp::KrylovVector, ccp::Operator> {
 public:
  static void Apply(const ccp::Operator& a, const ccp::KrylovVector& x, ccp::KrylovVector& y,
                    ETrans trans = NOTRANS) {
    OperatorTraits<double, ccp::Vector, ccp::Operator>::Apply(a, x, y, trans);
  }
  static bool HasApplyTranspose(const ccp::Operator& a) { return a.hasTransposeApply(); }
};

}  // namespace Belos
// NOLINTEND(readability-identifier-naming)
