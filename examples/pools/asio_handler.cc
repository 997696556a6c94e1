// Asio keeps the handler of a pending operation in memory from a pool: here a heap of its own, which counts
// them.
#include <asio.hpp>

#include "tarn/asio_allocator.h"
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

  context.run();
  return fired == 2 && is_in_heap && handlers.use().live_count == 0 ? 0 : 1;
}
