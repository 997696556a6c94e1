#include "tarn/detail/record_seal.h"

#include <gtest/gtest.h>

#include <set>

namespace tarn::detail {
namespace {

TEST(RecordSeal, DependsOnWhereTheRecordLiesAndOnEachOfItsWords) {
  int here = 0, there = 0;
  std::set<std::uint64_t> seals;
  for (const int* const record : {&here, &there})
    for (unsigned words = 0; words < 8; ++words)
      seals.insert(seal_of(record, words & 1, words >> 1 & 1, words >> 2));
  EXPECT_EQ(seals.size(), 16u);
  EXPECT_EQ(seals.count(0), 0u);
  EXPECT_EQ(seal_of(&here, 1, 2, 3), seal_of(&here, 1, 2, 3));
}

// Words that change together, as by a write of one byte all over a record.
TEST(RecordSeal, ChangesThatAreAlikeDoNotCancelOut) {
  int record = 0;
  std::set<std::uint64_t> seals;
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    const std::uint64_t word = byte * 0x0101010101010101;
    seals.insert(seal_of(&record, word, word, word));
  }
  EXPECT_EQ(seals.size(), 256u);
}

}  // namespace
}  // namespace tarn::detail
