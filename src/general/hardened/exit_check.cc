// The hardened library's look at all guards when the process exits.
#include <cstring>

#include "central/live_blocks.h"
#include "central/slabs/slab.h"
#include "os/fatal.h"
#include "page/spans/page_map.h"
#include "thread/magazine.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

// The pages of blocks are read as far as this: of a large process much may be in swap.
constexpr std::size_t kMostRead = std::size_t{1} << 30;

constexpr const char* kLateWrite = "write into a freed block, found at exit";

// A block that is in no slab is live and has its guard, or has the guard of a free one: it is cached, or
// another thread frees it or is given it just now.
bool is_whole(void* block, std::size_t bytes) {
  std::uint64_t guard = 0;
  std::memcpy(&guard, detail::place_of_guard(block, bytes), sizeof guard);
  return guard == 0 || guard == detail::guard_of(block, guard_keys());
}

// \pre the owner's mutex is held.
void check_slab_locked(const Span& slab, std::size_t& read) {
  const std::size_t bytes = class_geometry[slab.size_class.load(std::memory_order_relaxed)].block_bytes;
  for (unsigned i = 0; i < slab.block_count && read < kMostRead; ++i) {
    void* const block = slab.block(BlockIndex{i});
    read += bytes;
    if (!is_marked_free_locked(slab, BlockIndex{i})) {
      if (!is_whole(block, bytes)) os::misuse("write past the end of a block, found at exit", block);
    } else if (!detail::is_zero(block, bytes)) {
      os::misuse(kLateWrite, block);
    }
  }
}

void check_own_magazines(const ThreadHeap& heap) {
  for (const SizeClass size_class : all_classes())
    visit_magazine(heap, size_class, [size_class](void* block) {
      if (!detail::is_zero(block, class_geometry[size_class].block_bytes)) os::misuse(kLateWrite, block);
    });
}

void check_page(const Region& region, std::size_t page, std::size_t& read) {
  auto* const span = static_cast<const Span*>(region.spans[page].load(std::memory_order_acquire));
  SlabOwner* const owner = span == nullptr ? nullptr : span->owner.load(std::memory_order_acquire);
  if (owner == nullptr || owner->is_of_pool || span->first_page() != region.start + page * kPageBytes) return;
  if (!owner->mutex.try_lock()) return;  // of a thread that is gone, perhaps
  if (span->owner.load(std::memory_order_acquire) == owner) check_slab_locked(*span, read);
  owner->mutex.unlock();
}

// What nothing has looked at so far: overflows of blocks that are never freed, writes into blocks that are
// never handed out again.
[[gnu::destructor(101)]] void check_all_guards() {
  if (const ThreadHeap* const heap = this_heap(); heap != nullptr) check_own_magazines(*heap);
  std::size_t read = 0;
  for (std::uint32_t i = 0; i < page_map.region_count(); ++i) {
    const Region& region = page_map.region(i);
    const std::size_t pages = std::size_t{region.committed_chunks} * kPagesPerChunk;
    for (std::size_t page = 0; page < pages; ++page) check_page(region, page, read);
  }
}

}  // namespace
}  // namespace tarn::internal
