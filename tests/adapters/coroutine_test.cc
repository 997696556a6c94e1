#include "tarn/coroutine.h"

#include <gtest/gtest.h>

#include <coroutine>
#include <exception>
#include <thread>
#include <utility>

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

}  // namespace
}  // namespace tarn::test
