// What each snapshot promises its views, whatever memory it was read from: shared by tests and the fuzz
// target.
#pragma once
#include <bit>
#include <cstdint>

#include "observer/snapshot/snapshot.h"

namespace tarn::test {

inline bool is_index(std::uint32_t index, std::size_t count) {
  return index == observer::kNone || index < count;
}

/// \returns the promise that the blocks of a span break, nullptr: none.
inline const char* promise_broken_by_blocks(const observer::Snapshot& snapshot, std::uint32_t index) {
  const observer::Span& span = snapshot.spans[index];
  const std::uint64_t words = observer::word_count_of(span.block_count);
  if (span.use == observer::SpanUse::kMixedPage) {
    if (std::uint64_t{span.first_mixed} + span.live > snapshot.mixed_blocks.size())
      return "mixed blocks are there";
  } else if (span.live != 0 && span.first_word + words > snapshot.live_words.size()) {
    return "live words are there";
  }
  if (span.live == 0) return nullptr;
  std::uint64_t live = 0, end = span.start;
  const char* broken = nullptr;
  snapshot.for_each_live(index, [&](const observer::Block& block) {
    ++live;
    if (block.address < end) broken = "blocks are sorted and do not overlap";
    end = block.address + block.bytes;
    if (end > span.end() || end < block.address) broken = "blocks lie in their span";
    if (snapshot.live_block_of(block.address).address != block.address) broken = "a live block is found";
  });
  return broken != nullptr ? broken : live != span.live ? "live blocks are as many as counted" : nullptr;
}

inline const char* promise_broken_by_spans(const observer::Snapshot& snapshot) {
  std::uint64_t end = 0;
  for (std::uint32_t i = 0; i < snapshot.spans.size(); ++i) {
    const observer::Span& span = snapshot.spans[i];
    if (span.start < end || span.end() <= span.start) return "spans are sorted and do not overlap";
    end = span.end();
    if (std::uint64_t{span.live} + span.cached > span.block_count) return "blocks are in one state each";
    if (!is_index(span.owner, snapshot.owners.size()) || !is_index(span.pool, snapshot.pools.size()) ||
        span.size_class >= snapshot.classes.size())
      return "indexes of spans are those of something";
    if (const char* const broken = promise_broken_by_blocks(snapshot, i)) return broken;
  }
  return nullptr;
}

/// \returns the promise that a snapshot breaks, nullptr: none.
inline const char* broken_promise(const observer::Snapshot& snapshot) {
  if (const char* const broken = promise_broken_by_spans(snapshot)) return broken;
  for (const observer::Thread& thread : snapshot.threads)
    if (!is_index(thread.owner, snapshot.owners.size())) return "a thread's owner is there";
  for (const observer::ClassUse& of_class : snapshot.classes)
    if (!is_index(of_class.pool, snapshot.pools.size())) return "a class's pool is there";
  for (std::uint32_t pool = 0; pool < snapshot.pools.size(); ++pool) {
    std::size_t steps = 0;
    for (std::uint32_t i = pool; i != observer::kNone; i = snapshot.pools[i].parent)
      if (i >= snapshot.pools.size() || ++steps > snapshot.pools.size()) return "parents form no circle";
    for (const char character : snapshot.pools[pool].name)
      if (static_cast<unsigned char>(character) < ' ') return "names cannot steer a terminal";
  }
  return nullptr;
}

}  // namespace tarn::test
