#include "thread/idle_classes.h"

#include "central/cached/cached_spans.h"
#include "central/cached/depot.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/remote_free.h"
#include "thread/magazine.h"

namespace tarn::internal {
namespace {

constexpr unsigned kClassesPerLook = 64;
// A look comes to no class twice: at the first visit it spares the one that its call refills.
static_assert(kClassesPerLook < detail::kFirstPoolClass - 1);
constexpr std::size_t kGrowthShare = 256;
constexpr std::size_t kLeastGrowth = 2 * kPageBytes;
constexpr std::size_t kSmallHeapBytes = 256 * 1024;  // a look costs more than it can find
// Fewer take magazines from classes that are in use, where a thread uses many: with 64, 64 threads with 500
// objects each take 11 ns a replacement instead of 7.
constexpr unsigned kMissesPerLook = 512;

/// How eagerly a look for idle classes takes.
struct Look {
  unsigned most_blocks;
  unsigned misses_shift;  // by which a class's misses fall
};
constexpr Look kWhenMagazinesLackRoom{64, 1};  // as few blocks as a flush returns
// A heap that grows writes pages for the first time, beside which the return of so many blocks is little.
constexpr Look kWhenTheHeapGrows{1024, 8};

// With time, what a class has not needed since the owners were looked at before goes back. Each call returns
// so many blocks, each of which may end a slab. Few idle blocks pin little, and others in their place would
// be other pages.
constexpr unsigned kBlocksWithTime = 128;
constexpr std::size_t kWorthTime = kPageBytes;  // bytes of blocks in a magazine
// The same when what the owner's slabs gave out has fallen by so much, and by a quarter; by twice as much
// after each rise from such a fall, until time has passed: a loop that fills its heap again would pay each
// round.
constexpr std::size_t kFallWorthALook = 128 * 1024;
constexpr unsigned kMostRises = 20;

// Returns what a class did not need since the last look: blocks in its magazine, which pin slabs, and an
// empty slab. A magazine that only frees came to serves nobody. \returns how many blocks went.
unsigned give_up_idle_class(ThreadHeap& heap, SizeClass size_class, const Look& look, unsigned most,
                            ReturnedPages& returned) {
  if (heap.magazines.find(size_class) == nullptr) return 0;
  Magazine& magazine = heap.magazines.made(size_class);
  // Nothing is written of a class that was never used.
  if (magazine.misses != 0) magazine.misses >>= look.misses_shift;
  if (magazine.blocks == nullptr) return 0;
  if (magazine.serves) return magazine.serves = false, 0;
  const unsigned gone = shrink_idle_magazine(heap, size_class, most, returned);
  if (!is_private_class(size_class)) retire_empty_slab(*heap.owner, size_class, returned);
  return gone;
}

// The same with time, of a class with many blocks, and of one that is only freed to; after a peak, of any.
// The misses stay as the other looks count them. What the class's turn has seen stays until the turn ends.
unsigned give_up_with_time(ThreadHeap& heap, SizeClass size_class, bool is_after_a_peak, unsigned most,
                           ReturnedPages& returned) {
  if (heap.magazines.find(size_class) == nullptr) return 0;
  Magazine& magazine = heap.magazines.made(size_class);
  if (magazine.blocks == nullptr) return 0;
  unsigned gone = 0;
  if (is_after_a_peak && !is_private_class(size_class)) {
    gone = shrink_after_a_peak(heap, size_class, most, returned);
  } else if (count_of(heap, size_class) * std::size_t{class_geometry[size_class].block_bytes} >= kWorthTime) {
    if (!magazine.was_missed && magazine.top_seen == newest_block(heap, size_class)) {
      gone = shrink_idle_magazine(heap, size_class, most, returned);
    } else if (!magazine.was_refilled) {
      gone = shrink_unrefilled_magazine(heap, size_class, most, returned);
    }
  }
  magazine.top_seen = newest_block(heap, size_class);
  return gone;
}

void end_turn(ThreadHeap& heap, SizeClass size_class) {
  if (heap.magazines.at(size_class).was_missed) {
    Magazine& magazine = heap.magazines.made(size_class);
    magazine.was_missed = magazine.was_refilled = false;
  }
  --heap.classes_to_look_at;
}

// The peak is a recent one: it falls with time. So slabs that come and go need no look.
bool grows_beyond_its_peak(SlabOwner& owner) {
  if (owner.slab_bytes < kSmallHeapBytes || owner.slab_bytes < owner.looked_at_bytes) return false;
  const std::size_t more = owner.slab_bytes / kGrowthShare;
  owner.looked_at_bytes = owner.slab_bytes + (more < kLeastGrowth ? kLeastGrowth : more);
  return true;
}

// Some classes of a heap, in turn, return idle blocks: before the heap grows, which it may then not have to,
// and when magazines that are in use have no room beside idle ones. A class that has more than a look may
// return comes again in the next, unless frees fill it meanwhile: the turn would never end.
void look_for_idle_classes_locked(ThreadHeap& heap, const Look& look, ReturnedPages& returned) {
  heap.lacks_room = false;
  heap.misses_since_look = 0;
  collect_all_pending_locked(*heap.owner, returned);
  const unsigned end = end_of_classes.load(std::memory_order_acquire);
  unsigned left = look.most_blocks;
  for (unsigned i = 0; i < kClassesPerLook; ++i) {
    const unsigned next = heap.last_class_looked_at % (end - 1) + 1;
    const bool was_missed = heap.magazines.at(class_of_index(next)).misses != 0;
    left -= give_up_idle_class(heap, class_of_index(next), look, left, returned);
    if (left == 0 && !was_missed) break;
    heap.last_class_looked_at = next;
    if (left == 0) break;
  }
  returned.give_back();
}

// Whether much has come back since the last time, so that what is in magazines pins more than what is used.
bool has_fallen(ThreadHeap& heap) {
  const SlabOwner& owner = *heap.owner;
  if (&owner != heap.home) return false;
  const std::size_t taken = owner.taken_bytes, peak = heap.peak_taken_bytes;
  if (taken >= peak) return heap.peak_taken_bytes = taken, false;
  const std::size_t worth_it = kFallWorthALook << heap.rises;
  if (peak - taken < worth_it || peak - taken < peak / 4) return false;
  const bool has_risen = peak - heap.fallen_taken_bytes >= worth_it;
  if (has_risen && heap.rises < kMostRises && may_keep_memory()) ++heap.rises;
  heap.peak_taken_bytes = heap.fallen_taken_bytes = taken;
  return is_past_its_peak(owner, parked_in_shared_slabs(owner) + heap.magazine_bytes);
}

std::size_t cached_bytes(const ThreadHeap& heap) {
  std::size_t bytes = 0;
  for (const SizeClass size_class : classes_of(*heap.owner))
    bytes += count_of(heap, size_class) * std::size_t{bin_geometry[size_class].block_bytes};
  return bytes;
}

bool is_time_to_look(ThreadHeap& heap) {
  const std::uint32_t looks = looks_at_owners;
  const bool has_passed = heap.looks_seen != looks;
  if (has_passed || has_fallen(heap)) [[unlikely]]
    heap.classes_to_look_at = end_of_classes.load(std::memory_order_acquire) - 1;
  if (has_passed) heap.rises = 0;
  heap.looks_seen = looks;
  return heap.classes_to_look_at != 0;
}

// Each class has its turn once for each look at the owners, in steps of slow calls. One that has more than a
// step returns comes again in the next, unless its own frees are these calls: it would never end.
void look_with_time(ThreadHeap& heap, SizeClass missed, ReturnedPages& returned) {
  const SlabOwner& owner = *heap.owner;
  const bool is_after_a_peak = is_past_its_peak(owner, parked_in_shared_slabs(owner) + cached_bytes(heap));
  const std::size_t returned_before = returned.bytes();
  os::LockGuard guard(heap.owner->mutex);
  collect_all_pending_locked(*heap.owner, returned);
  unsigned left = kBlocksWithTime;
  for (unsigned i = 0; i < kClassesPerLook && heap.classes_to_look_at != 0; ++i) {
    const SizeClass size_class = class_of_index(heap.classes_to_look_at);
    left -= give_up_with_time(heap, size_class, is_after_a_peak, left, returned);
    if (left == 0 && size_class != missed) break;
    end_turn(heap, size_class);
    if (left == 0) break;
  }
  returned.give_back();
  returned.charge(returned_before);
}

}  // namespace

void look_at_a_miss(ThreadHeap& heap, SizeClass missed, ReturnedPages& returned) {
  ++heap.misses_since_look;
  if (heap.batch.is_inside()) [[unlikely]]
    return;
  if (is_time_to_look(heap)) [[unlikely]]
    return look_with_time(heap, missed, returned);
  if (heap.misses_since_look < kMissesPerLook || !heap.lacks_room) return;
  os::LockGuard guard(heap.owner->mutex);
  look_for_idle_classes_locked(heap, kWhenMagazinesLackRoom, returned);
}

void look_before_growth_locked(ThreadHeap& heap, ReturnedPages& returned) {
  const bool is_at_a_peak = grows_beyond_its_peak(*heap.owner);
  const bool much_has_missed =
      heap.misses_since_look >= kMissesPerLook && heap.owner->slab_bytes >= kSmallHeapBytes;
  if (is_at_a_peak) end_cached_spans(*heap.owner, returned);
  // A signal handler may have come between the steps of a batch or a marked hit.
  if ((!is_at_a_peak && !much_has_missed) || heap.batch.is_inside()) return;
  look_for_idle_classes_locked(heap, kWhenTheHeapGrows, returned);
}

}  // namespace tarn::internal
