// Visits of all live blocks: each kind of pool, against a model, and what a visit may do.
#include "support/child.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "tarn/observe.h"

namespace tarn::test {
namespace {

struct Seen {
  std::size_t bytes;
  std::string kind, name;
  unsigned size_class;
};
using SeenBlocks = std::map<void*, Seen>;

std::string text_or(const char* text, const char* otherwise) { return text != nullptr ? text : otherwise; }

/// Adds a visited block, which must not have been visited before.
struct AddTo {
  SeenBlocks& seen;
  void operator()(const LiveBlock& block) const {
    const Seen what{block.bytes, text_or(block.pool_kind, "general"), text_or(block.pool_name, ""),
                    block.size_class};
    EXPECT_TRUE(seen.emplace(block.address, what).second) << block.address << " of " << what.kind;
  }
};

SeenBlocks all_blocks() {
  SeenBlocks seen;
  EXPECT_TRUE(visit_blocks(AddTo{seen}));
  return seen;
}

SeenBlocks blocks_of(const Heap& heap) {
  SeenBlocks seen;
  EXPECT_TRUE(visit_blocks(heap, AddTo{seen}));
  return seen;
}

struct Entity {
  char payload[72];
};

/// Where blocks come from, all behind one face.
struct Source {
  std::string kind, name;
  std::size_t largest;  // request
  std::function<void*(std::size_t bytes)> allocate;
  std::function<void(void* block)> deallocate;
};

/// Sources of all kinds, and what they need.
class VisitBlocks : public ::testing::Test {
 protected:
  VisitBlocks() {
    const auto add_heap = [this](Heap& heap, const char* name, std::size_t largest) {
      sources_.push_back({"heap", name, largest, [&](std::size_t bytes) { return heap.allocate(bytes); },
                          [&](void* block) { heap.deallocate(block); }});
    };
    sources_.push_back({"general", "", 2'000'000, [](std::size_t bytes) { return tarn::allocate(bytes); },
                        [](void* block) { tarn::deallocate(block); }});
    add_heap(heap_, "heap of all sizes", 400'000);
    add_heap(small_heap_, "heap of small blocks", 900);
    add_heap(heap_in_buffer_, "heap in a buffer", 3000);
    sources_.push_back({"fixed pool", "bullets", 48, [this](std::size_t) { return fixed_.allocate(); },
                        [this](void* block) { fixed_.deallocate(block); }});
    sources_.push_back({"fixed pool", "packets", 160, [this](std::size_t) { return shared_.allocate(); },
                        [this](void* block) { shared_.deallocate(block); }});
    sources_.push_back({"object pool", "entities", sizeof(Entity),
                        [this](std::size_t) { return objects_.create(); },
                        [this](void* object) { objects_.destroy(static_cast<Entity*>(object)); }});
    sources_.push_back({"object pool", "listed", sizeof(Entity),
                        [this](std::size_t) { return listed_.create(); },
                        [this](void* object) { listed_.destroy(static_cast<Entity*>(object)); }});
    sources_.push_back({"buffer pool", "buffers", 40'000,
                        [this](std::size_t bytes) { return buffers_.allocate(bytes); },
                        [this](void* block) { buffers_.deallocate(block); }});
    sources_.push_back({"handle pool", "handles", sizeof(Entity),
                        [this](std::size_t) {
                          const Handle<Entity> handle = handles_.create();
                          return handle_of_[handles_.get(handle)] = handle, handles_.get(handle);
                        },
                        [this](void* object) {
                          handles_.destroy(handle_of_[object]);
                          handle_of_.erase(object);
                        }});
  }

  struct Made {
    const Source* source;
    std::size_t bytes;
  };
  using Model = std::map<void*, Made>;

  void allocate(const Source& source, std::size_t bytes) {
    bytes = std::min(bytes, source.largest);
    void* const block = source.allocate(bytes);
    if (block != nullptr) model_[block] = {&source, bytes};
  }
  Model::iterator deallocate(Model::iterator at) {
    at->second.source->deallocate(at->first);
    return model_.erase(at);
  }

  void expect_model_is_visited() {
    const SeenBlocks seen = all_blocks();
    EXPECT_EQ(seen.size(), model_.size());
    for (const auto& [block, made] : model_) {
      const auto found = seen.find(block);
      ASSERT_NE(found, seen.end()) << block << " of " << made.source->kind << " " << made.source->name;
      EXPECT_EQ(found->second.kind, made.source->kind);
      EXPECT_EQ(found->second.name, made.source->name);
      EXPECT_GE(found->second.bytes, made.bytes);
    }
  }

  void TearDown() override {
    while (!model_.empty()) deallocate(model_.begin());
  }

  std::vector<char> buffer_ = std::vector<char>(1 << 20);
  Heap heap_{"heap of all sizes"}, small_heap_{"heap of small blocks"};
  Heap heap_in_buffer_{
      {.name = "heap in a buffer", .buffer = buffer_.data(), .buffer_bytes = buffer_.size()}};
  FixedPool fixed_{{.name = "bullets", .block_bytes = 48}};
  SharedFixedPool shared_{{.name = "packets", .block_bytes = 160}};
  ObjectPool<Entity> objects_{{.name = "entities"}};
  ObjectPool<Entity, LiveObjects::kListed> listed_{{.name = "listed"}};
  BufferPool buffers_{{.name = "buffers", .smallest_bytes = 64, .largest_bytes = 16384}};
  HandlePool<Entity> handles_{{.name = "handles"}};
  std::map<void*, Handle<Entity>> handle_of_;
  std::vector<Source> sources_;
  Model model_;
};

TEST_F(VisitBlocks, NoneIsLiveAtFirst) { EXPECT_TRUE(all_blocks().empty()); }

TEST_F(VisitBlocks, OfEachKindOfPoolVisitsWhatIsLiveAndNamesThePool) {
  for (const Source& source : sources_) {
    SCOPED_TRACE(source.kind + " " + source.name);
    for (int i = 0; i < 1000; ++i) allocate(source, 1 + i % source.largest);
    expect_model_is_visited();
    int i = 0;
    for (auto at = model_.begin(); at != model_.end();) at = ++i % 3 == 0 ? ++at : deallocate(at);
    expect_model_is_visited();
  }
  while (!model_.empty()) deallocate(model_.begin());
  EXPECT_TRUE(all_blocks().empty()) << "though threads have cached blocks";
}

TEST_F(VisitBlocks, RandomProgramsLeaveWhatTheModelHas) {
  Random random(fresh_seed());
  const std::uint64_t rounds = amount(20, 400);
  for (std::uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    for (int step = 0; step < 2000; ++step) {
      const Source& source = sources_[random.below(sources_.size())];
      if (model_.empty() || random.below(100) < 52) {
        allocate(source, random.between(1, random.below(8) == 0 ? source.largest : 300));
      } else {
        auto at = model_.lower_bound(reinterpret_cast<void*>(random.next() >> 17));
        deallocate(at != model_.end() ? at : model_.begin());
      }
    }
    expect_model_is_visited();
  }
}

TEST_F(VisitBlocks, BlocksThatOtherThreadsHaveCachedAreNotLive) {
  for (const Source& source : sources_) {
    if (source.name == "bullets") continue;  // a pool of one thread
    SCOPED_TRACE(source.kind + " " + source.name);
    std::vector<void*> kept;
    std::thread([&] {
      std::vector<void*> blocks;
      for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 500; ++i) blocks.push_back(source.allocate(1 + i % source.largest));
        while (blocks.size() > 40) source.deallocate(blocks.back()), blocks.pop_back();
      }
      for (void* const block : blocks)
        if (block != nullptr) model_[block] = {&source, 1};
      expect_model_is_visited();  // while the thread has its heap
    }).join();
    expect_model_is_visited();  // and what it has left
  }
}

TEST_F(VisitBlocks, BlocksThatAnotherThreadHasFreedAreNotLive) {
  for (int i = 0; i < 3000; ++i) allocate(sources_[0], 100);
  std::thread([this] {
    for (int i = 0; i < 2000; ++i) deallocate(model_.begin());
    expect_model_is_visited();
  }).join();
  expect_model_is_visited();
}

TEST_F(VisitBlocks, TheHeapsFormVisitsThisHeapAlone) {
  for (int i = 0; i < 5000; ++i) {
    allocate(sources_[1], 1 + i);
    allocate(sources_[2], 1 + i % 900);
  }
  const SeenBlocks seen = blocks_of(heap_);
  EXPECT_EQ(seen.size(), heap_.use().live_count);
  for (const auto& [block, what] : seen) EXPECT_EQ(what.name, "heap of all sizes");
  EXPECT_EQ(blocks_of(heap_in_buffer_).size(), 0u);
  EXPECT_EQ(blocks_of(Heap({.buffer = buffer_.data(), .buffer_bytes = 1})).size(), 0u) << "it is not valid";
}

TEST_F(VisitBlocks, TellsTheSizeClassAndWhatMayBeUsed) {
  allocate(sources_[0], 100);
  allocate(sources_[0], 1'000'000);
  allocate(sources_[4], 48);
  for (const auto& [block, what] : all_blocks()) {
    if (what.kind == "fixed pool") {
      EXPECT_EQ(what.bytes, 48u);
      EXPECT_EQ(what.size_class, 0u);
    } else {
      EXPECT_EQ(what.bytes, tarn::usable_size(block));
      EXPECT_EQ(what.size_class == 0, what.bytes > 262'144) << "a large block has none";
    }
  }
}

TEST_F(VisitBlocks, AtRestTheSumIsWhatTheStatisticsTell) {
  for (int i = 0; i < 20'000; ++i) allocate(sources_[0], 1 + i % 5000);
  for (int i = 0; i < 100; ++i) allocate(sources_[0], 300'000 + 10'000 * i);
  for (int i = 0; i < 10'000; ++i) deallocate(std::next(model_.begin(), i % 5));
  std::size_t bytes = 0;
  EXPECT_TRUE(visit_blocks([&](const LiveBlock& block) {
    if (block.pool_kind == nullptr) bytes += block.bytes;
  }));
  EXPECT_EQ(bytes, tarn::stats().live_bytes);
}

TEST_F(VisitBlocks, OfAnArenaVisitsItsChunks) {
  Arena arena;
  ASSERT_NE(arena.allocate(100), nullptr);
  const SeenBlocks seen = all_blocks();
  ASSERT_FALSE(seen.empty());
  std::size_t bytes = 0;
  for (const auto& [chunk, what] : seen) {
    EXPECT_EQ(what.kind, "arenas");
    bytes += what.bytes;
  }
  EXPECT_GE(bytes, arena.capacity());
}

TEST_F(VisitBlocks, ObjectsOutliveTheNameOfTheirPool) {
  Entity* object = nullptr;
  {
    ObjectPool<Entity> pool({.name = "short lived", .at_end = AtPoolEnd::kHandOver});
    object = pool.create();
  }
  const SeenBlocks seen = all_blocks();
  ASSERT_EQ(seen.count(object), 1u);
  EXPECT_EQ(seen.at(object).kind, "object pool");
  tarn::deallocate(object);
}

TEST_F(VisitBlocks, AVisitMayAllocateFreeVisitAndMakePools) {
  for (const Source& source : sources_)
    for (int i = 0; i < 100; ++i) allocate(source, 1 + i % source.largest);
  const Model before = model_;
  std::size_t visits = 0;
  EXPECT_TRUE(visit_blocks([&](const LiveBlock& block) {
    const auto found = before.find(block.address);
    if (found == before.end()) return;
    ++visits;
    allocate(*found->second.source, 64);
    if (visits % 100 == 50) {
      FixedPool pool({.block_bytes = 64});
      static_cast<void>(pool.allocate());
      std::size_t within = 0;
      EXPECT_TRUE(visit_blocks([&](const LiveBlock&) { ++within; }));
      EXPECT_GE(within, model_.size());
    }
  }));
  EXPECT_EQ(visits, before.size()) << "each block that lived all the time, once";
  expect_model_is_visited();
}

TEST_F(VisitBlocks, AVisitMayFreeTheBlockThatItIsGiven) {
  for (const Source& source : sources_)
    for (int i = 0; i < 300; ++i) allocate(source, 1 + i % source.largest);
  EXPECT_TRUE(visit_blocks([&](const LiveBlock& block) {
    const auto found = model_.find(block.address);
    ASSERT_NE(found, model_.end());
    deallocate(found);
  }));
  EXPECT_TRUE(model_.empty());
  EXPECT_TRUE(all_blocks().empty());
}

TEST_F(VisitBlocks, AVisitMayFork) {
  for (const Source& source : sources_) allocate(source, 40);
  std::size_t visits = 0;
  EXPECT_TRUE(visit_blocks([&](const LiveBlock&) {
    if (++visits != 5) return;
    const ChildResult child = run_in_child([&] {
      static_cast<void>(tarn::allocate(100));
      return all_blocks().size() == model_.size() + 1 ? 0 : 1;
    });
    EXPECT_TRUE(child.is_success()) << child.describe();
  }));
  EXPECT_EQ(visits, model_.size());
}

TEST_F(VisitBlocks, PoolsAreVisitedFromCWithTheFiguresOfPoolUse) {
  std::vector<std::string> names;
  for_each_pool(
      [](const PoolUse& use, void* to) {
        static_cast<std::vector<std::string>*>(to)->push_back(std::string(use.name) + "/" + use.kind);
      },
      &names);
  std::vector<std::string> from_c;
  tarn_visit_pools(
      [](const tarn_pool_use* use, void* to) {
        static_cast<std::vector<std::string>*>(to)->push_back(std::string(use->name) + "/" + use->kind);
      },
      &from_c);
  EXPECT_EQ(from_c, names);
}

}  // namespace
}  // namespace tarn::test
