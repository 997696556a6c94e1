// What a program's memory looked like at one moment: plain data, with no way back to the program. A reader
// (read_snapshot) makes it from a source; all views, of a process or of a core file, are functions of it.
//
// Words: as in the glossary of the library. A span is a run of pages managed as one; a slab a span cut into
// blocks. A block is live when the program has it; cached when a thread, a depot or a pool keeps it for the
// next request; else free in its slab.
//
// Invariant: spans are sorted by address and do not overlap; of each, live + cached + free == block_count,
// but for spans of one block that is larger, and mixed pages: their blocks differ. Figures of classes,
// owners, pools and totals are sums over spans. A snapshot of a program that runs may be torn; `exactness`
// says by how much at most.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "observer/process/source.h"

namespace tarn::observer {

inline constexpr std::uint32_t kNone = UINT32_MAX;  // an index of nothing
inline constexpr std::uint64_t kNoLimit = UINT64_MAX;

enum class SpanUse : std::uint8_t {
  kSlab,         // of a size class of the general pool, or of an object pool with a class of its own
  kSpareSlab,    // empty; an owner keeps it for its next slab
  kLarge,        // one live block of the general pool
  kCachedLarge,  // such a block that was freed and is kept
  kHandleGroup,  // objects of a handle pool
  kHandleSlots,  // its slots, which are the library's own
  kHeapBlock,    // of a heap: one large block
  kMixedPage,    // of a heap: blocks of many sizes (Snapshot::mixed_blocks)
  kSparePage,    // of a heap, without blocks
  kOther         // of a pool, but none that this reader knows
};
std::string_view name_of(SpanUse use);  // "slab", "spare slab", ...

struct Span {
  Address start = 0;        // of its pages; pages are Snapshot::page_bytes, of a heap in a buffer 4 KiB
  std::uint64_t bytes = 0;  // of its pages
  Address first_block = 0;
  std::uint32_t stride = 0;       // from block to block, bytes; 0 in a mixed page
  std::uint64_t block_bytes = 0;  // that the program may use of each; 0 in a mixed page
  std::uint32_t block_count = 0;
  std::uint32_t live = 0, cached = 0;  // blocks
  std::uint64_t live_bytes = 0;        // of the live blocks, without the gaps between them
  std::uint32_t first_word = 0;        // in Snapshot::live_words; word_count_of(block_count) of them
  std::uint32_t first_mixed = 0;       // in Snapshot::mixed_blocks; `live` of them; of a mixed page
  std::uint32_t owner = kNone;         // in Snapshot::owners
  std::uint32_t pool = kNone;          // in Snapshot::pools; kNone: the general pool
  std::uint16_t size_class = 0;        // 0: none
  SpanUse use = SpanUse::kOther;
  bool is_dense = false;  // in a chunk that the system was asked to back by huge pages

  Address end() const { return start + bytes; }
  std::uint32_t free() const { return block_count - live - cached; }
};

struct Block {
  Address address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t span = kNone;
};

/// A run of pages that no span has.
struct FreeRun {
  Address start = 0;
  std::uint64_t bytes = 0;
  bool is_dirty = false;  // still backed; else given back to the system
};

/// A range of addresses that the library has for itself, apart from blocks.
struct RecordRange {
  Address start = 0;
  std::uint64_t bytes = 0;
  enum class What : std::uint8_t { kRecords, kTables, kIndex, kData } what = What::kRecords;
};

/// Sums over the spans of a size class of the general pool (index 0 is unused).
struct ClassUse {
  std::uint64_t block_bytes = 0, stride = 0;
  std::uint64_t slabs = 0, slab_bytes = 0, blocks = 0;
  std::uint64_t live = 0;                    // blocks
  std::uint64_t in_threads = 0, parked = 0;  // cached blocks: in magazines, in depots
  std::uint64_t free = 0;                    // blocks in slabs
  std::uint64_t bytes_by_fill[8] = {};  // of slabs, by how many eighths of their blocks are live; full: 7
  std::uint32_t pool = kNone;           // that has the class

  std::uint64_t cached() const { return in_threads + parked; }
};

/// A thread's heap: what the thread has cached.
struct Thread {
  Address record = 0;
  std::uint32_t number = 0;  // 0: it has none
  std::uint32_t owner = kNone;
  bool is_alive = false;  // false: what an ended thread has left
  std::uint64_t cached_blocks = 0, cached_bytes = 0;
  std::uint64_t refills = 0, flushes = 0;
};

struct Owner {
  Address record = 0;
  std::uint32_t threads = 0;
  bool is_orphan = false, is_shared_one = false, is_of_pool = false, has_slots = false;
  std::uint32_t first_class = 0, class_count = 0;  // class numbers one after the other
  std::uint32_t pool = kNone;                      // that it is a part of
  std::uint64_t slab_bytes = 0, spare_bytes = 0, live_bytes = 0, free_bytes = 0;
  std::uint64_t parked_blocks = 0, parked_bytes = 0, cached_span_bytes = 0, cached_block_bytes = 0;
  std::uint64_t pending = 0;  // slabs with remote frees that nobody has collected
  std::uint64_t slow_calls = 0, slabs_made = 0, slabs_ended = 0, remote_batches = 0;
};

enum class PoolKind : std::uint8_t { kFixed, kBuffer, kObject, kHandle, kHeap, kArenas, kUnknown };

struct Pool {
  Address record = 0;
  PoolKind kind = PoolKind::kUnknown;
  std::string kind_name, name;  // as the library has them
  std::uint64_t number = 0;     // in the order in which pools were made
  std::uint32_t parent = kNone;
  std::uint64_t block_bytes = 0;  // distance of two blocks; 0 when blocks differ
  std::uint64_t live = 0, live_bytes = 0, cached = 0, mapped_bytes = 0;
  std::uint64_t capacity = 0;                                  // blocks that exist; 0 when blocks differ
  std::uint64_t largest_count = kNoLimit;                      // the cap
  std::uint64_t soft_limit = kNoLimit, hard_limit = kNoLimit;  // live bytes
  std::uint64_t mapped_limit = kNoLimit;                       // bytes of pages
  std::uint64_t charged_bytes = 0;                             // of a heap: what its limits count
  std::uint64_t peak_bytes = 0, refusals = 0;                  // as the library has noted it; 0: it has not
  bool is_peak_a_bound = false;                                // cached blocks may be in it
  bool is_sensitive = false;                                   // its contents are not to be read

  /// The most live bytes there were; 0: not known. \why the library raises its own note in slow calls only
  std::uint64_t known_peak() const { return peak_bytes == 0 ? 0 : std::max(peak_bytes, live_bytes); }
};

/// Figures of the library's own, as its statistics name them (include/tarn/detail/stat_fields.h).
struct Counter {
  std::string name;
  std::uint64_t value = 0;
};

struct OptionValue {
  std::string key;
  std::int64_t value = 0;
};

struct Totals {
  std::uint64_t live_blocks = 0, live_bytes = 0;  // of the general pool, pools and large blocks
  std::uint64_t large_blocks = 0, large_bytes = 0;
  std::uint64_t in_threads_bytes = 0, depot_bytes = 0;  // cached blocks of the general pool
  std::uint64_t free_in_slabs_bytes = 0;                // free blocks, spare slabs and cached spans
  std::uint64_t free_in_pools_bytes = 0;                // the same of pools
  std::uint64_t free_dirty_bytes = 0, free_clean_bytes = 0;
  std::uint64_t record_bytes = 0;  // used by the library's records
  std::uint64_t mapped_bytes = 0;  // of all spans
};

struct Exactness {
  bool is_exact = true;            // nothing that the reader compared changed while it read
  std::uint64_t slow_calls = 0;    // that the program made meanwhile
  std::uint64_t moved_blocks = 0;  // at most so many blocks may be counted in the wrong place
  std::uint64_t bad_spans = 0;     // left out because what was read cannot be true
  double seconds = 0;              // that the reading took
};

struct Snapshot {
  int pid = 0;
  std::string program, library, library_version;  // library: path of the file with the descriptor
  double time = 0;                                // seconds since 1970
  std::uint64_t page_bytes = 0, chunk_bytes = 0;
  Exactness exactness;

  std::vector<Span> spans;
  std::vector<std::uint64_t> live_words;  // a bit for each block that is live
  std::vector<Block> mixed_blocks;        // the live blocks of mixed pages, by address
  std::vector<FreeRun> free_runs;
  std::vector<RecordRange> records;
  std::vector<ClassUse> classes;
  std::vector<Thread> threads;
  std::vector<Owner> owners;
  std::vector<Pool> pools;
  std::vector<Counter> counters;
  std::vector<OptionValue> options;
  Totals totals;

  std::uint64_t counter(std::string_view name) const;  // 0 when there is none
  std::int64_t option(std::string_view key, std::int64_t otherwise) const;

  bool is_live(const Span& span, std::uint32_t block) const {
    return (live_words[span.first_word + block / 64] >> block % 64 & 1) != 0;
  }
  /// \returns the index of the span whose pages hold an address; kNone: there is none. \cost log n.
  std::uint32_t span_of(Address address) const;
  /// \returns the live block that holds an address, also inside of it; span == kNone: there is none.
  Block live_block_of(Address address) const;
  /// \returns bytes of live blocks of a mixed page within a range. \cost log n, and the blocks in the range.
  std::uint64_t mixed_bytes_in(const Span& span, Address start, Address end) const;

  /// Calls visit(block) for each live block of a span, by address.
  template <typename Visit>
  void for_each_live(std::uint32_t span_index, Visit visit) const;
};

constexpr std::uint32_t word_count_of(std::uint32_t blocks) { return (blocks + 63) / 64; }

template <typename Visit>
void Snapshot::for_each_live(std::uint32_t span_index, Visit visit) const {
  const Span& span = spans[span_index];
  if (span.use == SpanUse::kMixedPage) {
    for (std::uint32_t i = 0; i < span.live; ++i) visit(mixed_blocks[span.first_mixed + i]);
    return;
  }
  for (std::uint32_t word = 0; word < word_count_of(span.block_count); ++word)
    for (std::uint64_t bits = live_words[span.first_word + word]; bits != 0; bits &= bits - 1) {
      const std::uint32_t index = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits));
      visit(Block{span.first_block + std::uint64_t{index} * span.stride, span.block_bytes, span_index});
    }
}

/// Reads a program's memory. \throws ObserveError: no tarn in it, a library that this tool cannot read, a
/// process that ended meanwhile. \cost about 10 ms for 100,000 spans; the program is not stopped.
Snapshot read_snapshot(const Source& source);

}  // namespace tarn::observer
