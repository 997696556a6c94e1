// Free spans between the system and the tiers above. A span of up to a chunk is a run of one-bits in a
// chunk's mask, so spans split and coalesce by setting bits; a larger one has
// whole chunks, and may have some pages of those before and behind them.
//
// Choice: the chunk where the longest run of dirty (backed, warm) pages fits best; else the one where the
// longest run of free pages does; else new chunks. Dense spans prefer chunks of huge pages, sparse ones avoid
// them. A chunk without memory that a span takes as a whole becomes what the span is. Undumped spans share
// chunks with no others, so that a chunk as a whole is in core files or not.
// Giving back: give_back_policy.h says how much; a thread that frees, or the library's own, asks for it
// (background.h).
//
// Invariant: dirty_bytes == sum of dirty pages over all chunks; used pages + free pages + pages taken out to
// be purged == committed pages. What is used or dirty is charged to the limit of memory.
// Threads: any; one lock, which is not held across calls that commit or purge.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>

#include "base/list.h"
#include "base/relaxed.h"
#include "os/locks/lock_rank.h"
#include "page/give_back/give_back_policy.h"
#include "page/memory/huge_page_price.h"
#include "page/spans/chunk.h"
#include "page/spans/page_map.h"
#include "page/spans/span.h"
#include "tarn/detail/stat_fields.h"

namespace tarn::internal {

struct PageCacheLimits {
  std::size_t free_page_threshold;  // bytes
  std::size_t huge_page_threshold;  // bytes of heap; SIZE_MAX: never ask for huge pages
  std::size_t reserve_bytes;
  bool all_huge_pages = false;  // also for sparse spans
  // kNo with a threshold of 0: no free page stays but those that are kept.
  GiveBackPolicy::Adapts adapts = GiveBackPolicy::Adapts::kYes;
};

struct PageCacheStats {
  std::size_t committed_bytes, used_bytes, peak_used_bytes, dirty_bytes, clean_bytes;
  TARN_STATISTICS_OF_PAGES(TARN_STATISTIC_MEMBER)
};

enum class PageState : std::uint8_t { kClean, kDirty };

/// Tells the system what pages of a density are.
void advise_density(char* start, std::size_t bytes, Density density);

/// Chunks in a row.
struct ChunkRange {
  char* start = nullptr;  // nullptr: none
  char* end = nullptr;

  /// Also the chunks from the first one of `other` on. \pre it lies behind.
  void extend(const ChunkRange& other) {
    if (other.start == nullptr) return;
    if (start == nullptr) start = other.start;
    end = other.end;
  }
};

/// Pages allocated from the cache.
struct PageRun {
  char* start = nullptr;         // nullptr: none
  bool is_zeroed = false;        // never written since the system gave them
  bool is_beyond_limit = false;  // there were pages, but the hard limit refused memory for them
  // What the thread that takes the pages tells the system, without the lock:
  ChunkRange left_out{};  // chunks that dumps of the process must hold again
  ChunkRange advised{};   // chunks of which some get another density
  Density density = Density::kSparse;

  void tell_system() const;
};

class PageCache {
 public:
  /// Memory that exceeds a new threshold stays until the next Background::notice.
  void configure(const PageCacheLimits& limits);

  /// \returns pages aligned to `alignment` bytes (a power of two, at least a page); none when the system or
  /// the hard limit (memory_limit.h) refuses memory. \cost one lock; bitmap steps.
  /// \param room pages that should be free behind the run, for try_extend; they stay free and unreserved.
  PageRun allocate_pages(PageCount pages, Density density = Density::kSparse,
                         std::size_t alignment = kPageBytes, PageCount room = PageCount{0});

  /// Makes the whole chunks of a run dense again, after its pages came from elsewhere; kSparse: does nothing.
  /// \pre the run is the caller's and starts with a chunk.
  void set_density(char* start, PageCount pages, Density density);

  /// Extends a run in place. \returns false when the pages behind it are in use, or memory is refused.
  bool try_extend(char* end, PageCount pages, bool* is_zeroed);

  /// Frees pages. The caller then calls Background::notice, which gives back what exceeds the limit.
  void free_pages(char* start, PageCount pages, PageState state);

  /// Gives back bytes that exceeded the limit during the whole time since the last call, some `most` of them.
  /// \returns false when the system refused.
  bool give_back_lasting_excess(std::size_t most);
  /// The same of bytes that exceed the limit now, or the threshold where the limit has fallen below it.
  void give_back_at_once(std::size_t most);

  /// Makes free pages of at least `bytes`, backed by memory, and keeps them. \returns bytes made; fewer when
  /// memory is refused. \cost a system call per chunk, and the work of a fault per OS page.
  std::size_t prewarm(std::size_t bytes);

  /// Keeps `bytes` more of free pages, made ahead of need: no decay gives them back.
  void keep(std::size_t bytes);
  void keep_nothing();

  /// Bytes of dirty pages that stay where nobody looks later; follows what the program does.
  std::size_t limit() const { return policy_.limit_at_once(); }
  bool exceeds_limit() const { return policy_.exceeds_limit(dirty_bytes()); }

  /// Whether dense spans get huge pages at the present heap size and `bytes` more.
  bool uses_huge_pages(std::size_t bytes = 0) const {
    const std::size_t heap = committed_bytes();
    return heap + bytes >= huge_page_threshold_ && huge_page_price_.is_fair(heap + bytes);
  }
  /// Backs pages of a span with memory now, a hint, and learns what it costs.
  void back_with_memory(char* start, std::size_t bytes, Density density);

  /// Gives back up to `bytes` of free memory; SIZE_MAX: all of it. \returns bytes given back.
  std::size_t purge(std::size_t bytes);
  /// The same, but of pages made ahead of need nothing.
  std::size_t purge_unkept(std::size_t bytes);

  /// Once per half decay time. \returns the bytes of pages that no thread needed since then, to be purged.
  std::size_t unused_since_tick();

  /// Gives back the addresses of regions that are not committed. \pre growth_mutex() and mutex() are held.
  /// \returns bytes given back.
  std::size_t release_tails_locked();
  /// Stops the process when an invariant is broken; walks the chunks, lists and policy too.
  void validate();

  std::size_t uncommitted_bytes_locked() const { return stats_.reserved_bytes - committed_bytes_; }

  std::size_t committed_bytes() const { return committed_bytes_.load(std::memory_order_relaxed); }
  std::size_t dirty_bytes() const { return dirty_bytes_.load(std::memory_order_relaxed); }
  PageCacheStats stats();

 private:
  friend class ObservedLayout;

  struct Range {
    char* start;
    PageCount pages;
    std::uint32_t dirty_mask;  // of the chunk's pages
    PageCount dirty() const { return PageCount{static_cast<std::uint32_t>(std::popcount(dirty_mask))}; }
  };

  Chunk* choose_chunk_locked(PageCount pages, Density density, bool may_mix, bool* is_dirty);
  /// What a span asks for.
  struct Request {
    PageCount pages;
    PageCount slack;  // pages more are needed to find an aligned run
    PageCount room;   // free pages behind
    std::size_t alignment;
    Density density;
    PageCount wanted() const { return pages + slack + room; }
  };

  static Chunk* roomiest_chunk_locked(Density density, bool has_memory);
  std::uint32_t without_first_pages(const Chunk& chunk, std::uint32_t mask, PageCount wanted) const;
  PageRun take_from_chunks_locked(const Request& request, bool may_mix);
  PageRun take_run_locked(Chunk& chunk, unsigned first, PageCount pages, Density density);
  PageRun take_chunks_locked(const Request& request);
  PageRun take_aligned_from_locked(Chunk* chunk, unsigned first, const Request& request);
  PageRun extension_locked(char* end, PageCount pages);
  PageRun take_pages_from_locked(Chunk* chunk, unsigned first, PageCount pages, Density density);
  // How it grows (page_cache_growth.cc).
  bool grow(PageCount pages, Density density);
  Chunk* clean_chunk_of_others_locked(Density density) const;
  bool convert_chunk(Density density);
  bool grow_last_area(PageCount pages);
  bool commit_chunks(Region& region, std::uint32_t first, std::uint32_t count, Density density);
  static PageCount clean_pages_locked(const Chunk* chunk, unsigned first, PageCount pages);
  void note_use_locked(PageCount pages, PageCount clean_pages);
  void mark_free_locked(char* start, PageCount pages, PageState state);
  void relist_locked(Chunk& chunk);
  Chunk* coldest_dirty_locked();
  unsigned collect_dirty_locked(Range* ranges, unsigned capacity, std::size_t bytes);
  void change_density_locked(Chunk& chunk, Density density);
  static void set_density_locked(const ChunkRange& range, Density density);
  static Region* region_of_locked(const char* address);
  static Chunk* chunk_of_locked(const char* address, unsigned* page);

  static constexpr os::Mutex& mutex_ = os::global_mutex<os::LockRank::kPageCache>();
  static constexpr os::Mutex& growth_mutex_ = os::global_mutex<os::LockRank::kPageGrowth>();
  Relaxed<std::size_t> huge_page_threshold_{std::size_t{32} << 20};
  HugePagePrice huge_page_price_;
  std::size_t reserve_bytes_ = std::size_t{64} << 30;
  Relaxed<bool> all_huge_pages_{false};
  // Both counters are read without the lock, as hints.
  std::atomic<std::size_t> dirty_bytes_{0};
  std::atomic<std::size_t> committed_bytes_{0};
  unsigned first_page_ = 0;  // of the first chunk: where blocks begin, drawn at the process's start
  GiveBackPolicy policy_{std::size_t{8} << 20};
  PageCount taken_out_pages_{0};  // in no list while the system purges them
  PageCacheStats stats_{};
  ChunkLists lists_[kDensityCount];  // by density
};

extern PageCache page_cache;

/// Frees pages that were written. In the hardened library all free pages are zeros: they go back to the
/// system at once.
void free_used_pages(char* start, PageCount pages);

/// Held while free pages or blocks are out of their lists to be given back, so that a fork waits for them.
class GiveBackGuard {
 public:
  GiveBackGuard();
  ~GiveBackGuard();
  GiveBackGuard(const GiveBackGuard&) = delete;
  GiveBackGuard& operator=(const GiveBackGuard&) = delete;
};
/// Whether some thread gives back, so that a GiveBackGuard would wait.
bool is_giving_back();

}  // namespace tarn::internal
