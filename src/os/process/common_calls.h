// Whether the library limits itself to the system calls that every malloc needs.
// Threads: any.
#pragma once
#include <atomic>

namespace tarn::internal::os {

inline constinit std::atomic<bool> are_calls_common_only{false};
/// The program will have its own filter for system calls: from now on only calls are made that every malloc
/// needs (mmap, munmap, mprotect), because some filters end the process for any other call. Memory still goes
/// back; hints are not given.
inline void make_common_calls_only() { are_calls_common_only.store(true, std::memory_order_relaxed); }
inline bool makes_common_calls_only() { return are_calls_common_only.load(std::memory_order_relaxed); }

}  // namespace tarn::internal::os
