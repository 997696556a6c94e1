// How the pools throw: programs built without exceptions end with one line instead; they should call the
// functions that return nullptr. And how pools refuse to move, and what they do at their end.
#pragma once
#include <cstdint>
#include <new>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE {

/// The fate of objects, or of buffers, that are live when their pool ends.
enum class AtPoolEnd : std::uint8_t {
  kReport,  // one line on standard error; they stay valid, as with kHandOver
  // Destructors run in address order; a destructor may neither destroy nor create other objects. Buffers end;
  // no handle of theirs may be used any more, nor end.
  kDestroy,
  // Objects stay valid; call the destructor, then tarn::deallocate frees the memory. Buffers stay valid; the
  // last handle, or tarn::deallocate, frees them.
  kHandOver,
};

namespace detail {

/// Ends the process: memory ran out in a function that would throw.
[[noreturn]] TARN_API void end_for_lack_of_memory() noexcept;

// Without exceptions these are inlined: a program of files with and without has no two of one name.
#if defined(__cpp_exceptions)
[[noreturn]] TARN_COLD TARN_NOINLINE TARN_LOCAL inline void throw_bad_alloc() { throw std::bad_alloc(); }
[[noreturn]] TARN_COLD TARN_NOINLINE TARN_LOCAL inline void throw_bad_array_length() {
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

}  // namespace detail
}  // namespace TARN_NAMESPACE
