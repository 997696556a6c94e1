#include "support/process_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace tarn::test {

std::size_t resident_bytes() {
  char text[128] = {};
  const int descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const ssize_t length = read(descriptor, text, sizeof text - 1);
  close(descriptor);
  std::size_t all = 0, resident = 0;
  if (length <= 0 || std::sscanf(text, "%zu %zu", &all, &resident) != 2) return 0;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace tarn::test
