#include "harness/micro/micro.hpp"

#include <cstdlib>

#include "problems/base/error.hpp"
#include "problems/base/options.hpp"
#include "problems/formats/catalogue.hpp"
#include "problems/formats/problem_file.hpp"
#include "problems/model/repeated.hpp"

namespace ccp::micro {
namespace {

ContactProblem load() {
  const char* name = std::getenv("CCPBENCH_MICRO_PROBLEM");
  ContactProblem problem = read_problem(resolve_problem(name ? name : "test-problem-3"));
  const char* text = std::getenv("CCPBENCH_MICRO_COPIES");
  if (!text) return problem;
  int copies = 0;
  if (!parse_number(text, copies) || copies < 1 || copies > 1'000'000) {
    throw InputError("environment variable CCPBENCH_MICRO_COPIES", "value",
                     "a number from 1 to 1000000", text);
  }
  return repeated(problem, copies);
}

}  // namespace

const ContactProblem& host() {
  static const ContactProblem problem = load();
  return problem;
}

const Problem& device() {
  static auto* problem = new Problem(host());  // outlives main's Kokkos session on purpose
  return *problem;
}

void report(benchmark::State& state, double items, double bytes) {
  const double contacts = items * static_cast<double>(host().contacts());
  state.counters["s/contact"] =
      benchmark::Counter(contacts, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["bytes/contact"] = bytes;
  state.counters["B/s"] = benchmark::Counter(contacts * bytes, benchmark::Counter::kIsRate,
                                             benchmark::Counter::kIs1000);
}

}  // namespace ccp::micro
