// Arena and TickArena: alignment, rewinding, callbacks, growth and its limits, wiping, and where chunks come
// from.
#include "tarn/arena.h"

#include "support/content.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"

namespace tarn::test {
namespace {

TEST(Arena, BlocksAreAlignedApartAndKeepTheirContents) {
  for (const std::size_t initial : {std::size_t{1}, std::size_t{100}, 4 * kKiB, kMiB}) {
    Arena arena({.initial_bytes = initial});
    Random random(initial);
    struct Live {
      char* block;
      std::size_t size;
    };
    for (int round = 0; round < 3; ++round) {
      std::vector<Live> live;
      for (int i = 0; i < 1000; ++i) {
        const std::size_t size = random.below(std::size_t{1} << random.between(1, 14));
        const std::size_t alignment = std::size_t{1} << random.below(random.below(20) == 0 ? 17 : 7);
        char* const block = static_cast<char*>(arena.allocate(size, alignment));
        ASSERT_NE(block, nullptr);
        ASSERT_EQ(address(block) % alignment, 0u) << size << " aligned to " << alignment;
        ASSERT_TRUE(arena.owns(block));
        fill(block, size, static_cast<std::uint64_t>(i));
        live.push_back({block, size});
      }
      for (std::size_t i = 0; i < live.size(); ++i) ASSERT_TRUE(holds(live[i].block, live[i].size, i));
      arena.reset();
      EXPECT_EQ(arena.used(), 0u);
    }
  }
}

TEST(Arena, BlocksOfNoBytesDiffer) {
  Arena arena;
  EXPECT_NE(arena.allocate(0), arena.allocate(0));
  EXPECT_NE(arena.allocate(0, 1), arena.allocate(0, 1));
}

TEST(Arena, WhatIsNoAlignmentAndNoSizeIsRefused) {
  Arena arena;
  EXPECT_EQ(arena.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(arena.allocate(SIZE_MAX - 64), nullptr);
  EXPECT_EQ(arena.allocate(std::size_t{1} << 47), nullptr);
  EXPECT_EQ(arena.allocate(1, std::size_t{1} << 62), nullptr);
  EXPECT_NE(arena.allocate(10), nullptr);
  EXPECT_EQ(arena.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(arena.allocate(SIZE_MAX - 64, 64), nullptr);
  EXPECT_EQ(arena.allocate(PTRDIFF_MAX), nullptr);
}

TEST(Arena, ResetKeepsTheChunksForWhatComes) {
  Arena arena({.initial_bytes = 1000});
  for (int i = 0; i < 100; ++i) static_cast<void>(arena.allocate(500));
  const std::size_t capacity = arena.capacity();
  void* const first = [&] {
    arena.reset();
    return arena.allocate(500);
  }();
  for (int round = 0; round < 10; ++round) {
    arena.reset();
    EXPECT_EQ(arena.allocate(500), first);
    for (int i = 0; i < 99; ++i) ASSERT_NE(arena.allocate(500), nullptr);
    EXPECT_EQ(arena.capacity(), capacity) << round;
  }
}

TEST(Arena, RewindGoesBackToItsMarkAcrossChunks) {
  Arena arena({.initial_bytes = 256, .increment_bytes = 256});
  std::vector<ArenaMark> marks;
  std::vector<std::size_t> used;
  std::vector<void*> next;
  for (int i = 0; i < 200; ++i) {
    marks.push_back(arena.mark());
    used.push_back(arena.used());
    void* const block = arena.allocate(static_cast<std::size_t>(i));
    fill(block, static_cast<std::size_t>(i), static_cast<std::uint64_t>(i));
    next.push_back(block);
  }
  const std::size_t capacity = arena.capacity();
  for (std::size_t i = marks.size(); i-- > 0;) {
    if (i % 3 == 0) continue;
    arena.rewind(marks[i]);
    ASSERT_LE(arena.used(), used[i]) << i;
    for (std::size_t k = 0; k < i; ++k) ASSERT_TRUE(holds(next[k], k, k)) << "what came before is untouched";
    EXPECT_EQ(arena.capacity(), capacity);
  }
  arena.rewind(marks[0]);
  EXPECT_EQ(arena.used(), 0u);
}

TEST(Arena, RandomMarksAndRewindsKeepWhatIsOlder) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    Arena arena({.initial_bytes = 500});
    Random random(seed);
    struct Live {
      void* block;
      std::size_t size;
      std::uint64_t pattern;
    };
    struct Point {
      ArenaMark mark;
      std::size_t live_count;
    };
    std::vector<Live> live;
    std::vector<Point> points;
    for (std::uint64_t i = 0, rounds = amount(20000, 500000); i < rounds; ++i) {
      const std::uint64_t choice = random.below(100);
      if (choice < 80) {
        const std::size_t size = random.below(random.below(30) == 0 ? 5000 : 200);
        void* const block = arena.allocate(size, std::size_t{1} << random.below(8));
        fill(block, size, i);
        live.push_back({block, size, i});
      } else if (choice < 90) {
        points.push_back({arena.mark(), live.size()});
      } else if (choice < 98 && !points.empty()) {
        const std::size_t to = random.below(points.size());
        arena.rewind(points[to].mark);
        live.resize(points[to].live_count);
        points.resize(to);
      } else if (choice == 98) {
        arena.release_unused();
      } else if (random.below(20) == 0) {
        arena.reset();
        live.clear();
        points.clear();
      }
      for (const Live& each : live) ASSERT_TRUE(i % 500 != 0 || holds(each.block, each.size, each.pattern));
      ASSERT_LE(arena.used(), arena.capacity());
      ASSERT_LE(arena.used(), arena.high_water());
    }
  }
}

std::string* log_of_cleanups = nullptr;
void note_cleanup(void* context) noexcept { *log_of_cleanups += *static_cast<const char*>(context); }

TEST(Arena, CallbacksRunLatestFirstAtRewindResetAndEnd) {
  std::string log;
  log_of_cleanups = &log;
  static char letters[] = "abcdefghijklmnopqrstuvwxyz";
  {
    Arena arena({.initial_bytes = 64, .increment_bytes = 64});
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(arena.on_cleanup(note_cleanup, letters + i));
    const ArenaMark mark = arena.mark();
    for (int i = 3; i < 6; ++i) EXPECT_TRUE(arena.on_cleanup(note_cleanup, letters + i));
    static_cast<void>(arena.allocate(1000));
    for (int i = 6; i < 8; ++i) EXPECT_TRUE(arena.on_cleanup(note_cleanup, letters + i));
    EXPECT_EQ(log, "");
    arena.rewind(mark);
    EXPECT_EQ(log, "hgfed") << "those before the mark wait";
    arena.rewind(mark);
    EXPECT_EQ(log, "hgfed");
    EXPECT_TRUE(arena.on_cleanup(note_cleanup, letters + 8));
    arena.reset();
    EXPECT_EQ(log, "hgfedicba");
    arena.reset();
    EXPECT_EQ(log, "hgfedicba") << "each runs once";
    EXPECT_TRUE(arena.on_cleanup(note_cleanup, letters + 25));
  }
  EXPECT_EQ(log, "hgfedicbaz");
}

TEST(Arena, ACallbackMayAllocateInTheArena) {
  struct Context {
    Arena* arena;
    int runs = 0;
  };
  Arena arena({.initial_bytes = 128, .increment_bytes = 128});
  Context context{&arena};
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(arena.on_cleanup(
        [](void* argument) noexcept {
          auto& self = *static_cast<Context*>(argument);
          ++self.runs;
          for (int k = 0; k < 20; ++k) std::memset(self.arena->allocate(100), 1, 100);
        },
        &context));
  arena.reset();
  EXPECT_EQ(context.runs, 5);
  EXPECT_EQ(arena.used(), 0u);
  EXPECT_NE(arena.allocate(100), nullptr);
}

struct Counted {
  static inline int alive = 0;
  explicit Counted(bool must_throw = false) {
    if (must_throw) throw std::runtime_error("as told");
    ++alive;
  }
  ~Counted() { --alive; }
  alignas(64) char payload[100];
};

TEST(Arena, ObjectsEndWithTheArenaAndThoseThatThrewNever) {
  Counted::alive = 0;
  {
    Arena arena({.initial_bytes = 300});
    const ArenaMark mark = arena.mark();
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(address(arena.create<Counted>()) % 64, 0u);
      EXPECT_THROW(static_cast<void>(arena.create<Counted>(true)), std::runtime_error);
    }
    EXPECT_EQ(Counted::alive, 100);
    arena.rewind(mark);
    EXPECT_EQ(Counted::alive, 0);
    static_cast<void>(arena.create<Counted>());
    int* const number = arena.create<int>(5);
    EXPECT_EQ(*number, 5);
  }
  EXPECT_EQ(Counted::alive, 0);
}

TEST(Arena, CreateThrowsAtTheCapAndLeavesTheArenaAsItWas) {
  Counted::alive = 0;
  Arena arena({.initial_bytes = 1000, .may_grow = false});
  int made = 0;
  try {
    for (; made < 100; ++made) static_cast<void>(arena.create<Counted>());
  } catch (const std::bad_alloc&) {
  }
  EXPECT_EQ(Counted::alive, made);
  EXPECT_GT(made, 2);
  const std::size_t used = arena.used();
  EXPECT_THROW(static_cast<void>(arena.create<Counted>()), std::bad_alloc);
  EXPECT_EQ(arena.used(), used);
  arena.reset();
  EXPECT_EQ(Counted::alive, 0);
}

TEST(Arena, TheCapHoldsForAllChunksTogether) {
  Arena arena({.initial_bytes = 1000, .increment_bytes = 1000, .mapped_limit = 4500});
  std::size_t had = 0;
  while (arena.allocate(100) != nullptr) had += 100;
  EXPECT_LE(arena.capacity(), 4500u);
  EXPECT_GE(had, 4000u);
  EXPECT_EQ(arena.allocate(100), nullptr);
  arena.reset();
  EXPECT_NE(arena.allocate(100), nullptr);
  EXPECT_EQ(arena.allocate(5000), nullptr);
}

TEST(Arena, ACapBelowItsBufferMeansNoGrowth) {
  alignas(64) char buffer[2000];
  Arena arena({.mapped_limit = 1000, .buffer = buffer, .buffer_bytes = sizeof buffer});
  while (void* const block = arena.allocate(100)) {
    ASSERT_GE(block, buffer);
    ASSERT_LT(block, buffer + sizeof buffer);
  }
  EXPECT_LE(arena.capacity(), sizeof buffer);
}

TEST(Arena, ThatMayNotGrowHasItsFirstChunkOnly) {
  Arena arena({.initial_bytes = 1000, .may_grow = false});
  std::size_t had = 0;
  while (arena.allocate(10, 1) != nullptr) had += 10;
  EXPECT_EQ(had, 1000u);
  EXPECT_EQ(arena.capacity(), 1000u);
  EXPECT_EQ(arena.high_water(), 1000u);
  arena.reset();
  EXPECT_NE(arena.allocate(1000), nullptr);
}

TEST(Arena, UsesTheCallersBufferFirst) {
  alignas(64) static char buffer[4096];
  std::memset(buffer, 0x5a, sizeof buffer);
  {
    Arena fixed({.buffer = buffer, .buffer_bytes = sizeof buffer, .may_grow = false});
    std::size_t had = 0;
    while (void* const block = fixed.allocate(16)) {
      ASSERT_GE(block, buffer);
      ASSERT_LE(static_cast<char*>(block) + 16, buffer + sizeof buffer);
      had += 16;
    }
    EXPECT_GE(had, sizeof buffer - 64);
  }
  Arena growing(buffer, sizeof buffer);
  bool has_left_it = false;
  for (int i = 0; i < 1000; ++i) {
    void* const block = growing.allocate(16);
    ASSERT_NE(block, nullptr);
    has_left_it = has_left_it || block < buffer || block >= buffer + sizeof buffer;
  }
  EXPECT_TRUE(has_left_it);
  EXPECT_TRUE(growing.owns(buffer + 1000));
}

TEST(Arena, ABufferTooSmallIsAsIfThereWereNone) {
  char buffer[64];
  for (std::size_t bytes = 0; bytes < sizeof buffer; ++bytes) {
    Arena arena(buffer + bytes % 7, bytes - bytes % 7 * (bytes > 7));
    for (int i = 0; i < 10; ++i) {
      void* const block = arena.allocate(32);
      ASSERT_NE(block, nullptr);
      std::memset(block, 1, 32);
    }
  }
}

TEST(Arena, ThatMayNotGrowRefusesWhenItsBufferIsTooSmall) {
  char buffer[48] = {};
  Heap heap;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, sizeof buffer - 1}) {
    Arena arena({.heap = &heap, .buffer = buffer, .buffer_bytes = bytes, .may_grow = false});
    EXPECT_EQ(arena.allocate(48), nullptr) << bytes;
    EXPECT_EQ(arena.allocate(100), nullptr);
    EXPECT_EQ(arena.capacity(), 0u);
  }
  EXPECT_EQ(heap.use().peak_live_bytes, 0u) << "taken from upstream";
}

TEST(Arena, ThatMayNotGrowHasRoomForWhatItsBufferHolds) {
  alignas(64) static char buffer[4096];
  Arena arena({.buffer = buffer, .buffer_bytes = sizeof buffer, .may_grow = false});
  std::size_t had = 0;
  while (arena.allocate(64) != nullptr) had += 64;
  EXPECT_GE(had, sizeof buffer - 2 * 64);
  EXPECT_LE(had, sizeof buffer);
  arena.reset();
  EXPECT_NE(arena.allocate(64), nullptr);
}

TEST(Arena, WipesWhatEnds) {
  alignas(64) static unsigned char buffer[8192];
  std::memset(buffer, 0, sizeof buffer);
  // From the first block on: an address in the arena's own record before it may hold that byte.
  const unsigned char* first = nullptr;
  auto secrets = [&first] {
    const unsigned char* const end = buffer + sizeof buffer;
    return static_cast<std::size_t>(std::count(first, end, 0xa5));
  };
  if (kAddressSanitizer) GTEST_SKIP() << "what has ended may not be read there";
  {
    Arena arena({.buffer = buffer, .buffer_bytes = sizeof buffer, .sensitive = true});
    first = static_cast<unsigned char*>(std::memset(arena.allocate(1000), 0xa5, 1000));
    const ArenaMark mark = arena.mark();
    std::memset(arena.allocate(1000), 0xa5, 1000);
    EXPECT_EQ(secrets(), 2000u);
    arena.rewind(mark);
    EXPECT_EQ(secrets(), 1000u);
    std::memset(arena.allocate(100), 0xa5, 100);
    // The rest of the buffer stays behind when the arena moves on.
    std::memset(arena.allocate(5000), 0xa5, 5000);
    std::memset(arena.allocate(100000), 0xa5, 100000);
    arena.reset();
    EXPECT_EQ(secrets(), 0u);
    std::memset(arena.allocate(3000), 0xa5, 3000);
  }
  EXPECT_EQ(secrets(), 0u) << "the end is an end too";
}

TEST(Arena, WipesChunksOfAHeapToo) {
  Heap heap("wiped");
  for (int round = 0; round < 2; ++round) {
    std::vector<unsigned char*> blocks;
    Arena arena({.initial_bytes = 1000, .heap = &heap, .sensitive = true});
    for (int i = 0; i < 20; ++i) {
      blocks.push_back(static_cast<unsigned char*>(arena.allocate(900)));
      std::memset(blocks.back(), 0xa5, 900);
    }
    arena.reset();
    if (kAddressSanitizer) continue;
    for (const unsigned char* block : blocks) EXPECT_TRUE(is_zero(block, 900));
  }
}

TEST(Arena, TakesItsChunksFromAHeapAndGivesThemBack) {
  Heap heap({.name = "upstream", .hard_limit = 100 * kKiB});
  {
    Arena arena({.initial_bytes = 1000, .heap = &heap});
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(heap.owns(arena.allocate(500)));
    EXPECT_GT(heap.use().live_bytes, 25000u);
    while (arena.allocate(1000) != nullptr) {
    }
    EXPECT_LE(heap.use().live_bytes, 100 * kKiB) << "the heap's limit is the arena's";
    arena.reset();
    EXPECT_GT(arena.release_unused(), 0u);
    EXPECT_EQ(heap.use().live_count, 1u);
    EXPECT_NE(arena.allocate(100), nullptr);
  }
  EXPECT_EQ(heap.use().live_bytes, 0u);
}

TEST(Arena, CountsWhatItUsesAndHasUsed) {
  Arena arena({.initial_bytes = 1000, .increment_bytes = 2000});
  EXPECT_EQ(arena.used(), 0u);
  EXPECT_EQ(arena.capacity(), 0u) << "the first chunk is taken when it is needed";
  static_cast<void>(arena.allocate(100, 1));
  EXPECT_EQ(arena.used(), 100u);
  EXPECT_EQ(arena.capacity(), 1000u);
  static_cast<void>(arena.allocate(900, 1));
  EXPECT_EQ(arena.used(), 1000u);
  static_cast<void>(arena.allocate(50, 1));
  EXPECT_EQ(arena.used(), 1050u);
  EXPECT_EQ(arena.capacity(), 3000u);
  arena.reset();
  EXPECT_EQ(arena.used(), 0u);
  EXPECT_EQ(arena.high_water(), 1050u);
  static_cast<void>(arena.allocate(2000, 1));
  EXPECT_EQ(arena.high_water(), 2000u);
  EXPECT_EQ(arena.release_unused(), 0u);
  arena.reset();
  EXPECT_EQ(arena.release_unused(), 2000u);
  EXPECT_EQ(arena.capacity(), 1000u);
}

TEST(Arena, PrewarmedBytesAreHadWithoutGrowth) {
  for (const std::size_t before : {0u, 10u, 900u}) {
    Arena arena({.initial_bytes = 1000});
    if (before != 0) static_cast<void>(arena.allocate(before));
    EXPECT_GE(arena.prewarm(50000), 50000u);
    const std::size_t capacity = arena.capacity();
    for (int i = 0; i < 50; ++i) ASSERT_NE(arena.allocate(1000, 1), nullptr);
    EXPECT_EQ(arena.capacity(), capacity) << before;
  }
  Arena limited({.mapped_limit = 1000});
  EXPECT_LE(limited.prewarm(5000), 1000u);
}

TEST(Arena, TheGeneralPoolIgnoresItsBlocks) {
  Arena arena;
  void* const small = arena.allocate(100);
  void* const large = arena.allocate(kMiB);
  fill(small, 100, 1);
  fill(large, kMiB, 2);
  for (void* block : {small, large}) {
    tarn::deallocate(block);
    arena.deallocate(block);
  }
  EXPECT_TRUE(holds(small, 100, 1));
  EXPECT_TRUE(holds(large, kMiB, 2));
}

TEST(Arena, KeepsUpTo31CharactersOfItsName) {
  EXPECT_STREQ(Arena("frame").name(), "frame");
  EXPECT_STREQ(Arena("a name of more than thirty-one characters").name(), "a name of more than thirty-one ");
}

TEST(Arena, ManyComeAndGoWithoutKeepingMemory) {
  for (int i = 0; i < 3000; ++i) {
    Arena arena({.initial_bytes = 64 * kKiB});
    ASSERT_NE(arena.allocate(100), nullptr);
    ASSERT_NE(arena.allocate(i % 100 == 0 ? 3 * kMiB : 100), nullptr);
  }
}

TEST(TickArena, CountsTicksThatNeededMore) {
  TickArena arena(10000);
  for (int tick = 0; tick < 10; ++tick) {
    arena.begin_tick();
    for (int i = 0; i < 100; ++i) ASSERT_NE(arena.allocate(100, 1), nullptr);
    EXPECT_EQ(arena.overflowed_ticks(), 0u) << "what was promised is there";
  }
  EXPECT_EQ(arena.ticks(), 10u);
  arena.begin_tick();
  for (int i = 0; i < 110; ++i) ASSERT_NE(arena.allocate(100, 1), nullptr);
  EXPECT_EQ(arena.overflowed_ticks(), 1u);
  EXPECT_EQ(arena.overflows(), 1u);
  arena.begin_tick();
  EXPECT_EQ(arena.used(), 0u);
  for (int i = 0; i < 110; ++i) ASSERT_NE(arena.allocate(100, 1), nullptr);
  EXPECT_EQ(arena.overflowed_ticks(), 1u) << "the chunk was kept";
  arena.begin_tick();
  ASSERT_NE(arena.allocate(kMiB), nullptr);
  EXPECT_EQ(arena.overflowed_ticks(), 2u);
  arena.begin_tick();
  EXPECT_EQ(arena.overflowed_ticks(), 2u);
  EXPECT_EQ(arena.overflows(), 2u);
  EXPECT_EQ(arena.ticks(), 14u);
}

}  // namespace
}  // namespace tarn::test
