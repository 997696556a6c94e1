#include "os/memory.h"

#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>

#include "base/units.h"
#include "os/growth_watch.h"
#include "os/syscall.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

namespace tarn::internal::os {
namespace {

constinit std::atomic<FaultHook> fault_hook{nullptr};
constexpr const char* kCallNames[] = {"addresses reserved", "memory mapped", "memory committed", "memory given back",
                                      "pages moved"};

bool must_fail(Call call) {
  if (call != Call::kPurge) tell_growth(kCallNames[static_cast<unsigned>(call)]);
  const FaultHook hook = fault_hook.load(std::memory_order_relaxed);
  return hook != nullptr && hook(call);
}

long to_long(const void* pointer) { return reinterpret_cast<long>(pointer); }

void* map_anonymous(std::size_t bytes, int protection, int flags = 0) {
  const long answer = syscall6(SYS_mmap, 0, static_cast<long>(bytes), protection,
                               MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return answer < 0 && answer > -4096 ? nullptr : reinterpret_cast<void*>(answer);
}

}  // namespace

constinit std::atomic<GrowthWatcher> growth_watcher{nullptr};

void* reserve(std::size_t bytes, std::size_t alignment) {
  if (must_fail(Call::kReserve)) return nullptr;
  if (alignment == 1) return map_anonymous(bytes, PROT_NONE);
  char* const start = static_cast<char*>(map_anonymous(bytes + alignment, PROT_NONE));
  if (start == nullptr) return nullptr;
  char* const aligned = reinterpret_cast<char*>(round_up(address_of(start), alignment));
  const std::size_t before = static_cast<std::size_t>(aligned - start);
  if (before != 0) release(start, before);
  if (alignment - before != 0) release(aligned + bytes, alignment - before);
  return aligned;
}

void* reserve_readable(std::size_t bytes) {
  return must_fail(Call::kReserve) ? nullptr : map_anonymous(bytes, PROT_READ);
}

void* map(std::size_t bytes) {
  return must_fail(Call::kMap) ? nullptr : map_anonymous(bytes, PROT_READ | PROT_WRITE, MAP_NORESERVE);
}

bool commit(void* start, std::size_t bytes) {
  if (must_fail(Call::kCommit)) return false;
  return syscall6(SYS_mprotect, to_long(start), static_cast<long>(bytes), PROT_READ | PROT_WRITE) == 0;
}

bool purge(void* start, std::size_t bytes) {
  if (must_fail(Call::kPurge)) return false;
  return syscall6(SYS_madvise, to_long(start), static_cast<long>(bytes), MADV_DONTNEED) == 0;
}

void release(void* start, std::size_t bytes) { syscall6(SYS_munmap, to_long(start), static_cast<long>(bytes)); }

void advise_huge(void* start, std::size_t bytes) {
  syscall6(SYS_madvise, to_long(start), static_cast<long>(bytes), MADV_HUGEPAGE);
}

void populate(void* start, std::size_t bytes) {
  syscall6(SYS_madvise, to_long(start), static_cast<long>(bytes), MADV_POPULATE_WRITE);
}

bool move_pages(void* from, void* to, std::size_t bytes) {
  if (must_fail(Call::kMove)) return false;
  const long answer = syscall6(SYS_mremap, to_long(from), static_cast<long>(bytes), static_cast<long>(bytes),
                               MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to_long(to));
  if (answer == to_long(to)) return true;
  // Kernels to 6.16 unmap the destination before they find out that they cannot move.
  syscall6(SYS_mmap, to_long(to), static_cast<long>(bytes), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  return false;
}

std::size_t address_space_limit() {
  struct rlimit limit;
  if (syscall6(SYS_prlimit64, 0, RLIMIT_AS, 0, to_long(&limit)) != 0) return SIZE_MAX;
  return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : static_cast<std::size_t>(limit.rlim_cur);
}

void set_fault_hook_for_test(FaultHook hook) { fault_hook.store(hook, std::memory_order_relaxed); }

}  // namespace tarn::internal::os
