#include "profile/files/plain_sections.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tarn::profile {
namespace {

using observer::InputFile;

constexpr std::uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD, which Debian 12's elf.h does not have
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31;

struct Compressed {
  std::uint64_t header_at;
  Elf64_Shdr header;
  std::uint64_t bytes;  // once it is not
};

std::vector<Compressed> sections_by_zstd(const InputFile& file) {
  std::vector<Compressed> sections;
  Elf64_Ehdr head;
  if (!file.read_all(0, &head, sizeof head) || head.e_shentsize != sizeof(Elf64_Shdr)) return sections;
  for (unsigned i = 0; i < head.e_shnum; ++i) {
    Compressed section{head.e_shoff + i * sizeof(Elf64_Shdr), {}, 0};
    Elf64_Chdr how;
    if (!file.read_all(section.header_at, &section.header, sizeof section.header)) break;
    if ((section.header.sh_flags & SHF_COMPRESSED) == 0 || section.header.sh_size < sizeof how) continue;
    if (!file.read_all(section.header.sh_offset, &how, sizeof how) || how.ch_type != kZstd) continue;
    section.bytes = how.ch_size;
    section.header.sh_addralign = how.ch_addralign;
    sections.push_back(section);
  }
  return sections;
}

std::vector<std::byte> plain_bytes(const InputFile& file, const Compressed& section) {
  std::vector<std::byte> packed(section.header.sh_size - sizeof(Elf64_Chdr)), plain(section.bytes);
  if (!file.read_all(section.header.sh_offset + sizeof(Elf64_Chdr), packed.data(), packed.size())) return {};
  const std::size_t bytes = ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size());
  return bytes == plain.size() ? plain : std::vector<std::byte>{};
}

bool write_all(int descriptor, std::uint64_t at, const void* bytes, std::size_t count) {
  return pwrite(descriptor, bytes, count, static_cast<off_t>(at)) == static_cast<ssize_t>(count);
}

bool copy(const InputFile& from, int to) {
  std::vector<std::byte> part(std::size_t{1} << 20);
  std::uint64_t at = 0;
  while (const std::size_t bytes = from.read(at, part.data(), part.size())) {
    if (!write_all(to, at, part.data(), bytes)) return false;
    at += bytes;
  }
  return true;
}

}  // namespace

InputFile with_plain_sections(InputFile file) {
  const std::vector<Compressed> sections = sections_by_zstd(file);
  std::uint64_t end = file.bytes();
  for (const Compressed& section : sections)
    if (section.bytes > kMostBytes || section.header.sh_size > file.bytes()) return file;
  if (sections.empty() || end > kMostBytes) return file;
  InputFile plain(memfd_create("tarn-plain", MFD_CLOEXEC));
  if (!plain.is_open() || !copy(file, plain.descriptor())) return file;
  for (Compressed section : sections) {
    const std::vector<std::byte> bytes = plain_bytes(file, section);
    end = (end + 63) / 64 * 64;
    section.header.sh_flags &= ~std::uint64_t{SHF_COMPRESSED};
    section.header.sh_offset = end;
    section.header.sh_size = bytes.size();
    if (!write_all(plain.descriptor(), end, bytes.data(), bytes.size()) ||
        !write_all(plain.descriptor(), section.header_at, &section.header, sizeof section.header))
      return file;
    end += bytes.size();
  }
  return plain;
}

}  // namespace tarn::profile
