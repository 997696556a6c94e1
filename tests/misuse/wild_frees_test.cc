// Frees of addresses of every kind, one after the other in one process that goes on after each: each must be
// said, and the allocator be whole in the end.
#include <sys/mman.h>

#include "os/fatal.h"
#include "os/memory/own_memory.h"
#include "support/child.h"
#include "support/invariants.h"
#include "support/prelude.h"
#include "support/seed.h"
#include "tarn/memory_pool.h"

namespace tarn::test {
namespace {

constexpr std::size_t kLargest = 700'000;

class WildFrees {
 public:
  WildFrees() {
    for (std::size_t i = 0; i < 3'000; ++i) {
      const std::size_t size = i % 100 == 0 ? random_.next() % kLargest : random_.next() % 5'000;
      auto* const block = static_cast<unsigned char*>(allocate(size));
      std::memset(block, static_cast<int>(i), size);
      blocks_.emplace(block, Live{size, static_cast<unsigned char>(i)});
    }
    for (std::size_t i = 0; i < 500; ++i) deallocate(allocate(random_.next() % 5'000));
  }

  void free_wild_ones() {
    for (const auto& [block, live] : blocks_)
      if (random_.next() % 20 == 0) free_about(address_of(block));
    internal::os::for_each_mapping([&](const internal::os::Mapping& mapping) {
      for (const std::uintptr_t address :
           {mapping.range.start, mapping.range.end - 16, (mapping.range.start + mapping.range.end) / 32 * 16})
        free_about(address);
    });
    for (unsigned i = 0; i < 5'000; ++i) {
      free_one(random_.next());
      free_one(random_.next() & 0x7fff'ffff'fff0);
    }
  }

  std::size_t count() const { return count_; }

  bool are_blocks_whole() const {
    for (const auto& [block, live] : blocks_)
      for (std::size_t i = 0; i < live.size; ++i)
        if (block[i] != live.content) return false;
    return true;
  }
  void free_all() {
    for (const auto& [block, live] : blocks_) deallocate(block);
  }

 private:
  struct Live {
    std::size_t size;
    unsigned char content;
  };

  static std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

  void free_about(std::uintptr_t address) {
    for (unsigned bit = 0; bit < 64; ++bit) free_one(address ^ std::uintptr_t{1} << bit);
    for (const std::uintptr_t tag : {0x0100ull, 0xff00ull, 0x00ffull, 0xfedcull})
      free_one(address | tag << 48);
    free_one(address ^ std::uintptr_t{1} << (random_.next() % 48) ^
             std::uintptr_t{1} << (random_.next() % 48));
  }
  void free_one(std::uintptr_t address) {
    auto* const pointer = reinterpret_cast<unsigned char*>(address);
    if (address == 0 || blocks_.contains(pointer)) return;
    ++count_;
    deallocate(pointer);
  }

  Random random_{fresh_seed()};
  std::map<unsigned char*, Live> blocks_;
  std::size_t count_ = 0;
};

TEST(WildFrees, AreSaidAndLeaveTheAllocatorWhole) {
  const ChildResult result = run_in_child([] {
    WildFrees frees;
    internal::os::at_misuse = internal::os::AtMisuse::kReport;  // after the options
    frees.free_wild_ones();
    validate_library();
    if (!frees.are_blocks_whole()) return 1;
    frees.free_all();
    validate_library();
    const std::string count = std::to_string(frees.count());
    return write(1, count.data(), count.size()) > 0 ? 0 : 1;
  });
  ASSERT_EQ(result.exit_status, 0) << result.describe();
  std::size_t lines = 0;
  for (std::size_t at = 0; (at = result.error.find("tarn: ", at)) != std::string::npos; ++at) ++lines;
  const std::size_t frees = std::stoul(result.output);
  EXPECT_GT(frees, 20'000u);
  EXPECT_EQ(lines, frees);
}

}  // namespace
}  // namespace tarn::test
