#include "tarn/allocator.h"

#include <limits>
#include <list>
#include <unordered_map>

#include "support/prelude.h"
#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"

namespace tarn::test {
namespace {

template <typename Allocator>
using Rebound = typename std::allocator_traits<Allocator>::template rebind_alloc<std::pair<const int, long>>;

template <typename Allocator>
void fill_and_empty_containers(const Allocator& allocator) {
  std::vector<int, Allocator> numbers(allocator);
  for (int i = 0; i < 1000; ++i) numbers.push_back(i);
  std::map<int, long, std::less<>, Rebound<Allocator>> squares{Rebound<Allocator>(allocator)};
  for (int i : numbers) squares.emplace(i, long{i} * i);
  std::list<int, Allocator> list(numbers.begin(), numbers.end(), allocator);
  list.sort(std::greater<>());
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(squares.at(i), long{i} * i);
  EXPECT_EQ(list.front(), 999);
  auto moved = std::move(numbers);
  EXPECT_EQ(moved.size(), 1000u);
}

TEST(Allocator, ContainersWorkOnTheGeneralPool) { fill_and_empty_containers(allocator<int>()); }

TEST(Allocator, ContainersWorkOnAHeapAndLeaveItEmpty) {
  Heap heap;
  fill_and_empty_containers(source_allocator<int, Heap>(heap));
  EXPECT_EQ(heap.use().live_count, 0u);
  EXPECT_GT(heap.use().peak_live_bytes, 0u);
}

TEST(Allocator, ContainersWorkOnAnArena) {
  Arena arena;
  fill_and_empty_containers(source_allocator<int, Arena>(arena));
  EXPECT_GT(arena.used(), 0u);
}

TEST(Allocator, NodesAndArraysComeFromAFixedPoolSideBySide) {
  FixedPool pool(128);
  fill_and_empty_containers(source_allocator<int, FixedPool>(pool));
  EXPECT_EQ(pool.live_count(), 0u);
}

TEST(Allocator, AreEqualWhenTheSourceIsOne) {
  Heap one, other;
  EXPECT_TRUE((source_allocator<int, Heap>(one) == source_allocator<char, Heap>(one)));
  EXPECT_FALSE((source_allocator<int, Heap>(one) == source_allocator<int, Heap>(other)));
  EXPECT_TRUE((allocator<int>() == allocator<char>()));
  EXPECT_TRUE(std::allocator_traits<allocator<int>>::is_always_equal::value);
}

TEST(Allocator, TooManyObjectsThrow) {
  volatile std::size_t count = std::numeric_limits<std::size_t>::max() / 2;
  EXPECT_THROW(static_cast<void>(allocator<int>().allocate(count)), std::bad_array_new_length);
  Heap limited({.hard_limit = 1000});
  EXPECT_THROW((static_cast<void>(source_allocator<int, Heap>(limited).allocate(1000))), std::bad_alloc);
}

TEST(Allocator, AllocateAtLeastTellsAllThatABlockHas) {
  for (const std::size_t count : {0, 1, 3, 100, 1000, 100000}) {
    const auto [ints, more] = allocator<int>().allocate_at_least(count);
    EXPECT_GE(more, count);
    EXPECT_EQ(more, usable_size(ints) / sizeof(int));
    std::memset(ints, 1, more * sizeof(int));
    allocator<int>().deallocate(ints, more);
    const auto [block, bytes] = allocate_at_least(count);
    EXPECT_EQ(bytes, usable_size(block));
    const auto [aligned, aligned_bytes] = MemoryPool::allocate_at_least(count, 256);
    EXPECT_GE(aligned_bytes, count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(aligned) % 256, 0u);
    deallocate(block);
    deallocate(aligned);
  }
  const auto [refused, none] = allocate_at_least(SIZE_MAX);
  EXPECT_EQ(refused, nullptr);
  EXPECT_EQ(none, 0u);
}

struct alignas(256) Wide {
  char bytes[256];
};

TEST(Allocator, OverAlignedTypesAreAligned) {
  Heap heap;
  std::vector<Wide, allocator<Wide>> general(10);
  std::vector<Wide, source_allocator<Wide, Heap>> in_heap(10, Wide{}, heap);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(general.data()) % 256, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(in_heap.data()) % 256, 0u);
}

TEST(Allocator, AFixedPoolRefusesAnAlignmentItDoesNotHave) {
  FixedPool pool(256);
  EXPECT_THROW((static_cast<void>(source_allocator<Wide, FixedPool>(pool).allocate(1))), std::bad_alloc);
}

struct Base {
  virtual ~Base() = default;
  int value = 1;
};
struct Other {
  virtual ~Other() = default;
  char bytes[40] = {};
};
struct Derived : Other, Base {
  explicit Derived(int* count) : ended(count) {}
  ~Derived() override { ++*ended; }
  int* ended;
};

TEST(MakeUnique, EndsADerivedObjectThroughItsSecondBase) {
  int ended = 0;
  {
    unique_ptr<Base> base = make_unique<Derived>(&ended);
    EXPECT_EQ(base->value, 1);
  }
  EXPECT_EQ(ended, 1);
}

struct Throws {
  Throws() { throw 1; }
};

TEST(MakeUnique, LosesNothingWhenAConstructorThrows) {
  EXPECT_THROW(static_cast<void>(make_unique<Throws>()), int);
}

}  // namespace
}  // namespace tarn::test
