#include "pool/fixed_runs.h"

#include "os/fatal.h"

namespace tarn::internal {

void ChunkRuns::remove(PoolChunk& chunk) {
  list_of(chunk).remove(&chunk);
  if (first_searched_ == &chunk) first_searched_ = nullptr;
}

void ChunkRuns::settle(PoolChunk& chunk, std::uint32_t longest_run) {
  list_of(chunk).remove(&chunk);
  chunk.span->set_mark(detail::SpanHead::kSettled);
  chunk.longest_run = longest_run;
  const unsigned list = list_of(longest_run);
  by_bound_[list].push_front(&chunk);
  if (longest_run > largest_in_[list]) largest_in_[list] = longest_run;
}

void ChunkRuns::unsettle_slow(PoolChunk& chunk) {
  list_of(chunk).remove(&chunk);
  chunk.span->clear_mark(detail::SpanHead::kSettled);
  chunk.longest_run = chunk.block_count;
  unsettled_.push_front(&chunk);
}

BlockRun ChunkRuns::find_slow(std::uint32_t count, PoolChunk* likely) {
  BlockRun run{};
  if (may_have(likely, count) && find_in(*likely, count, &run)) return run;
  while (PoolChunk* const chunk = unsettled_.first())
    if (find_in(*chunk, count, &run)) return run;
  return find_settled(count);
}

BlockRun ChunkRuns::find_settled(std::uint32_t count) {
  BlockRun run{};
  for (unsigned list = list_of(count); list < kLists; ++list) {
    if (largest_in_[list] < count) continue;
    std::uint32_t largest = 0;
    for (PoolChunk* chunk = by_bound_[list].first(); chunk != nullptr;) {
      PoolChunk* const next = chunk->next;
      if (may_have(chunk, count) && find_in(*chunk, count, &run)) return run;
      if (chunk->longest_run > largest) largest = chunk->longest_run;
      chunk = next;
    }
    largest_in_[list] = largest;  // an upper limit: counts chunks that just moved lower, too
  }
  return {};
}

void ChunkRuns::validate(const ChunkRing& ring) const {
  std::uint32_t listed = 0;
  for (const PoolChunk* chunk = unsettled_.first(); chunk != nullptr; chunk = chunk->next, ++listed)
    TARN_CHECK(!is_settled(*chunk) && &ring[chunk->slot] == chunk &&
               chunk->longest_run == chunk->block_count);
  for (unsigned list = 0; list < kLists; ++list)
    for (PoolChunk* chunk = by_bound_[list].first(); chunk != nullptr; chunk = chunk->next, ++listed) {
      TARN_CHECK(is_settled(*chunk) && &ring[chunk->slot] == chunk);
      TARN_CHECK(list_of(chunk->longest_run) == list && chunk->longest_run <= largest_in_[list]);
      TARN_CHECK(chunk->find_run(chunk->longest_run + 1) == chunk->end());
    }
  TARN_CHECK(listed == ring.count());
}

}  // namespace tarn::internal
