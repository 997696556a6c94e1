// Blocks are taken out of the magazines of threads that run, while these go on.
#include "os/locks/owner_lock.h"
#include "support/invariants.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/threads.h"
#include "tarn/memory_pool.h"
#include "thread/magazine.h"
#include "thread/registry.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kSizes[] = {24, 100, 1000};
constexpr unsigned kHeld = 40;

// Each block is marked by its user; two users of one block would see each other's mark.
class MarkedBlocks {
 public:
  explicit MarkedBlocks(unsigned char mark) : mark_(mark) {}

  void replace(unsigned i) {
    const std::size_t size = kSizes[i % 3];
    if (blocks_[i] != nullptr) free(i);
    blocks_[i] = static_cast<unsigned char*>(tarn::allocate(size));
    std::memset(blocks_[i], mark_, size);
  }
  void replace_many() {
    void* many[16];
    const std::size_t count = tarn::allocate_batch(kSizes[1], 16, many);
    for (std::size_t i = 0; i < count; ++i) std::memset(many[i], mark_, kSizes[1]);
    for (std::size_t i = 0; i < count; ++i) check(static_cast<unsigned char*>(many[i]), kSizes[1]);
    tarn::deallocate_batch(many, count);
  }
  void free(unsigned i) {
    check(blocks_[i], kSizes[i % 3]);
    tarn::deallocate(blocks_[i]);
    blocks_[i] = nullptr;
  }
  unsigned foreign_marks() const { return foreign_marks_; }

 private:
  void check(const unsigned char* block, std::size_t size) {
    foreign_marks_ += block[0] != mark_ || block[size - 1] != mark_;
  }

  const unsigned char mark_;
  unsigned char* blocks_[kHeld] = {};
  unsigned foreign_marks_ = 0;
};

TEST(CollectMagazines, TakesNoBlockThatAThreadHasOrGets) {
  std::atomic<bool> is_over{false};
  std::atomic<unsigned> foreign_marks{0}, rounds{0};
  test::Threads threads(3, [&](int number) {
    MarkedBlocks blocks(static_cast<unsigned char>(number + 1));
    for (unsigned step = 0; !is_over; ++step, ++rounds) {
      for (unsigned i = 0; i < kHeld; ++i) blocks.replace((i * 7 + step) % kHeld);
      if (step % 4 == 0) blocks.replace_many();
    }
    for (unsigned i = 0; i < kHeld; ++i) {
      blocks.replace(i);
      blocks.free(i);
    }
    foreign_marks += blocks.foreign_marks();
  });
  const std::uint64_t visits = test::amount(300, 20000);
  for (std::uint64_t i = 0; i < visits || rounds < 1000; ++i) registry.collect_magazines();
  is_over = true;
  threads.join();
  EXPECT_EQ(foreign_marks, 0u);
  test::validate_library();
}

std::size_t blocks_left(const ThreadHeap& heap) {
  std::size_t count = 0, most = 0;
  for (const SizeClass size_class : all_classes()) {
    const unsigned left = count_left(heap, size_class);
    count += left;
    if (left > most) most = left;
  }
  EXPECT_LE(most, 1u) << "but for the newest block of each class";
  return count;
}

TEST(CollectMagazines, TakesWhatAThreadThatWaitsHasAndTheThreadGoesOn) {
  os::OwnerLock::prepare();
  const bool can_fence = os::OwnerLock::can_fence_all_threads();
  std::barrier together(2);
  ThreadHeap* heap = nullptr;
  std::thread idle([&] {
    std::vector<void*> blocks;
    for (int i = 0; i < 2000; ++i) blocks.push_back(tarn::allocate(kSizes[i % 3]));
    for (void* block : blocks) tarn::deallocate(block);
    heap = this_heap();
    together.arrive_and_wait();
    together.arrive_and_wait();
    for (void*& block : blocks) block = tarn::allocate(100);
    EXPECT_EQ(heap->visit, Visit::kNone);
    EXPECT_NE(detail::own_cache(), &detail::empty_cache.cache) << "its calls are hits again";
    for (void* block : blocks) tarn::deallocate(block);
  });
  tarn::deallocate(tarn::allocate(100));
  together.arrive_and_wait();
  registry.collect_magazines();
  registry.collect_magazines();  // finds nothing more
  if (can_fence) {
    const HeapGuard guard(*heap);
    EXPECT_GE(blocks_left(*heap), 3u);
  }
  together.arrive_and_wait();
  idle.join();
  test::validate_library();
}

}  // namespace
}  // namespace tarn::internal
