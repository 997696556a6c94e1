#include "os/memory/own_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "base/units.h"
#include "os/process/process.h"

namespace tarn::internal::os {
namespace {

class Mapped {
 public:
  explicit Mapped(std::size_t pages)
      : bytes_(pages * page_bytes()),
        start_(static_cast<char*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    madvise(start_, bytes_, MADV_NOHUGEPAGE);
  }
  ~Mapped() { munmap(start_, bytes_); }
  char* page(std::size_t i) const { return start_ + i * page_bytes(); }
  AddressRange pages(std::size_t first, std::size_t end) const {
    return {address_of(page(first)), address_of(page(end))};
  }

 private:
  std::size_t bytes_;
  char* start_;
};

TEST(OwnMemory, IsCopiedRangeByRange) {
  const OwnMemory memory;
  ASSERT_TRUE(memory.can_read());
  const char first[] = "first", second[] = "second";
  const AddressRange ranges[] = {{address_of(first), address_of(first) + 5},
                                 {address_of(second), address_of(second) + 6}};
  char copy[12] = {};
  EXPECT_EQ(memory.read(ranges, 2, copy), 11u);
  EXPECT_STREQ(copy, "firstsecond");
}

TEST(OwnMemory, IsReadUpToAPageThatIsClosed) {
  const Mapped mapped(3);
  std::memset(mapped.page(0), 7, page_bytes());
  mprotect(mapped.page(1), page_bytes(), PROT_NONE);
  const OwnMemory memory;
  std::vector<char> copy(3 * page_bytes());
  const AddressRange all = mapped.pages(0, 3), closed = mapped.pages(1, 2);
  EXPECT_EQ(memory.read(&all, 1, copy.data()), page_bytes());
  EXPECT_EQ(copy[0], 7);
  EXPECT_EQ(memory.read(&closed, 1, copy.data()), 0u);
}

TEST(OwnMemory, TellsWhichPagesWereWritten) {
  const Mapped mapped(2000);
  for (const std::size_t page : {3, 4, 1500}) *mapped.page(page) = 1;
  const OwnMemory memory;
  AddressRange run = memory.next_written(mapped.pages(0, 2000));
  EXPECT_EQ(run.start, address_of(mapped.page(3)));
  EXPECT_EQ(run.end, address_of(mapped.page(5)));
  run = memory.next_written(mapped.pages(5, 2000));
  EXPECT_EQ(run.start, address_of(mapped.page(1500)));
  EXPECT_EQ(run.end, address_of(mapped.page(1501)));
  run = memory.next_written(mapped.pages(1501, 2000));
  EXPECT_EQ(run.start, run.end);
  EXPECT_EQ(run.end, address_of(mapped.page(2000)));
}

TEST(OwnMemory, ARunOfWrittenPagesBeginsAndEndsWithTheRange) {
  const Mapped mapped(2);
  std::memset(mapped.page(0), 1, 2 * page_bytes());
  const AddressRange within{address_of(mapped.page(0)) + 64, address_of(mapped.page(1)) + 128};
  const AddressRange run = OwnMemory().next_written(within);
  EXPECT_EQ(run.start, within.start);
  EXPECT_EQ(run.end, within.end);
}

// A thread that waits has its pointers in registers alone.
TEST(WordsOfWaitingThreads, HaveTheArgumentsOfTheirCalls) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  static char place;
  std::thread waiting([&] { static_cast<void>(read(ends[0], &place, 1)); });
  bool is_found = false;
  while (!is_found) {  // until the thread is in its call
    visit_words_of_waiting_threads(
        [](std::uintptr_t word, void* found) {
          if (word == address_of(&place)) *static_cast<bool*>(found) = true;
        },
        &is_found);
    std::this_thread::yield();
  }
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  waiting.join();
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace tarn::internal::os
