// fork while other threads are busy in heaps and pools: the child must find nothing half done.
#include <sys/wait.h>

#include "support/child.h"
#include "support/content.h"
#include "support/forked.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "support/sizes.h"
#include "support/threads.h"
#include "tarn/arena.h"
#include "tarn/buffer_chain.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/handler_memory.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "tarn/pool_use.h"

namespace tarn::test {
namespace {

struct Object {
  char payload[90];
};

/// Pools that all threads share.
struct Shared {
  SharedFixedPool packets{64};
  // The child loses what threads that are gone had in their hands.
  BufferPool buffers{{.largest_bytes = 4096, .at_end = AtPoolEnd::kHandOver}};
  ObjectPool<Object> objects{{.at_end = AtPoolEnd::kHandOver}};
  HandlerMemory handlers;
  Heap heap{"shared"};
  Heap in_buffer{{.buffer = buffer, .buffer_bytes = sizeof buffer}};
  static inline char buffer[16 * kMiB];
};

bool use_buffers(BufferPool& pool, std::size_t size) {
  SharedBuffer buffer = pool.allocate_shared(size);
  void* const plain = pool.allocate(size);
  if (!buffer || plain == nullptr) return false;
  fill(buffer.data(), size, size);
  BufferChain chain;
  for (std::size_t i = 0; i < 6; ++i) chain.append(buffer.slice(0, size - size / 2));
  pool.deallocate(plain);
  chain.consume(chain.bytes() / 2);
  return holds(buffer.data(), size, size);
}

bool use_all(Shared& shared) {
  for (const std::size_t size : landmark_sizes(kMiB)) {
    for (Heap* heap : {&shared.heap, &shared.in_buffer}) {
      HeapScope scope(*heap);
      void* const block = tarn::allocate(size);
      if (block == nullptr) return false;
      fill(block, size, size);
      if (!holds(block, size, size)) return false;
      tarn::deallocate(block);
    }
    void* const packet = shared.packets.allocate();
    fill(packet, 64, size);
    void* const packets = shared.packets.allocate_run(10);
    fill(packets, 640, size);
    shared.objects.destroy(shared.objects.create());
    void* const handler = shared.handlers.allocate(size % 2000);
    if (handler == nullptr) return false;
    fill(handler, size % 2000, size);
    if (!holds(handler, size % 2000, size)) return false;
    shared.handlers.deallocate(handler, size % 2000);
    if (!holds(packets, 640, size) || !holds(packet, 64, size)) return false;
    if (size <= 64 * kKiB && !use_buffers(shared.buffers, size)) return false;
    shared.packets.deallocate(packet);
    shared.packets.deallocate_run(packets, 10);
  }
  SharedFixedPool own(32);
  ObjectPool<Object> typed({.at_end = AtPoolEnd::kHandOver});
  Heap heap;
  Arena arena;
  if (own.allocate() == nullptr || heap.allocate(100) == nullptr || arena.allocate(100000) == nullptr)
    return false;
  typed.destroy(typed.create());
  for_each_pool([](const PoolUse&, void*) {}, nullptr);
  tarn::trim();
  return true;
}

int fork_while_busy(std::uint64_t forks) {
  Shared shared;
  std::atomic<bool> must_stop{false};
  Threads threads(4, [&] {
    while (!must_stop) use_all(shared);
  });
  int failed = 0;
  for (std::uint64_t i = 0; i < forks && failed == 0; ++i) {
    const int status = forked([&] {
      bool is_good = use_all(shared);
      std::thread([&] { is_good = is_good && use_all(shared); }).join();
      return is_good ? 0 : 1;
    });
    if (status != 0) {
      dprintf(STDERR_FILENO, "child %d ended with %#x\n", static_cast<int>(i), status);
      failed = 1;
    }
  }
  must_stop = true;
  threads.join();
  return failed;
}

TEST(ForkOfPools, ChildrenOfAProcessBusyInItsPoolsWork) {
  const ChildResult result =
      run_in_child([] { return fork_while_busy(amount(60, 3000)); }, long_tests() ? 600 : 60);
  EXPECT_TRUE(result.is_success()) << result.describe();
}

// The magazines of threads that are gone are within reach; each may have had one more block in its hands.
int fork_beside_a_full_pool(std::uint64_t forks) {
  constexpr std::size_t kThreads = 3, kHeld = 30, kMost = kThreads * kHeld + 50;
  SharedFixedPool pool({.block_bytes = 64, .largest_count = kMost});
  std::atomic<bool> must_stop{false};
  Threads threads(kThreads, [&](std::size_t t) {
    Random random(t);
    std::vector<void*> held;
    while (!must_stop) {
      if (held.size() < kHeld && random.below(2) == 0) {
        if (void* const block = pool.allocate()) held.push_back(block);
      } else if (!held.empty()) {
        pool.deallocate(held.back());
        held.pop_back();
      }
    }
    for (void* block : held) pool.deallocate(block);
  });
  int failed = 0;
  for (std::uint64_t i = 0; i < forks && failed == 0; ++i) {
    const int status = forked([&] {
      std::set<void*> blocks;
      while (void* const block = pool.allocate())
        if (!blocks.insert(block).second) return 1;
      if (blocks.size() < kMost - kThreads * (kHeld + 1)) return 2;
      const std::size_t live = pool.live_count();
      for (void* block : blocks) pool.deallocate(block);
      return live <= kMost && pool.live_count() == live - blocks.size() ? 0 : 3;
    });
    failed = WIFEXITED(status) ? WEXITSTATUS(status) : 100;
  }
  must_stop = true;
  threads.join();
  return failed;
}

TEST(ForkOfPools, TheChildHasTheFreeBlocksOfThreadsThatAreGone) {
  const ChildResult result =
      run_in_child([] { return fork_beside_a_full_pool(amount(100, 3000)); }, long_tests() ? 600 : 60);
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST(ForkOfPools, TheChildMayEndItsParentsPoolsAndBlocks) {
  ObjectPool<Object> objects;
  SharedFixedPool packets(64);
  Heap heap;
  std::vector<Object*> made;
  std::vector<void*> blocks;
  std::thread([&] {
    for (int i = 0; i < 1000; ++i) made.push_back(objects.create());
  }).join();
  for (int i = 0; i < 1000; ++i) {
    blocks.push_back(heap.allocate(100));
    blocks.push_back(packets.allocate());
  }
  auto give_back = [&] {
    for (Object* object : made) objects.destroy(object);
    for (void* block : blocks) tarn::deallocate(block);
    return objects.live_count() == 0 && heap.use().live_count == 0 && packets.live_count() == 0 ? 0 : 1;
  };
  const ChildResult result = run_in_child(give_back);
  EXPECT_TRUE(result.is_success()) << result.describe();
  EXPECT_EQ(give_back(), 0);
}

TEST(ForkOfPools, RunsThatWereFreedAreHadAgainInTheChildAndTheParent) {
  FixedPool own({.block_bytes = 64, .largest_count = 1000});
  SharedFixedPool shared({.block_bytes = 64, .largest_count = 1000});
  const auto use = [](auto& pool) {
    std::set<void*> runs;
    for (int i = 0; i < 50; ++i) runs.insert(pool.allocate_run(20));
    const bool has_all = runs.size() == 50 && runs.count(nullptr) == 0;
    for (void* const run : runs) pool.deallocate_run(run, 20);
    return has_all && pool.live_count() == 0;
  };
  const auto use_both = [&] { return use(own) && use(shared) ? 0 : 1; };
  EXPECT_EQ(use_both(), 0);
  const ChildResult result = run_in_child(use_both);
  EXPECT_TRUE(result.is_success()) << result.describe();
  EXPECT_EQ(use_both(), 0);
}

// A new thread ends the objects of threads that are gone, which may have been inside just then. \returns how
// many; 0 when it did not end each once.
std::size_t end_all_in_child(HandlePool<Object>& pool) {
  std::size_t ended = 0, wrong = 0;
  std::thread([&] {
    pool.for_each_live([&](Handle<Object> handle, Object&) {
      ended += pool.destroy(handle) ? 1 : 0;
      wrong += pool.destroy(handle) ? 1 : 0;
    });
  }).join();
  return wrong == 0 && pool.live_count() == 0 ? ended : 0;
}

int fork_beside_handles(std::uint64_t forks) {
  constexpr std::size_t kKept = 100;
  HandlePool<Object> pool({.at_end = AtPoolEnd::kHandOver});
  std::atomic<bool> must_stop{false};
  constexpr unsigned kThreads = 2;
  std::barrier ready(kThreads + 1);
  Threads threads(kThreads, [&] {
    std::vector<Handle<Object>> kept(kKept);
    for (Handle<Object>& handle : kept) handle = pool.create();
    ready.arrive_and_wait();
    while (!must_stop) pool.destroy(pool.create());
  });
  ready.arrive_and_wait();
  int status = 0;
  for (std::uint64_t i = 0; i < forks && status == 0; ++i)
    status = forked([&] {
      alarm(20);
      return pool.destroy(pool.create()) && end_all_in_child(pool) >= kThreads * kKept ? 0 : 1;
    });
  must_stop = true;
  threads.join();
  return status == 0 ? 0 : 1;
}

TEST(ForkOfPools, ChildrenTakeHandlesOfAPoolThatOtherThreadsWereIn) {
  const ChildResult result =
      run_in_child([] { return fork_beside_handles(amount(250, 5000)); }, long_tests() ? 600 : 60);
  EXPECT_TRUE(result.is_success()) << result.describe();
}

// The child walks over pools that other threads were in. \returns what it did not find as it should.
int walk_in_child(ObjectPool<Object, LiveObjects::kListed>& objects, const std::set<Object*>& kept_objects,
                  HandlePool<Object>& handled, const std::set<Object*>& kept_handled) {
  std::vector<Object*> visited;
  objects.for_each_live([&](Object& object) { visited.push_back(&object); });
  if (!std::includes(visited.begin(), visited.end(), kept_objects.begin(), kept_objects.end())) return 1;
  if (std::adjacent_find(visited.begin(), visited.end()) != visited.end()) return 2;
  visited.clear();
  int wrong = 0;
  handled.for_each_live([&](Handle<Object> handle, Object& object) {
    visited.push_back(&object);
    if (handled.get(handle) != &object) wrong = 3;
  });
  if (!std::includes(visited.begin(), visited.end(), kept_handled.begin(), kept_handled.end())) return 4;
  return wrong;
}

int fork_beside_pools_that_are_walked(std::uint64_t forks) {
  ObjectPool<Object, LiveObjects::kListed> objects({.at_end = AtPoolEnd::kHandOver});
  HandlePool<Object> handled({.at_end = AtPoolEnd::kHandOver});
  std::set<Object*> kept_objects, kept_handled;
  for (int i = 0; i < 1000; ++i) {
    kept_objects.insert(objects.create());
    kept_handled.insert(handled.get(handled.create()));
  }
  std::atomic<bool> must_stop{false};
  Threads threads(2, [&] {
    while (!must_stop) {
      objects.destroy(objects.create());
      handled.destroy(handled.create());
      objects.for_each_live([](Object&) {});
    }
  });
  int status = 0;
  for (std::uint64_t i = 0; i < forks && status == 0; ++i)
    status = forked([&] {
      alarm(20);
      return walk_in_child(objects, kept_objects, handled, kept_handled);
    });
  must_stop = true;
  threads.join();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

/// Writes over the stack that threads before this one have had.
[[gnu::noinline]] void write_stack() {
  volatile char bytes[64 * kKiB];
  for (volatile char& byte : bytes) byte = char(0x5a);
}

// The child's threads get the stacks of threads that are gone, and the pools on them.
TEST(ForkOfPools, TheChildLooksAtNoPoolOnTheStackOfAThreadThatIsGone) {
  const ChildResult result = run_in_child([] {
    std::barrier meet(2);
    std::thread other([&] {
      HandlePool<Object> handles;
      FixedPool blocks(64);
      static_cast<void>(handles.create());
      static_cast<void>(blocks.allocate());
      meet.arrive_and_wait();  // it is there
      meet.arrive_and_wait();  // the child has ended
    });
    meet.arrive_and_wait();
    const int status = forked([] {
      for (int i = 0; i < 4; ++i) std::thread(write_stack).join();
      tarn::trim();
      std::size_t pools = 0;
      for_each_pool([](const PoolUse&, void* count) { ++*static_cast<std::size_t*>(count); }, &pools);
      return 0;
    });
    meet.arrive_and_wait();
    other.join();
    return status == 0 ? 0 : 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST(ForkOfPools, ChildrenWalkOverPoolsThatOtherThreadsWereIn) {
  const ChildResult result = run_in_child([] { return fork_beside_pools_that_are_walked(amount(200, 5000)); },
                                          long_tests() ? 600 : 60);
  EXPECT_TRUE(result.is_success()) << result.describe();
}

// One thread makes objects, another destroys them. \returns how many forks lost an object on its way back.
int fork_between_two_threads(std::uint64_t forks) {
  constexpr unsigned kPlaces = 256;
  ObjectPool<Object> pool({.at_end = AtPoolEnd::kHandOver});
  std::atomic<Object*> places[kPlaces] = {};
  std::atomic<bool> must_stop{false};
  std::barrier start(3);
  std::thread maker([&] {
    start.arrive_and_wait();
    Object* made = nullptr;
    for (unsigned i = 0; !must_stop; ++i) {
      if (made == nullptr) made = pool.create();
      Object* expected = nullptr;
      if (places[i % kPlaces].compare_exchange_strong(expected, made)) made = nullptr;
    }
    if (made != nullptr) pool.destroy(made);
  });
  std::thread destroyer([&] {
    start.arrive_and_wait();
    for (unsigned i = 0; !must_stop; ++i)
      if (Object* const object = places[i % kPlaces].exchange(nullptr)) pool.destroy(object);
  });
  start.arrive_and_wait();
  int lost = 0;
  for (std::uint64_t i = 0; i < forks; ++i) {
    const int status = forked([&] {
      alarm(20);
      std::size_t placed = 0;
      for (const std::atomic<Object*>& place : places) placed += place != nullptr;
      const std::size_t in_hand = 2;  // of the two threads
      return pool.live_count() <= placed + in_hand ? 0 : 1;
    });
    lost += status != 0;
  }
  must_stop = true;
  maker.join();
  destroyer.join();
  for (const std::atomic<Object*>& place : places)
    if (place != nullptr) pool.destroy(place);
  return lost == 0 ? 0 : 1;
}

TEST(ForkOfPools, TheChildLosesNoObjectOnItsWayToAnotherThreadsSlabs) {
  const ChildResult result =
      run_in_child([] { return fork_between_two_threads(amount(300, 5000)); }, long_tests() ? 600 : 60);
  EXPECT_TRUE(result.is_success()) << result.describe();
}

// A scope is the thread's that forked, and goes on in the child.
TEST(ForkOfPools, AScopeGoesOnInTheChild) {
  Heap heap;
  HeapScope scope(heap);
  const ChildResult result = run_in_child([&] {
    void* const block = tarn::allocate(100);
    const bool is_the_heaps = heap.owns(block);
    tarn::deallocate(block);
    bool is_general = false;
    std::thread([&] {
      void* const other = tarn::allocate(100);
      is_general = !heap.owns(other);
      tarn::deallocate(other);
    }).join();
    return is_the_heaps && is_general ? 0 : 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

}  // namespace
}  // namespace tarn::test
