// The notes of an ELF file, wherever it is read from.
#pragma once
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tarn::observer {

struct ElfNote {
  std::uint32_t type = 0;
  std::string_view owner;     // without its zero; of longer names than any that is looked for, the start
  std::uint64_t content = 0;  // where it lies: an offset or address, as the notes themselves
  std::uint64_t bytes = 0;
};

/// Calls visit(note) for each note from `at` to `end`; read(at, into, bytes) tells whether it could.
/// \why a limit: a forged file can hold a note per 12 bytes of a terabyte.
template <typename Read, typename Visit>
void for_each_note(Read read, std::uint64_t at, std::uint64_t end, std::uint64_t alignment, Visit visit) {
  const std::uint64_t mask = (alignment == 8 ? 8 : 4) - 1;
  for (int i = 0; i < 1 << 20; ++i) {
    Elf64_Nhdr header;
    if (end < at || end - at < sizeof header || !read(at, &header, sizeof header)) return;
    const std::uint64_t name_bytes = (header.n_namesz + std::uint64_t{3}) & ~std::uint64_t{3};
    const std::uint64_t content = (sizeof header + name_bytes + mask) & ~mask;
    const std::uint64_t whole = (content + header.n_descsz + mask) & ~mask;
    if (content + header.n_descsz > end - at) return;
    char name[16] = {};
    const std::size_t shown = header.n_namesz < sizeof name ? header.n_namesz : sizeof name - 1;
    if (!read(at + sizeof header, name, shown)) return;
    visit(ElfNote{header.n_type, std::string_view(name), at + content, header.n_descsz});
    if (whole > end - at) return;
    at += whole;
  }
}

}  // namespace tarn::observer
