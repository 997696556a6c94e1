#include "observer/known_program.h"

#include <tarn/arena.h>
#include <tarn/buffer_pool.h>
#include <tarn/fixed_pool.h>
#include <tarn/handle_pool.h>
#include <tarn/heap.h>
#include <tarn/memory_pool.h>
#include <tarn/object_pool.h>

#include <barrier>
#include <thread>
#include <vector>

#include "support/heap_with_classes.h"
#include "support/seed.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

struct Quest {
  virtual ~Quest() = default;
  char text[88] = {};
};
struct Item {
  char text[40] = {};
};

alignas(4096) char buffer_of_a_heap[1 << 20];

}  // namespace

struct KnownProgram::Pools {
  FixedPool packets{{.name = "packets", .block_bytes = 512, .largest_count = 10'000}};
  FixedPool runs{{.name = "runs", .block_bytes = 48}};
  SharedFixedPool shared{{.name = "shared", .block_bytes = 128}};
  SharedFixedPool handed{{.name = "handed", .block_bytes = 160}};
  ObjectPool<Quest> quests{{.name = "quests", .at_end = AtPoolEnd::kDestroy}};
  ObjectPool<Item, LiveObjects::kListed> items{{.name = "items", .at_end = AtPoolEnd::kDestroy}};
  HandlePool<Quest> handles{{.name = "handles", .at_end = AtPoolEnd::kDestroy}};
  BufferPool buffers{{.name = "buffers", .largest_bytes = 4096, .at_end = AtPoolEnd::kDestroy}};
  BufferPool handed_buffers{{.name = "handed buffers", .largest_bytes = 1024, .at_end = AtPoolEnd::kDestroy}};
  Heap room{{.name = "room", .soft_limit = 32 << 20, .hard_limit = 64 << 20, .mapped_limit = 96 << 20}};
  Heap inner{{.name = "inner", .hard_limit = 1 << 20, .parent = &room}};
  Heap large{{.name = "large heap"}};
  HeapWithClasses busy{{.name = "busy heap"}};
  Heap in_buffer{
      {.name = "in a buffer", .buffer = buffer_of_a_heap, .buffer_bytes = sizeof buffer_of_a_heap}};
  void* block = nullptr;
  std::unique_ptr<Heap> in_block;
  std::unique_ptr<TickArena> tick;
  std::unique_ptr<Arena> in_heap;
};

/// A thread that has done its work and stays, with what it has cached.
class KnownProgram::Resident {
 public:
  template <typename Work>
  explicit Resident(Work work) {
    thread_ = std::thread([this, work] {
      work();
      begin_.arrive_and_wait();
      end_.arrive_and_wait();
    });
    begin_.arrive_and_wait();
  }
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;
  ~Resident() {
    end_.arrive_and_wait();
    thread_.join();
  }

 private:
  std::barrier<> begin_{2}, end_{2};
  std::thread thread_;
};

KnownProgram::KnownProgram(std::uint64_t seed) : pools_(std::make_unique<Pools>()) {
  allocate_general(seed);
  free_by_another_thread();
  fill_depots();
  use_fixed_pools();
  use_typed_pools();
  use_buffers();
  use_heaps(seed);
}

KnownProgram::~KnownProgram() {
  resident_.reset();
  pools_->in_block.reset();
  const std::set<std::uint64_t> blocks = live_[""];
  pools_.reset();
  for (const std::uint64_t block : blocks) deallocate(reinterpret_cast<void*>(block));
}

std::set<std::uint64_t> KnownProgram::freed() const { return freed_; }

void KnownProgram::allocate_general(std::uint64_t seed) {
  Random random(seed);
  std::vector<void*> blocks;
  for (const std::size_t size : boundary_sizes(6 * kMiB)) blocks.push_back(allocate(size));
  for (int i = 0; i < 30'000; ++i) blocks.push_back(allocate(random.below(2'000)));
  for (const void* const block : blocks) note("", block);
  for (void* const block : blocks) {
    if (random.below(3) != 0) continue;
    forget("", block);
    deallocate(block);
  }
}

void KnownProgram::free_by_another_thread() {
  const std::set<std::uint64_t> blocks = live_[""];
  std::thread([&] {
    int i = 0;
    for (const std::uint64_t block : blocks) {
      if (++i % 10 != 0) continue;
      forget("", reinterpret_cast<void*>(block));
      deallocate(reinterpret_cast<void*>(block));
    }
    for (int own = 0; own < 1'000; ++own) note("", allocate(100));
  }).join();
  resident_ = std::make_unique<Resident>([this] {
    std::vector<void*> own;
    for (int i = 0; i < 3'000; ++i) own.push_back(allocate(static_cast<std::size_t>(i % 300)));
    for (std::size_t i = 0; i < own.size(); ++i) {
      note("", own[i]);
      if (i % 4 == 0) continue;
      forget("", own[i]);
      deallocate(own[i]);
    }
  });
}

/// Many flushes, so that an owner parks blocks and keeps spare slabs.
void KnownProgram::fill_depots() {
  for (int round = 0; round < 20; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i < 20'000; ++i) blocks.push_back(allocate(64));
    for (void* const block : blocks) {
      note("", block);
      forget("", block);
      deallocate(block);
    }
  }
}

void KnownProgram::use_fixed_pools() {
  std::vector<void*> blocks, shared;
  for (int i = 0; i < 500; ++i) blocks.push_back(pools_->packets.allocate());
  for (const void* const block : blocks) note("packets", block);
  for (std::size_t i = 0; i < blocks.size(); i += 6) {
    forget("packets", blocks[i]);
    pools_->packets.deallocate(blocks[i]);
  }
  char* const run = static_cast<char*>(pools_->runs.allocate_run(100));
  for (int i = 0; i < 100; ++i) note("runs", run + i * 48);
  for (int i = 40; i < 60; ++i) forget("runs", run + i * 48);
  pools_->runs.deallocate_run(run + 40 * 48, 20);
  const auto fill = [&](auto& pool, const char* name) {
    for (int i = 0; i < 700; ++i) shared.push_back(pool.allocate());
    for (const void* const block : shared) note(name, block);
    std::thread([&] {
      for (std::size_t i = 0; i < shared.size(); i += 3) {
        forget(name, shared[i]);
        pool.deallocate(shared[i]);
      }
    }).join();
    shared.clear();
  };
  fill(pools_->shared, "shared");
  fill(pools_->handed, "handed");
}

void KnownProgram::use_typed_pools() {
  std::vector<Quest*> quests;
  std::vector<Item*> items;
  std::vector<Handle<Quest>> handles;
  for (int i = 0; i < 1'000; ++i) {
    quests.push_back(pools_->quests.create());
    items.push_back(pools_->items.create());
    handles.push_back(pools_->handles.create());
    note("quests", quests.back());
    note("items", items.back());
    note("handles", pools_->handles.get(handles.back()));
  }
  for (std::size_t i = 0; i < quests.size(); i += 3) {
    forget("quests", quests[i]);
    forget("items", items[i]);
    forget("handles", pools_->handles.get(handles[i]));
    pools_->quests.destroy(quests[i]);
    pools_->items.destroy(items[i]);
    pools_->handles.destroy(handles[i]);
  }
}

void KnownProgram::use_buffers() {
  const auto fill = [&](BufferPool& pool, const char* name) {
    std::vector<void*> blocks;
    for (int i = 0; i < 300; ++i) blocks.push_back(pool.allocate(static_cast<std::size_t>(10 + i * 20)));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      note(name, blocks[i]);
      if (i % 7 != 0) continue;
      forget(name, blocks[i]);
      pool.deallocate(blocks[i]);
    }
  };
  fill(pools_->buffers, "buffers");
  fill(pools_->handed_buffers, "handed buffers");
}

void KnownProgram::use_heaps(std::uint64_t seed) {
  Random random(seed);
  pools_->block = allocate(kMiB);
  note("", pools_->block);
  pools_->in_block = std::make_unique<Heap>(
      HeapOptions{.name = "in a block", .buffer = pools_->block, .buffer_bytes = kMiB});
  const auto fill = [&](Heap& heap, const char* name, int count, std::size_t largest) {
    std::vector<void*> blocks;
    for (int i = 0; i < count; ++i) blocks.push_back(heap.allocate(16 + random.below(largest)));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      note(name, blocks[i]);
      if (i % 2 == 0) continue;
      forget(name, blocks[i]);
      heap.deallocate(blocks[i]);
    }
  };
  fill(pools_->room, "room", 60, 400);
  fill(pools_->inner, "inner", 40, 2'000);
  fill(pools_->large, "large heap", 5'000, 5'000);
  note("large heap", pools_->large.allocate(kMiB));
  fill(pools_->busy, "busy heap", 4'000, 900);
  fill(pools_->in_buffer, "in a buffer", 300, 1'500);
  fill(*pools_->in_block, "in a block", 300, 1'500);
  pools_->tick = std::make_unique<TickArena>(64 * kKiB);
  static_cast<void>(pools_->tick->allocate(1'000));
  pools_->in_heap = std::make_unique<Arena>(ArenaOptions{.name = "in a heap", .heap = &pools_->large});
  // Last, since a heap that grows frees the large blocks that it has kept.
  deallocate(allocate(3 * kMiB));
}

}  // namespace tarn::test
