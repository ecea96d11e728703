// Deprecated for cuDSS, which is no part of the toolkit.
#define DISABLE_CUSOLVER_DEPRECATED
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>
#include <cusparse.h>
#include <fmt/format.h>

#include <new>
#include <stdexcept>
#include <string>

#include "solvers/core/transfer.hpp"
#include "solvers/linear/device_factor.hpp"
#include "solvers/linear/permuted_pattern.hpp"

namespace ccp {
namespace {

void require(int status, const char* call) {
  if (status == CUSOLVER_STATUS_ALLOC_FAILED) throw std::bad_alloc();
  if (status != 0) {
    throw std::runtime_error(fmt::format("{} failed with status {}", call, status));
  }
}

class CusolverFactor : public DeviceFactor {
 public:
  CusolverFactor(const PermutedPattern& pattern, const std::vector<int>& order)
      : size_(static_cast<int>(order.size())),
        entries_(static_cast<int>(pattern.column.size())),
        row_offset_(to_device("row_offset", pattern.row_offset)),
        column_(to_device("column", pattern.column)),
        source_(to_device("source", pattern.source)),
        order_(to_device("order", order)),
        values_("ccp::Cusolver::values", entries_),
        diagonal_("ccp::Cusolver::diagonal", size_),
        right_("ccp::Cusolver::right", size_),
        left_("ccp::Cusolver::left", size_) {
    require(cusolverSpCreate(&handle_), "cusolverSpCreate");
    require(cusparseCreateMatDescr(&description_), "cusparseCreateMatDescr");  // general, from 0
    require(cusolverSpSetStream(handle_, ExecSpace().cuda_stream()), "cusolverSpSetStream");
    require(cusolverSpCreateCsrcholInfo(&info_), "cusolverSpCreateCsrcholInfo");
    require(cusolverSpXcsrcholAnalysis(handle_, size_, entries_, description_, row_offset_.data(),
                                       column_.data(), info_),
            "cusolverSpXcsrcholAnalysis");
    std::size_t of_factor = 0, of_work = 0;  // the factor is cuSOLVER's own
    require(cusolverSpDcsrcholBufferInfo(handle_, size_, entries_, description_, values_.data(),
                                         row_offset_.data(), column_.data(), info_, &of_factor,
                                         &of_work),
            "cusolverSpDcsrcholBufferInfo");
    work_ = DeviceArray<char*>("ccp::Cusolver::work", of_work);
  }
  ~CusolverFactor() override {
    if (info_) cusolverSpDestroyCsrcholInfo(info_);
    if (description_) cusparseDestroyMatDescr(description_);
    if (handle_) cusolverSpDestroy(handle_);
  }
  CusolverFactor(const CusolverFactor&) = delete;
  CusolverFactor& operator=(const CusolverFactor&) = delete;

  bool factorize(const DeviceArray<const double*>& values, double shift) override {
    permute_values(values, shift);
    require(cusolverSpDcsrcholFactor(handle_, size_, entries_, description_, values_.data(),
                                     row_offset_.data(), column_.data(), info_, work_.data()),
            "cusolverSpDcsrcholFactor");
    int pivot = -1;
    require(cusolverSpDcsrcholZeroPivot(handle_, info_, 0, &pivot), "cusolverSpDcsrcholZeroPivot");
    if (pivot >= 0) return false;
    require(cusolverSpDcsrcholDiag(handle_, info_, diagonal_.data()), "cusolverSpDcsrcholDiag");
    return bad_pivots() == 0;
  }

  void solve(const VectorView& x) override {
    permute(x);
    require(
        cusolverSpDcsrcholSolve(handle_, size_, right_.data(), left_.data(), info_, work_.data()),
        "cusolverSpDcsrcholSolve");
    permute_back(x);
  }

  // Public only because device lambdas may not live in private members.
  void permute_values(const DeviceArray<const double*>& values, double shift) const {
    const auto row_offset = row_offset_, column = column_, source = source_;
    const auto out = values_;
    Kokkos::parallel_for(
        "ccp::Cusolver::permute_values", range(size_), KOKKOS_LAMBDA(const int i) {
          for (int k = row_offset(i); k < row_offset(i + 1); ++k) {
            out(k) = values(source(k)) * (column(k) == i ? 1 + shift : 1);
          }
        });
  }
  /// Entries of L's diagonal that are no positive numbers.
  int bad_pivots() const {
    const auto diagonal = diagonal_;
    int bad = 0;
    Kokkos::parallel_reduce(
        "ccp::Cusolver::bad_pivots", range(size_),
        KOKKOS_LAMBDA(const int i, int& sum) { sum += !(diagonal(i) > 0); }, bad);
    return bad;
  }
  void permute(const VectorView& x) const {
    const auto order = order_;
    const auto right = right_;
    Kokkos::parallel_for(
        "ccp::Cusolver::permute", range(size_),
        KOKKOS_LAMBDA(const int k) { right(k) = x(order(k)); });
  }
  void permute_back(const VectorView& x) const {
    const auto order = order_;
    const auto left = left_;
    Kokkos::parallel_for(
        "ccp::Cusolver::permute_back", range(size_),
        KOKKOS_LAMBDA(const int k) { x(order(k)) = left(k); });
  }

 private:
  static DeviceArray<int*> to_device(const std::string& name, const std::vector<int>& data) {
    return upload<DeviceArray<int*>>("ccp::Cusolver::" + name, data, data.size());
  }

  int size_, entries_;
  DeviceArray<int*> row_offset_, column_, source_;  ///< PermutedPattern
  DeviceArray<int*> order_;
  DeviceArray<double*> values_, diagonal_, right_, left_;
  DeviceArray<char*> work_;
  cusolverSpHandle_t handle_ = nullptr;
  cusparseMatDescr_t description_ = nullptr;
  csrcholInfo_t info_ = nullptr;
};

}  // namespace

std::unique_ptr<DeviceFactor> make_cusolver_factor(const std::vector<std::int64_t>& column_offsets,
                                                   const std::vector<int>& rows,
                                                   const std::vector<int>& order) {
  return std::make_unique<CusolverFactor>(PermutedPattern(column_offsets, rows, order), order);
}

}  // namespace ccp
