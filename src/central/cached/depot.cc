#include "central/cached/depot.h"

#include <bit>
#include <climits>
#include <cstring>
#include <new>
#include <utility>

#include "central/cached/cached_spans.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/return_blocks.h"
#include "os/locks/held_locks.h"
#include "page/memory/metadata.h"

namespace tarn::internal {
namespace {

// What a class may park before its threads have asked for more.
constexpr std::size_t kLeastParkedBytes = 16 * 1024;
constexpr std::uint32_t kLeastParked = 64;
constexpr std::uint32_t kMostCounted = 1 << 24;

// Of blocks that share slabs an owner may park what a thread may keep, for each of its threads up to so many.
constexpr std::uint32_t kMostThreadsCounted = 8;

constexpr std::uint8_t kFlushesToQualify = 32;
constexpr std::uint8_t kFlushesPerReturn = 16;

// As many as a park or an unpark needs or leaves, so that one after the other asks for no memory.
constexpr unsigned kMostSpareArrays = 3;

constexpr unsigned kTries = 32;  // as long as a copy takes

constexpr unsigned kMostGivingWay = 256;  // blocks, 1 to 2 us
constexpr unsigned kBlocksPerSlab = 16;   // as many cost what the end of a slab costs

ParkedArray* take_array(Parked& parked) {
  ParkedArray* const array = parked.spare;
  if (array == nullptr) return static_cast<ParkedArray*>(metadata.allocate(sizeof(ParkedArray)));
  parked.spare = array->next;
  --parked.spare_count;
  return array;
}

void give_back_array(Parked& parked, ParkedArray* array) {
  if (parked.spare_count == kMostSpareArrays) return metadata.free(array, sizeof(ParkedArray));
  array->next = parked.spare;
  parked.spare = array;
  ++parked.spare_count;
}

Depot* depot_of(const SlabOwner& owner) { return owner.depot.load(std::memory_order_acquire); }

// Threads may do so at once: one of them wins.
void make_depot(SlabOwner& owner) {
  const std::size_t bytes = Depot::bytes_for(owner.class_count);
  auto* const depot = static_cast<Depot*>(metadata.allocate_zeroed(bytes));
  if (depot == nullptr) return;
  for (unsigned i = 0; os::kChecksLocks && i < owner.class_count; ++i) new (&depot->of()[i].mutex) DepotMutex;
  Depot* none = nullptr;
  if (!owner.depot.compare_exchange_strong(none, depot, std::memory_order_acq_rel))
    metadata.free(depot, bytes);
}

bool is_in(const ClassSet& set, unsigned place) {
  return (set.words[place / 64].load(std::memory_order_acquire) & bitmap::bit(place)) != 0;
}
void set(ClassSet& set, unsigned place) {
  set.words[place / 64].fetch_or(bitmap::bit(place), std::memory_order_release);
}
void clear(ClassSet& set, unsigned place) {
  set.words[place / 64].fetch_and(~bitmap::bit(place), std::memory_order_relaxed);
}

/// Where an owner parks blocks of a class.
struct Shelf {
  Depot* depot;  // nullptr: the owner has none
  unsigned place;
  const ClassGeometry& geometry;

  Shelf(const SlabOwner& owner, SizeClass size_class)
      : depot(depot_of(owner)), place(owner.place_of(size_class)), geometry(geometry_of(owner, size_class)) {}
  Parked& parked() const { return depot->of()[place]; }
  bool has_blocks() const { return depot != nullptr && is_in(depot->parked, place); }
  bool was_flushed() const { return depot != nullptr && is_in(depot->flushed, place); }
};

// \pre the mutex of what is parked of the class is held, for all that take a Parked.

unsigned take(const Shelf& shelf, void** blocks, unsigned wanted) {
  Parked& parked = shelf.parked();
  const unsigned count = at_most(parked.count, wanted);
  if (count == 0) return 0;
  // Only the first array may be partly filled, so blocks come from its end, and it goes back once it is
  // empty.
  for (unsigned left = count; left != 0;) {
    const unsigned part = at_most(parked.in_first, left);
    parked.in_first = static_cast<std::uint16_t>(parked.in_first - part);
    left -= part;
    std::memcpy(blocks + left, parked.first->blocks + parked.in_first, part * sizeof(void*));
    if (parked.in_first != 0) break;
    ParkedArray* const array = parked.first;
    parked.first = array->next;
    parked.in_first = parked.first == nullptr ? 0 : ParkedArray::kBlocks;
    give_back_array(parked, array);
  }
  parked.count -= count;
  if (parked.count == 0) clear(shelf.depot->parked, shelf.place);
  shelf.depot->subtract(shelf.geometry, count);
  return count;
}

std::uint32_t least_room(std::size_t block_bytes) {
  const std::size_t by_bytes = kLeastParkedBytes / block_bytes;
  return by_bytes < kLeastParked ? static_cast<std::uint32_t>(by_bytes) : kLeastParked;
}

std::size_t most_bytes(const SlabOwner& owner) {
  const std::uint32_t threads = owner.is_of_pool ? owners_in_use.load(std::memory_order_relaxed) + 1
                                                 : owner.threads.load(std::memory_order_relaxed);
  return owner.kept_limit_bytes * at_most(kMostThreadsCounted, threads);
}

// Of blocks with slabs of their own: as of cached spans, the next larger ones. Nobody asks an orphan for any.
std::size_t most_own_slab_bytes(const SlabOwner& owner) {
  if (owner.threads.load(std::memory_order_relaxed) == 0 && !owner.is_of_pool) return 0;
  const std::size_t by_limit = 2 * owner.kept_limit_bytes, most = bytes_of(kMostCachedPages);
  return by_limit < most ? by_limit : most;
}

// \returns the first class with parked blocks from place `from` on, or else before it.
SizeClass next_parked(const SlabOwner& owner, const Depot& depot, unsigned from) {
  const unsigned words = bitmap::words_for(owner.class_count), first = from % owner.class_count;
  std::uint64_t later = ~std::uint64_t{0} << first % 64;  // the first word comes once more, at the end
  for (unsigned i = 0; i <= words; ++i, later = ~std::uint64_t{0}) {
    const unsigned word = (first / 64 + i) % words;
    const std::uint64_t bits = depot.parked.words[word].load(std::memory_order_acquire) & later;
    if (bits != 0)
      return class_of_index(index_of_class(owner.first_class) + word * 64 +
                            static_cast<unsigned>(std::countr_zero(bits)));
  }
  return SizeClass::kNone;
}

// \returns how many blocks have no room any more; 0 also if the class is in use at this moment.
std::uint32_t surplus_of(Parked& parked) {
  if (!parked.mutex.try_lock()) return 0;
  const std::uint32_t surplus = parked.count > parked.needed ? parked.count - parked.needed : 0;
  parked.mutex.unlock();
  return surplus;
}

/// Whether blocks find room, and if not, whether there would be some if threads had asked for more.
enum class Room : std::uint8_t { kEnough, kNotAskedFor, kNone };

// What the depot would hold if it had had room for all.
std::uint32_t height_of(const Parked& parked) { return parked.count + parked.refused; }

void note_height(Parked& parked) {
  if (height_of(parked) > parked.peak) parked.peak = height_of(parked);
}

// After a peak, what is freed returns to the slabs, and what is taken comes from the fullest of them: blocks
// that went round through the depot would keep every page of the peak in use. A block with a slab of its own
// keeps no page but its own.
bool may_hold(const SlabOwner& owner, const Shelf& shelf, unsigned count) {
  if (!may_keep_memory()) return false;
  const std::size_t more = Depot::bytes_of_each(shelf.geometry) * count;
  if (has_own_slab(shelf.geometry))
    return parked_in_own_slabs(owner).blocks + more <= most_own_slab_bytes(owner);
  return parked_in_shared_slabs(owner) + more <= most_bytes(owner) && !is_past_its_peak_with_parked(owner);
}

Room room_for(const SlabOwner& owner, const Shelf& shelf, unsigned count) {
  if (!may_hold(owner, shelf, count)) return Room::kNone;
  const Parked& parked = shelf.parked();
  const std::uint32_t needed = parked.needed > parked.asked ? parked.needed : parked.asked;
  const std::uint32_t least = least_room(shelf.geometry.block_bytes);
  return parked.count + count > (needed > least ? needed : least) ? Room::kNotAskedFor : Room::kEnough;
}

}  // namespace

// Threads that pass blocks to each other have some parked at any time.
bool is_past_its_peak_with_parked(const SlabOwner& owner) {
  constexpr std::size_t kUsuallyParked = 1024 * 1024;
  const std::size_t parked = parked_in_shared_slabs(owner);
  return is_past_its_peak(owner, parked > kUsuallyParked ? parked - kUsuallyParked : 0);
}

std::size_t parked_in_shared_slabs(const SlabOwner& owner) {
  const Depot* const depot = depot_of(owner);
  return depot == nullptr ? 0 : depot->bytes.load(std::memory_order_relaxed);
}

std::size_t parked_bytes(const SlabOwner& owner) {
  return parked_in_shared_slabs(owner) + parked_in_own_slabs(owner).blocks;
}

std::uint32_t parked_count(const SlabOwner& owner, SizeClass size_class) {
  const Shelf shelf(owner, size_class);
  if (!shelf.has_blocks()) return 0;
  os::LockGuard guard(shelf.parked().mutex);
  return shelf.parked().count;
}

void visit_parked(const SlabOwner& owner, const BlockVisitor& visit) {
  for (const SizeClass size_class : classes_of(owner)) {
    const Shelf shelf(owner, size_class);
    if (!shelf.has_blocks()) continue;
    const Parked& parked = shelf.parked();
    os::LockGuard guard(shelf.parked().mutex);
    unsigned count = parked.in_first;
    for (const ParkedArray* array = parked.first; array != nullptr; array = array->next) {
      for (unsigned i = 0; i < count; ++i) visit(array->blocks[i]);
      count = ParkedArray::kBlocks;
    }
  }
}

bool may_park(SlabOwner& owner, SizeClass size_class) {
  const Shelf shelf(owner, size_class);
  if (shelf.depot == nullptr) {
    if (++owner.early_flushes >= kFlushesToQualify) make_depot(owner);
    return false;
  }
  Relaxed<std::uint8_t>& flushes = shelf.parked().flushes;
  if (!shelf.was_flushed()) set(shelf.depot->flushed, shelf.place);
  const std::uint8_t now = ++flushes;
  if (now < kFlushesToQualify) return false;
  // Each sixteenth flush goes to the slabs all the same: their bits show a block that was freed twice, which
  // parked blocks have not.
  if (now < kFlushesToQualify + kFlushesPerReturn) return true;
  flushes = kFlushesToQualify;
  return false;
}

namespace {

// All or nothing. \returns false when memory is refused.
bool add(const Shelf& shelf, void* const* blocks, unsigned count) {
  Parked& parked = shelf.parked();
  for (unsigned done = 0; done < count;) {
    if (parked.first == nullptr || parked.in_first == ParkedArray::kBlocks) {
      ParkedArray* const array = take_array(parked);
      if (array == nullptr) {
        void* undone[1];
        for (; done != 0; --done) take(shelf, undone, 1);
        return false;
      }
      array->next = parked.first;
      parked.first = array;
      parked.in_first = 0;
    }
    const unsigned space = ParkedArray::kBlocks - parked.in_first, left = count - done;
    const unsigned part = at_most(space, left);
    std::memcpy(parked.first->blocks + parked.in_first, blocks + done, part * sizeof(void*));
    if (parked.count == 0) set(shelf.depot->parked, shelf.place);
    parked.in_first = static_cast<std::uint16_t>(parked.in_first + part);
    parked.count += part;
    shelf.depot->add(shelf.geometry, part);
    done += part;
  }
  return true;
}

bool park_locked(const SlabOwner& owner, const Shelf& shelf, void* const* blocks, unsigned count) {
  Parked& parked = shelf.parked();
  const Room room = room_for(owner, shelf, count);
  if (room == Room::kNotAskedFor) {
    parked.refused = at_most(kMostCounted, parked.refused + count);
    note_height(parked);
  }
  if (room != Room::kEnough || !add(shelf, blocks, count)) return false;
  parked.was_used = true;
  note_height(parked);
  return true;
}

unsigned take_for_use(const Shelf& shelf, void** blocks, unsigned wanted) {
  Parked& parked = shelf.parked();
  parked.was_used = true;
  const unsigned taken = take(shelf, blocks, wanted);
  parked.refused -= at_most(parked.refused, wanted - taken);
  const std::uint32_t fall = parked.peak - height_of(parked);
  if (parked.asked < fall) parked.asked = fall;
  return taken;
}

}  // namespace

bool park(SlabOwner& owner, SizeClass size_class, void* const* blocks, unsigned count,
          ReturnedPages& returned) {
  const Shelf shelf(owner, size_class);
  if (shelf.depot == nullptr || !shelf.parked().mutex.try_lock()) return false;
  const bool is_parked = park_locked(owner, shelf, blocks, count);
  shelf.parked().mutex.unlock();
  if (!is_parked) return false;
  owner.is_trimmed = false;
  // A look returns it when nobody needs it. Other owners may well be in the same state.
  returned.note_kept(parked_bytes(owner) * owners_in_use.load(std::memory_order_relaxed));
  return true;
}

unsigned unpark(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted) {
  const Shelf shelf(owner, size_class);
  if (!shelf.was_flushed() || !shelf.parked().mutex.try_lock()) return 0;
  const unsigned taken = take_for_use(shelf, blocks, wanted);
  shelf.parked().mutex.unlock();
  return taken;
}

unsigned unpark_again(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted) {
  const Shelf shelf(owner, size_class);
  unsigned taken = 0, tries = 0;
  while (shelf.has_blocks() && taken == 0 && tries++ < kTries)
    taken = unpark(owner, size_class, blocks, wanted);
  return taken;
}

unsigned return_parked(SlabOwner& owner, SizeClass size_class, unsigned most, ReturnedPages& returned) {
  const Shelf shelf(owner, size_class);
  if (!shelf.has_blocks()) return 0;
  Parked& parked = shelf.parked();
  unsigned gone = 0;
  void* blocks[ParkedArray::kBlocks];
  while (gone < most) {
    unsigned count = 0;
    {
      os::LockGuard guard(parked.mutex);
      if (gone == 0) most = at_most(most, parked.count);  // else threads that park might go on for ever
      count = take(shelf, blocks, at_most(ParkedArray::kBlocks, most - gone));
      parked.peak -= count;
    }
    if (count == 0) break;
    return_blocks(&owner, blocks, count, returned);
    gone += count;
  }
  return gone;
}

void give_way(SlabOwner& owner, SizeClass growing, std::size_t bytes, ReturnedPages& returned) {
  Depot* const depot = depot_of(owner);
  if (depot == nullptr) return;
  const SizeClass size_class = next_parked(owner, *depot, owner.next_giving_way);
  if (size_class == SizeClass::kNone) return;
  const Shelf shelf(owner, size_class);
  owner.next_giving_way = shelf.place + 1;
  // A class keeps what it has parked if it is the one that grows, if its blocks came or went since its last
  // turn, or if a thread is at them right now.
  if (size_class == growing) return;
  Parked& parked = shelf.parked();
  if (!parked.mutex.try_lock()) return;
  const bool was_used = std::exchange(parked.was_used, false);
  parked.mutex.unlock();
  if (was_used) return;
  const std::size_t blocks = bytes / shelf.geometry.block_bytes + 1;
  const unsigned most = blocks < kMostGivingWay ? static_cast<unsigned>(blocks) : kMostGivingWay;
  return_parked(owner, size_class, most, returned);
  if (shelf.has_blocks()) owner.next_giving_way = shelf.place;
}

namespace {

// Returns up to `wanted` blocks for `most`, of which a block that is a slab costs more; UINT_MAX is without
// end. \returns what is left of it.
unsigned return_for(SlabOwner& owner, SizeClass size_class, unsigned wanted, unsigned most,
                    ReturnedPages& returned) {
  if (most == UINT_MAX) return return_parked(owner, size_class, wanted, returned), most;
  const unsigned cost = has_own_slab(geometry_of(owner, size_class)) ? kBlocksPerSlab : 1;
  const unsigned count =
      return_parked(owner, size_class, at_most(wanted, (most + cost - 1) / cost), returned);
  return most - at_most(most, count * cost);
}

}  // namespace

bool limit_parked(SlabOwner& owner, std::size_t bytes, unsigned most, ReturnedPages& returned) {
  for (const SizeClass size_class : classes_of(owner)) {
    if (parked_bytes(owner) <= bytes || most == 0) break;
    most = return_for(owner, size_class, UINT_MAX, most, returned);
  }
  return parked_bytes(owner) > bytes;
}

void look_at_depot(SlabOwner& owner) {
  for (const SizeClass size_class : classes_of(owner)) {
    const Shelf shelf(owner, size_class);
    if (!shelf.was_flushed()) continue;
    Parked& parked = shelf.parked();
    if (!parked.mutex.try_lock()) continue;
    parked.needed = parked.asked;
    parked.asked = parked.refused = 0;
    parked.peak = parked.count;
    parked.flushes = parked.flushes / 2;
    parked.mutex.unlock();
  }
}

bool return_surplus(SlabOwner& owner, unsigned most, ReturnedPages& returned) {
  for (const SizeClass size_class : classes_of(owner)) {
    const Shelf shelf(owner, size_class);
    if (!shelf.has_blocks()) continue;
    const std::uint32_t surplus = surplus_of(shelf.parked());
    if (surplus == 0) continue;
    if (most == 0) return true;
    most = return_for(owner, size_class, surplus, most, returned);
    if (surplus_of(shelf.parked()) != 0) return true;
  }
  return false;
}

}  // namespace tarn::internal
