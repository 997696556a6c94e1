#include "os/memory/mappings.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "os/process/process.h"
#include "os/syscall.h"

namespace tarn::internal::os {
namespace {

constexpr std::size_t kBufferBytes = 8 * 1024;  // a path has at most 4 KiB

/// Takes a hexadecimal number and one character behind it from the front. \returns false when there is none.
bool take_number(std::string_view& text, std::uintptr_t& number) {
  number = 0;
  std::size_t at = 0;
  for (int digit; at < text.size() && (digit = hex_value(text[at])) >= 0; ++at)
    number = number * 16 + static_cast<std::uintptr_t>(digit);
  if (at == 0 || at == text.size()) return false;
  text.remove_prefix(at + 1);
  return true;
}

/// Visits the whole lines of a text. \returns the bytes of them.
std::size_t visit_lines(std::string_view text, void (*visit)(const Mapping&, void*), void* context) {
  std::size_t at = 0;
  for (std::size_t end; (end = text.find('\n', at)) != std::string_view::npos; at = end + 1)
    if (Mapping mapping; parse_mapping({text.data() + at, end - at}, mapping)) visit(mapping, context);
  return at;
}

}  // namespace

// start-end rwxp offset device inode   path
bool parse_mapping(std::string_view line, Mapping& mapping) {
  if (!take_number(line, mapping.range.start) || !take_number(line, mapping.range.end)) return false;
  if (mapping.range.end < mapping.range.start || line.size() < 4) return false;
  mapping.is_readable = line[0] == 'r';
  mapping.is_writable = line[1] == 'w';
  for (int word = 0; word < 4; ++word) {
    const std::size_t space = line.find(' ');
    line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
  }
  const std::size_t first = line.find_first_not_of(' ');
  mapping.path = first == std::string_view::npos ? std::string_view() : behind_front(line, first);
  return true;
}

bool visit_mappings(void (*visit)(const Mapping& mapping, void* context), void* context) {
  const long descriptor = syscall6(SYS_openat, AT_FDCWD, to_long("/proc/self/maps"), O_RDONLY | O_CLOEXEC, 0);
  if (descriptor < 0) return false;
  char text[kBufferBytes];
  std::size_t kept = 0;
  long count = 0;
  do {
    count = syscall6(SYS_read, descriptor, to_long(text + kept), to_long(sizeof text - kept));
    if (count == -EINTR) continue;
    if (count <= 0) break;
    const std::size_t length = kept + static_cast<std::size_t>(count);
    const std::size_t used = visit_lines({text, length}, visit, context);
    kept = length - used;
    if (kept == sizeof text) break;
    std::memmove(text, text + used, kept);
  } while (true);
  close_file(static_cast<int>(descriptor));
  return count == 0 && kept == 0;
}

}  // namespace tarn::internal::os
