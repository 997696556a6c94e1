#include "tarn/coroutine.h"

#include <coroutine>
#include <exception>
#include <memory_resource>

#include "support/prelude.h"
#include "tarn/allocator.h"
#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/handler_memory.h"
#include "tarn/memory_resource.h"

namespace tarn::test {
namespace {

class Task {
 public:
  struct promise_type : CoroutineFrame {
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~Task() {
    if (handle_) handle_.destroy();
  }
  void resume() { handle_.resume(); }
  void* address() const { return handle_.address(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

Task plain(int* steps) {
  ++*steps;
  co_await std::suspend_always();
  ++*steps;
}
Task in_heap(std::allocator_arg_t, Heap&, int* steps) {
  ++*steps;
  co_return;
}
struct Server {
  Heap& frames;
  int steps = 0;
  Task serve(std::allocator_arg_t, Heap&) {
    ++steps;
    co_return;
  }
};

TEST(CoroutineFrame, LiesInTheGeneralPoolAndMayEndInAnotherThread) {
  int steps = 0;
  Task task = plain(&steps);
  EXPECT_GT(usable_size(task.address()), 0u);
  std::thread([task = std::move(task)]() mutable {
    task.resume();
    task.resume();
  }).join();
  EXPECT_EQ(steps, 2);
}

TEST(CoroutineFrame, LiesInTheHeapItIsGiven) {
  Heap heap;
  int steps = 0;
  {
    Task task = in_heap(std::allocator_arg, heap, &steps);
    EXPECT_EQ(heap.use().live_count, 1u);
    task.resume();
  }
  EXPECT_EQ(heap.use().live_count, 0u);
  EXPECT_EQ(steps, 1);
}

TEST(CoroutineFrame, OfAMemberFunctionLiesInTheHeapToo) {
  Heap heap;
  Server server{heap};
  {
    Task task = server.serve(std::allocator_arg, heap);
    EXPECT_EQ(heap.use().live_count, 1u);
  }
  EXPECT_EQ(heap.use().live_count, 0u);
}

TEST(CoroutineFrame, ARefusedFrameThrows) {
  Heap heap({.hard_limit = 1});
  int steps = 0;
  EXPECT_THROW(in_heap(std::allocator_arg, heap, &steps), std::bad_alloc);
}

// The frame's base is given, and whether the promise has something to return without a frame.
template <typename Frame>
struct Suspended {
  struct promise_type : Frame {
    Suspended get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

template <template <typename> class Frame>
struct Tried {
  struct promise_type : Frame<promise_type> {
    Tried get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    static Tried get_return_object_on_allocation_failure() noexcept { return {nullptr}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

// Not inlined: clang would lay the frame into the caller's.
template <typename Result>
[[gnu::noinline]] Result without(int* steps) {
  ++*steps;
  co_return;
}
template <typename Result, typename Place>
[[gnu::noinline]] Result with(std::allocator_arg_t, Place, int* steps) {
  ++*steps;
  co_return;
}
struct Session {
  int steps = 0;
  template <typename Result, typename Place>
  [[gnu::noinline]] Result serve(std::allocator_arg_t, Place) {
    ++steps;
    co_return;
  }
};

/// Runs a coroutine to its end; `while_suspended` sees where its frame lies.
template <typename Result, typename Check>
void run(Result result, Check while_suspended) {
  ASSERT_TRUE(result.handle);
  while_suspended();
  result.handle.resume();
  result.handle.destroy();
}

using Any = Suspended<AnyCoroutineFrame>;

template <typename Result>
class CoroutineFrames : public ::testing::Test {};
using AllFrames =
    ::testing::Types<Suspended<CoroutineFrame>, Tried<TryCoroutineFrame>, Any, Tried<TryAnyCoroutineFrame>>;
TYPED_TEST_SUITE(CoroutineFrames, AllFrames);

TYPED_TEST(CoroutineFrames, LieInTheHeapOfTheArgument) {
  Heap heap;
  const auto is_in_heap = [&] { EXPECT_EQ(heap.use().live_count, 1u); };
  int steps = 0;
  Session session;
  auto lambda = [&](std::allocator_arg_t, Heap&) -> TypeParam {
    ++steps;
    co_return;
  };
  run(without<TypeParam>(&steps), [&] { EXPECT_EQ(heap.use().live_count, 0u); });
  run(with<TypeParam, Heap&>(std::allocator_arg, heap, &steps), is_in_heap);
  run(session.serve<TypeParam, Heap&>(std::allocator_arg, heap), is_in_heap);
  auto* volatile hidden = &lambda;
  run((*hidden)(std::allocator_arg, heap), [] {});
  EXPECT_EQ(steps + session.steps, 4);
  EXPECT_EQ(heap.use().live_count, 0u);
}

template <typename Source>
void run_in(Source& source, std::size_t live_count) {
  int steps = 0;
  Session session;
  for (int round = 0; round < 3; ++round) {
    run(with<Any, Source&>(std::allocator_arg, source, &steps),
        [&] { EXPECT_EQ(source.live_count(), live_count); });
    run(session.serve<Any, Source&>(std::allocator_arg, source), [] {});
    EXPECT_EQ(source.live_count(), 0u);
  }
  EXPECT_EQ(steps + session.steps, 6);
}

TEST(AnyCoroutineFrame, LiesInAnySourceAndGoesBackWhole) {
  FixedPool one_block(512);
  SharedFixedPool side_by_side(16);
  HandlerMemory learnt;
  run_in(one_block, 1);
  run_in(learnt, 1);
  EXPECT_EQ(learnt.kept_count(), 1u);
  int steps = 0;
  run(with<Any, SharedFixedPool&>(std::allocator_arg, side_by_side, &steps),
      [&] { EXPECT_GT(side_by_side.live_count(), 1u); });
  EXPECT_EQ(side_by_side.live_count(), 0u);
  Arena arena;
  run(with<Any, Arena&>(std::allocator_arg, arena, &steps), [&] { EXPECT_GT(arena.used(), 0u); });
  run(with<Any, MemoryPool>(std::allocator_arg, {}, &steps), [] {});
}

/// Counts bytes, and notes a free of another size than was allocated.
class Counting : public std::pmr::memory_resource {
 public:
  std::size_t live_bytes = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    live_bytes += bytes;
    return default_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    live_bytes -= bytes;
    default_resource()->deallocate(block, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

TEST(AnyCoroutineFrame, LiesInAResourceByPointerOrReference) {
  Counting resource;
  const auto is_in_it = [&] { EXPECT_GT(resource.live_bytes, 0u); };
  int steps = 0;
  run(with<Any, std::pmr::memory_resource*>(std::allocator_arg, &resource, &steps), is_in_it);
  EXPECT_EQ(resource.live_bytes, 0u);
  run(with<Any, Counting*>(std::allocator_arg, &resource, &steps), is_in_it);
  run(with<Any, std::pmr::memory_resource&>(std::allocator_arg, resource, &steps), is_in_it);
  run(with<Any, std::pmr::polymorphic_allocator<>>(std::allocator_arg, &resource, &steps), is_in_it);
  EXPECT_EQ(resource.live_bytes, 0u);
  EXPECT_EQ(steps, 4);
}

TEST(AnyCoroutineFrame, IsMadeByACopyOfAnAllocator) {
  Heap heap;
  int steps = 0;
  run(with<Any, source_allocator<char, Heap>>(std::allocator_arg, heap, &steps),
      [&] { EXPECT_EQ(heap.use().live_count, 1u); });
  EXPECT_EQ(heap.use().live_count, 0u);
  const std::allocator<int> standard;
  run(with<Any, const std::allocator<int>&>(std::allocator_arg, standard, &steps), [] {});
  run(with<Any, allocator<void*>>(std::allocator_arg, {}, &steps), [] {});
  EXPECT_EQ(steps, 3);
}

TEST(AnyCoroutineFrame, MayEndInAnotherThread) {
  Heap heap;
  int steps = 0;
  const Any task = with<Any, Heap&>(std::allocator_arg, heap, &steps);
  std::thread([&] { run(task, [] {}); }).join();
  EXPECT_EQ(heap.use().live_count, 0u);
}

// The frame of such a heap's block cannot be found by its address (heap.h says so of tarn::deallocate).
TEST(AnyCoroutineFrame, LiesInAHeapInABlockOfTheGeneralPool) {
  void* const block = tarn::allocate(200 * 1024);
  {
    Heap heap({.buffer = block, .buffer_bytes = 200 * 1024});
    int steps = 0;
    run(with<Any, Heap&>(std::allocator_arg, heap, &steps), [&] { EXPECT_EQ(heap.use().live_count, 1u); });
    EXPECT_EQ(heap.use().live_count, 0u);
  }
  tarn::deallocate(block);
}

struct PromiseThatThrows : AnyCoroutineFrame {
  PromiseThatThrows() { throw 1; }
};

TEST(AnyCoroutineFrame, IsFreedWhenThePromiseThrows) {
  Heap heap;
  int steps = 0;
  EXPECT_THROW((with<Suspended<PromiseThatThrows>, Heap&>(std::allocator_arg, heap, &steps)), int);
  EXPECT_EQ(heap.use().live_count, 0u);
}

TEST(AnyCoroutineFrame, ARefusedFrameThrows) {
  Heap heap({.hard_limit = 1});
  FixedPool pool({.block_bytes = 16, .blocks_per_chunk = 1, .largest_count = 1});
  int steps = 0;
  EXPECT_THROW((with<Any, Heap&>(std::allocator_arg, heap, &steps)), std::bad_alloc);
  EXPECT_THROW((with<Any, FixedPool&>(std::allocator_arg, pool, &steps)), std::bad_alloc);
  EXPECT_THROW(
      (with<Any, std::pmr::memory_resource*>(std::allocator_arg, std::pmr::null_memory_resource(), &steps)),
      std::bad_alloc);
  EXPECT_EQ(steps, 0);
}

TEST(TryCoroutineFrame, ARefusedFrameReturnsWhatThePromiseHasForIt) {
  Heap heap({.hard_limit = 1});
  FixedPool pool({.block_bytes = 16, .blocks_per_chunk = 1, .largest_count = 1, .at_cap = AtCap::kThrow});
  int steps = 0;
  using InHeap = Tried<TryCoroutineFrame>;
  using Anywhere = Tried<TryAnyCoroutineFrame>;
  EXPECT_FALSE((with<InHeap, Heap&>(std::allocator_arg, heap, &steps).handle));
  EXPECT_FALSE((with<Anywhere, Heap&>(std::allocator_arg, heap, &steps).handle));
  EXPECT_FALSE((with<Anywhere, FixedPool&>(std::allocator_arg, pool, &steps).handle));
  EXPECT_FALSE((
      with<Anywhere, std::pmr::memory_resource*>(std::allocator_arg, std::pmr::null_memory_resource(), &steps)
          .handle));
  EXPECT_EQ(steps, 0);
}

template <typename Base, std::size_t kAlignment>
struct AlignedTask {
  struct promise_type : Base {
    alignas(kAlignment) char room[kAlignment];
    AlignedTask get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;

  void run() {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(handle.promise().room) % kAlignment, 0u);
    handle.resume();
    handle.destroy();
  }
};
template <typename Task>
Task aligned_plain() {
  co_return;
}
template <typename Task, typename Place>
Task aligned_in(std::allocator_arg_t, Place&) {
  co_return;
}

template <std::size_t kAlignment>
void run_aligned_frames_everywhere() {
  using Bare = AlignedTask<CoroutineFrame, kAlignment>;
  using AnyPlace = AlignedTask<AnyCoroutineFrame, kAlignment>;
  Heap heap;
  Arena arena;
  FixedPool small(64), large({.block_bytes = 8192, .alignment = 4096});
  HandlerMemory handlers;
  memory_resource resource(heap);
  std::allocator<char> allocator;
  for (int i = 0; i < 3; ++i) {
    aligned_plain<Bare>().run();
    aligned_in<Bare>(std::allocator_arg, heap).run();
    aligned_plain<AnyPlace>().run();
    aligned_in<AnyPlace>(std::allocator_arg, heap).run();
    aligned_in<AnyPlace>(std::allocator_arg, arena).run();
    aligned_in<AnyPlace>(std::allocator_arg, small).run();
    aligned_in<AnyPlace>(std::allocator_arg, large).run();
    aligned_in<AnyPlace>(std::allocator_arg, handlers).run();
    aligned_in<AnyPlace>(std::allocator_arg, resource).run();
    aligned_in<AnyPlace>(std::allocator_arg, allocator).run();
  }
  EXPECT_EQ(heap.use().live_count + small.live_count() + large.live_count() + handlers.live_count(), 0u);
}

TEST(CoroutineFrame, IsAlignedAsItsPromiseNeeds) {
  run_aligned_frames_everywhere<16>();
  run_aligned_frames_everywhere<32>();
  run_aligned_frames_everywhere<64>();
#if !defined(__clang__)
  run_aligned_frames_everywhere<256>();
  run_aligned_frames_everywhere<1024>();
#endif
}

}  // namespace
}  // namespace tarn::test
