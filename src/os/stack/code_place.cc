#include "os/stack/code_place.h"

#include <errno.h>
#include <link.h>

#include <cstring>

#include "base/printable.h"
#include "base/text.h"
#include "base/units.h"
#include "os/fatal.h"
#include "os/process/process_status.h"
#include "os/stack/loaded_file.h"
#include "os/stack/unwind.h"
#include "os/syscall.h"

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

void write_stack(const char* who, std::uint32_t thread, void* const* addresses, unsigned count) {
  FixedText<128> head;
  write_line(head.add("  ").add(who).add("by thread ").add_decimal(thread).add(":\n"));
  unsigned first = 0;
  while (first < count && is_of_own_library(address_of(addresses[first]))) ++first;
  for (unsigned i = first; i < count; ++i) {
    FixedText<256> line;
    const std::uintptr_t address = address_of(addresses[i]);
    line.add("    ");
    if (add_code_place(line, address)) line.add(' ');
    write_line(line.add('[').add_hex(address).add("]\n"));
  }
}

void tell_who(std::size_t block_bytes) {
  constexpr unsigned kMostAddresses = 32;
  void* addresses[kMostAddresses];
  const unsigned count = capture_stack(addresses, kMostAddresses);
  FixedText<64> who;
  if (block_bytes != 0) who.add("a block of ").add_grouped(block_bytes).add(" bytes; ");
  write_stack(who.add('\0').data(), makes_common_calls_only() ? 0 : thread_id(), addresses, count);
}

}  // namespace tarn::internal::os
