#include "os/memory/memory_lock.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/units.h"
#include "os/memory/memory.h"
#include "os/memory/own_memory.h"
#include "os/syscall.h"

namespace tarn::internal::os {
namespace {

/// Calls `visit(start, end)` for all addresses of the process, except the uncommitted parts of reserves.
template <typename Visit>
bool for_each_used_range(Visit visit) {
  return for_each_mapping([&](const Mapping& mapping) {
    const AddressRange& area = mapping.range;
    if (mapping.is_writable) return visit(area.start, area.end);
    for (std::uintptr_t at = area.start; at < area.end;) {
      const AddressRange reserve = next_reserve(at);
      const std::uintptr_t end = reserve.start < area.end ? reserve.start : area.end;
      if (at < end) visit(at, end);
      at = reserve.start < area.end ? reserve.end : area.end;
    }
  });
}

/// \returns the answer of mlockall for this much memory: 0, EPERM or ENOMEM.
int refusal_of(std::size_t bytes) {
  struct rlimit limit {};
  syscall6(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, to_long(&limit));
  if (bytes <= limit.rlim_cur) return 0;
  // Only exceeding the limit shows whether it holds for this process.
  const std::size_t more = limit.rlim_cur + kOsPageBytesLargest;
  const long answer = syscall6(SYS_mmap, 0, to_long(more), PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_LOCKED, -1, 0);
  if (answer == -EPERM) return EPERM;
  if (answer < 0 && answer > -4096) return ENOMEM;
  syscall6(SYS_munmap, answer, to_long(more));
  return 0;
}

}  // namespace

int lock_all_memory(int flags) {
  if (flags == 0 || flags == MCL_ONFAULT || (flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)) != 0)
    return EINVAL;
  const Lock lock = (flags & MCL_ONFAULT) != 0 ? Lock::kOnFault : Lock::kNow;
  if ((flags & MCL_CURRENT) != 0) {
    std::size_t bytes = 0;
    if (!for_each_used_range([&](std::uintptr_t start, std::uintptr_t end) { bytes += end - start; }))
      return -static_cast<int>(syscall6(SYS_mlockall, flags));  // without /proc, the system has to lock
    if (const int error = refusal_of(bytes); error != 0) return error;
  }
  if ((flags & MCL_FUTURE) != 0) {
    const long answer = syscall6(SYS_mlockall, flags & ~MCL_CURRENT);
    if (answer != 0) return static_cast<int>(-answer);
    lock_commits(lock);
  } else if (commit_lock() != Lock::kNone) {
    unlock_all_memory();  // mlockall without the flag takes it back
  }
  // As for mlockall, an area that cannot be backed, for example one without access, is no error.
  if ((flags & MCL_CURRENT) != 0)
    for_each_used_range([&](std::uintptr_t start, std::uintptr_t end) {
      lock_memory(reinterpret_cast<void*>(start), end - start, lock);
    });
  return 0;
}

int unlock_all_memory() {
  lock_commits(Lock::kNone);
  return static_cast<int>(-syscall6(SYS_munlockall));
}

}  // namespace tarn::internal::os
