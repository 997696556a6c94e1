// A limit that a program sets for itself while it runs, as a judge of programs or a worker does: what it maps
// besides malloc must go on. Preloaded it tests ours; alone, as the control, the system's.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include "support/child.h"
#include "support/content.h"
#include "support/forked.h"
#include "support/pools.h"
#include "support/prelude.h"
#include "support/process_memory.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

using Pool = PoolUnderTest;

constexpr rlimit kLimit{400 * kMiB, RLIM_INFINITY};

int use_the_process() {
  pthread_t thread;
  if (pthread_create(
          &thread, nullptr, [](void*) { return Pool::allocate(10); }, nullptr) != 0)
    return 1;
  void* block = nullptr;
  pthread_join(thread, &block);
  if (block == nullptr) return 2;
  Pool::deallocate(block);
  if (mmap(nullptr, kMiB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) return 3;
  if (dlopen("libresolv.so.2", RTLD_NOW) == nullptr) return 4;
  return 0;
}

int use_the_heap() {
  static void* blocks[100000];
  std::size_t count = 0;
  for (; count < 100000 && (blocks[count] = Pool::allocate(1000)) != nullptr; ++count)
    fill(blocks[count], 1000, count);
  if (count != 100000) return 11;
  for (std::size_t i = 0; i < count; ++i) {
    if (!holds(blocks[i], 1000, i)) return 12;
    Pool::deallocate(blocks[i]);
  }
  void* const large = Pool::allocate(100 * kMiB);
  if (large == nullptr) return 13;
  Pool::deallocate(large);
  if (Pool::allocate(2 * kLimit.rlim_cur) != nullptr) return 14;
  return 0;
}

template <typename Limit>
void expect_use_under(Limit set_limit) {
  const ChildResult result = run_in_child([&] {
    void* const before = Pool::allocate(3 * kMiB);
    void* const small = Pool::allocate(100);
    fill(before, 3 * kMiB, 1);
    if (set_limit() != 0) return 21;
    if (const int wrong = use_the_process(); wrong != 0) return wrong;
    if (const int wrong = use_the_heap(); wrong != 0) return wrong;
    if (!holds(before, 3 * kMiB, 1)) return 22;
    Pool::deallocate(before);
    Pool::deallocate(small);
    return use_the_process();
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST(LateLimit, LeavesRoomForTheRestOfTheProgram) {
  expect_use_under([] { return setrlimit(RLIMIT_AS, &kLimit); });
}

TEST(LateLimit, LeavesRoomForTheRestOfTheProgramWhicheverCallSetsIt) {
  expect_use_under([] { return prlimit(0, RLIMIT_AS, &kLimit, nullptr); });
  expect_use_under([] { return prlimit(getpid(), RLIMIT_AS, &kLimit, nullptr); });
  expect_use_under([] {
    const rlimit64 limit{kLimit.rlim_cur, RLIM64_INFINITY};
    return setrlimit64(RLIMIT_AS, &limit);
  });
}

TEST(LateLimit, IsLiftedAndTheHeapGrowsBeyondIt) {
  const ChildResult result = run_in_child([] {
    Pool::deallocate(Pool::allocate(100));
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &kLimit) != 0 || setrlimit(RLIMIT_AS, &none) != 0) return 1;
    for (int i = 0; i < 600; ++i)
      if (Pool::allocate(kMiB) == nullptr) return 2;
    return use_the_process();
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

// Its limit is its own, its memory is not.
TEST(LateLimit, OfAChildOfVforkLeavesTheParentAlone) {
  const ChildResult result = run_in_child([] {
    Pool::deallocate(Pool::allocate(100));
    const std::size_t before = address_bytes();
    const pid_t child = vfork();
    if (child == 0) _exit(setrlimit(RLIMIT_AS, &kLimit));
    if (status_of(child) != 0) return 1;
    return address_bytes() == before ? 0 : 2;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

// The index of pages stays while a second thread may be reading it.
TEST(LateLimit, WithASecondThreadLeavesRoomAboveTheIndex) {
  const ChildResult result = run_in_child([] {
    Pool::deallocate(Pool::allocate(100));
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          pause();
          return nullptr;
        },
        nullptr);
    const rlimit limit{6 * 1024 * kMiB, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 21;
    if (const int wrong = use_the_process(); wrong != 0) return wrong;
    return Pool::allocate(500 * kMiB) != nullptr ? 0 : 22;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

}  // namespace
}  // namespace tarn::test
