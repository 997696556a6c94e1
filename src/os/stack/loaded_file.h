// What the loader keeps of the file that an address is in.
// Source: glibc's _dl_find_object (2.35), which asks the loader without a lock. Older ones and musl lack it,
// and tell nothing; headers of theirs lack its declaration, so it is made here.
// Threads: any, in handlers of signals as well.
#pragma once
#include <link.h>

#include <cstdint>
#include <optional>

namespace tarn::internal::os {

/// As dl_find_object of glibc.
struct LoadedFile {
  unsigned long long flags;
  void* start;
  void* end;
  link_map* file;
  void* eh_frame;
  std::uint64_t reserved[9];  // and what processors other than x86-64 and aarch64 have
};

extern "C" [[gnu::weak]] int find_loaded_file(void* address, LoadedFile* result) noexcept
    __asm__("_dl_find_object");

/// Whether the loader can be asked.
inline bool tells_loaded_files() { return find_loaded_file != nullptr; }

/// \returns nothing where no file has the address, or the loader cannot be asked.
inline std::optional<LoadedFile> loaded_file(std::uintptr_t address) {
  LoadedFile found{};
  if (!tells_loaded_files() || find_loaded_file(reinterpret_cast<void*>(address), &found) != 0) return {};
  return found;
}

}  // namespace tarn::internal::os
