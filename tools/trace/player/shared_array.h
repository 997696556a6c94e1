// Arrays of the replaying program itself. They are shared mappings, which the kernel does not count as
// anonymous memory: what it counts are the blocks of the replayed calls, and what their allocator needs.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace tarn::trace::player {

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "tarn_replay: %s\n", what);
  std::exit(1);
}

/// Zeros; never given back. \post ends the program if there is no memory
template <typename T>
T* shared_array(std::size_t count) {
  void* const array = mmap(nullptr, count * sizeof(T) + 1, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (array == MAP_FAILED) fail("no memory for the replay's own tables");
  return static_cast<T*>(array);
}

}  // namespace tarn::trace::player
