#include "observe/profile/code_modules.h"

#include <cstring>

#include "base/bits.h"
#include "base/printable.h"
#include "base/units.h"
#include "os/code/loaded_code.h"
#include "os/memory/memory.h"

namespace tarn::internal {

namespace {

constexpr std::size_t kTextBytes = std::size_t{256} << 10;

bool is_same(const CodeModule& module, const os::LoadedCode& code) {
  return module.start == code.start && module.end == code.end && module.check == code.check;
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
  os::LoadedCode code;
  bool is_loaded = os::look_up_code(address, code);
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
    os::LoadedCode code;
    if (module.is_gone != 0 || (os::look_up_code(module.start, code) && is_same(module, code))) continue;
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
    directory_bytes = os::write_working_directory(kept, room);
  }
  if (bytes > room - directory_bytes) return nullptr;
  std::memcpy(kept + directory_bytes, path, bytes);
  text_bytes_ += directory_bytes + bytes;
  return kept;
}

const CodeModule* CodeModules::add(const os::LoadedCode& code, std::uint32_t stack) {
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
  module.build_id_bytes = os::copy_build_id(code, module.build_id, CodeModule::kBuildIdBytes);
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

}  // namespace tarn::internal
