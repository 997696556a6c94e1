// Which addresses are this copy of the library's, for other copies in the process (os/other_copies.h).
#include "os/other_copies.h"
#include "page/memory/metadata.h"
#include "page/spans/page_map.h"

namespace tarn::internal {
namespace {

bool is_in_regions(std::uintptr_t address) {
  for (std::uint32_t i = 0; i < page_map.region_count(); ++i) {
    const Region& region = page_map.region(i);
    if (address - address_of(region.start) < region.bytes.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

bool is_in_records(std::uintptr_t address) {
  for (std::uint32_t i = 0; i < metadata.range_count(); ++i) {
    char *const start = metadata.range(i).start, *const end = metadata.range(i).end;
    if (address_of(start) <= address && address < address_of(end)) return true;
  }
  return false;
}

bool owns(const void* address) {
  return is_in_regions(address_of(address)) || is_in_records(address_of(address));
}

}  // namespace

namespace os {

const LibraryCopy tarn_library_copy{LibraryCopy::kMagic, owns};

}  // namespace os
}  // namespace tarn::internal
