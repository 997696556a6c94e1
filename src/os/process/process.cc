#include "os/process/process.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/units.h"
#include "os/syscall.h"

namespace tarn::internal::os {
namespace {

// Before libc's constructors `environ` is null although the kernel has written the environment: then /proc is
// read, once.
constexpr std::size_t kEarlyEnvironmentBytes = 16 * 1024;
char early_environment[kEarlyEnvironmentBytes];
long early_environment_bytes = -2;

const char* early_environment_value(const char* name, std::size_t name_length) {
  if (early_environment_bytes == -2)
    early_environment_bytes = read_file("/proc/self/environ", early_environment, kEarlyEnvironmentBytes - 1);
  for (long at = 0; at < early_environment_bytes;) {
    const char* entry = early_environment + at;
    if (std::strncmp(entry, name, name_length) == 0 && entry[name_length] == '=')
      return entry + name_length + 1;
    at += static_cast<long>(std::strlen(entry)) + 1;
  }
  return nullptr;
}

}  // namespace

std::uint64_t clock_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000000;
}

std::uint64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000 + static_cast<std::uint64_t>(now.tv_nsec);
}

bool is_privileged() { return getauxval(AT_SECURE) != 0; }

const char* environment(const char* name) {
  if (is_privileged()) return nullptr;
  const std::size_t length = std::strlen(name);
  if (environ == nullptr) return early_environment_value(name, length);
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  return nullptr;
}

long read_file(const char* path, char* storage, std::size_t capacity) {
  const long descriptor = syscall6(SYS_openat, AT_FDCWD, to_long(path), O_RDONLY | O_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  std::size_t length = 0;
  while (length < capacity) {
    const long count = syscall6(SYS_read, descriptor, to_long(storage + length), to_long(capacity - length));
    if (count == -EINTR) continue;
    if (count < 0) return close_file(static_cast<int>(descriptor)), -1;
    if (count == 0) break;
    length += static_cast<std::size_t>(count);
  }
  close_file(static_cast<int>(descriptor));
  return static_cast<long>(length);
}

int create_file(const char* path) {
  return static_cast<int>(syscall6(SYS_openat, AT_FDCWD, to_long(path),
                                   O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
}

int write_all(int descriptor, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const long count = syscall6(SYS_write, descriptor, to_long(data), to_long(bytes));
    if (count == -EINTR) continue;
    if (count <= 0) return count == 0 ? EIO : static_cast<int>(-count);
    data += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return 0;
}

void close_file(int descriptor) { syscall6(SYS_close, descriptor); }

namespace {

constinit std::atomic<std::uint64_t> secrets[kSecrets]{};

// The kernel's random bytes have other uses: from a product of them nothing leads back.
std::uint64_t make_secret(unsigned number) {
  constexpr std::uint64_t kOdd[kSecrets] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0xff51afd7ed558ccd,
                                            0xc4ceb9fe1a85ec53};
  std::uint64_t random[2] = {address_of(secrets), address_of(&number)};
  if (const unsigned long bytes = getauxval(AT_RANDOM); bytes != 0)
    std::memcpy(random, reinterpret_cast<const void*>(bytes), sizeof random);
  return folded(random[0] ^ kOdd[number], random[1] ^ kOdd[number ^ 1]) | 1;
}

}  // namespace

// Every thread that finds none makes the same.
std::uint64_t process_secret(unsigned number) {
  const std::uint64_t known = secrets[number].load(std::memory_order_relaxed);
  if (known != 0) [[likely]]
    return known;
  const std::uint64_t made = make_secret(number);
  secrets[number].store(made, std::memory_order_relaxed);
  return made;
}

// The kernel's random bytes lie near the start of the first stack, which is at the end of all addresses then.
bool is_placed_at_random() {
  constexpr std::uintptr_t kEnd = std::uintptr_t{1} << 47, kNearEnd = std::uintptr_t{1} << 20;
  return getauxval(AT_RANDOM) < kEnd - kNearEnd;
}

std::size_t page_bytes() { return static_cast<std::size_t>(getauxval(AT_PAGESZ)); }

#if defined(__GLIBC__)
void call_at_exit(void (*at_exit)(int status, void*)) { static_cast<void>(on_exit(at_exit, nullptr)); }
#else
namespace {
void (*called_at_exit)(int status, void*) = nullptr;
}
void call_at_exit(void (*at_exit)(int status, void*)) {
  called_at_exit = at_exit;
  static_cast<void>(std::atexit([] { called_at_exit(kUnknownStatus, nullptr); }));
}
#endif

std::uint32_t process_id() { return static_cast<std::uint32_t>(syscall6(SYS_getpid)); }

bool seccomp_is_active() { return syscall6(SYS_prctl, PR_GET_SECCOMP) != 0; }

int let_any_process_trace() {
  return static_cast<int>(-syscall6(SYS_prctl, PR_SET_PTRACER, static_cast<long>(PR_SET_PTRACER_ANY)));
}

std::size_t resident_bytes() {
  char text[128];
  const long length = read_file("/proc/self/statm", text, sizeof text - 1);
  if (length <= 0) return 0;
  text[length] = '\0';
  const char* at = std::strchr(text, ' ');
  std::size_t pages = 0;
  if (at != nullptr)
    for (++at; *at >= '0' && *at <= '9'; ++at) pages = pages * 10 + static_cast<std::size_t>(*at - '0');
  return pages * page_bytes();
}

}  // namespace tarn::internal::os
