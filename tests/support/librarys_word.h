// A word of the library's own data that the library does not use: what only that word names, the program has
// lost.
#pragma once
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tarn::test {

/// Whether a zero may be written: some of the data is only read once the library has begun.
inline bool is_writable(void** word) {
  const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const bool is = read(zeros, static_cast<void*>(word), sizeof *word) == sizeof *word;
  close(zeros);
  return is;
}

/// \returns a word of a long run of zeros in the writable data of a loaded libtarn*.so, or nullptr
inline void** librarys_word() {
  void** found = nullptr;
  const auto look_at = [](dl_phdr_info* info, std::size_t, void* result) {
    Dl_info library{};
    void* const function = dlsym(RTLD_DEFAULT, "tarn_visit_metadata_ranges");
    if (function == nullptr || dladdr(function, &library) == 0) return 1;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info->dlpi_phdr[i];
      const auto lowest = reinterpret_cast<std::uintptr_t>(library.dli_fbase);
      if (info->dlpi_addr != lowest || part.p_type != PT_LOAD || (part.p_flags & PF_W) == 0) continue;
      const auto* const words = reinterpret_cast<void**>((info->dlpi_addr + part.p_vaddr + 4095) & ~4095ul);
      auto* const end = const_cast<void**>(words) + (part.p_memsz - 4096) / sizeof(void*);
      constexpr std::ptrdiff_t kRun = 2048;
      for (void** run = const_cast<void**>(words) + 8192;; run += kRun) {
        run = std::search_n(run, end, kRun, nullptr);
        if (run == end) break;
        if (is_writable(run + kRun / 2)) return *static_cast<void***>(result) = run + kRun / 2, 1;
      }
    }
    return 0;
  };
  dl_iterate_phdr(look_at, &found);
  return found;
}

}  // namespace tarn::test
