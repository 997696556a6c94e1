// Threads that leave a slow call half way: by asynchronous cancellation, and by a jump out of a signal
// handler.
#include <pthread.h>
#include <setjmp.h>

#include "os/memory/memory.h"
#include "support/child.h"
#include "support/prelude.h"
#include "tarn/memory_pool.h"

namespace tarn::test {
namespace {

using internal::os::Call;
using internal::os::Fault;

// A child that waits for a lock for ever ends by the signal.
constexpr unsigned kSecondsToHang = 20;

void use_and_free_all(std::size_t size) {
  void* blocks[32];
  for (void*& block : blocks) block = tarn::reallocate(tarn::allocate(size), size + size / 2);
  for (void* block : blocks) tarn::deallocate(block);
}

void* use_for_ever(void* size) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  for (;;) use_and_free_all(*static_cast<std::size_t*>(size));
}

class Cancelled : public testing::TestWithParam<std::size_t> {};

TEST_P(Cancelled, ThreadsLeaveNoLockBehind) {
  const ChildResult result = run_in_child([] {
    alarm(kSecondsToHang);
    std::size_t size = GetParam();
    for (int round = 0; round < 20; ++round) {
      pthread_t threads[3];
      for (pthread_t& thread : threads)
        if (pthread_create(&thread, nullptr, use_for_ever, &size) != 0) return 1;
      for (int i = 0; i < 50; ++i) use_and_free_all(100 + i * 37);
      for (const pthread_t thread : threads) pthread_cancel(thread);
      for (const pthread_t thread : threads) pthread_join(thread, nullptr);
      use_and_free_all(size);
    }
    return 0;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

INSTANTIATE_TEST_SUITE_P(OfBytes, Cancelled, testing::Values(100, 5000, 100'000, 300'000, 128 << 20),
                         testing::PrintToStringParamName());

sigjmp_buf back;
Call call_to_leave{};
int calls_until_left = 0;

Fault leave(Call call) {
  if (call == call_to_leave && calls_until_left-- == 0) raise(SIGUSR1);
  return Fault::kNone;
}

class LeftByAJump : public testing::TestWithParam<Call> {};

// Each call of the system is made with other locks held.
TEST_P(LeftByAJump, CallLetsTheProcessGoOn) {
  const ChildResult result = run_in_child([] {
    alarm(kSecondsToHang);
    signal(SIGUSR1, [](int) { siglongjmp(back, 1); });
    static volatile int left = 0;
    std::vector<void*> blocks(3000);
    call_to_leave = GetParam();
    calls_until_left = 0;
    internal::os::set_fault_hook_for_test(leave);
    while (sigsetjmp(back, 1) != 0) {
      left = left + 1;
      if (left == 3) break;
      calls_until_left = left;
    }
    for (int round = 0; round < 8; ++round) {
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        const std::size_t size = i % 50 == 0 ? 300'000 : 16 << i % 10;
        blocks[i] = tarn::allocate(size);
        if (blocks[i] == nullptr) return 1;
        std::memset(blocks[i], round + 1, size);
      }
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (*static_cast<char*>(blocks[i]) != round + 1) return 2;
        tarn::deallocate(blocks[i]);
      }
      tarn::trim(0);
    }
    return left == 0 ? 3 : 0;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

INSTANTIATE_TEST_SUITE_P(AtCalls, LeftByAJump, testing::Values(Call::kReserve, Call::kCommit, Call::kPurge),
                         [](const auto& call) {
                           return std::string(call.param == Call::kReserve  ? "Reserve"
                                              : call.param == Call::kCommit ? "Commit"
                                                                            : "Purge");
                         });

}  // namespace
}  // namespace tarn::test
