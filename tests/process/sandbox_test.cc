// A program's own filter of system calls, after the option `sandbox` was switched on.
#include "process/sandbox.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "process/process_test.h"
#include "support/forked.h"

namespace tarn::test {
namespace {

// The answer to madvise; all else is allowed.
void answer_madvise(unsigned answer) {
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{4, instructions};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
    _exit(kSkipped);
}

bool blocks_work() {
  free_more_than_may_stay();
  for (std::size_t size = 16; size <= 16384; size *= 2) {
    void* const block = PoolUnderTest::allocate(size);
    if (block == nullptr) return false;
    memset(block, 1, size);
    PoolUnderTest::deallocate(block);
  }
  return true;
}

TEST(Sandbox, ThatEndsTheProcessForMadviseLeavesItAtWork) {
  in_child([] {
    if (!set_option("sandbox", "on")) _exit(kSkipped);
    free_more_than_may_stay();
    answer_madvise(SECCOMP_RET_KILL_PROCESS);
    EXPECT_TRUE(blocks_work());
    EXPECT_EQ(forked([] { return blocks_work() ? 0 : 1; }), 0);
  });
}

TEST(Sandbox, ThatAllowsWhatLibcsMallocNeedsIsEnough) {
  in_child([] {
    set_option("sandbox", "on");
    free_more_than_may_stay();
    if (!allow_what_libc_needs()) _exit(kSkipped);
    for (int round = 0; round < 10; ++round) EXPECT_TRUE(blocks_work());
  });
}

TEST(Sandbox, ThatRefusesMadviseIsNoneToTheOption) {
  in_child([] {
    free_more_than_may_stay();
    answer_madvise(SECCOMP_RET_ERRNO | EPERM);
    for (int round = 0; round < 10; ++round) EXPECT_TRUE(blocks_work());
  });
}

}  // namespace
}  // namespace tarn::test
