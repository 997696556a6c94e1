// What the library tells of its pools, and what trim takes of them.
#include "tarn/pool_use.h"

#include "observe/figures/stats.h"
#include "pool/blocks/block_pool_state.h"
#include "support/child.h"
#include "support/forked.h"
#include "support/prelude.h"
#include "support/sizes.h"
#include "support/threads.h"
#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "tarn/stats.h"

namespace tarn::test {
namespace {

bool are_malloc_blocks() { return std::getenv("TARN_POOLS_USE_MALLOC") != nullptr; }

/// The pools by name.
std::map<std::string, PoolUse> pools() {
  std::map<std::string, PoolUse> found;
  for_each_pool(
      [](const PoolUse& use, void* context) {
        static_cast<std::map<std::string, PoolUse>*>(context)->insert({use.name, use});
      },
      &found);
  return found;
}

struct Session {
  char payload[100];
};

TEST(PoolUse, NamesEveryPoolWithWhatItHolds) {
  FixedPool packets({.name = "packets", .block_bytes = 50, .blocks_per_chunk = 100});
  SharedFixedPool events({.name = "events", .block_bytes = 64});
  ObjectPool<Session> sessions({.name = "sessions", .at_end = AtPoolEnd::kDestroy});
  Heap room("room");
  Arena arena("frame");
  for (int i = 0; i < 150; ++i) static_cast<void>(packets.allocate());
  static_cast<void>(events.allocate_run(3));
  for (int i = 0; i < 10; ++i) static_cast<void>(sessions.create());
  void* const block = room.allocate(5000);
  static_cast<void>(room.allocate(5000));
  room.deallocate(block);
  static_cast<void>(arena.allocate(100));

  const std::map<std::string, PoolUse> found = pools();
  const PoolUse& fixed = found.at("packets");
  EXPECT_STREQ(fixed.kind, "fixed pool");
  EXPECT_EQ(fixed.block_bytes, 64u);
  EXPECT_EQ(fixed.live_count, 150u);
  EXPECT_EQ(fixed.live_bytes, 150u * 64);
  EXPECT_GE(fixed.mapped_bytes, 200u * 64);
  EXPECT_EQ(fixed.in_classes_bytes, are_malloc_blocks() ? 0 : fixed.live_bytes);
  EXPECT_EQ(found.at("events").live_count, 3u);
  const PoolUse& typed = found.at("sessions");
  EXPECT_STREQ(typed.kind, "object pool");
  EXPECT_EQ(typed.live_count, 10u);
  EXPECT_GE(typed.live_bytes, 10u * sizeof(Session));
  EXPECT_EQ(typed.in_classes_bytes, typed.live_bytes);
  const PoolUse& heap = found.at("room");
  EXPECT_STREQ(heap.kind, "heap");
  EXPECT_EQ(heap.live_count, 1u);
  EXPECT_EQ(heap.live_bytes, room.use().live_bytes);
  EXPECT_EQ(heap.peak_live_bytes, 2 * heap.live_bytes);
  EXPECT_EQ(heap.mapped_bytes, room.use().mapped_bytes);
  EXPECT_EQ(found.at("arenas").live_count, 1u);
}

PoolUse use_of(const char* name) { return pools().at(name); }

void expect_waste_of(const PoolUse& use) {
  EXPECT_EQ(use.waste_bytes, use.mapped_bytes - use.live_bytes) << use.name;
}

TEST(PoolUse, TellsCapsCapacityWasteAndRefusalsOfAFixedPool) {
  FixedPool open({.name = "open", .block_bytes = 64});
  FixedPool capped({.name = "capped", .block_bytes = 64, .blocks_per_chunk = 10, .largest_count = 15});
  void* last = nullptr;
  for (int i = 0; i < 15; ++i) last = capped.allocate();
  EXPECT_EQ(capped.allocate(), nullptr);
  EXPECT_EQ(capped.allocate_run(2), nullptr);
  void* blocks[3];
  EXPECT_EQ(capped.allocate_batch(3, blocks), 0u);
  capped.deallocate(last);
  const PoolUse use = use_of("capped");
  EXPECT_EQ(use.live_count, 14u);
  EXPECT_EQ(use.peak_live_bytes, 15u * 64);
  EXPECT_EQ(use.capacity, are_malloc_blocks() ? 14u : 15u);
  EXPECT_EQ(use.largest_count, 15u);
  EXPECT_EQ(use.limit_bytes, 15u * 64);
  EXPECT_EQ(use.mapped_limit_bytes, PoolUse::kNoLimit);
  EXPECT_EQ(use.refusals, 3u);
  EXPECT_EQ(use.parent, nullptr);
  expect_waste_of(use);
  EXPECT_EQ(use_of("open").largest_count, PoolUse::kNoLimit);
  EXPECT_EQ(use_of("open").limit_bytes, PoolUse::kNoLimit);
  EXPECT_EQ(use_of("open").refusals, 0u);
}

TEST(PoolUse, CountsARefusedRunOfOneBlockOnce) {
  FixedPool pool({.name = "ones", .block_bytes = 64, .largest_count = 8, .at_cap = AtCap::kReturnNull});
  for (int i = 0; i < 8; ++i) EXPECT_NE(pool.allocate(), nullptr);
  EXPECT_EQ(pool.allocate_run(1), nullptr);
  EXPECT_EQ(use_of("ones").refusals, 1u);
  void* more[4];
  EXPECT_EQ(pool.allocate_batch(4, more), 0u);
  EXPECT_EQ(use_of("ones").refusals, 2u);
}

TEST(PoolUse, CountsTheRefusalsOfASharedPool) {
  SharedFixedPool events({.name = "events", .block_bytes = 64, .largest_count = 100});
  std::thread([&] {
    for (int i = 0; i < 100; ++i) EXPECT_NE(events.allocate(), nullptr);
    for (int i = 0; i < 7; ++i) EXPECT_EQ(events.allocate(), nullptr);
  }).join();
  EXPECT_EQ(use_of("events").refusals, 7u);
  EXPECT_EQ(use_of("events").live_count, 100u);
  EXPECT_GE(use_of("events").peak_live_bytes, 100u * 64);
}

TEST(PoolUse, TellsTheLimitsAndTheParentOfAHeap) {
  Heap tenant({.name = "tenant", .hard_limit = 1000000, .mapped_limit = 2000000});
  Heap session({.name = "session", .hard_limit = 20000, .parent = &tenant});
  static_cast<void>(session.allocate(10000));
  EXPECT_EQ(session.allocate(15000), nullptr);
  EXPECT_EQ(session.allocate(SIZE_MAX), nullptr);
  const PoolUse outer = use_of("tenant"), inner = use_of("session");
  EXPECT_EQ(outer.limit_bytes, 1000000u);
  EXPECT_EQ(outer.mapped_limit_bytes, 2000000u);
  EXPECT_EQ(outer.parent, nullptr);
  EXPECT_EQ(outer.inner_bytes, inner.live_bytes);
  EXPECT_EQ(outer.live_bytes, 0u);
  EXPECT_EQ(outer.refusals, 0u);
  EXPECT_EQ(inner.limit_bytes, 20000u);
  EXPECT_EQ(inner.mapped_limit_bytes, PoolUse::kNoLimit);
  EXPECT_EQ(inner.refusals, 2u);
  EXPECT_EQ(inner.inner_bytes, 0u);
  // The visit's own copy: it outlives the registry's lock.
  std::string parent;
  for_each_pool(
      [](const PoolUse& use, void* context) {
        if (use.parent != nullptr) *static_cast<std::string*>(context) = use.parent;
      },
      &parent);
  EXPECT_EQ(parent, "tenant");
  if (!are_malloc_blocks()) expect_waste_of(inner);
}

TEST(PoolUse, TellsThePeakOfAHandlePoolExactlyInOneThread) {
  HandlePool<Session> sessions({.name = "sessions", .at_end = AtPoolEnd::kDestroy});
  std::vector<Handle<Session>> live;
  std::size_t most = 0;
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const bool grows = random() % 100 < (i / 2000 % 2 == 0 ? 60u : 40u);
    if (grows || live.empty()) {
      live.push_back(sessions.create());
    } else {
      std::swap(live[random() % live.size()], live.back());
      sessions.destroy(live.back());
      live.pop_back();
    }
    most = std::max(most, live.size());
    if (i % 3000 == 0) sessions.release_unused();
  }
  const PoolUse use = use_of("sessions");
  EXPECT_EQ(use.live_count, live.size());
  EXPECT_EQ(use.peak_live_bytes, most * use.block_bytes);
  EXPECT_EQ(use.refusals, 0u);
  EXPECT_EQ(use.largest_count, std::size_t{1} << 24);
  EXPECT_GE(use.capacity, use.live_count);
}

TEST(PoolUse, ThePeakOfAnObjectPoolIsAtMostWhatItsSlabsHad) {
  ObjectPool<Session> sessions({.name = "sessions"});
  std::vector<Session*> live;
  for (int i = 0; i < 5000; ++i) live.push_back(sessions.create());
  const std::size_t capacity = use_of("sessions").capacity;
  for (Session* session : live) sessions.destroy(session);
  sessions.release_unused();
  const PoolUse use = use_of("sessions");
  if (use.in_classes_bytes == 0) GTEST_SKIP() << "a fixed pool tells of its objects";
  EXPECT_EQ(use.live_count, 0u);
  EXPECT_GE(use.peak_live_bytes, 5000 * use.block_bytes);
  EXPECT_LE(use.peak_live_bytes, capacity * use.block_bytes);
  EXPECT_EQ(use.refusals, 0u);
  EXPECT_EQ(use.largest_count, PoolUse::kNoLimit);
  expect_waste_of(use);
}

TEST(PoolUse, AnObjectPoolThatTakesAClassOfAnotherBeginsWithItsOwnPeak) {
  for (const int count : {2000, 1}) {
    ObjectPool<Session> sessions({.name = "sessions"});
    std::vector<Session*> live;
    for (int i = 0; i < count; ++i) live.push_back(sessions.create());
    const PoolUse use = use_of("sessions");
    if (use.in_classes_bytes != 0) {
      EXPECT_GE(use.peak_live_bytes, use.live_bytes);
      EXPECT_LE(use.peak_live_bytes, use.live_bytes + 128 * use.block_bytes) << "but for what a refill takes";
    }
    for (Session* session : live) sessions.destroy(session);
  }
}

/// Blocks that threads take and free by chance; the most that were live at one time.
class Traffic {
 public:
  template <typename Pool>
  void run(Pool& pool, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<void*> live;
    for (unsigned i = 0; i < 30000; ++i) {
      const bool grows = random() % 100 < (i / 3000 % 2 == 0 ? 55u : 45u);
      const unsigned kind = random() % 64;
      if (grows || live.empty()) {
        take(pool, live, kind);
      } else {
        std::swap(live[random() % live.size()], live.back());
        --count_;
        pool.deallocate(live.back());
        live.pop_back();
      }
      if (kind == 63 && i % 7 == 0) static_cast<void>(pool.release_unused());
    }
    for (void* block : live) {
      --count_;
      pool.deallocate(block);
    }
  }
  std::size_t most() const { return most_; }

 private:
  template <typename Pool>
  void take(Pool& pool, std::vector<void*>& live, unsigned kind) {
    if (kind == 0 && !are_malloc_blocks()) {
      char* const run = static_cast<char*>(pool.allocate_run(5));
      for (std::size_t i = 0; i < 5; ++i) live.push_back(run + i * pool.block_bytes());
      note(5);
    } else if (kind == 1) {
      void* blocks[20];
      ASSERT_EQ(pool.allocate_batch(20, blocks), 20u);
      live.insert(live.end(), blocks, blocks + 20);
      note(20);
    } else {
      live.push_back(pool.allocate());
      note(1);
    }
  }
  // With several threads, at most as many as are live, and short of them by less than a batch for each.
  void note(std::size_t taken) {
    const std::size_t now = count_ += taken;
    for (std::size_t most = most_; most < now;)
      if (most_.compare_exchange_weak(most, now)) break;
  }
  std::atomic<std::size_t> count_{0}, most_{0};
};

// Of blocks of 64 bytes.
constexpr std::size_t kMostInMagazine = 8191;

TEST(PoolUse, ThePeakOfAFixedPoolIsTooHighByWhatIsCachedAtMost) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    FixedPool packets({.name = "packets", .block_bytes = 64, .blocks_per_chunk = 300});
    Traffic traffic;
    traffic.run(packets, seed);
    internal::validate(detail::BlockPoolAccess::state(packets));
    const PoolUse use = use_of("packets");
    EXPECT_EQ(use.live_count, 0u);
    EXPECT_GE(use.peak_live_bytes, traffic.most() * 64);
    EXPECT_LE(use.peak_live_bytes, (traffic.most() + (are_malloc_blocks() ? 0 : kMostInMagazine)) * 64);
  }
}

TEST(PoolUse, ThePeakOfASharedPoolIsTooHighByWhatMagazinesHoldAtMost) {
  constexpr std::size_t kThreads = 3, kOfMagazines = kMostInMagazine * (kThreads + 4);
  SharedFixedPool events({.name = "events", .block_bytes = 64, .blocks_per_chunk = 300});
  Traffic traffic;
  in_threads(kThreads, [&](unsigned i) { traffic.run(events, i + 1); });
  internal::validate(detail::BlockPoolAccess::state(events));
  const PoolUse use = use_of("events");
  EXPECT_EQ(use.live_count, 0u);
  EXPECT_GE(use.peak_live_bytes, traffic.most() * 64);
  EXPECT_LE(use.peak_live_bytes, (traffic.most() + kThreads * 20 + kOfMagazines) * 64);
}

TEST(PoolUse, ForgetsPoolsThatHaveEnded) {
  const std::size_t before = pools().size();
  {
    FixedPool packets({.name = "packets", .block_bytes = 50});
    ObjectPool<Session> sessions({.name = "sessions"});
    Heap room("room");
    EXPECT_EQ(pools().size(), before + 3);
  }
  EXPECT_EQ(pools().size(), before);
  Heap room("room");
  room.destroy();
  EXPECT_EQ(pools().size(), before);
}

TEST(PoolUse, APoolWithoutANameHasThatOfItsKind) {
  FixedPool packets({.name = nullptr, .block_bytes = 50});
  SharedFixedPool events({.name = nullptr, .block_bytes = 50});
  ObjectPool<Session> sessions({.name = nullptr});
  HandlePool<Session> handles({.name = nullptr});
  Heap room({.name = nullptr});
  const Arena arena({.name = nullptr});
  EXPECT_STREQ(arena.name(), "arena");
  const std::map<std::string, PoolUse> found = pools();
  for (const char* name : {"fixed pool", "object pool", "heap"}) EXPECT_EQ(found.count(name), 1u) << name;
}

template <typename Pool, typename... Size>
void expect_named(Size... size) {
  const std::string text = "a string";
  const std::string_view view = std::string_view("a view, and more").substr(0, 6);
  const Pool literal(size..., "a literal"), string(size..., text), part(size..., view);
  const std::map<std::string, PoolUse> found = pools();
  for (const char* name : {"a literal", "a string", "a view"}) EXPECT_EQ(found.count(name), 1u) << name;
}

// What a reader may take for a name or for options.
template <typename Pool>
concept TakesBracedText = requires {
  Pool({"name"});
};

TEST(PoolUse, EachPoolTakesAnyKindOfStringForItsName) {
  expect_named<ObjectPool<Session>>();
  expect_named<HandlePool<Session>>();
  expect_named<Heap>();
  expect_named<BufferPool>();
  expect_named<FixedPool>(std::size_t{64});
  expect_named<SharedFixedPool>(std::size_t{64});
  EXPECT_STREQ(Arena(std::string("request")).name(), "request");
  EXPECT_STREQ(Arena().name(), "arena");
  EXPECT_STREQ(TickArena(1000).name(), "tick");
  EXPECT_STREQ(TickArena(1000, std::string_view("frame")).name(), "frame");
  static_assert(TakesBracedText<PoolName> && !TakesBracedText<Heap> && !TakesBracedText<Arena> &&
                !TakesBracedText<BufferPool> && !TakesBracedText<ObjectPool<Session>>);
  static_assert(!std::is_constructible_v<Arena, Heap&> && !std::is_convertible_v<const char*, Heap>);
}

TEST(PoolUse, ANameIsCutBetweenCharacters) {
  const char* const text = "123456789012345678901234567890\xc3\xa4";
  EXPECT_STREQ(PoolName(text).text(), "123456789012345678901234567890");
  EXPECT_STREQ(PoolName(text + 1).text(), text + 1) << "31 bytes";
  EXPECT_TRUE(PoolName(nullptr).is_empty() && PoolName().is_empty() && PoolName("").is_empty());
}

TEST(PoolUse, MakesNamesFitForALineOfText) {
  Heap long_name("a name of more than thirty-one characters"), odd("say \"hi\"\n\\");
  const std::map<std::string, PoolUse> found = pools();
  EXPECT_EQ(found.count("a name of more than thirty-one "), 1u);
  EXPECT_EQ(found.count("say \"hi\"?\\"), 1u);
}

std::string stats_json() {
  const int file = memfd_create("stats", MFD_CLOEXEC);
  EXPECT_TRUE(internal::write_stats_json(file));
  std::string text(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  close(file);
  return text;
}

TEST(PoolUse, StandsInTheStatisticsFile) {
  FixedPool packets({.name = "packets", .block_bytes = 50});
  Heap room("room");
  static_cast<void>(packets.allocate());
  static_cast<void>(room.allocate(10));
  const std::string text = stats_json();
  const std::size_t list = text.find("\"pools\"");
  ASSERT_NE(list, std::string::npos);
  for (const char* part : {"\"packets\"", "\"fixed pool\"", "\"room\"", "\"heap\"", "\"live_count\""})
    EXPECT_NE(text.find(part, list), std::string::npos) << part << " in " << text.substr(list);
}

TEST(PoolUse, NamesOfAnyBytesBecomeCharactersAndMakeNoWrongJson) {
  Heap quoted("say \"hi\"\\\x7f\n"), foreign("caf\xc3\xa9 \xff\xf0\x9f\x8e"),
      inner({.name = "in", .parent = &quoted});
  // The 31st byte is the first of a character's two.
  Heap cut("123456789012345678901234567890\xc3\xa9");
  const std::string text = stats_json();
  for (const char* part : {R"("name":"say \"hi\"\\??","parent":null)", "\"name\":\"caf\xc3\xa9 ????\"",
                           R"("name":"in","parent":"say \"hi\"\\??")", "123456789012345678901234567890\""})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  FILE* const parser =
      popen("python3 -c 'import json, sys; json.loads(sys.stdin.buffer.read().decode())'", "w");
  ASSERT_NE(parser, nullptr);
  std::fputs(text.c_str(), parser);
  EXPECT_EQ(pclose(parser), 0) << text;
}

TEST(PoolUse, EveryFigureOfAPoolStandsInTheJsonAndNoLimitIsNull) {
  FixedPool open({.name = "open", .block_bytes = 64});
  FixedPool capped({.name = "capped", .block_bytes = 64, .largest_count = 7});
  const std::string text = stats_json();
  const std::size_t from = text.find("\"name\":\"open\"");
  ASSERT_NE(from, std::string::npos);
  const std::string open_text = text.substr(from, text.find('}', from) - from);
  for (const char* key :
       {"block_bytes", "live_count", "live_bytes", "peak_live_bytes", "mapped_bytes", "waste_bytes",
        "capacity", "largest_count", "limit_bytes", "mapped_limit_bytes", "inner_bytes", "refusals"})
    EXPECT_NE(open_text.find("\"" + std::string(key) + "\":"), std::string::npos)
        << key << " in " << open_text;
  EXPECT_NE(open_text.find("\"largest_count\":null,\"limit_bytes\":null"), std::string::npos) << open_text;
  EXPECT_NE(text.find("\"largest_count\":7,\"limit_bytes\":448,"), std::string::npos);
}

TEST(PoolUse, LiveBytesOfPoolsStandInTheStatistics) {
  const auto stats = std::make_unique<internal::Stats>();
  internal::collect_stats(*stats);
  const std::size_t before = stats->pool_live_bytes, before_in_all = stats->live_bytes;
  FixedPool packets(64);
  Heap room;
  static_cast<void>(packets.allocate_run(10));
  void* const block = room.allocate(3 * kMiB);
  internal::collect_stats(*stats);
  const std::size_t of_malloc = are_malloc_blocks() ? 640 : 0;  // those of slabs stand in the classes
  EXPECT_EQ(stats->pool_live_bytes, before + of_malloc + room.use().live_bytes);
  EXPECT_EQ(stats->live_bytes, before_in_all + 640 + room.use().live_bytes);
  room.deallocate(block);
  packets.clear();
  internal::collect_stats(*stats);
  EXPECT_EQ(stats->pool_live_bytes, before);
}

TEST(PoolUse, AVisitMayAllocateAndFree) {
  static char buffer[128 * 1024];
  Heap in_buffer({.buffer = buffer, .buffer_bytes = sizeof buffer});
  std::vector<void*> blocks;
  for_each_pool(
      [](const PoolUse&, void* context) {
        auto& kept = *static_cast<std::vector<void*>*>(context);
        for (const std::size_t size : landmark_sizes(5 * kMiB)) kept.push_back(tarn::allocate(size));
        for (void* block : kept) tarn::deallocate(block);
        kept.clear();
      },
      &blocks);
}

/// Visits every pool and calls visit(use) for each.
template <typename Visit>
void visit_pools(Visit visit) {
  for_each_pool([](const PoolUse& use, void* context) { (*static_cast<Visit*>(context))(use); }, &visit);
}

TEST(PoolUse, AVisitMayTrimForkAndVisitAgain) {
  const ChildResult result = run_in_child([] {
    FixedPool packets({.name = "packets", .block_bytes = 50});
    ObjectPool<Session> sessions({.name = "sessions"});
    Heap room("room");
    int visits = 0, bad = 0;
    visit_pools([&](const PoolUse&) {
      ++visits;
      tarn::trim();
      const int status = forked([] {
        int seen = 0;
        visit_pools([&](const PoolUse&) { ++seen; });
        tarn::trim();
        return seen >= 3 ? 0 : 1;
      });
      if (status != 0) ++bad;
    });
    return visits >= 3 && bad == 0 ? 0 : 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST(PoolUse, AVisitMayMakeAndEndPools) {
  const ChildResult result = run_in_child([] {
    std::vector<std::unique_ptr<FixedPool>> made;
    std::map<std::string, std::unique_ptr<Heap>> heaps;
    for (const char* name : {"first", "second", "third"}) heaps[name] = std::make_unique<Heap>(name);
    std::vector<std::string> visited;
    visit_pools([&](const PoolUse& use) {
      visited.push_back(use.name);
      made.push_back(std::make_unique<FixedPool>(64));
      static_cast<void>(Arena().allocate(10));
      // Its own pool, the next one, and one that was visited before.
      if (visited.back() == "first") heaps.erase("first"), heaps.erase("second");
      if (visited.back() == "third") made.erase(made.begin());
    });
    const bool is_right = std::count(visited.begin(), visited.end(), "first") == 1 &&
                          std::count(visited.begin(), visited.end(), "second") == 0 &&
                          std::count(visited.begin(), visited.end(), "third") == 1 &&
                          std::count(visited.begin(), visited.end(), "fixed pool") == 0;
    return is_right ? 0 : 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST(PoolUse, AVisitInAnotherThreadEndsWhilePoolsComeAndGo) {
  std::atomic<bool> must_stop{false};
  std::atomic<int> ended{0};
  std::thread other([&] {
    for (; !must_stop; ++ended) {
      FixedPool packets({.name = "packets", .block_bytes = 50});
      Heap room("room");
      static_cast<void>(room.allocate(100));
    }
  });
  Heap stays("stays");
  while (ended < 2000) {
    int seen = 0;
    visit_pools([&](const PoolUse& use) { seen += std::strcmp(use.name, "stays") == 0 ? 1 : 0; });
    ASSERT_EQ(seen, 1);
  }
  must_stop = true;
  other.join();
}

// The library's thread may have given some of it back before trim does.
TEST(Trim, GivesBackWhatSharedPoolsAndHeapsDoNotUse) {
  const std::uint64_t purged_before = tarn::stats().purged_bytes;
  SharedFixedPool events({.name = "events", .block_bytes = 1000});
  FixedPool packets({.name = "packets", .block_bytes = 1000});
  ObjectPool<Session> sessions({.name = "sessions"});
  Heap room("room");
  std::vector<Session*> objects;
  for (int i = 0; i < 5000; ++i) static_cast<void>(events.allocate()), static_cast<void>(packets.allocate());
  events.clear();
  packets.clear();
  for (int i = 0; i < 20000; ++i) objects.push_back(sessions.create());
  for (Session* object : objects) sessions.destroy(object);
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(room.allocate(3000));
  for (void* block : blocks) room.deallocate(block);
  room.prewarm(kMiB);
  tarn::trim();
  EXPECT_GE(tarn::stats().purged_bytes - purged_before, 5 * kMiB);
  const std::map<std::string, PoolUse> after = pools();
  EXPECT_EQ(after.at("events").mapped_bytes, 0u);
  EXPECT_EQ(after.at("sessions").mapped_bytes, 0u);
  EXPECT_EQ(after.at("room").mapped_bytes, 0u);
  EXPECT_EQ(after.at("packets").mapped_bytes, 0u);
  EXPECT_NE(events.allocate(), nullptr);
  EXPECT_NE(packets.allocate(), nullptr);
  EXPECT_NE(room.allocate(10), nullptr);
}

TEST(Trim, LeavesLiveBlocksOfPoolsAlone) {
  SharedFixedPool events(1000);
  Heap room;
  void* const event = events.allocate();
  void* const block = room.allocate(100);
  std::thread([] { tarn::trim(); }).join();
  EXPECT_TRUE(events.owns(event));
  EXPECT_TRUE(room.owns(block));
  events.deallocate(event);
  room.deallocate(block);
}

}  // namespace
}  // namespace tarn::test
