// A process that forks while it has a heap: the time until its child, which ends at once, is gone. A server
// that starts programs or writes a snapshot waits like this. The kernel copies an entry per OS page, so large
// pages pay.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "clock.h"
#include "contestant.h"
#include "table.h"
#include "use.h"

namespace tarn::bench::fork_heap {

inline constexpr std::size_t kMiB = 1024 * 1024;
inline constexpr std::size_t kBlockBytes = 1024;
inline constexpr unsigned kForks = 9;

template <class Api>
void run(Session& session) {
  if (!session.enter("fork_heap")) return;
  for (const std::size_t bytes : session.values({16 * kMiB, 512 * kMiB})) {
    const Row row = {.bytes = bytes, .temperature = Temperature::kCold};
    if (!session.wants(row)) continue;
    Table<void*> blocks(bytes / kBlockBytes);
    for (void*& block : blocks) {
      block = escape(Api::allocate(kBlockBytes));
      std::memset(block, 1, kBlockBytes);
    }
    double ns[kForks];
    for (double& one : ns) {
      const std::uint64_t first_ns = now_ns();
      const pid_t child = fork();
      if (child == 0) _exit(0);
      int status = 0;
      waitpid(child, &status, 0);
      one = static_cast<double>(now_ns() - first_ns);
    }
    for (void* block : blocks) Api::deallocate(block, kBlockBytes);
    std::sort(std::begin(ns), std::end(ns));
    session.report(row, ns[kForks / 2], {kForks});
  }
}

}  // namespace tarn::bench::fork_heap
