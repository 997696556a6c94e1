#include "support/process_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace tarn::test {

namespace {

struct Pages {
  std::size_t all, resident, data;
};

Pages read_pages() {
  char text[128] = {};
  const int descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const ssize_t length = read(descriptor, text, sizeof text - 1);
  close(descriptor);
  Pages pages{};
  if (length <= 0 ||
      std::sscanf(text, "%zu %zu %*u %*u %*u %zu", &pages.all, &pages.resident, &pages.data) != 3)
    return {};
  return pages;
}

std::size_t os_page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

std::size_t resident_bytes() { return read_pages().resident * os_page_bytes(); }
std::size_t address_bytes() { return read_pages().all * os_page_bytes(); }
std::size_t writable_bytes() { return read_pages().data * os_page_bytes(); }

}  // namespace tarn::test
