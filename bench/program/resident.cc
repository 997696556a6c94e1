// Resident memory from /proc. Not ru_maxrss, which begins with the peak of the process that started this one.
#include "resident.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace tarn::bench {
namespace {

long field_of(const char* text, const char* name) {
  const char* const line = std::strstr(text, name);
  return line == nullptr ? -1 : std::strtol(line + std::strlen(name), nullptr, 10);
}

}  // namespace

Resident resident_memory() {
  char text[4096];
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return {};
  text[length] = '\0';
  return {field_of(text, "VmHWM:"), field_of(text, "VmRSS:")};
}

void reset_peak_resident() {
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = write(file, "5", 1);
  close(file);
}

}  // namespace tarn::bench
