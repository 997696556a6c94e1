// The hard limit of memory: every kind of allocation is refused cleanly at it, and serves again once memory
// was freed; also where the system refuses calls meanwhile.
#include "page/memory/memory_limit.h"

#include "fault/fault_injection.h"
#include "support/invariants.h"
#include "support/prelude.h"
#include "tarn/arena.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/handle_pool.h"
#include "tarn/heap.h"
#include "tarn/limits.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "tarn/stats.h"

namespace tarn::test {
namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr std::size_t kRoom = 24 * kMiB;
// Records of pages and pools, and the magazines of a thread.
constexpr std::size_t kSlack = 2 * kMiB;

struct Object {
  char bytes[2000];
};

/// A way to take memory. allocate() returns false when it is refused; free_all() frees what it took.
class Kind {
 public:
  virtual ~Kind() = default;
  virtual bool allocate() = 0;
  virtual void free_all() = 0;
};

class General : public Kind {
 public:
  explicit General(std::size_t size, std::size_t alignment = 16) : size_(size), alignment_(alignment) {
    blocks_.reserve(1 << 20);
  }
  bool allocate() override {
    void* const block = tarn::allocate(size_, alignment_);
    if (block == nullptr) return false;
    *static_cast<volatile char*>(block) = 1;
    blocks_.push_back(block);
    return true;
  }
  void free_all() override {
    for (void* block : blocks_) tarn::deallocate(block);
    blocks_.clear();
  }

 private:
  const std::size_t size_, alignment_;
  std::vector<void*> blocks_;
};

class Batches : public Kind {
 public:
  Batches() { blocks_.reserve(1 << 20); }
  bool allocate() override {
    void* batch[32];
    const std::size_t taken = tarn::allocate_batch(3000, 32, batch);
    blocks_.insert(blocks_.end(), batch, batch + taken);
    return taken == 32;
  }
  void free_all() override {
    tarn::deallocate_batch(blocks_.data(), blocks_.size());
    blocks_.clear();
  }

 private:
  std::vector<void*> blocks_;
};

class Growing : public Kind {
 public:
  bool allocate() override {
    void* const grown = tarn::reallocate(block_, bytes_ + 300'000);
    if (grown == nullptr) return false;
    block_ = grown;
    bytes_ += 300'000;
    return true;
  }
  void free_all() override {
    tarn::deallocate(std::exchange(block_, nullptr));
    bytes_ = 0;
  }

 private:
  void* block_ = nullptr;
  std::size_t bytes_ = 0;
};

template <typename Pool>
class OfBlocks : public Kind {
 public:
  OfBlocks() { blocks_.reserve(1 << 16); }
  bool allocate() override {
    try {
      void* const block = pool_.allocate();
      if (block == nullptr) return false;
      blocks_.push_back(block);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  void free_all() override {
    for (void* block : blocks_) pool_.deallocate(block);
    blocks_.clear();
    pool_.release_unused();
  }

 private:
  Pool pool_{FixedPoolOptions{.block_bytes = 2000}};
  std::vector<void*> blocks_;
};

class Objects : public Kind {
 public:
  Objects() { objects_.reserve(1 << 16); }
  bool allocate() override {
    try {
      objects_.push_back(pool_.create());
    } catch (const std::bad_alloc&) {
      return false;
    }
    return objects_.back() != nullptr;
  }
  void free_all() override {
    for (Object* object : objects_)
      if (object != nullptr) pool_.destroy(object);
    objects_.clear();
    pool_.release_unused();
  }

 private:
  ObjectPool<Object> pool_;
  std::vector<Object*> objects_;
};

class Handles : public Kind {
 public:
  Handles() { handles_.reserve(1 << 16); }
  bool allocate() override {
    try {
      handles_.push_back(pool_.create());
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  void free_all() override {
    for (const auto& handle : handles_) pool_.destroy(handle);
    handles_.clear();
    pool_.release_unused();
  }

 private:
  HandlePool<Object> pool_;
  std::vector<Handle<Object>> handles_;
};

class OfHeap : public Kind {
 public:
  explicit OfHeap(std::size_t size) : size_(size) {}
  bool allocate() override {
    try {
      return heap_.allocate(size_) != nullptr;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  void free_all() override {
    heap_.clear();
    heap_.release_unused();
  }

 private:
  const std::size_t size_;
  Heap heap_;
};

class OfArena : public Kind {
 public:
  bool allocate() override {
    try {
      return arena_.allocate(30'000) != nullptr;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  void free_all() override {
    arena_.reset();
    arena_.release_unused();
    tarn::trim(0);
  }

 private:
  Arena arena_;
};

class Buffers : public Kind {
 public:
  Buffers() { blocks_.reserve(1 << 16); }
  bool allocate() override {
    try {
      void* const block = pool_.allocate(1500);
      if (block == nullptr) return false;
      blocks_.push_back(block);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
  void free_all() override {
    for (void* block : blocks_) pool_.deallocate(block);
    blocks_.clear();
    pool_.release_unused();
  }

 private:
  BufferPool pool_;
  std::vector<void*> blocks_;
};

struct NamedKind {
  const char* name;
  std::function<std::unique_ptr<Kind>()> make;
};

template <typename T, typename... Arguments>
NamedKind named(const char* name, Arguments... arguments) {
  return {name, [=] { return std::make_unique<T>(arguments...); }};
}

std::ostream& operator<<(std::ostream& out, const NamedKind& kind) { return out << kind.name; }

class HardLimit : public testing::TestWithParam<NamedKind> {
 protected:
  HardLimit() {
    tarn::trim(0);
    tarn::set_limit_callback(
        [](const tarn_limit_event* event, void* context) {
          static_cast<HardLimit*>(context)->refusals_told_ += event->kind == TARN_HARD_LIMIT_REFUSED;
        },
        this);
  }
  ~HardLimit() override {
    tarn::set_memory_limits({});
    tarn::set_limit_callback(nullptr);
    validate_library();
  }
  std::size_t fill(Kind& kind) {
    std::size_t count = 0;
    for (; kind.allocate(); ++count)
      if (count > (1 << 19)) ADD_FAILURE() << "no limit";
    return count;
  }
  int refusals_told_ = 0;
};

TEST_P(HardLimit, RefusesEveryKindAndServesItAgainAfterFrees) {
  const std::unique_ptr<Kind> kind = GetParam().make();
  tarn::set_memory_limits({.soft = 0, .hard = tarn::held_bytes() + kRoom});
  const tarn::Statistics before = tarn::stats();
  std::size_t counts[3];
  for (std::size_t& count : counts) {
    count = fill(*kind);
    // Not each refusal searches for memory: the one that does may serve a few more.
    EXPECT_LE(fill(*kind), count / 4 + 1);
    EXPECT_LE(tarn::held_bytes(), tarn::memory_limits().hard + kSlack);
    EXPECT_GT(tarn::stats().live_bytes, before.live_bytes + kRoom / 3);
    validate_library();
    kind->free_all();
  }
  EXPECT_GE(counts[2], counts[0] * 3 / 4);
  EXPECT_GT(tarn::stats().hard_limit_refusals, before.hard_limit_refusals);
  // Between tests that follow within a second, none is told.
  tarn::set_memory_limits({});
  EXPECT_TRUE(kind->allocate());
  kind->free_all();
}

TEST_P(HardLimit, HoldsWhileTheSystemRefusesCalls) {
  for (unsigned failing = 0; failing < 12; ++failing) {
    const std::unique_ptr<Kind> kind = GetParam().make();
    tarn::set_memory_limits({.soft = tarn::held_bytes() + kMiB, .hard = tarn::held_bytes() + 6 * kMiB});
    {
      const FaultInjection faults(FaultInjection::kAllKinds, failing, FaultInjection::Extent::kOne);
      fill(*kind);
      EXPECT_LE(tarn::held_bytes(), tarn::memory_limits().hard + kSlack);
      kind->free_all();
    }
    validate_library();
    EXPECT_TRUE(kind->allocate());
    kind->free_all();
    tarn::set_memory_limits({});
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, HardLimit,
    testing::Values(named<General>("SmallBlocks", 100), named<General>("MediumBlocks", 20'000),
                    named<General>("LargeBlocks", 700'000), named<General>("HugeBlocks", 3 * kMiB),
                    named<General>("AlignedBlocks", 70'000, 256 * 1024), named<Batches>("Batches"),
                    named<Growing>("GrowingBlock"), named<OfBlocks<FixedPool>>("FixedPool"),
                    named<OfBlocks<SharedFixedPool>>("SharedFixedPool"), named<Objects>("ObjectPool"),
                    named<Handles>("HandlePool"), named<OfHeap>("Heap", 5000),
                    named<OfHeap>("HeapOfLargeBlocks", 500'000), named<OfArena>("Arena"),
                    named<Buffers>("BufferPool")),
    [](const auto& kind) { return std::string(kind.param.name); });

TEST_F(HardLimit, IsToldToTheProgram) {
  tarn::set_memory_limits({.soft = 0, .hard = tarn::held_bytes() + kMiB});
  SharedFixedPool pool({.block_bytes = 2000, .at_cap = AtCap::kReturnNull});
  std::vector<void*> blocks;
  while (void* const block = pool.allocate()) blocks.push_back(block);
  EXPECT_EQ(refusals_told_, 1);
  for (void* block : blocks) pool.deallocate(block);
}

TEST_F(HardLimit, WhatNeverFitsCostsNoFreeMemory) {
  tarn::set_memory_limits({.soft = 0, .hard = tarn::held_bytes() + 16 * kMiB});
  EXPECT_GE(tarn::prewarm(8 * kMiB), 8 * kMiB);
  const std::size_t held = tarn::held_bytes();
  EXPECT_EQ(tarn::allocate(std::size_t{1} << 40), nullptr);
  EXPECT_GE(tarn::held_bytes(), held);
  tarn::trim(0);
}

TEST_F(HardLimit, ARefusalThatAnotherWayMadeGoodIsNotTheNextRequests) {
  Heap capped({.hard_limit = 100'000});
  tarn::set_memory_limits({.soft = 0, .hard = tarn::held_bytes() + 2 * kMiB});
  EXPECT_FALSE(internal::memory_limit.charge_pages(8 * kMiB, 8 * kMiB));
  const tarn::Statistics before = tarn::stats();
  EXPECT_EQ(capped.allocate(200'000), nullptr);
  EXPECT_EQ(tarn::stats().hard_limit_refusals, before.hard_limit_refusals);
  EXPECT_EQ(refusals_told_, 0);
}

TEST_F(HardLimit, PrewarmMakesWhatFitsAndOfMoreNothing) {
  tarn::set_memory_limits({.soft = 0, .hard = tarn::held_bytes() + 9 * kMiB});
  const std::size_t held = tarn::held_bytes();
  EXPECT_EQ(tarn::prewarm(20 * kMiB), 0u);
  EXPECT_EQ(tarn::held_bytes(), held);
  EXPECT_GE(tarn::prewarm(6 * kMiB), 6 * kMiB);
  void* const block = tarn::allocate(5 * kMiB);  // from what was made
  EXPECT_NE(block, nullptr);
  tarn::deallocate(block);
  tarn::trim(0);
}

}  // namespace
}  // namespace tarn::test
