#include "harness/micro/micro.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>

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

/// Bytes per second, the best of some 50 ms.
double measure_triad(std::size_t length) {
  const VectorView a(to_be_filled("ccp::micro::a"), length), b("ccp::micro::b", length),
      c("ccp::micro::c", length);
  const auto pass = [&] {
    const double start = processor_seconds();
    Kokkos::parallel_for(
        "ccp::micro::triad", range(length), KOKKOS_LAMBDA(int i) { a(i) = b(i) + 3 * c(i); });
    fence();
    return processor_seconds() - start;
  };
  double best = pass(), total = 0;
  for (int k = 0; k < 5 || total < 0.05; ++k) {
    const double seconds = pass();
    best = std::min(best, seconds);
    total += seconds;
  }
  return 24 * static_cast<double>(length) / best;
}

/// The same with arrays of so many bytes together, measured once per size.
double triad_rate(double bytes) {
  static std::map<std::size_t, double> known;
  const auto length = std::max<std::size_t>(1, static_cast<std::size_t>(bytes / 24));
  const auto [at, added] = known.try_emplace(length);
  if (added) at->second = measure_triad(length);
  return at->second;
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

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void report(benchmark::State& state, double items, double bytes, double seconds) {
  const double contacts = items * static_cast<double>(host().contacts());
  const double rate = contacts * bytes / seconds;
  state.counters["s/contact"] = seconds / contacts;
  state.counters["bytes/contact"] = bytes;
  state.counters["B/s"] = rate;
  state.counters["of_triad"] = rate / triad_rate(bytes * static_cast<double>(host().contacts()));
}

}  // namespace ccp::micro
