#include "solvers/velocity_space/distributed_system.hpp"

#include <numeric>
#include <stdexcept>
#include <utility>

#include "solvers/core/extremes.hpp"
#include "solvers/core/free_memory.hpp"
#include "solvers/core/rank_map.hpp"
#include "solvers/core/transfer.hpp"
#include "solvers/distributed/subparts.hpp"
#include "solvers/linear/function_operator.hpp"
#include "solvers/velocity_space/body_system.hpp"
#include "solvers/velocity_space/factor_choice.hpp"

namespace ccp {
namespace {

constexpr const char* no_preconditioner = "none";
constexpr const char* own_order = "natural";
constexpr const char* exact = "auto";  ///< SchwarzOptions::preconditioner

/// Rows of bodies of which the first are this rank's, and vectors of those alone.
class BodyRows {
 public:
  BodyRows(std::shared_ptr<BodyExchange> exchange, std::size_t bodies, int width)
      : exchange_(std::move(exchange)), rows_("ccp::BodyRows::rows", bodies, width) {}

  const DeviceArray<double**>& rows() const { return rows_; }
  int width() const { return static_cast<int>(rows_.extent(1)); }
  int owned() const { return exchange_->owned(); }

  /// Own rows, and those of the others from their owners.
  void spread(const ConstVectorView& z) const {
    take_owned(z);
    exchange_->copy_to_ghosts(rows_);
  }
  /// Own rows, and zero.
  void alone(const ConstVectorView& z) const {
    clear();
    take_owned(z);
  }
  void clear() const { Kokkos::deep_copy(ExecSpace(), rows_, 0.0); }
  /// The sum of what all ranks have of the rank's rows.
  void collect(const VectorView& f) const {
    exchange_->add_to_owners(rows_);
    const auto rows = rows_;
    const int columns = width();
    Kokkos::parallel_for(
        "ccp::BodyRows::give_owned", range(owned()), KOKKOS_LAMBDA(const int i) {
          for (int k = 0; k < columns; ++k) f(columns * i + k) = rows(i, k);
        });
  }

  // Public only because device lambdas may not live in private members.
  void take_owned(const ConstVectorView& z) const {
    const auto rows = rows_;
    const int columns = width();
    Kokkos::parallel_for(
        "ccp::BodyRows::take_owned", range(owned()), KOKKOS_LAMBDA(const int i) {
          for (int k = 0; k < columns; ++k) rows(i, k) = z(columns * i + k);
        });
  }

 private:
  std::shared_ptr<BodyExchange> exchange_;
  DeviceArray<double**> rows_;
};

/// A system of some bodies, and the way there and back of rows of bodies that have another order.
class LocalSystem {
 public:
  /// @param row  of each body of the problem; empty: its place
  explicit LocalSystem(const ContactProblem& problem, const std::vector<int>& row = {},
                       const std::string& preconditioner = no_preconditioner)
      : system_(make_body_system(problem, preconditioner == no_preconditioner ? own_order : "auto",
                                 preconditioner)),
        x_(system_->map(), 1),
        y_(system_->map(), 1) {
    std::vector<int> rows = download(system_->body_order());
    for (int& i : rows) i = row.empty() ? i : row[static_cast<std::size_t>(i)];
    row_ = upload<DeviceArray<int*>>("ccp::LocalSystem::row", rows, rows.size());
  }

  VelocitySystem& system() const { return *system_; }
  DeviceArray<const int*> row() const { return row_; }

  /// Rows in the order of the system.
  ConstVectorView gathered(const DeviceArray<double**>& rows) const {
    const auto x = overwrite_view(x_);
    const auto row = row_;
    const int columns = static_cast<int>(rows.extent(1));
    Kokkos::parallel_for(
        "ccp::LocalSystem::gathered", range(row.extent(0)), KOKKOS_LAMBDA(const int i) {
          for (int k = 0; k < columns; ++k) x(columns * i + k) = rows(row(i), k);
        });
    return x;
  }
  /// The preconditioner's answer to what gathered() has put in order.
  ConstVectorView preconditioned() const {
    system_->preconditioner()->apply(x_, y_);
    return read_view(y_);
  }
  /// Room for a result of the system, and its sum with rows.
  VectorView result() const { return overwrite_view(y_); }
  void add_to(const ConstVectorView& y, const DeviceArray<double**>& rows) const {
    const auto row = row_;
    const int columns = static_cast<int>(rows.extent(1));
    Kokkos::parallel_for(
        "ccp::LocalSystem::add_to", range(row.extent(0)), KOKKOS_LAMBDA(const int i) {
          for (int k = 0; k < columns; ++k) rows(row(i), k) += y(columns * i + k);
        });
  }
  /// S x of what gathered() has put in order; bodies from row `owned` on without the 1 of S.
  ConstVectorView product(int width, int owned) const {
    system_->matrix()->apply(x_, y_);
    const auto x = read_view(x_);
    const auto y = read_write_view(y_);
    const auto row = row_;
    Kokkos::parallel_for(
        "ccp::LocalSystem::drop_ones", range(row.extent(0)), KOKKOS_LAMBDA(const int i) {
          if (row(i) < owned) return;
          for (int k = 0; k < width; ++k) y(width * i + k) -= x(width * i + k);
        });
    return y;
  }

 private:
  std::unique_ptr<VelocitySystem> system_;
  DeviceArray<const int*> row_;  ///< [rows of the system]
  mutable Vector x_, y_;         ///< in the order of the system
};

/// A_k of one piece: some bodies, what lies around them, and the thinned factor or what stands in
/// for it.
class SchwarzPart {
 public:
  SchwarzPart(const Subpart& part, const SchwarzOptions& options)
      : local_(part.problem, part.bodies,
               options.preconditioner == exact ? no_preconditioner : options.preconditioner) {
    const std::vector<int> order = download(local_.system().contact_order()),
                           body = download(local_.system().body_order());
    std::vector<int> contact, owned;
    for (const int c : order) contact.push_back(part.contacts[static_cast<std::size_t>(c)]);
    for (const int i : body) owned.push_back(i < part.own ? 1 : 0);
    using Ints = DeviceArray<int*>;
    contact_ = upload<Ints>("ccp::SchwarzPart::contact", contact, contact.size());
    owned_ = upload<Ints>("ccp::SchwarzPart::owned", owned, owned.size());
    k_ = DeviceArray<Sym3*>("ccp::SchwarzPart::k", contact.size());
  }

  /// A solve begins, which knows of no factor.
  void begin(const SchwarzOptions& options, Info& info) {
    ThinnedFactor::Options thinned{options.thinning, true, options.rates};
    thinned.single = true;  // a preconditioner has digits to spare, and solves are what costs
    factor_ = std::make_unique<ThinnedFactor>(thinned, local_.system(), info);
  }
  /// @param blocks  K of the contacts of the rank's overlap, [contacts][6]
  void assemble(const DeviceArray<double**>& blocks) {
    const auto contact = contact_;
    const auto k = k_;
    Kokkos::parallel_for(
        "ccp::SchwarzPart::blocks", range(contact.extent(0)), KOKKOS_LAMBDA(const int c) {
          const int row = contact(c);
          k(c) = {blocks(row, 0), blocks(row, 1), blocks(row, 2),
                  blocks(row, 3), blocks(row, 4), blocks(row, 5)};
        });
    local_.system().assemble(k_);
    factor_->matrix_changed();
  }
  void factorise() {
    factored_ = factor_->factorise();  // S >= 1: it fails at no shift, unless there are NaNs
  }
  void precondition() { local_.system().precondition(); }
  void drop_preconditioner() { local_.system().drop_preconditioner(); }
  ThinnedFactor& factor() { return *factor_; }
  VelocitySystem& system() const { return local_.system(); }

  /// sums += R^T A^-1 R residual. @param by_factor  else by the preconditioner
  void add_solution(const DeviceArray<double**>& residual, const DeviceArray<double**>& sums,
                    bool by_factor) const {
    const ConstVectorView x = local_.gathered(residual);
    if (!by_factor) return local_.add_to(local_.preconditioned(), sums);
    const VectorView y = local_.result();
    if (factored_) {
      factor_->solve(x, y);
    } else {
      Kokkos::deep_copy(y, x);
    }
    local_.add_to(y, sums);
  }
  /// VelocitySystem::speed of the bodies of its own, of which it has all contacts.
  double speed(const DeviceArray<double**>& rows) const {
    const VectorView f = local_.result();
    const auto row = local_.row();
    const auto owned = owned_;
    const int columns = static_cast<int>(rows.extent(1));
    Kokkos::parallel_for(
        "ccp::SchwarzPart::own_rows", range(row.extent(0)), KOKKOS_LAMBDA(const int i) {
          for (int k = 0; k < columns; ++k) {
            f(columns * i + k) = owned(i) == 0 ? 0 : rows(row(i), k);
          }
        });
    return local_.system().speed(f);
  }

 private:
  LocalSystem local_;
  DeviceArray<const int*> contact_;  ///< of each contact of the system, in the rank's overlap
  DeviceArray<const int*> owned_;    ///< [rows of the system] whether the body is its own
  DeviceArray<Sym3*> k_;
  std::unique_ptr<ThinnedFactor> factor_;
  bool factored_ = false;
};

class DistributedSystem : public VelocitySystem {
 public:
  DistributedSystem(const Problem& problem, Distribution distribution,
                    const SchwarzOptions& options);

  int size() const override { return part_rows_.width() * part_rows_.owned(); }
  Teuchos::RCP<const Map> map() const override { return map_; }
  DeviceArray<const int*> contact_order() const override { return part_.system().contact_order(); }
  void contact_velocities(const ConstVectorView& z, const VectorView& d) const override {
    part_rows_.spread(z);
    part_.system().contact_velocities(part_.gathered(part_rows_.rows()), d);
  }
  void load(const ConstVectorView& p, const VectorView& f) const override {
    const VectorView sums = part_.result();
    part_.system().load(p, sums);
    give(sums, f);
  }
  double speed(const ConstVectorView& f) const override;
  void assemble(const DeviceArray<Sym3*>& k, const DeviceArray<CrossBlock*>& cross) override {
    part_.system().assemble(k, cross);
    k_ = k;
  }
  Teuchos::RCP<const Operator> matrix() const override { return matrix_; }
  PreconditionerReport precondition() override;
  bool factors_parts() const override { return factors_; }
  void begin() override {
    factors_ = options_.preconditioner == exact;
    for (const auto& part : parts_) part->begin(options_, info_);
  }
  bool strengthen() override { return false; }
  Teuchos::RCP<const Operator> preconditioner() const override { return preconditioner_; }
  void lower_pattern(std::vector<std::int64_t>&, std::vector<int>&) const override {
    throw std::logic_error("DistributedSystem: not for factorisations");
  }
  void lower_values(std::vector<double>&) const override {
    throw std::logic_error("DistributedSystem: not for factorisations");
  }
  int block_size() const override { return part_rows_.width(); }

  // Public only because device lambdas may not live in private members.
  void send_blocks();
  void apply_schwarz(const ConstVectorView& r, const VectorView& y) const;

 private:
  void multiply(const ConstVectorView& z, const VectorView& f) const;
  void give(const ConstVectorView& sums, const VectorView& f) const;
  bool too_many_iterations() const;

  SchwarzOptions options_;
  Distribution distribution_;
  Teuchos::RCP<const Map> map_;
  BodyRows part_rows_;  ///< of this rank's bodies and ghosts
  LocalSystem part_;    ///< of this rank's contacts
  OverlappedPart reach_;
  BodyRows reach_rows_, reach_sums_;
  DeviceArray<Sym3*> k_;          ///< of assemble()
  DeviceArray<double**> k_rows_;  ///< [contacts of the overlap][6] in the order of reach_
  Info info_;                     ///< of factorisations
  std::vector<std::unique_ptr<SchwarzPart>> parts_;
  bool factors_ = false;           ///< parts exactly
  mutable long applications_ = 0;  ///< of the present preconditioner
  Teuchos::RCP<const Operator> matrix_, preconditioner_;
};

int width_of(const ContactProblem& problem) {
  return problem.rotates() ? 6 : 3;
}

/// What one rank has of a problem that it has alone.
Distribution all_of(const ContactProblem& problem) {
  Distribution whole;
  whole.contacts = static_cast<long long>(problem.contacts());
  whole.bodies = static_cast<long long>(problem.bodies());
  whole.contact.resize(problem.contacts());
  whole.owned_body.resize(problem.bodies());
  std::iota(whole.contact.begin(), whole.contact.end(), 0);
  std::iota(whole.owned_body.begin(), whole.owned_body.end(), 0);
  return whole;
}

DistributedSystem::DistributedSystem(const Problem& problem, Distribution distribution,
                                     const SchwarzOptions& options)
    : options_(options),
      distribution_(std::move(distribution)),
      map_(map_of(distribution_.ranks, distribution_.owned_body, width_of(problem.host()))),
      part_rows_(std::make_shared<BodyExchange>(distribution_), problem.host().bodies(),
                 width_of(problem.host())),
      part_(problem.host()),
      reach_(overlapped_part(problem.host(), distribution_, options.overlap)),
      reach_rows_(reach_.bodies, reach_.problem.bodies(), part_rows_.width()),
      reach_sums_(reach_.bodies, reach_.problem.bodies(), part_rows_.width()),
      k_rows_("ccp::DistributedSystem::k_rows", reach_.problem.contacts(), 6) {
  for (const Subpart& part : subparts(reach_, distribution_, options.parts, options.overlap)) {
    parts_.push_back(std::make_unique<SchwarzPart>(part, options));
  }
  DistributedSystem::begin();
  matrix_ = Teuchos::rcp(new FunctionOperator(
      map_, [this](const ConstVectorView& z, const VectorView& f) { multiply(z, f); }));
  preconditioner_ = Teuchos::rcp(new FunctionOperator(
      map_, [this](const ConstVectorView& r, const VectorView& y) { apply_schwarz(r, y); }));
}

/// What ranks' systems of their contacts make together.
void DistributedSystem::give(const ConstVectorView& sums, const VectorView& f) const {
  part_rows_.clear();
  part_.add_to(sums, part_rows_.rows());
  part_rows_.collect(f);
}

/// f = S z, with S the sum of all ranks' systems, each of which has a 1 of its own.
void DistributedSystem::multiply(const ConstVectorView& z, const VectorView& f) const {
  part_rows_.spread(z);
  part_.gathered(part_rows_.rows());
  give(part_.product(part_rows_.width(), part_rows_.owned()), f);
}

double DistributedSystem::speed(const ConstVectorView& f) const {
  reach_rows_.alone(f);
  double most = 0;
  for (const auto& part : parts_) raise(most, part->speed(reach_rows_.rows()));
  return distribution_.ranks.largest(most);
}

/// K of the contacts of the overlap, from the ranks that they belong to.
void DistributedSystem::send_blocks() {
  const auto rows = k_rows_;
  const auto k = k_;
  const auto own_order = contact_order();
  Kokkos::parallel_for(
      "ccp::DistributedSystem::own_blocks", range(own_order.extent(0)), KOKKOS_LAMBDA(const int c) {
        const Sym3 block = k(c);
        const int row = own_order(c);
        rows(row, 0) = block.xx, rows(row, 1) = block.xy, rows(row, 2) = block.xz;
        rows(row, 3) = block.yy, rows(row, 4) = block.yz, rows(row, 5) = block.zz;
      });
  reach_.contacts->copy_to_ghosts(rows);
}

/// Whether the iterations of the next step will cost more than factors.
bool DistributedSystem::too_many_iterations() const {
  const Ranks& ranks = distribution_.ranks;
  double bytes = 0;
  std::vector<ThinnedFactor*> factors;
  for (const auto& part : parts_) {
    bytes += cg_bytes(part->system());
    factors.push_back(&part->factor());
  }
  const double iterations = growth_of_iterations * static_cast<double>(applications_);
  return factoring_pays(options_.rates.sweep(iterations * ranks.sum(bytes)), factors,
                        [&](double seconds) { return ranks.sum(seconds); });
}

PreconditionerReport DistributedSystem::precondition() {
  send_blocks();
  for (const auto& part : parts_) part->assemble(k_rows_);
  if (!factors_ && options_.factors_later && too_many_iterations()) {
    factors_ = true;
    for (const auto& part : parts_) part->drop_preconditioner();
    give_back_free_memory();
  }
  applications_ = 0;
  for (const auto& part : parts_) {
    if (factors_) {
      part->factorise();
    } else {
      part->precondition();
    }
  }
  // Whoever is ready waits for the others, as it would in the first product: here, where the timer
  // of the preconditioner counts it.
  distribution_.ranks.sum(0.0);
  return {};
}

void DistributedSystem::apply_schwarz(const ConstVectorView& r, const VectorView& y) const {
  reach_rows_.spread(r);
  reach_sums_.clear();
  ++applications_;
  for (const auto& part : parts_) {
    part->add_solution(reach_rows_.rows(), reach_sums_.rows(), factors_);
  }
  reach_sums_.collect(y);
}

}  // namespace

std::unique_ptr<VelocitySystem> make_distributed_system(const Problem& problem,
                                                        const SchwarzOptions& options) {
  const Distribution* const shared = problem.distribution();
  return std::make_unique<DistributedSystem>(problem, shared ? *shared : all_of(problem.host()),
                                             options);
}

}  // namespace ccp
