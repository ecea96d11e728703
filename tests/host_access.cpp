#include "tests/host_access.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "solvers/core/transfer.hpp"

namespace ccp::test {
namespace {

/// Kokkos' own words before the data of a view; the host may read them.
constexpr std::size_t header = sizeof(Kokkos::Impl::SharedAllocationHeader);

/// Address space for all views of the program: what has been freed is not used again.
constexpr std::size_t reach = std::size_t{1} << 36;

struct Region {
  std::uintptr_t data = 0, end = 0;
  std::array<char, 96> label{};
};

struct Arena {
  char* memory = nullptr;
  std::uintptr_t begin = 0, top = 0;  ///< of that; top is where it is free
  std::uintptr_t guarded = 0;         ///< what is taken from here on is guarded
  std::array<Region, 65536> regions{};
  std::atomic<std::size_t> number{0};
  std::mutex mutex;

  void* at(std::uintptr_t address) const { return memory + (address - begin); }
};
Arena arena;

// The handler of a signal looks at these.
std::atomic<bool> on{false}, closed{false};
std::atomic<int> kernels{0};
std::atomic<std::size_t> accesses{0};
struct sigaction handler_before;
std::atomic<std::size_t> last{0};  ///< 1 + number of the region

void protect(int how) {
  if (arena.top > arena.guarded) {
    mprotect(arena.at(arena.guarded), arena.top - arena.guarded, how);
  }
}
void open() {
  if (closed.exchange(false)) protect(PROT_READ | PROT_WRITE);
}
void close() {
  if (on && kernels == 0 && !closed.exchange(true)) protect(PROT_NONE);
}

void touched(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (!closed || address < arena.guarded || address >= arena.top) {
    std::signal(signal, SIG_DFL);  // a fault of another kind: it comes again, and ends the program
    return;
  }
  open();
  for (std::size_t k = arena.number; k-- > 0;) {
    if (address < arena.regions[k].data || address >= arena.regions[k].end) continue;
    last = k + 1;
    ++accesses;
    return;
  }
}

void begin_kernel(const char*, std::uint32_t, std::uint64_t*) {
  ++kernels;
  open();
}
void end_kernel(std::uint64_t) {
  --kernels;
  close();
}

// A library's kernel that Kokkos does not start: Kokkos Kernels says where it calls the BLAS.
std::vector<bool>& regions_are_kernels() {
  static std::vector<bool> stack;
  return stack;
}
void push_region(const char* name) {
  const bool kernel = std::strncmp(name, "KokkosBlas::", 12) == 0;
  regions_are_kernels().push_back(kernel);
  if (kernel) ++kernels;
  if (kernel || std::strcmp(name, Transfer::label) == 0) open();
}
void pop_region() {
  const bool kernel = regions_are_kernels().back();
  regions_are_kernels().pop_back();
  if (!kernel) return;
  --kernels;
  close();
}

void begin_copy(Kokkos::Tools::SpaceHandle, const char*, const void*, Kokkos::Tools::SpaceHandle,
                const char*, const void*, std::uint64_t) {
  ++kernels;
  open();
}
void end_copy() {
  --kernels;
  close();
}

/// Ours, and those of Tpetra's vectors.
bool is_of_the_device(const char* label) {
  return std::strncmp(label, "ccp::", 5) == 0 || std::strncmp(label, "MV::", 4) == 0;
}

/// Whole pages for the data, and before them one whose end is Kokkos' header.
void* take(const char* label, std::size_t size) {
  const std::lock_guard<std::mutex> lock(arena.mutex);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  if (arena.begin == 0) {
    void* const found = mmap(nullptr, reach, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) throw std::bad_alloc();
    arena.memory = static_cast<char*>(found);
    arena.begin = arena.guarded = arena.top = reinterpret_cast<std::uintptr_t>(found);
  }
  Region region;
  region.data = arena.top + page;
  region.end = region.data + (size - header);
  const std::uintptr_t top = (region.end + page - 1) / page * page;
  if (arena.number == arena.regions.size() || top - arena.begin > reach) throw std::bad_alloc();
  std::strncpy(region.label.data(), label, region.label.size() - 1);
  arena.top = top;
  arena.regions[arena.number] = region;
  ++arena.number;
  return arena.at(region.data - header);
}

bool is_taken(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return address >= arena.begin && address < arena.top;
}

void release(const void* pointer) {
  const std::lock_guard<std::mutex> lock(arena.mutex);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  for (std::size_t k = arena.number; k-- > 0;) {
    Region& region = arena.regions[k];
    if (region.data - header != address) continue;
    open();
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const std::uintptr_t end = (region.end + page - 1) / page * page;
    madvise(arena.at(region.data), end - region.data, MADV_DONTNEED);
    return;
  }
}

}  // namespace

GuardedMemory::GuardedMemory() {
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_parallel_for_callback(begin_kernel);
  tools::set_end_parallel_for_callback(end_kernel);
  tools::set_begin_parallel_reduce_callback(begin_kernel);
  tools::set_end_parallel_reduce_callback(end_kernel);
  tools::set_begin_parallel_scan_callback(begin_kernel);
  tools::set_end_parallel_scan_callback(end_kernel);
  tools::set_push_region_callback(push_region);
  tools::set_pop_region_callback(pop_region);
  tools::set_begin_deep_copy_callback(begin_copy);
  tools::set_end_deep_copy_callback(end_copy);
  struct sigaction action {};
  action.sa_sigaction = touched;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, &handler_before);
  arena.guarded = arena.top;
  test::accesses = 0;
  test::last = 0;
  on = true;
}

GuardedMemory::~GuardedMemory() {
  on = false;
  open();
  sigaction(SIGSEGV, &handler_before, nullptr);
}

std::size_t GuardedMemory::accesses() const {
  return test::accesses;
}

std::string GuardedMemory::last() const {
  return test::last == 0 ? "" : arena.regions[test::last - 1].label.data();
}

}  // namespace ccp::test

// Kokkos' own, whose place these take: the program's symbols come before those of its libraries.
void* Kokkos::HostSpace::allocate(const char* label, const std::size_t size,
                                  const std::size_t) const {
  if (ccp::test::is_of_the_device(label)) return ccp::test::take(label, size);
  void* const found = std::aligned_alloc(64, (std::max<std::size_t>(size, 1) + 63) / 64 * 64);
  if (!found) throw std::bad_alloc();
  return found;
}
void* Kokkos::HostSpace::allocate(const std::size_t size) const {
  return allocate("", size);
}
void Kokkos::HostSpace::deallocate(const char*, void* const pointer, const std::size_t,
                                   const std::size_t) const {
  if (!ccp::test::is_taken(pointer)) return std::free(pointer);
  ccp::test::release(pointer);
}
void Kokkos::HostSpace::deallocate(void* const pointer, const std::size_t size) const {
  deallocate("", pointer, size);
}
