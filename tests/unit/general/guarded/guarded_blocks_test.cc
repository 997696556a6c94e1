// Slots of guarded blocks, and what a misuse of one says.
#include "general/guarded/guarded_blocks.h"

#include <csignal>

#include "os/memory/memory.h"
#include "support/child.h"
#include "support/prelude.h"
#include "support/sanitizer.h"
#include "tarn/memory_pool.h"
#include "thread/observation/observation.h"

namespace tarn::internal {
namespace {

using test::ChildResult;

char* make(std::size_t size) { return static_cast<char*>(guarded_blocks.allocate(size, true)); }

bool ends_with_line(const ChildResult& result, const std::string& start) {
  return result.error.rfind("tarn: " + start, 0) == 0;
}

TEST(GuardedBlocks, EndWhereAPageFaults) {
  for (const std::size_t size : {0, 1, 15, 16, 100, 4096, 5000, 32 * 1024}) {
    char* const block = make(size);
    ASSERT_NE(block, nullptr) << size;
    EXPECT_TRUE(guarded_blocks.owns(block));
    EXPECT_EQ(address_of(block) % 16, 0u);
    EXPECT_EQ(guarded_blocks.usable_bytes(block), size == 0 ? 1 : size);
    std::memset(block, 1, size);
    const std::size_t to_page = (size + 15) / 16 * 16;
    EXPECT_TRUE(test::faults(block + (size == 0 ? 16 : to_page)));
    guarded_blocks.deallocate(block);
    EXPECT_TRUE(test::faults(block));
  }
  EXPECT_EQ(make(32 * 1024 + 1), nullptr);
  EXPECT_EQ(guarded_blocks.live(), 0u);
}

TEST(GuardedBlocks, AreZeroWhenASlotIsUsedAgain) {
  std::set<char*> seen;
  bool is_reused = false;
  for (std::uint32_t i = 0; i < GuardedBlocks::kMostSlots + 8; ++i) {
    char* const block = make(64);
    ASSERT_NE(block, nullptr);
    is_reused |= !seen.insert(block).second;
    EXPECT_EQ(is_reused, i >= GuardedBlocks::kMostSlots) << "a slot was used before all others had been";
    for (int at = 0; at < 64; ++at) ASSERT_EQ(block[at], 0);
    std::memset(block, 7, 64);
    guarded_blocks.deallocate(block);
  }
}

[[gnu::noinline]] void* make_at_one_place() {
  void* const block = guarded_blocks.allocate(64, false);
  asm volatile("");
  return block;
}

TEST(GuardedBlocks, OfOnePlaceHaveAFewSlots) {
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i)
    if (void* const block = make_at_one_place()) blocks.push_back(block);
  EXPECT_GE(blocks.size(), 2u);
  EXPECT_LT(blocks.size(), 50u);
  void* const other = guarded_blocks.allocate(64, false);
  EXPECT_NE(other, nullptr);
  guarded_blocks.deallocate(other);
  for (void* block : blocks) guarded_blocks.deallocate(block);
}

TEST(GuardedBlocks, SayWhatAFreeFinds) {
  const std::pair<const char*, void (*)(char*)> misuses[] = {
      {"double free: 0x",
       [](char* block) { guarded_blocks.deallocate(block), guarded_blocks.deallocate(block); }},
      {"free of a pointer into a block: 0x", [](char* block) { guarded_blocks.deallocate(block + 16); }},
      {"write past the end of a block: 0x",
       [](char* block) { block[100] = 1, guarded_blocks.deallocate(block); }},
      {"write before the start of a block: 0x",
       [](char* block) { block[-1] = 1, guarded_blocks.deallocate(block); }},
      {"free of a pointer that is no block: 0x",
       [](char* block) { guarded_blocks.deallocate(block + 512 * 1024); }},
  };
  for (const auto& [line, misuse] : misuses) {
    const ChildResult result = test::run_in_child([misuse = misuse] {
      char* const block = make(100);
      asm volatile("" ::: "memory");
      misuse(block);
      return 0;
    });
    EXPECT_EQ(result.signal, SIGABRT) << line;
    EXPECT_TRUE(ends_with_line(result, line)) << line << result.describe();
  }
}

class GuardFaults : public testing::Test {
 protected:
  void SetUp() override {
    if (test::kSanitizer) GTEST_SKIP() << "sanitizers have a handler of SIGSEGV";
  }
};

TEST_F(GuardFaults, SayWhatAFaultWas) {
  const std::pair<const char*, void (*)(volatile char*)> misuses[] = {
      {"write past the end, at byte 112 of a block of 100 bytes: 0x",
       [](volatile char* block) { block[112] = 1; }},
      {"read past the end, at byte 200 of a block of 100 bytes: 0x",
       [](volatile char* block) { static_cast<void>(block[200]); }},
      {"write before the start, 4,500 bytes before a block of 100 bytes: 0x",
       [](volatile char* block) { block[-4500] = 1; }},
      {"read after free, at byte 8 of a block of 100 bytes: 0x",
       [](volatile char* block) {
         guarded_blocks.deallocate(const_cast<char*>(block));
         static_cast<void>(block[8]);
       }},
  };
  for (const auto& [line, misuse] : misuses) {
    const ChildResult result = test::run_in_child([misuse = misuse] {
      misuse(make(100));
      return 0;
    });
    EXPECT_EQ(result.signal, SIGSEGV) << line;
    EXPECT_TRUE(ends_with_line(result, line)) << line << result.describe();
    EXPECT_NE(result.error.find("  allocated by thread "), std::string::npos);
    const bool was_freed = std::string(line).find("after free") != std::string::npos;
    EXPECT_EQ(result.error.find("  freed by thread ") != std::string::npos, was_freed) << result.error;
  }
}

void say_and_leave(int) {
  static_cast<void>(!write(1, "own\n", 4));
  _exit(7);
}

TEST_F(GuardFaults, HandTheSignalOnToTheProgramsHandler) {
  for (const bool sets_first : {true, false}) {
    const ChildResult result = test::run_in_child([sets_first] {
      if (sets_first) std::signal(SIGSEGV, say_and_leave);
      char* const block = make(100);
      if (!sets_first) std::signal(SIGSEGV, say_and_leave);
      make(1);  // in front again
      static_cast<volatile char*>(block)[112] = 1;
      return 0;
    });
    EXPECT_EQ(result.exit_status, 7) << result.describe();
    EXPECT_EQ(result.output, "own\n");
    EXPECT_TRUE(ends_with_line(result, "write past the end")) << result.describe();
  }
}

struct sigaction before_own;

// As crash reporters do: they hand on to the action that was there before, which may be the library's.
TEST_F(GuardFaults, AHandlerThatHandsBackEndsTheProcess) {
  const ChildResult result = test::run_in_child([] {
    make(1);
    struct sigaction own {};
    own.sa_flags = SA_SIGINFO;
    own.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
      static_cast<void>(!write(1, "own\n", 4));
      before_own.sa_sigaction(signal, info, context);
    };
    sigaction(SIGSEGV, &own, &before_own);
    make(1);
    *static_cast<volatile char*>(nullptr) = 1;
    return 0;
  });
  EXPECT_EQ(result.signal, SIGSEGV) << result.describe();
  EXPECT_EQ(result.error, "");
}

TEST_F(GuardFaults, ASignalThatIsSentEndsTheProcess) {
  const ChildResult result = test::run_in_child([] {
    make(1);
    kill(getpid(), SIGSEGV);
    sleep(5);
    return 0;
  });
  EXPECT_EQ(result.signal, SIGSEGV) << result.describe();
}

TEST(GuardedBlocks, AreWhatTheGeneralPoolHandsOutWhenTheyAreDue) {
  observation.guard(1);
  static_cast<void>(allocate(1));  // notices
  auto* const block = static_cast<char*>(allocate(100));
  EXPECT_TRUE(guarded_blocks.owns(block));
  EXPECT_EQ(usable_size(block), 100u);
  std::memset(block, 3, 100);
  auto* const larger = static_cast<char*>(reallocate(block, 200));
  ASSERT_NE(larger, nullptr);
  EXPECT_EQ(larger[99], 3);
  observation.guard(0);
  auto* const plain = static_cast<char*>(allocate(100));
  EXPECT_FALSE(guarded_blocks.owns(plain));
  deallocate(plain);
  deallocate(larger);  // also when none are guarded any more
  EXPECT_TRUE(test::faults(larger));
}

}  // namespace
}  // namespace tarn::internal
