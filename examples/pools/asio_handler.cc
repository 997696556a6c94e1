// Asio keeps the handler of a pending operation in memory from a pool: here a heap of its own, which counts
// them, then memory that keeps the block of the operation that has ended for the next one.
#include <asio.hpp>
#include <functional>

#include "tarn/asio_allocator.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"

int main() {
  tarn::Heap handlers("handlers");
  asio::io_context context;
  asio::steady_timer timer(context, asio::chrono::milliseconds(1));
  int fired = 0;

  timer.async_wait(tarn::with_allocator(handlers, [&](const asio::error_code& error) {
    if (!error) ++fired;
    asio::post(context, tarn::with_allocator([&] { ++fired; }));  // this one in the general pool
  }));
  const bool is_in_heap = handlers.use().live_count == 1;

  tarn::HandlerMemory memory;
  asio::steady_timer ticks(context);
  int left = 10;
  const std::function<void()> wait = [&] {
    ticks.expires_after(asio::chrono::microseconds(10));
    ticks.async_wait(tarn::with_allocator(memory, [&](const asio::error_code&) {
      if (--left != 0) wait();
    }));
  };
  wait();

  context.run();
  if (memory.live_count() != 0 || memory.kept_count() != 1) return 2;
  return fired == 2 && is_in_heap && handlers.use().live_count == 0 ? 0 : 1;
}
