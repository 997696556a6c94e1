// mlockall for a process that holds reserves: the system's own would count them all against RLIMIT_MEMLOCK,
// and back the readable ones with page tables. Here the areas of the process are locked one by one, but for
// what the library has not committed; what it commits later is locked then (os::commit), if future memory is
// to be. Threads: any, one such call at a time. None of these changes errno.
#pragma once

namespace tarn::internal::os {

/// \param flags those of mlockall. \returns 0, or what mlockall would leave in errno.
int lock_all_memory(int flags);
int unlock_all_memory();

}  // namespace tarn::internal::os
