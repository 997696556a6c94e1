// Refill and flush, and the protocol of remote frees:
//
//   a freer    1. sets the blocks' remote bits              (fetch_or, seq_cst)
//              2. if the slab is not announced, announces it (is_pending 0 -> 1, push on the owner's stack)
//   the owner  1. takes the stack whole
//              2. clears is_pending                          (exchange, seq_cst)
//              3. takes the remote bits                      (exchange, seq_cst)
//
// Steps 1-2 of the freer and 2-3 of the owner are a store and a load on either side in one total order, so a
// set bit is either taken now or announced again. Between its steps 1 and 2 the freer holds no block any
// more: the slab may have ended and its Span may serve another slab, of another owner. Then the announcement
// is spurious: it reaches a stack whose heap does not own the slab, and that heap passes it on, or drops it
// when the Span is free. Passing on is needed: a true freer may have relied on the flag the spurious one set.
#include "thread/thread_heap.h"

#include <bit>
#include <climits>
#include <cstring>

#include "os/checker.h"
#include "os/fatal.h"
#include "page/background.h"
#include "page/metadata.h"
#include "page/page_cache.h"
#include "page/page_map.h"
#include "thread/registry.h"
#include "thread/slab.h"

namespace tarn::internal {
namespace {

constexpr unsigned kFirstCapacity = 15;  // with its sentinel two cache lines
constexpr std::size_t kFirstMagazineBytes = 8 * 1024;
// Blocks moved at once: enough to share the cost of a lock and a lookup, few enough that the call that moves
// them takes a fraction of a microsecond (the 99.9th percentile of a call). Taking costs about a nanosecond
// each, returning four.
constexpr unsigned kLargestRefill = 128;
constexpr unsigned kLargestFlush = 64;
// Of bitmaps written at once: scattered blocks of others cost a cache miss each.
constexpr unsigned kMostWords = 32;
constexpr unsigned kOwnPerRemote = 4;  // and as much as so many of the thread's own
constexpr unsigned kBinsPerLook = 16;
constexpr std::size_t kReturnedWorthALook = 1024 * 1024;

// How much a thread may keep at hand, against what it has taken from its slabs. Small blocks may be all of
// it: what is kept idly is given up before the heap grows. Larger ones have pages of their own, which another
// class could use.
constexpr std::size_t kSmallBlockBytes = 2048;
constexpr std::size_t kLeastSmallBytes = 1024 * 1024;
constexpr std::size_t kLeastLargerBytes = 512 * 1024;
constexpr std::size_t kLargerShare = 16;
// Above, a block is a slab: the page cache keeps them for all.
constexpr std::size_t kOwnSlabBlockBytes = 32 * 1024;
constexpr std::size_t kOwnSlabShare = 32;
constexpr std::size_t kKeptSlabShare = 16;  // an empty slab is kept if it is at most this part
// Slabs; then the freer collects for an owner that does not.
constexpr std::uint32_t kManyPending = 64;

void* const* as_const(void** blocks) { return blocks; }

unsigned at_most(unsigned limit, unsigned value) { return value < limit ? value : limit; }

std::size_t magazine_record_bytes(unsigned capacity) { return (capacity + 1) * sizeof(void*); }

void set_record(ThreadHeap& heap, unsigned bin, unsigned count) {
  const Magazine& magazine = heap.magazines[bin];
  __atomic_store_n(&heap.record(bin).top, magazine.blocks + count, __ATOMIC_RELAXED);
  heap.record(bin).limit = magazine.blocks + magazine.capacity;
}

unsigned count_of(const ThreadHeap& heap, unsigned bin) {
  const Magazine& magazine = heap.magazines[bin];
  return magazine.blocks == nullptr ? 0 : static_cast<unsigned>(heap.record(bin).top - magazine.blocks);
}

unsigned first_capacity(const ClassGeometry& geometry) {
  const std::size_t by_bytes = kFirstMagazineBytes / geometry.block_bytes;
  return by_bytes > kFirstCapacity ? kFirstCapacity : static_cast<unsigned>(by_bytes);
}

bool may_keep(const ThreadHeap& heap, std::size_t block_bytes, std::size_t more_bytes) {
  const std::size_t bytes = heap.magazine_bytes + more_bytes;
  if (bytes > thread_limits.magazine_bytes) return false;
  if (block_bytes > kSmallBlockBytes) {
    const std::size_t share = block_bytes > kOwnSlabBlockBytes ? kOwnSlabShare : kLargerShare;
    return bytes <= kLeastLargerBytes || bytes <= heap.taken_bytes / share;
  }
  return bytes <= kLeastSmallBytes || bytes <= heap.taken_bytes;
}

// Replaces the array of a magazine, keeping its blocks. \pre the blocks fit. \returns false when memory is
// refused.
bool resize_magazine(ThreadHeap& heap, unsigned bin, unsigned capacity) {
  Magazine& magazine = heap.magazines[bin];
  const unsigned count = count_of(heap, bin);
  void** const blocks = static_cast<void**>(metadata.allocate(magazine_record_bytes(capacity)));
  if (blocks == nullptr) return false;
  blocks[0] = nullptr;
  for (unsigned i = 1; i <= count; ++i) blocks[i] = magazine.blocks[i];
  const std::size_t block_bytes = class_geometry.of[detail::class_of_bin[bin]].block_bytes;
  void** const old_blocks = magazine.blocks;
  const unsigned old_capacity = magazine.capacity;
  heap.magazine_bytes += (capacity - static_cast<std::size_t>(old_capacity)) * block_bytes;
  magazine.blocks = blocks;
  magazine.capacity = static_cast<std::uint16_t>(capacity);
  set_record(heap, bin, count);
  if (old_blocks != nullptr) metadata.free(old_blocks, magazine_record_bytes(old_capacity));
  return true;
}

// A magazine grows each time it is missed, while its class and its thread may have more. \returns whether
// there is one.
bool prepare_magazine(ThreadHeap& heap, unsigned bin) {
  Magazine& magazine = heap.magazines[bin];
  const ClassGeometry& geometry = class_geometry.of[detail::class_of_bin[bin]];
  const unsigned first = first_capacity(geometry);
  if (magazine.blocks == nullptr && first != 0) return resize_magazine(heap, bin, first);
  if (magazine.capacity >= geometry.largest_magazine) return true;
  unsigned capacity = magazine.capacity * 2u + 1;
  if (capacity > geometry.largest_magazine) capacity = geometry.largest_magazine;
  const std::size_t more = (capacity - std::size_t{magazine.capacity}) * geometry.block_bytes;
  if (may_keep(heap, geometry.block_bytes, more)) resize_magazine(heap, bin, capacity);
  return magazine.blocks != nullptr;
}

// An ended slab stays with its heap as a spare one, as long as those are few against what the heap has used
// of late. One whose thread has ended keeps none: nobody would come for them.
bool keep_as_spare(ThreadHeap& heap, Span* slab, EndedSlabs& ended) {
  const unsigned kind = spare_kind_of(slab->pages);
  if (kind == kSpareKinds || heap.spare_bytes + slab->bytes() > most_spare_bytes(heap)) return false;
  if (!heap.has_thread.load(std::memory_order_relaxed)) return false;
  if (is_private_class(slab->size_class.load(std::memory_order_relaxed)))
    os::unpoison(slab->first_page(), slab->bytes());
  heap.spare[kind].push_front(slab);
  heap.spare_bytes += slab->bytes();
  heap.is_trimmed = false;
  ended.note_kept_memory(heap);
  return true;
}

enum class Retired : std::uint8_t { kMayStay, kGoes };

// From here on an announcement of the slab finds no owner and is dropped; it must not list the slab again.
void retire_slab(ThreadHeap& heap, Span* slab, Retired fate, EndedSlabs& ended) {
  unlist_slab(heap, slab);
  slab->owner.store(nullptr, std::memory_order_seq_cst);
  count_slab_out(heap, *slab);
  if (fate == Retired::kMayStay && keep_as_spare(heap, slab, ended)) return;
  ++heap.counters.slabs_ended;
  ended.add(slab);
}

SizeClass push_pending(ThreadHeap& owner, Span* slab) {
  const SizeClass size_class = slab->size_class.load(std::memory_order_relaxed);
  std::atomic<Span*>& stack = owner.pending[size_class];
  Span* head = stack.load(std::memory_order_relaxed);
  do slab->pending_next.store(head, std::memory_order_relaxed);
  while (!stack.compare_exchange_weak(head, slab, std::memory_order_seq_cst, std::memory_order_relaxed));
  owner.pending_count.fetch_add(1, std::memory_order_relaxed);
  return size_class;
}

struct Announced {
  ThreadHeap* owner;  // nullptr: the Span is free
  SizeClass size_class;
};

// Step 2 of a freer, from the moment it has set is_pending. \returns the heap that was told, and on which
// stack.
Announced announce(Span* slab) {
  for (;;) {
    if (ThreadHeap* const owner = slab->owner.load(std::memory_order_seq_cst); owner != nullptr) {
      return {owner, push_pending(*owner, slab)};
    }
    slab->is_pending.exchange(0, std::memory_order_seq_cst);
    // A slab made in between may count on this announcement.
    if (slab->owner.load(std::memory_order_seq_cst) == nullptr || slab->is_pending.exchange(1) != 0)
      return {nullptr, 0};
  }
}

// An orphan has nobody to collect for it, and an owner that idles does not: then the freer does. Whoever
// holds the mutex looks again after letting it go, so that nothing announced meanwhile is left.
void collect_for(ThreadHeap& owner, SizeClass size_class, EndedSlabs& ended) {
  while (owner.pending[size_class].load(std::memory_order_seq_cst) != nullptr &&
         (!owner.has_thread.load(std::memory_order_seq_cst) ||
          owner.pending_count.load(std::memory_order_relaxed) > kManyPending)) {
    if (!owner.mutex.try_lock()) return;
    collect_pending_locked(owner, size_class, ended);
    owner.mutex.unlock();
  }
}

void return_remote(Span* slab, std::uint32_t word, std::uint64_t mask, EndedSlabs& ended) {
  const std::uint64_t before = slab->remote_bits[word].fetch_or(mask, std::memory_order_seq_cst);
  if ((before & mask) != 0) [[unlikely]]
    os::fatal(
        "double free",
        slab->start + (word * 64 + static_cast<std::size_t>(std::countr_zero(before & mask))) * slab->stride);
  // From here on the slab may end at any time.
  if (slab->is_pending.load(std::memory_order_seq_cst) != 0 || slab->is_pending.exchange(1) != 0) return;
  const auto [owner, told_class] = announce(slab);
  if (owner != nullptr && (!owner->has_thread.load(std::memory_order_seq_cst) ||
                           owner->pending_count.load(std::memory_order_relaxed) > kManyPending))
    collect_for(*owner, told_class, ended);
}

// What a class keeps that nobody missed since the last look: blocks in its magazine, which pin slabs, and an
// empty slab.
// \returns how many blocks it had.
unsigned give_up_idle_class_locked(ThreadHeap& heap, unsigned bin, EndedSlabs& ended) {
  Magazine& magazine = heap.magazines[bin];
  if (magazine.was_missed || magazine.blocks == nullptr) {
    magazine.was_missed = false;
    return 0;
  }
  const unsigned kept_count = count_of(heap, bin);
  const unsigned returned = at_most(kLargestFlush, kept_count);
  return_blocks(&heap, as_const(magazine.blocks + 1 + kept_count - returned), returned, ended);
  set_record(heap, bin, kept_count - returned);
  if (returned == kept_count && magazine.capacity > 1) resize_magazine(heap, bin, magazine.capacity / 2u);
  Span* const kept = heap.available[detail::class_of_bin[bin]].first();
  if (kept != nullptr && kept->free_count == kept->block_count && !kept->is_kept)
    retire_slab(heap, kept, Retired::kMayStay, ended);
  return returned;
}

// A heap that is about to grow first looks at some of its classes, in turn, for what it need not grow by.
void look_for_idle_classes_locked(ThreadHeap& heap, EndedSlabs& ended) {
  collect_all_pending_locked(heap, ended);
  unsigned returned = 0;
  for (unsigned looked_at = 0; looked_at < kBinsPerLook && returned < kLargestFlush; ++looked_at) {
    heap.next_bin_looked_at = heap.next_bin_looked_at % (kClassCount - 1) + 1;
    returned += give_up_idle_class_locked(heap, heap.next_bin_looked_at, ended);
  }
  ended.give_back();
}

}  // namespace

constinit CountedLive counted_live{};
constinit std::atomic<bool> class_is_ending[kClassCount] = {};
constinit ThreadLimits thread_limits{std::size_t{8} << 20, false, false, false};

EndedSlabs::~EndedSlabs() {
  give_back();
  if (has_kept_much_) helper.ensure();
  if (has_given_back_) background.notice();
}

// Of a heap that has had more of its blocks in use of late, the memory of the others has been written and is
// free.
void EndedSlabs::note_kept_memory(const ThreadHeap& heap) {
  const std::size_t kept = heap.peak_taken_bytes - heap.taken_bytes;
  has_kept_much_ |= kept * registry.live_threads() + page_cache.dirty_bytes() >= Background::kWorthATick;
}

void EndedSlabs::give_back() {
  while (first_ != nullptr) {
    Span* const slab = first_;
    first_ = slab->next;
    end_slab(slab);
    has_given_back_ = true;
  }
}

void list_slab(ThreadHeap& heap, Span* slab) {
  slab->is_listed = true;
  heap.available[slab->size_class.load(std::memory_order_relaxed)].push_back(slab);
}

void unlist_slab(ThreadHeap& heap, Span* slab) {
  slab->is_listed = false;
  heap.available[slab->size_class.load(std::memory_order_relaxed)].remove(slab);
}

void count_slab_in(ThreadHeap& heap, const Span& slab) {
  SlabTotals& totals = heap.slab_totals[slab.size_class.load(std::memory_order_relaxed)];
  totals.slabs += 1;
  heap.slab_count += 1;
  totals.pages += slab.pages;
  totals.blocks += slab.block_count;
}

void count_slab_out(ThreadHeap& heap, const Span& slab) {
  SlabTotals& totals = heap.slab_totals[slab.size_class.load(std::memory_order_relaxed)];
  totals.slabs -= 1;
  heap.slab_count -= 1;
  totals.pages -= slab.pages;
  totals.blocks -= slab.block_count;
}

bool settle_slab(ThreadHeap& heap, Span* slab, EndedSlabs& ended) {
  slab->is_scavenged = false;
  if (!slab->is_listed) list_slab(heap, slab);
  if (slab->free_count != slab->block_count || slab->is_kept) return true;
  const List<Span>& available = heap.available[slab->size_class.load(std::memory_order_relaxed)];
  if (available.first() == available.last() &&
      // Kept, against making and ending one in turn.
      (slab->pages == 1 || slab->bytes() <= heap.taken_bytes / kKeptSlabShare)) {
    ended.note_kept_memory(heap);
    return true;
  }
  retire_slab(heap, slab, Retired::kMayStay, ended);
  return false;
}

bool is_marked_free_locked(const Span& slab, std::uint32_t index) {
  const std::uint64_t mask = std::uint64_t{1} << (index % 64);
  return ((slab.free_bits[index / 64] | slab.remote_bits[index / 64].load(std::memory_order_relaxed)) &
          mask) != 0;
}

Span* slab_of_block(void* block, std::uint32_t* index) {
  Span* const slab = page_map.find(block);
  if (slab == nullptr || slab->kind != SpanKind::kSlab)
    os::fatal("free of a pointer that is no block", block);
  const auto offset = static_cast<std::uint32_t>(address_of(block) - address_of(slab->start));
  *index = static_cast<std::uint32_t>((std::uint64_t{offset} * slab->reciprocal) >> 32);
  if (*index * slab->stride != offset || *index >= slab->block_count)
    os::fatal("free of a pointer into a block", block);
  return slab;
}

// Memory that is free inside slabs goes back when its heap idles, if somebody looks.
void note_returned(ThreadHeap& heap, std::size_t bytes, EndedSlabs& ended) {
  heap.returned_bytes += bytes;
  if (heap.returned_bytes < kReturnedWorthALook) return;
  heap.returned_bytes = 0;
  ended.note_kept_memory(heap);
}

// Own blocks that do not lie side by side go one by one, by a path that guesses nothing about where the next
// one lies. It ends before the first block that is none of those, or is no block. \returns how many went.
unsigned return_scattered(ThreadHeap& heap, void* const* blocks, unsigned count, EndedSlabs& ended) {
  const detail::SpanTable table = page_map.first_table();
  unsigned i = 0;
  for (; i < count; ++i) {
    auto* const slab = static_cast<Span*>(table.find(blocks[i]));
    if (slab == nullptr || slab->owner.load(std::memory_order_relaxed) != &heap) break;
    const std::uint32_t stride = slab->stride;
    if (i + 1 < count) {
      const std::uintptr_t distance = address_of(blocks[i + 1]) - address_of(blocks[i]);
      if (distance == stride || distance + stride == 0) break;
    }
    const auto offset = static_cast<std::uint32_t>(address_of(blocks[i]) - address_of(slab->start));
    const auto index = static_cast<std::uint32_t>((std::uint64_t{offset} * slab->reciprocal) >> 32);
    if (index * stride != offset || index >= slab->block_count) break;
    const std::uint32_t word = index / 64;
    const std::uint64_t bits = slab->free_bits[word];
    if (((bits >> (index % 64)) & 1) != 0) break;
    slab->free_bits[word] = bits | (std::uint64_t{1} << (index % 64));
    slab->scan_word = word < slab->scan_word ? static_cast<std::uint16_t>(word) : slab->scan_word;
    slab->is_scavenged = false;
    heap.taken_bytes -= stride;
    if (++slab->free_count == slab->block_count || !slab->is_listed) [[unlikely]]
      settle_slab(heap, slab, ended);
  }
  return i;
}

// Blocks come back in runs: mostly of one slab, and of one word of its bitmap, so a run costs one lookup and
// a word one store (or one atomic or). Blocks freed in the order they were allocated lie one stride apart:
// those need no multiplication.
unsigned return_some_blocks(ThreadHeap* heap, void* const* blocks, unsigned count, unsigned most_words,
                            EndedSlabs& ended) {
  unsigned i = 0;
  std::size_t returned_bytes = heap != nullptr ? heap->taken_bytes : 0;
  for (unsigned words = 0; i < count && words < most_words;) {
    if (heap != nullptr) {
      const unsigned scattered = return_scattered(*heap, blocks + i, count - i, ended);
      words += scattered / kOwnPerRemote;
      i += scattered;
      if (i == count) break;
    }
    std::uint32_t index = 0;
    Span* const slab = slab_of_block(blocks[i], &index);
    const std::uintptr_t start = address_of(slab->start);
    const std::uint32_t stride = slab->stride, reciprocal = slab->reciprocal;
    const std::uint32_t used_bytes = slab->block_count * stride;
    const ThreadHeap* const owner = slab->owner.load(std::memory_order_relaxed);
    if (owner == nullptr) os::fatal("double free", blocks[i]);  // a slab that has ended has no live block
    const bool is_own = owner == heap;
    const unsigned first = i;
    std::uintptr_t offset = address_of(blocks[i]) - start;
    do {
      const std::uint32_t word = index / 64;
      std::uint64_t bit = std::uint64_t{1} << (index % 64), mask = 0;
      for (;;) {
        if ((mask & bit) != 0) [[unlikely]]
          os::fatal("double free", blocks[i]);
        mask |= bit;
        if (++i == count) break;
        const std::uintptr_t last_offset = offset;
        offset = address_of(blocks[i]) - start;
        if (offset >= used_bytes) break;
        if (offset == last_offset + stride) {
          ++index;
          if ((bit <<= 1) == 0) break;
          continue;
        }
        index = static_cast<std::uint32_t>((std::uint64_t{offset} * reciprocal) >> 32);
        if (index * stride != offset) [[unlikely]]
          os::fatal("free of a pointer into a block", blocks[i]);
        bit = std::uint64_t{1} << (index % 64);
        if (index / 64 != word) break;
      }
      if (is_own) {
        mark_free(*slab, word, mask);
      } else {
        return_remote(slab, word, mask, ended);
      }
      // Another slab's block ends the run, whichever word it fell out of.
    } while (++words < most_words && i < count && offset < used_bytes);
    if (is_own) {
      heap->taken_bytes -= std::size_t{i - first} * stride;
      settle_slab(*heap, slab, ended);
    } else if (heap != nullptr) {
      ++heap->counters.remote_batches;
      returned_bytes += std::size_t{i - first} * stride;
    }
  }
  if (heap != nullptr) note_returned(*heap, returned_bytes - heap->taken_bytes, ended);
  return i;
}

void return_blocks(ThreadHeap* heap, void* const* blocks, unsigned count, EndedSlabs& ended) {
  return_some_blocks(heap, blocks, count, UINT_MAX, ended);
}

bool collect_pending_locked(ThreadHeap& heap, SizeClass size_class, EndedSlabs& ended) {
  if (heap.pending[size_class].load(std::memory_order_seq_cst) == nullptr) return false;
  Span* slab = heap.pending[size_class].exchange(nullptr, std::memory_order_seq_cst);
  std::uint32_t count = 0;
  for (Span* next = nullptr; slab != nullptr; slab = next, ++count) {
    next = slab->pending_next.load(std::memory_order_relaxed);
    slab->is_pending.exchange(0, std::memory_order_seq_cst);
    ThreadHeap* const owner = slab->owner.load(std::memory_order_seq_cst);
    if (owner == &heap) {
      heap.taken_bytes -= merge_remote_bits(*slab) * slab->stride;
      if (slab->free_count != 0) settle_slab(heap, slab, ended);
    } else if (owner != nullptr && slab->is_pending.exchange(1) == 0) {
      announce(slab);
    }
  }
  heap.pending_count.fetch_sub(count, std::memory_order_relaxed);
  return !heap.available[size_class].is_empty();
}

// A Span that served a slab of another class before may still stand on that class's stack, and what is freed
// in it from then on too: so all stacks are looked at where nothing may be overlooked.
void collect_all_pending_locked(ThreadHeap& heap, EndedSlabs& ended) {
  if (heap.pending_count.load(std::memory_order_relaxed) == 0) return;
  for (unsigned size_class = 1; size_class < kClassCount; ++size_class)
    collect_pending_locked(heap, static_cast<SizeClass>(size_class), ended);
}

unsigned take_blocks_locked(ThreadHeap& heap, SizeClass size_class, void** blocks, unsigned wanted,
                            EndedSlabs& ended) {
  List<Span>& available = heap.available[size_class];
  unsigned taken = 0;
  while (taken < wanted) {
    Span* slab = available.first();
    if (slab == nullptr) {
      if (taken != 0) break;
      if (collect_pending_locked(heap, size_class, ended)) continue;
      slab = registry.adopt_slab(heap, size_class);
      if (slab == nullptr) {
        // Slabs of one block come and go with each call, and the page cache keeps their pages for every
        // class.
        if (class_geometry.of[size_class].block_bytes <= kOwnSlabBlockBytes)
          look_for_idle_classes_locked(heap, ended);
        slab = available.is_empty() ? make_slab(heap, size_class) : nullptr;
        if (slab == nullptr && !available.is_empty()) continue;
      }
      if (slab == nullptr) break;
      count_slab_in(heap, *slab);
      list_slab(heap, slab);
    }
    const unsigned part = take_from_slab(*slab, blocks + taken, wanted - taken);
    heap.taken_bytes += std::size_t{part} * slab->stride;
    if (heap.taken_bytes > heap.peak_taken_bytes) heap.peak_taken_bytes = heap.taken_bytes;
    taken += part;
    if (slab->free_count == 0) unlist_slab(heap, slab);
  }
  return taken;
}

void* allocate_locked(ThreadHeap& heap, unsigned bin, EndedSlabs& ended) {
  if (count_of(heap, bin) == 0) {
    heap.magazines[bin].was_missed = true;  // so that a look for idle classes leaves it alone
    ++heap.counters.refills;
    if (!prepare_magazine(heap, bin)) {
      void* block = nullptr;
      return take_blocks_locked(heap, detail::class_of_bin[bin], &block, 1, ended) == 1 ? block : nullptr;
    }
    const Magazine& magazine = heap.magazines[bin];
    const unsigned wanted = at_most(kLargestRefill, magazine.capacity / 2u + 1);
    const unsigned taken =
        take_blocks_locked(heap, detail::class_of_bin[bin], magazine.blocks + 1, wanted, ended);
    if (taken == 0) return nullptr;
    set_record(heap, bin, taken);
  }
  return detail::pop(heap.record(bin));
}

namespace {

// Which part of a full magazine is flushed next: each in turn, never the newest, which then close the gap.
// Moving all others down would cost more than the flush.
unsigned next_flushed(const Magazine& magazine, unsigned count, unsigned flushed) {
  if (2 * flushed > count) return 0;
  const unsigned last = count - 2 * flushed;
  if (magazine.next_flushed <= last) return magazine.next_flushed;
  return magazine.next_flushed < last + flushed ? last : 0;
}

void flush(ThreadHeap& heap, unsigned bin, unsigned count, EndedSlabs& ended) {
  Magazine& magazine = heap.magazines[bin];
  const unsigned wanted = at_most(kLargestFlush, count - count / 2);
  const unsigned first = next_flushed(magazine, count, wanted);
  void** const gap = magazine.blocks + 1 + first;
  const unsigned flushed = return_some_blocks(&heap, as_const(gap), wanted, kMostWords, ended);
  const unsigned kept = count - flushed, behind = kept - first;
  const unsigned moved = at_most(flushed, behind);
  std::memmove(gap, magazine.blocks + 1 + count - moved, moved * sizeof(void*));
  magazine.next_flushed = static_cast<std::uint16_t>(first + flushed);
  set_record(heap, bin, kept);
}

}  // namespace

void deallocate_locked(ThreadHeap& heap, void* block, unsigned bin, EndedSlabs& ended) {
  Magazine& magazine = heap.magazines[bin];
  const unsigned count = count_of(heap, bin);
  if (count == magazine.capacity) {
    heap.magazines[bin].was_missed = true;  // so that a look for idle classes leaves it alone
    ++heap.counters.flushes;
    if (count != 0) {
      flush(heap, bin, count, ended);
    }
    if (!prepare_magazine(heap, bin)) {
      return_blocks(&heap, &block, 1, ended);
      return;
    }
  }
  if (!detail::push(heap.record(bin), block)) os::fatal("double free", block);
}

std::size_t cached_count(const ThreadHeap& heap, unsigned bin) {
  if (heap.magazines[bin].blocks == nullptr) return 0;
  return static_cast<std::size_t>(__atomic_load_n(&heap.record(bin).top, __ATOMIC_RELAXED) -
                                  heap.magazines[bin].blocks);
}

void drop_magazine_locked(ThreadHeap& heap, unsigned bin, EndedSlabs& ended) {
  Magazine& magazine = heap.magazines[bin];
  if (magazine.blocks == nullptr) return;
  return_blocks(&heap, as_const(magazine.blocks + 1), count_of(heap, bin), ended);
  heap.record(bin) = kEmptyRecord;
  heap.magazine_bytes -=
      magazine.capacity * std::size_t{class_geometry.of[detail::class_of_bin[bin]].block_bytes};
  metadata.free(magazine.blocks, magazine_record_bytes(magazine.capacity));
  magazine = {};
}

void empty_magazines_locked(ThreadHeap& heap, EndedSlabs& ended) {
  for (unsigned bin = 1; bin < kClassCount; ++bin) drop_magazine_locked(heap, bin, ended);
}

void trim_class_locked(ThreadHeap& heap, SizeClass size_class, TrimDepth depth, EndedSlabs& ended) {
  collect_pending_locked(heap, size_class, ended);
  for (Span* slab = heap.available[size_class].first(); slab != nullptr;) {
    Span* const next = slab->next;
    if (depth == TrimDepth::kAll) slab->is_kept = false;
    if (slab->free_count == slab->block_count && !slab->is_kept)
      retire_slab(heap, slab, Retired::kGoes, ended);
    slab = next;
  }
}

std::size_t most_spare_bytes(const ThreadHeap& heap) {
  return heap.peak_taken_bytes < thread_limits.magazine_bytes ? heap.peak_taken_bytes
                                                              : thread_limits.magazine_bytes;
}

void give_up_spare_locked(ThreadHeap& heap, std::size_t bytes, EndedSlabs& ended) {
  for (List<Span>& slabs : heap.spare) {
    while (heap.spare_bytes > bytes && !slabs.is_empty()) {
      Span* const slab = slabs.last();
      slabs.remove(slab);
      heap.spare_bytes -= slab->bytes();
      ++heap.counters.slabs_ended;
      ended.add(slab);
    }
  }
}

void trim_locked(ThreadHeap& heap, TrimDepth depth, EndedSlabs& ended) {
  collect_all_pending_locked(heap, ended);
  for (unsigned size_class = 1; size_class < kClassCount; ++size_class)
    if (!class_is_ending[size_class].load(std::memory_order_relaxed))
      trim_class_locked(heap, static_cast<SizeClass>(size_class), depth, ended);
  give_up_spare_locked(heap, 0, ended);
}

}  // namespace tarn::internal
