// For tests: what a block of statements may allocate. A failure is GoogleTest's or Catch2's, at the line of
// the macro; their header comes first. Without either, it is a line on standard error and abort().
//
//   #include <gtest/gtest.h>  // or Catch2's
//   #include <tarn/testing.h>
//
//   TARN_EXPECT_NO_ALLOCATION { parser.parse(line); }
//   TARN_EXPECT_PEAK_BELOW(1 << 20) { load(file); }
//
// Counted are the calls of malloc, operator new, tarn::allocate and their kin that the thread makes in the
// block, each of them: a realloc counts as one allocation, and so does what the block's exceptions and the
// libraries it calls take. Not those of other threads, and no blocks of pools, heaps and arenas.
//
// The program's malloc must be tarn's: link tarn::malloc, or preload libtarn.so; else the test fails. Where a
// checker has malloc (AddressSanitizer, ThreadSanitizer, Valgrind), nothing is checked.
//
// The block is the body of a `for`: a `break` or `continue` in it ends the block, not a loop around it. The
// compiler takes it for one that may be passed over: where a function's only `return` is in it, -Wreturn-type
// warns.
//
// Threads: any, each with its own scopes, which end where they began; scopes may be nested. Cost: within a
// scope each call of its thread takes the slow path; none elsewhere.
#pragma once
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// Of one thread, from the beginning of a scope on.
struct ScopedCalls {
  ScopedCalls* outer = nullptr;
  const void* thread = nullptr;  // its heap; nullptr: nothing is counted
  std::size_t allocations = 0;
  std::ptrdiff_t live_bytes = 0;  // of blocks that it was given, less those it has freed
  std::ptrdiff_t peak_bytes = 0;  // the most that live_bytes was
};

enum class Counting : unsigned char {
  kOn,
  kOff,        // a checker has malloc
  kImpossible  // malloc is not tarn's, or the thread has no heap
};

TARN_API Counting begin_counting(ScopedCalls& calls) noexcept;
/// Stops the process in another thread than the one that began, and where it has ended before.
TARN_API void end_counting(ScopedCalls& calls) noexcept;

class TestScope {
 public:
  using Fail = void (*)(const char* message);

  TARN_LOCAL TestScope(std::size_t most_allocations, std::size_t peak_below, Fail fail)
      : most_allocations_(most_allocations),
        peak_below_(peak_below),
        fail_(fail),
        counting_(begin_counting(calls_)) {}
  TestScope(const TestScope&) = delete;
  TestScope& operator=(const TestScope&) = delete;
  /// Tells a failure, unless an exception leaves the scope.
  TARN_LOCAL ~TestScope() noexcept(false) {
    end_counting(calls_);
    if (std::uncaught_exceptions() != exceptions_) return;
    if (counting_ == Counting::kOn)
      tell_excess();
    else if (counting_ == Counting::kImpossible)
      fail_("allocations are not counted: malloc is not tarn's (link tarn::malloc or preload it)");
  }

  bool runs_once() { return !std::exchange(has_run_, true); }

 private:
  void tell_excess() const {
    const auto peak = static_cast<std::size_t>(calls_.peak_bytes);
    if (calls_.allocations <= most_allocations_ && peak < peak_below_) return;
    char message[160];
    std::snprintf(message, sizeof message,
                  "%zu allocations, of which %zu bytes were live at most; `tarn run --profile 1` tells whose",
                  calls_.allocations, peak);
    fail_(message);
  }

  ScopedCalls calls_;
  const std::size_t most_allocations_, peak_below_;
  const Fail fail_;
  const Counting counting_;
  const int exceptions_ = std::uncaught_exceptions();
  bool has_run_ = false;
};

}  // namespace TARN_NAMESPACE::detail

#if defined(ADD_FAILURE)
#define TARN_FAIL_TEST_(text) ADD_FAILURE() << (text)
#elif defined(FAIL_CHECK)
#define TARN_FAIL_TEST_(text) FAIL_CHECK(text)
#elif defined(CATCH_FAIL_CHECK)
#define TARN_FAIL_TEST_(text) CATCH_FAIL_CHECK(text)
#else
#define TARN_FAIL_TEST_(text) \
  static_cast<void>(std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, text)), std::abort()
#endif
#define TARN_JOIN_2_(a, b) a##b
#define TARN_JOIN_(a, b) TARN_JOIN_2_(a, b)
// No name hides another of the program's, or of a block around it.
#define TARN_TEST_SCOPE_(name, most_allocations, peak_below)                                              \
  for (::tarn::detail::TestScope name(most_allocations, peak_below,                                       \
                                      [](const char* tarn_message_) { TARN_FAIL_TEST_(tarn_message_); }); \
       name.runs_once();)

/// The test fails if the statement or block behind it allocates.
#define TARN_EXPECT_NO_ALLOCATION \
  TARN_TEST_SCOPE_(TARN_JOIN_(tarn_no_allocation_, __LINE__), 0, ~std::size_t{0})
/// The test fails if what the thread has live rises by so many bytes or more in the block behind it: its
/// blocks, as the library rounds them, less those that it frees meanwhile. One above 256 KiB may be a freed
/// one of half as much again.
#define TARN_EXPECT_PEAK_BELOW(bytes) \
  TARN_TEST_SCOPE_(TARN_JOIN_(tarn_peak_, __LINE__), ~std::size_t{0}, static_cast<std::size_t>(bytes))
