// Two owners of slabs without the threads, for the tests of central/.
#pragma once
#include "central/owners.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/return_blocks.h"
#include "central/slabs/slab.h"
#include "central/take_blocks.h"
#include "support/prelude.h"

namespace tarn::internal {

inline constexpr SizeClass kTestClass = class_of_index(10);  // 160 bytes

class OwnerFixture : public ::testing::Test {
 protected:
  OwnerFixture() : owner(begin()), other(begin()) {}
  ~OwnerFixture() override {
    check(owner);
    check(other);
  }

  static SlabOwner& begin() {
    os::LockGuard guard(owners.mutex());
    SlabOwner* const made = owners.make_locked();
    owners.begin_use_locked(*made);
    made->threads.store(1);
    made->kept_limit_bytes = std::size_t{8} << 20;
    return *made;
  }

  /// As when its thread ends.
  static void end(SlabOwner& ended) {
    ended.threads.store(0);
    os::LockGuard guard(owners.mutex());
    owners.end_use_locked(ended);
  }

  static std::vector<void*> take(SlabOwner& from, unsigned count, SizeClass size_class = kTestClass) {
    std::vector<void*> blocks(count);
    ReturnedPages returned;
    os::LockGuard guard(from.mutex);
    for (unsigned taken = 0; taken < count;) {
      const unsigned part =
          take_blocks_locked(from, size_class, blocks.data() + taken, count - taken, returned);
      if (part == 0) ADD_FAILURE() << "no block";
      if (part == 0) break;
      taken += part;
    }
    return blocks;
  }

  static void give_back(SlabOwner& by, const std::vector<void*>& blocks) {
    ReturnedPages returned;
    os::LockGuard guard(by.mutex);
    return_blocks(&by, blocks.data(), static_cast<unsigned>(blocks.size()), returned);
  }

  static Span* slab_of(void* block) {
    BlockIndex index{};
    return slab_of_block(block, &index);
  }

  static void check(SlabOwner& checked) {
    os::LockGuard guard(checked.mutex);
    validate_locked(checked);
  }

  SlabOwner& owner;
  SlabOwner& other;
};

}  // namespace tarn::internal
