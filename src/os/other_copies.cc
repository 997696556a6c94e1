#include "os/other_copies.h"

#include <errno.h>
#include <link.h>

#include <cstring>

#include "base/units.h"

namespace tarn::internal::os {
namespace {

constexpr std::uint32_t kNoteType = 2;  // 1 is the descriptor's, for tools
constexpr char kNoteOwner[8] = "tarn";  // with the bytes that fill it up

struct Note {
  std::uint32_t owner_bytes, distance_bytes, type;
  char owner[8];
  std::int64_t distance __attribute__((packed));  // from here to the copy

  bool is_ours() const {
    return owner_bytes == 5 && distance_bytes == 8 && type == kNoteType &&
           std::memcmp(owner, kNoteOwner, sizeof owner) == 0;
  }
  const LibraryCopy* copy() const {
    return reinterpret_cast<const LibraryCopy*>(reinterpret_cast<const char*>(this) +
                                                offsetof(Note, distance) + distance);
  }
};

/// \returns the copy that a part with notes tells of; nullptr: none.
const LibraryCopy* copy_in(const char* notes, std::size_t bytes) {
  while (bytes >= sizeof(Note)) {
    const auto* const note = reinterpret_cast<const Note*>(notes);
    if (note->is_ours()) return note->copy();
    const std::size_t size = 12 + round_up(note->owner_bytes, 4) + round_up(note->distance_bytes, 4);
    if (size > bytes) return nullptr;
    notes += size;
    bytes -= size;
  }
  return nullptr;
}

const LibraryCopy* copy_in(const dl_phdr_info& file) {
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = file.dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const auto* const notes = reinterpret_cast<const char*>(file.dlpi_addr + part.p_vaddr);
    if (const LibraryCopy* const copy = copy_in(notes, part.p_memsz)) return copy;
  }
  return nullptr;
}

const char* name_of(const dl_phdr_info& file) {
  return file.dlpi_name != nullptr && file.dlpi_name[0] != '\0' ? file.dlpi_name : program_invocation_name;
}

bool has_in_memory(const dl_phdr_info& file, std::uintptr_t address) {
  for (int i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = file.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && address - file.dlpi_addr - part.p_vaddr < part.p_memsz) return true;
  }
  return false;
}

/// Calls visit(file, copy) for each file that has a copy, this one's too.
template <typename Visit>
void for_each_copy(Visit visit) {
  const auto look_at = [](dl_phdr_info* file, std::size_t, void* to) {
    const LibraryCopy* const copy = copy_in(*file);
    if (copy != nullptr && copy->magic == LibraryCopy::kMagic) (*static_cast<Visit*>(to))(*file, *copy);
    return 0;
  };
  dl_iterate_phdr(look_at, &visit);
}

}  // namespace

bool is_code_beside_other_copy(const void* code) {
  bool is_found = false;
  for_each_copy([&](const dl_phdr_info& file, const LibraryCopy& copy) {
    is_found |= &copy != &tarn_library_copy && has_in_memory(file, address_of(code));
  });
  return is_found;
}

void add_other_copy(Text& line, const void* address) {
  if (tarn_library_copy.owns(address)) return;
  const char *this_file = "", *other_file = nullptr;
  for_each_copy([&](const dl_phdr_info& file, const LibraryCopy& copy) {
    if (&copy == &tarn_library_copy)
      this_file = name_of(file);
    else if (copy.owns(address))
      other_file = name_of(file);
  });
  if (other_file == nullptr) return;
  line.add(", of another copy of tarn: that one is in ").add(other_file).add(", this one in ").add(this_file);
  line.add("; link both with the shared library, or free each block where it was made");
}

}  // namespace tarn::internal::os

// The note: sizes of its owner's name and of the contents, its type, the name, and the distance to the copy.
asm(R"(
  .pushsection .note.tarn, "a", @note
  .balign 4
  .long 5, 8, 2
  .asciz "tarn"
  .balign 4
1: .quad tarn_library_copy - 1b
  .popsection
)");
