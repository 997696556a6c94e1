// The one way to stop the process: prints a line on standard error that names the error and the address, then
// raises SIGABRT. For errors of the program (double free and the like) and for broken invariants, never for
// running out of memory. Behind the line stand the block's size, where that is known, the thread, and the
// stack of the guilty call. The line also stands where libc has its own (__abort_msg, which crash reporters
// read), and in the name of a mapping, which a core file's notes list.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tarn::internal {

class Text;

namespace os {

/// \param block_bytes of the block that the address is in; 0: unknown.
[[noreturn, gnu::cold, gnu::noinline]] void fatal(const char* what, const void* address = nullptr,
                                                  std::size_t block_bytes = 0);

/// What follows the line about a misuse: the option at_misuse. Set once, before other threads.
enum class AtMisuse : std::uint8_t { kStop, kHandler, kReport };
inline constinit AtMisuse at_misuse{};

/// The same for a misuse after which the process may go on: where the program wants that, it only prints the
/// line. \param pool named too, unless it is nullptr. \param tell_more prints what else is known.
using TellMore = void (*)(const void* address);
[[gnu::cold, gnu::noinline]] void misuse(const char* what, const void* address, const char* pool = nullptr,
                                         std::size_t block_bytes = 0, TellMore tell_more = nullptr);

/// libc's pointer to the line of an abort; nullptr: it has none, or nobody has looked.
inline constinit std::atomic<void**> abort_message_of_libc{nullptr};

/// The same as fatal(), also naming the pool.
[[noreturn, gnu::cold, gnu::noinline]] void fatal_in_pool(const char* pool, const char* what,
                                                          const void* address, std::size_t block_bytes = 0);

/// Prints the size of the block, unless it is 0, the thread and its stack (os/stack/code_place.cc).
void tell_who(std::size_t block_bytes);

/// Prints the line that says why the process ends, and leaves it where those look who come later. \param line
/// with its end.
void tell_last_line(const Text& line);

/// Ends the process as a program's abort() does, or by its handler where at_misuse says so. Uses no libc: it
/// may be in the midst of something too.
[[noreturn]] void stop_process();

/// Writes one line to standard error.
void write_line(const char* text, std::size_t length);
void write_line(const Text& line);

}  // namespace os
}  // namespace tarn::internal

// Always on; for invariants that guard against corrupted memory.
#define TARN_CHECK(condition)                   \
  (__builtin_expect(!!(condition), 1) ? (void)0 \
                                      : ::tarn::internal::os::fatal("internal check failed: " #condition))

// Debug builds only.
#ifdef NDEBUG
#define TARN_ASSERT(condition) ((void)0)
#else
#define TARN_ASSERT(condition) TARN_CHECK(condition)
#endif
