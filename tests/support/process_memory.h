// The calling process's memory as the kernel counts it.
#pragma once
#include <cstddef>

namespace tarn::test {

/// Resident bytes, from /proc/self/statm.
std::size_t resident_bytes();

/// All its addresses, which RLIMIT_AS limits; those of them that are private and writable, which RLIMIT_DATA
/// limits.
std::size_t address_bytes();
std::size_t writable_bytes();

/// Whether a core file of the process would leave out the area that holds an address.
bool is_left_out_of_dumps(const void* pointer);

}  // namespace tarn::test
