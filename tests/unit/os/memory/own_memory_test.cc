#include "os/memory/own_memory.h"

#include <sys/resource.h>

#include "base/units.h"
#include "os/memory/available_memory.h"
#include "os/memory/growth_watch.h"
#include "os/memory/memory.h"
#include "os/process/process.h"
#include "os/process/process_status.h"
#include "support/prelude.h"

namespace tarn::internal::os {
namespace {

TEST(Mapping, IsReadFromALine) {
  Mapping mapping;
  ASSERT_TRUE(parse_mapping("7f12a000-7f12c000 rw-p 00001000 08:01 1234      /lib/a b.so", mapping));
  EXPECT_EQ(mapping.range.start, 0x7f12a000u);
  EXPECT_EQ(mapping.range.end, 0x7f12c000u);
  EXPECT_TRUE(mapping.is_readable);
  EXPECT_TRUE(mapping.is_writable);
  EXPECT_EQ(mapping.path, "/lib/a b.so");
}

TEST(Mapping, WithoutAFileHasNoPath) {
  Mapping mapping;
  ASSERT_TRUE(parse_mapping("1000-2000 r--p 00000000 00:00 0 ", mapping));
  EXPECT_EQ(mapping.path, "");
  EXPECT_FALSE(mapping.is_writable);
}

TEST(Mapping, OfAnotherShapeIsNone) {
  Mapping mapping;
  for (const char* line : {"", "1000", "1000-", "1000-2000", "2000-1000 rw-p 0 0 0", "x-y rw-p 0 00:00 0"})
    EXPECT_FALSE(parse_mapping(line, mapping)) << line;
}

TEST(Mappings, HaveThisProcessesMemoryInOrder) {
  void* const mapped = mmap(nullptr, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  std::uintptr_t last = 0;
  bool has_mapped = false, has_stack = false;
  ASSERT_TRUE(for_each_mapping([&](const Mapping& mapping) {
    EXPECT_GE(mapping.range.start, last);
    last = mapping.range.end;
    if (mapping.range.start <= address_of(mapped) && address_of(mapped) < mapping.range.end)
      has_mapped = mapping.is_readable && !mapping.is_writable;
    has_stack |= mapping.path == "[stack]";
  }));
  EXPECT_TRUE(has_mapped);
  EXPECT_TRUE(has_stack);
  munmap(mapped, 1 << 16);
}

TEST(AvailableMemory, ANumberStandsBehindItsNameWhereALineBegins) {
  constexpr const char* kText = "MemTotal:  100 kB\nXMemFree: 5 kB\nMemFree:\t42 kB\nlast: x\n";
  EXPECT_EQ(number_behind("MemTotal:", kText), 100u);
  EXPECT_EQ(number_behind("MemFree:", kText), 42u);
  EXPECT_EQ(number_behind("last:", kText), SIZE_MAX);
  EXPECT_EQ(number_behind("none:", kText), SIZE_MAX);
  EXPECT_EQ(number_behind("", "max\n"), SIZE_MAX);
  EXPECT_EQ(number_behind("", "4096\n"), 4096u);
}

TEST(AvailableMemory, IsSomeAndNoMoreThanTheLimitOfAddresses) {
  const std::size_t before = available_bytes();
  EXPECT_GT(before, std::size_t{1} << 20);
  EXPECT_LT(before, std::size_t{1} << 44);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &limit), 0);
  const rlimit lower{std::size_t{1} << 30, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &lower), 0);
  const std::size_t limited = available_bytes();
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0) << "a sanitizer may hold more, and ask for more to tell";
  EXPECT_LE(limited, std::size_t{1} << 30);
}

constinit const char* told = nullptr;

class GrowthWatch : public ::testing::Test {
 protected:
  void SetUp() override {
    told = nullptr;
    growth_watcher = [](const char* what) { told = what; };
  }
  void TearDown() override { growth_watcher = nullptr; }
};

TEST_F(GrowthWatch, IsToldWhatWasTakenFromTheSystem) {
  void* const memory = map(page_bytes());
  EXPECT_STREQ(told, "memory mapped");
  release(memory, page_bytes());
}

TEST_F(GrowthWatch, IsNotToldWhenMemoryGoesBack) {
  growth_watcher = nullptr;
  void* const memory = map(page_bytes());
  SetUp();
  EXPECT_TRUE(purge(memory, page_bytes()));
  release(memory, page_bytes());
  EXPECT_EQ(told, nullptr);
}

TEST_F(GrowthWatch, IsToldNothingWhenThereIsNone) {
  growth_watcher = nullptr;
  tell_growth("anything");
  EXPECT_EQ(told, nullptr);
}

}  // namespace
}  // namespace tarn::internal::os
