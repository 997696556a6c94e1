#include <gtest/gtest.h>
#include <tarn/memory_pool.h>
#include <tarn/pool_use.h>
#include <tarn/stats.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "observe/figures/stats.h"
#include "observer/companion.h"
#include "observer/known_program.h"
#include "observer/snapshot/snapshot.h"
#include "support/sanitizer.h"
#include "support/seed.h"

namespace tarn::test {
namespace {

using observer::Block;
using observer::kNone;
using observer::Snapshot;
using observer::Span;
using observer::SpanUse;

constexpr std::uint64_t kSeed = 20'241'124;

const std::string& pool_name(const Snapshot& snapshot, const Span& span) {
  static const std::string general;
  return span.pool == kNone ? general : snapshot.pools[span.pool].name;
}

std::map<std::string, std::set<std::uint64_t>> live_blocks(const Snapshot& snapshot) {
  std::map<std::string, std::set<std::uint64_t>> live;
  for (std::uint32_t i = 0; i < snapshot.spans.size(); ++i)
    snapshot.for_each_live(
        i, [&](const Block& block) { live[pool_name(snapshot, snapshot.spans[i])].insert(block.address); });
  return live;
}

/// What the contract of a snapshot says of any.
void expect_sound(const Snapshot& snapshot) {
  std::uint64_t end = 0;
  for (const Span& span : snapshot.spans) {
    ASSERT_GE(span.start, end);
    ASSERT_LE(span.live + std::uint64_t{span.cached}, span.block_count);
    end = span.end();
  }
}

void expect_same_blocks(const Snapshot& snapshot, const KnownProgram& program) {
  auto live = live_blocks(snapshot);
  live.erase("arenas");  // chunks, of which the program does not know
  for (const auto& [pool, blocks] : program.live()) {
    if (pool == "in a block") continue;  // its memory is a block of the general pool
    EXPECT_EQ(live[pool], blocks) << pool;
    live.erase(pool);
  }
  for (const auto& [pool, blocks] : live) EXPECT_TRUE(blocks.empty()) << pool;
}

void expect_found(const Snapshot& snapshot, const KnownProgram& program) {
  for (const auto& [pool, blocks] : program.live())
    for (const std::uint64_t address : blocks) {
      const Block block = snapshot.live_block_of(address);
      ASSERT_NE(block.span, kNone);
      if (pool == "in a block") continue;
      ASSERT_EQ(block.address, address);
      ASSERT_EQ(snapshot.live_block_of(address + block.bytes - 1).address, address);
    }
  for (const std::uint64_t address : program.freed())
    if (const Block block = snapshot.live_block_of(address); block.address == address) {
      // Its memory may be a chunk of arenas by now.
      const std::uint32_t pool = snapshot.spans[block.span].pool;
      ASSERT_TRUE(pool != kNone && snapshot.pools[pool].kind == observer::PoolKind::kArenas)
          << std::hex << address;
    }
}

class TheSnapshot : public testing::Test {
 protected:
  KnownProgram program_{kSeed};
};

TEST_F(TheSnapshot, HasTheVeryBlocksThatTheProgramHolds) {
  const Snapshot snapshot = observer::read_snapshot(*observer::open_own_process());
  EXPECT_TRUE(snapshot.exactness.is_exact);
  EXPECT_EQ(snapshot.exactness.bad_spans, 0u);
  expect_sound(snapshot);
  expect_same_blocks(snapshot, program_);
  expect_found(snapshot, program_);
}

TEST_F(TheSnapshot, HasSpansOfEveryUse) {
  if (kSanitizer) GTEST_SKIP() << "a heap that is checked shares no pages";
  const Snapshot snapshot = observer::read_snapshot(*observer::open_own_process());
  std::set<std::string_view> uses;
  for (const Span& span : snapshot.spans) uses.insert(name_of(span.use));
  for (const SpanUse use : {SpanUse::kSlab, SpanUse::kSpareSlab, SpanUse::kLarge, SpanUse::kCachedLarge,
                            SpanUse::kHandleGroup, SpanUse::kHeapBlock, SpanUse::kMixedPage})
    EXPECT_TRUE(uses.contains(name_of(use))) << name_of(use);
  EXPECT_GT(snapshot.totals.depot_bytes, 0u);
  EXPECT_GT(snapshot.totals.in_threads_bytes, 0u);
  EXPECT_FALSE(snapshot.free_runs.empty());
}

TEST_F(TheSnapshot, IsTheSameFromOutside) {
  const Companion child;  // a copy of this process, with the same blocks
  const Snapshot snapshot = observer::read_snapshot(*observer::open_process(child.pid()));
  EXPECT_TRUE(snapshot.exactness.is_exact);
  EXPECT_EQ(snapshot.exactness.bad_spans, 0u);
  expect_sound(snapshot);
  expect_same_blocks(snapshot, program_);
  expect_found(snapshot, program_);
}

TEST_F(TheSnapshot, EqualsTheLibrarysOwnStatistics) {
  static_cast<void>(stats());  // collects what other threads have freed
  const Statistics own = stats();
  const Snapshot snapshot = observer::read_snapshot(*observer::open_own_process());
  const observer::Totals& totals = snapshot.totals;
  EXPECT_EQ(totals.large_blocks, own.large_live_count);
  EXPECT_EQ(totals.free_dirty_bytes, own.free_dirty_bytes);
  EXPECT_EQ(totals.free_clean_bytes, own.free_clean_bytes);
  const std::uint64_t metadata_of_the_call = (sizeof(internal::Stats) + 63) / 64 * 64;
  EXPECT_EQ(totals.record_bytes + metadata_of_the_call, own.metadata_bytes);
  std::uint64_t live = totals.live_bytes, cached = totals.in_threads_bytes + totals.depot_bytes;
  for (const observer::Owner& owner : snapshot.owners) cached += owner.cached_span_bytes;
  for (const observer::Pool& pool : snapshot.pools)
    if (pool.name == "in a block")
      live += pool.live_bytes;  // the statistics count the block and what is in it
  EXPECT_EQ(cached, own.cached_bytes);
  EXPECT_EQ(snapshot.counter("mapped_bytes"), own.mapped_bytes);
  EXPECT_EQ(snapshot.counter("refills"), own.refills);
  EXPECT_EQ(snapshot.counter("flushes"), own.flushes);
  EXPECT_EQ(snapshot.counter("slabs_made"), own.slabs_made);
  EXPECT_EQ(snapshot.counter("live_threads"), own.live_threads);
  EXPECT_EQ(live, own.live_bytes);
}

/// What for_each_pool says, by kind, name and size.
using Key = std::tuple<std::string, std::string, std::uint64_t>;
struct Figures {
  std::uint64_t live, live_bytes, mapped_bytes, capacity, refusals;
  std::uint64_t hard_limit, mapped_limit, peak_bytes;
  std::string parent;
  bool operator==(const Figures&) const = default;
};
void PrintTo(const Figures& of, std::ostream* out) {
  *out << "live " << of.live << " bytes " << of.live_bytes << " mapped " << of.mapped_bytes << " capacity "
       << of.capacity << " refusals " << of.refusals << " limit " << of.hard_limit << " of pages "
       << of.mapped_limit << " peak " << of.peak_bytes << " in '" << of.parent << "'";
}

TEST_F(TheSnapshot, CountsPoolsAsTheLibraryDoes) {
  std::map<Key, Figures> own, seen;
  static_cast<void>(stats());
  for_each_pool(
      [](const PoolUse& use, void* context) {
        (*static_cast<std::map<Key, Figures>*>(context))[{use.kind, use.name, use.block_bytes}] = {
            use.live_count,         use.live_bytes,      use.mapped_bytes,
            use.capacity,           use.refusals,        use.limit_bytes,
            use.mapped_limit_bytes, use.peak_live_bytes, use.parent != nullptr ? use.parent : ""};
      },
      &own);
  const Snapshot snapshot = observer::read_snapshot(*observer::open_own_process());
  for (const observer::Pool& pool : snapshot.pools)
    seen[{pool.kind_name, pool.name, pool.block_bytes}] = {
        pool.live,         pool.live_bytes,   pool.mapped_bytes,
        pool.capacity,     pool.refusals,     pool.hard_limit,
        pool.mapped_limit, pool.known_peak(), pool.parent != kNone ? snapshot.pools[pool.parent].name : ""};
  for (const auto& [key, figures] : own)
    EXPECT_EQ(seen[key], figures) << std::get<0>(key) << " " << std::get<1>(key) << " " << std::get<2>(key);
  EXPECT_EQ(seen.size(), own.size());
}

}  // namespace
}  // namespace tarn::test
