#include "central/depot.h"

#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "central/return_blocks.h"
#include "os/held_locks.h"
#include "page/metadata.h"

namespace tarn::internal {
namespace {

// What a class may park before its threads have asked for more.
constexpr std::size_t kLeastParkedBytes = 16 * 1024;
constexpr std::uint32_t kLeastParked = 64;
constexpr std::uint32_t kMostCounted = 1 << 24;

// An owner may park what a thread may keep, for each of its threads up to so many.
constexpr std::uint32_t kMostThreadsCounted = 8;

constexpr std::size_t kLittleBytes = 1024 * 1024;

constexpr std::uint8_t kFlushesToEarn = 32;
constexpr std::uint8_t kFlushesPerReturn = 16;

// As many as a park or an unpark needs or leaves, so that one after the other asks for no memory.
constexpr unsigned kMostSpareArrays = 3;

constexpr unsigned kTries = 32;  // as long as a copy takes

constexpr unsigned kMostGivingWay = 256;  // blocks, 1 to 2 us

std::size_t bytes_of_blocks(SizeClass size_class, unsigned count) {
  return (class_geometry[size_class].block_bytes + sizeof(void*)) * count;
}

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

void begin_parked(Parked& parked) { new (&parked.mutex) DepotMutex; }

// Threads may do so at once: one of them wins.
void make_depot(SlabOwner& owner) {
  auto* const depot = static_cast<Depot*>(metadata.allocate_zeroed(sizeof(Depot)));
  if (depot == nullptr) return;
  if (os::kChecksLocks) depot->of.begin_inside(begin_parked);
  Depot* none = nullptr;
  if (!owner.depot.compare_exchange_strong(none, depot, std::memory_order_acq_rel))
    metadata.free(depot, sizeof(Depot));
}

std::uint64_t bit_of(SizeClass size_class) { return std::uint64_t{1} << index_of_class(size_class) % 64; }
bool is_in(const ClassSet& set, SizeClass size_class) {
  return (set.words[index_of_class(size_class) / 64].load(std::memory_order_acquire) & bit_of(size_class)) !=
         0;
}
void set(ClassSet& set, SizeClass size_class) {
  set.words[index_of_class(size_class) / 64].fetch_or(bit_of(size_class), std::memory_order_release);
}
void clear(ClassSet& set, SizeClass size_class) {
  set.words[index_of_class(size_class) / 64].fetch_and(~bit_of(size_class), std::memory_order_relaxed);
}

// \pre the mutex of what is parked of the class is held, for all that take a Parked.

unsigned take(Depot& depot, SizeClass size_class, void** blocks, unsigned wanted) {
  Parked& parked = depot.of.made(size_class);
  const unsigned count = at_most(parked.count, wanted);
  if (count == 0) return 0;
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
  if (parked.count == 0) clear(depot.parked, size_class);
  depot.bytes.fetch_sub(bytes_of_blocks(size_class, count), std::memory_order_relaxed);
  return count;
}

std::uint32_t least_room(SizeClass size_class) {
  const std::size_t by_bytes = kLeastParkedBytes / class_geometry[size_class].block_bytes;
  return by_bytes < kLeastParked ? static_cast<std::uint32_t>(by_bytes) : kLeastParked;
}

std::size_t most_bytes(const SlabOwner& owner) {
  const std::uint32_t threads = owner.threads.load(std::memory_order_relaxed);
  return owner.kept_limit_bytes * at_most(kMostThreadsCounted, threads);
}

// \returns the first class with parked blocks from `from` on, or else before it.
SizeClass next_parked(Depot& depot, unsigned from) {
  const unsigned end = end_of_classes.load(std::memory_order_relaxed);
  const unsigned words = bitmap::words_for(end), first = from % end;
  std::uint64_t later = ~std::uint64_t{0} << first % 64;  // the first word comes once more, at the end
  for (unsigned i = 0; i <= words; ++i, later = ~std::uint64_t{0}) {
    const unsigned word = (first / 64 + i) % words;
    const std::uint64_t bits = depot.parked.words[word].load(std::memory_order_acquire) & later;
    if (bits != 0) return class_of_index(word * 64 + static_cast<unsigned>(std::countr_zero(bits)));
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
// that went round through the depot would keep every page of the peak in use.
Room room_for(const SlabOwner& owner, const Depot& depot, SizeClass size_class, unsigned count) {
  if (is_past_its_peak(owner) || !may_keep_memory()) return Room::kNone;
  const std::size_t bytes = depot.bytes.load(std::memory_order_relaxed);
  if (bytes + bytes_of_blocks(size_class, count) > most_bytes(owner)) return Room::kNone;
  const Parked& parked = depot.of.at(size_class);
  const std::uint32_t needed = parked.needed > parked.asked ? parked.needed : parked.asked;
  const std::uint32_t least = least_room(size_class);
  return parked.count + count > (needed > least ? needed : least) ? Room::kNotAskedFor : Room::kEnough;
}

}  // namespace

// Each class has one slab that may not have been used up yet, and slabs made ahead of need are no peak.
bool is_past_its_peak(const SlabOwner& owner) {
  const std::size_t usual_bytes = 2 * owner.taken_bytes + kLittleBytes + owner.made_ahead_bytes;
  if (owner.slab_bytes <= usual_bytes) return false;
  return owner.slab_bytes > usual_bytes + owner.classes_with_slabs * kPageBytes;
}

std::size_t parked_bytes(const SlabOwner& owner) {
  const Depot* const depot = depot_of(owner);
  return depot == nullptr ? 0 : depot->bytes.load(std::memory_order_relaxed);
}

std::uint32_t parked_count(const SlabOwner& owner, SizeClass size_class) {
  Depot* const depot = depot_of(owner);
  if (depot == nullptr || !is_in(depot->parked, size_class)) return 0;
  os::LockGuard guard(depot->of.made(size_class).mutex);
  return depot->of.made(size_class).count;
}

void visit_parked(const SlabOwner& owner, const BlockVisitor& visit) {
  Depot* const depot = depot_of(owner);
  if (depot == nullptr) return;
  for (const SizeClass size_class : all_classes()) {
    if (!is_in(depot->parked, size_class)) continue;
    Parked& parked = depot->of.made(size_class);
    os::LockGuard guard(parked.mutex);
    unsigned count = parked.in_first;
    for (const ParkedArray* array = parked.first; array != nullptr; array = array->next) {
      for (unsigned i = 0; i < count; ++i) visit(array->blocks[i]);
      count = ParkedArray::kBlocks;
    }
  }
}

bool may_park(SlabOwner& owner, SizeClass size_class) {
  Depot* const depot = depot_of(owner);
  if (depot == nullptr) {
    if (++owner.early_flushes >= kFlushesToEarn) make_depot(owner);
    return false;
  }
  Parked* const parked = depot->of.make(size_class, os::kChecksLocks ? begin_parked : nullptr);
  if (parked == nullptr) return false;
  Relaxed<std::uint8_t>& flushes = parked->flushes;
  if (!is_in(depot->flushed, size_class)) set(depot->flushed, size_class);
  const std::uint8_t now = ++flushes;
  if (now < kFlushesToEarn) return false;
  if (now < kFlushesToEarn + kFlushesPerReturn) return true;
  flushes = kFlushesToEarn;
  return false;
}

namespace {

// All or nothing. \returns false when memory is refused.
bool add(Depot& depot, SizeClass size_class, void* const* blocks, unsigned count) {
  Parked& parked = depot.of.made(size_class);
  for (unsigned done = 0; done < count;) {
    if (parked.first == nullptr || parked.in_first == ParkedArray::kBlocks) {
      ParkedArray* const array = take_array(parked);
      if (array == nullptr) {
        void* undone[1];
        for (; done != 0; --done) take(depot, size_class, undone, 1);
        return false;
      }
      array->next = parked.first;
      parked.first = array;
      parked.in_first = 0;
    }
    const unsigned space = ParkedArray::kBlocks - parked.in_first, left = count - done;
    const unsigned part = at_most(space, left);
    std::memcpy(parked.first->blocks + parked.in_first, blocks + done, part * sizeof(void*));
    if (parked.count == 0) set(depot.parked, size_class);
    parked.in_first = static_cast<std::uint16_t>(parked.in_first + part);
    parked.count += part;
    depot.bytes.fetch_add(bytes_of_blocks(size_class, part), std::memory_order_relaxed);
    done += part;
  }
  return true;
}

bool park_locked(SlabOwner& owner, Depot& depot, SizeClass size_class, void* const* blocks, unsigned count) {
  Parked& parked = depot.of.made(size_class);
  const Room room = room_for(owner, depot, size_class, count);
  if (room == Room::kNotAskedFor) {
    parked.refused = at_most(kMostCounted, parked.refused + count);
    note_height(parked);
  }
  if (room != Room::kEnough || !add(depot, size_class, blocks, count)) return false;
  parked.was_used = true;
  note_height(parked);
  return true;
}

unsigned take_for_use(Depot& depot, SizeClass size_class, void** blocks, unsigned wanted) {
  Parked& parked = depot.of.made(size_class);
  parked.was_used = true;
  const unsigned taken = take(depot, size_class, blocks, wanted);
  parked.refused -= at_most(parked.refused, wanted - taken);
  const std::uint32_t fall = parked.peak - height_of(parked);
  if (parked.asked < fall) parked.asked = fall;
  return taken;
}

}  // namespace

bool park(SlabOwner& owner, SizeClass size_class, void* const* blocks, unsigned count,
          ReturnedPages& returned) {
  Depot* const depot = depot_of(owner);
  if (depot == nullptr || !depot->of.made(size_class).mutex.try_lock()) return false;
  const bool is_parked = park_locked(owner, *depot, size_class, blocks, count);
  depot->of.made(size_class).mutex.unlock();
  if (!is_parked) return false;
  owner.is_trimmed = false;
  // The helper returns it when nobody needs it. Other owners may well be in the same state.
  returned.note_kept(depot->bytes.load(std::memory_order_relaxed) *
                     owners_in_use.load(std::memory_order_relaxed));
  return true;
}

unsigned unpark(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted) {
  Depot* const depot = depot_of(owner);
  if (depot == nullptr || !is_in(depot->flushed, size_class)) return 0;
  if (!depot->of.made(size_class).mutex.try_lock()) return 0;
  const unsigned taken = take_for_use(*depot, size_class, blocks, wanted);
  depot->of.made(size_class).mutex.unlock();
  return taken;
}

unsigned unpark_again(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted) {
  Depot* const depot = depot_of(owner);
  unsigned taken = 0, tries = 0;
  while (depot != nullptr && is_in(depot->parked, size_class) && taken == 0 && tries++ < kTries)
    taken = unpark(owner, size_class, blocks, wanted);
  return taken;
}

unsigned return_parked(SlabOwner& owner, SizeClass size_class, unsigned most, ReturnedPages& returned) {
  Depot* const depot = depot_of(owner);
  if (depot == nullptr || !is_in(depot->parked, size_class)) return 0;
  Parked& parked = depot->of.made(size_class);
  unsigned gone = 0;
  void* blocks[ParkedArray::kBlocks];
  while (gone < most) {
    unsigned count = 0;
    {
      os::LockGuard guard(parked.mutex);
      if (gone == 0) most = at_most(most, parked.count);  // else threads that park might go on for ever
      count = take(*depot, size_class, blocks, at_most(ParkedArray::kBlocks, most - gone));
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
  const SizeClass size_class = next_parked(*depot, owner.next_giving_way);
  if (size_class == SizeClass::kNone) return;
  owner.next_giving_way = index_of_class(size_class) + 1;
  if (size_class == growing) return;
  Parked& parked = depot->of.made(size_class);
  if (!parked.mutex.try_lock()) return;
  const bool was_used = std::exchange(parked.was_used, false);
  parked.mutex.unlock();
  if (was_used) return;
  const std::size_t blocks = bytes / class_geometry[size_class].block_bytes + 1;
  const unsigned most = blocks < kMostGivingWay ? static_cast<unsigned>(blocks) : kMostGivingWay;
  return_parked(owner, size_class, most, returned);
  if (is_in(depot->parked, size_class)) owner.next_giving_way = index_of_class(size_class);
}

bool limit_parked(SlabOwner& owner, std::size_t bytes, unsigned most, ReturnedPages& returned) {
  for (const SizeClass size_class : all_classes()) {
    if (parked_bytes(owner) <= bytes || most == 0) break;
    most -= return_parked(owner, size_class, most, returned);
  }
  return parked_bytes(owner) > bytes;
}

void look_at_depot(SlabOwner& owner) {
  Depot* const depot = depot_of(owner);
  if (depot == nullptr) return;
  for (const SizeClass size_class : all_classes()) {
    if (!is_in(depot->flushed, size_class)) continue;
    Parked& parked = depot->of.made(size_class);
    if (!parked.mutex.try_lock()) continue;
    parked.needed = parked.asked;
    parked.asked = parked.refused = 0;
    parked.peak = parked.count;
    parked.flushes = parked.flushes / 2;
    parked.mutex.unlock();
  }
}

bool return_surplus(SlabOwner& owner, unsigned most, ReturnedPages& returned) {
  Depot* const depot = depot_of(owner);
  if (depot == nullptr) return false;
  for (const SizeClass size_class : all_classes()) {
    if (!is_in(depot->parked, size_class)) continue;
    const std::uint32_t surplus = surplus_of(depot->of.made(size_class));
    if (surplus == 0) continue;
    if (most == 0) return true;
    most -= return_parked(owner, size_class, at_most(most, surplus), returned);
    if (surplus_of(depot->of.made(size_class)) != 0) return true;
  }
  return false;
}

}  // namespace tarn::internal
