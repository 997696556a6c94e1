// Large blocks of the hardened library: each lies between OS pages that fault, and waits without memory when
// it was freed. In the plain one there are no guards, and nothing waits.
// Threads: any; the block is the caller's.
#pragma once
#include <cstddef>

#include "os/process/process.h"
#include "page/give_back/returned_pages.h"
#include "page/spans/span.h"

namespace tarn::internal {

/// \returns the bytes of a guard: one OS page; 0 in the plain library.
inline std::size_t large_guard_bytes() { return detail::kIsHardened ? os::page_bytes() : 0; }

/// \returns how many bytes of a large block its program may use.
inline std::size_t usable_bytes_of_large(const Span& span) {
  if constexpr (!detail::kIsHardened) return span.bytes();
  return __atomic_load_n(&span.stride, __ATOMIC_RELAXED) * large_guard_bytes();
}

/// Puts the guards of a block about it: behind, and before one that need not be aligned to more than an OS
/// page. \pre the span has room for both, and its pages are zeros.
void place_between_guards(Span& span, std::size_t size, std::size_t alignment);

/// \returns false when the block can't stay where it is.
bool resize_between_guards(Span& span, std::size_t size, ReturnedPages& returned);

/// Frees a block: its pages fault, and its addresses wait in a quarantine.
void quarantine_large(Span& span, ReturnedPages& returned);

/// Gives back the addresses that wait in the quarantine. \returns whether there were some.
bool end_quarantine();

}  // namespace tarn::internal
