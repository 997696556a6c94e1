#include "loaded_image.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace tarn::profile {
namespace {

constexpr unsigned kMostSegments = 64;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30, kPageBytes = 4096;

/// Copies what can be read; a page that cannot stays a hole.
void copy_segment(const ReadMemory& read, std::uint64_t from, std::uint64_t bytes, int to,
                  std::uint64_t offset) {
  std::vector<std::byte> part(std::size_t{1} << 20);
  for (std::uint64_t at = 0; at < bytes;) {
    const std::size_t wanted = std::min<std::uint64_t>(part.size(), bytes - at);
    const std::size_t got = read(from + at, part.data(), wanted);
    if (pwrite(to, part.data(), got, static_cast<off_t>(offset + at)) != static_cast<ssize_t>(got)) return;
    at += got == wanted ? got : got + kPageBytes;
  }
}

/// The loader has added to addresses in the table of dynamic symbols how far the file is from its place.
void take_back_bias(int image, const Elf64_Phdr& segment, std::uint64_t bias) {
  std::vector<Elf64_Dyn> entries(std::min<std::uint64_t>(segment.p_filesz, kPageBytes) / sizeof(Elf64_Dyn));
  const std::size_t bytes = entries.size() * sizeof(Elf64_Dyn);
  const auto offset = static_cast<off_t>(segment.p_offset);
  if (pread(image, entries.data(), bytes, offset) != static_cast<ssize_t>(bytes)) return;
  for (Elf64_Dyn& entry : entries)
    for (const Elf64_Sxword tag : {DT_SYMTAB, DT_STRTAB, DT_HASH, DT_GNU_HASH, DT_VERSYM})
      if (entry.d_tag == tag && entry.d_un.d_ptr >= bias) entry.d_un.d_ptr -= bias;
  if (pwrite(image, entries.data(), bytes, offset) != static_cast<ssize_t>(bytes)) return;
}

}  // namespace

observer::InputFile loaded_image(const ReadMemory& read, std::uint64_t start) {
  Elf64_Ehdr head;
  if (read(start, &head, sizeof head) != sizeof head || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > kMostSegments)
    return {};
  std::vector<Elf64_Phdr> segments(head.e_phnum);
  const std::size_t bytes = segments.size() * sizeof(Elf64_Phdr);
  if (read(start + head.e_phoff, segments.data(), bytes) != bytes) return {};
  observer::InputFile image(memfd_create("tarn-image", MFD_CLOEXEC));
  std::uint64_t bias = start, left = kMostBytes;
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && segment.p_offset < kPageBytes)
      bias = start - segment.p_vaddr + segment.p_offset;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || segment.p_filesz > left || segment.p_offset > kMostBytes) continue;
    copy_segment(read, bias + segment.p_vaddr, segment.p_filesz, image.descriptor(), segment.p_offset);
    left -= segment.p_filesz;
  }
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_DYNAMIC) take_back_bias(image.descriptor(), segment, bias);
  head.e_shoff = 0;
  head.e_shnum = head.e_shstrndx = 0;
  if (pwrite(image.descriptor(), &head, sizeof head, 0) != sizeof head) return {};
  return image;
}

}  // namespace tarn::profile
