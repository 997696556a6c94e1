// How the pools throw. Programs built without exceptions end with one line instead; they should call the
// functions that return nullptr.
#pragma once
#include <new>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// Ends the process: memory ran out in a function that would throw.
[[noreturn]] TARN_API void end_for_lack_of_memory() noexcept;

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_bad_alloc() {
#if defined(__cpp_exceptions)
  throw std::bad_alloc();
#else
  end_for_lack_of_memory();
#endif
}

/// \returns the block. \throws std::bad_alloc where there is none.
TARN_INLINE void* checked(void* block) {
  if (block == nullptr) [[unlikely]]
    throw_bad_alloc();
  return block;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_bad_array_length() {
#if defined(__cpp_exceptions)
  throw std::bad_array_new_length();
#else
  end_for_lack_of_memory();
#endif
}

}  // namespace TARN_NAMESPACE::detail
