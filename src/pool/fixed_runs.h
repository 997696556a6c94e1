// Finds several free blocks side by side in a fixed pool.
//
// A chunk's `longest_run` is an upper bound. A search that fails for n blocks lowers it to n - 1 and settles
// the chunk: the chunk is listed by its bound, and later searches for n skip it until one of its blocks is
// freed. Each free unsettles at most one chunk, so searches cost O(words of a chunk) on average, whatever the
// number of chunks.
//
// Invariant: each chunk is in one list. A settled chunk is in the list of its bound, has no longer run, and
// its span has the mark in the pool's address: each free of a single block takes the slow door, each free of
// a run unsettles the chunk. An unsettled chunk has neither a bound below its size nor the mark.
// Threads: the pool's.
#pragma once
#include <bit>
#include <cstdint>

#include "base/list.h"
#include "pool/fixed_chunk.h"
#include "pool/fixed_ring.h"

namespace tarn::internal {

/// Blocks side by side.
struct BlockRun {
  PoolChunk* chunk;  // nullptr: there is no such run
  BlockIndex first;
};

class ChunkRuns {
 public:
  /// Adds a new chunk, all blocks free.
  void add(PoolChunk& chunk) { unsettled_.push_front(&chunk); }
  void remove(PoolChunk& chunk);

  /// Call after blocks of a chunk were freed.
  void unsettle(PoolChunk& chunk) {
    if (is_settled(chunk)) [[unlikely]]
      unsettle_slow(chunk);
  }
  /// The next search looks first where several blocks side by side were freed.
  void begin_at(PoolChunk& chunk, BlockIndex first) {
    first_searched_ = &chunk;
    chunk.run_word = bitmap::word_of(first);
  }

  /// Finds `count` free blocks; looks first where begin_at says, then in `likely` (may be nullptr).
  BlockRun find(std::uint32_t count, PoolChunk* likely) {
    BlockRun run{};
    if (may_have(first_searched_, count) && find_in(*first_searched_, count, &run)) return run;
    return find_slow(count, likely);
  }

  void validate(const ChunkRing& ring) const;

 private:
  static constexpr unsigned kExactLists = 64;  // one list per bound up to here, then one per doubling
  static constexpr unsigned kLists = kExactLists + 11;

  static unsigned list_of(std::uint32_t longest) {
    return longest <= kExactLists ? longest
                                  : kExactLists + static_cast<unsigned>(std::bit_width(longest)) - 6;
  }
  static bool is_settled(const PoolChunk& chunk) { return chunk.span->has_mark(detail::SpanHead::kSettled); }

  List<PoolChunk>& list_of(const PoolChunk& chunk) {
    return is_settled(chunk) ? by_bound_[list_of(chunk.longest_run)] : unsettled_;
  }
  void settle(PoolChunk& chunk, std::uint32_t longest_run);
  void unsettle_slow(PoolChunk& chunk);
  static bool may_have(const PoolChunk* chunk, std::uint32_t count) {
    return chunk != nullptr && chunk->longest_run >= count;
  }
  // A chunk without such a run is settled under a lower bound, so that the search ends and does not visit the
  // chunk again.
  bool find_in(PoolChunk& chunk, std::uint32_t count, BlockRun* run) {
    *run = {&chunk, chunk.find_run(count)};
    if (run->first != chunk.end()) return true;
    settle(chunk, count <= chunk.block_count ? count - 1 : chunk.block_count);
    return false;
  }
  BlockRun find_slow(std::uint32_t count, PoolChunk* likely);
  BlockRun find_settled(std::uint32_t count);

  PoolChunk* first_searched_ = nullptr;
  List<PoolChunk> unsettled_;
  List<PoolChunk> by_bound_[kLists];
  std::uint32_t largest_in_[kLists] = {};  // upper limit of the bounds in the list: spares walks of the list
};

}  // namespace tarn::internal
