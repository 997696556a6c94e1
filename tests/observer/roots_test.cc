#include "observer/leaks/roots.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "fake_program.h"
#include "observer/process/attached_process.h"
#include "observer/process/residency.h"
#include "observer/process/thread_words.h"

namespace tarn::observer::test {
namespace {

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
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 42);
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
