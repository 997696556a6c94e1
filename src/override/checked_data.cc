// The data of a shared library of tarn is ordered by the library's own locks and by atomic words, which
// Helgrind and DRD do not know. They are told so where the library is loaded. In the archives it lies among
// the program's own: for those there is tools/valgrind/tarn.supp.
#include <elf.h>
#include <link.h>

#include "base/units.h"
#include "os/checker.h"

// The linker's: the start of the file that this is in, as it lies in memory.
extern "C" [[gnu::visibility("hidden")]] const ElfW(Ehdr) __ehdr_start;

namespace {

[[gnu::constructor(101)]] void note_own_data() {
  using namespace tarn::internal;
  if (!os::is_on_valgrind()) return;
  const auto* const start = reinterpret_cast<const char*>(&__ehdr_start);
  const auto* const headers = reinterpret_cast<const ElfW(Phdr)*>(start + __ehdr_start.e_phoff);
  std::uintptr_t shift = 0;
  for (const auto* header = headers; header != headers + __ehdr_start.e_phnum; ++header) {
    if (header->p_type != PT_LOAD) continue;
    if (header->p_offset == 0) shift = address_of(start) - header->p_vaddr;
    if ((header->p_flags & PF_W) != 0)
      os::note_ordered_by_atomics(reinterpret_cast<const char*>(shift + header->p_vaddr), header->p_memsz);
  }
}

}  // namespace
