// The one way to stop the process: prints a line on standard error that names the error and the address, then
// raises SIGABRT. For errors of the program (double free and the like) and for broken invariants, never for
// running out of memory.
#pragma once

namespace tarn::internal {

class Text;

namespace os {

[[noreturn, gnu::cold, gnu::noinline]] void fatal(const char* what, const void* address = nullptr);

/// The same, also naming the pool.
[[noreturn, gnu::cold, gnu::noinline]] void fatal_in_pool(const char* pool, const char* what,
                                                          const void* address);

/// Writes one line to standard error.
void write_line(const char* text, unsigned long length);
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
