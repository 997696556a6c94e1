// What the library tells of its pools, and what trim takes of them.
#include "tarn/pool_use.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "observe/stats.h"
#include "support/child.h"
#include "support/sizes.h"
#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "tarn/stats.h"

namespace tarn::test {
namespace {

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
  FixedPool packets({.block_bytes = 50, .blocks_per_chunk = 100, .name = "packets"});
  SharedFixedPool events({.block_bytes = 64, .name = "events"});
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
  EXPECT_FALSE(fixed.is_in_classes);
  EXPECT_EQ(found.at("events").live_count, 3u);
  const PoolUse& typed = found.at("sessions");
  EXPECT_STREQ(typed.kind, "object pool");
  EXPECT_EQ(typed.live_count, 10u);
  EXPECT_GE(typed.live_bytes, 10u * sizeof(Session));
  EXPECT_TRUE(typed.is_in_classes);
  const PoolUse& heap = found.at("room");
  EXPECT_STREQ(heap.kind, "heap");
  EXPECT_EQ(heap.live_count, 1u);
  EXPECT_EQ(heap.live_bytes, room.use().live_bytes);
  EXPECT_EQ(heap.peak_live_bytes, 2 * heap.live_bytes);
  EXPECT_EQ(heap.mapped_bytes, room.use().mapped_bytes);
  EXPECT_EQ(found.at("arenas").live_count, 1u);
}

TEST(PoolUse, ForgetsPoolsThatHaveEnded) {
  const std::size_t before = pools().size();
  {
    FixedPool packets({.block_bytes = 50, .name = "packets"});
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
  FixedPool packets({.block_bytes = 50, .name = nullptr});
  SharedFixedPool events({.block_bytes = 50, .name = nullptr});
  ObjectPool<Session> sessions({.name = nullptr});
  HandlePool<Session> handles({.name = nullptr});
  Heap room({.name = nullptr});
  const Arena arena({.name = nullptr});
  EXPECT_STREQ(arena.name(), "arena");
  const std::map<std::string, PoolUse> found = pools();
  for (const char* name : {"fixed pool", "object pool", "heap"}) EXPECT_EQ(found.count(name), 1u) << name;
}

TEST(PoolUse, MakesNamesFitForATextFile) {
  Heap long_name("a name of more than thirty-one characters"), odd("say \"hi\"\n\\");
  const std::map<std::string, PoolUse> found = pools();
  EXPECT_EQ(found.count("a name of more than thirty-one "), 1u);
  EXPECT_EQ(found.count("say _hi___"), 1u);
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
  FixedPool packets({.block_bytes = 50, .name = "packets"});
  Heap room("room");
  static_cast<void>(packets.allocate());
  static_cast<void>(room.allocate(10));
  const std::string text = stats_json();
  const std::size_t list = text.find("\"pools\"");
  ASSERT_NE(list, std::string::npos);
  for (const char* part : {"\"packets\"", "\"fixed pool\"", "\"room\"", "\"heap\"", "\"live_count\""})
    EXPECT_NE(text.find(part, list), std::string::npos) << part << " in " << text.substr(list);
}

TEST(PoolUse, LiveBytesOfPoolsStandInTheStatistics) {
  const auto stats = std::make_unique<internal::Stats>();
  internal::collect_stats(*stats);
  const std::size_t before = stats->pool_live_bytes;
  FixedPool packets(64);
  Heap room;
  static_cast<void>(packets.allocate_run(10));
  void* const block = room.allocate(3 * kMiB);
  internal::collect_stats(*stats);
  EXPECT_EQ(stats->pool_live_bytes, before + 640 + room.use().live_bytes);
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
    FixedPool packets({.block_bytes = 50, .name = "packets"});
    ObjectPool<Session> sessions({.name = "sessions"});
    Heap room("room");
    int visits = 0, bad = 0;
    visit_pools([&](const PoolUse&) {
      ++visits;
      tarn::trim();
      const pid_t child = fork();
      if (child == 0) {
        int seen = 0;
        visit_pools([&](const PoolUse&) { ++seen; });
        tarn::trim();
        _exit(seen >= 3 ? 0 : 1);
      }
      int status = -1;
      if (waitpid(child, &status, 0) != child || status != 0) ++bad;
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
      FixedPool packets({.block_bytes = 50, .name = "packets"});
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

// A helper thread may have given some of it back before trim does.
TEST(Trim, GivesBackWhatSharedPoolsAndHeapsDoNotUse) {
  const std::uint64_t purged_before = tarn::stats().purged_bytes;
  SharedFixedPool events({.block_bytes = 1000, .name = "events"});
  FixedPool packets({.block_bytes = 1000, .name = "packets"});
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
  EXPECT_GE(after.at("packets").mapped_bytes, 5000u * 1000) << "only its own thread may change it";
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
