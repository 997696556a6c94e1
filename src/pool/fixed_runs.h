// Where a fixed pool looks for several blocks side by side.
//
// A chunk's `longest_run` is an upper bound. A search that fails for n blocks lowers it to n - 1 and settles
// the chunk: it is listed by its bound, so that no later search for n looks at it, until one of its blocks is
// freed. Each free unsettles at most one chunk, so searches cost O(words of a chunk) on average, whatever the
// number of chunks.
//
// Invariant: each chunk is in one list. A settled one is in that of its bound, no run in it is longer, and
// its span bears the mark on the pool's address that sends every free through the slow door; one that is not
// settled has neither a bound below its size nor the mark. Threads: the pool's.
#pragma once
#include <bit>
#include <cstdint>

#include "base/list.h"
#include "pool/fixed_chunk.h"
#include "pool/fixed_ring.h"

namespace tarn::internal {

/// Blocks side by side.
struct BlockRun {
  PoolChunk* chunk;  // nullptr: there are none
  std::uint32_t first;
};

class ChunkRuns {
 public:
  /// A new chunk, all free.
  void add(PoolChunk& chunk) { unsettled_.push_front(&chunk); }
  void remove(PoolChunk& chunk);

  /// Blocks of a chunk were freed.
  void unsettle(PoolChunk& chunk) {
    if (is_settled(chunk)) [[unlikely]]
      unsettle_slow(chunk);
  }
  /// Several side by side were: the next ones may come from there.
  void note_freed_run(PoolChunk& chunk, std::uint32_t first) {
    last_freed_ = &chunk;
    chunk.run_word = first / bitmap::kWordBits;
  }

  /// Finds `count` free blocks; first where some came back last, then in `likely`, which may be nullptr.
  BlockRun find(std::uint32_t count, PoolChunk* likely) {
    BlockRun run{};
    if (may_have(last_freed_, count) && find_in(*last_freed_, count, &run)) return run;
    return find_slow(count, likely);
  }

  /// The pool of a span, without the mark.
  static void* pool_of(const Span& span) {
    return reinterpret_cast<void*>(address_of(span.marked_pool()) & ~kMark);
  }

  void validate(const ChunkRing& ring) const;

 private:
  static constexpr std::uintptr_t kMark = 1;
  static constexpr unsigned kExactLists = 64;  // bounds up to here have a list each, larger ones per doubling
  static constexpr unsigned kLists = kExactLists + 11;

  static unsigned list_of(std::uint32_t longest) {
    return longest <= kExactLists ? longest
                                  : kExactLists + static_cast<unsigned>(std::bit_width(longest)) - 6;
  }
  static bool is_settled(const PoolChunk& chunk) { return (address_of(chunk.span->pool) & kMark) != 0; }

  List<PoolChunk>& list_of(const PoolChunk& chunk) {
    return is_settled(chunk) ? by_bound_[list_of(chunk.longest_run)] : unsettled_;
  }
  void settle(PoolChunk& chunk, std::uint32_t longest_run);
  void unsettle_slow(PoolChunk& chunk);
  static bool may_have(const PoolChunk* chunk, std::uint32_t count) {
    return chunk != nullptr && chunk->longest_run >= count;
  }
  // A chunk without such a run is settled under a lower bound, so that the search comes to an end and is not
  // repeated.
  bool find_in(PoolChunk& chunk, std::uint32_t count, BlockRun* run) {
    *run = {&chunk, chunk.find_run(count)};
    if (run->first != chunk.block_count) return true;
    settle(chunk, count <= chunk.block_count ? count - 1 : chunk.block_count);
    return false;
  }
  BlockRun find_slow(std::uint32_t count, PoolChunk* likely);
  BlockRun find_settled(std::uint32_t count);

  PoolChunk* last_freed_ = nullptr;
  List<PoolChunk> unsettled_;
  List<PoolChunk> by_bound_[kLists];
  std::uint32_t largest_in_[kLists] = {};  // no bound in the list is larger: a search need not walk it again
};

}  // namespace tarn::internal
