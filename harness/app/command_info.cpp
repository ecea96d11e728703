#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/app/app.hpp"
#include "harness/app/terminal.hpp"
#include "problems/catalogue.hpp"
#include "problems/problem_file.hpp"
#include "solvers/core/problem.hpp"

namespace ccp::app {
namespace {

/// Estimate of N's largest eigenvalue by power iteration, 1/kg.
double largest_eigenvalue(const Problem& problem, int products) {
  if (problem.contacts() == 0) return 0;
  const auto n = problem.delassus();
  Vector x(problem.map(), 1), y(problem.map(), 1);
  // A fixed, irregular start: x_i = 1 + (i mod 7) / 7.
  const VectorView start = overwrite_view(x);
  Kokkos::parallel_for(
      "ccp::info::start", range(start.extent(0)),
      KOKKOS_LAMBDA(const int i) { start(i) = 1 + (i % 7) / 7.0; });
  const auto norm_of = [](const Vector& z) {
    double norm = 0;
    z.norm2(Teuchos::ArrayView<double>(&norm, 1));
    return norm;
  };
  double norm = norm_of(x);
  for (int k = 0; k < products && norm > 0; ++k) {
    x.scale(1 / norm);
    n->apply(x, y);
    norm = norm_of(y);
    std::swap(x, y);
  }
  return norm;
}

struct Count {
  double mean = 0;
  long most = 0;
};

Count contacts_per_body(const ContactProblem& problem) {
  std::vector<long> count(problem.bodies(), 0);
  long total = 0;
  for (const std::int32_t body : problem.contact_bodies) {
    if (body >= 0) ++count[body], ++total;
  }
  if (count.empty()) return {};
  return {static_cast<double>(total) / static_cast<double>(count.size()),
          *std::max_element(count.begin(), count.end())};
}

}  // namespace

void add_info(CLI::App& app, Context&) {
  auto* command = app.add_subcommand("info", "Describe a problem");
  struct Arguments {
    std::string problem;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("problem", arguments->problem, "Problem file or catalogue name")->required();
  command->add_flag("--json", arguments->json, "One JSON object instead of text");
  command->callback([arguments] {
    constexpr int products = 100;
    const std::string path = resolve_problem(arguments->problem);
    const ContactProblem host = read_problem(path);
    const bool bodies = host.form == ContactProblem::Form::bodies;
    const std::size_t n = host.contacts();
    double scale = 0, largest = 0;
    {
      const KokkosSession kokkos(1);
      const Problem problem(host);
      scale = problem.delassus_scale();
      largest = largest_eigenvalue(problem, products);
    }
    const auto [mu_min, mu_max] = std::minmax_element(host.mu.begin(), host.mu.end());
    double light = 0, heavy = 0;  // inverse masses of the lightest and the heaviest movable body
    for (const double w : host.inverse_mass) {
      if (w <= 0) continue;
      light = std::max(light, w);
      heavy = heavy == 0 ? w : std::min(heavy, w);
    }
    const double mass_ratio = heavy > 0 ? light / heavy : 0;
    long ground = 0;
    for (std::size_t c = 0; c < host.contact_bodies.size() / 2; ++c) {
      if (host.contact_bodies[2 * c] < 0 || host.contact_bodies[2 * c + 1] < 0) ++ground;
    }
    double r_square = 0;
    for (const double value : host.r) r_square += value * value;
    const double q = n > 0 ? std::sqrt(r_square / (3.0 * static_cast<double>(n))) : 0;
    const Count per_body = contacts_per_body(host);
    const std::size_t freedom = host.bodies() * (host.rotates() ? 6 : 3);

    nlohmann::ordered_json out;
    out["name"] = host.name;
    out["file"] = path;
    out["form"] = bodies ? "bodies" : "assembled";
    out["bodies"] = host.bodies();
    out["contacts"] = n;
    out["ground_contacts"] = ground;
    out["unknowns"] = 3 * n;
    out["degrees_of_freedom"] = freedom;
    out["rank_at_most"] = bodies ? std::min(3 * n, freedom) : 3 * n;
    out["mu_min"] = n ? *mu_min : 0;
    out["mu_max"] = n ? *mu_max : 0;
    out["mass_ratio"] = mass_ratio;
    out["contacts_per_body_mean"] = per_body.mean;
    out["contacts_per_body_most"] = per_body.most;
    out["trace_per_row"] = scale;
    out["largest_eigenvalue"] = largest;
    out["rms_r"] = q;
    out["dt"] = host.dt;
    out["gravity"] = host.gravity;
    out["hash"] = host.content_hash();
    out["reference"] = host.reference ? host.reference->method : "";
    if (host.reference) out["reference_measures"] = host.reference->measures;
    out["source"] = {{"kind", host.source.kind},
                     {"description", host.source.description},
                     {"generator", host.source.generator},
                     {"licence", host.source.licence}};
    if (arguments->json) {
      fmt::print("{}\n", out.dump(2));
      return;
    }
    const auto row = [](const char* name, const std::string& value) {
      fmt::print("{:<14} {}\n", name, value);
    };
    row("name", host.name);
    row("form",
        bodies ? (host.rotates() ? "bodies, rotating" : "bodies, not rotating") : "assembled");
    if (bodies) {
      row("bodies", fmt::format("{} ({} degrees of freedom), mass ratio {:.3g}",
                                grouped(static_cast<long>(host.bodies())),
                                grouped(static_cast<long>(freedom)), mass_ratio));
    }
    row("contacts",
        fmt::format("{} ({} with immovable bodies), {} unknowns", grouped(static_cast<long>(n)),
                    grouped(ground), grouped(3 * static_cast<long>(n))));
    if (bodies) {
      row("per body",
          fmt::format("{:.2f} contacts on average, {} at most", per_body.mean, per_body.most));
      row("rank of N",
          fmt::format("at most {}", grouped(static_cast<long>(std::min(3 * n, freedom)))));
    }
    row("friction", n ? fmt::format("mu from {} to {}", *mu_min, *mu_max) : "-");
    row("spectrum", fmt::format("trace(N)/3n = {:.4g} 1/kg, largest eigenvalue about {:.4g} 1/kg "
                                "(power iteration, {} products)",
                                scale, largest, products));
    row("r", fmt::format("rms {:.4g} m/s, dt = {} s", q, host.dt));
    row("hash", host.content_hash());
    row("reference", host.reference ? host.reference->method : "none");
    if (host.reference && host.reference->measures.count("residual")) {
      row("", fmt::format("residual {:.2e}", host.reference->measures.at("residual")));
    }
    row("source",
        fmt::format("{}: {} ({})", host.source.kind, host.source.description, host.source.licence));
    row("made by", host.source.generator);
  });
}

}  // namespace ccp::app
