// Under AddressSanitizer a use after free inside a pool is reported like any other.
#include "support/child.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "tarn/arena.h"
#include "tarn/fixed_pool.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"

namespace tarn::test {
namespace {

class Poison : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!kAddressSanitizer) GTEST_SKIP() << "without AddressSanitizer";
  }
};

char* bytes(void* block) { return static_cast<char*>(block); }

void touch(void* block, std::size_t offset = 0) {
  volatile char* const byte = bytes(block) + offset;
  *byte = static_cast<char>(*byte + 1);
}

void expect_report(const char* what, const std::function<void()>& body) {
  const ChildResult result = run_in_child([&] {
    body();
    return 0;
  });
  EXPECT_FALSE(result.is_success()) << what << " went unseen";
  EXPECT_NE(result.error.find("use-after-poison"), std::string::npos) << what << ": " << result.describe();
}

void expect_quiet(const char* what, const std::function<void()>& body) {
  const ChildResult result = run_in_child([&] {
    body();
    return 0;
  });
  EXPECT_TRUE(result.is_success()) << what << ": " << result.describe();
}

template <typename Pool>
void check_fixed_pool() {
  expect_report("a block after its free", [] {
    Pool pool(64);
    void* const block = pool.allocate();
    touch(block, 63);
    pool.deallocate(block);
    touch(block);
  });
  expect_report("a block after tarn::deallocate", [] {
    Pool pool(64);
    void* const block = pool.allocate();
    static_cast<void>(pool.allocate());
    tarn::deallocate(block);
    touch(block);
  });
  expect_report("a block that was never handed out", [] {
    Pool pool(64);
    touch(pool.allocate(), 64);
  });
  expect_report("the last block of a run after its free", [] {
    Pool pool(64);
    void* const blocks = pool.allocate_run(10);
    touch(blocks, 639);
    pool.deallocate_run(blocks, 10);
    touch(blocks, 639);
  });
  expect_report("a block of a batch after its free", [] {
    Pool pool(64);
    void* blocks[5];
    static_cast<void>(pool.allocate_batch(5, blocks));
    for (void* block : blocks) touch(block);
    pool.deallocate_batch(blocks, 5);
    touch(blocks[3]);
  });
  expect_report("a block after clear", [] {
    Pool pool(64);
    void* const block = pool.allocate();
    pool.clear();
    touch(block);
  });
  expect_quiet("memory that other pools use after a pool's end", [] {
    for (int round = 0; round < 20; ++round) {
      Pool pool(64);
      for (int i = 0; i < 3000; ++i) touch(pool.allocate(), 63);
      if (round % 2 == 0) pool.clear();
      if (round % 4 == 0) pool.release_unused();
      void* const general = tarn::allocate(100000);
      touch(general, 99999);
      tarn::deallocate(general);
    }
  });
}

TEST_F(Poison, AUseAfterFreeInAFixedPoolIsReported) { check_fixed_pool<FixedPool>(); }
TEST_F(Poison, AUseAfterFreeInASharedFixedPoolIsReported) { check_fixed_pool<SharedFixedPool>(); }

struct Object {
  char payload[40];
};

TEST_F(Poison, AUseAfterDestroyInAnObjectPoolIsReported) {
  expect_report("an object after its end", [] {
    ObjectPool<Object> pool;
    Object* const object = pool.create();
    touch(object, 39);
    pool.destroy(object);
    touch(object);
  });
  expect_quiet("objects that come and go", [] {
    for (int round = 0; round < 20; ++round) {
      ObjectPool<Object> pool({.at_end = round % 2 == 0 ? AtPoolEnd::kDestroy : AtPoolEnd::kHandOver});
      Object* objects[3000];
      for (Object*& object : objects) touch(object = pool.create(), 39);
      for (int i = 0; i < 3000; i += 2) pool.destroy(objects[i]);
      for (int i = 0; i < 3000; i += 2) touch(objects[i] = pool.create(), 39);
      if (round % 4 == 1) {
        for (Object* object : objects) pool.destroy(object);
        pool.release_unused();
        void* const general = tarn::allocate(3 * 65536);
        for (std::size_t at = 0; at < 3 * 65536; at += 40) touch(general, at);
        tarn::deallocate(general);
      }
    }
  });
}

TEST_F(Poison, AUseAfterFreeInAHeapIsReported) {
  alignas(4096) static char buffer[2 * 1024 * 1024];
  for (const HeapOptions& options :
       {HeapOptions{}, HeapOptions{.buffer = buffer, .buffer_bytes = sizeof buffer}}) {
    for (const std::size_t size :
         {std::size_t{10}, std::size_t{1000}, std::size_t{70000}, std::size_t{1200000}}) {
      if (size > options.buffer_bytes / 3 && options.buffer != nullptr) continue;
      expect_report("a block after its free", [&] {
        Heap heap(options);
        void* const kept = heap.allocate(size);
        void* const block = heap.allocate(size);
        touch(block, size - 1);
        heap.deallocate(block);
        touch(kept);
        touch(block);
      });
      expect_report("behind a block", [&] {
        Heap heap(options);
        touch(heap.allocate(size), size + 5);
      });
    }
    for (const std::size_t size : {std::size_t{100}, std::size_t{200000}}) {
      expect_report("a block after clear", [&] {
        Heap heap(options);
        static_cast<void>(heap.allocate(size));
        void* const block = heap.allocate(size);
        heap.clear();
        static_cast<void>(heap.allocate(size));
        touch(block);
      });
      expect_report("a block after the clear that follows its free", [&] {
        Heap heap(options);
        void* const block = heap.allocate(size);
        tarn::deallocate(block);
        heap.clear();
        touch(block);
      });
    }
    expect_quiet("a heap that frees and clears more than it has room for", [&] {
      Heap heap(options);
      for (int i = 0; i < 200; ++i) {
        void* const block = heap.allocate(300000);
        touch(block, 299999);
        i % 3 == 0 ? heap.clear() : heap.deallocate(block);
      }
      heap.release_unused();
      void* const general = tarn::allocate(20 << 20);
      for (std::size_t at = 0; at < 20 << 20; at += 4096) touch(general, at);
      tarn::deallocate(general);
    });
    expect_quiet("blocks that grow, shrink and tell their size", [&] {
      Heap heap(options);
      void* block = nullptr;
      for (std::size_t size = 1; size < 50000; size += size / 3 + 1) {
        block = heap.reallocate(block, size);
        touch(block, size - 1);
        touch(block, heap.usable_size(block) - 1);
      }
      for (std::size_t size = 50000; size > 1; size /= 2) {
        block = heap.reallocate(block, size);
        touch(block, size - 1);
      }
      void* const zeroed = heap.allocate_zeroed(100, 10);
      touch(zeroed, 999);
    });
  }
  expect_quiet("a buffer after its heap's end", [] {
    { static_cast<void>(Heap({.buffer = buffer, .buffer_bytes = sizeof buffer}).allocate(10)); }
    for (std::size_t at = 0; at < sizeof buffer; at += 8) touch(buffer, at);
  });
}

TEST_F(Poison, AUseAfterResetOfAnArenaIsReported) {
  alignas(64) static char buffer[4096];
  for (const ArenaOptions& options :
       {ArenaOptions{}, ArenaOptions{.buffer = buffer, .buffer_bytes = sizeof buffer}}) {
    expect_report("a block after reset", [&] {
      Arena arena(options);
      void* const block = arena.allocate(100);
      touch(block, 99);
      arena.reset();
      touch(block);
    });
    expect_report("a block after rewind", [&] {
      Arena arena(options);
      void* const kept = arena.allocate(100);
      const ArenaMark mark = arena.mark();
      void* const block = arena.allocate(100);
      arena.rewind(mark);
      touch(kept, 99);
      touch(block);
    });
    expect_report("behind a block", [&] {
      Arena arena(options);
      touch(arena.allocate(100), 120);
    });
    expect_report("a block of an earlier chunk after reset", [&] {
      Arena arena(options);
      void* const block = arena.allocate(100);
      for (int i = 0; i < 100; ++i) touch(arena.allocate(1000), 999);
      arena.reset();
      touch(block);
    });
    expect_quiet("blocks of many rounds", [&] {
      Arena arena(options);
      for (int round = 0; round < 50; ++round) {
        for (std::size_t size = 1; size < 3000; size += 17) touch(arena.allocate(size), size - 1);
        if (round % 7 == 0) arena.prewarm(10000);
        round % 5 == 0 ? static_cast<void>(arena.release_unused()) : arena.reset();
      }
    });
  }
  expect_quiet("a buffer after its arena's end", [] {
    { static_cast<void>(Arena(buffer, sizeof buffer).allocate(10)); }
    for (std::size_t at = 0; at < sizeof buffer; at += 8) touch(buffer, at);
  });
  expect_quiet("an arena in a heap", [] {
    Heap heap;
    for (int round = 0; round < 20; ++round) {
      Arena arena({.heap = &heap});
      for (std::size_t size = 1; size < 3000; size += 17) touch(arena.allocate(size), size - 1);
    }
  });
}

TEST_F(Poison, AUseOfABlockThatHandlerMemoryKeepsIsReported) {
  expect_report("behind the first words of a kept block", [] {
    HandlerMemory memory;
    void* const block = memory.allocate(200);
    touch(block, 199);
    memory.deallocate(block, 200);
    touch(block, 199);
  });
  expect_quiet("blocks that are kept, given again and released", [] {
    HandlerMemory memory;
    for (std::size_t size = 1; size < 3000; size += 17) {
      void* const block = memory.allocate(size);
      void* const small = memory.allocate(10);
      touch(block, size - 1), touch(small, 9);
      memory.deallocate(block, size), memory.deallocate(small, 10);
      if (size % 5 == 0) memory.release_unused();
      void* const other = tarn::allocate(size);
      touch(other, size - 1);
      tarn::deallocate(other);
    }
  });
}

}  // namespace
}  // namespace tarn::test
