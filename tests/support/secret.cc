#include "support/secret.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace tarn::test {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 20;
constexpr std::uint64_t kIsPresent = std::uint64_t{1} << 63, kIsSwapped = std::uint64_t{1} << 62;

struct Range {
  std::uintptr_t start, end;
};

/// What is read of the process, in an area of its own, which the search leaves out: between two guards, so
/// that the kernel joins it to no other.
class Window {
 public:
  Window() {
    void* const start = mmap(nullptr, kBytes + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bytes_ = static_cast<unsigned char*>(start) + kGuard;
    mprotect(bytes_, kBytes, PROT_READ | PROT_WRITE);
  }
  ~Window() { munmap(bytes_ - kGuard, kBytes + 2 * kGuard); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  unsigned char* bytes() const { return bytes_; }
  bool is(const Range& range) const { return range.start == reinterpret_cast<std::uintptr_t>(bytes_); }

 private:
  static constexpr std::size_t kGuard = 65536, kBytes = kWindow + kGuard;
  static_assert(kBytes >= kWindow + Secret::kBytes);

  unsigned char* bytes_;
};

std::vector<Range> readable_ranges() {
  std::vector<Range> ranges;
  const std::unique_ptr<FILE, int (*)(FILE*)> maps(std::fopen("/proc/self/maps", "re"), std::fclose);
  char line[512];
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    Range range{};
    char access = 0;
    if (std::sscanf(line, "%lx-%lx %c", &range.start, &range.end, &access) == 3 && access == 'r' &&
        std::strstr(line, "[v") == nullptr)
      ranges.push_back(range);
  }
  return ranges;
}

/// Calls visit(range) for each run of backed pages: of most addresses there are none.
template <typename Visit>
void for_each_backed(int pagemap, const Range& range, Visit visit) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t entries[512];
  Range run{};
  for (std::uintptr_t at = range.start; at < range.end;) {
    const std::size_t count = std::min<std::size_t>((range.end - at) / page, std::size(entries));
    const ssize_t got =
        pread(pagemap, entries, count * sizeof entries[0], static_cast<off_t>(at / page * sizeof entries[0]));
    if (got <= 0) break;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof entries[0]; ++i, at += page) {
      if ((entries[i] & (kIsPresent | kIsSwapped)) == 0) continue;
      if (run.end != at) {
        if (run.end != run.start) visit(run);
        run.start = at;
      }
      run.end = at + page;
    }
  }
  if (run.end != run.start) visit(run);
}

}  // namespace

Secret::Secret(std::uint64_t number) {
  std::uint64_t state = number * 0x9e3779b97f4a7c15u + 1;
  for (unsigned char& byte : hidden_) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<unsigned char>(state >> 56);
  }
}

// Byte by byte, so that no register or spilled one holds the whole.
void Secret::write(void* memory, std::size_t bytes) const {
  auto* const to = static_cast<volatile unsigned char*>(memory);
  for (std::size_t i = 0; i < bytes; ++i) to[i] = revealed(hidden_[i % kBytes]);
}

bool Secret::is_at(const void* memory) const {
  const auto* const from = static_cast<const volatile unsigned char*>(memory);
  for (std::size_t i = 0; i < kBytes; ++i)
    if (from[i] != revealed(hidden_[i])) return false;
  return true;
}

std::size_t Secret::count_in_process() const {
  const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  const Window window;
  std::size_t found = 0;
  const auto search = [&](std::uintptr_t start, std::size_t bytes) {
    const ssize_t got = pread(memory, window.bytes(), bytes, static_cast<off_t>(start));
    const unsigned char* at = window.bytes();
    const unsigned char* const end = at + std::max<ssize_t>(got, 0);
    while (end - at >= static_cast<std::ptrdiff_t>(kBytes)) {
      at = static_cast<const unsigned char*>(
          std::memchr(at, revealed(hidden_[0]), static_cast<std::size_t>(end - at) - kBytes + 1));
      if (at == nullptr) return;
      found += is_at(at++) ? 1 : 0;
    }
  };
  for (const Range& range : readable_ranges()) {
    if (window.is(range)) continue;
    for_each_backed(pagemap, range, [&](const Range& backed) {
      for (std::uintptr_t at = backed.start; at < backed.end; at += kWindow)
        search(at, std::min(kWindow + kBytes - 1, backed.end - at));
    });
  }
  close(pagemap);
  close(memory);
  return found;
}

std::string Secret::inverted() const {
  std::string text;
  char digits[3];
  for (const unsigned char byte : hidden_) {
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

}  // namespace tarn::test
