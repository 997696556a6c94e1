# Which of core_sources are this system's. os/ has a second implementation of the same headers; above it, what
# only serves tools of Linux, from outside or by the process's list of mappings, is not built elsewhere.
if(WIN32)
  set(linux_sources os/checker.cc os/other_copies.cc os/process_end.cc os/code/faults.cc
      os/code/loaded_code.cc os/locks/kernel.cc os/memory/available_memory.cc os/memory/memory.cc
      os/memory/memory_lock.cc os/memory/own_memory.cc os/process/kept_by_runtimes.cc
      os/process/library_thread.cc os/process/process.cc os/process/process_status.cc
      os/process/processors.cc os/process/thread_end.cc os/stack/code_place.cc os/stack/eh_frame.cc
      os/stack/program_frames.cc os/stack/stack_bounds.cc os/stack/unwind.cc
      observe/descriptor.cc observe/record_ranges.cc observe/profile/loaded_modules.cc)
  list(REMOVE_ITEM core_sources ${linux_sources})
  list(FILTER core_sources EXCLUDE REGEX "^observe/leaks/")
else()
  list(FILTER core_sources EXCLUDE REGEX "^os/windows/")
endif()
