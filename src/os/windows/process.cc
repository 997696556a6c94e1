// Time, environment and files of a process of Windows.
#include "os/process/process.h"

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/units.h"
#include "os/process/kept_by_runtimes.h"
#include "os/windows/system.h"

namespace tarn::internal::os {

std::uint64_t clock_ms() { return GetTickCount64(); }

std::uint64_t clock_ns() {
  LARGE_INTEGER frequency{}, counted{};
  QueryPerformanceFrequency(&frequency);
  QueryPerformanceCounter(&counted);
  const auto per_second = static_cast<std::uint64_t>(frequency.QuadPart);
  const auto ticks = static_cast<std::uint64_t>(counted.QuadPart);
  return ticks / per_second * 1'000'000'000 + ticks % per_second * 1'000'000'000 / per_second;
}

bool is_privileged() { return false; }

// The runtime's list stays where it is until the program changes the variable.
const char* environment(const char* name) { return std::getenv(name); }

long read_file(const char* path, char* storage, std::size_t capacity) {
  const int file = _open(path, _O_RDONLY | _O_BINARY);
  if (file < 0) return -1;
  std::size_t length = 0;
  int count = 0;
  while (length < capacity &&
         (count = _read(file, storage + length, static_cast<unsigned>(capacity - length))) > 0)
    length += static_cast<std::size_t>(count);
  _close(file);
  return count < 0 ? -1 : static_cast<long>(length);
}

int create_file(const char* path) {
  return _open(path, _O_WRONLY | _O_CREAT | _O_TRUNC | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
}

int write_all(int descriptor, const char* data, std::size_t bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  while (bytes > 0) {
    const int count = _write(descriptor, data, static_cast<unsigned>(bytes < kMost ? bytes : kMost));
    if (count <= 0) return count == 0 ? EIO : errno;
    data += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return 0;
}

void close_file(int descriptor) { _close(descriptor); }

std::uint32_t process_id() { return GetCurrentProcessId(); }

bool seccomp_is_active() { return false; }

// Whoever may open the process may trace it.
int let_any_process_trace() { return EINVAL; }

namespace {

std::uint64_t make_secret() {
  std::uint64_t random = 0;
  if (SystemFunction036(&random, sizeof random) == 0)
    random = folded(clock_ns() ^ address_of(&random), process_id() * 0x9e3779b97f4a7c15);
  return random | 1;
}

}  // namespace

// Whoever comes first says it for all.
std::uint64_t process_secret(unsigned number) {
  static constinit std::atomic<std::uint64_t> secrets[kSecrets]{};
  const std::uint64_t known = secrets[number].load(std::memory_order_relaxed);
  if (known != 0) [[likely]]
    return known;
  std::uint64_t none = 0;
  const std::uint64_t made = make_secret();
  return secrets[number].compare_exchange_strong(none, made) ? made : none;
}

bool is_placed_at_random() { return true; }

std::size_t page_bytes() { return 4096; }

std::size_t resident_bytes() {
  PROCESS_MEMORY_COUNTERS counters{};
  return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) != 0
             ? counters.WorkingSetSize
             : 0;
}

// Their heap is another one.
void visit_kept_by_runtimes(void (*)(const void* word, void* context), void*) {}

}  // namespace tarn::internal::os
