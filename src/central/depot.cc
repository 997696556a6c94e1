#include "central/depot.h"

#include <cstring>

#include "base/bitmap.h"
#include "central/return_blocks.h"
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

// Spare arrays are few: each park or unpark needs one more or one less at most five times.
constexpr unsigned kMostSpareArrays = 8;

constexpr unsigned kMostGivingWay = 256;  // blocks, 1 to 2 us

std::size_t bytes_of_blocks(SizeClass size_class, unsigned count) {
  return (class_geometry[size_class].block_bytes + sizeof(void*)) * count;
}

ParkedArray* take_array(SlabOwner& owner) {
  ParkedArray* const array = owner.spare_arrays;
  if (array == nullptr) return static_cast<ParkedArray*>(metadata.allocate(sizeof(ParkedArray)));
  owner.spare_arrays = array->next;
  --owner.spare_array_count;
  return array;
}

void give_back_array(SlabOwner& owner, ParkedArray* array) {
  if (owner.spare_array_count == kMostSpareArrays) return metadata.free(array, sizeof(ParkedArray));
  array->next = owner.spare_arrays;
  owner.spare_arrays = array;
  ++owner.spare_array_count;
}

unsigned take(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted) {
  Parked& parked = owner.classes[size_class].parked;
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
    if (parked.first == nullptr) bitmap::clear(owner.parked_classes, index_of_class(size_class));
    give_back_array(owner, array);
  }
  parked.count -= count;
  owner.parked_bytes -= bytes_of_blocks(size_class, count);
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

// After a peak, what is freed returns to the slabs, and what is taken comes from the fullest of them: blocks
// that went round through the depot would keep every page of the peak in use. Each class has one slab that
// may not have been used up yet, and slabs made ahead of need are no peak.
bool is_past_its_peak(const SlabOwner& owner) {
  std::size_t classes = 0;
  for (const std::atomic<std::uint64_t>& word : owner.classes_with_slabs)
    classes += count_ones(word.load(std::memory_order_relaxed));
  const std::size_t unused_bytes = kLittleBytes + classes * kPageBytes + owner.made_ahead_bytes;
  return owner.slab_bytes > 2 * owner.taken_bytes + unused_bytes;
}

/// Whether blocks find room, and if not, whether there would be some if threads had asked for more.
enum class Room : std::uint8_t { kEnough, kNotAskedFor, kNone };

// What the depot would hold if it had had room for all.
std::uint32_t height_of(const Parked& parked) { return parked.count + parked.refused; }

void note_height(Parked& parked) {
  if (height_of(parked) > parked.peak) parked.peak = height_of(parked);
}

Room room_for(const SlabOwner& owner, SizeClass size_class, unsigned count) {
  if (is_past_its_peak(owner) || !may_keep_memory()) return Room::kNone;
  if (owner.parked_bytes + bytes_of_blocks(size_class, count) > most_bytes(owner)) return Room::kNone;
  const Parked& parked = owner.classes[size_class].parked;
  const std::uint32_t needed = parked.needed > parked.asked ? parked.needed : parked.asked;
  const std::uint32_t least = least_room(size_class);
  return parked.count + count > (needed > least ? needed : least) ? Room::kNotAskedFor : Room::kEnough;
}

}  // namespace

bool may_park(SlabOwner& owner, SizeClass size_class) {
  std::uint8_t& flushes = owner.classes[size_class].parked.flushes;
  if (++flushes < kFlushesToEarn) return false;
  if (flushes < kFlushesToEarn + kFlushesPerReturn) return true;
  flushes = kFlushesToEarn;
  return false;
}

bool park(SlabOwner& owner, SizeClass size_class, void* const* blocks, unsigned count,
          ReturnedPages& returned) {
  Parked& parked = owner.classes[size_class].parked;
  const Room room = room_for(owner, size_class, count);
  if (room == Room::kNotAskedFor) {
    parked.refused = at_most(kMostCounted, parked.refused + count);
    note_height(parked);
  }
  if (room != Room::kEnough) return false;
  parked.was_used = true;
  for (unsigned done = 0; done < count;) {
    if (parked.first == nullptr || parked.in_first == ParkedArray::kBlocks) {
      ParkedArray* const array = take_array(owner);
      if (array == nullptr) {
        // All or nothing: the caller returns its blocks to the slabs.
        void* undone[1];
        for (; done != 0; --done) take(owner, size_class, undone, 1);
        return false;
      }
      if (parked.first == nullptr) bitmap::set(owner.parked_classes, index_of_class(size_class));
      array->next = parked.first;
      parked.first = array;
      parked.in_first = 0;
    }
    const unsigned space = ParkedArray::kBlocks - parked.in_first, left = count - done;
    const unsigned part = at_most(space, left);
    std::memcpy(parked.first->blocks + parked.in_first, blocks + done, part * sizeof(void*));
    parked.in_first = static_cast<std::uint16_t>(parked.in_first + part);
    parked.count += part;
    owner.parked_bytes += bytes_of_blocks(size_class, part);
    done += part;
  }
  note_height(parked);
  owner.is_trimmed = false;
  // The helper returns it when nobody needs it. Other owners may well be in the same state.
  returned.note_kept(owner.parked_bytes * owners_in_use.load(std::memory_order_relaxed));
  return true;
}

unsigned unpark(SlabOwner& owner, SizeClass size_class, void** blocks, unsigned wanted) {
  Parked& parked = owner.classes[size_class].parked;
  // Written before anything is read: a page that has no memory yet costs a read and a write two faults.
  __atomic_store_n(&parked.was_used, true, __ATOMIC_RELAXED);
  const unsigned taken = take(owner, size_class, blocks, wanted);
  parked.refused -= at_most(parked.refused, wanted - taken);
  const std::uint32_t fall = parked.peak - height_of(parked);
  if (parked.asked < fall) parked.asked = fall;
  return taken;
}

unsigned return_parked(SlabOwner& owner, SizeClass size_class, unsigned most, ReturnedPages& returned) {
  unsigned gone = 0;
  void* blocks[ParkedArray::kBlocks];
  while (gone < most) {
    const unsigned count = take(owner, size_class, blocks, at_most(ParkedArray::kBlocks, most - gone));
    if (count == 0) break;
    return_blocks(&owner, blocks, count, returned);
    gone += count;
  }
  if (gone != 0) owner.classes[size_class].parked.peak -= gone;
  return gone;
}

void give_way(SlabOwner& owner, SizeClass growing, std::size_t bytes, ReturnedPages& returned) {
  const std::size_t next =
      bitmap::find_one_around(owner.parked_classes, owner.next_giving_way % kClassCount, kClassCount);
  if (next >= kClassCount) return;
  owner.next_giving_way = static_cast<std::uint32_t>(next) + 1;
  const SizeClass size_class = class_of_index(static_cast<unsigned>(next));
  if (size_class == growing) return;
  Parked& parked = owner.classes[size_class].parked;
  if (!parked.was_used) {
    const std::size_t blocks = bytes / class_geometry[size_class].block_bytes + 1;
    const unsigned most = blocks < kMostGivingWay ? static_cast<unsigned>(blocks) : kMostGivingWay;
    return_parked(owner, size_class, most, returned);
    if (parked.count != 0) owner.next_giving_way = static_cast<std::uint32_t>(next);
  }
  parked.was_used = false;
}

bool limit_parked(SlabOwner& owner, std::size_t bytes, unsigned most, ReturnedPages& returned) {
  for (const SizeClass size_class : kAllClasses) {
    if (owner.parked_bytes <= bytes || most == 0) break;
    most -= return_parked(owner, size_class, most, returned);
  }
  return owner.parked_bytes > bytes;
}

void look_at_depot(SlabOwner& owner) {
  for (const SizeClass size_class : kAllClasses) {
    Parked& parked = owner.classes[size_class].parked;
    if ((parked.needed | parked.asked | parked.refused | parked.peak | parked.flushes) == 0) continue;
    parked.needed = parked.asked;
    parked.asked = parked.refused = 0;
    parked.peak = parked.count;
    parked.flushes /= 2;
  }
}

bool return_surplus(SlabOwner& owner, unsigned most, ReturnedPages& returned) {
  for (const SizeClass size_class : kAllClasses) {
    Parked& parked = owner.classes[size_class].parked;
    if (parked.count <= parked.needed) continue;
    if (most == 0) return true;
    const std::uint32_t surplus = parked.count - parked.needed;
    most -= return_parked(owner, size_class, at_most(most, surplus), returned);
    if (parked.count > parked.needed) return true;
  }
  return false;
}

}  // namespace tarn::internal
