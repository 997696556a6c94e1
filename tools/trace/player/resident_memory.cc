// The texts of /proc.
#include "trace/player/resident_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "trace/player/shared_array.h"

namespace tarn::trace::player {
namespace {

constexpr std::size_t kTextBytes = 4096;

/// \returns false if there is no such file
bool read_text(const char* path, char (&text)[kTextBytes]) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t count = read(file, text, kTextBytes - 1);
  close(file);
  text[count > 0 ? count : 0] = '\0';
  return count > 0;
}

std::uint64_t quick_reading() {
  char text[kTextBytes];
  if (!read_text("/proc/self/statm", text)) fail("cannot read /proc/self/statm");
  char* next = text;
  std::strtoull(next, &next, 10);
  const std::uint64_t resident = std::strtoull(next, &next, 10);
  const std::uint64_t of_files = std::strtoull(next, &next, 10);
  return (resident - of_files) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::uint64_t anonymous_bytes(Reading reading) {
  constexpr char kField[] = "\nAnonymous:";
  char text[kTextBytes];
  if (reading == Reading::kQuick || !read_text("/proc/self/smaps_rollup", text)) return quick_reading();
  const char* const field = std::strstr(text, kField);
  return field == nullptr ? quick_reading() : std::strtoull(field + sizeof(kField) - 1, nullptr, 10) * 1024;
}

}  // namespace tarn::trace::player
