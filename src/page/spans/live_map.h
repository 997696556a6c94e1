// The live bytes of the classes (tarn/detail/live_bytes.h): their memory, and which class has some. In the
// hardened library none has.
//
// There is one map for each size of window, of all addresses of the first region; so a heap beyond that
// region ends the maps, and one without an index of pages has none: blocks then come and go unlooked at.
// A map's bytes are writable up to the last slab that has some there.
//
// Invariant: while a word is not 0, all slabs lie in the first region, and each live block of the class that
// a record takes back has its byte.
// Threads: any; begin() under the page cache's growth lock. Words and what is writable change under a lock of
// the map's own.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/units.h"
#include "tarn/detail/bins.h"
#include "tarn/detail/live_bytes.h"

namespace TARN_NAMESPACE::detail {

extern LiveWord live_words[kMostClasses];

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

inline std::uintptr_t live_word(detail::SizeClass size_class) {
  return __atomic_load_n(&detail::live_words[detail::index_of_class(size_class)].word, __ATOMIC_RELAXED);
}

class LiveMap {
 public:
  /// Reserves the maps of a region. Without the addresses no class ever has live bytes.
  void begin(const char* region, std::size_t bytes);

  /// From now on no class has live bytes. Call before a slab may lie outside of the first region.
  void end();

  /// The same, and gives the addresses back. \pre the process has no other thread.
  void drop();

  /// Gives the addresses back that no block of the region's first `bytes` needs. \pre the lock kLiveMap is
  /// held, and the region does not grow beyond these any more. \returns how many.
  std::size_t release_beyond_locked(std::size_t region_bytes);
  /// \returns how many that would be now.
  std::size_t bytes_beyond(std::size_t region_bytes) const;

  /// Call for each slab of a class before it has a live block: gives the class live bytes, unless all have
  /// ended; they end here where the system refuses memory. \param stride at least eight.
  void cover(detail::SizeClass size_class, std::uint32_t stride, const char* start, std::size_t bytes);
  /// \pre the class has no live block.
  void end_class(detail::SizeClass size_class);

  /// Backs the live bytes with memory that a slab's blocks have; those that any block in a range of free
  /// pages may have.
  void populate(detail::SizeClass size_class, const char* start, std::size_t bytes) const;
  void prewarm(const char* start, std::size_t bytes);

  /// No block is live any more in a range that a slab of the class has.
  void clear(detail::SizeClass size_class, const char* start, std::size_t bytes);

  /// Gives the memory of a chunk's bytes back. \pre no span has a page of it, nor gets one meanwhile.
  void purge(const char* chunk);

 private:
  static constexpr unsigned kLeastShift = 3, kMostShift = 9;

  /// Of one size of window. Behind the bytes is room for the shift, which is in a word too.
  struct Map {
    char* start = nullptr;
    std::atomic<std::size_t> bytes{0};
    std::atomic<std::size_t> committed_bytes{0};  // a prefix
  };

  bool commit_locked(Map& map, std::size_t end);
  void end_locked();

  std::atomic<bool> is_on_{false};
  Map maps_[kMostShift + 1];  // by their shift
  std::uintptr_t region_ = 0;
};

extern LiveMap live_map;

}  // namespace tarn::internal
