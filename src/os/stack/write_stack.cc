#include "base/text.h"
#include "base/units.h"
#include "os/fatal.h"
#include "os/process/common_calls.h"
#include "os/process/process_status.h"
#include "os/stack/code_place.h"
#include "os/stack/unwind.h"

namespace tarn::internal::os {

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
