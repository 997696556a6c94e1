#include <errno.h>
#include <link.h>

#include <cstring>

#include "base/printable.h"
#include "observe/profile/code_modules.h"

namespace tarn::internal {
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
