// What the library asks of the process around it: time, environment, files, a helper thread. Nothing here allocates.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::internal::os {

/// Monotonic milliseconds; resolution a few milliseconds. \cost ~10 ns, no system call.
std::uint64_t clock_ms();

/// Value of an environment variable, or nullptr. Also right before libc has set `environ` up.
/// In a set-uid or set-gid program always nullptr.
const char* environment(const char* name);
bool is_privileged();

/// Reads up to `capacity` bytes. \returns the count, or -1 when the file cannot be read.
long read_file(const char* path, char* storage, std::size_t capacity);

/// Creates or replaces a file for writing. \returns a descriptor or -1.
int create_file(const char* path);
bool write_all(int descriptor, const char* data, std::size_t bytes);
void close_file(int descriptor);

std::uint32_t process_id();

/// The MMU's unit.
std::size_t page_bytes();

/// Resident bytes of the process (/proc/self/statm), 0 when unknown.
std::size_t resident_bytes();

/// Starts a thread that libc does not know of: it runs `body` once, has no thread-local storage, no signals reach it,
/// and it never keeps the process alive. \pre one helper at a time; body must not touch thread_local data or libc.
enum class HelperStart : std::uint8_t { kStarted, kLastOneStillEnds, kRefused };  // refused: by seccomp, a limit, a sanitizer
HelperStart start_helper(void (*body)());

/// In the child of a fork, where no helper runs.
void forget_helper_after_fork();

}  // namespace tarn::internal::os
