#include "harness/run/provenance.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "git_version.hpp"
#include "problems/base/sha256.hpp"
#include "solvers/core/trilinos.hpp"

namespace ccp {
namespace {

/// Value of the first line "key<spaces>: value" of a /proc file.
std::string proc_value(const std::string& path, const std::string& key) {
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::string first_line(const std::string& path) {
  std::ifstream stream(path);
  std::string line;
  std::getline(stream, line);
  return line;
}

std::string gpu_model() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    return proc_value((entry.path() / "information").string(), "Model");
  }
  return "";
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return fmt::format("{}={}", name, value ? value : "");
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

/// "0-3,8"
std::string ranges_text(const std::set<int>& numbers) {
  std::string text;
  for (auto it = numbers.begin(); it != numbers.end();) {
    const int first = *it;
    int last = first;
    while (++it != numbers.end() && *it == last + 1) last = *it;
    text += (text.empty() ? "" : ",") +
            (first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
  }
  return text;
}

/// The processors that any thread of this process may run on: OpenMP binds each to its own.
std::string affinity() {
  std::set<int> processors;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    const int thread = std::atoi(task.path().filename().c_str());
    if (thread <= 0 || sched_getaffinity(thread, sizeof mask, &mask) != 0) continue;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &mask)) processors.insert(cpu);
    }
  }
  return ranges_text(processors);
}

std::string load_average() {
  double load[3] = {0, 0, 0};
  getloadavg(load, 3);
  return fmt::format("{:.2f} {:.2f} {:.2f}", load[0], load[1], load[2]);
}

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

Provenance build_provenance() {
  Provenance p;
  p.commit = CCP_GIT_COMMIT;
  p.version = CCP_VERSION;
  p.compiler = CCP_COMPILER;
  p.flags = CCP_FLAGS;
  p.build_type = CCP_BUILD_TYPE;
  p.backend = backend_name();
  p.trilinos = trilinos_version();
  p.kokkos = fmt::format("{}.{}.{}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100,
                         KOKKOS_VERSION % 100);
  return p;
}

Provenance collect_provenance(int threads, const std::string& command_line) {
  Provenance p = build_provenance();
  p.host = host_name();
  p.cpu = proc_value("/proc/cpuinfo", "model name");
  p.gpu = gpu_model();
  p.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  p.memory_bytes = sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  utsname system{};
  uname(&system);
  p.os = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  p.threads = threads;
  p.binding = environment("OMP_PROC_BIND") + " " + environment("OMP_PLACES");
  p.affinity = affinity();
  p.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  p.load_average = load_average();
  p.command_line = command_line;
  p.date_utc = utc_now();
  return p;
}

std::vector<std::pair<std::string, std::string>> Provenance::entries() const {
  return {{"commit", commit},
          {"version", version},
          {"compiler", compiler},
          {"flags", flags},
          {"build_type", build_type},
          {"backend", backend},
          {"trilinos", trilinos},
          {"kokkos", kokkos},
          {"host", host},
          {"cpu", cpu},
          {"gpu", gpu},
          {"os", os},
          {"cores", fmt::format("{}", cores)},
          {"memory_bytes", fmt::format("{}", memory_bytes)},
          {"threads", fmt::format("{}", threads)},
          {"ranks", fmt::format("{}", ranks)},
          {"binding", binding},
          {"affinity", affinity},
          {"governor", governor},
          {"load_average", load_average},
          {"command_line", command_line},
          {"date_utc", date_utc},
          {"external", external},
          {"clock", clock}};
}

std::string overload(int cores) {
  constexpr double margin = 0.5;  // of what the system itself does
  double load = 0;
  if (getloadavg(&load, 1) != 1 || load <= cores + margin) return "";
  return fmt::format("load average {:.1f}, {} core{} in use: times are doubtful", load, cores,
                     cores == 1 ? "" : "s");
}

double seconds_since_process_start() {
  // Field 22 of the line; field 2, the program's name in brackets, may hold spaces.
  const std::string line = first_line("/proc/self/stat");
  const std::size_t bracket = line.rfind(')');
  timespec now{};
  if (bracket == std::string::npos || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  std::istringstream fields(line.substr(bracket + 1));
  std::string word;
  for (int i = 3; i <= 22; ++i) fields >> word;
  const double start =
      std::strtod(word.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) - start;
}

KeyParts build_identity() {
  const Provenance p = build_provenance();
  const std::string dirty = "-dirty";
  const bool known = p.commit != "unknown" &&
                     (p.commit.size() < dirty.size() ||
                      p.commit.compare(p.commit.size() - dirty.size(), dirty.size(), dirty) != 0);
  return {{"commit", p.commit},
          {"compiler", p.compiler},
          {"flags", p.flags},
          {"build_type", p.build_type},
          {"backend", p.backend},
          {"trilinos", p.trilinos},
          {"program", known ? "" : file_sha256("/proc/self/exe")}};
}

KeyParts machine_identity() {
  return {{"host", host_name()},
          {"cpu", proc_value("/proc/cpuinfo", "model name")},
          {"gpu", gpu_model()},
          {"cores", fmt::format("{}", sysconf(_SC_NPROCESSORS_ONLN))}};
}

}  // namespace ccp
