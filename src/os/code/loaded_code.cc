#include "os/code/loaded_code.h"

#include <link.h>

#include <algorithm>
#include <cstring>

#include "base/bits.h"
#include "base/units.h"
#include "os/stack/loaded_file.h"
#include "os/syscall.h"

namespace tarn::internal::os {
namespace {

// Headers, and the build id or the start of the symbols.
constexpr std::size_t kCheckedBytes = 1024;

std::uint64_t check_of(std::uint64_t start) {
  const auto* const words = reinterpret_cast<const std::uint64_t*>(start);
  std::uint64_t check = 0;
  // Products that do not wait for each other: this is done for each new stack.
  for (std::size_t i = 0; i < kCheckedBytes / sizeof *words; ++i)
    check += (words[i] ^ words[i] >> 29) * (kGoldenRatio * (2 * i + 1));
  return check;
}

}  // namespace

bool look_up_code(std::uint64_t address, LoadedCode& code) {
  const std::optional<LoadedFile> found = loaded_file(address);
  if (!found || found->file == nullptr) return false;
  const std::uint64_t start = address_of(found->start);
  const char* const path = found->file->l_name;
  code = {start, address_of(found->end), found->file->l_addr, path[0] == '\0' ? 0 : check_of(start), path};
  return true;
}

namespace {

using Note = ElfW(Nhdr);

/// Whether a note with its name at an address is a build id that there is room for.
bool is_build_id(const Note& note, std::uint64_t name, std::size_t room) {
  return note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
         std::memcmp(reinterpret_cast<const void*>(name), "GNU", 4) == 0 && note.n_descsz <= room;
}

}  // namespace

// Of the notes in each part for notes.
std::uint32_t copy_build_id(const LoadedCode& code, unsigned char* to, std::size_t room) {
  std::uint32_t bytes = 0;
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(code.start);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return 0;
  const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(code.start + header->e_phoff);
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_NOTE) continue;
    const std::uint64_t align = std::max<std::uint64_t>(segments[i].p_align, 4);
    std::uint64_t at = code.base + segments[i].p_vaddr;
    for (const std::uint64_t end = at + segments[i].p_memsz; at + sizeof(Note) < end;) {
      const auto& note = *reinterpret_cast<const Note*>(at);
      const std::uint64_t name = at + sizeof note, content = name + round_up(note.n_namesz, align);
      if (is_build_id(note, name, room)) {
        bytes = note.n_descsz;
        std::memcpy(to, reinterpret_cast<const void*>(content), note.n_descsz);
      }
      at = content + round_up(note.n_descsz, align);
    }
  }
  return bytes;
}

std::size_t write_working_directory(char* to, std::size_t room) {
  const long count = syscall6(SYS_getcwd, to_long(to), to_long(room));
  if (count <= 0) return 0;
  to[count - 1] = '/';
  return static_cast<std::size_t>(count);
}

}  // namespace tarn::internal::os
