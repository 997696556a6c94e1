// First touch: 32 MiB in blocks of one size, each written whole, in a fresh process. What counts is how a
// page becomes resident; the figure is per KiB.
#pragma once
#include <cstring>

#include "block_size.h"
#include "clock.h"
#include "contestant.h"
#include "table.h"
#include "use.h"

namespace tarn::bench::first_touch {

inline constexpr std::size_t kTotalBytes = 32 * 1024 * 1024;

template <class Api>
void run(Session& session) {
  if (!session.enter("first_touch")) return;
  for (const std::size_t bytes : session.sizes({64, 1024, 16 * 1024, 1024 * 1024})) {
    const Row row = {.bytes = bytes, .temperature = Temperature::kCold};
    if (!session.wants(row)) continue;
    Table<void*> blocks(kTotalBytes / bytes);
    const std::uint64_t first_ns = now_ns();
    for (void*& block : blocks) {
      block = Api::allocate(bytes);
      std::memset(block, 1, bytes);
      escape(block);
    }
    const double ns = static_cast<double>(now_ns() - first_ns);
    for (void* block : blocks) Api::deallocate(block, bytes);
    session.report(row, ns / (kTotalBytes / 1024), {blocks.size()});
  }
}

}  // namespace tarn::bench::first_touch
