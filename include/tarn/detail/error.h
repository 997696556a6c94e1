// How the pools throw. Programs without exceptions end with one line instead; those call the forms that
// return nullptr.
#pragma once
#include <new>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE::detail {

/// Ends the process: out of memory where an exception was asked for.
[[noreturn]] TARN_API void end_for_lack_of_memory() noexcept;

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_bad_alloc() {
#if defined(__cpp_exceptions)
  throw std::bad_alloc();
#else
  end_for_lack_of_memory();
#endif
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_bad_array_length() {
#if defined(__cpp_exceptions)
  throw std::bad_array_new_length();
#else
  end_for_lack_of_memory();
#endif
}

}  // namespace TARN_NAMESPACE::detail
