// Memory for the library's own records, apart from the blocks: taken from the system in pieces, cut in steps
// of a cache line, reused by size, never given back (mostly 1-2 % of the heap; the arrays
// of a thread's magazines may be a quarter of the 1 MiB of small blocks in them).
// Invariant: used bytes + bytes of the free records == all bytes that were ever cut, or lie elsewhere; each
// record that was cut lies in one of the ranges, unless ranges were lost.
// Threads: any; one lock of the lowest rank. The ranges are read without it: by a handler of a crash, or by
// another process.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "base/relaxed.h"
#include "base/units.h"
#include "os/locks/lock_rank.h"

namespace tarn::internal {

/// Addresses that records lie in.
struct MetadataRange {
  Relaxed<char*> start, end;
};

class Metadata {
 public:
  static constexpr std::size_t kLargestReused = 64 * 1024;  // bytes; the array of the largest magazine
  static constexpr std::uint32_t kMostRanges = 64;          // one, mostly two: a reserve has room for 1 GiB

  /// Reserves addresses for all later records; without them, addresses are taken when needed. Once, at start.
  void reserve();

  /// Gives the unused addresses back. \pre mutex() is held. \returns bytes given back.
  std::size_t release_tail_locked();
  std::size_t unused_bytes_locked() const { return static_cast<std::size_t>(reserve_end_ - reserve_next_); }

  /// Makes sure, as far as that costs no new addresses, that records of `bytes` in all can be had: a limit of
  /// the system that pages have used up then refuses none of the records that these pages need.
  void prepare(std::size_t bytes);

  /// Contents are undefined (a reused record is as its last user left it); aligned to a cache line.
  /// \returns nullptr when memory is refused.
  void* allocate(std::size_t bytes);
  /// The same with every byte 0. A record that was never used is not written: of a large one that is mostly
  /// zero, only the OS pages in use get memory.
  void* allocate_zeroed(std::size_t bytes);
  void free(void* record, std::size_t bytes);
  /// \returns a record, made of the arguments; nullptr when memory is refused.
  template <typename Record, typename... Arguments>
  Record* make(Arguments&&... arguments) {
    void* const memory = allocate(sizeof(Record));
    return memory == nullptr ? nullptr : new (memory) Record{std::forward<Arguments>(arguments)...};
  }
  /// Its destructor has nothing to do.
  template <typename Record>
  void end(Record* record) {
    free(record, sizeof(Record));
  }
  /// Counts memory of records that lie elsewhere, for good.
  void count_elsewhere(std::size_t bytes);

  void validate();

  /// All that was ever cut, also free records, and what lies elsewhere; it stays backed.
  std::size_t cut_bytes() const {
    os::LockGuard guard(mutex_);
    return cut_bytes_ + elsewhere_bytes_;
  }

  /// The memory of all records, in the order in which it was taken; a range that grows keeps its place. A
  /// thread that reads range_count() first finds each range below it complete. \threads any, also in a signal
  /// handler.
  std::uint32_t range_count() const { return range_count_.load(std::memory_order_acquire); }
  const MetadataRange& range(std::uint32_t i) const { return ranges_[i]; }
  /// How many pieces of memory are in no range, because there were too many.
  std::uint32_t lost_ranges() const { return lost_ranges_; }

  std::size_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }

 private:
  friend class ObservedLayout;

  static constexpr std::size_t kPieceBytes = 256 * 1024;
  static constexpr std::size_t kReserveBytes = std::size_t{1} << 30;
  static constexpr std::size_t kLimitedReserveBytes = std::size_t{4} << 20;
  struct FreeRecord {
    FreeRecord* next;
  };

  bool reserve_more(std::size_t bytes);
  bool take_piece(std::size_t bytes);
  void note_range_locked(char* start, char* end);
  void* take_free_locked(std::size_t bytes);
  void* cut_locked(std::size_t bytes);

  static constexpr os::Mutex& mutex_ = os::global_mutex<os::LockRank::kMetadata>();
  char* next_ = nullptr;
  char* end_ = nullptr;
  char* reserve_next_ = nullptr;  // reserved, not committed yet
  char* reserve_end_ = nullptr;
  std::atomic<std::size_t> used_bytes_{0};
  std::size_t cut_bytes_ = 0;
  std::size_t elsewhere_bytes_ = 0;
  bool first_piece_taken_ = false;
  FreeRecord* free_[kLargestReused / kCacheLineBytes + 1] = {};
  MetadataRange ranges_[kMostRanges] = {};
  std::atomic<std::uint32_t> range_count_{0};
  Relaxed<std::uint32_t> lost_ranges_;
};

extern Metadata metadata;

}  // namespace tarn::internal
