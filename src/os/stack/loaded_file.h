// What the loader keeps of the file that an address is in.
// Source: glibc's _dl_find_object (2.35), which asks the loader without a lock; older ones tell nothing.
// Threads: any, in handlers of signals as well.
#pragma once
#include <dlfcn.h>

#include <cstdint>
#include <optional>

#if !__GLIBC_PREREQ(2, 35)
// A library that is made with older headers asks a newer loader all the same.
struct dl_find_object {
  unsigned long long dlfo_flags;
  void *dlfo_map_start, *dlfo_map_end;
  struct link_map* dlfo_link_map;
  void* dlfo_eh_frame;
  unsigned long long reserved[7];
};
#endif

extern "C" [[gnu::weak]] int _dl_find_object(void* address, struct dl_find_object* result) noexcept;

namespace tarn::internal::os {

/// Whether the loader can be asked.
inline bool tells_loaded_files() { return _dl_find_object != nullptr; }

/// \returns nothing where no file has the address, or the loader cannot be asked.
inline std::optional<dl_find_object> loaded_file(std::uintptr_t address) {
  dl_find_object found{};
  if (!tells_loaded_files() || _dl_find_object(reinterpret_cast<void*>(address), &found) != 0) return {};
  return found;
}

}  // namespace tarn::internal::os
