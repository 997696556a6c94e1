#include "observer/leaks/leaks.h"

#include <sys/wait.h>

#include "fake_program.h"
#include "observer/leaks/roots.h"
#include "observer/process/attached_process.h"
#include "observer/process/residency.h"
#include "observer/process/thread_words.h"
#include "support/forked.h"
#include "support/prelude.h"

namespace tarn::observer::test {
namespace {

// -- Which leaks are direct, who keeps whom, and what several looks agree on.

constexpr Address kHeap = 0x7f00'0000'0000;
constexpr std::uint32_t kStride = 64;

/// A slab whose blocks are all lost, with pointers among them.
class Lost : public ::testing::Test {
 protected:
  explicit Lost(std::uint32_t blocks = 6) {
    program_.map(kHeap, kPageBytes);
    add_slab(snapshot_, kHeap, kStride, blocks);
  }
  static Address block(std::uint32_t number) { return kHeap + Address{number} * kStride; }
  void point(std::uint32_t from, std::uint32_t to) { program_.write_word(block(from) + 16, block(to) + 8); }
  Look look() const { return look_for_leaks(program_, snapshot_, {}); }
  std::vector<std::uint32_t> keepers() const { return keepers_of(program_, look().suspects); }

  FakeProgram program_;
  Snapshot snapshot_;
};

using Numbers = std::vector<std::uint32_t>;

TEST_F(Lost, BlocksWithoutPointersAreAllDirect) { EXPECT_EQ(keepers(), (Numbers{0, 1, 2, 3, 4, 5})); }

TEST_F(Lost, AChainIsKeptByItsHead) {
  point(5, 3);
  point(3, 4);
  EXPECT_EQ(keepers(), (Numbers{0, 1, 2, 5, 5, 5}));
}

TEST_F(Lost, ACircleIsKeptByItsLowestBlock) {
  point(4, 2);
  point(2, 3);
  point(3, 4);
  EXPECT_EQ(keepers(), (Numbers{0, 1, 2, 2, 2, 5}));
}

TEST_F(Lost, ACircleBehindADirectLeakIsKeptByThatOne) {
  point(1, 2);
  point(2, 1);
  point(5, 1);
  EXPECT_EQ(keepers(), (Numbers{0, 5, 5, 3, 4, 5}));
}

TEST_F(Lost, ABlockThatPointsToItselfIsDirect) {
  point(2, 2);
  EXPECT_EQ(keepers()[2], 2U);
}

TEST_F(Lost, TheReportSumsUpBySizeAndPool) {
  point(5, 3);
  ClassNames names(program_);
  const LeaksByClass report = group_leaks(program_, snapshot_, look().suspects, names);
  ASSERT_EQ(report.groups.size(), 1U);
  EXPECT_EQ(report.groups[0].block_bytes, kStride);
  EXPECT_EQ(report.direct.blocks, 5U);
  EXPECT_EQ(report.indirect.blocks, 1U);
  EXPECT_EQ(report.groups[0].kept.bytes, kStride);
  EXPECT_EQ(report.bytes(), 6U * kStride);
}

TEST_F(Lost, OnlyWhatTwoLooksFindWithTheSameFirstBytesIsConfirmed) {
  const std::vector<Suspect> first = look().suspects;
  program_.write_word(block(1) + 24, 1);  // within the first bytes
  program_.write_word(block(2) + 32, 1);  // behind them
  end_block(snapshot_, 0, 4);
  const std::vector<Suspect> both = confirmed(first, look());
  ASSERT_EQ(both.size(), 4U);
  EXPECT_EQ(both[1].block.address, block(2));
}

TEST_F(Lost, WhatALaterSnapshotHasFreeOrChangedIsDropped) {
  const std::vector<Suspect> suspects = look().suspects;
  end_block(snapshot_, 0, 0);
  program_.write_word(block(5), 1);
  const std::vector<Suspect> live = still_live(program_, snapshot_, suspects);
  ASSERT_EQ(live.size(), 4U);
  EXPECT_EQ(live.front().block.address, block(1));
}

constexpr Address kStart = 0x100'0000;

std::vector<std::pair<Address, Address>> ranges_of(const Roots& roots) {
  std::vector<std::pair<Address, Address>> ranges;
  for (const AddressRange& range : roots.ranges) ranges.emplace_back(range.start, range.end);
  return ranges;
}

using Pairs = std::vector<std::pair<Address, Address>>;

TEST(Roots, AreAllWritableMemoryWithoutTheHeap) {
  FakeProgram program;
  program.map(0x1000, 0x1000, "/bin/a", false);
  program.map(0x2000, 0x1000, "/bin/a");
  program.map(kStart, 4 * kPageBytes);
  program.map(kStart + 4 * kPageBytes, 0x1000, "[stack]");
  Snapshot snapshot;
  add_slab(snapshot, kStart, 64, 10);
  add_slab(snapshot, kStart + 2 * kPageBytes, 64, 10);
  snapshot.free_runs.push_back({kStart + 3 * kPageBytes, kPageBytes / 2, true});
  EXPECT_EQ(ranges_of(memory_roots(program, snapshot)),
            (Pairs{{0x2000, 0x3000},
                   {kStart + kPageBytes, kStart + 2 * kPageBytes},
                   {kStart + 3 * kPageBytes + kPageBytes / 2, kStart + 4 * kPageBytes},
                   {kStart + 4 * kPageBytes, kStart + 4 * kPageBytes + 0x1000}}));
}

TEST(Roots, AreNotInDevicesButInSharedMemory) {
  FakeProgram program;
  program.map(0x10000, 0x1000, "/dev/dri/card0");
  program.map(0x20000, 0x1000, "/dev/shm/queue");
  const Roots roots = memory_roots(program, Snapshot());
  EXPECT_EQ(ranges_of(roots), (Pairs{{0x20000, 0x21000}}));
  EXPECT_EQ(roots.device_bytes, 0x1000U);
}

TEST(Roots, OfAHeapThatIsAllOfAMappingNothingIsLeft) {
  FakeProgram program;
  program.map(kStart, kPageBytes);
  Snapshot snapshot;
  add_slab(snapshot, kStart, 64, 10);
  EXPECT_TRUE(memory_roots(program, snapshot).ranges.empty());
}

TEST(Registers, OfAWaitingProcessAreReadAndItGoesOn) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  static char byte;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    _exit(read(ends[0], &byte, 1) == 1 ? 42 : 1);
  }
  const auto argument = reinterpret_cast<Address>(&byte);
  const AttachedProcess process(child, Access::kRead);
  std::vector<Address> words;
  while (std::find(words.begin(), words.end(), argument) == words.end()) words = call_words(process);
  const StoppedThreads stopped = stopped_thread_words(process);
  EXPECT_EQ(stopped.unseen, 0U);
  EXPECT_NE(std::find(stopped.words.begin(), stopped.words.end(), argument), stopped.words.end());
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_EQ(WEXITSTATUS(tarn::test::status_of(child)), 42);
}

TEST(WrittenPages, AreThoseThatTheProcessHasTouched) {
  const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  void* const memory = std::aligned_alloc(page, 64 * page);
  static_cast<char*>(memory)[8 * page] = 1;
  const std::unique_ptr<Source> source = open_own_process();
  const std::optional<WrittenPages> written = read_written_pages(*source);
  ASSERT_TRUE(written.has_value());
  const auto start = reinterpret_cast<Address>(memory);
  EXPECT_EQ(written->pages.bytes_in(start + 8 * page, start + 9 * page), page);
  std::free(memory);
}

// A program under AddressSanitizer has 20 TiB: an entry for each of its pages takes 40 s to read.
TEST(WrittenPages, OfALargeReserveAreFoundWithoutWalkingIt) {
  constexpr std::uint64_t kReserve = std::uint64_t{16} << 40, kTouched = kReserve - 8192;
  char* const memory = static_cast<char*>(
      mmap(nullptr, kReserve, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  memory[kTouched] = 1;
  const std::unique_ptr<Source> source = open_own_process();
  const std::optional<WrittenPages> written = read_written_pages(*source);
  const auto start = reinterpret_cast<Address>(memory);
  ASSERT_TRUE(written.has_value());
  EXPECT_GT(written->pages.bytes_in(start + kTouched, start + kReserve) + written->unread_bytes, 0u);
  munmap(memory, kReserve);
}

TEST(WrittenPages, AreFoundByTheWalkOfEntriesToo) {
  const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  char* const memory = static_cast<char*>(
      mmap(nullptr, 64 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  memory[8 * page] = memory[40 * page] = 1;
  const auto start = reinterpret_cast<Address>(memory);
  MappingUse use;
  use.mapping.start = start, use.mapping.end = start + 64 * page;
  use.rss_bytes = 2 * page;
  std::uint64_t unread_bytes = 0;
  const ResidentPages pages = walk_written(InputFile("/proc/self/pagemap"), {use}, unread_bytes);
  ASSERT_EQ(pages.runs.size(), 2u);
  EXPECT_EQ(pages.runs[0].start, start + 8 * page);
  EXPECT_EQ(pages.runs[1].end, start + 41 * page);
  use.mapping.end = start + (std::uint64_t{2} << 40);  // too large to be walked
  EXPECT_TRUE(walk_written(InputFile("/proc/self/pagemap"), {use}, unread_bytes).runs.empty());
  EXPECT_EQ(unread_bytes, 2 * page) << "what is not looked at is told";
  munmap(memory, 64 * page);
}

}  // namespace
}  // namespace tarn::observer::test
