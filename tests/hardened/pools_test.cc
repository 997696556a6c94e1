// Pools of the hardened library: what is freed is cleared, and a write into it is seen. Their second frees
// and wild pointers are those of tests/misuse.
#include "support/child.h"
#include "support/prelude.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"
#include "tarn/object_pool.h"

namespace tarn::test {
namespace {

constexpr std::size_t kBytes = 200;

struct Object {
  char bytes[kBytes];
};

template <typename Pool>
struct Calls;
template <>
struct Calls<FixedPool> {
  FixedPool pool{kBytes};
  void* allocate() { return pool.allocate(); }
  void free(void* block) { pool.deallocate(block); }
};
template <>
struct Calls<SharedFixedPool> {
  SharedFixedPool pool{kBytes};
  void* allocate() { return pool.allocate(); }
  void free(void* block) { pool.deallocate(block); }
};
template <>
struct Calls<ObjectPool<Object>> {
  ObjectPool<Object> pool;
  void* allocate() { return pool.allocate(); }
  void free(void* block) { pool.deallocate(static_cast<Object*>(block)); }
};
template <>
struct Calls<BufferPool> {
  BufferPool pool;
  void* allocate() { return pool.allocate(kBytes); }
  void free(void* block) { pool.deallocate(block); }
};
template <>
struct Calls<Heap> {
  Heap pool;
  void* allocate() { return pool.allocate(kBytes); }
  void free(void* block) { pool.deallocate(block); }
};

template <typename Pool>
class HardenedPool : public ::testing::Test {};
using Pools = ::testing::Types<FixedPool, SharedFixedPool, ObjectPool<Object>, BufferPool, Heap>;
TYPED_TEST_SUITE(HardenedPool, Pools);

TYPED_TEST(HardenedPool, ClearsWhatIsFreed) {
  Calls<TypeParam> calls;
  auto* const block = static_cast<char*>(calls.allocate());
  std::memset(block, 0x5a, kBytes);
  calls.free(block);
  const volatile char* const freed = block;
  for (std::size_t i = 0; i < kBytes; ++i) ASSERT_NE(freed[i], 0x5a) << i;
}

template <typename Pool>
class HardenedPoolOfBlocks : public ::testing::Test {};
using PoolsOfBlocks = ::testing::Types<FixedPool, SharedFixedPool, ObjectPool<Object>, BufferPool>;
TYPED_TEST_SUITE(HardenedPoolOfBlocks, PoolsOfBlocks);

TYPED_TEST(HardenedPoolOfBlocks, HandsOutNoBlockThatIsGuessed) {
  Calls<TypeParam> calls;
  std::vector<void*> blocks;
  for (unsigned i = 0; i < 200; ++i) blocks.push_back(calls.allocate());
  for (unsigned i = 0; i < 40; ++i) calls.free(blocks[i]);
  unsigned guessed = 0;  // in the order in which they were freed, or the reverse
  for (unsigned i = 0; i < 40; ++i) {
    const void* const block = calls.allocate();
    guessed += block == blocks[i] || block == blocks[39 - i] ? 1 : 0;
  }
  EXPECT_LE(guessed, 20u);
}

TYPED_TEST(HardenedPoolOfBlocks, StopsAtABlockThatWasWrittenSinceItWasFreed) {
  for (const std::size_t at : {std::size_t{0}, kBytes / 2, kBytes - 1}) {
    const ChildResult result = run_in_child([at] {
      Calls<TypeParam> calls;
      auto* const block = static_cast<char*>(calls.allocate());
      calls.free(block);
      static_cast<volatile char*>(block)[at] = 1;
      for (unsigned i = 0; i < 10'000; ++i) calls.allocate();
      return 0;
    });
    EXPECT_TRUE(result.signal == SIGABRT &&
                result.error.find("write into a freed block") != std::string::npos)
        << at << ": " << result.describe();
  }
}

}  // namespace
}  // namespace tarn::test
