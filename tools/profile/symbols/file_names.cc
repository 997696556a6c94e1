#include "profile/symbols/file_names.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "observer/files/elf_headers.h"
#include "observer/files/input_file.h"
#include "profile/files/symbol_file.h"
#include "profile/symbols/jit_names.h"

namespace tarn::profile {
namespace {

// -- A program or library out of the memory of a process that has it loaded ------------------------------
//
// The file may be gone, or be another one by now. Its segments are there, not its sections: of its functions,
// those it exports have names.

constexpr unsigned kMostSegments = 64;
constexpr std::uint64_t kLargestImage = std::uint64_t{1} << 30, kPageBytes = 4096;

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

/// \param start where the file's first byte lies
/// \returns a file in memory; not open: nothing of ELF is there.
observer::InputFile loaded_image(const ReadMemory& read, std::uint64_t start) {
  const auto read_all = [&](std::uint64_t at, void* into, std::size_t bytes) {
    return read(start + at, into, bytes) == bytes;
  };
  std::optional<observer::ElfHeaders> headers = observer::elf_headers(read_all, kMostSegments);
  if (!headers) return {};
  auto& [head, segments] = *headers;
  observer::InputFile image(memfd_create("tarn-image", MFD_CLOEXEC));
  std::uint64_t bias = start, left = kLargestImage;
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && segment.p_offset < kPageBytes)
      bias = start - segment.p_vaddr + segment.p_offset;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || segment.p_filesz > left || segment.p_offset > kLargestImage) continue;
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

// -- Names -----------------------------------------------------------------------------------------------

/// Whether the file's first segment would lie in memory where one of its mappings starts.
bool is_loaded_at(const HeapProfile& profile, const ProfileModule& module, const SymbolFile& file,
                  std::uint64_t bias) {
  const auto first = file.first_segment();
  return first &&
         std::any_of(profile.modules.begin(), profile.modules.end(), [&](const ProfileModule& other) {
           return other.path == module.path && other.start == first->second + bias &&
                  other.file_offset == first->first;
         });
}

/// \returns how far the file's addresses are from where they lie in memory. A page of the file may belong to
/// two segments; then the one that agrees with where the file begins in memory.
std::optional<std::uint64_t> bias_of(const HeapProfile& profile, const ProfileModule& module,
                                     const SymbolFile& file) {
  std::optional<std::uint64_t> found;
  const std::vector<std::uint64_t> addresses = file.addresses_at(module.file_offset);
  for (auto address = addresses.rbegin(); address != addresses.rend(); ++address) {
    const std::uint64_t bias = module.start - *address;
    if (is_loaded_at(profile, module, file, bias)) return bias;
    if (!found) found = bias;
  }
  return found;
}

/// The file that a module was loaded from, and what there is to say of it.
struct Found {
  std::optional<SymbolFile> file = {};
  std::string remark = {};

  bool has(observer::InputFile opened, const ProfileModule& module, const std::string& path,
           const SymbolPlaces& places) {
    if (!opened.is_open()) return false;
    file.emplace(std::move(opened), path, places.files);
    if (file->is_elf() && file->build_id() == module.build_id) return true;
    file.reset();
    return false;
  }
};

Found find_file(const ProfileModule& module, const SymbolPlaces& places) {
  Found found;
  if (module.does_not_answer)
    return {.remark = "lies on a file system that does not answer: its functions have no names"};
  const bool is_gone = module.path.ends_with(kDeleted);
  const std::string path = module.path.substr(0, module.path.size() - (is_gone ? kDeleted.size() : 0));
  observer::InputFile now = places.files.open(path);
  const bool is_there = now.is_open();
  // Without a build id nothing tells a file that was replaced from its like.
  if ((!is_gone || !module.build_id.empty()) && found.has(std::move(now), module, path, places)) return found;
  if (places.open_mapping && module.first_end != 0 &&
      found.has(places.open_mapping(module.start, module.first_end), module, path, places))
    return found;
  const bool was_replaced = is_there && !is_gone;
  if (places.read_memory && module.first_end != 0 && module.file_offset == 0 &&
      found.has(loaded_image(places.read_memory, module.start), module, path, places)) {
    found.remark = "was deleted or replaced since the program loaded it: what it does not export has no name";
    return found;
  }
  found.remark =
      was_replaced ? "is not the file that the program loaded (another build id): its functions have no names"
      : is_gone    ? "was deleted or replaced since the program loaded it: its functions have no names"
                   : "cannot be read as a program or library: its functions have no names";
  return found;
}

void name_by_jit(const std::vector<std::uint64_t>& addresses, const JitNames& names, const TakeFrames& take) {
  for (const std::uint64_t address : addresses) {
    const std::optional<std::string> name = names.name_at(address - 1);
    take(address, name ? std::vector<Frame>{{.function = name_in_words(*name)}} : std::vector<Frame>{});
  }
}

}  // namespace

std::string name_addresses(const HeapProfile& profile, const AddressesByModule& addresses,
                           const SymbolPlaces& places, const TakeFrames& take) {
  const std::size_t first = addresses.begin()->first;
  Found found;
  if (first != Location::kNoModule && profile.modules[first].path.starts_with('/'))
    found = find_file(profile.modules[first], places);
  if (!found.file) {
    const JitNames names = places.open_jit_names ? JitNames(places.open_jit_names()) : JitNames();
    for (const auto& [module, own] : addresses) name_by_jit(own, names, take);
    return found.remark;
  }
  for (const auto& [module, own] : addresses) {
    const std::optional<std::uint64_t> bias = bias_of(profile, profile.modules[module], *found.file);
    for (const std::uint64_t address : own)
      take(address, bias ? found.file->frames_at(address - 1 - *bias) : std::vector<Frame>{});
  }
  return found.remark;
}

}  // namespace tarn::profile
