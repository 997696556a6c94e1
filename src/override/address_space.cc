// Replaces libc's calls by which a program limits or locks its memory, so that addresses that the library has
// reserved but does not use are not counted against the program. Each call does the same as libc's, and more
// only for the calling process.
#include <asm/resource.h>
#include <pthread.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include "os/memory/memory_lock.h"
#include "os/process/process.h"
#include "os/process/process_status.h"
#include "page/give_back/unused_reserves.h"
#include "page/spans/live_map.h"
#include "page/spans/page_map.h"
#include "tarn/detail/c_api.h"
#include "thread/registry.h"

namespace {

namespace os = tarn::internal::os;
using tarn::internal::live_map;
using tarn::internal::page_map;

// Also rlimit64: sys/resource.h would declare the functions below with types that differ between C++ and C.
struct Limit {
  std::uint64_t now, most;
};
static_assert(sizeof(unsigned long) == sizeof(std::uint64_t), "setrlimit and setrlimit64 are one");
constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

int answer_with(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

/// Whether another process shares the memory: in a child of vfork, libc's thread is still the
/// parent's.
bool shares_memory_with_parent() {
  clockid_t clock{};
  // The kernel's clock ids of threads hold the thread's number, inverted, above three bits.
  return pthread_getcpuclockid(pthread_self(), &clock) != 0 ||
         static_cast<std::uint32_t>(~(clock >> 3)) != os::thread_id();
}

// Any thread may use the index of pages at any time, so it can be dropped only while there is one thread.
std::size_t droppable_index_bytes(std::uint64_t limit) {
  constexpr std::uint64_t kWorthKeeping = 16;
  const std::size_t bytes = page_map.index_bytes();
  return bytes <= limit / kWorthKeeping || os::thread_count() != 1 ? 0 : bytes;
}

// Gives nothing back if the process would exceed the limit anyway: the heap can still grow in its reserves.
void make_room_below(std::uint64_t limit) {
  if (shares_memory_with_parent()) return;
  const std::size_t index = droppable_index_bytes(limit);
  const std::size_t unused =
      index + tarn::internal::unused_reserve_bytes() + tarn::internal::registry.unused_cache_bytes(limit);
  if (os::address_bytes() - unused >= limit) return;
  if (index != 0) {
    page_map.drop_index();
    live_map.drop();
    tarn::internal::registry.show_page_index();
  }
  tarn::internal::release_unused_reserves();
  tarn::internal::registry.release_unused_caches(limit);
}

int set_limit(int process, int resource, const void* wanted, void* old) {
  const int error = os::change_limit(process, resource, wanted, old);
  if (error != 0) return answer_with(error);
  const auto* const limit = static_cast<const Limit*>(wanted);
  const bool is_own = process == 0 || static_cast<std::uint32_t>(process) == os::process_id();
  if (limit != nullptr && resource == RLIMIT_AS && is_own && limit->now != kNoLimit)
    make_room_below(limit->now);
  return 0;
}

}  // namespace

TARN_C_API int setrlimit(int resource, const void* wanted) noexcept {
  return set_limit(0, resource, wanted, nullptr);
}
TARN_C_API int setrlimit64(int resource, const void* wanted) noexcept {
  return set_limit(0, resource, wanted, nullptr);
}

TARN_C_API int prlimit(int process, int resource, const void* wanted, void* old) noexcept {
  return set_limit(process, resource, wanted, old);
}
TARN_C_API int prlimit64(int process, int resource, const void* wanted, void* old) noexcept {
  return set_limit(process, resource, wanted, old);
}

TARN_C_API int mlockall(int flags) noexcept { return answer_with(os::lock_all_memory(flags)); }
TARN_C_API int munlockall() noexcept { return answer_with(os::unlock_all_memory()); }
