// Gives back the library's unused addresses, for a program that limits its address space while it runs. Later
// addresses are reserved in small regions.
#pragma once
#include <cstddef>

namespace tarn::internal {

/// \returns how many bytes release_unused_reserves would give back.
std::size_t unused_reserve_bytes();

/// Gives nothing back while the library's locks cannot be taken, as in a child of _Fork. \returns bytes
/// given back. Threads: any.
std::size_t release_unused_reserves();

}  // namespace tarn::internal
