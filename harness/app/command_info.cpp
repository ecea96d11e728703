#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "harness/app/app.hpp"
#include "harness/app/info.hpp"
#include "harness/app/json.hpp"
#include "harness/app/terminal.hpp"
#include "problems/base/hdf5_file.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/formats/sequence_file.hpp"
#include "problems/model/descriptors.hpp"
#include "solvers/core/problem.hpp"
#include "solvers/linear/definiteness.hpp"

namespace ccp::app {
namespace {

/// "generated: a settled pile of 60 spheres (BSD-3-Clause)", of what is known.
std::string source_text(const Source& source) {
  std::string text = source.kind;
  if (!source.description.empty()) text += (text.empty() ? "" : ": ") + source.description;
  if (text.empty()) text = "unknown";
  return text + (source.licence.empty() ? ", no licence given" : " (" + source.licence + ")");
}

}  // namespace

void add_info(CLI::App& app, Context&) {
  auto* command = app.add_subcommand(
      "info",
      "Say what a file is: a problem, a sequence, a result, frozen systems, a table, a trajectory");
  struct Arguments {
    std::string problem;
    bool json = false;
    std::vector<int> ranks;
  };
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("problem", arguments->problem, "A file that ccpbench wrote, or a catalogue name")
      ->required()
      ->type_name("PROBLEM");
  command->add_flag("--json", arguments->json, "One JSON object instead of text");
  command
      ->add_option("--ranks", arguments->ranks,
                   "Say how the problem would be spread over so many ranks, e.g. 2,64,1024")
      ->delimiter(',')
      ->type_name("INTEGER");
  command->callback([arguments] {
    constexpr int products = 100;
    const std::string path = resolve_problem(arguments->problem);
    if (!arguments->ranks.empty()) return describe_ranks(path, arguments->ranks, arguments->json);
    if (split_place(path).steps.empty()) {
      const auto format = Hdf5File::open(path).string_attribute("/", "format");
      if (format && describe_file(path, *format, arguments->json)) return;
    }
    const ContactProblem host = read_problem(path);
    const bool bodies = host.form == ContactProblem::Form::bodies;
    double scale = 0;
    Definiteness spectrum;
    {
      const KokkosSession kokkos(1);
      const Problem problem(host);
      scale = problem.mean_diagonal();
      spectrum = definiteness(problem, products);
    }
    std::map<std::string, double> described;
    for (const auto& [name, value] : descriptors(host)) described[name] = value;
    const auto count = [&](const char* name) { return static_cast<long>(described.at(name)); };

    nlohmann::ordered_json out;
    out["name"] = host.name;
    out["file"] = path;
    out["kind"] = "problem";
    out["form"] = bodies ? "bodies" : "assembled";
    out["bodies"] = count("bodies");
    out["contacts"] = count("contacts");
    out["ground_contacts"] = count("ground_contacts");
    out["unknowns"] = count("unknowns");
    out["degrees_of_freedom"] = count("degrees_of_freedom");
    out["rank_at_most"] = count("rank_at_most");
    out["mu_min"] = described.at("mu_min");
    out["mu_max"] = described.at("mu_max");
    out["mass_ratio"] = described.at("mass_ratio");
    out["contacts_per_body_mean"] = described.at("contacts_per_body_mean");
    out["contacts_per_body_most"] = count("contacts_per_body_most");
    if (!bodies) out["asymmetry"] = host.delassus.asymmetry;
    out["trace_per_row"] = scale;
    out["least_eigenvalue"] = spectrum.least;
    out["largest_eigenvalue"] = spectrum.largest;
    out["rms_r"] = described.at("rms_r");
    out["compliant"] = host.is_compliant();
    out["dt"] = host.dt;
    out["gravity"] = host.gravity;
    out["hash"] = host.content_hash();
    out["reference"] = host.reference ? host.reference->method : "";
    out["guesses"] = nlohmann::json::array();
    for (const auto& guess : host.guesses) out["guesses"].push_back(guess.first);
    if (host.reference) out["reference_measures"] = host.reference->measures;
    out["source"] = {{"kind", host.source.kind},
                     {"description", host.source.description},
                     {"generator", host.source.generator},
                     {"licence", host.source.licence}};
    if (arguments->json) {
      print_json(out);
      return;
    }
    const auto row = [](const char* name, const std::string& value) {
      fmt::print("{:<14} {}\n", name, value);
    };
    row("name", host.name);
    row("kind", "problem");
    row("form",
        bodies ? (host.rotates() ? "bodies, rotating" : "bodies, not rotating") : "assembled");
    if (bodies) {
      row("bodies",
          fmt::format("{} ({} degrees of freedom), mass ratio {:.3g}", grouped(count("bodies")),
                      grouped(count("degrees_of_freedom")), described.at("mass_ratio")));
    }
    row("contacts",
        fmt::format("{} ({} with immovable bodies), {} unknowns", grouped(count("contacts")),
                    grouped(count("ground_contacts")), grouped(count("unknowns"))));
    if (bodies) {
      row("per body",
          fmt::format("{:.2f} contacts on average, {} at most",
                      described.at("contacts_per_body_mean"), count("contacts_per_body_most")));
      row("rank of N", fmt::format("at most {}", grouped(count("rank_at_most"))));
    }
    if (!bodies) {
      row("N",
          fmt::format("{}; asymmetry {:.2g} of the matrix A it was made from, "
                      "(A + A^T)/2",
                      counted(host.delassus.columns.size(), "block"), host.delassus.asymmetry));
    }
    const double mu_min = described.at("mu_min"), mu_max = described.at("mu_max");
    row("friction", count("contacts") == 0 ? "-"
                    : mu_min == mu_max     ? fmt::format("mu = {}", mu_min)
                                           : fmt::format("mu from {} to {}", mu_min, mu_max));
    row("spectrum",
        fmt::format("trace(N)/3n = {:.4g} 1/kg, eigenvalues about {:.3g} to {:.4g} 1/kg (Lanczos, "
                    "{} products){}",
                    scale, spectrum.least, spectrum.largest, products,
                    spectrum.is_semidefinite() ? "" : ": NOT positive semidefinite"));
    if (host.is_compliant()) {
      double smallest = host.compliance[0], largest_of_all = 0;
      for (std::size_t c = 0; c < host.contacts(); ++c) {
        smallest = std::min(smallest, host.compliance[2 * c]);
        largest_of_all = std::max(largest_of_all, host.compliance[2 * c]);
      }
      row("compliance",
          fmt::format("{:.4g} to {:.4g} 1/kg along the normals", smallest, largest_of_all));
    }
    row("r", fmt::format("rms {:.4g} m/s, dt {}", described.at("rms_r"),
                         host.dt > 0 ? fmt::format("= {} s", host.dt) : "not given"));
    row("hash", host.content_hash());
    for (const auto& [name, guess] : host.guesses) row("guess", name + ": " + guess.method);
    row("reference", host.reference ? host.reference->method : "none");
    if (host.reference && host.reference->measures.count("residual")) {
      row("", fmt::format("residual {:.2e}", host.reference->measures.at("residual")));
    }
    row("source", source_text(host.source));
    if (!host.source.generator.empty()) row("made by", host.source.generator);
  });
}

}  // namespace ccp::app
