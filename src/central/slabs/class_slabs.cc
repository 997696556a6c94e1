#include "central/slabs/class_slabs.h"

#include "base/bitmap.h"
#include "base/wipe.h"
#include "central/slabs/account.h"
#include "central/slabs/slab.h"
#include "os/checker.h"
#include "os/process/process.h"
#include "page/give_back/page_cache.h"
#include "page/memory/metadata.h"
#include "page/spans.h"
#include "page/spans/live_map.h"

namespace tarn::internal {
namespace {

// A class of this size gets slabs of full size, which are fewer and each a small part of the class. It fills
// them soon, so they may take huge pages. Not so a block with its own slab: its pages have a rest, and
// programs leave buffers of this size partly unwritten.
constexpr std::size_t kLargeClassBytes = 1024 * 1024;

// The system backs the pages of a slab with memory when they are written first, one by one. A class that
// grows has the first ones of a new slab backed at once, in two thirds of the time: so few against what it
// has that those it does not come to use are few too.
constexpr std::size_t kBackedShare = 16;              // of the class's slabs
constexpr std::size_t kLeastBackedBytes = 16 * 1024;  // fewer are not worth a call
constexpr std::size_t kMostBackedBytes = 64 * 1024;   // more take no less time each

constexpr std::size_t kLittleBytes = 1024 * 1024;
constexpr unsigned kSparesTried = 4;
constexpr std::size_t kKeptSlabShare = 16;  // an empty slab is kept if it is at most 1/16 of the taken bytes

List<Span>& listed(SlabOwner& owner, const Span& slab) {
  return owner.of(slab.size_class.load(std::memory_order_relaxed)).available;
}

// With more free blocks a slab is used by less than half.
std::uint16_t half_of(const Span& slab) { return static_cast<std::uint16_t>(slab.block_count / 2); }

bool is_used_by_half(const Span& slab) { return slab.free_count <= half_of(slab); }

// Such a slab moves to the back of its list with one free block more than half.
void settle_at_half(Span& slab) { slab.settle_at = static_cast<std::uint16_t>(half_of(slab) + 1); }

void note_has_slabs(SlabOwner& owner, SizeClass size_class, bool has_slabs) {
  has_slabs ? ++owner.classes_with_slabs : --owner.classes_with_slabs;
  if (owner.rare_calls != nullptr)
    owner.rare_calls[index_of_class(size_class)].store(0, std::memory_order_relaxed);
}

List<Span>& full(SlabOwner& owner, const Span& slab) {
  return owner.of(slab.size_class.load(std::memory_order_relaxed)).full;
}

void leave_list(SlabOwner& owner, Span* slab) {
  if (slab->is_listed()) {
    listed(owner, *slab).remove(slab);
  } else if (owner.is_of_pool) {
    full(owner, *slab).remove(slab);
  }
}

// \returns how many blocks more the pool's slabs may have, up to `wanted`; counts them.
std::uint32_t take_room(SlabOwner& owner, std::uint32_t wanted) {
  if (!owner.is_of_pool) return wanted;
  std::atomic<std::size_t>& room = owner.first_part->room;
  std::size_t left = room.load(std::memory_order_relaxed), now = 0;
  do {
    if (left == SlabOwner::kNoCap) return wanted;
    now = left < wanted ? left : wanted;
  } while (!room.compare_exchange_weak(left, left - now, std::memory_order_relaxed));
  return static_cast<std::uint32_t>(now);
}

void give_room_back(SlabOwner& owner, std::uint32_t blocks) {
  if (!owner.is_of_pool || owner.first_part->room.load(std::memory_order_relaxed) == SlabOwner::kNoCap)
    return;
  owner.first_part->room.fetch_add(blocks, std::memory_order_relaxed);
}

std::size_t count_bytes(std::uint32_t blocks) { return blocks * sizeof(std::uint32_t); }

void end_counts(Span& slab) {
  metadata.free(slab.pool_data, count_bytes(slab.block_count));
  slab.pool_data = nullptr;
}

// Its pool offers them, a group at a time.
void withhold_slots(SlabOwner& owner, Span* slab) {
  bitmap::clear_range(slab->free_bits, 0, slab->block_count);
  slab->free_count = 0;
  slab->scan_word = slab->word_count;
  note_taken(owner, std::size_t{slab->block_count} * slab->stride);
  full(owner, *slab).push_front(slab);
}

void clear_slots(Span& slab, bool was_used) {
  if (was_used || !slab.is_zeroed) clear_unseen(slab.first_page(), slab.bytes());
}

// \returns a spare slab of `pages` pages whose bitmaps have room for `words` words.
Span* take_spare(SlabOwner& owner, PageCount pages, std::uint32_t words) {
  const unsigned kind = spare_kind_of(pages);
  if (kind == kSpareKinds) return nullptr;
  unsigned tried = 0;
  for (Span* slab = owner.spare[kind].first(); slab != nullptr && tried < kSparesTried;
       slab = slab->next, ++tried) {
    if ((1u << slab->capacity_log2) < words) continue;
    owner.spare[kind].remove(slab);
    owner.spare_bytes -= slab->bytes();
    if (owner.kept_spare_bytes > owner.spare_bytes) owner.kept_spare_bytes = owner.spare_bytes;
    return slab;
  }
  return nullptr;
}

// The page cache keeps free pages for every owner: beside these an owner's own are few.
bool has_enough_free(const SlabOwner& owner) {
  const std::size_t limit = page_cache.limit();
  return owner.spare_bytes + page_cache.dirty_bytes() > limit + limit / 2 || is_past_its_peak(owner);
}

// Keeps an ended slab as a spare one of its owner, while spare bytes are few against the bytes that the owner
// took recently. An orphan gets no more: no thread asks for them.
bool keep_as_spare(SlabOwner& owner, Span* slab) {
  const unsigned kind = spare_kind_of(slab->pages);
  if (owner.density == Density::kUndumped) return false;  // its pages are no other class's
  if (kind == kSpareKinds || owner.spare_bytes + slab->bytes() > most_spare_bytes(owner)) return false;
  if (owner.threads.load(std::memory_order_relaxed) == 0 && !owner.is_of_pool) return false;
  if (has_enough_free(owner)) return false;
  add_spare_locked(owner, slab);
  return true;
}

void end_a_spare_slab(SlabOwner& owner, ReturnedPages& returned) {
  constexpr std::size_t kFew = 1024 * 1024;
  if (owner.spare_bytes > kFew && has_enough_free(owner))
    end_spare_slabs(owner, owner.spare_bytes - 1, returned);
}

// Whether a slab is not needed: all its blocks are free, and neither it nor its owner's slabs are to stay.
bool may_retire(const SlabOwner& owner, const Span& slab) {
  return slab.free_count == slab.block_count && !slab.is_kept && !owner.keeps_slabs;
}

std::size_t difference(std::size_t a, std::size_t b) { return a > b ? a - b : 0; }

// Any page of a huge one backs it whole.
std::size_t backed_bytes(Density density, std::size_t class_bytes) {
  if (density == Density::kDense) return os::page_bytes();
  const std::size_t bytes = class_bytes / kBackedShare & ~(kLeastBackedBytes - 1);
  return bytes > kMostBackedBytes ? kMostBackedBytes : bytes;
}

// The call waits for the system under the mutex: not where others may wait for it.
void back_with_memory(const SlabOwner& owner, const Span& slab, Density density, std::size_t class_bytes) {
  const std::uint32_t threads = owner.threads.load(std::memory_order_relaxed);
  const bool is_of_all = threads == 0 && owners_in_use.load(std::memory_order_relaxed) > 1;  // as a pool's
  if (threads > 1 || is_of_all) return;
  if (const std::size_t bytes = backed_bytes(density, class_bytes); bytes != 0)
    page_cache.back_with_memory(slab.first_page(), bytes, density);
}

}  // namespace

std::size_t most_spare_bytes(const SlabOwner& owner) {
  return owner.peak_taken_bytes < owner.kept_limit_bytes ? owner.peak_taken_bytes : owner.kept_limit_bytes;
}

ParkedSlabs parked_in_own_slabs(const SlabOwner& owner) {
  const Depot* const depot = owner.depot.load(std::memory_order_acquire);
  if (depot == nullptr) return {};
  return {depot->own_slab_bytes.load(std::memory_order_relaxed),
          depot->own_slab_pages.load(std::memory_order_relaxed)};
}

// Each class has one slab that may not have been used up yet, and slabs made ahead of need are no peak. What
// is parked with slabs of its own, mostly of this owner, is neither used nor does it waste a page.
bool is_past_its_peak(const SlabOwner& owner, std::size_t free) {
  if (owner.keeps_slabs) return false;
  const ParkedSlabs aside = parked_in_own_slabs(owner);
  const std::size_t taken = difference(owner.taken_bytes, aside.blocks);
  const std::size_t slabs = difference(owner.slab_bytes, aside.pages);
  const std::size_t used = difference(taken, free);
  const std::size_t usual = 2 * used + kLittleBytes + owner.made_ahead_bytes;
  if (slabs <= usual || slabs <= usual + owner.classes_with_slabs * kPageBytes) return false;
  return slabs - used + page_cache.dirty_bytes() > page_cache.limit();
}

std::size_t bytes_freed_recently(const SlabOwner& owner) {
  return owner.peak_taken_bytes > owner.taken_bytes ? owner.peak_taken_bytes - owner.taken_bytes : 0;
}

// What was freed recently was written. Other owners may well be in the same state.
void note_kept_memory(const SlabOwner& owner, ReturnedPages& returned) {
  returned.note_kept(bytes_freed_recently(owner) * owners_in_use.load(std::memory_order_relaxed));
}

std::size_t free_blocks(const OwnedClass& of_class) {
  std::size_t count = 0;
  for (const Span* slab = of_class.available.first(); slab != nullptr; slab = slab->next)
    count += slab->free_count;
  return count;
}

Span* make_slab_locked(SlabOwner& owner, SizeClass size_class, bool is_used_now) {
  const ClassGeometry& geometry = geometry_of(owner, size_class);
  const std::size_t class_bytes = bytes_of(owner.of(size_class).totals.pages);
  // Most classes have few blocks, so their first slabs are small. Huge pages are only for a class with many
  // slabs whose blocks fill their pages.
  const bool is_large = class_bytes >= kLargeClassBytes;
  const PageCount pages = is_large ? geometry.slab_pages : geometry.first_slab_pages;
  const bool fills_its_pages = !has_own_slab(geometry);
  const bool is_dense = is_large && fills_its_pages && page_cache.uses_huge_pages();
  const Density density = is_dense && owner.density == Density::kSparse ? Density::kDense : owner.density;
  // What may be refused comes first, and is undone if a later step is refused.
  const std::uint32_t blocks = take_room(owner, blocks_in(geometry, pages));
  if (blocks == 0) return nullptr;
  const auto words = static_cast<std::uint32_t>(bitmap::words_for(blocks));
  void* const counts = owner.has_counts ? metadata.allocate_zeroed(count_bytes(blocks)) : nullptr;
  if (owner.has_counts && counts == nullptr) return give_room_back(owner, blocks), nullptr;
  Span* slab = take_spare(owner, pages, words);
  const bool is_spare = slab != nullptr;
  const bool has_record = slab != nullptr && slab->size_class.load(std::memory_order_relaxed) == size_class;
  if (slab == nullptr)
    slab =
        allocate_span({.pages = pages, .kind = SpanKind::kSlab, .bitmap_words = words, .density = density});
  if (slab == nullptr) {
    if (counts != nullptr) metadata.free(counts, count_bytes(blocks));
    return give_room_back(owner, blocks), nullptr;
  }
  const bool is_new = !is_spare && slab->is_zeroed;
  if (is_new && is_used_now && fills_its_pages) back_with_memory(owner, *slab, density, class_bytes);
  slab->pool_data = counts;
  std::size_t colour =
      geometry.colours > 1 ? owner.counters.slabs_made % geometry.colours * kCacheLineBytes : 0;
  if (owner.has_slots) {
    clear_slots(*slab, is_spare);
    colour = kPadBeforeSlots;
  }
  // The cut before the owner: a late announcement that reads the new owner must find the new class
  // (remote_free.cc). The record last: from then on frees of its blocks may be hits.
  begin_slab(*slab, {size_class, geometry, blocks, colour});
  if (!owner.has_slots && size_class != SizeClass::kNone)
    live_map.cover(size_class, geometry.stride, slab->start, std::size_t{blocks} * geometry.stride);
  slab->is_zero_when_free = !owner.is_of_pool;
  slab->owner.store(&owner, std::memory_order_seq_cst);
  slab->set_pool(owner.asks_pool ? owner.first_part->pool : nullptr);
  if (owner.hides_slabs ? has_record : !has_record)
    set_record(slab, owner.hides_slabs ? detail::RecordPlace::kNone : record_of_class(size_class));
  if (owner.poisons) os::poison(slab->start, std::size_t{blocks} * slab->stride);
  ++owner.counters.slabs_made;
  count_slab_in(owner, *slab);
  owner.has_slots ? withhold_slots(owner, slab) : list_slab(owner, slab);
  return slab;
}

void list_slab(SlabOwner& owner, Span* slab) {
  owner.missing_run = UINT32_MAX;
  if (is_used_by_half(*slab)) {
    settle_at_half(*slab);
    listed(owner, *slab).push_front(slab);
  } else {
    slab->settle_at = slab->block_count;
    listed(owner, *slab).push_back(slab);
  }
}

void unlist_slab(SlabOwner& owner, Span* slab) {
  slab->settle_at = 0;
  listed(owner, *slab).remove(slab);
  if (owner.is_of_pool) full(owner, *slab).push_front(slab);
}

void place_slab(SlabOwner& owner, Span* slab) {
  if (slab->free_count < slab->settle_at) return;
  leave_list(owner, slab);
  list_slab(owner, slab);
}

void settle_taken(SlabOwner& owner, Span* slab) {
  if (slab->free_count == 0) return unlist_slab(owner, slab);
  if (is_used_by_half(*slab)) settle_at_half(*slab);
}

void sort_slabs(SlabOwner& owner, SizeClass size_class) {
  List<Span>& slabs = owner.of(size_class).available;
  for (Span *slab = slabs.first(), *next = nullptr; slab != nullptr; slab = next) {
    next = slab->next;
    if (!is_used_by_half(*slab) || slab == slabs.first()) continue;
    slabs.remove(slab);
    slabs.push_front(slab);
  }
}

void keep_slab(SlabOwner& owner, Span* slab) {
  if (!slab->is_kept) owner.made_ahead_bytes += slab->bytes();
  slab->is_kept = true;
}

void keep_no_longer(SlabOwner& owner, Span* slab) {
  if (slab->is_kept) owner.made_ahead_bytes -= slab->bytes();
  slab->is_kept = false;
}

void note_taken(SlabOwner& owner, std::size_t bytes) {
  owner.taken_bytes += bytes;
  const std::size_t now = owner.taken_bytes - owner.scavenged_bytes;
  if (now > owner.peak_taken_bytes) owner.peak_taken_bytes = now;
  if (now > owner.largest_taken_bytes) owner.largest_taken_bytes = now;
}

void settle_account(SlabOwner& owner) {
  if (owner.account == nullptr) return;
  const std::size_t taken = owner.taken_bytes - owner.scavenged_bytes;
  if (taken == owner.accounted_bytes) return;
  owner.account->credit(owner.accounted_bytes - taken);
  owner.accounted_bytes = taken;
}

void count_slab_in(SlabOwner& owner, const Span& slab) {
  const SizeClass size_class = slab.size_class.load(std::memory_order_relaxed);
  SlabTotals& totals = owner.of(size_class).totals;
  if (totals.slabs == 0) note_has_slabs(owner, size_class, true);
  totals.slabs += 1;
  totals.pages += slab.pages;
  totals.blocks += slab.block_count;
  owner.slab_bytes += slab.bytes();
}

void count_slab_out(SlabOwner& owner, const Span& slab) {
  const SizeClass size_class = slab.size_class.load(std::memory_order_relaxed);
  SlabTotals& totals = owner.of(size_class).totals;
  totals.slabs -= 1;
  if (totals.slabs == 0) note_has_slabs(owner, size_class, false);
  totals.pages -= slab.pages;
  totals.blocks -= slab.block_count;
  owner.slab_bytes -= slab.bytes();
}

void move_slab(SlabOwner& from, SlabOwner& to, Span* slab) {
  leave_list(from, slab);
  slab->settle_at = 0;
  count_slab_out(from, *slab);
  if (slab->is_kept) {
    from.made_ahead_bytes -= slab->bytes();
    to.made_ahead_bytes += slab->bytes();
  }
  const std::size_t taken = (slab->block_count - slab->free_count) * std::size_t{slab->stride};
  from.taken_bytes -= taken;
  note_taken(to, taken);
  if (from.account != nullptr) {  // which has both
    from.accounted_bytes -= taken;
    to.accounted_bytes += taken;
  }
  slab->owner.store(&to, std::memory_order_seq_cst);
  count_slab_in(to, *slab);
  list_slab(to, slab);
}

// From here on an announcement of the slab finds no owner and is dropped; it must not list the slab again.
void retire_slab(SlabOwner& owner, Span* slab, Retired fate, ReturnedPages& returned) {
  leave_list(owner, slab);
  slab->settle_at = 0;
  slab->owner.store(nullptr, std::memory_order_seq_cst);
  count_slab_out(owner, *slab);
  give_room_back(owner, slab->block_count);
  if (owner.is_of_pool) os::unpoison(slab->first_page(), slab->bytes());
  slab->set_pool(nullptr);
  if (owner.has_counts) end_counts(*slab);
  if (fate == Retired::kMayStay && keep_as_spare(owner, slab)) return note_kept_memory(owner, returned);
  ++owner.counters.slabs_ended;
  free_span(slab, returned);
  if (fate == Retired::kMayStay) end_a_spare_slab(owner, returned);
}

bool settle_slab(SlabOwner& owner, Span* slab, ReturnedPages& returned) {
  note_more_free(*slab);
  place_slab(owner, slab);
  if (!may_retire(owner, *slab)) return true;
  if (owner.is_ending.load(std::memory_order_relaxed)) return true;  // its pool walks its slabs
  const List<Span>& available = listed(owner, *slab);
  const bool is_last = available.first() == available.last();
  // Kept, so that a free and an allocation in turn do not retire and make a slab each time; not after a peak,
  // which may leave one in each of many classes.
  if (is_last && !is_past_its_peak(owner) &&
      (slab->pages == PageCount{1} || slab->bytes() <= owner.taken_bytes / kKeptSlabShare)) {
    note_kept_memory(owner, returned);
    return true;
  }
  retire_slab(owner, slab, Retired::kMayStay, returned);
  return false;
}

void retire_empty_slab(SlabOwner& owner, SizeClass size_class, ReturnedPages& returned) {
  Span* const slab = owner.of(size_class).available.last();
  if (slab != nullptr && may_retire(owner, *slab)) retire_slab(owner, slab, Retired::kMayStay, returned);
}

void add_spare_locked(SlabOwner& owner, Span* slab) {
  owner.spare[spare_kind_of(slab->pages)].push_front(slab);
  owner.spare_bytes += slab->bytes();
  owner.is_trimmed = false;
}

void end_spare_slabs(SlabOwner& owner, std::size_t bytes, ReturnedPages& returned) {
  if (bytes < owner.kept_spare_bytes) bytes = owner.kept_spare_bytes;
  for (List<Span>& slabs : owner.spare) {
    while (owner.spare_bytes > bytes && !slabs.is_empty()) {
      Span* const slab = slabs.last();
      slabs.remove(slab);
      owner.spare_bytes -= slab->bytes();
      ++owner.counters.slabs_ended;
      free_span(slab, returned);
    }
  }
}

}  // namespace tarn::internal
