// Attacks on a program's memory, each in a process of its own, with the hardened library in malloc's place.
// Each must end the process by a line of the library's or by a fault at the guilty access, or must have been
// in vain. Nothing is allocated between a free and what follows it, but by the attack.
#include <dlfcn.h>
#include <malloc.h>

#include <array>
#include <atomic>

#include "support/child.h"
#include "support/prelude.h"
#include "support/sizes.h"

namespace tarn::test {
namespace {

// What the attack itself found, where the process goes on.
enum Outcome : int { kUnnoticed = 42, kInVain = 41 };

constexpr std::size_t kSizes[] = {1,    8,    24,     40,      100,     250,      512,
                                  1000, 4000, 20'000, 100'000, 400'000, 3'000'000};

/// The thread that does the second half of an attack: started before the first one.
class Accomplice {
 public:
  explicit Accomplice(bool is_thread) {
    if (is_thread) thread_ = std::thread([this] { wait_and_run(); });
  }
  ~Accomplice() {
    state_ = State::kEnds;
    if (thread_.joinable()) thread_.join();
  }
  Accomplice(const Accomplice&) = delete;
  Accomplice& operator=(const Accomplice&) = delete;

  template <typename Work>
  void run(const Work& work) {
    if (!thread_.joinable()) return work();
    work_ = [](const void* its) { (*static_cast<const Work*>(its))(); };
    argument_ = &work;
    state_ = State::kRuns;
    while (state_ == State::kRuns) std::this_thread::yield();
  }

 private:
  enum class State { kWaits, kRuns, kEnds };

  void wait_and_run() {
    for (;;) {
      if (state_ == State::kEnds) return;
      if (state_ == State::kRuns) work_(argument_), state_ = State::kWaits;
      std::this_thread::yield();
    }
  }

  std::atomic<State> state_{State::kWaits};
  void (*work_)(const void*) = nullptr;
  const void* argument_ = nullptr;
  std::thread thread_;
};

/// Hides a pointer from the compiler, which would see through the misuse.
template <typename Pointer>
Pointer opaque(Pointer pointer) {
  asm volatile("" : "+r"(pointer));
  return pointer;
}
char* allocate(std::size_t bytes) { return static_cast<char*>(opaque(std::malloc(bytes))); }
void release(void* block) { std::free(opaque(block)); }
void flip(char* at) {
  *static_cast<volatile char*>(at) = static_cast<char>(*static_cast<volatile char*>(at) ^ 0x41);
}

/// Where the test asks for it. \why in the child: the test's own blocks would have all slots.
void guard_all_blocks() {
  using SetOption = int (*)(const char* key, const char* value);
  if (std::getenv("TARN_TEST_GUARDS") == nullptr) return;
  const auto set_option = reinterpret_cast<SetOption>(dlsym(RTLD_DEFAULT, "tarn_set_option"));
  if (set_option == nullptr || set_option("guard", "1") != 0) std::exit(kUnnoticed);
}

struct Case {
  std::size_t bytes;
  bool by_thread;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const std::size_t bytes : kSizes)
    for (const bool by_thread : {false, true}) cases.push_back({bytes, by_thread});
  return cases;
}

class Attack : public ::testing::TestWithParam<Case> {
 protected:
  static std::size_t bytes() { return GetParam().bytes; }

  /// Runs an attack; `attack(accomplice)` tells its outcome, if it lives to.
  template <typename Work>
  static void expect_defeat(const char* what, const Work& attack) {
    const ChildResult result = run_in_child([&] {
      guard_all_blocks();
      Accomplice accomplice(GetParam().by_thread);
      // By exit: what nobody came across is found there.
      std::exit(attack(accomplice));
      return 0;
    });
    const bool has_stopped =
        (result.signal == SIGABRT || result.signal == SIGSEGV) && result.error.starts_with("tarn: ");
    const bool has_faulted = result.signal == SIGSEGV && bytes() > 256 * kKiB;
    EXPECT_TRUE(has_stopped || has_faulted || result.exit_status == kInVain)
        << what << ", " << bytes() << " bytes: " << result.describe();
  }
};

TEST_P(Attack, ASecondFreeAfterOthers) {
  for (const unsigned between : {0u, 1u, 2u, 10u, 300u}) {
    if (bytes() > 20'000 && between > 10) continue;
    expect_defeat("double free", [between](Accomplice& accomplice) {
      std::array<void*, 300> others{};
      char* const block = allocate(bytes());
      for (unsigned i = 0; i < between; ++i) others[i] = allocate(bytes());
      release(block);
      for (unsigned i = 0; i < between; ++i) release(others[i]);
      accomplice.run([&] { release(block); });
      return kUnnoticed;
    });
  }
}

TEST_P(Attack, AFreeInsideOfABlock) {
  for (const std::size_t offset : {std::size_t{8}, std::size_t{16}, bytes() / 2 / 16 * 16}) {
    if (offset == 0 || offset >= bytes()) continue;
    expect_defeat("pointer into a block", [offset](Accomplice& accomplice) {
      char* const block = allocate(bytes());
      accomplice.run([&] { release(block + offset); });
      return kUnnoticed;
    });
  }
}

TEST_P(Attack, AWriteBehindABlock) {
  for (const std::size_t behind : {0, 7})
    for (const bool is_freed : {true, false})
      expect_defeat("overflow", [behind, is_freed](Accomplice& accomplice) {
        char* const block = allocate(bytes());
        accomplice.run([&] { flip(block + malloc_usable_size(block) + behind); });
        if (is_freed) release(block);
        return kUnnoticed;
      });
}

TEST_P(Attack, AWriteIntoAFreedBlock) {
  for (const std::size_t at : {std::size_t{0}, bytes() / 2, bytes() - 1})
    expect_defeat("write after free", [at](Accomplice& accomplice) {
      char* const block = allocate(bytes());
      release(block);
      accomplice.run([&] { flip(block + at); });
      return kUnnoticed;
    });
}

TEST_P(Attack, ALookIntoAFreedBlock) {
  expect_defeat("read after free", [](Accomplice& accomplice) {
    char* const block = allocate(bytes());
    std::memset(block, 0x5a, bytes());
    release(block);
    bool has_seen = false;
    accomplice.run([&] {
      for (std::size_t i = 0; i < bytes(); ++i) has_seen |= static_cast<volatile char*>(block)[i] == 0x5a;
    });
    return has_seen ? kUnnoticed : kInVain;
  });
}

TEST_P(Attack, ABlockThatOthersHaveWritten) {
  expect_defeat("old contents", [](Accomplice& accomplice) {
    bool has_seen = false;
    for (unsigned round = 0; round < 20; ++round) {
      std::array<char*, 20> blocks{};
      for (char*& block : blocks) {
        block = allocate(bytes());
        for (std::size_t i = 0; i < bytes(); ++i) has_seen |= block[i] == 0x5a;
        std::memset(block, 0x5a, bytes());
      }
      accomplice.run([&] {
        for (char* const block : blocks) release(block);
      });
    }
    return has_seen ? kUnnoticed : kInVain;
  });
}

TEST_P(Attack, TheBlockThatWasJustFreed) {
  expect_defeat("reuse at once", [](Accomplice& accomplice) {
    char* const block = allocate(bytes());
    release(block);
    char* again = nullptr;
    accomplice.run([&] { again = allocate(bytes()); });
    return again == block ? kUnnoticed : kInVain;
  });
}

TEST_P(Attack, AReallocOfAFreedBlock) {
  expect_defeat("realloc", [](Accomplice& accomplice) {
    char* const block = allocate(bytes());
    release(block);
    accomplice.run([&] { opaque(std::realloc(opaque(block), bytes() + 1)); });
    return kUnnoticed;
  });
}

std::string name_of(const ::testing::TestParamInfo<Case>& test) {
  return std::to_string(test.param.bytes) + (test.param.by_thread ? "_by_a_thread" : "");
}
INSTANTIATE_TEST_SUITE_P(OfBlocks, Attack, ::testing::ValuesIn(all_cases()), name_of);

TEST(WildFrees, AreSeenAtThatCall) {
  char on_stack[64];
  std::vector<void*> wild = {on_stack, reinterpret_cast<void*>(&std::malloc)};
  const std::uintptr_t block = reinterpret_cast<std::uintptr_t>(allocate(64));
  // Bit 16 to 20 may lead to another live block.
  for (unsigned bit = 3; bit < 64; ++bit)
    if (bit < 6 || bit > 24) wild.push_back(reinterpret_cast<void*>(block ^ std::uintptr_t{1} << bit));
  std::uint64_t random = 1;
  for (unsigned i = 0; i < 60; ++i) {
    random *= 0x9e3779b97f4a7c15;
    wild.push_back(reinterpret_cast<void*>(i % 2 == 0 ? random & ~15ull : random & 0x7fff'ffff'fff0ull));
  }
  for (void* const address : wild) {
    const ChildResult result = run_in_child([address] { return release(address), 0; });
    EXPECT_TRUE(result.signal == SIGABRT && result.error.starts_with("tarn: "))
        << address << ": " << result.describe();
  }
}

}  // namespace
}  // namespace tarn::test
