// What a pool's own calls give back to the system goes with no lock of a pool held: here another thread uses
// the pool while the system's door gives back.
#include "os/memory/memory.h"
#include "support/child.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "tarn/options.h"

namespace tarn::test {
namespace {

using internal::os::Call;

std::function<void()> use_once;
int uses = 0;

internal::os::Fault use_at_purge(Call call) {
  if (call != Call::kPurge || !use_once) return internal::os::Fault::kNone;
  ++uses;
  // By another thread: this one holds the lock under which memory goes back, and may take few others.
  std::thread(std::exchange(use_once, {})).join();
  return internal::os::Fault::kNone;
}

/// Runs release() in a child where each free page goes back at once, by this thread; use() runs when the
/// first does.
void expect_no_lock(const char* what, const std::function<void()>& release,
                    const std::function<void()>& use) {
  const ChildResult result = run_in_child(
      [&] {
        std::thread([] {}).join();  // from now on locks are taken
        set_option("background", "off");
        set_option("decay", "0");
        uses = 0;
        use_once = use;
        internal::os::set_fault_hook_for_test(use_at_purge);
        release();
        internal::os::set_fault_hook_for_test(nullptr);
        return uses == 1 ? 0 : 1;
      },
      20);
  EXPECT_TRUE(result.is_success()) << what << ": " << result.describe();
}

struct Object {
  char payload[100];
};

class GiveBack : public ::testing::Test {
 protected:
  void SetUp() override { trim(); }  // what other tests left goes now
};

TEST_F(GiveBack, OfASharedFixedPoolHoldsNoLockOfIt) {
  SharedFixedPool pool(1000);
  const auto release = [&] {
    pool.reserve(5000);
    pool.release_unused();
  };
  expect_no_lock("release_unused", release, [&] { static_cast<void>(pool.allocate()); });
}

TEST_F(GiveBack, OfAHeapHoldsNoLockOfIt) {
  Heap heap;
  void* const block = heap.allocate(1 << 20);
  auto use = [&] { static_cast<void>(heap.allocate(100)); };
  if (!kAddressSanitizer) {  // there, what has ended waits for a while
    expect_no_lock(
        "deallocate", [&] { heap.deallocate(block); }, use);
    expect_no_lock(
        "clear", [&] { heap.clear(); }, use);
  }
  heap.prewarm(1 << 20);
  expect_no_lock(
      "release_unused", [&] { heap.release_unused(); }, use);
}

TEST_F(GiveBack, OfAllPoolsHoldsNoLockOfTheirRegistry) {
  SharedFixedPool pool(1000);
  // It does not end there: that would give back in its turn.
  std::unique_ptr<FixedPool> made;
  expect_no_lock(
      "trim",
      [&] {
        pool.reserve(5000);
        trim();
      },
      [&] { made = std::make_unique<FixedPool>(64); });
}

}  // namespace
}  // namespace tarn::test
