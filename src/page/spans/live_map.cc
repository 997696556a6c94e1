#include "page/spans/live_map.h"

#include <bit>
#include <cstring>

#include "os/checker.h"
#include "os/locks/lock_rank.h"
#include "os/locks/mutex.h"
#include "os/memory/available_memory.h"
#include "os/memory/memory.h"
#include "os/process/process.h"

namespace TARN_NAMESPACE::detail {

constinit LiveWord live_words[kMostClasses] = {};

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {
namespace {

os::Mutex& live_map_mutex = os::global_mutex<os::LockRank::kLiveMap>();

// For so many bytes of the region, and one more: a range may end inside of a window.
std::size_t map_bytes(std::size_t region_bytes, unsigned shift) {
  return round_up((region_bytes >> shift) + shift + 1, kOsPageBytesLargest);
}

void populate_pages_of(const unsigned char* first, const unsigned char* last) {
  const std::uintptr_t page = os::page_bytes(), start = address_of(first) & ~(page - 1);
  os::populate(reinterpret_cast<void*>(start), round_up(address_of(last) + 1, page) - start);
}

void set_word(detail::SizeClass size_class, std::uintptr_t word) {
  __atomic_store_n(&detail::live_words[detail::index_of_class(size_class)].word, word, __ATOMIC_RELAXED);
}

}  // namespace

constinit LiveMap live_map;

// In small pages: most of a map is touched by nobody. RLIMIT_DATA counts what is writable, so a process that
// has one gets no maps.
void LiveMap::begin(const char* region, std::size_t bytes) {
  if (detail::kIsHardened || os::data_limit() != SIZE_MAX) return;
  region_ = address_of(region);
  for (unsigned shift = kLeastShift; shift <= kMostShift; ++shift) {
    Map& map = maps_[shift];
    map.start = static_cast<char*>(os::reserve_readable(map_bytes(bytes, shift)));
    if (map.start == nullptr) return;
    map.bytes = map_bytes(bytes, shift);
    os::advise_small(map.start, map.bytes);
  }
  is_on_.store(true, std::memory_order_relaxed);
}

// As far as a slab that ends after so many bytes of the region needs it.
bool LiveMap::commit_locked(Map& map, std::size_t end) {
  const std::size_t committed = map.committed_bytes.load(std::memory_order_relaxed);
  if (end <= committed) return true;
  if (end > map.bytes) return false;
  if (!os::commit(map.start + committed, end - committed)) return false;
  os::note_ordered_by_atomics(map.start + committed, end - committed);
  map.committed_bytes.store(end, std::memory_order_relaxed);
  return true;
}

void LiveMap::end_locked() {
  is_on_.store(false, std::memory_order_relaxed);
  for (detail::LiveWord& word : detail::live_words)
    if (__atomic_load_n(&word.word, __ATOMIC_RELAXED) != 0)
      __atomic_store_n(&word.word, std::uintptr_t{0}, __ATOMIC_RELAXED);
}

void LiveMap::end() {
  os::LockGuard guard(live_map_mutex);
  end_locked();
}

void LiveMap::drop() {
  end_locked();
  for (Map& map : maps_) {
    if (map.start != nullptr) os::release(map.start, map.bytes);
    map.start = nullptr;
    map.bytes = map.committed_bytes = 0;
  }
}

namespace {

template <typename Map>
std::size_t needed_bytes(const Map& map, std::size_t region_bytes, unsigned shift) {
  const std::size_t needed = map_bytes(region_bytes, shift);
  const std::size_t committed = map.committed_bytes.load(std::memory_order_relaxed);
  return needed < committed ? committed : needed;
}

}  // namespace

std::size_t LiveMap::bytes_beyond(std::size_t region_bytes) const {
  std::size_t beyond = 0;
  for (unsigned shift = kLeastShift; shift <= kMostShift; ++shift) {
    const std::size_t needed = needed_bytes(maps_[shift], region_bytes, shift), bytes = maps_[shift].bytes;
    if (needed < bytes) beyond += bytes - needed;
  }
  return beyond;
}

std::size_t LiveMap::release_beyond_locked(std::size_t region_bytes) {
  std::size_t bytes = 0;
  for (unsigned shift = kLeastShift; shift <= kMostShift; ++shift) {
    Map& map = maps_[shift];
    const std::size_t needed = needed_bytes(map, region_bytes, shift);
    if (needed >= map.bytes) continue;
    const std::size_t released = os::release_tail(map.start + needed);
    if (released != 0) map.bytes = needed;
    bytes += released;
  }
  return bytes;
}

// A class without live bytes may have live blocks next time: so where memory is refused, it is the end. One
// whose blocks are no multiples of 8 apart never has some.
void LiveMap::cover(detail::SizeClass size_class, std::uint32_t stride, const char* start,
                    std::size_t bytes) {
  if (!is_on_.load(std::memory_order_relaxed) || stride % 8 != 0) return;
  const auto fitting = static_cast<unsigned>(std::bit_width(stride)) - 1;
  const unsigned shift = fitting > kMostShift ? kMostShift : fitting;
  Map& map = maps_[shift];
  const std::size_t end = map_bytes(address_of(start) + bytes - region_, shift);
  const bool is_covered = end <= map.committed_bytes.load(std::memory_order_relaxed);
  if (is_covered && live_word(size_class) != 0) return;
  os::LockGuard guard(live_map_mutex);
  if (!is_on_.load(std::memory_order_relaxed)) return;
  if (!commit_locked(map, end)) return end_locked();
  if (live_word(size_class) == 0) set_word(size_class, address_of(map.start) - (region_ >> shift) + shift);
}

void LiveMap::end_class(detail::SizeClass size_class) {
  os::LockGuard guard(live_map_mutex);
  set_word(size_class, 0);
}

void LiveMap::populate(detail::SizeClass size_class, const char* start, std::size_t bytes) const {
  const std::uintptr_t word = live_word(size_class);
  if (word == 0 || bytes == 0) return;
  populate_pages_of(detail::live_byte_at(word, start), detail::live_byte_at(word, start + bytes - 1));
}

// Of each class that may come, but for that of the smallest blocks.
void LiveMap::prewarm(const char* start, std::size_t bytes) {
  const std::uintptr_t first = address_of(start) - region_;
  for (unsigned shift = kLeastShift + 1; shift <= kMostShift; ++shift) {
    Map& map = maps_[shift];
    {
      os::LockGuard guard(live_map_mutex);
      if (!is_on_.load(std::memory_order_relaxed)) return;
      if (!commit_locked(map, map_bytes(first + bytes, shift))) return;
    }
    const auto* const of_map = reinterpret_cast<const unsigned char*>(map.start) + shift;
    populate_pages_of(of_map + (first >> shift), of_map + ((first + bytes - 1) >> shift));
  }
}

void LiveMap::clear(detail::SizeClass size_class, const char* start, std::size_t bytes) {
  const std::uintptr_t word = live_word(size_class);
  if (word == 0 || bytes == 0) return;
  unsigned char* const first = detail::live_byte_at(word, start);
  std::memset(first, 0, static_cast<std::size_t>(detail::live_byte_at(word, start + bytes - 1) - first) + 1);
}

// Of whole OS pages: where the chunk's bytes share one with those of a neighbour, it stays.
void LiveMap::purge(const char* chunk) {
  if (!is_on_.load(std::memory_order_relaxed)) return;
  const std::size_t page = os::page_bytes();
  for (unsigned shift = kLeastShift; shift <= kMostShift; ++shift) {
    const Map& map = maps_[shift];
    const std::size_t first = ((address_of(chunk) - region_) >> shift) + shift;
    const std::size_t start = round_up(first, page), end = (first + (kChunkBytes >> shift)) & ~(page - 1);
    if (start < end && end <= map.committed_bytes.load(std::memory_order_relaxed))
      os::purge(map.start + start, end - start);
  }
}

}  // namespace tarn::internal
