#include "os/process_status.h"

#include <cstring>

#include "os/process.h"
#include "os/syscall.h"

namespace tarn::internal::os {
namespace {

/// \returns the number on the line that begins with `name`.
std::size_t status_number(const char* name) {
  char text[4096];
  const long length = read_file("/proc/self/status", text, sizeof text - 1);
  if (length <= 0) return 0;
  text[length] = '\0';
  const char* at = std::strstr(text, name);
  if (at == nullptr) return 0;
  for (at += std::strlen(name); *at == ' ' || *at == '\t';) ++at;
  std::size_t number = 0;
  for (; *at >= '0' && *at <= '9'; ++at) number = number * 10 + static_cast<std::size_t>(*at - '0');
  return number;
}

}  // namespace

std::size_t address_bytes() { return status_number("\nVmSize:") * 1024; }
std::size_t thread_count() { return status_number("\nThreads:"); }

std::uint32_t thread_id() { return static_cast<std::uint32_t>(syscall6(SYS_gettid)); }
void let_others_run() { syscall6(SYS_sched_yield); }

int change_limit(int process, int resource, const void* wanted, void* old) {
  return static_cast<int>(-syscall6(SYS_prlimit64, process, resource, to_long(wanted), to_long(old)));
}

}  // namespace tarn::internal::os
