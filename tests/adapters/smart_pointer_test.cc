#include "support/prelude.h"
#include "tarn/allocator.h"
#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/object_pool.h"
#include "tarn/pool_pointers.h"

namespace tarn::test {
namespace {

struct Counted {
  explicit Counted(int number = 0) : value(number) { ++alive; }
  Counted(const Counted& other) : value(other.value) { ++alive; }
  ~Counted() { --alive; }
  static inline int alive = 0;
  int value;
};

struct Throws {
  Throws() { throw 1; }
  char bytes[100];
};

struct alignas(128) Wide {
  char bytes[128];
};

bool is_aligned(const void* object, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(object) % alignment == 0;
}

TEST(MakeUnique, MakesObjectsThatMayNotChange) {
  const unique_ptr<const Counted> made = make_unique<const Counted>(3);
  const unique_ptr<const Counted> converted = make_unique<Counted>(4);
  EXPECT_EQ(made->value + converted->value, 7);
  EXPECT_TRUE(is_aligned(make_unique<const Wide>().get(), 128));
}

struct Base {
  virtual ~Base() = default;
};
struct Other {
  virtual ~Other() = default;
  char bytes[40] = {};
};
struct Derived : Other, Base {};

TEST(MakeUnique, EndsAnObjectThatMayNotChangeThroughItsSecondBase) {
  const unique_ptr<const Base> base = make_unique<const Derived>();
  EXPECT_NE(base, nullptr);
}

TEST(AllocateUnique, GivesTheMemoryBackToTheSource) {
  Heap heap;
  FixedPool pool(16);
  {
    const auto in_heap = allocate_unique<Counted>(heap, 5);
    const auto in_blocks = allocate_unique<std::pair<Counted, char[60]>>(pool);
    EXPECT_EQ(in_heap->value, 5);
    EXPECT_EQ(heap.use().live_count, 1u);
    EXPECT_EQ(pool.live_count(), 4u) << "side by side";
  }
  EXPECT_EQ(heap.use().live_count, 0u);
  EXPECT_EQ(pool.live_count(), 0u);
  EXPECT_EQ(Counted::alive, 0);
}

TEST(AllocateUnique, ConvertsToAPointerThatMayNotChangeAndToNoBase) {
  Heap heap;
  source_unique_ptr<const Counted, Heap> read_only;
  EXPECT_EQ(read_only, nullptr);
  read_only = allocate_unique<Counted>(heap, 6);
  EXPECT_EQ(read_only->value, 6);
  read_only = allocate_unique<const Counted>(heap, 7);
  read_only.reset();
  EXPECT_EQ(heap.use().live_count, 0u);
  static_assert(!std::is_convertible_v<source_unique_ptr<Derived, Heap>, source_unique_ptr<Base, Heap>>,
                "a base has another size");
}

TEST(AllocateUnique, LosesNothingWhenAConstructorThrowsOrMemoryIsRefused) {
  Heap heap({.hard_limit = 200});
  EXPECT_THROW(static_cast<void>(allocate_unique<Throws>(heap)), int);
  EXPECT_EQ(heap.use().live_count, 0u);
  EXPECT_THROW(static_cast<void>(allocate_unique<std::pair<Wide, Wide>>(heap)), std::bad_alloc);
}

TEST(MakeUnique, MakesArraysAndEndsEachObject) {
  {
    const unique_ptr<Counted[]> objects = make_unique<Counted[]>(7);
    EXPECT_EQ(Counted::alive, 7);
    const unique_ptr<Counted[]> none = make_unique<Counted[]>(0);
    const unique_ptr<Counted[]> empty;
  }
  EXPECT_EQ(Counted::alive, 0);
  const unique_ptr<int[]> zeros = make_unique<int[]>(1000);
  EXPECT_EQ(std::count(zeros.get(), zeros.get() + 1000, 0), 1000);
  EXPECT_TRUE(is_aligned(make_unique<Wide[]>(3).get(), 128));
  EXPECT_GE(usable_size(make_unique_for_overwrite<char[]>(1000).get()), 1000u);
  EXPECT_THROW(static_cast<void>(make_unique<int[]>(SIZE_MAX / 2)), std::bad_array_new_length);
}

TEST(AllocateUnique, GivesAnArrayBackAtItsSize) {
  Heap heap;
  FixedPool pool(16);
  Arena arena;
  {
    const auto in_heap = allocate_unique<std::string[]>(heap, 5);
    const auto in_pool = allocate_unique_for_overwrite<char[]>(pool, 50);
    const auto in_arena = allocate_unique<Counted[]>(arena, 3);
    EXPECT_EQ(in_heap[4], "");
    EXPECT_EQ(heap.use().live_count, 1u);
    EXPECT_EQ(pool.live_count(), 4u) << "side by side";
    EXPECT_EQ(Counted::alive, 3);
  }
  EXPECT_EQ(heap.use().live_count, 0u);
  EXPECT_EQ(pool.live_count(), 0u);
  EXPECT_EQ(Counted::alive, 0);
  EXPECT_THROW(static_cast<void>(allocate_unique<Throws[]>(heap, 3)), int);
  EXPECT_EQ(heap.use().live_count, 0u);
  EXPECT_THROW(static_cast<void>(allocate_unique<char[]>(pool, 1 << 20)), std::bad_alloc);
}

struct Packet {
  char bytes[100];
};

// A block that was freed and is handed out again has its old bytes, as far as its type leaves them out.
TEST(ForOverwrite, LeavesOutWhatTheTypeDoes) {
  Arena arena;
  ObjectPool<Packet> pool;
  HandlePool<Packet> handles;
  Heap heap;
  const auto written = [](Packet* packet) { std::memset(packet, 'x', sizeof *packet); };
  const ArenaMark mark = arena.mark();
  Packet* packet = arena.create_for_overwrite<Packet>();
  written(packet);
  arena.rewind(mark);
  EXPECT_EQ(arena.create_for_overwrite<Packet>(), packet);
  packet = pool.create_for_overwrite();
  written(packet);
  pool.destroy(packet);
  EXPECT_EQ(pool.create()->bytes[50], '\0') << "create() makes values";
  const Handle<Packet> handle = handles.create_for_overwrite();
  written(handles.get(handle));
  EXPECT_TRUE(handles.destroy(handle));
  ASSERT_NE(allocate_unique_for_overwrite<Packet>(heap), nullptr);
  ASSERT_NE(make_unique_for_overwrite<Packet>(), nullptr);
  ObjectPool<Throws> throwing;
  EXPECT_THROW(static_cast<void>(throwing.create_for_overwrite()), int);
  EXPECT_EQ(throwing.live_count(), 0u);
}

TEST(AllocateShared, HasOneBlockWithItsControlBlock) {
  Heap heap;
  std::weak_ptr<const Counted> weak;
  {
    const std::shared_ptr<Counted> shared = allocate_shared<Counted>(heap, 8);
    weak = shared;
    EXPECT_EQ(heap.use().live_count, 1u);
  }
  EXPECT_EQ(Counted::alive, 0);
  EXPECT_EQ(heap.use().live_count, 1u) << "until the last weak_ptr ends";
  weak.reset();
  EXPECT_EQ(heap.use().live_count, 0u);
}

TEST(AllocateShared, WorksOnEverySource) {
  MemoryPool general;
  Arena arena;
  FixedPool fixed(64);
  SharedFixedPool shared_fixed(64);
  EXPECT_EQ(allocate_shared<const Counted>(general, 1)->value, 1);
  EXPECT_EQ(allocate_shared<const Counted>(arena, 2)->value, 2);
  EXPECT_EQ(allocate_shared<Counted>(fixed, 3)->value, 3);
  EXPECT_EQ(allocate_shared<Counted>(shared_fixed, 4)->value, 4);
  EXPECT_EQ(make_shared<const Counted>(5)->value, 5);
  EXPECT_TRUE(is_aligned(make_shared<Wide>().get(), 128));
  EXPECT_EQ(allocate_shared<int[]>(general, 10, 6)[9], 6);
  EXPECT_EQ(fixed.live_count() + shared_fixed.live_count(), 0u);
  EXPECT_EQ(Counted::alive, 0);
}

TEST(AllocateShared, LosesNothingWhenAConstructorThrowsOrMemoryIsRefused) {
  Heap heap({.hard_limit = 300});
  EXPECT_THROW(static_cast<void>(allocate_shared<Throws>(heap)), int);
  EXPECT_EQ(heap.use().live_count, 0u);
  EXPECT_THROW(static_cast<void>(allocate_shared<char[]>(heap, 1000)), std::bad_alloc);
}

TEST(AllocateShared, MayEndInAnotherThread) {
  Heap heap;
  std::thread([shared = allocate_shared<int>(heap, 1)]() mutable { shared.reset(); }).join();
  EXPECT_EQ(heap.use().live_count, 0u);
}

template <typename T>
void share_in_a_typed_pool() {
  ObjectPool<SharedBlock<T>> pool;
  std::weak_ptr<T> weak;
  {
    const std::shared_ptr<T> shared = allocate_shared<T>(pool);
    const std::shared_ptr<const T> read_only = allocate_shared<const T>(pool);
    weak = shared;
    EXPECT_EQ(pool.live_count(), 2u) << "a block each";
    EXPECT_TRUE(is_aligned(shared.get(), alignof(T)));
  }
  EXPECT_EQ(pool.live_count(), 1u);
  weak.reset();
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST(SharedBlock, HoldsTheObjectAndItsControlBlock) {
  share_in_a_typed_pool<char>();
  share_in_a_typed_pool<Counted>();
  share_in_a_typed_pool<Derived>();
  share_in_a_typed_pool<std::max_align_t>();
  share_in_a_typed_pool<Wide>();
  EXPECT_EQ(Counted::alive, 0);
}

TEST(SharedBlock, IsFreedWhenAConstructorThrows) {
  ObjectPool<SharedBlock<Throws>> pool;
  EXPECT_THROW(static_cast<void>(allocate_shared<Throws>(pool)), int);
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST(ObjectPool, EndsObjectsThatMayNotChange) {
  ObjectPool<Counted> pool;
  {
    const std::unique_ptr<const Counted, ObjectPool<Counted>::Deleter> read_only = pool.make_unique(1);
    const std::shared_ptr<const Counted> shared = pool.make_shared(2);
    const Counted* const raw = pool.create(3);
    EXPECT_EQ(read_only->value + shared->value + raw->value, 6);
    pool.destroy(raw);
  }
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST(Arena, CreatesObjectsThatMayNotChange) {
  Arena arena;
  const Counted* const object = arena.create<const Counted>(1);
  EXPECT_EQ(object->value, 1);
  arena.reset();
  EXPECT_EQ(Counted::alive, 0);
}

}  // namespace
}  // namespace tarn::test
