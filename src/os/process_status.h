// What the kernel knows of the calling process and thread. Threads: any. None of these changes errno.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::internal::os {

/// All of its addresses, as RLIMIT_AS counts them; 0 when unknown.
std::size_t address_bytes();

/// Its threads, the library's own too; 0 when unknown.
std::size_t thread_count();

std::uint32_t thread_id();
void let_others_run();

/// prlimit. \returns 0, or what it would leave in errno.
int change_limit(int process, int resource, const void* wanted, void* old);

}  // namespace tarn::internal::os
