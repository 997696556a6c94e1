#include "support/process_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

namespace tarn::test {

namespace {

struct Pages {
  std::size_t all, resident;
};

Pages read_pages() {
  char text[128] = {};
  const int descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const ssize_t length = read(descriptor, text, sizeof text - 1);
  close(descriptor);
  Pages pages{};
  if (length <= 0 || std::sscanf(text, "%zu %zu", &pages.all, &pages.resident) != 2) return {};
  return pages;
}

std::size_t os_page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

std::size_t resident_bytes() { return read_pages().resident * os_page_bytes(); }
std::size_t address_bytes() { return read_pages().all * os_page_bytes(); }

std::size_t writable_bytes_between(std::uintptr_t start, std::uintptr_t end) {
  const std::unique_ptr<FILE, int (*)(FILE*)> areas(std::fopen("/proc/self/maps", "re"), std::fclose);
  std::size_t bytes = 0;
  char line[512];
  while (std::fgets(line, sizeof line, areas.get()) != nullptr) {
    std::uintptr_t first = 0, last = 0;
    char may_write = 0;
    if (std::sscanf(line, "%lx-%lx %*c%c", &first, &last, &may_write) != 3 || may_write != 'w') continue;
    if (first < end && start < last) bytes += std::min(last, end) - std::max(first, start);
  }
  return bytes;
}

bool is_left_out_of_dumps(const void* pointer) {
  const auto address = reinterpret_cast<unsigned long>(pointer);
  const std::unique_ptr<FILE, int (*)(FILE*)> areas(std::fopen("/proc/self/smaps", "re"), std::fclose);
  bool is_here = false;
  char line[512];
  while (std::fgets(line, sizeof line, areas.get()) != nullptr) {
    unsigned long start = 0, end = 0;
    char space = 0;
    if (std::sscanf(line, "%lx-%lx%c", &start, &end, &space) == 3 && space == ' ')
      is_here = start <= address && address < end;
    if (is_here && std::strncmp(line, "VmFlags:", 8) == 0) return std::strstr(line, " dd") != nullptr;
  }
  return false;
}

}  // namespace tarn::test
