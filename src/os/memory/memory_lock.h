// mlockall for a process that has reserves: the system's own would count all of them against RLIMIT_MEMLOCK,
// and back the readable ones with page tables. Here the areas of the process are locked one by one, except
// the library's uncommitted addresses; os::commit locks those later, if future memory shall be locked.
// Threads: any, one such call at a time. No function here changes errno.
#pragma once

namespace tarn::internal::os {

/// \param flags those of mlockall. \returns 0, or the errno of mlockall.
int lock_all_memory(int flags);
int unlock_all_memory();

}  // namespace tarn::internal::os
