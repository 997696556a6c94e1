#include "observer/process/maps_parser.h"

#include <gtest/gtest.h>

namespace tarn::observer {
namespace {

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
