#include "observe/profile/code_modules.h"

#include <errno.h>
#include <link.h>

#include <algorithm>
#include <cstring>

#include "base/bits.h"
#include "base/printable.h"
#include "base/units.h"
#include "os/memory/memory.h"
#include "os/stack/loaded_file.h"
#include "os/syscall.h"

namespace tarn::internal {

/// What the loader says of an address.
struct LoadedCode {
  std::uint64_t start = 0, end = 0, base = 0, check = 0;
  const char* path = "";  // "": the program's own file
};

namespace {

constexpr std::size_t kTextBytes = std::size_t{256} << 10;
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

bool look_up(std::uint64_t address, LoadedCode& code) {
  const std::optional<os::LoadedFile> found = os::loaded_file(address);
  if (!found || found->file == nullptr) return false;
  const std::uint64_t start = address_of(found->start);
  const char* const path = found->file->l_name;
  code = {start, address_of(found->end), found->file->l_addr, path[0] == '\0' ? 0 : check_of(start), path};
  return true;
}

bool is_same(const CodeModule& module, const LoadedCode& code) {
  return module.start == code.start && module.end == code.end && module.check == code.check;
}

using Note = ElfW(Nhdr);

/// Whether a note with its name at an address is a build id that there is room for.
bool is_build_id(const Note& note, std::uint64_t name) {
  return note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
         std::memcmp(reinterpret_cast<const void*>(name), "GNU", 4) == 0 &&
         note.n_descsz <= CodeModule::kBuildIdBytes;
}

/// Copies the build id out of the notes of a loaded file.
void copy_build_id(const LoadedCode& code, CodeModule& module) {
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(code.start);
  if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(code.start + header->e_phoff);
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_NOTE) continue;
    const std::uint64_t align = std::max<std::uint64_t>(segments[i].p_align, 4);
    std::uint64_t at = code.base + segments[i].p_vaddr;
    for (const std::uint64_t end = at + segments[i].p_memsz; at + sizeof(Note) < end;) {
      const auto& note = *reinterpret_cast<const Note*>(at);
      const std::uint64_t name = at + sizeof note, content = name + round_up(note.n_namesz, align);
      if (is_build_id(note, name)) {
        module.build_id_bytes = note.n_descsz;
        std::memcpy(module.build_id, reinterpret_cast<const void*>(content), note.n_descsz);
      }
      at = content + round_up(note.n_descsz, align);
    }
  }
}

}  // namespace

constinit CodeModules code_modules;

CodeModule* CodeModules::newest(std::uint64_t address) const {
  for (std::uint32_t i = count_.load(std::memory_order_relaxed); i-- > 0;)
    if (modules_[i].has(address)) return &modules_[i];
  return nullptr;
}

const CodeModule* CodeModules::note(std::uint64_t address, std::uint32_t stack, Changed changed) {
  if (address - own_start_ < own_end_ - own_start_) return nullptr;
  CodeModule* const known = newest(address);
  LoadedCode code;
  bool is_loaded = look_up(address, code);
  // The program itself has no path here and is never unloaded: its range answers at once from now on.
  if (is_loaded && code.path[0] == '\0') {
    own_start_ = code.start;
    own_end_ = code.end;
    is_loaded = false;
  }
  const bool is_known = known != nullptr && is_loaded && is_same(*known, code);
  // What was known here has been unloaded, or loaded again at the same place.
  if (known != nullptr && (known->is_gone != 0) == is_known) {
    known->is_gone = is_known ? 0 : 1;
    changed(*known);
  }
  if (is_known) return known;
  return is_loaded ? add(code, stack) : nullptr;
}

void CodeModules::note_unloaded(Changed changed) {
  for (std::uint32_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) {
    CodeModule& module = modules_[i];
    LoadedCode code;
    if (module.is_gone != 0 || (look_up(module.start, code) && is_same(module, code))) continue;
    module.is_gone = 1;
    changed(module);
  }
}

// A relative path is one of the directory that the program is in now.
const char* CodeModules::keep_path(const char* path) {
  if (text_ == nullptr) text_ = static_cast<char*>(os::map(kTextBytes));
  if (text_ == nullptr) return nullptr;
  if (path[0] == '.' && path[1] == '/') path += 2;
  char* const kept = text_ + text_bytes_;
  const std::size_t room = kTextBytes - text_bytes_, bytes = std::strlen(path) + 1;
  std::size_t directory_bytes = 0;
  if (path[0] != '/') {
    const long count = os::syscall6(SYS_getcwd, os::to_long(kept), os::to_long(room));
    if (count > 0) kept[count - 1] = '/';
    directory_bytes = count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  if (bytes > room - directory_bytes) return nullptr;
  std::memcpy(kept + directory_bytes, path, bytes);
  text_bytes_ += directory_bytes + bytes;
  return kept;
}

const CodeModule* CodeModules::add(const LoadedCode& code, std::uint32_t stack) {
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  if (modules_ == nullptr) modules_ = static_cast<CodeModule*>(os::map(kMost * sizeof(CodeModule)));
  const char* const path = modules_ == nullptr || count == kMost ? nullptr : keep_path(code.path);
  if (path == nullptr) {
    // No address may be told as a module's that lay there before.
    for (std::uint32_t i = 0; i < count; ++i)
      if (modules_[i].start < code.end && code.start < modules_[i].end) modules_[i].end = modules_[i].start;
    return nullptr;
  }
  CodeModule& module = modules_[count];
  module = {code.start, code.end, code.base, code.check, path, stack, 0, 0, {}};
  copy_build_id(code, module);
  count_.store(count + 1, std::memory_order_release);
  return &module;
}

const CodeModule* CodeModules::find(std::uint32_t stack, std::uint64_t address) const {
  for (std::uint32_t i = count_.load(std::memory_order_acquire); i-- > 0;)
    if (modules_[i].first_stack <= stack && modules_[i].has(address)) return &modules_[i];
  return nullptr;
}

const CodeModule* CodeModules::find_gone(std::uint32_t stack, std::uint64_t address) const {
  const CodeModule* const module = find(stack, address);
  return module != nullptr && module->is_gone != 0 ? module : nullptr;
}

namespace {

LoadedModule module_of(const dl_phdr_info& info) {
  LoadedModule module{~std::uintptr_t{0}, 0, info.dlpi_addr, {}};
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_LOAD) continue;
    const std::uintptr_t start = info.dlpi_addr + info.dlpi_phdr[i].p_vaddr;
    if (start < module.start) module.start = start;
    if (start + info.dlpi_phdr[i].p_memsz > module.end) module.end = start + info.dlpi_phdr[i].p_memsz;
  }
  const char* const path = info.dlpi_name[0] != '\0' ? info.dlpi_name : program_invocation_name;
  // Of a path that is too long the end, which names the file.
  const std::size_t length = std::strlen(path);
  std::strncpy(module.path, length < LoadedModule::kPathBytes ? path : path + length - sizeof module.path + 1,
               sizeof module.path - 1);
  return module;
}

struct Listed {
  LoadedModule* modules;
  std::size_t room, count;
};

int note_module(dl_phdr_info* info, std::size_t, void* to) {
  auto& listed = *static_cast<Listed*>(to);
  if (listed.count == listed.room) return 1;
  listed.modules[listed.count++] = module_of(*info);
  return 0;
}

}  // namespace

bool is_of_library(const LoadedModule& module) {
  const std::string_view path = module.path;
  const std::string_view name = behind_front(path, path.rfind('/') + 1);
  return begins_with(name, "libtarn") && name.find(".so") != std::string_view::npos;
}

void LoadedModules::note_all() {
  Listed listed{modules_, room_, 0};
  dl_iterate_phdr(note_module, &listed);
  count_ = listed.count;
}

const LoadedModule* LoadedModules::find(std::uintptr_t address) const {
  for (std::size_t i = 0; i < count_; ++i)
    if (address - modules_[i].start < modules_[i].end - modules_[i].start) return &modules_[i];
  return nullptr;
}

bool LoadedModules::add_place(Text& text, std::uintptr_t address) const {
  const LoadedModule* const module = find(address);
  if (module == nullptr) return false;
  add_shown(text, module->path, LoadedModule::kPathBytes);
  text.add('+').add_hex(address - module->base);
  return true;
}

}  // namespace tarn::internal
