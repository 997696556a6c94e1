// The calling process's memory as the kernel counts it.
#pragma once
#include <cstddef>

namespace tarn::test {

/// Resident bytes, from /proc/self/statm.
std::size_t resident_bytes();

}  // namespace tarn::test
