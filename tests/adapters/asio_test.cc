// with_allocator under the real Asio: standalone, or Boost's with TARN_TEST_BOOST_ASIO. Left out is what the
// installed Asio does not have: completion tokens and cancellation before 1.22 (Boost 1.79), deferred before
// that.
#include "support/prelude.h"  // <utility> too, which older ones forget

#if defined(TARN_TEST_BOOST_ASIO)
#include <boost/asio.hpp>
#if __has_include(<boost/asio/deferred.hpp>)
#include <boost/asio/deferred.hpp>
#define TARN_TEST_DEFERRED net::deferred
#endif
#define TARN_TEST_TOKENS (BOOST_ASIO_VERSION >= 102200)
namespace net = boost::asio;
using boost::system::error_code;
#else
#include <asio.hpp>
#if __has_include(<asio/deferred.hpp>)
#include <asio/deferred.hpp>
#define TARN_TEST_DEFERRED net::deferred
#elif __has_include(<asio/experimental/deferred.hpp>)
#include <asio/experimental/deferred.hpp>
#define TARN_TEST_DEFERRED net::experimental::deferred
#endif
#define TARN_TEST_TOKENS (ASIO_VERSION >= 102200)
namespace net = asio;
using asio::error_code;
#endif
#include <future>

#include "support/threads.h"
#include "tarn/asio_allocator.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"

namespace tarn::test {
namespace {

using std::chrono::milliseconds;

class Asio : public ::testing::Test {
 protected:
  /// Whether exactly one operation is pending, in the heap.
  bool is_in_heap() { return handlers_.use().live_count == 1; }

  Heap handlers_{"handlers"};
  net::io_context context_;
  net::steady_timer timer_{context_, milliseconds(1)};
};

TEST_F(Asio, KeepsAPendingHandlerInTheHeap) {
  int fired = 0;
  timer_.async_wait(with_allocator(handlers_, [&](const error_code& error) { fired += error ? 10 : 1; }));
  EXPECT_TRUE(is_in_heap());
  context_.run();
  EXPECT_EQ(fired, 1);
  EXPECT_EQ(handlers_.use().live_count, 0u);
}

TEST_F(Asio, UsesTheBlockOfAnEndedOperationForTheNext) {
  HandlerMemory memory;
  net::steady_timer other(context_);
  int left = 20;
  std::function<void()> wait = [&] {
    timer_.expires_after(std::chrono::microseconds(1));
    timer_.async_wait(with_allocator(memory, [&](error_code) {
      if (--left == 0) return;
      other.expires_after(std::chrono::microseconds(1));
      other.async_wait(with_allocator(memory, [&, more = std::array<char, 200>()](error_code) {
        if (more[0] == 0) wait();
      }));
      EXPECT_EQ(memory.live_count() + memory.kept_count(), 1u) << "one is pending at a time";
    }));
  };
  wait();
  context_.run();
  EXPECT_EQ(left, 0);
  EXPECT_EQ(memory.live_count(), 0u);
  EXPECT_EQ(memory.kept_count(), 1u);
  EXPECT_GE(memory.kept_bytes(), 200u);
}

TEST_F(Asio, MemoryOfAStrandServesAllThreads) {
  HandlerMemory memory;
  net::strand<net::io_context::executor_type> strand(context_.get_executor());
  int count = 0;
  std::function<void()> step = [&] {
    if (++count < 2000) net::post(strand, with_allocator(memory, [&] { step(); }));
  };
  for (int i = 0; i < 4; ++i) net::post(strand, with_allocator(memory, [&] { step(); }));
  in_threads(3, [&] { context_.run(); });
  EXPECT_EQ(count, 2003);
  EXPECT_EQ(memory.live_count(), 0u);
  EXPECT_LE(memory.kept_count(), 16u);
}

TEST_F(Asio, RunsAHandlerThatCanOnlyBeMoved) {
  int value = 0;
  timer_.async_wait(
      with_allocator(handlers_, [&, owned = std::make_unique<int>(7)](error_code) { value = *owned; }));
  context_.run();
  EXPECT_EQ(value, 7);
}

TEST_F(Asio, RunsAHandlerWhereItsOwnExecutorSays) {
  net::thread_pool others(1);
  std::thread::id ran_in;
  auto handler = [&](error_code) { ran_in = std::this_thread::get_id(); };
  timer_.async_wait(with_allocator(handlers_, net::bind_executor(others.get_executor(), handler)));
  EXPECT_TRUE(is_in_heap());
  context_.run();
  others.join();
  EXPECT_NE(ran_in, std::thread::id());
  EXPECT_NE(ran_in, std::this_thread::get_id());
}

TEST_F(Asio, MayLieInsideOfAnotherBinder) {
  int fired = 0;
  net::strand<net::io_context::executor_type> strand(context_.get_executor());
  timer_.async_wait(net::bind_executor(strand, with_allocator(handlers_, [&](error_code) { ++fired; })));
  EXPECT_TRUE(is_in_heap());
  context_.run();
  EXPECT_EQ(fired, 1);
}

#if TARN_TEST_TOKENS
TEST_F(Asio, PassesACancellationOn) {
  timer_.expires_after(std::chrono::hours(1));
  net::cancellation_signal signal;
  error_code result;
  auto handler = [&](error_code error) { result = error; };
  timer_.async_wait(with_allocator(handlers_, net::bind_cancellation_slot(signal.slot(), handler)));
  EXPECT_TRUE(is_in_heap());
  net::post(context_, [&] { signal.emit(net::cancellation_type::terminal); });
  context_.run_for(std::chrono::seconds(30));
  EXPECT_EQ(result, net::error::operation_aborted);
}

TEST_F(Asio, ShowsWhatIsAssociatedWithAHandlerThroughSeveralBinders) {
  net::cancellation_signal signal;
  net::thread_pool others(1);
  const auto handler = with_allocator(
      handlers_, net::bind_cancellation_slot(signal.slot(),
                                             net::bind_executor(others.get_executor(), [](error_code) {})));
  EXPECT_TRUE(net::get_associated_executor(handler) == others.get_executor());
  EXPECT_TRUE(net::get_associated_cancellation_slot(handler) == signal.slot());
  EXPECT_TRUE(net::get_associated_allocator(handler) == (tarn::source_allocator<void*, Heap>(handlers_)));
}

#if defined(ASIO_HAS_CO_AWAIT) || defined(BOOST_ASIO_HAS_CO_AWAIT)  // not with every compiler
TEST_F(Asio, AwaitsInACoroutine) {
  bool was_in_heap = false, is_done = false;
  auto coroutine = [&]() -> net::awaitable<void> {
    net::post(context_, [&] { was_in_heap = is_in_heap(); });
    co_await timer_.async_wait(with_allocator(handlers_, net::use_awaitable));
    is_done = true;
  };
  net::co_spawn(context_, coroutine(), net::detached);
  context_.run();
  EXPECT_TRUE(was_in_heap);
  EXPECT_TRUE(is_done);
}
#endif

TEST_F(Asio, GivesAFuture) {
  std::future<void> future = timer_.async_wait(with_allocator(handlers_, net::use_future));
  EXPECT_TRUE(is_in_heap());
  context_.run();
  EXPECT_NO_THROW(future.get());
}

#if defined(TARN_TEST_DEFERRED)
TEST_F(Asio, DefersAnOperation) {
  auto operation = timer_.async_wait(with_allocator(handlers_, TARN_TEST_DEFERRED));
  EXPECT_EQ(handlers_.use().live_count, 0u);
  int fired = 0;
  std::move(operation)([&](error_code) { ++fired; });
  EXPECT_TRUE(is_in_heap());
  context_.run();
  EXPECT_EQ(fired, 1);
}
#endif

TEST_F(Asio, TakesTheGeneralPoolForAToken) {
  std::future<void> future = net::post(context_, with_allocator(net::use_future));
  context_.run();
  EXPECT_NO_THROW(future.get());
}
#endif

}  // namespace
}  // namespace tarn::test
