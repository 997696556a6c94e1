// Coroutines whose frames lie in a pool: in the general pool, in a heap, in a fixed pool.
#include "tarn/coroutine.h"

#include <coroutine>
#include <exception>
#include <utility>

#include "tarn/fixed_pool.h"

class Task {
 public:
  struct promise_type : tarn::AnyCoroutineFrame {
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(int result) { value = result; }
    void unhandled_exception() { std::terminate(); }
    int value = 0;
  };

  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~Task() {
    if (handle_) handle_.destroy();
  }
  int run() {
    while (!handle_.done()) handle_.resume();
    return handle_.promise().value;
  }

 private:
  std::coroutine_handle<promise_type> handle_;
};

static Task twice(int number) {
  co_await std::suspend_always();
  co_return 2 * number;
}

static Task thrice(std::allocator_arg_t, tarn::Heap&, int number) {
  co_await std::suspend_always();
  co_return 3 * number;
}

static Task fourfold(std::allocator_arg_t, tarn::FixedPool&, int number) {
  co_await std::suspend_always();
  co_return 4 * number;
}

int main() {
  tarn::Heap heap("frames");
  tarn::FixedPool blocks(256);
  Task first = twice(5);
  Task second = thrice(std::allocator_arg, heap, 5);
  Task third = fourfold(std::allocator_arg, blocks, 5);
  const bool are_in_pools = heap.use().live_count == 1 && blocks.live_count() == 1;
  return first.run() + second.run() + third.run() == 45 && are_in_pools ? 0 : 1;
}
