// Time, environment and files of the process. Nothing here allocates.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::internal::os {

/// Monotonic milliseconds; resolution a few milliseconds. \cost ~10 ns without a system call
std::uint64_t clock_ms();
std::uint64_t clock_ns();

/// \returns the value of an environment variable, or nullptr. Works even before libc has set `environ` up.
/// In a set-uid or set-gid program always nullptr.
const char* environment(const char* name);
bool is_privileged();

/// Reads up to `capacity` bytes; goes on after a signal. \returns the count, or -1 when the file cannot be
/// read, were it only in part.
long read_file(const char* path, char* storage, std::size_t capacity);

/// Creates or replaces a file for writing. \returns a descriptor or -1.
int create_file(const char* path);
/// Goes on after a signal. \returns 0, or the error (as in errno) that ended it before all was written.
int write_all(int descriptor, const char* data, std::size_t bytes);
void close_file(int descriptor);

inline constexpr int kUnknownStatus = -1;
/// Has a function called when the process ends by exit, after those that are registered later.
/// \param at_exit gets the status; kUnknownStatus where libc does not tell it (musl).
void call_at_exit(void (*at_exit)(int status, void*));

std::uint32_t process_id();

/// Whether the calling thread runs under a filter of system calls.
bool seccomp_is_active();

/// Lets every process trace this one that the kernel's other checks let: those of its user. Of use where
/// Yama's ptrace_scope is 1. It holds for no child. \returns 0, or the error: EINVAL without Yama, which then
/// asks for nothing.
int let_any_process_trace();

/// Both halves of a product, as one word: nothing leads back from it.
constexpr std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline constexpr unsigned kSecrets = 4, kFirstSecretOfGuards = 2;
/// A random number that only the process knows, the same each time. \param number below kSecrets: which.
std::uint64_t process_secret(unsigned number);
/// Whether the kernel places what it maps at random: not so under a debugger, mostly.
bool is_placed_at_random();

/// The OS page, in bytes.
std::size_t page_bytes();

/// Resident bytes of the process (/proc/self/statm), 0 when unknown.
std::size_t resident_bytes();

}  // namespace tarn::internal::os
