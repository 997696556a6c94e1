#include "central/scavenge.h"

#include "base/bitmap.h"
#include "central/class_slabs.h"
#include "central/slab.h"
#include "os/helper_thread.h"
#include "os/memory.h"
#include "os/process.h"
#include "page/page_cache.h"

namespace tarn::internal {
namespace {

constexpr std::uint32_t kLargestWordCount = 128;

// The free blocks of a slab, taken out of it, so that no thread gets one of them while the system takes their
// pages.
struct TakenBlocks {
  Span* slab = nullptr;
  std::uint64_t bits[kLargestWordCount];
};

// \returns the first slab of a class that was not scavenged; the slabs before it move behind it.
Span* next_slab_locked(List<Span>& slabs) {
  Span* const first = slabs.first();
  for (Span* slab = first; slab != nullptr; slab = slabs.first()) {
    if (!slab->is_scavenged && !slab->is_kept) return slab;
    slabs.remove(slab);
    slabs.push_back(slab);
    if (slabs.first() == first) break;
  }
  return nullptr;
}

bool take_free_blocks_locked(SlabOwner& owner, SizeClass size_class, TakenBlocks& taken) {
  Span* const slab = next_slab_locked(owner.available[size_class]);
  if (slab == nullptr) return false;
  unlist_slab(owner, slab);
  owner.taken_bytes += std::size_t{slab->free_count} * slab->stride;
  for (std::uint32_t word = 0; word < slab->word_count; ++word) {
    taken.bits[word] = slab->free_bits[word];
    slab->free_bits[word] = 0;
  }
  slab->free_count = 0;
  slab->scan_word = slab->word_count;
  taken.slab = slab;
  return true;
}

void put_back(const TakenBlocks& taken, ReturnedPages& returned) {
  for (;;) {
    SlabOwner& owner = *taken.slab->owner.load(std::memory_order_acquire);
    os::LockGuard guard(owner.mutex);
    if (taken.slab->owner.load(std::memory_order_acquire) != &owner) continue;  // adopted meanwhile
    const std::uint32_t before = taken.slab->free_count;
    for (std::uint32_t word = 0; word < taken.slab->word_count; ++word)
      if (taken.bits[word] != 0) mark_free(*taken.slab, word, taken.bits[word]);
    owner.taken_bytes -= std::size_t{taken.slab->free_count - before} * taken.slab->stride;
    if (settle_slab(owner, taken.slab, returned)) taken.slab->is_scavenged = true;
    return;
  }
}

// Purges the whole OS pages inside each run of free blocks.
std::size_t purge_free_pages(const TakenBlocks& taken, std::size_t os_page) {
  const Span& slab = *taken.slab;
  const std::size_t count = slab.block_count;
  const std::uintptr_t blocks = address_of(slab.start),
                       slab_end = address_of(slab.first_page()) + slab.bytes();
  std::size_t purged = 0, end = 0;
  for (std::size_t first = 0; (first = bitmap::find_one(taken.bits, end, count)) < count;) {
    end = bitmap::find_zero(taken.bits, first, count);
    const std::uintptr_t start = round_up(blocks + first * slab.stride, os_page);
    const std::uintptr_t stop = end == count ? slab_end : (blocks + end * slab.stride) & ~(os_page - 1);
    if (start < stop && os::purge(reinterpret_cast<void*>(start), stop - start)) purged += stop - start;
  }
  return purged;
}

}  // namespace

std::size_t scavenge(SlabOwner& owner) {
  const std::size_t os_page = os::page_bytes();
  std::size_t purged = 0;
  TakenBlocks taken;
  ReturnedPages returned;
  for (const SizeClass size_class : kAllClasses) {
    while (!os::helper_must_stop()) {
      const GiveBackGuard give_back;
      if (class_is_ending[size_class].load(std::memory_order_relaxed)) break;
      {
        os::LockGuard guard(owner.mutex);
        if (!take_free_blocks_locked(owner, size_class, taken)) break;
      }
      purged += purge_free_pages(taken, os_page);
      put_back(taken, returned);
      returned.give_back();
    }
  }
  return purged;
}

}  // namespace tarn::internal
