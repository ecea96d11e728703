#include "solvers/vipm/vipm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "problems/base/error.hpp"
#include "solvers/core/optimality.hpp"
#include "solvers/core/scales.hpp"
#include "solvers/core/stopwatch.hpp"
#include "solvers/core/vector_kernels.hpp"
#include "solvers/velocity_space/assembled_system.hpp"
#include "solvers/velocity_space/distributed_system.hpp"
#include "solvers/velocity_space/make_system.hpp"
#include "solvers/velocity_space/velocity_solver.hpp"
#include "solvers/vipm/contact_state.hpp"
#include "solvers/vipm/pool_state.hpp"

namespace ccp {

OptionList VipmSolver::options() {
  OptionList list("vipm");
  list_linear_solver(list, options_.linear_solver, options_.factor)
      .choice("preconditioner", options_.preconditioner, VelocitySystem::preconditioners(),
              "of cg; auto: block_ic0, block_ic1 when iterations become many; of parts: factors")
      .choice("ordering", options_.ordering, VelocitySystem::orderings(),
              "bodies that block_ic0 eliminates first: high ones, those far from the ground")
      .number("thinning", options_.thinning, {0},
              "auto: norm of a block of S below which it is not factored; 0: none is left out")
      .integer("parts", options_.parts, {0},
               "of overlapping Schwarz, over all ranks; 0: one a rank, and none on one rank")
      .integer("overlap", options_.overlap, {0}, "layers of contacts by which these parts overlap")
      .number("forcing", options_.forcing, {0, 1, true},
              "cg: largest momentum error of a body per mu / mean(gamma_n)")
      .number("predictor_factor", options_.predictor_factor, {1},
              "the predictor's is so much larger")
      .integer("cg_max_iterations", options_.cg_max_iterations, {1},
               "limit per direction; a direction that meets it is not used")
      .integer("refinements", options_.refinements, {0}, "of a direction solved by factorisation")
      .integer("corrections", options_.corrections, {0},
               "of centrality, at most, where a factorisation costs many solves")
      .number("step_fraction", options_.step_fraction, {0, 1, true},
              "part of the largest step inside the cones that is taken")
      .number("start", options_.start, OptionList::Range::positive(),
              "scales the starting impulses")
      .number("tolerance", options_.tolerance, {0}, "stop: own residual")
      .integer("max_outer", options_.max_outer, {1}, "limit of outer iterations");
  return options_.rates.add_to(list);
}

void VipmSolver::check_options(const std::vector<std::string>& given) const {
  const std::vector<std::string> of_cg = {"preconditioner", "ordering", "forcing",
                                          "predictor_factor", "cg_max_iterations"};
  check_factor_library("solver vipm", options_.factor);
  if (options_.parts > 0 && options_.factor != "cholmod") {
    throw InputError("solver vipm", "option factor", "cholmod, which factors parts",
                     fmt::format("{} beside parts={}", options_.factor, options_.parts));
  }
  const auto refuse = [&](const std::string& name, const std::string& expected) {
    throw InputError("solver vipm", "option " + name, expected,
                     "it beside linear_solver=" + options_.linear_solver);
  };
  for (const std::string& name : given) {
    if (options_.linear_solver == "cholesky" &&
        std::find(of_cg.begin(), of_cg.end(), name) != of_cg.end()) {
      refuse(name, "only with conjugate gradients: a factorisation needs none");
    }
    if (options_.linear_solver != "auto" && (name == "flop_rate" || name == "bandwidth")) {
      refuse(name, "only with auto: they decide when it factors");
    }
    if (options_.linear_solver != "auto" && name == "thinning") {
      refuse(name, "only with auto: cholesky factors the whole of S");
    }
    if (options_.linear_solver == "cg" && options_.parts == 0 &&
        (name == "refinements" || name == "corrections" || name == "factor")) {
      refuse(name, "only with a factorisation");
    }
    if (options_.linear_solver == "cholesky" && name == "parts" && options_.parts > 0) {
      refuse(name, "only with conjugate gradients, which they precondition");
    }
    if (options_.parts > 0 && name == "ordering") {
      throw InputError("solver vipm", "option ordering", "none beside parts, which have their own",
                       fmt::format("parts={}", options_.parts));
    }
  }
}

std::string VipmSolver::why_not_on_ranks() const {
  const auto reason = [](const std::string& option, const std::string& value) {
    return "vipm with " + option + "=" + value + " does not run on several ranks; " + option +
           "=auto does: conjugate gradients with overlapping Schwarz";
  };
  if (options_.linear_solver == "cholesky") return reason("linear_solver", "cholesky");
  if (options_.factor != "cholmod") {
    return "vipm with factor=" + options_.factor +
           " does not run on several ranks; factor=cholmod does, on the parts of each";
  }
  if (options_.ordering != "auto") return reason("ordering", options_.ordering);
  return "";
}

namespace {

/// Whether S is preconditioned by overlapping Schwarz.
bool is_in_parts(const VipmOptions& options, const Problem& problem) {
  return problem.ranks().size() > 1 || options.parts > 0;
}

}  // namespace

void VipmSolver::setup(const Problem& problem) {
  problem_ = &problem;
  by_contacts_ = nullptr;
  system_ = is_in_parts(options_, problem)
                ? make_parts(problem)
                : make_velocity_system(problem, options_.ordering, options_.preconditioner);
  if (!system_->iterative() && options_.linear_solver == "cg") {
    throw InputError("solver vipm", "option linear_solver", "cholesky or auto",
                     "cg, for a problem of which only N is known");
  }
  if (problem.pools().equality() > 0 && options_.linear_solver == "cg") {
    throw InputError("solver vipm", "option linear_solver", "cholesky or auto",
                     "cg, for a problem with equality constraints");
  }
}

/// S preconditioned by overlapping Schwarz, with as many parts on every rank.
std::unique_ptr<VelocitySystem> VipmSolver::make_parts(const Problem& problem) const {
  const int ranks = problem.ranks().size();
  if (options_.parts % ranks != 0) {
    throw InputError("solver vipm", "option parts",
                     fmt::format("a multiple of the ranks, {}", ranks),
                     fmt::format("{}", options_.parts));
  }
  if (problem.host().form != ContactProblem::Form::bodies || !problem.pools().empty()) {
    throw InputError("solver vipm", "option parts", "a problem of bodies with contacts alone",
                     "another one");
  }
  return make_distributed_system(
      problem, {options_.overlap, options_.thinning, std::max(1, options_.parts / ranks),
                options_.preconditioner, options_.linear_solver == "auto", options_.rates});
}

namespace {

using Outcome = VelocitySolver::Outcome;
using End = VelocitySolver::End;

/// One solve. Its steps bear the numbers of README.md.
class Run {
 public:
  Run(const VipmOptions& options, const Problem& problem, VelocitySystem& system,
      const std::function<void(const PosedSystem&)>& on_system, FollowingVelocity* following,
      Observer& observer);

  Info operator()(Vector& gamma);
  /// Goes on counting where another solve has ended.
  void continue_from(const Info& info) {
    info_.counters = info.counters;
    info_.timers = info.timers;
  }

 private:
  void start_cold();
  void start_warm(const ConstVectorView& guess);
  void balance(const ConstVectorView& impulses);
  std::optional<End> look();
  void keep_best();
  void watch_rounding(double momentum_error);
  void scale_and_assemble();
  std::optional<End> predictor();
  std::optional<End> corrector();
  void refine();
  std::optional<End> step();
  void right_hand_side(bool predictor);
  void change_of_velocities();
  static vipm::ContactState::Step both(const vipm::ContactState::Step& a,
                                       const vipm::ContactState::Step& b);
  std::optional<End> follow(bool predictor);
  std::optional<End> recentre();
  std::optional<End> solve_corrector();
  int corrections_that_pay() const;
  void correct_centrality();
  bool respond(const ConstVectorView& dr, const VectorView& du);
  End give_up(Outcome outcome);
  Info finish(const End& end, Vector& gamma);

  const VipmOptions& options_;
  const Problem& problem_;
  VelocitySystem& system_;
  const std::function<void(const PosedSystem&)>& on_system_;
  FollowingVelocity* const following_;
  Observer& observer_;
  // On all ranks:
  const double n_;      ///< contacts and equality constraints
  const double cones_;  ///< with a barrier: of contacts and rolling triples
  const double s_, q_;  ///< trace(N)/3n, 1/kg, and rms(r), m/s
  Info info_;
  vipm::ContactState state_;                ///< gamma, u and their direction
  std::unique_ptr<vipm::PoolState> pools_;  ///< null for problems of contacts alone
  VelocitySolver linear_;

  const Teuchos::RCP<Vector> dz_vector_, b_vector_;
  const VectorView dz_, b_;
  const VectorView z_, momentum_, correction_;
  const VectorView d_;      ///< contact velocities, or impulses on their way to load
  VectorView c_;            ///< target of a centrality correction, then its impulses
  VectorView u_, du_, dr_;  ///< where r follows, in the problem's order
  VectorView change_;       ///< dr in the order of the system
  Outcome responded_ = Outcome::failed;
  vipm::ContactState::Sums sums_;
  double mu_ = 0;        ///< gamma.u / 2 cones, J
  double sigma_ = 0;     ///< centring
  int corrections_ = 0;  ///< of centrality in this step, at most
  double forcing_ = 0;   ///< what CG may leave of a body's momentum, m/s
  vipm::ContactState::Step step_;

  // The best iterate is the present one as a rule; `best_` is filled when a step made it worse.
  VectorView best_;
  double best_residual_ = std::numeric_limits<double>::infinity(), theta_ = 0;
  bool best_is_present_ = true;
  int rounded_ = 0;  ///< looks in succession of which the momentum error was rounding

  const std::function<void(Vector&)> write_gamma_ = [this](Vector& out) {
    const VectorView view = overwrite_view(out);
    state_.write_gamma(view);
    if (pools_) pools_->from_units_of_contacts(state_.gamma(), view);
    problem_.to_contact_axes(view, view);
  };
};

/// A free velocity that follows has dozens of solves a step, and exact ones: a factorisation of the
/// whole of S pays at once.
/// So does it where joints make S stiff, for conjugate gradients would stop at a residual of 1e-9.
VelocitySolver::Options linear_options_of(const VipmOptions& options, const Problem& problem,
                                          const VelocitySystem& system, bool follows) {
  const bool cannot = !system.iterative() || problem.pools().equality() > 0,
             should = follows && options.linear_solver == "auto";
  VelocitySolver::Options result;
  result.method = cannot || should ? "cholesky" : options.linear_solver;
  if (is_in_parts(options, problem)) result.method = "cg";
  result.max_iterations = options.cg_max_iterations;
  result.rates = options.rates;
  result.factor = options.factor;
  if (result.method == "auto") result.thinning = options.thinning;
  return result;
}

Run::Run(const VipmOptions& options, const Problem& problem, VelocitySystem& system,
         const std::function<void(const PosedSystem&)>& on_system, FollowingVelocity* following,
         Observer& observer)
    : options_(options),
      problem_(problem),
      system_(system),
      on_system_(on_system),
      following_(following),
      observer_(observer),
      n_(static_cast<double>(problem.all_contacts() + problem.pools().equality())),
      cones_(static_cast<double>(problem.all_contacts() + problem.pools().rolling())),
      s_(problem.delassus_scale()),
      q_(velocity_scale(problem)),
      state_(problem, system.contact_order(), system.takes_roots()),
      linear_(linear_options_of(options, problem, system, following != nullptr), system, observer,
              info_),
      dz_vector_(Teuchos::rcp(new Vector(system.map(), 1))),
      b_vector_(Teuchos::rcp(new Vector(system.map(), 1))),
      dz_(read_write_view(*dz_vector_)),
      b_(read_write_view(*b_vector_)),
      z_("ccp::Vipm::z", dz_.extent(0)),
      momentum_("ccp::Vipm::momentum", dz_.extent(0)),
      correction_("ccp::Vipm::correction", dz_.extent(0)),
      d_("ccp::Vipm::d", 3 * static_cast<std::size_t>(problem.triples())) {
  if (problem.pools().empty()) return;
  pools_ = std::make_unique<vipm::PoolState>(problem, state_);
}

Info Run::operator()(Vector& gamma) {
  const auto guess = read_view(gamma);
  if (problem_.ranks().sum(vector_kernels::dot(guess, guess)) > 0) {
    start_warm(guess);
  } else {
    start_cold();
  }
  while (true) {
    if (const auto end = look()) return finish(*end, gamma);
    scale_and_assemble();                                          // 1
    if (const auto end = predictor()) return finish(*end, gamma);  // 2, 3
    if (const auto end = corrector()) return finish(*end, gamma);  // 4
    if (const auto end = step()) return finish(*end, gamma);       // 5
  }
}

/// z = E^T p and d = E z.
void Run::balance(const ConstVectorView& impulses) {
  system_.load(impulses, z_);
  system_.contact_velocities(z_, d_);
}

/// Impulses that would give velocities above the size of r.
void Run::start_cold() {
  state_.start_impulses(options_.start * q_ / s_);
  if (pools_) pools_->start_impulses();
  balance(state_.gamma());
  if (pools_) pools_->start_velocities(d_, q_);
  state_.start_velocities(d_, q_);
}

/// As far inside the cones as the guess is wrong.
void Run::start_warm(const ConstVectorView& guess) {
  const VectorView start("ccp::Vipm::start", d_.extent(0));
  problem_.to_world_axes(guess, d_);
  state_.reorder(d_, start);
  if (pools_) pools_->to_units_of_contacts(d_, start);
  const double typical = std::sqrt(problem_.ranks().sum(vector_kernels::dot(start, start)) /
                                   (3.0 * static_cast<double>(problem_.all_triples())));
  balance(start);
  vipm::ContactState::Guess quality = state_.judge(start, d_);
  if (pools_) {
    const vipm::ContactState::Guess beside = pools_->judge(start, d_);
    quality.product += beside.product;
    quality.impulse = std::max(quality.impulse, beside.impulse);
    quality.velocity = std::max(quality.velocity, beside.velocity);
  }
  const double wrong = std::clamp(std::max({quality.product / (n_ * typical * q_),
                                            quality.impulse / typical, quality.velocity / q_}),
                                  1e-8, 1.0);
  state_.start_impulses(start, 0.1 * wrong * typical);
  if (pools_) pools_->start_impulses(start, 0.1 * wrong * typical);
  balance(state_.gamma());
  if (pools_) pools_->start_velocities(d_, wrong * q_);
  state_.start_velocities(d_, wrong * q_);
}

/// Scaling, own residual, the observer's look, and whether that is the end.
std::optional<End> Run::look() {
  system_.contact_velocities(z_, d_);
  if (pools_) pools_->take_split(d_);
  sums_ = state_.scale(d_);
  double unbalanced = 0;
  if (pools_) {
    const vipm::ContactState::Sums beside = pools_->scale(d_);
    sums_.product += beside.product;
    sums_.gap = std::max(sums_.gap, beside.gap);
    unbalanced = s_ * pools_->imbalance();
  }
  system_.load(state_.gamma(), momentum_);
  vector_kernels::add(1, z_, -1, momentum_, momentum_);
  unbalanced += system_.speed(momentum_);
  mu_ = cones_ > 0 ? sums_.product / (2 * cones_) : 0;
  info_.own_residual = std::max(sums_.product * s_ / (n_ * q_ * q_), (unbalanced + sums_.gap) / q_);
  watch_rounding(unbalanced / q_);
  keep_best();
  if (!std::isfinite(info_.own_residual)) {
    return End{Status::numerical_error, "iterate left the cone or became NaN"};
  }
  if (observer_.observe({info_.counters, info_.own_residual}, write_gamma_)) {
    return End{Status::stopped_by_observer, ""};
  }
  if (info_.own_residual <= options_.tolerance) return End{Status::converged, ""};
  if (info_.counters.outer >= options_.max_outer) return End{Status::max_iterations, ""};
  if (rounded_ >= 5) return End{Status::stagnated, "what momentum errors are left is rounding"};
  return {};
}

/// What exact directions leave of the momentum balance is rounding. Where that alone is more than
/// the best own residual, again and again, there is nothing left to gain.
void Run::watch_rounding(double momentum_error) {
  rounded_ = linear_.direct() && momentum_error > best_residual_ ? rounded_ + 1 : 0;
}

void Run::keep_best() {
  if (info_.own_residual < best_residual_) {
    best_residual_ = info_.own_residual;
    best_is_present_ = true;
  } else if (best_is_present_) {
    if (best_.extent(0) == 0) best_ = VectorView("ccp::Vipm::best", d_.extent(0));
    vector_kernels::add(1, state_.gamma(), -theta_, state_.dgamma(), best_);  // the step undone
    best_is_present_ = false;
  }
}

/// S = 1 + E^T K E, with the K that look() found.
void Run::scale_and_assemble() {
  {
    const Stopwatch watch(info_.timers["assembly"]);
    if (pools_) {
      pools_->stiffness(state_.k());
      system_.assemble(pools_->k(), pools_->cross());
    } else if (system_.takes_roots()) {
      system_.assemble_roots(state_.roots());
    } else {
      system_.assemble(state_.k());
    }
  }
  linear_.matrix_changed();
  // Where bodies separate, impulses vanish with mu. They count as 0.05 q/s at least, so that what
  // CG leaves vanishes with gamma.u all the same.
  forcing_ = options_.forcing * mu_ / std::max(sums_.normal / n_, 0.05 * q_ / s_);
}

/// b = E^T (g + K g_u) - z.
void Run::right_hand_side(bool predictor) {
  state_.right_hand_side(predictor, d_);
  if (pools_) pools_->right_hand_side(predictor, d_);
  system_.load(d_, b_);
  vector_kernels::add(1, b_, -1, z_, b_);
}

/// d = E dz.
void Run::change_of_velocities() {
  system_.contact_velocities(dz_, d_);
  if (pools_) pools_->recover_split(d_);
}

vipm::ContactState::Step Run::both(const vipm::ContactState::Step& a,
                                   const vipm::ContactState::Step& b) {
  return {b.theta < a.theta || std::isnan(b.theta) ? b.theta : a.theta, a.product + b.product,
          a.cross + b.cross, a.square + b.square};
}

/// One for every 1.4 solves that the factorisation costs as much as. Where only N is known,
/// products with it are the most of a correction. With parts always the same, so that the path does
/// not depend on them.
int Run::corrections_that_pay() const {
  constexpr double solves = 1.4;
  if (following_ || pools_ || system_.takes_roots()) return 0;
  if (system_.factors_parts()) return options_.corrections;
  return static_cast<int>(
      std::min<double>(options_.corrections, linear_.solves_per_factorisation() / solves));
}

/// The affine direction, and sigma by what its longest step would leave of mu.
std::optional<End> Run::predictor() {
  Kokkos::deep_copy(dz_, 0.0);
  if (const auto end = follow(true)) return end;
  right_hand_side(true);
  const Outcome outcome =
      linear_.solve(b_vector_, dz_vector_, options_.predictor_factor * forcing_);
  if (outcome != Outcome::solved) return give_up(outcome);
  change_of_velocities();
  auto step = state_.predictor(d_);
  if (pools_) step = both(step, pools_->predictor(d_));
  if (cones_ == 0) return {};
  const double reach = std::min(1.0, step.theta);
  const double ahead = (step.product + reach * (step.cross + reach * step.square)) / (2.0 * cones_);
  corrections_ = corrections_that_pay();
  sigma_ = std::clamp(std::pow(ahead / mu_, 2 + corrections_), 1e-8, 1.0);
  return {};
}

/// The direction that is taken, from the predictor's dz.
std::optional<End> Run::corrector() {
  state_.corrector_target(sigma_ * mu_);
  if (pools_) pools_->corrector_target(sigma_ * mu_);
  if (const auto end = follow(false)) return end;
  if (const auto end = solve_corrector()) return end;
  return recentre();
}

/// A step in which r follows is cut short where the linearised law is far from the law: then one
/// that aims at the middle of the cones, without the second-order term, takes its place.
std::optional<End> Run::recentre() {
  constexpr double short_step = 0.2, centring = 0.5;
  if (!following_ || step_.theta >= short_step) return {};
  state_.centring_target(std::max(sigma_, centring) * mu_);
  if (const auto end = follow(false)) return end;
  return solve_corrector();
}

std::optional<End> Run::solve_corrector() {
  right_hand_side(false);
  if (on_system_) on_system_(system_.pose(info_.counters.outer, b_vector_));
  const Outcome outcome = linear_.solve(b_vector_, dz_vector_, forcing_);
  if (outcome != Outcome::solved) return give_up(outcome);
  change_of_velocities();
  step_ = state_.direction(d_);
  if (pools_) step_ = both(step_, pools_->direction(d_));
  correct_centrality();
  if (linear_.direct() || system_.factors_parts()) refine();
  return {};
}

/// Multiple centrality corrections (Gondzio 1996; Colombo and Gondzio 2008) with the factor that is
/// there. Each aims at a longer step, at the end of which no product is far from sigma mu, and
/// stays if the step has become longer by a tenth of what it aimed at.
void Run::correct_centrality() {
  constexpr double low = 0.1, high = 10, long_enough = 0.95, gain = 0.1;
  if (corrections_ > 0 && c_.extent(0) == 0) c_ = VectorView("ccp::Vipm::c", d_.extent(0));
  bool better = true;
  for (int k = 0; k < corrections_ && better && step_.theta < long_enough; ++k) {
    const double theta = step_.theta, reach = std::min(1.0, 1.5 * theta + 0.3);
    const double middle = 2 * sigma_ * mu_;
    state_.centrality_target(reach, {low * middle, high * middle}, c_, d_);
    system_.load(d_, b_);
    Kokkos::deep_copy(correction_, dz_);
    Kokkos::deep_copy(dz_, 0.0);
    better = linear_.solve(b_vector_, dz_vector_, forcing_) == Outcome::solved;
    if (better) {
      system_.contact_velocities(dz_, d_);
      step_ = state_.add_correction(c_, d_);
      better = step_.theta > theta + gain * (reach - theta);
      if (!better) step_ = state_.drop_correction(c_, d_);
    }
    vector_kernels::add(better ? 1 : 0, dz_, 1, correction_, dz_);
  }
}

/// Where r follows the solution: what it changes by in this step becomes a part of the primal
/// residual, which the direction removes. dz stays.
std::optional<End> Run::follow(bool predictor) {
  if (!following_) return {};
  if (u_.extent(0) == 0) {
    for (VectorView* array : {&u_, &du_, &dr_, &change_}) {
      *array = VectorView("ccp::Vipm::following", d_.extent(0));
    }
  }
  if (!predictor) state_.change_gap(-1, change_);  // the predictor's
  right_hand_side(predictor);
  const Outcome outcome = linear_.solve(b_vector_, dz_vector_, forcing_);
  if (outcome != Outcome::solved) return give_up(outcome);
  Kokkos::deep_copy(correction_, dz_);
  system_.contact_velocities(dz_, d_);
  state_.change_of_velocity(predictor, d_);
  state_.restore(d_, du_);
  state_.restore(state_.u(), u_);
  const auto response = [this](const ConstVectorView& dr, const VectorView& du) {
    return respond(dr, du);
  };
  if (!following_->change(u_, du_, response, dr_)) return give_up(responded_);
  state_.reorder(dr_, change_);
  state_.change_gap(1, change_);
  Kokkos::deep_copy(dz_, correction_);
  return {};
}

/// What a change of r does to the contact velocities in this step.
bool Run::respond(const ConstVectorView& dr, const VectorView& du) {
  constexpr double accuracy = 1e-4;  // of conjugate gradients
  state_.reorder(dr, change_);
  state_.push_of(change_, d_);
  system_.load(d_, b_);
  Kokkos::deep_copy(dz_, 0.0);
  responded_ = linear_.solve(b_vector_, dz_vector_, accuracy * system_.speed(b_));
  if (responded_ != Outcome::solved) return false;
  system_.contact_velocities(dz_, d_);
  state_.respond(change_, d_);
  state_.restore(d_, du);
  return true;
}

/// Solves again for what the direction leaves of the momentum balance, from the direction as it is
/// rounded, as long as that is more than conjugate gradients might leave.
void Run::refine() {
  constexpr double accuracy = 0.01;  // of conjugate gradients with a thinned factor
  for (int k = 0; k < options_.refinements; ++k) {
    state_.next_impulses(d_);
    if (pools_) pools_->refinement(d_);
    system_.load(d_, b_);
    vector_kernels::add(1, b_, -1, z_, b_);
    vector_kernels::add(1, b_, -1, dz_, b_);
    const double left = system_.speed(b_);
    if (!following_ && left <= forcing_) break;
    Kokkos::deep_copy(correction_, dz_);
    Kokkos::deep_copy(dz_, 0.0);
    if (linear_.solve(b_vector_, dz_vector_, accuracy * left) != Outcome::solved) break;
    change_of_velocities();
    step_ = state_.refine(d_);
    if (pools_) step_ = both(step_, pools_->refine(d_));
    vector_kernels::add(1, dz_, 1, correction_, dz_);
  }
}

/// One step length for gamma, u and z.
std::optional<End> Run::step() {
  theta_ = std::min(1.0, options_.step_fraction * step_.theta);
  ++info_.counters.outer;
  if (!std::isfinite(step_.cross)) {
    return End{Status::numerical_error, "the direction has become NaN"};
  }
  if (theta_ <= 1e-8) return End{Status::stagnated, "step length fell below 1e-8"};
  state_.advance(theta_);
  if (pools_) pools_->advance(theta_);
  vector_kernels::add(1, z_, theta_, dz_, z_);
  if (following_) following_->advance(theta_);
  return {};
}

End Run::give_up(Outcome outcome) {
  return linear_.give_up(outcome, write_gamma_);
}

Info Run::finish(const End& end, Vector& gamma) {
  if (!best_is_present_ && !observer_.satisfied()) {
    Kokkos::deep_copy(state_.gamma(), best_);
    info_.own_residual = best_residual_;
  }
  write_gamma_(gamma);
  info_.message = end.message;
  if (end.status == Status::stagnated && problem_.host().form == ContactProblem::Form::assembled) {
    const double rounding = rounding_of_complementarity(problem_, gamma);
    if (rounding > 0.01 * info_.own_residual) {
      info_.message += fmt::format("; rounding alone is {:.1g} of residual here", rounding);
    }
  }
  info_.status =
      confirmed(end.status, problem_, Law::convex, gamma, options_.tolerance, info_.message);
  return info_;
}

}  // namespace

/// Whether the problem may be solved by its N where its bodies' matrix will not do: N is sparse.
bool VipmSolver::has_sparse_delassus() const {
  const ContactProblem& host = problem_->host();
  if (host.form == ContactProblem::Form::assembled || problem_->shared_delassus().is_compliant() ||
      !problem_->pools().empty()) {
    return false;
  }
  std::vector<double> degree(host.bodies(), 0.0);
  for (const std::int32_t body : host.contact_bodies) {
    if (body >= 0) ++degree[body];
  }
  double blocks = 0;
  for (const double d : degree) blocks += d * d;
  return blocks <= 100.0 * problem_->contacts();
}

/// Goes on from the answer of a solve that could not. Keeps the better of the two, or what the
/// observer is content with.
void VipmSolver::solve_by_contacts(Vector& gamma, Observer& observer, Info& info) {
  if (!by_contacts_) by_contacts_ = make_assembled_system(*problem_);
  Vector answer(gamma, Teuchos::Copy);
  const std::function<void(const PosedSystem&)> nobody;
  Run run(options_, *problem_, *by_contacts_, nobody, following, observer);
  run.continue_from(info);
  Info second = run(answer);
  if (observer.satisfied() || second.own_residual < info.own_residual) {
    Tpetra::deep_copy(gamma, answer);
  } else {
    second.own_residual = info.own_residual;
  }
  if (!second.message.empty()) second.message = ": " + second.message;
  second.message = info.message + "; went on by N" + second.message;
  info = second;
}

Info VipmSolver::solve(Vector& gamma, Observer& observer) {
  Info info;
  if (problem_->all_triples() == 0) {
    info.status = Status::converged;
  } else {
    info = Run(options_, *problem_, *system_, on_system, following, observer)(gamma);
    if (info.status == Status::stagnated && options_.linear_solver != "cg" &&
        !is_in_parts(options_, *problem_) && has_sparse_delassus()) {
      solve_by_contacts(gamma, observer, info);
    }
  }
  info.own_residual_name = "max(gamma.u s/(n q^2), momentum error/q)";
  return info;
}

}  // namespace ccp
