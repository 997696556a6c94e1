#include "os/memory/memory.h"

#include <sys/resource.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "base/units.h"
#include "os/memory/own_memory.h"
#include "os/memory/reserves.h"
#include "os/process/process.h"
#include "support/child.h"
#include "support/content.h"
#include "support/prelude.h"

namespace tarn::internal::os {
namespace {

constexpr std::size_t kBytes = 4 * kChunkBytes;

/// The kernel's areas that lie, in part, in a reserve of kBytes or its guards.
std::string areas_around(const void* start) {
  const std::uintptr_t first = address_of(start) - kGuardBytes,
                       end = address_of(start) + kBytes + kGuardBytes;
  std::ifstream maps("/proc/self/maps");
  std::string found, line;
  while (std::getline(maps, line)) {
    std::uintptr_t area_start = 0, area_end = 0;
    std::sscanf(line.c_str(), "%lx-%lx", &area_start, &area_end);
    if (area_start < end && first < area_end) found += line + "\n";
  }
  return found;
}

// ThreadSanitizer is to see that the first thread's last access comes before the second one's first.
TEST(Memory, AddressesThatAThreadHasReleasedServeAnother) {
  std::set<void*> places;
  const auto use_some = [&](std::mutex& mutex) {
    for (int i = 0; i < 2'000; ++i) {
      auto* const number = static_cast<int*>(map(kOsPageBytesLargest));
      ASSERT_NE(number, nullptr);
      EXPECT_EQ(*number, 0);
      *number = 1;
      release(number, kOsPageBytesLargest);
      if (i % 100 != 0) continue;
      std::lock_guard guard(mutex);
      places.insert(number);
    }
  };
  std::mutex mutex;
  std::thread other([&] { use_some(mutex); });
  use_some(mutex);
  other.join();
  EXPECT_LT(places.size(), 40u) << "else no address was used twice";
}

TEST(Memory, ReservedAddressesAreAlignedAndFaultUntilTheyAreCommitted) {
  for (std::size_t alignment = kPageBytes; alignment <= std::size_t{64} << 20; alignment *= 4) {
    char* const start = static_cast<char*>(reserve(kBytes, alignment));
    ASSERT_NE(start, nullptr);
    EXPECT_EQ(address_of(start) % alignment, 0u);
    EXPECT_FALSE(test::run_in_child([&] { return start[kPageBytes] = 0; }).is_success());
    ASSERT_TRUE(commit(start + kPageBytes, kPageBytes));
    EXPECT_TRUE(test::is_zero(start + kPageBytes, kPageBytes));
    std::memset(start + kPageBytes, 1, kPageBytes);
    release(start, kBytes);
  }
}

TEST(Memory, ReadableAddressesReadAsZero) {
  const char* const start = static_cast<const char*>(reserve_readable(kBytes));
  ASSERT_NE(start, nullptr);
  EXPECT_TRUE(test::is_zero(start, kBytes));
  release(const_cast<char*>(start), kBytes);
}

void expect_guards(const char* start) {
  for (const char* const beside :
       {start - 1, start - kGuardBytes, start + kBytes, start + kBytes + kGuardBytes - 1})
    EXPECT_TRUE(test::faults(beside)) << beside - start;
  EXPECT_FALSE(test::faults(start) || test::faults(start + kBytes - 1));
}

TEST(Memory, AGuardLiesOnBothSidesOfEachReserveAndMapHoweverMuchIsCommitted) {
  for (const std::size_t alignment : {std::size_t{1}, kChunkBytes}) {
    char* const start = static_cast<char*>(reserve(kBytes, alignment));
    ASSERT_TRUE(commit(start, kBytes));
    expect_guards(start);
    release(start, kBytes);
  }
  char* const readable = static_cast<char*>(reserve_readable(kBytes));
  expect_guards(readable);
  char* const mapped = static_cast<char*>(map(kBytes));
  expect_guards(mapped);
  release(readable, kBytes);
  release(mapped, kBytes);
}

TEST(Memory, AReleaseTakesTheGuardsAlong) {
  void* const start = reserve(kBytes, kChunkBytes);
  const std::string before = areas_around(start);
  EXPECT_NE(before, "");
  release(start, kBytes);
  EXPECT_EQ(areas_around(start), "");
}

TEST(Memory, ATailIsReleasedButForAGuard) {
  char* const start = static_cast<char*>(reserve(kBytes, kChunkBytes));
  ASSERT_TRUE(commit(start, kChunkBytes));
  EXPECT_EQ(release_tail(start + kChunkBytes), kBytes - kChunkBytes);
  EXPECT_TRUE(test::faults(start + kChunkBytes));
  void* const behind = mmap(start + kChunkBytes + kGuardBytes, kPageBytes, PROT_READ,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  EXPECT_EQ(behind, start + kChunkBytes + kGuardBytes);
  EXPECT_EQ(release_tail(start + kChunkBytes), 0u) << "there is none any more";
  EXPECT_EQ(release_tail(behind), 0u) << "in no reserve";
}

TEST(Memory, PurgedMemoryReadsAsZeroAndIsUsable) {
  char* const start = static_cast<char*>(map(kBytes));
  std::memset(start, 1, kBytes);
  ASSERT_TRUE(purge(start + kPageBytes, kPageBytes));
  EXPECT_TRUE(test::is_zero(start + kPageBytes, kPageBytes));
  EXPECT_EQ(start[kPageBytes - 1], 1);
  EXPECT_EQ(start[2 * kPageBytes], 1);
  std::memset(start + kPageBytes, 2, kPageBytes);
  release(start, kBytes);
}

TEST(Memory, APurgeWithoutEffectIsNoneFromTheFirstOn) {
  set_fault_hook_for_test(
      [](Call call) { return call == Call::kPurge ? Fault::kWithoutEffect : Fault::kNone; });
  char* const start = static_cast<char*>(map(kBytes));
  std::memset(start, 1, kBytes);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(purge(start, kBytes));
  EXPECT_EQ(start[kPageBytes], 1);
  set_fault_hook_for_test(nullptr);
  release(start, kBytes);
}

TEST(Memory, WhatCannotBeLockedIsNotCommitted) {
  const test::ChildResult result = test::run_in_child([] {
    char* const start = static_cast<char*>(reserve(kBytes, kChunkBytes));
    lock_commits(Lock::kNow);
    set_fault_hook_for_test([](Call call) { return call == Call::kLock ? Fault::kRefused : Fault::kNone; });
    if (commit(start, kChunkBytes) || !test::faults(start)) return 1;
    set_fault_hook_for_test(nullptr);
    lock_commits(Lock::kNone);
    return commit(start, kChunkBytes) && test::is_zero(start, kChunkBytes) ? 0 : 2;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST(Memory, TheNextReserveIsTheFirstThatEndsBehindAnAddress) {
  const void* const reserved = reserve(kBytes, kChunkBytes);
  const std::uintptr_t start = address_of(reserved) - kGuardBytes,
                       end = address_of(reserved) + kBytes + kGuardBytes;
  for (const std::uintptr_t address : {start, start + kGuardBytes, end - 1}) {
    EXPECT_EQ(next_reserve(address).start, start);
    EXPECT_EQ(next_reserve(address).end, end);
  }
  EXPECT_NE(next_reserve(end).start, start);
  EXPECT_EQ(next_reserve(SIZE_MAX - 1).start, SIZE_MAX);
}

TEST(Memory, MovedPagesTakeTheirContentsAlongAndLeaveZeros) {
  char* const from = static_cast<char*>(map(kBytes));
  char* const to = static_cast<char*>(map(kBytes));
  test::fill(from, kBytes, 9);
  std::memset(to, 1, kBytes);
  ASSERT_TRUE(move_pages(from, to, kBytes));
  EXPECT_TRUE(test::holds(to, kBytes, 9));
  EXPECT_TRUE(test::is_zero(from, kBytes));
  std::memset(from, 3, kBytes);
  EXPECT_TRUE(test::holds(to, kBytes, 9));
  release(from, kBytes);
  release(to, kBytes);
}

// Kernels to 6.16 unmap the destination before they see that there is nothing to move.
TEST(Memory, ARefusedMoveLeavesTheDestinationUsable) {
  void* const from = map(kBytes);
  void* const to = map(kBytes);
  release(from, kBytes);
  const test::ChildResult result = test::run_in_child([&] {
    if (move_pages(from, to, kBytes)) return 1;
    std::memset(to, 1, kBytes);
    return 0;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST(Memory, WhatCannotBeHadIsNullAndErrnoStaysAsItIs) {
  errno = 77;
  EXPECT_EQ(reserve(std::size_t{1} << 50, kChunkBytes), nullptr);
  EXPECT_EQ(reserve_readable(std::size_t{1} << 50), nullptr);
  EXPECT_EQ(map(std::size_t{1} << 50), nullptr);
  char* const page = reinterpret_cast<char*>(kPageBytes);
  EXPECT_FALSE(commit(page, kPageBytes));
  EXPECT_EQ(errno, 77);
}

TEST(Memory, TheLimitOfTheAddressSpaceIsThatOfTheProcess) {
  EXPECT_EQ(address_space_limit(), SIZE_MAX);
  const test::ChildResult result = test::run_in_child([] {
    const rlimit limit{std::size_t{1} << 40, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    return address_space_limit() == std::size_t{1} << 40 ? 0 : 1;
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

TEST(Memory, CallsFailAsTheHookSays) {
  set_fault_hook_for_test(
      [](Call call) { return call == Call::kMap || call == Call::kPurge ? Fault::kRefused : Fault::kNone; });
  EXPECT_EQ(map(kBytes), nullptr);
  void* const start = reserve(kBytes, kChunkBytes);
  ASSERT_NE(start, nullptr);
  EXPECT_TRUE(commit(start, kBytes));
  EXPECT_FALSE(purge(start, kBytes));
  set_fault_hook_for_test(nullptr);
  EXPECT_TRUE(purge(start, kBytes));
  release(start, kBytes);
}

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

// Of an entry that another thread forgets or writes, the start of one reserve goes with no other's end.
TEST(Memory, AReserveIsFoundWhileOthersComeAndGo) {
  void* const before = reserve(kBytes, 1);
  void* const own = reserve(kBytes, 1);
  const Reserve* const entry = reserve_of(own);
  ASSERT_NE(entry, nullptr);
  release(before, kBytes);  // its entry is in front of ours
  std::atomic<bool> is_over{false};
  std::thread others([&] {
    constexpr std::size_t kMoreBytes = 4 * kBytes;  // below ours, for it fits no gap that is left above
    for (int i = 0; i < 100'000; ++i) release(reserve(kMoreBytes, 1), kMoreBytes);
    is_over.store(true, std::memory_order_relaxed);
  });
  unsigned strangers = 0;
  while (!is_over.load(std::memory_order_relaxed)) strangers += reserve_of(own) != entry ? 1 : 0;
  others.join();
  EXPECT_EQ(strangers, 0u);
  release(own, kBytes);
}

}  // namespace
}  // namespace tarn::internal::os
