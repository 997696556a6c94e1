#include "central/scavenge.h"

#include "base/bitmap.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/slab.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "page/give_back/page_cache.h"

namespace tarn::internal {
namespace {

constexpr std::uint32_t kLargestWordCount = 128;

// The free blocks of a slab, taken out of it, so that no thread gets one of them while the system takes their
// pages.
struct TakenBlocks {
  Span* slab = nullptr;
  std::uint64_t bits[kLargestWordCount];
};

// Slabs that are mostly free come last; a look goes no further than so many that were not scavenged.
constexpr unsigned kMostLookedAt = 1024;

bool is_due(const Span& slab, Scavenged which) {
  if (slab.is_kept) return false;
  return which == Scavenged::kAll ? slab.quiet != Quiet::kScavenged : slab.quiet == Quiet::kTwoLooks;
}

// The slabs of a class that are mostly free are the last of the list.
void look_for_quiet_locked(const List<Span>& slabs) {
  unsigned looked_at = 0;
  for (Span* slab = slabs.last();
       slab != nullptr && slab->settle_at == slab->block_count && looked_at < kMostLookedAt;
       slab = slab->previous) {
    if (slab->is_kept || slab->quiet == Quiet::kScavenged) continue;
    ++looked_at;
    if (slab->quiet == Quiet::kOneLook) slab->quiet = Quiet::kTwoLooks;
    if (slab->quiet == Quiet::kNot) slab->quiet = Quiet::kOneLook;
  }
}

// \returns the last slab of a class that is due, unless it is the only one that threads can use.
Span* last_quiet_slab_locked(const List<Span>& slabs) {
  if (slabs.first() == slabs.last()) return nullptr;
  unsigned looked_at = 0;
  for (Span* slab = slabs.last(); slab != nullptr && looked_at < kMostLookedAt; slab = slab->previous) {
    if (is_due(*slab, Scavenged::kQuiet)) return slab;
    ++looked_at;
  }
  return nullptr;
}

// \returns the first slab of a class that is due; the slabs before it move behind it.
Span* next_slab_locked(List<Span>& slabs, Scavenged which) {
  if (which == Scavenged::kQuiet) return last_quiet_slab_locked(slabs);
  Span* const first = slabs.first();
  for (Span* slab = first; slab != nullptr; slab = slabs.first()) {
    if (is_due(*slab, which)) return slab;
    slabs.remove(slab);
    slabs.push_back(slab);
    if (slabs.first() == first) break;
  }
  return nullptr;
}

bool take_free_blocks_locked(SlabOwner& owner, SizeClass size_class, Scavenged which, TakenBlocks& taken) {
  if (owner.keeps_slabs) return false;  // it may be another pool's since the look began
  Span* const slab = next_slab_locked(owner.of(size_class).available, which);
  if (slab == nullptr) return false;
  unlist_slab(owner, slab);
  owner.taken_bytes += std::size_t{slab->free_count} * slab->stride;
  owner.scavenged = slab;
  owner.scavenged_bytes = std::size_t{slab->free_count} * slab->stride;
  for (std::uint32_t word = 0; word < slab->word_count; ++word) {
    taken.bits[word] = slab->free_bits[word];
    bitmap::store(slab->free_bits + word, 0);
  }
  slab->free_count = 0;
  slab->scan_word = slab->word_count;
  taken.slab = slab;
  return true;
}

void put_back(const TakenBlocks& taken, ReturnedPages& returned) {
  SlabOwner& owner = *taken.slab->owner.load(std::memory_order_relaxed);  // nobody adopts it meanwhile
  os::LockGuard guard(owner.mutex);
  for (std::uint32_t word = 0; word < taken.slab->word_count; ++word)
    if (taken.bits[word] != 0) mark_free(*taken.slab, word, taken.bits[word]);
  owner.taken_bytes -= owner.scavenged_bytes;
  owner.scavenged = nullptr;
  owner.scavenged_bytes = 0;
  if (settle_slab(owner, taken.slab, returned)) taken.slab->quiet = Quiet::kScavenged;
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

void look_for_quiet(SlabOwner& owner) {
  if (owner.keeps_slabs) return;
  for (const SizeClass size_class : classes_of(owner)) {
    os::LockGuard guard(owner.mutex);
    look_for_quiet_locked(owner.of(size_class).available);
  }
}

std::size_t scavenge(SlabOwner& owner, Scavenged which, unsigned& most, unsigned& classes_done) {
  if (owner.keeps_slabs) return 0;
  const std::size_t os_page = os::page_bytes();
  std::size_t purged = 0;
  unsigned place = 0;
  TakenBlocks taken;
  ReturnedPages returned;
  // Taken as a thread would take them, so nobody gets these blocks while their pages are purged without the
  // mutex. When `most` is used up, the next call goes on at class `classes_done`.
  for (const SizeClass size_class : classes_of(owner)) {
    if (place++ < classes_done) continue;
    for (;; --most) {
      if (most == 0) return purged;
      const GiveBackGuard give_back;
      if (owner.is_ending.load(std::memory_order_relaxed)) break;
      {
        os::LockGuard guard(owner.mutex);
        if (!take_free_blocks_locked(owner, size_class, which, taken)) break;
      }
      purged += purge_free_pages(taken, os_page);
      put_back(taken, returned);
      returned.give_back();
    }
    ++classes_done;
    if (which == Scavenged::kAll) {
      os::LockGuard guard(owner.mutex);
      sort_slabs(owner, size_class);
    }
  }
  return purged;
}

}  // namespace tarn::internal
