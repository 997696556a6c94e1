// What follows the line about a misuse, by the option at_misuse; the program's memory is the library's.
#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include <csignal>

#include "support/child.h"
#include "support/prelude.h"

namespace tarn::test {
namespace {

// The last line that libc would show.
std::string abort_message() {
  struct Message {
    unsigned bytes;
    char text[];
  };
  auto* const place = static_cast<Message**>(dlsym(RTLD_DEFAULT, "__abort_msg"));
  return place == nullptr || *place == nullptr ? "" : (*place)->text;
}

void say(const std::string& text) { static_cast<void>(!write(1, text.data(), text.size())); }

void free_what_is_no_block() {
  char variable = 0;
  void* block = &variable;
  asm volatile("" : "+r"(block));
  std::free(block);
}

TEST(AtMisuseHandler, RunsTheProgramsAndFindsTheLineInLibcAndInTheMap) {
  const ChildResult result = run_in_child([] {
    std::signal(SIGABRT, [](int) {
      say("handler: " + abort_message());
      std::ifstream maps("/proc/self/maps");
      for (std::string line; std::getline(maps, line);)
        if (line.find("memfd:tarn") != std::string::npos) say(line + "\n");
    });
    free_what_is_no_block();
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT) << result.describe();
  EXPECT_NE(result.output.find("handler: tarn: free of a pointer that is no block: 0x"), std::string::npos)
      << result.describe();
  EXPECT_NE(result.output.find("/memfd:tarn: free of a pointer that is no block: 0x"), std::string::npos)
      << result.describe();
}

TEST(AtMisuseHandler, IsNotCalledForAMisuseOfItsOwn) {
  const ChildResult result = run_in_child([] {
    std::signal(SIGABRT, [](int) {
      say("handler\n");
      free_what_is_no_block();
    });
    free_what_is_no_block();
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_EQ(result.output, "handler\n");
}

TEST(AtMisuseStop, RunsNoHandler) {
  const ChildResult result = run_in_child([] {
    std::signal(SIGABRT, [](int) { say("handler\n"); });
    free_what_is_no_block();
    return 0;
  });
  EXPECT_EQ(result.signal, SIGABRT);
  EXPECT_EQ(result.output, "");
}

class AtMisuseReport : public ::testing::Test {
 protected:
  template <typename Work>
  static void expect_lines(const char* line, const Work& work, std::size_t least = 3) {
    const ChildResult result = run_in_child([&] {
      for (unsigned i = 0; i < 3; ++i) work();
      // The allocator is whole: what is handed out does not overlap.
      std::set<void*> blocks;
      for (unsigned i = 0; i < 10'000; ++i)
        if (!blocks.insert(std::malloc(100)).second) return 1;
      std::exit(0);
      return 0;
    });
    EXPECT_EQ(result.exit_status, 0) << result.describe();
    std::size_t lines = 0;
    for (std::size_t at = 0; (at = result.error.find(line, at)) != std::string::npos; ++at) ++lines;
    EXPECT_GE(lines, least) << result.describe();
    EXPECT_LE(lines, 3u) << result.describe();
  }
};

TEST_F(AtMisuseReport, GoesOnAfterAFreeOfWhatIsNoBlock) {
  expect_lines("tarn: free of a pointer that is no block: 0x", free_what_is_no_block);
}

TEST_F(AtMisuseReport, GoesOnAfterAFreeInsideOfALargeBlock) {
  expect_lines("tarn: free of a pointer into a block: 0x", [] {
    char* block = static_cast<char*>(std::malloc(1'000'000));
    block += 4096;
    asm volatile("" : "+r"(block));
    std::free(block);
  });
}

class AtMisuseReportHardened : public AtMisuseReport {};

TEST_F(AtMisuseReportHardened, GoesOnAfterASecondFree) {
  expect_lines("tarn: double free: 0x", [] {
    void* block = std::malloc(100);
    std::free(block);
    asm volatile("" : "+r"(block));
    std::free(block);
  });
}

TEST_F(AtMisuseReportHardened, GoesOnAfterAWritePastALiveBlock) {
  expect_lines("tarn: write past the end of a block: 0x", [] {
    char* block = static_cast<char*>(std::malloc(100));
    asm volatile("" : "+r"(block));
    block[malloc_usable_size(block)] ^= 1;
    std::free(block);
  });
}

TEST_F(AtMisuseReportHardened, StopsAtAReallocOfAFreedBlock) {
  const ChildResult result = run_in_child([] {
    void* block = std::malloc(100);
    std::free(block);
    asm volatile("" : "+r"(block));
    block = std::realloc(block, 101);
    return block == nullptr ? 1 : 0;
  });
  EXPECT_EQ(result.signal, SIGABRT) << result.describe();
}

TEST_F(AtMisuseReportHardened, GoesOnAfterAWriteIntoAFreedBlock) {
  expect_lines(
      "tarn: write into a freed block",
      [] {
        char* const block = static_cast<char*>(std::malloc(3000));
        std::free(block);
        static_cast<volatile char*>(block)[5] = 1;
        std::vector<void*> others;
        for (unsigned i = 0; i < 100; ++i) {
          auto* const other = static_cast<char*>(std::calloc(1, 3000));
          for (unsigned at = 0; at < 2990; ++at)
            if (other[at] != 0) abort();
          others.push_back(other);
        }
        for (void* const other : others) std::free(other);
      },
      1);  // of what still waits nothing is said
}

}  // namespace
}  // namespace tarn::test
