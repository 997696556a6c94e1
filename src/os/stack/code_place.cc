#include "os/stack/code_place.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include <cstring>

#include "base/printable.h"
#include "base/text.h"
#include "base/units.h"
#include "os/stack/loaded_file.h"

namespace tarn::internal::os {
namespace {

// \returns what the loader keeps of a file; nullptr: it has none at the address.
const link_map* file_of(std::uintptr_t address) {
  const std::optional<LoadedFile> found = loaded_file(address);
  return found ? found->file : nullptr;
}

}  // namespace

bool is_of_own_library(std::uintptr_t address) {
  const link_map* const own = file_of(reinterpret_cast<std::uintptr_t>(&is_of_own_library));
  return own != nullptr && own->l_name[0] != '\0' && own == file_of(address);
}

bool add_code_place(Text& text, std::uintptr_t address) {
  constexpr std::size_t kLongest = 128;
  const link_map* const file = file_of(address);
  if (file == nullptr) return false;
  const char* path = file->l_name;
  if (path[0] == '\0') path = program_invocation_name;
  // Of a longer path the end, which names the file.
  const std::size_t length = std::strlen(path);
  add_shown(text, length <= kLongest ? path : path + (length - kLongest), kLongest);
  text.add('+').add_hex(address - file->l_addr);
  return true;
}

const char* exported_name(const void* address) {
  Dl_info found{};
  return dladdr(address, &found) != 0 ? found.dli_sname : nullptr;
}

}  // namespace tarn::internal::os
