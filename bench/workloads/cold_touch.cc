// First touch: 256 MiB in blocks of one size, each written whole, in a fresh process. What counts is how a
// page becomes resident; the figure is per KiB.
#include <cstring>

#include "allocator_under_test.h"
#include "clock.h"
#include "groups.h"
#include "table.h"

namespace tarn::bench {
namespace {

constexpr std::size_t kTotalBytes = 256 * 1024 * 1024;

template <std::size_t Bytes>
void run_row(Session& session) {
  const RowName name = row_name("touch/%zu", Bytes);
  if (!session.wants(name, Temperature::kCold)) return;
  Table<void*> blocks(kTotalBytes / Bytes);
  const std::uint64_t first_ns = now_ns();
  for (void*& block : blocks) {
    block = allocate_constant<Bytes>();
    std::memset(block, 1, Bytes);
    escape(block);
  }
  const double ns = static_cast<double>(now_ns() - first_ns);
  session.report(name, ns / (kTotalBytes / 1024), blocks.size(), Temperature::kCold);
}

}  // namespace

void run_cold_touch(Session& session) {
  run_row<64>(session);
  run_row<1024>(session);
  run_row<16 * 1024>(session);
  run_row<1024 * 1024>(session);
}

}  // namespace tarn::bench
