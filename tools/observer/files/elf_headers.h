// The segments and notes of an ELF file, wherever it is read from: read(at, into, bytes) tells whether it
// could. Each number in it may be forged.
#pragma once
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tarn::observer {

struct ElfHeaders {
  Elf64_Ehdr head;
  std::vector<Elf64_Phdr> segments;
};

/// \returns nothing where no 64-bit ELF file begins at 0, or one with more segments than `most`.
template <typename Read>
std::optional<ElfHeaders> elf_headers(Read read, unsigned most) {
  ElfHeaders headers;
  Elf64_Ehdr& head = headers.head;
  if (!read(0, &head, sizeof head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > most)
    return std::nullopt;
  headers.segments.resize(head.e_phnum);
  if (!read(head.e_phoff, headers.segments.data(), headers.segments.size() * sizeof(Elf64_Phdr)))
    return std::nullopt;
  return headers;
}

struct ElfNote {
  std::uint32_t type = 0;
  std::string_view owner;     // without its zero; of longer names than any that is looked for, the start
  std::uint64_t content = 0;  // where it lies: an offset or address, as the notes themselves
  std::uint64_t bytes = 0;
};

/// Calls visit(note) for each note from `at` to `end`.
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

// -- Whether this tool can read a program's records: it reads them as its own machine lays them out --------

bool is_elf(const Elf64_Ehdr& header);

/// \returns what keeps a program of that kind from being read, as "is ...: do ..."; "": nothing.
/// \pre is_elf(header)
std::string machine_obstacle(const Elf64_Ehdr& header);

/// The same by the machine alone.
std::string machine_obstacle(unsigned elf_machine);

}  // namespace tarn::observer
