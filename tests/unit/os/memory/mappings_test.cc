#include "os/memory/mappings.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>

#include "base/units.h"

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

}  // namespace
}  // namespace tarn::internal::os
