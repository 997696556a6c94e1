// Without Asio: what it asks of a handler. examples/pools/asio_handler.cc runs under the real one.
#include "support/prelude.h"
#include "tarn/asio_allocator.h"
#include "tarn/heap.h"

namespace tarn::test {
namespace {

struct Executor {
  int number;
};
struct Bound {
  using executor_type = Executor;
  Executor get_executor() const { return {5}; }
  int operator()(int value) { return value + 1; }
};

TEST(AllocatedHandler, CallsTheHandlerAndKeepsItsExecutor) {
  auto handler = with_allocator(Bound{});
  static_assert(std::is_same_v<decltype(handler)::executor_type, Executor>);
  EXPECT_EQ(handler.get_executor().number, 5);
  EXPECT_EQ(handler(1), 2);
}

TEST(AllocatedHandler, OffersAnAllocatorOfItsSource) {
  Heap heap;
  auto handler = with_allocator(heap, [](const std::string& text) { return text.size(); });
  EXPECT_EQ(handler("four"), 4u);
  auto source = handler.get_allocator();
  using Traits = std::allocator_traits<decltype(source)>::rebind_traits<char[100]>;
  Traits::allocator_type of_blocks(source);
  auto* const block = Traits::allocate(of_blocks, 1);
  EXPECT_EQ(heap.use().live_count, 1u);
  Traits::deallocate(of_blocks, block, 1);
  EXPECT_EQ(heap.use().live_count, 0u);
}

TEST(AllocatedHandler, MayHoldWhatCanOnlyBeMoved) {
  auto handler = with_allocator([owned = std::make_unique<int>(3)] { return *owned; });
  auto moved = std::move(handler);
  EXPECT_EQ(moved(), 3);
}

}  // namespace
}  // namespace tarn::test
