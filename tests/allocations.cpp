#include "tests/allocations.hpp"

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "solvers/core/transfer.hpp"

// glibc's own names for what the functions below stand before.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

namespace ccp::test {
namespace {

std::atomic<std::size_t> heap{0}, bytes{0}, large{0}, views{0}, transfers{0};

void count(std::size_t size) {
  heap.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(size, std::memory_order_relaxed);
  if (size >= 2048) large.fetch_add(size, std::memory_order_relaxed);
}

void count_view(Kokkos::Tools::SpaceHandle, const char* label, const void*, std::uint64_t) {
  if (std::strncmp(label, "ccp::", 5) == 0) views.fetch_add(1, std::memory_order_relaxed);
}

void count_transfer(const char* region) {
  if (std::strcmp(region, Transfer::label) == 0) transfers.fetch_add(1, std::memory_order_relaxed);
}

void count_copy(Kokkos::Tools::SpaceHandle to, const char*, const void*,
                Kokkos::Tools::SpaceHandle from, const char*, const void*, std::uint64_t) {
  if (std::strcmp(to.name, from.name) != 0) transfers.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Allocations allocations() {
  return {heap, bytes, large, views, transfers};
}

void count_kokkos() {
  Kokkos::Tools::Experimental::set_allocate_data_callback(count_view);
  Kokkos::Tools::Experimental::set_push_region_callback(count_transfer);
  Kokkos::Tools::Experimental::set_begin_deep_copy_callback(count_copy);
}

}  // namespace ccp::test

extern "C" {

void* malloc(std::size_t size) noexcept {
  ccp::test::count(size);
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) noexcept {
  ccp::test::count(number * size);
  return __libc_calloc(number, size);
}
void* realloc(void* old, std::size_t size) noexcept {
  ccp::test::count(size);
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  ccp::test::count(size);
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  void* found = memalign(alignment, size);
  if (!found) return ENOMEM;
  *out = found;
  return 0;
}

}  // extern "C"
