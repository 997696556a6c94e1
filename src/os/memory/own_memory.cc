#include "os/memory/own_memory.h"

#include <fcntl.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "os/checker.h"
#include "os/process/process.h"
#include "os/syscall.h"

namespace tarn::internal::os {
namespace {

int open_to_read(const char* path, int flags = 0) {
  return static_cast<int>(syscall6(SYS_openat, AT_FDCWD, to_long(path), O_RDONLY | O_CLOEXEC | flags, 0));
}

long pread(int file, void* to, std::size_t bytes, std::uintptr_t at) {
  return syscall6(SYS_pread64, file, to_long(to), to_long(bytes), static_cast<long>(at));
}

void* pointer_to(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

long read_by_call(const AddressRange* ranges, unsigned count, char* to) {
  iovec from[OwnMemory::kMostRanges];
  std::size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    from[i] = {pointer_to(ranges[i].start), ranges[i].end - ranges[i].start};
    bytes += from[i].iov_len;
  }
  const iovec whole{to, bytes};
  return syscall6(SYS_process_vm_readv, process_id(), to_long(&whole), 1, to_long(from), count, 0);
}

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
  const int list = open_to_read("/proc/self/maps");
  if (list < 0) return false;
  char text[kBufferBytes];
  std::size_t kept = 0;
  long count = 0;
  do {
    count = syscall6(SYS_read, list, to_long(text + kept), to_long(sizeof text - kept));
    if (count == -EINTR) continue;
    if (count <= 0) break;
    const std::size_t length = kept + static_cast<std::size_t>(count);
    const std::size_t used = visit_lines({text, length}, visit, context);
    // A line may end in the next read; one that is longer than the storage ends the walk.
    kept = length - used;
    if (kept == sizeof text) break;
    std::memmove(text, text + used, kept);
  } while (true);
  close_file(list);
  return count == 0 && kept == 0;
}

// The tools that replace malloc bring a library of their own besides the core's, but into no static program.
bool valgrind_serves_malloc() {
  if (!is_on_valgrind()) return false;
  bool is_found = false;
  for_each_mapping([&](const Mapping& mapping) {
    constexpr auto kNowhere = std::string_view::npos;
    is_found |=
        mapping.path.find("/vgpreload_") != kNowhere && mapping.path.find("/vgpreload_core") == kNowhere;
  });
  return is_found;
}

OwnMemory::OwnMemory() {
  if (makes_common_calls_only()) return;
  char probed = 1, copy = 0;
  const AddressRange probe{reinterpret_cast<std::uintptr_t>(&probed),
                           reinterpret_cast<std::uintptr_t>(&probed) + 1};
  page_map_ = open_to_read("/proc/self/pagemap");
  if (read_by_call(&probe, 1, &copy) == 1) {
    way_ = Way::kCall;
    return;
  }
  // A container's filter may forbid the call, but not the file.
  memory_ = open_to_read("/proc/self/mem");
  if (memory_ >= 0 && read_file(&probe, 1, &copy) == 1) way_ = Way::kFile;
}

OwnMemory::~OwnMemory() {
  if (memory_ >= 0) close_file(memory_);
  if (page_map_ >= 0) close_file(page_map_);
}

long OwnMemory::read_file(const AddressRange* ranges, unsigned count, char* to) const {
  long copied = 0;
  for (unsigned i = 0; i < count; ++i) {
    const std::size_t bytes = ranges[i].end - ranges[i].start;
    const long got = pread(memory_, to + copied, bytes, ranges[i].start);
    if (got > 0) copied += got;
    if (got != static_cast<long>(bytes)) break;
  }
  return copied;
}

std::size_t OwnMemory::read(const AddressRange* ranges, unsigned count, char* to) const {
  const long copied = way_ == Way::kCall ? read_by_call(ranges, count, to) : read_file(ranges, count, to);
  return copied > 0 ? static_cast<std::size_t>(copied) : 0;
}

AddressRange OwnMemory::next_written(AddressRange within) const {
  constexpr std::uint64_t kPresentOrSwapped = std::uint64_t{3} << 62;
  constexpr std::size_t kMostEntries = 512;
  const std::size_t page = page_bytes();
  AddressRange run{0, 0};
  for (std::uintptr_t at = within.start & ~(page - 1); at < within.end;) {
    std::uint64_t entries[kMostEntries];
    const long got =
        page_map_ < 0 ? -1 : pread(page_map_, entries, sizeof entries, at / page * sizeof entries[0]);
    // Where the kernel does not tell, all counts as written.
    if (got < static_cast<long>(sizeof entries[0]))
      return run.start != 0 ? AddressRange{run.start, within.end} : within;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof entries[0] && at < within.end; ++i) {
      const bool is_written = (entries[i] & kPresentOrSwapped) != 0;
      if (!is_written && run.start != 0) return run;
      if (is_written && run.start == 0) run.start = at < within.start ? within.start : at;
      at += page;
      if (is_written) run.end = at < within.end ? at : within.end;
    }
  }
  return run.start != 0 ? run : AddressRange{within.end, within.end};
}

namespace {

// As the kernel writes directories.
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[1];
};

/// Visits the numbers of a line such as "202 0x7f.. 0x80 .. 0x7ffd.. 0x7f..", which is "running" of a thread
/// that does not wait.
void visit_numbers(const char* text, std::size_t length, void (*visit)(std::uintptr_t, void*),
                   void* context) {
  std::uintptr_t number = 0;
  bool is_in_number = false;
  for (std::size_t i = 0; i <= length; ++i) {
    const char digit = i < length ? text[i] : ' ';
    if (is_in_number && hex_value(digit) >= 0) {
      number = number * 16 + static_cast<std::uintptr_t>(hex_value(digit));
    } else if (digit == 'x') {
      is_in_number = true;
      number = 0;
    } else if (is_in_number) {
      is_in_number = false;
      visit(number, context);
    }
  }
}

void visit_words_of(const char* thread, void (*visit)(std::uintptr_t, void*), void* context) {
  FixedText<64> path;
  path.add("/proc/self/task/").add(thread).add("/syscall").add('\0');
  char line[256];
  const long length = read_file(path.data(), line, sizeof line);
  if (length > 0) visit_numbers(line, static_cast<std::size_t>(length), visit, context);
}

}  // namespace

void visit_words_of_waiting_threads(void (*visit)(std::uintptr_t word, void* context), void* context) {
  const int folder = open_to_read("/proc/self/task", O_DIRECTORY);
  if (folder < 0) return;
  alignas(Entry) char entries[2048];
  for (long bytes; (bytes = syscall6(SYS_getdents64, folder, to_long(entries), sizeof entries)) > 0;)
    for (long at = 0; at < bytes;) {
      const auto& entry = *reinterpret_cast<const Entry*>(entries + at);
      if (entry.name[0] != '.') visit_words_of(entry.name, visit, context);
      at += entry.bytes;
    }
  close_file(folder);
}

}  // namespace tarn::internal::os
