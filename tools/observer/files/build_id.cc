#include "observer/files/build_id.h"

#include <elf.h>
#include <fmt/format.h>

#include "observer/files/elf_headers.h"

namespace tarn::observer {
namespace {

constexpr std::size_t kLongestId = 64;

std::optional<std::string> id_among(const ReadHead& read, const Elf64_Phdr& notes) {
  std::optional<std::string> id;
  if (notes.p_filesz > kElfHeadBytes || notes.p_offset > kElfHeadBytes - notes.p_filesz) return id;
  for_each_note(read, notes.p_offset, notes.p_offset + notes.p_filesz, notes.p_align,
                [&](const ElfNote& note) {
                  if (note.type != NT_GNU_BUILD_ID || note.owner != ELF_NOTE_GNU) return;
                  if (note.bytes == 0 || note.bytes > kLongestId) return;
                  std::string content(note.bytes, '\0');
                  if (read(note.content, content.data(), content.size())) id = std::move(content);
                });
  return id;
}

}  // namespace

std::string in_hex(const std::string& id) {
  std::string text;
  for (const char byte : id) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::optional<std::string> build_id_in(const ReadHead& read) {
  Elf64_Ehdr header;
  if (!read(0, &header, sizeof header) || !is_elf(header)) return std::nullopt;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return std::nullopt;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part;
    const std::uint64_t offset = header.e_phoff + i * sizeof part;
    if (header.e_phoff > kElfHeadBytes || offset > kElfHeadBytes - sizeof part) return std::nullopt;
    if (!read(offset, &part, sizeof part)) return std::nullopt;
    if (part.p_type != PT_NOTE) continue;
    if (std::optional<std::string> id = id_among(read, part)) return id;
  }
  return std::nullopt;
}

std::optional<std::string> build_id_in(const InputFile& file) {
  return build_id_in(
      [&](std::uint64_t at, void* into, std::size_t bytes) { return file.read_all(at, into, bytes); });
}

}  // namespace tarn::observer
