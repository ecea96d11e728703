#include "harness/systems/thawed_systems.hpp"

#include <Tpetra_BlockCrsMatrix.hpp>
#include <Tpetra_CrsMatrix.hpp>

#include "solvers/core/transfer.hpp"
#include "solvers/ipm/newton_matrix.hpp"

namespace ccp {
namespace {

class ContactSystems : public ThawedSystems {
 public:
  ContactSystems(const FrozenSystems& systems, const Problem& problem)
      : problem_(problem),
        system_(Teuchos::rcp(new NewtonSystem(problem, regularization_of(systems)))),
        judge_(problem, regularization_of(systems)),
        equations_(problem, system_) {}

  Teuchos::RCP<Vector> take(const FrozenSystem& frozen) override {
    auto b = thaw(frozen, problem_, *system_);
    judge_.set_scaling(system_->scaling());
    return b;
  }
  ChangingMatrix& matrix() override { return equations_; }
  const Operator& judge() const override { return judge_; }
  void clear_idle(Vector& x) const override { judge_.scale_rhs(read_write_view(x)); }

 private:
  const Problem& problem_;
  Teuchos::RCP<NewtonSystem> system_;
  NewtonSystem judge_;  ///< always matrix-free
  NewtonEquations equations_;
};

/// Both triangles by rows.
SquareBlocks both_triangles(const HostBlocks& lower) {
  const auto size = static_cast<std::size_t>(lower.block_size);
  std::vector<std::vector<std::pair<int, std::size_t>>> right(lower.rows());  // column, block
  for (std::size_t i = 0; i < lower.rows(); ++i) {
    for (std::int64_t k = lower.row_offsets[i]; k + 1 < lower.row_offsets[i + 1]; ++k) {
      right[lower.columns[k]].emplace_back(static_cast<int>(i), static_cast<std::size_t>(k));
    }
  }
  SquareBlocks whole;
  whole.block_size = lower.block_size;
  for (std::size_t i = 0; i < lower.rows(); ++i) {
    const std::int64_t begin = lower.row_offsets[i], end = lower.row_offsets[i + 1];
    const auto area = static_cast<std::int64_t>(size * size);
    whole.columns.insert(whole.columns.end(), lower.columns.begin() + begin,
                         lower.columns.begin() + end);
    whole.values.insert(whole.values.end(), lower.values.begin() + area * begin,
                        lower.values.begin() + area * end);
    for (const auto& [j, k] : right[i]) {
      whole.columns.push_back(j);
      for (std::size_t p = 0; p < size; ++p) {
        for (std::size_t q = 0; q < size; ++q) {
          whole.values.push_back(lower.values[size * (size * k + q) + p]);
        }
      }
    }
    whole.offsets.push_back(static_cast<std::int64_t>(whole.columns.size()));
  }
  return whole;
}

/// A matrix of blocks in body space. Its assembled forms are there to try preconditioners, not to
/// be fast.
class BodyEquations : public ChangingMatrix {
 public:
  explicit BodyEquations(Teuchos::RCP<SymmetricBlocks> matrix) : matrix_(std::move(matrix)) {}

  Space space() const override { return Space::body; }
  void keep(Forms forms) override {
    crs_ = Teuchos::null;
    block_crs_ = Teuchos::null;
    if (forms.crs) crs_ = make_crs(both_triangles(matrix_->to_host()), map());
    if (forms.block_crs) block_crs_ = make_block_crs(both_triangles(matrix_->to_host()), map());
  }
  void update() override {
    if (!crs_.is_null()) replace_values(both_triangles(matrix_->to_host()), *crs_);
    if (!block_crs_.is_null()) replace_values(both_triangles(matrix_->to_host()), *block_crs_);
  }
  Teuchos::RCP<const Operator> product(const std::string& apply) override {
    if (apply == "crs") return crs_;
    if (apply == "block_crs") return block_crs_;
    return matrix_;
  }
  PreconditionerInput input() const override {
    return {map(), matrix_->pattern().rows, {}, crs_, block_crs_, Space::body, matrix_};
  }

 private:
  Teuchos::RCP<const Map> map() const { return matrix_->getDomainMap(); }

  Teuchos::RCP<SymmetricBlocks> matrix_;
  Teuchos::RCP<CrsMatrix> crs_;
  Teuchos::RCP<BlockCrsMatrix> block_crs_;
};

class BodySystems : public ThawedSystems {
 public:
  explicit BodySystems(const FrozenSystems& systems)
      : host_(systems.pattern), matrix_(make_matrix(systems)), equations_(matrix_) {}

  Teuchos::RCP<Vector> take(const FrozenSystem& frozen) override {
    host_.values = frozen.blocks;
    matrix_->set_values(host_);
    auto b = Teuchos::rcp(new Vector(matrix_->getDomainMap(), 1));
    upload_to(overwrite_view(*b), frozen.rhs);
    return b;
  }
  ChangingMatrix& matrix() override { return equations_; }
  const Operator& judge() const override { return *matrix_; }

 private:
  static Teuchos::RCP<SymmetricBlocks> make_matrix(const FrozenSystems& systems) {
    HostBlocks first = systems.pattern;
    first.values = systems.systems.front().blocks;
    return make_symmetric_blocks(first);
  }

  HostBlocks host_;
  Teuchos::RCP<SymmetricBlocks> matrix_;
  BodyEquations equations_;
};

}  // namespace

std::unique_ptr<ThawedSystems> thaw(const FrozenSystems& systems, const Problem& problem) {
  if (systems.space == Space::body) return std::make_unique<BodySystems>(systems);
  return std::make_unique<ContactSystems>(systems, problem);
}

DeviceArray<double* [2]> regularization_of(const FrozenSystems& systems) {
  return upload<DeviceArray<double* [2]>>("ccp::thaw::regularization", systems.regularization,
                                          systems.contacts);
}

Teuchos::RCP<Vector> thaw(const FrozenSystem& frozen, const Problem& problem,
                          NewtonSystem& system) {
  const auto n = static_cast<std::size_t>(problem.contacts());
  std::vector<double> scaled = frozen.w;
  for (std::size_t c = 0; c < n; ++c) scaled[3 * c] *= problem.host().mu[c];
  const auto tw = upload<VectorView>("ccp::thaw::tw", scaled, 3 * n);
  problem.to_world_axes(tw, tw);
  const auto world = download(tw);
  std::vector<double> scaling;
  for (std::size_t c = 0; c < n; ++c) {
    scaling.insert(scaling.end(),
                   {world[3 * c], world[3 * c + 1], world[3 * c + 2], frozen.det[c]});
  }
  system.set_scaling(upload<DeviceArray<double* [4]>>("ccp::thaw::scaling", scaling, n));
  auto b = Teuchos::rcp(new Vector(problem.map(), 1));
  const auto rhs = upload<VectorView>("ccp::thaw::rhs", frozen.rhs, 3 * n);
  problem.to_world_axes(rhs, overwrite_view(*b));
  return b;
}

}  // namespace ccp
