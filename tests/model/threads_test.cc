// Programs in several threads that hand each other blocks: what one allocates, another checks, moves and
// frees.
#include "support/threads.h"

#include <mutex>

#include "model/model.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

class Mailbox {
 public:
  void put(const LiveBlock& live) {
    std::lock_guard guard(mutex_);
    blocks_.push_back(live);
  }
  bool take(LiveBlock* live) {
    std::lock_guard guard(mutex_);
    if (blocks_.empty()) return false;
    *live = blocks_.front();
    blocks_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::deque<LiveBlock> blocks_;
};

void run_ring(unsigned thread_count, std::uint64_t seed, FreeOrder order, SizeRange range, unsigned rounds) {
  std::vector<Mailbox> mailboxes(thread_count);
  std::barrier sent(static_cast<std::ptrdiff_t>(thread_count));
  in_threads(thread_count, [&](unsigned t) {
    Model<PoolUnderTest> model(seed + t, order, range, 8 * kMiB);
    for (unsigned round = 0; round < rounds; ++round) {
      model.run(range.least > 256 * kKiB ? 20 : 300);
      for (int i = 0; i < 100 && !model.is_empty(); ++i)
        mailboxes[(t + 1) % thread_count].put(model.release());
      LiveBlock live;
      while (mailboxes[t].take(&live)) model.adopt(live);
    }
    sent.arrive_and_wait();
    LiveBlock live;
    while (mailboxes[t].take(&live)) model.adopt(live);
  });
}

TEST(ThreadPrograms, HandSmallBlocksAroundARing) {
  for (const FreeOrder order :
       {FreeOrder::kLifo, FreeOrder::kFifo, FreeOrder::kRandom, FreeOrder::kInterleaved})
    run_ring(4, 100, order, kSmall, static_cast<unsigned>(amount(60, 1500)));
}

TEST(ThreadPrograms, HandBlocksOfAllSizesAroundARing) {
  run_ring(3, 200, FreeOrder::kRandom, kAll, static_cast<unsigned>(amount(60, 1000)));
  run_ring(3, 201, FreeOrder::kFifo, kMedium, static_cast<unsigned>(amount(60, 1000)));
  run_ring(2, 202, FreeOrder::kFifo, kLarge, static_cast<unsigned>(amount(40, 1000)));
}

TEST(ThreadPrograms, HandBlocksAroundALargeRingWithASeedNobodyTried) {
  run_ring(16, fresh_seed(), FreeOrder::kRandom, kAll, static_cast<unsigned>(amount(20, 300)));
}

// Everything allocated is freed by one other thread, in each order, by a thread that owns no slab.
TEST(ThreadPrograms, LeaveAllFreeingToAnotherThread) {
  for (const FreeOrder order :
       {FreeOrder::kLifo, FreeOrder::kFifo, FreeOrder::kRandom, FreeOrder::kInterleaved})
    for (const SizeRange range : {kTiny, kSmall, kMedium, kLarge}) {
      Model<PoolUnderTest> model(7, order, range, 16 * kMiB);
      for (std::uint64_t round = 0; round < amount(3, 50); ++round) {
        model.run_waves(1, 3000);
        std::thread([&] { model.free_all(); }).join();
        ASSERT_FALSE(model.has_failed());
      }
    }
}

}  // namespace
}  // namespace tarn::test
