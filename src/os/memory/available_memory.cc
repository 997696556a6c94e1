#include "os/memory/available_memory.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/text.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "os/process/process_status.h"
#include "os/syscall.h"

namespace tarn::internal::os {
namespace {

/// The first bytes of a file, as text; empty when it cannot be read.
struct FileText {
  explicit FileText(const char* path) {
    const long length = read_file(path, text, sizeof text - 1);
    text[length > 0 ? length : 0] = '\0';
  }
  char text[256];
};

std::size_t limit_of(int resource) {
  rlimit limit{};
  if (change_limit(0, resource, nullptr, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return limit.rlim_cur;
}

std::size_t free_in_system() {
  struct sysinfo info {};
  if (syscall6(SYS_sysinfo, to_long(&info)) != 0) return SIZE_MAX;
  const std::size_t available = number_behind("MemAvailable:", FileText("/proc/meminfo").text);
  const std::size_t memory = available != SIZE_MAX ? available * 1024 : info.totalram * info.mem_unit;
  return memory + info.freeswap * info.mem_unit;
}

// Of version 2: the process sees its own group in the tree.
std::size_t limit_of_group() {
  const FileText group("/proc/self/cgroup");
  const char* const path = std::strstr(group.text, "0::/");
  if (path == nullptr) return SIZE_MAX;
  FixedText<384> file;
  const char* const start = path + std::strlen("0::");
  file.add("/sys/fs/cgroup").add({start, std::strcspn(start, "\n")}).add("/memory.max").add('\0');
  return number_behind("", FileText(file.data()).text);
}

}  // namespace

std::size_t available_bytes() {
  if (makes_common_calls_only()) return SIZE_MAX;
  return std::min({limit_of(RLIMIT_AS), limit_of(RLIMIT_DATA), free_in_system(), limit_of_group()});
}

std::size_t data_limit() { return makes_common_calls_only() ? SIZE_MAX : limit_of(RLIMIT_DATA); }

}  // namespace tarn::internal::os
