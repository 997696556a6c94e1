#include <tarn/memory_pool.h>
#include <tarn/pool_use.h>
#include <tarn/stats.h>

#include "observe/figures/stats.h"
#include "observer/companion.h"
#include "observer/known_program.h"
#include "observer/process/source.h"
#include "observer/records/bounds.h"
#include "observer/records/bytes.h"
#include "observer/snapshot/snapshot.h"
#include "observer/watch/sampling.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/seed.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/profile.h"

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

namespace tarn::observer {
namespace {

/// How many records of a list are met that runs into a circle behind so many.
std::uint64_t records_met(std::uint64_t before, std::uint64_t in_circle) {
  CircleWatch circle;
  std::uint64_t met = 0;
  for (std::uint64_t record = 1; !circle.has_closed(record); ++met)
    record = record < before + in_circle ? record + 1 : before + 1;
  return met;
}

TEST(ACircleWatch, EndsListsInCirclesAfterEachRecordWasMet) {
  for (const std::uint64_t before : {0u, 1u, 2u, 5u, 100u})
    for (const std::uint64_t in_circle : {1u, 2u, 3u, 64u, 1'000u}) {
      const std::uint64_t met = records_met(before, in_circle);
      EXPECT_GE(met, before + in_circle);
      EXPECT_LE(met, 4 * (before + in_circle));
    }
}

TEST(ACircleWatch, LetsAListEnd) {
  CircleWatch circle;
  for (std::uint64_t record = 1; record < 100'000; ++record) ASSERT_FALSE(circle.has_closed(record));
}

TEST(Bounds, RefuseWhatExceedsThem) {
  Bounds bounds(100, 10);
  bounds.spend_bytes(60);
  EXPECT_THROW(bounds.spend_bytes(41), ObserveError);
  bounds.spend_bytes(40);
  bounds.spend_steps(10);
  EXPECT_THROW(bounds.spend_steps(1), ObserveError);
  EXPECT_THROW(bounds.spend_bytes(UINT64_MAX), ObserveError);
}

TEST(NumberAt, IsZeroOutsideOfTheRecord) {
  const std::byte record[8] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  EXPECT_EQ(number_at(record, {0, 2}), 0x0201u);
  EXPECT_EQ(number_at(record, {6, 4}), 0u);
  EXPECT_EQ(number_at(record, {UINT32_MAX, 8}), 0u);
  EXPECT_EQ(number_at({}, {0, 0}), 0u);
}

}  // namespace
}  // namespace tarn::observer

namespace tarn::observer::test {
namespace {

constexpr std::size_t kBytes = 77, kBlocks = 500;

/// Blocks of one site in the general pool and in a heap, each sampled; the profile is off again.
class SampledProgram : public ::testing::Test {
 protected:
  SampledProgram() : blocks_(2 * kBlocks) {
    start_profile(1);
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      blocks_[i] = i % 2 == 0 ? tarn::allocate(kBytes) : heap_.allocate(kBytes);
    stop_profile();
  }
  ~SampledProgram() override {
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      i % 2 == 0 ? tarn::deallocate(blocks_[i]) : heap_.deallocate(blocks_[i]);
  }

  Heap heap_;
  std::vector<void*> blocks_;
};

TEST_F(SampledProgram, IsReadAsItTellsOfItself) {
  const auto source = open_own_process();
  const Sampling sampling = SamplingWords(*source).read();
  EXPECT_EQ(sampling.interval, 0u);
  EXPECT_TRUE(sampling.is_whole);
  std::map<std::uint64_t, std::vector<std::uint64_t>> addresses_of;
  for (const SampledStack& stack : sampling.stacks) addresses_of[stack.number] = stack.addresses;
  std::map<Address, const SampledBlock*> found;
  for (const SampledBlock& sample : sampling.live) found[sample.block] = &sample;
  std::size_t compared = 0;
  visit_samples([&](const Sample& sample) {
    if (sample.bytes != kBytes) return;
    const auto place = found.find(reinterpret_cast<Address>(sample.block));
    ASSERT_NE(place, found.end());
    EXPECT_EQ(place->second->requested, sample.bytes);
    EXPECT_EQ(place->second->pool, sample.pool);
    EXPECT_EQ(blocks_of(*place->second), sample.weight);
    EXPECT_EQ(addresses_of[place->second->stack],
              std::vector<std::uint64_t>(sample.addresses, sample.addresses + sample.address_count));
    ++compared;
  });
  EXPECT_EQ(compared, 2 * kBlocks);
}

TEST_F(SampledProgram, CountsWhatItsStacksAllocated) {
  const auto source = open_own_process();
  const Sampling sampling = SamplingWords(*source).read();
  std::map<std::uint64_t, std::uint64_t> live_of, allocated_of;
  for (const SampledStack& stack : sampling.stacks) allocated_of[stack.number] = stack.blocks;
  for (const SampledBlock& sample : sampling.live) ++live_of[sample.stack];
  for (const auto& [stack, live] : live_of) EXPECT_GE(allocated_of[stack], live);
}

TEST_F(SampledProgram, StacksOfLiveBlocksAreReadAlone) {
  const auto source = open_own_process();
  const SamplingWords words(*source);
  const Sampling whole = words.read();
  Sampling some = words.read_live();
  EXPECT_TRUE(some.stacks.empty());
  ASSERT_GT(whole.stacks.size(), 1u);
  const std::uint64_t kept = some.live.front().stack;
  std::erase_if(some.live, [&](const SampledBlock& sample) { return sample.stack != kept; });
  words.read_stacks_of_live(some);
  ASSERT_EQ(some.stacks.size(), 1u);
  EXPECT_EQ(some.stacks.front().number, kept);
  const auto same = std::ranges::find(whole.stacks, kept, &SampledStack::number);
  ASSERT_NE(same, whole.stacks.end());
  EXPECT_EQ(some.stacks.front().addresses, same->addresses);
  EXPECT_TRUE(std::ranges::is_sorted(whole.stacks, {}, &SampledStack::number));
}

/// Memory in which some bits are wrong.
class Damaged final : public Source {
 public:
  Damaged(const Source& source, unsigned seed) : source_(source), random_(seed) {}
  std::size_t read(Address address, void* into, std::size_t bytes) const override {
    const std::size_t count = source_.read(address, into, bytes);
    for (std::size_t at = random_() % 4'096; at < count; at += random_() % 4'096 + 1)
      static_cast<unsigned char*>(into)[at] ^= static_cast<unsigned char>(1u << random_() % 8);
    return count;
  }
  std::span<const Mapping> mappings() const override { return source_.mappings(); }
  SourceKind kind() const override { return source_.kind(); }
  int pid() const override { return source_.pid(); }
  std::string program() const override { return source_.program(); }

 private:
  const Source& source_;
  mutable std::minstd_rand random_;
};

TEST_F(SampledProgram, IsReadWithoutHarmWhereItsMemoryIsDamaged) {
  const auto source = open_own_process();
  int refused = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const Damaged damaged(*source, seed);
    try {
      const Sampling sampling = SamplingWords(damaged).read();
      EXPECT_LT(sampling.live.size(), 1'000'000u);
    } catch (const ObserveError&) {
      ++refused;
    }
  }
  EXPECT_LT(refused, 300) << "none was read: the test shows nothing";
}

}  // namespace
}  // namespace tarn::observer::test
