#include "tarn/containers.h"

#include <deque>
#include <list>
#include <scoped_allocator>
#include <tuple>

#include "support/prelude.h"
#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"
#include "tarn/object_pool.h"

namespace tarn::test {
namespace {

constexpr const char* kLong = "a text that is longer than what a string holds in itself";

template <typename Containers, typename... Source>
void fill_and_empty_each(Source&... source) {
  typename Containers::template vector<int> vector(source...);
  typename Containers::template deque<int> deque(source...);
  typename Containers::template list<int> list(source...);
  typename Containers::template forward_list<int> forward_list(source...);
  typename Containers::template set<int> set(source...);
  typename Containers::template multiset<int, std::greater<>> multiset(source...);
  typename Containers::template map<int, int> map(source...);
  typename Containers::template multimap<int, int> multimap(source...);
  typename Containers::template unordered_set<int> unordered_set(source...);
  typename Containers::template unordered_multiset<int> unordered_multiset(source...);
  typename Containers::template unordered_map<typename Containers::string, int> unordered_map(source...);
  typename Containers::template unordered_multimap<int, int> unordered_multimap(source...);
  typename Containers::string string(kLong, source...);
  for (int i = 0; i < 500; ++i) {
    vector.push_back(i), deque.push_back(i), list.push_back(i), forward_list.push_front(i);
    set.insert(i), multiset.insert(i), map[i] = i, multimap.emplace(i, i);
    unordered_set.insert(i), unordered_multiset.insert(i), unordered_multimap.emplace(i, i);
    string.push_back('x');
    unordered_map.emplace(string, i);
  }
  EXPECT_EQ(vector.size() + deque.size() + list.size() + set.size(), 2000u);
  EXPECT_EQ(*multiset.begin(), 499);
  EXPECT_EQ(unordered_map.size(), 500u);
  EXPECT_EQ(unordered_map.at(string), 499);
}

TEST(Containers, EachWorksOnTheGeneralPool) { fill_and_empty_each<containers<MemoryPool>>(); }

TEST(Containers, EachWorksOnAHeapAndLeavesItEmpty) {
  Heap heap;
  fill_and_empty_each<containers<Heap>>(heap);
  EXPECT_GT(heap.use().peak_live_bytes, 0u);
  EXPECT_EQ(heap.use().live_count, 0u);
}

TEST(Containers, EachWorksOnHandlerMemory) {
  HandlerMemory memory;
  fill_and_empty_each<containers<HandlerMemory>>(memory);
  EXPECT_EQ(memory.live_count(), 0u);
}

TEST(Containers, ShortNamesAreThoseOfTheGeneralPool) {
  static_assert(std::is_same_v<vector<int>, std::vector<int, allocator<int>>>);
  static_assert(std::is_same_v<map<int, string>::key_compare, std::less<int>>);
  static_assert(
      std::is_same_v<unordered_map<int, int>::allocator_type, allocator<std::pair<const int, int>>>);
  static_assert(sizeof(vector<int>) == sizeof(std::vector<int>), "no state");
  static_assert(std::is_same_v<u16string::value_type, char16_t>);
  multimap<int, int> twice{{1, 2}, {1, 3}};
  unordered_multiset<wstring> texts{L"a", L"a"};
  EXPECT_EQ(twice.count(1) + texts.count(L"a"), 4u);
}

template <typename T>
std::size_t count_of(const vector<T>& values) {
  return values.size();
}
template <typename T>
std::size_t count_of_heap(const containers<Heap>::list<T>& values) {
  return values.size();
}

TEST(Containers, TypesOfElementsAreDeducedThroughTheNames) {
  Heap heap;
  EXPECT_EQ(count_of(vector<int>(3)), 3u);
  EXPECT_EQ(count_of_heap(containers<Heap>::list<int>(4, 1, heap)), 4u);
}

// What a program has that was written for std::allocator and std::vector; clang 14 is the strict one.
template <template <typename> class Allocator>
struct TakesAnAllocator {
  std::vector<int, Allocator<int>> values = std::vector<int, Allocator<int>>(10);
};
template <template <typename> class Container>
struct TakesAContainer {
  Container<int> values;
};
template <typename T>
using OnHeap = source_allocator<T, Heap>;
template <template <typename> class Allocator>
struct TakesAStatefulAllocator {
  explicit TakesAStatefulAllocator(Heap& heap) : values(10, 0, heap) {}
  std::vector<int, Allocator<int>> values;
};

TEST(Containers, AdaptersAreTemplatesOfOneParameter) {
  EXPECT_EQ(TakesAnAllocator<allocator>().values.size(), 10u);
  EXPECT_EQ(TakesAnAllocator<pmr::polymorphic_allocator>().values.size(), 10u);
  Heap heap;
  EXPECT_EQ(TakesAStatefulAllocator<OnHeap>(heap).values.size(), 10u);
  EXPECT_TRUE(TakesAContainer<vector>().values.empty());
  EXPECT_TRUE(TakesAContainer<deque>().values.empty());
  EXPECT_TRUE(TakesAContainer<pmr::list>().values.empty());
  EXPECT_TRUE(TakesAContainer<containers<MemoryPool>::forward_list>().values.empty());
  EXPECT_EQ(TakesAContainer<unique_ptr>().values, nullptr);
  EXPECT_EQ(TakesAContainer<ObjectPool>().values.live_count(), 0u);
  EXPECT_FALSE(TakesAContainer<Handle>().values);
}

template <typename Pool>
void make_where_nothing_moves() {
  EXPECT_EQ(std::vector<Pool>(3).size(), 3u);
  std::deque<Pool> deque;
  std::list<Pool> list;
  std::map<int, Pool> map;
  std::optional<Pool> optional;
  for (int i = 0; i < 3; ++i) {
    deque.emplace_back(), deque.emplace_front();
    list.emplace_back();
    map.try_emplace(i);
    optional.emplace();
  }
  const auto unique = std::make_unique<Pool>();
  EXPECT_EQ(deque.size() + list.size() + map.size(), 12u);
}

TEST(Containers, PoolsLieInThoseThatMoveNothing) {
  make_where_nothing_moves<Heap>();
  make_where_nothing_moves<Arena>();
  make_where_nothing_moves<BufferPool>();
  make_where_nothing_moves<HandlerMemory>();
  make_where_nothing_moves<ObjectPool<int>>();
  make_where_nothing_moves<HandlePool<int>>();
  const auto make = [] { return Heap("returned"); };
  EXPECT_TRUE(make().is_valid());
}

TEST(Containers, StringsOfEveryAllocatorHashAsTheirCharactersDo) {
  Heap heap;
  const std::size_t expected = std::hash<std::string_view>()(kLong);
  EXPECT_EQ(std::hash<string>()(kLong), expected);
  EXPECT_EQ(std::hash<containers<Heap>::string>()(containers<Heap>::string(kLong, heap)), expected);
  EXPECT_EQ(std::hash<pmr::string>()(kLong), expected);
  EXPECT_EQ(std::hash<u32string>()(U"abc"), std::hash<std::u32string_view>()(U"abc"));
}

TEST(PmrContainers, WithoutAResourceTheyUseTheGeneralPool) {
  pmr::vector<pmr::string> lines;
  lines.emplace_back(kLong);
  EXPECT_EQ(lines.get_allocator().resource(), default_resource());
  EXPECT_EQ(lines.front().get_allocator().resource(), default_resource());
  EXPECT_NE(std::pmr::get_default_resource(), default_resource());
}

TEST(PmrContainers, ElementsTakeTheResourceOfTheirContainer) {
  Heap heap;
  memory_resource resource(heap);
  pmr::vector<pmr::string> ours(&resource);
  pmr::map<int, std::pmr::string> of_std(&resource);
  std::pmr::vector<pmr::string> in_std(&resource);
  ours.emplace_back(kLong), of_std.emplace(1, kLong), in_std.emplace_back(kLong);
  EXPECT_EQ(ours[0].get_allocator().resource(), &resource);
  EXPECT_EQ(of_std.at(1).get_allocator().resource(), &resource);
  EXPECT_EQ(in_std[0].get_allocator().resource(), &resource);
  EXPECT_EQ(heap.use().live_count, 6u);
}

TEST(PmrContainers, ACopyUsesTheGeneralPoolUnlessItIsTold) {
  Heap heap;
  memory_resource resource(heap);
  const pmr::vector<pmr::string> lines({kLong}, &resource);
  const pmr::vector<pmr::string> copy(lines), told(lines, &resource);
  EXPECT_EQ(copy.get_allocator().resource(), default_resource());
  EXPECT_EQ(copy[0].get_allocator().resource(), default_resource());
  EXPECT_EQ(told[0].get_allocator().resource(), &resource);
  EXPECT_TRUE(lines == copy);
  EXPECT_FALSE(lines.get_allocator() == copy.get_allocator());
}

TEST(Containers, StringsAndContainersWithinAHeapsContainerLieInTheHeap) {
  using On = containers<Heap>;
  Heap heap;
  ASSERT_NE(heap.allocate(1), nullptr);
  {
    On::map<On::string, On::string> values(heap);
    values.emplace(kLong, kLong);
    values[On::string(kLong, heap)] = kLong;
    EXPECT_EQ(heap.use().live_count, 1u + 3);  // a node and two texts
    values.emplace(std::piecewise_construct, std::forward_as_tuple("b", heap), std::forward_as_tuple(kLong));
    On::vector<On::string> lines(heap);
    lines.emplace_back(kLong);
    lines.emplace_back(kLong, heap);
    EXPECT_TRUE(heap.owns(lines[0].data()) && heap.owns(lines[1].data()));
    On::unordered_map<int, On::vector<On::list<int>>> nested(heap);
    nested[3].emplace_back().push_back(1);
    EXPECT_TRUE(heap.owns(&nested[3][0].front()));
    On::vector<std::tuple<int, On::string>> tuples(heap);
    tuples.emplace_back(1, On::string(kLong, heap));
  }
  EXPECT_EQ(heap.use().live_count, 1u);
}

TEST(Containers, AScopedAllocatorAdaptorMayBringTheHeapToo) {
  using On = containers<Heap>;
  using Value = std::pair<const On::string, On::string>;
  using Adaptor = std::scoped_allocator_adaptor<source_allocator<Value, Heap>>;
  Heap heap;
  std::map<On::string, On::string, std::less<>, Adaptor> values{Adaptor(heap)};
  values[On::string(kLong, heap)] = kLong;
  values.emplace(kLong, kLong);
  for (const auto& [key, value] : values) EXPECT_TRUE(heap.owns(value.data()));
  EXPECT_EQ(values.size(), 1u);
}

struct Parsed {
  using allocator_type = std::allocator<char>;
};

TEST(Containers, AValueThatAllocatesElsewhereIsToldFromOneThatDoesNot) {
  using OnHeap = source_allocator<int, Heap>;
  EXPECT_TRUE((detail::kStaysInSource<std::pair<const int, containers<Heap>::string>, OnHeap>));
  EXPECT_FALSE((detail::kStaysInSource<std::pair<const int, std::string>, OnHeap>));
  EXPECT_FALSE((detail::kStaysInSource<tarn::string, OnHeap>));
  EXPECT_FALSE((detail::kStaysInSource<std::tuple<int, std::optional<tarn::vector<int>>>, OnHeap>));
  EXPECT_FALSE((detail::kStaysInSource<Parsed, OnHeap>));
}

}  // namespace
}  // namespace tarn::test
