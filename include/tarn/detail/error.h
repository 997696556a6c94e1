// How the pools throw: programs built without exceptions end with one line instead; they should call the
// functions that return nullptr. And how pools refuse to move.
#pragma once
#include <new>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// Ends the process: memory ran out in a function that would throw.
[[noreturn]] TARN_API void end_for_lack_of_memory() noexcept;

// Without exceptions these are inlined: a program of files with and without has no two of one name.
#if defined(__cpp_exceptions)
[[noreturn, gnu::cold, gnu::noinline]] TARN_LOCAL inline void throw_bad_alloc() { throw std::bad_alloc(); }
[[noreturn, gnu::cold, gnu::noinline]] TARN_LOCAL inline void throw_bad_array_length() {
  throw std::bad_array_new_length();
}
#else
[[noreturn]] TARN_INLINE void throw_bad_alloc() { end_for_lack_of_memory(); }
[[noreturn]] TARN_INLINE void throw_bad_array_length() { end_for_lack_of_memory(); }
#endif

/// \returns the block. \throws std::bad_alloc where there is none.
TARN_INLINE void* checked(void* block) {
  if (block == nullptr) [[unlikely]]
    throw_bad_alloc();
  return block;
}

/// What moves a pool comes here, and does not compile. \why not a deleted move: the standard library reports
/// that in sixty lines. So type traits say that pools move.
template <typename Pool>
void stop_at_move() {
  static_assert(sizeof(Pool) == 0,
                "a pool stays in place: keep pools in a std::deque, std::list or std::unique_ptr, or in a "
                "std::vector of a fixed size");
}

}  // namespace TARN_NAMESPACE::detail
