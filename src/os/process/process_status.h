// The kernel's figures about the calling process and thread. Threads: any. No function here changes errno.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tarn::internal::os {

/// The number behind `name` in a text, where a line begins with it; SIZE_MAX: there is none.
std::size_t number_behind(const char* name, const char* text);

/// Bytes of all addresses of the process, as RLIMIT_AS counts them; 0 when unknown.
std::size_t address_bytes();

/// Threads of the process, the library's included, and main until the others have ended; 0 when unknown.
std::size_t thread_count();

/// Whether the main thread has left the process to others.
bool main_thread_has_ended();

std::uint32_t thread_id();
void let_others_run();

/// prlimit. \returns 0, or the errno of prlimit.
int change_limit(int process, int resource, const void* wanted, void* old);

}  // namespace tarn::internal::os
