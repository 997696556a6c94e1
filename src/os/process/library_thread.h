// A thread of the library's: one that libc makes, detached, with its signals blocked.
#pragma once

namespace tarn::internal::os {

/// Starts a thread that runs `body` once. \pre no lock is held: libc allocates for it. \returns false when
/// the system refuses it. \threads any
bool start_thread(void (*body)());

/// Whether the process has no threads left but the library's: main may end before others. \cost a file of
/// /proc
bool is_last_thread();

}  // namespace tarn::internal::os
