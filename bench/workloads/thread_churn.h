// Threads that come and go, as of a server that starts one for each request: a thread is started, allocates
// 100 blocks of 16 to 512 bytes, frees them, ends and is joined. The figure is the wall time of all that, by
// as many threads that start others as the row says.
#pragma once
#include <pthread.h>

#include "contestant.h"
#include "random.h"
#include "timed_row.h"
#include "use.h"

namespace tarn::bench::thread_churn {

inline constexpr std::size_t kBlocks = 100;
inline constexpr double kRowSeconds = 0.08;

template <class Api>
class Lives {
 public:
  explicit Lives(unsigned index) : seed_(index + 1) {}

  void verify(Worker&) { round(); }
  void round() {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, live, &seed_) != 0) {
      std::fputs("bench: cannot start a thread\n", stderr);
      std::_Exit(1);
    }
    pthread_join(thread, nullptr);
    ++seed_;
  }

 private:
  static void* live(void* seed) {
    Random random(*static_cast<const std::uint64_t*>(seed));
    void* blocks[kBlocks];
    std::size_t bytes[kBlocks];
    for (std::size_t i = 0; i < kBlocks; ++i) {
      bytes[i] = random.between(16, 512);
      blocks[i] = allocate_used<Api>(bytes[i]);
    }
    for (std::size_t i = 0; i < kBlocks; ++i) Api::deallocate(blocks[i], bytes[i]);
    return nullptr;
  }

  std::uint64_t seed_;
};

template <class Api>
void run(Session& session) {
  if (!session.enter("thread_churn")) return;
  for (const std::size_t threads : session.threads({1, 4, 16})) {
    run_timed_row(session, {.threads = static_cast<unsigned>(threads)}, kRowSeconds, 1,
                  [](unsigned index) { return Lives<Api>(index); });
  }
}

}  // namespace tarn::bench::thread_churn
