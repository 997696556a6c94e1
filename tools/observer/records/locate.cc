#include "observer/records/locate.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "observe/descriptor.h"
#include "observer/files/elf_headers.h"
#include "observer/process/attached_process.h"
#include "observer/process/residency.h"

namespace tarn::observer {
namespace {

using internal::ObserveDescriptor;

constexpr std::uint64_t kMostNoteBytes = 64 * 1024;
constexpr std::uint64_t kNoteAlignment = 4;
constexpr unsigned kMostSegmentsOfFile = 128;
constexpr unsigned kMostNotes = 16384;   // segments of notes, of all files of a program
constexpr unsigned kMostLibraries = 16;  // of which the first one that has begun is read

/// A note's contents.
struct NotePlace {
  Address address;
  std::uint64_t bytes;
};

/// \returns the place of tarn's note among those of a segment; bytes 0: it has none.
NotePlace find_in_notes(const Source& source, Address start, std::uint64_t bytes) {
  NotePlace found{};
  if (bytes > kMostNoteBytes) return found;
  std::vector<std::byte> notes(bytes);
  if (!source.read_all(start, notes.data(), notes.size())) return found;
  const auto read = [&](std::uint64_t at, void* into, std::size_t count) {
    if (at > bytes || count > bytes - at) return false;
    std::memcpy(into, notes.data() + at, count);
    return true;
  };
  for_each_note(read, 0, bytes, kNoteAlignment, [&](const ElfNote& note) {
    if (found.bytes == 0 && note.type == ObserveDescriptor::kNoteType &&
        note.owner == ObserveDescriptor::kNoteName)
      found = {start + note.content, note.bytes};
  });
  return found;
}

Address descriptor_by(const Source& source, const NotePlace& note) {
  std::int64_t distance = 0;
  if (note.bytes != sizeof distance || !source.read_all(note.address, &distance, sizeof distance)) return 0;
  return note.address + static_cast<std::uint64_t>(distance);
}

/// \returns 0 when the file has no note of tarn's. \param notes_left how many segments of notes may be read.
Address descriptor_of_file(const Source& source, Address start, unsigned& notes_left) {
  constexpr std::uint64_t kOsPageMask = 4095;
  const auto read = [&](std::uint64_t at, void* into, std::size_t bytes) {
    return source.read_all(start + at, into, bytes);
  };
  const std::optional<ElfHeaders> headers = elf_headers(read, kMostSegmentsOfFile);
  if (!headers) return 0;
  Address lowest = UINT64_MAX;
  for (const Elf64_Phdr& segment : headers->segments)
    if (segment.p_type == PT_LOAD) lowest = std::min<Address>(lowest, segment.p_vaddr & ~kOsPageMask);
  for (const Elf64_Phdr& segment : headers->segments) {
    if (segment.p_type != PT_NOTE) continue;
    if (notes_left == 0) return 0;
    --notes_left;
    const NotePlace note = find_in_notes(source, start - lowest + segment.p_vaddr, segment.p_filesz);
    if (note.bytes != 0) return descriptor_by(source, note);
  }
  return 0;
}

/// Whether the library has handed out memory. \why a program may contain one copy that nobody calls.
bool has_begun(const Source& source, Address descriptor) {
  try {
    const Layout layout = Layout::read(source, descriptor);
    const auto regions = read_number(source, layout.root("page_map"), layout.field("page_map.region_count"));
    return regions.value_or(0) != 0;
  } catch (const ObserveError&) {
    return false;
  }
}

/// Whether code of the file is mapped too. \why a server may have mapped a file that somebody sent it, with a
/// note of its own.
bool is_loaded(const Source& source, const Mapping& start) {
  const auto is_code = [&](const Mapping& mapping) {
    return mapping.is_executable && mapping.path == start.path;
  };
  return source.kind() != SourceKind::kProcess || std::ranges::any_of(source.mappings(), is_code);
}

/// Where files begin in memory: first the files that have their first page there. \why to read another page
/// asks the file system, which may never answer; the library's own was read when it was loaded.
std::vector<const Mapping*> starts_of_files(const Source& source) {
  std::vector<const Mapping*> starts;
  for (const Mapping& mapping : source.mappings())
    if (mapping.is_readable && mapping.offset == 0) starts.push_back(&mapping);
  if (source.kind() != SourceKind::kProcess) return starts;
  const InputFile pagemap = kernel_file(source, "pagemap");
  std::stable_partition(starts.begin(), starts.end(), [&](const Mapping* mapping) {
    return pagemap.is_open() && is_present(pagemap, mapping->start);
  });
  return starts;
}

}  // namespace

std::optional<Located> locate(const Source& source) {
  std::optional<Located> first;
  unsigned notes_left = kMostNotes, libraries_left = kMostLibraries;
  for (const Mapping* const mapping : starts_of_files(source)) {
    const Address descriptor = descriptor_of_file(source, mapping->start, notes_left);
    if (descriptor == 0 || !is_loaded(source, *mapping)) continue;
    if (libraries_left-- == 0) break;
    const Located found{descriptor, mapping->path};
    if (has_begun(source, descriptor)) return found;
    if (!first) first = found;
  }
  return first;
}

Layout layout_of(const Source& source) {
  const std::optional<Located> located = locate(source);
  if (!located) throw ObserveError(fmt::format("{} runs without tarn", source.program()));
  return Layout::read(source, located->descriptor);
}

Layout layout_with(const Source& source, std::string_view field, std::string_view lacks) {
  Layout layout = layout_of(source);
  if (!layout.find_field(field))
    throw ObserveError(
        fmt::format("tarn {} in {} {}: it is too old", layout.version(), source.program(), lacks));
  return layout;
}

}  // namespace tarn::observer
