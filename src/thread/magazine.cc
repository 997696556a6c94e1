#include "thread/magazine.h"

#include "central/cached/depot.h"
#include "central/slabs/return_blocks.h"
#include "os/fatal.h"
#include "page/memory/metadata.h"

namespace tarn::internal {
namespace {

constexpr unsigned kFirstCapacity = 15;  // two cache lines with the sentinel
constexpr std::size_t kFirstMagazineBytes = 16 * 1024;

// Threads that share an owner have its depot to fall back on, and are many. These limits are of small blocks,
// and of larger ones that are seldom used.
constexpr std::size_t kSharingThreadsBytes = 8 * 1024 * 1024;
constexpr std::size_t kLeastSharingBytes = 128 * 1024;
constexpr std::size_t kSharingShare = 8;        // of what a thread has taken
constexpr std::size_t kFirstSharingShare = 32;  // of what a thread may keep, for a first magazine

// How much a thread may keep in its magazines. All threads together may keep kThreadsBytes, however little
// they have taken: so few threads get much, and many threads little each.
constexpr std::size_t kThreadsBytes = 16 * 1024 * 1024;
constexpr std::size_t kLeastThreadBytes = 64 * 1024;
// Of small blocks a thread may also keep as many as it has taken: idle blocks are dropped before the heap
// grows. Larger blocks have their own pages, which another class could use; where each block is a slab, the
// page cache keeps the pages for all threads. So a class of larger blocks keeps little before it has shown
// that it is in use, by many misses.
constexpr std::size_t kMostSmallBytes = 1024 * 1024;
constexpr std::size_t kMostRareBytes = 512 * 1024;
constexpr std::size_t kMostBusyBytes = 6 * 1024 * 1024;
constexpr std::size_t kLargerShare = 16;
constexpr std::size_t kOwnSlabShare = 32;
constexpr unsigned kMissesOfABusyClass = 32;

// After a peak a thread keeps little: so much of what it has taken, shared by all classes, and of each class
// at most so many blocks.
constexpr std::size_t kShareAfterAPeak = 32;
constexpr unsigned kMostAfterAPeak = 62;  // and one that its class may miss
constexpr unsigned kLargestReserve = detail::kIsHardened ? 16 : 0;
static_assert((kLargestReserve + kLargestMagazine + 1) * sizeof(void*) <= Metadata::kLargestReused);
constexpr unsigned kRoomAfterAPeak = 2;

// Of an array: the reserve, the end, and the slots.
std::size_t array_bytes(unsigned reserve, unsigned capacity) {
  return (reserve + 1 + capacity) * sizeof(void*);
}

// A power of two of slots, or none. What waits there is free memory that nobody may use: so few large blocks.
unsigned reserve_slots(const ClassGeometry& geometry) {
  if (!detail::kIsHardened) return 0;
  return geometry.block_bytes <= 512 ? kLargestReserve : geometry.block_bytes <= 4096 ? 4 : 1;
}

std::size_t share_of_a_sharing_thread() {
  const std::size_t threads = heaps_in_use.load(std::memory_order_relaxed);
  const std::size_t share = kSharingThreadsBytes / (threads == 0 ? 1 : threads);
  return share > kMostSmallBytes ? kMostSmallBytes : share < kLeastSharingBytes ? kLeastSharingBytes : share;
}

unsigned first_capacity(const ClassGeometry& geometry) {
  const std::size_t bytes =
      threads_share_owners() ? share_of_a_sharing_thread() / kFirstSharingShare : kFirstMagazineBytes;
  const std::size_t by_bytes = bytes / geometry.block_bytes;
  return by_bytes > kFirstCapacity ? kFirstCapacity : static_cast<unsigned>(by_bytes);
}

std::size_t share_of_a_thread(std::size_t most) {
  const std::size_t threads = heaps_in_use.load(std::memory_order_relaxed);
  const std::size_t share = threads < 2 ? kThreadsBytes : kThreadsBytes / threads;
  return share > most ? most : share < kLeastThreadBytes ? kLeastThreadBytes : share;
}

// \returns the thread's part of what the owner's threads have taken.
std::size_t taken_by_a_thread(const SlabOwner& owner) {
  const std::uint32_t threads = owner.is_of_pool ? heaps_in_use.load(std::memory_order_relaxed)
                                                 : owner.threads.load(std::memory_order_relaxed);
  return threads < 2 ? owner.taken_bytes : owner.taken_bytes / threads;
}

bool may_keep(const ThreadHeap& heap, SizeClass size_class, std::size_t more_bytes) {
  const std::size_t block_bytes = class_geometry[size_class].block_bytes;
  if (heap.magazine_bytes + more_bytes > thread_limits.magazine_bytes) return false;
  const std::size_t larger = heap.larger_magazine_bytes,
                    taken = taken_by_a_thread(owner_serving(heap, size_class));
  // Small and larger blocks have budgets of their own: a share of what the thread has taken, or its part of
  // what all threads may keep. Sharing threads keep less; of larger blocks in rare classes that part only.
  const bool is_small = block_bytes <= kSmallBlockBytes, shares = threads_share_owners();
  const std::size_t bytes = (is_small ? heap.magazine_bytes - larger : larger) + more_bytes;
  if (is_small && shares) return bytes <= taken / kSharingShare || bytes <= share_of_a_sharing_thread();
  if (is_small) return bytes <= taken || bytes <= share_of_a_thread(kMostSmallBytes);
  const std::size_t share = has_own_slab(class_geometry[size_class]) ? kOwnSlabShare : kLargerShare;
  const bool is_busy = heap.magazines.at(size_class).misses >= kMissesOfABusyClass;
  if (shares && !is_busy) return bytes <= share_of_a_sharing_thread();
  return bytes <= taken / share || bytes <= share_of_a_thread(is_busy ? kMostBusyBytes : kMostRareBytes);
}

void count_capacity(ThreadHeap& heap, SizeClass size_class, std::size_t before, std::size_t now) {
  const std::size_t block_bytes = class_geometry[size_class].block_bytes;
  const std::size_t more_bytes = (now - before) * block_bytes;  // modulo 2^64 where it is less
  heap.magazine_bytes += more_bytes;
  if (block_bytes > kSmallBlockBytes) heap.larger_magazine_bytes += more_bytes;
}

// \pre the array has room.
void set_capacity(ThreadHeap& heap, SizeClass size_class, unsigned capacity, unsigned count) {
  Magazine& magazine = heap.magazines.made(size_class);
  count_capacity(heap, size_class, magazine.capacity, capacity);
  magazine.capacity = static_cast<std::uint16_t>(capacity);
  set_record(heap, size_class, count);
}

// Replaces the array and keeps its blocks. \pre the blocks fit. \returns false when memory is refused.
bool resize(ThreadHeap& heap, SizeClass size_class, unsigned capacity) {
  Magazine& magazine = heap.magazines.made(size_class);
  const unsigned count = count_of(heap, size_class);
  const unsigned reserve = reserve_slots(class_geometry[size_class]);
  auto* const array = static_cast<void**>(metadata.allocate(array_bytes(reserve, capacity)));
  if (array == nullptr) return false;
  void** const old_array = array_of(magazine);
  const unsigned old_room = magazine.room;
  // Without an array there is nothing in the reserve, and no block.
  for (unsigned i = 0; i < reserve + 1 + count; ++i) array[i] = old_array == nullptr ? nullptr : old_array[i];
  magazine.blocks = array + reserve;
  magazine.reserve = static_cast<std::uint8_t>(reserve);
  magazine.room = static_cast<std::uint16_t>(capacity);
  set_capacity(heap, size_class, capacity, count);
  if (old_array != nullptr) metadata.free(old_array, array_bytes(reserve, old_room));
  return true;
}

void lower_capacity(ThreadHeap& heap, SizeClass size_class, unsigned most) {
  const unsigned count = count_of(heap, size_class), capacity = heap.magazines.at(size_class).capacity;
  const unsigned least = count + kRoomAfterAPeak > most ? count + kRoomAfterAPeak : most;
  if (least < capacity) set_capacity(heap, size_class, least, count);
}

// Returns blocks of a magazine. Blocks of other threads' owners, and those of a pool while its mutex is not
// free, return as remote frees.
void return_from_magazine(ThreadHeap& heap, SizeClass size_class, void* const* blocks, unsigned count,
                          ReturnedPages& returned) {
  if (!is_private_class(size_class)) return return_blocks(heap.owner, blocks, count, returned);
  SlabOwner& owner = owner_serving(heap, size_class);
  const bool is_locked = owner.mutex.try_lock();
  return_blocks(is_locked ? &owner : nullptr, blocks, count, returned);
  if (is_locked) owner.mutex.unlock();
}

void return_reserve(ThreadHeap& heap, SizeClass size_class, ReturnedPages& returned) {
  const Magazine& magazine = heap.magazines.at(size_class);
  for (void** slot = array_of(magazine); slot != magazine.blocks; ++slot) {
    void* const block = *slot;
    if (block == nullptr) continue;
    *slot = nullptr;  // first: a call that is left half way loses the block rather than hand it out twice
    return_from_magazine(heap, size_class, &block, 1, returned);
  }
}

unsigned capacity_after_a_peak(const SlabOwner& owner, const ClassGeometry& geometry) {
  const std::size_t bytes = taken_by_a_thread(owner) / kShareAfterAPeak / (owner.classes_with_slabs + 1);
  const std::size_t blocks = bytes / geometry.block_bytes;
  return at_most(geometry.largest_magazine,
                 blocks < kMostAfterAPeak ? static_cast<unsigned>(blocks) : kMostAfterAPeak);
}

}  // namespace

unsigned most_capacity(const ThreadHeap& heap, SizeClass size_class) {
  const ClassGeometry& geometry = class_geometry[size_class];
  const SlabOwner& owner = owner_serving(heap, size_class);
  return is_past_its_peak_with_parked(owner)
             ? at_most(geometry.largest_magazine, capacity_after_a_peak(owner, geometry) + 1)
             : geometry.largest_magazine;
}

bool prepare_magazine(ThreadHeap& heap, SizeClass size_class) {
  if (is_private_class(size_class) &&
      (detail::kIsHardened ||
       private_class(size_class).owner->no_magazines.load(std::memory_order_seq_cst) != 0))
    return false;
  Magazine* const made = heap.magazines.make(size_class);
  if (made == nullptr) return false;
  Magazine& magazine = *made;
  const ClassGeometry& geometry = class_geometry[size_class];
  // The first magazine is small; each miss, refill or flush, doubles it while the thread may keep so much.
  // After a peak most_capacity() is small, and a larger magazine is lowered to it.
  const unsigned first = first_capacity(geometry);
  if (magazine.blocks == nullptr && first != 0) return resize(heap, size_class, first);
  const unsigned most = most_capacity(heap, size_class);
  if (magazine.capacity > most) lower_capacity(heap, size_class, most);
  if (magazine.capacity >= most) return true;
  const unsigned capacity = at_most(most, magazine.capacity * 2u + 1);
  const std::size_t more = (capacity - std::size_t{magazine.capacity}) * geometry.block_bytes;
  if (!may_keep(heap, size_class, more)) {
    heap.lacks_room = true;
  } else if (capacity <= magazine.room) {
    set_capacity(heap, size_class, capacity, count_of(heap, size_class));
  } else {
    resize(heap, size_class, capacity);
  }
  return magazine.blocks != nullptr;
}

unsigned return_newest_blocks(ThreadHeap& heap, SizeClass size_class, unsigned most,
                              ReturnedPages& returned) {
  const Magazine& magazine = heap.magazines.at(size_class);
  const unsigned count = count_of(heap, size_class), gone = at_most(most, count);
  if (gone == 0) return 0;
  return_from_magazine(heap, size_class, magazine.blocks + 1 + count - gone, gone, returned);
  set_record(heap, size_class, count - gone);
  return gone;
}

unsigned shrink_idle_magazine(ThreadHeap& heap, SizeClass size_class, unsigned most,
                              ReturnedPages& returned) {
  const unsigned gone = return_newest_blocks(heap, size_class, most, returned);
  if (gone < most) return_reserve(heap, size_class, returned);
  const unsigned capacity = heap.magazines.at(size_class).capacity;
  if (count_of(heap, size_class) == 0 && capacity > 1) resize(heap, size_class, capacity / 2);
  return gone;
}

unsigned shrink_after_a_peak(ThreadHeap& heap, SizeClass size_class, unsigned most, ReturnedPages& returned) {
  const unsigned kept = capacity_after_a_peak(*heap.owner, class_geometry[size_class]);
  const unsigned count = count_of(heap, size_class);
  const unsigned gone =
      count <= kept ? 0 : return_newest_blocks(heap, size_class, at_most(most, count - kept), returned);
  lower_capacity(heap, size_class, kept);
  return gone;
}

// What only comes fills a magazine for nobody.
unsigned shrink_unrefilled_magazine(ThreadHeap& heap, SizeClass size_class, unsigned most,
                                    ReturnedPages& returned) {
  const unsigned count = count_of(heap, size_class);
  if (count <= kFirstCapacity) return 0;
  const unsigned gone =
      return_newest_blocks(heap, size_class, at_most(most, count - kFirstCapacity), returned);
  lower_capacity(heap, size_class, heap.magazines.at(size_class).capacity / 2);
  return gone;
}

unsigned count_left(const ThreadHeap& heap, SizeClass size_class) {
  if (!detail::kIsHardened && heap.visit.load(std::memory_order_relaxed) != Visit::kTaken)
    return count_of(heap, size_class);
  unsigned left = 0;
  visit_magazine(heap, size_class, [&left](void*) { ++left; });
  return left;
}

// A hit that was under way when the records were hidden touches the slots from the newest block on upward,
// and stores the top one lower or higher. So what lies below that block is nobody else's.
void take_lower_blocks_locked(ThreadHeap& heap, ReturnedPages& returned) {
  constexpr unsigned kAtOnce = 64;
  for (const SizeClass size_class : all_classes()) {
    const unsigned count = count_of(heap, size_class);
    for (unsigned first = 1; first < count;) {
      void* taken[kAtOnce];
      const unsigned part = at_most(kAtOnce, count - first);
      for (unsigned i = 0; i < part; ++i)
        taken[i] =
            __atomic_exchange_n(heap.magazines.at(size_class).blocks + first + i, nullptr, __ATOMIC_RELAXED);
      return_from_magazine(heap, size_class, taken, part, returned);
      first += part;
    }
  }
}

namespace {

void close_gap(ThreadHeap& heap, SizeClass size_class) {
  void** const blocks = heap.magazines.at(size_class).blocks;
  const unsigned count = count_of(heap, size_class);
  if (count == 0) return;
  unsigned left = 0;
  for (unsigned i = 1; i <= count; ++i)
    if (blocks[i] != nullptr) blocks[++left] = blocks[i];
  set_record(heap, size_class, left);
}

}  // namespace

void close_gaps_locked(ThreadHeap& heap) {
  const Visit visit = heap.visit.load(std::memory_order_relaxed);
  if (visit == Visit::kTaken)
    for (const SizeClass size_class : all_classes()) close_gap(heap, size_class);
  heap.visit.store(Visit::kNone, std::memory_order_seq_cst);
}

void drop_magazine_locked(ThreadHeap& heap, SizeClass size_class, ReturnedPages& returned) {
  if (heap.magazines.at(size_class).blocks == nullptr) return;
  Magazine& magazine = heap.magazines.made(size_class);
  if (heap.visit.load(std::memory_order_relaxed) == Visit::kTaken) close_gap(heap, size_class);
  return_from_magazine(heap, size_class, magazine.blocks + 1, count_of(heap, size_class), returned);
  return_reserve(heap, size_class, returned);
  heap.record(size_class) = kEmptyRecord;
  count_capacity(heap, size_class, magazine.capacity, 0);
  metadata.free(array_of(magazine), array_bytes(magazine.reserve, magazine.room));
  magazine = {};
}

void drop_magazines_locked(ThreadHeap& heap, ReturnedPages& returned) {
  for (const SizeClass size_class : all_classes()) drop_magazine_locked(heap, size_class, returned);
}

void validate_locked(const ThreadHeap& heap) {
  std::size_t bytes = 0, larger_bytes = 0;
  for (const SizeClass size_class : all_classes()) {
    const Magazine& magazine = heap.magazines.at(size_class);
    const detail::Record& record = heap.record(size_class);
    void** const top = detail::slot_at(heap.cache, record.top);
    // Without a magazine each call misses. Below the lowest block stands the nullptr that ends a magazine; a
    // visitor may have taken the lower blocks.
    if (magazine.blocks == nullptr) {
      TARN_CHECK(record.top == kEmptyRecord.top && record.limit == kEmptyRecord.limit);
      continue;
    }
    TARN_CHECK(magazine.capacity <= magazine.room);
    TARN_CHECK(magazine.blocks[0] == nullptr &&
               detail::slot_at(heap.cache, record.limit) == magazine.blocks + magazine.capacity);
    TARN_CHECK(magazine.blocks <= top && top <= magazine.blocks + magazine.capacity);
    for (void** block = magazine.blocks + 1; block <= top; ++block)
      TARN_CHECK(*block != nullptr || heap.visit == Visit::kTaken);
    const std::size_t block_bytes = class_geometry[size_class].block_bytes;
    bytes += magazine.capacity * block_bytes;
    if (block_bytes > kSmallBlockBytes) larger_bytes += magazine.capacity * block_bytes;
  }
  TARN_CHECK(bytes == heap.magazine_bytes && larger_bytes == heap.larger_magazine_bytes);
}

}  // namespace tarn::internal
