// What the loader keeps of the file that an address is in.
// Source: glibc's _dl_find_object (2.35), which asks the loader without a lock; older ones tell nothing.
// Threads: any, in handlers of signals as well.
#pragma once
#include <dlfcn.h>

#include <cstdint>
#include <optional>

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
