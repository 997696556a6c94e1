#include "os/process/process_status.h"

#include <cstring>

#include "os/process/process.h"
#include "os/syscall.h"

namespace tarn::internal::os {
namespace {

constexpr std::size_t kStatusBytes = 4096;

bool read_status(char (&text)[kStatusBytes]) {
  const long length = read_file("/proc/self/status", text, kStatusBytes - 1);
  if (length <= 0) return false;
  text[length] = '\0';
  return true;
}

/// \returns the number on the line that begins with `name`.
std::size_t status_number(const char* name) {
  char text[kStatusBytes];
  if (!read_status(text)) return 0;
  const std::size_t number = number_behind(name, text);
  return number == SIZE_MAX ? 0 : number;
}

}  // namespace

std::size_t number_behind(const char* name, const char* text) {
  const std::size_t length = std::strlen(name);
  while (std::strncmp(text, name, length) != 0) {
    text = std::strchr(text, '\n');
    if (text++ == nullptr) return SIZE_MAX;
  }
  text += length;
  text += std::strspn(text, " \t");
  if (*text < '0' || *text > '9') return SIZE_MAX;
  std::size_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) number = number * 10 + static_cast<std::size_t>(*text - '0');
  return number;
}

std::size_t address_bytes() { return status_number("VmSize:") * 1024; }
std::size_t thread_count() { return status_number("Threads:"); }

bool main_thread_has_ended() {
  char text[kStatusBytes];
  return read_status(text) && std::strstr(text, "\nState:\tZ") != nullptr;
}

std::uint32_t thread_id() { return static_cast<std::uint32_t>(syscall6(SYS_gettid)); }
void let_others_run() { syscall6(SYS_sched_yield); }

int change_limit(int process, int resource, const void* wanted, void* old) {
  return static_cast<int>(-syscall6(SYS_prlimit64, process, resource, to_long(wanted), to_long(old)));
}

}  // namespace tarn::internal::os
