// The library's addresses that hold nothing yet, given up for a program that limits its address space while
// it runs. Later ones are taken in small regions.
#pragma once
#include <cstddef>

namespace tarn::internal {

/// \returns bytes that release_unused_reserves would give up.
std::size_t unused_reserve_bytes();

/// Nothing is given up while the library's locks cannot be had, as in a child that _Fork made. \returns bytes
/// given up. Threads: any.
std::size_t release_unused_reserves();

}  // namespace tarn::internal
