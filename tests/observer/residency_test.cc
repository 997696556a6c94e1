#include "observer/process/residency.h"

#include "observer/companion.h"
#include "observer/files/kernel_text.h"
#include "observer/process/maps_parser.h"
#include "observer/process/source.h"
#include "support/prelude.h"
#include "support/sanitizer.h"

namespace tarn::observer {
namespace {

// -- Which pages are resident, on children whose pages are known, by both ways to find out.

using test::Companion;

constexpr std::uint64_t kPage = 4096, kHugePage = 2 << 20;

std::uintptr_t map(std::uint64_t bytes, int rights) {
  void* const start = mmap(nullptr, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return start == MAP_FAILED ? 0 : reinterpret_cast<std::uintptr_t>(start);
}

void touch(std::uintptr_t start, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t page = first; page < first + count; ++page)
    *reinterpret_cast<volatile char*>(start + page * kPage) = 1;
}

void look_at(std::uintptr_t start, std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t page = first; page < first + count; ++page)
    (void)*reinterpret_cast<volatile char*>(start + page * kPage);
}

/// Both ways, with one interface.
struct Ways {
  explicit Ways(const Source& source)
      : pagemap("/proc/" + std::to_string(source.pid()) + "/pagemap"),
        scanned(scan_pagemap(pagemap, source.mappings(), {})),
        walked(walk_pagemap(pagemap, parse_smaps(process_text(source.pid(), "smaps")))) {}

  InputFile pagemap;
  std::optional<ResidentPages> scanned;
  ResidentPages walked;
};

std::uint64_t bytes_in(const ResidentPages& pages, Address start, std::uint64_t bytes) {
  return Residency(pages.runs, 0, 0).bytes_in(start, start + bytes);
}

/// Calls check(pages) for what each way found.
template <typename Check>
void by_each_way(pid_t pid, Check check) {
  const auto source = open_process(pid);
  const Ways ways(*source);
  SCOPED_TRACE("by an entry for each page");
  check(ways.walked);
  if (!ways.scanned) return;
  SCOPED_TRACE("by the kernel's scan");
  check(*ways.scanned);
}

TEST(Residency, BytesOfARangeAreThoseOfTheRunsInIt) {
  const Residency residency({{100, 200}, {300, 400}}, 0, 0);
  EXPECT_EQ(residency.bytes_in(0, 1000), 200u);
  EXPECT_EQ(residency.bytes_in(150, 350), 100u);
  EXPECT_EQ(residency.bytes_in(200, 300), 0u);
  EXPECT_EQ(residency.bytes_in(120, 130), 10u);
  EXPECT_EQ(residency.bytes_in(400, 500), 0u);
  EXPECT_EQ(residency.bytes_in(350, 350), 0u);
}

/// What the kernel says of the mapping that an address is in. A page that was only ever read is the page of
/// zeros, which is no part of it, or one of the process's own, where the kernel makes such at once.
std::uint64_t rss_of_mapping(pid_t pid, Address address) {
  for (const MappingUse& use : parse_smaps(process_text(pid, "smaps")))
    if (use.mapping.start <= address && address < use.mapping.end) return use.rss_bytes;
  return 0;
}

TEST(Residency, PagesAreResidentOnceTheyAreWrittenAndWhenOnlyReadAsTheKernelCounts) {
  const Companion child([] {
    const std::uintptr_t start = map(64 * kPage, PROT_READ | PROT_WRITE);
    madvise(reinterpret_cast<void*>(start), 64 * kPage, MADV_NOHUGEPAGE);
    touch(start, 0, 10);
    touch(start, 20, 1);
    look_at(start, 30, 10);
    return start;
  });
  const std::uint64_t only_read = rss_of_mapping(child.pid(), child.answer()) - 11 * kPage;
  ASSERT_TRUE(only_read == 0 || only_read == 10 * kPage) << only_read;
  by_each_way(child.pid(), [&](const ResidentPages& pages) {
    EXPECT_EQ(bytes_in(pages, child.answer(), 64 * kPage), 11 * kPage + only_read);
    EXPECT_EQ(bytes_in(pages, child.answer(), 10 * kPage), 10 * kPage);
    EXPECT_EQ(bytes_in(pages, child.answer() + 20 * kPage, kPage), kPage);
    EXPECT_EQ(bytes_in(pages, child.answer() + 30 * kPage, 10 * kPage), only_read);
  });
}

TEST(Residency, APageThatCannotBeReachedAnyMoreIsStillThere) {
  const Companion child([] {
    const std::uintptr_t start = map(4 * kPage, PROT_READ | PROT_WRITE);
    touch(start, 1, 1);
    mprotect(reinterpret_cast<void*>(start), 4 * kPage, PROT_NONE);
    return start;
  });
  by_each_way(child.pid(), [&](const ResidentPages& pages) {
    EXPECT_EQ(bytes_in(pages, child.answer(), 4 * kPage), kPage);
  });
}

// A forked child has pages in common with its parent until one of them writes.
TEST(Residency, PagesInCommonWithAnotherProcessCount) {
  const std::uintptr_t start = map(8 * kPage, PROT_READ | PROT_WRITE);
  madvise(reinterpret_cast<void*>(start), 8 * kPage, MADV_NOHUGEPAGE);
  touch(start, 0, 8);
  const Companion child([] { return 0; });
  by_each_way(child.pid(),
              [&](const ResidentPages& pages) { EXPECT_EQ(bytes_in(pages, start, 8 * kPage), 8 * kPage); });
  munmap(reinterpret_cast<void*>(start), 8 * kPage);
}

TEST(Residency, TheSumIsRss) {
  if (test::kSanitizer) GTEST_SKIP() << "the tables of sanitizers are too large to be walked";
  const Companion child([] {
    const std::uintptr_t start = map(16 << 20, PROT_READ | PROT_WRITE);
    touch(start, 0, 4096);
    return start;
  });
  const auto source = open_process(child.pid());
  const std::uint64_t rss = bytes_of(process_text(child.pid(), "smaps_rollup"), "Rss:");
  ASSERT_GT(rss, 16u << 20);
  const auto residency = read_residency(*source);
  ASSERT_TRUE(residency);
  EXPECT_EQ(residency->rss_bytes(), rss);
  EXPECT_EQ(residency->bytes_in(0, UINT64_MAX), rss);
  EXPECT_EQ(residency->bytes_in(child.answer(), child.answer() + (16 << 20)), 16u << 20);
  by_each_way(child.pid(), [&](const ResidentPages& pages) { EXPECT_EQ(pages.bytes, rss); });
}

// With 80 GiB of them: one entry for each page would be 160 MiB to read.
TEST(Residency, ReservesCostNothing) {
  const Companion child([] {
    const std::uintptr_t reserve = map(std::uint64_t{64} << 30, PROT_NONE);
    const std::uintptr_t table = map(std::uint64_t{16} << 30, PROT_READ);
    return reserve != 0 && table != 0 ? table : 0;
  });
  if (child.answer() == 0) GTEST_SKIP() << "no such reserve here";
  const auto source = open_process(child.pid());
  if (!Ways(*source).scanned) GTEST_SKIP() << "the kernel has no scan";
  const auto begin = clock();
  const auto residency = read_residency(*source);
  const double seconds = static_cast<double>(clock() - begin) / CLOCKS_PER_SEC;
  ASSERT_TRUE(residency);
  EXPECT_EQ(residency->bytes_in(child.answer(), child.answer() + (std::uint64_t{16} << 30)), 0u);
  EXPECT_LT(seconds, 0.05) << "of processor time";
}

TEST(Residency, HugePagesAreToldAndOneThatIsOnlyReadAsTheKernelCounts) {
  const Companion child([] {
    const std::uintptr_t start =
        (map(5 * kHugePage, PROT_READ | PROT_WRITE) + kHugePage - 1) / kHugePage * kHugePage;
    madvise(reinterpret_cast<void*>(start), 4 * kHugePage, MADV_HUGEPAGE);
    touch(start, 0, 1);
    look_at(start + 2 * kHugePage, 0, 1);
    return start;
  });
  const std::uint64_t huge = bytes_of(process_text(child.pid(), "smaps_rollup"), "AnonHugePages:");
  if (huge == 0) GTEST_SKIP() << "the kernel gave no huge page";
  const std::uint64_t only_read = rss_of_mapping(child.pid(), child.answer()) - kHugePage;
  ASSERT_LE(only_read, kHugePage);
  by_each_way(child.pid(), [&](const ResidentPages& pages) {
    EXPECT_EQ(pages.huge_bytes, huge);
    EXPECT_EQ(bytes_in(pages, child.answer(), 2 * kHugePage), kHugePage);
    EXPECT_EQ(bytes_in(pages, child.answer() + 2 * kHugePage, kHugePage), only_read);
  });
}

TEST(Residency, ThePoolOfHugePagesIsNoRss) {
  const Companion child([] {
    void* const start =
        mmap(nullptr, kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (start == MAP_FAILED) return std::uintptr_t{0};
    touch(reinterpret_cast<std::uintptr_t>(start), 0, 1);
    return reinterpret_cast<std::uintptr_t>(start);
  });
  if (child.answer() == 0) GTEST_SKIP() << "the system has no such pages: vm.nr_hugepages is 0";
  const auto residency = read_residency(*open_process(child.pid()));
  ASSERT_TRUE(residency);
  EXPECT_EQ(residency->bytes_in(child.answer(), child.answer() + kHugePage), 0u);
  EXPECT_EQ(residency->rss_bytes(), bytes_of(process_text(child.pid(), "smaps_rollup"), "Rss:"));
}

TEST(Residency, TheOwnProcessHasOneAndAnEndedOneHasNone) {
  const auto own = read_residency(*open_own_process());
  ASSERT_TRUE(own);
  EXPECT_GT(own->rss_bytes(), 1u << 20);
  Companion child;
  const auto source = open_process(child.pid());
  child.end();
  EXPECT_FALSE(read_residency(*source));
}

// -- A process with very many runs of resident pages, of which the kernel tells in several parts.

constexpr std::size_t kOsPage = 4096, kRuns = 6000;

/// Every second page is written.
class StripedMemory {
 public:
  StripedMemory() {
    madvise(memory_, kBytes, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < kRuns; ++i) memory_[2 * i * kOsPage] = 1;
  }
  ~StripedMemory() { munmap(memory_, kBytes); }
  StripedMemory(const StripedMemory&) = delete;
  StripedMemory& operator=(const StripedMemory&) = delete;
  Address start() const { return reinterpret_cast<Address>(memory_); }
  Address end() const { return start() + kBytes; }

 private:
  static constexpr std::size_t kBytes = 2 * kRuns * kOsPage;
  char* const memory_ =
      static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
};

std::uint64_t rss_as_the_kernel_sums_it() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string line; std::getline(rollup, line);)
    if (line.starts_with("Rss:")) return std::stoull(line.substr(4)) * 1024;
  return 0;
}

TEST(Residency, ManyRunsAreEachToldOnceAndInOrder) {
  const StripedMemory memory;
  const auto residency = read_residency(*open_own_process());
  ASSERT_TRUE(residency);
  EXPECT_EQ(residency->bytes_in(memory.start(), memory.end()), kRuns * kOsPage);
  Address end = 0;
  std::size_t out_of_order = 0;
  residency->for_each_in(0, UINT64_MAX, [&](Address run_start, Address run_end) {
    if (run_start <= end) ++out_of_order;
    end = run_end;
  });
  EXPECT_EQ(out_of_order, 0U);
}

TEST(Residency, OfManyRunsTheSumIsTheKernelsOwn) {
  const StripedMemory memory;
  const auto residency = read_residency(*open_own_process());
  ASSERT_TRUE(residency);
  const double expected = static_cast<double>(rss_as_the_kernel_sums_it());
  EXPECT_NEAR(static_cast<double>(residency->rss_bytes()), expected, 0.02 * expected);
}

TEST(MapsParser, ALineGivesItsRangeRightsOffsetAndPath) {
  const auto mapping =
      parse_mapping("55d0c8a00000-55d0c8a21000 r-xp 00001000 fd:01 1234    /usr/lib/libc.so.6");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->start, 0x55d0c8a00000u);
  EXPECT_EQ(mapping->end, 0x55d0c8a21000u);
  EXPECT_EQ(mapping->offset, 0x1000u);
  EXPECT_TRUE(mapping->is_readable && !mapping->is_writable && mapping->is_executable && !mapping->is_shared);
  EXPECT_EQ(mapping->path, "/usr/lib/libc.so.6");
}

TEST(MapsParser, APathKeepsItsSpaces) {
  EXPECT_EQ(parse_mapping("1000-2000 rw-s 0 00:01 7 /dev/zero (deleted)")->path, "/dev/zero (deleted)");
}

TEST(MapsParser, AnonymousMemoryHasNoPath) {
  const auto mapping = parse_mapping("1000-2000 rw-p 00000000 00:00 0 ");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->path, "");
}

TEST(MapsParser, TheHighestAddressesFitIn) {
  const auto mapping = parse_mapping("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->start, 0xffffffffff600000u);
}

TEST(MapsParser, WhatIsNoLineIsLeftOut) {
  for (const char* line :
       {"", "Rss:     4 kB", "1000", "1000-", "1000-2000", "1000-2000 rw-p", "1000-2000 rw 0 0 0",
        "2000-1000 rw-p 0 00:00 0", "1000-1000 rw-p 0 00:00 0", "x-2000 rw-p 0 00:00 0",
        "1000-2000 rw-p 0 00:00", "10000000000000000-20000000000000000 rw-p 0 00:00 0 "})
    EXPECT_FALSE(parse_mapping(line)) << line;
}

TEST(MapsParser, MappingsComeOutSortedAndWithoutOverlaps) {
  const auto mappings = parse_maps(
      "5000-8000 r--p 00003000 00:00 1 /b\n"
      "1000-6000 rw-p 00000000 00:00 0 \n"
      "no line\n"
      "2000-3000 rw-p 00000000 00:00 0 ");
  ASSERT_EQ(mappings.size(), 2u);
  EXPECT_EQ(mappings[0].end, 0x6000u);
  EXPECT_EQ(mappings[1].start, 0x6000u);
  EXPECT_EQ(mappings[1].end, 0x8000u);
  EXPECT_EQ(mappings[1].offset, 0x4000u);
}

TEST(MapsParser, ARangeIsFoundByAnyOfItsAddresses) {
  const auto mappings = parse_maps("1000-2000 rw-p 0 00:00 0 \n3000-4000 rw-p 0 00:00 0 ");
  EXPECT_EQ(find_range(mappings, 0xfff), nullptr);
  EXPECT_EQ(find_range(mappings, 0x1000), &mappings[0]);
  EXPECT_EQ(find_range(mappings, 0x1fff), &mappings[0]);
  EXPECT_EQ(find_range(mappings, 0x2000), nullptr);
  EXPECT_EQ(find_range(mappings, 0x3fff), &mappings[1]);
  EXPECT_EQ(next_start(mappings, 0), 0x1000u);
  EXPECT_EQ(next_start(mappings, 0x1000), 0x3000u);
  EXPECT_EQ(next_start(mappings, 0x3000), UINT64_MAX);
}

TEST(MapsParser, SmapsGivesEachMappingItsFigures) {
  const auto uses = parse_smaps(
      "1000-2000 rw-p 00000000 00:00 0 \nSize:   4 kB\nRss:       3 kB\nAnonHugePages:   2048 kB\n"
      "VmFlags: rd wr mr mw me ac \n"
      "3000-4000 rw-p 00000000 00:00 0   /anon_hugepage (deleted)\nRss:   0 kB\nVmFlags: rd wr ht \n");
  ASSERT_EQ(uses.size(), 2u);
  EXPECT_EQ(uses[0].rss_bytes, 3072u);
  EXPECT_EQ(uses[0].huge_bytes, 2u << 20);
  EXPECT_FALSE(uses[0].is_hugetlb);
  EXPECT_TRUE(uses[1].is_hugetlb);
}

}  // namespace
}  // namespace tarn::observer
