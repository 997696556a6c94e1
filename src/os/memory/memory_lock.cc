#include "os/memory/memory_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/units.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "os/syscall.h"

namespace tarn::internal::os {
namespace {

struct Area {
  std::uintptr_t start, end;
  bool is_writable;
};

/// Reads the areas of the process from /proc/self/maps, a piece of the file at a time.
class Areas {
 public:
  Areas() : descriptor_(syscall6(SYS_openat, AT_FDCWD, to_long("/proc/self/maps"), O_RDONLY | O_CLOEXEC)) {}
  ~Areas() {
    if (is_open()) close_file(static_cast<int>(descriptor_));
  }
  Areas(const Areas&) = delete;
  Areas& operator=(const Areas&) = delete;

  bool is_open() const { return descriptor_ >= 0; }

  /// A line is "start-end rwxp offset device node name". \returns false after the last line.
  bool next(Area* area) {
    if (!read_number(&area->start) || !read_number(&area->end)) return false;
    next_character();
    area->is_writable = next_character() == 'w';
    for (int character = 0; character != '\n'; character = next_character())
      if (character == kEnd) return false;
    return true;
  }

 private:
  static constexpr int kEnd = -1;

  int next_character() {
    if (at_ == length_) {
      length_ = syscall6(SYS_read, descriptor_, to_long(text_), sizeof text_);
      at_ = 0;
      if (length_ <= 0) return length_ = 0, kEnd;
    }
    return text_[at_++];
  }

  /// Also reads the character behind the number.
  bool read_number(std::uintptr_t* number) {
    *number = 0;
    for (int character = next_character(); character != '-' && character != ' ';
         character = next_character()) {
      if (character == kEnd) return false;
      *number = *number * 16 +
                static_cast<std::uintptr_t>(character >= 'a' ? character - 'a' + 10 : character - '0');
    }
    return true;
  }

  long descriptor_;
  long at_ = 0, length_ = 0;
  char text_[2048];
};

/// Calls `visit(start, end)` for all addresses of the process, except the uncommitted parts of reserves.
template <typename Visit>
bool for_each_used_range(Visit visit) {
  Areas areas;
  if (!areas.is_open()) return false;
  for (Area area; areas.next(&area);) {
    if (area.is_writable) {
      visit(area.start, area.end);
      continue;
    }
    for (std::uintptr_t at = area.start; at < area.end;) {
      const AddressRange reserve = next_reserve(at);
      const std::uintptr_t end = reserve.start < area.end ? reserve.start : area.end;
      if (at < end) visit(at, end);
      at = reserve.start < area.end ? reserve.end : area.end;
    }
  }
  return true;
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
