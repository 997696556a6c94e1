// The calling process's memory as the kernel counts it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::test {

/// Resident bytes, from /proc/self/statm.
std::size_t resident_bytes();

/// All its addresses, which RLIMIT_AS limits.
std::size_t address_bytes();

/// Those from `start` to `end` that can be written.
std::size_t writable_bytes_between(std::uintptr_t start, std::uintptr_t end);

/// Whether a core file of the process would leave out the area that holds an address.
bool is_left_out_of_dumps(const void* pointer);

}  // namespace tarn::test
