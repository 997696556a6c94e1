#include "thread/pool_table.h"

#include <gtest/gtest.h>

#include "general/setup.h"

namespace tarn::internal {
namespace {

TEST(PoolTable, FindsWhatItHasBySlotAndSerial) {
  set_up_once();
  PoolTable table;
  int records[3];
  EXPECT_EQ(table.find(0, 1), nullptr);
  EXPECT_EQ(table.find(PoolTable::kMostSlots - 1, 1), nullptr);
  ASSERT_TRUE(table.add(0, 7, &records[0]));
  ASSERT_TRUE(table.add(15, 8, &records[1]));
  EXPECT_EQ(table.find(0, 7), &records[0]);
  EXPECT_EQ(table.find(15, 8), &records[1]);
  EXPECT_EQ(table.find(1, 7), nullptr);
  EXPECT_EQ(table.find(0, 8), nullptr) << "a later pool in the same slot";
  ASSERT_TRUE(table.add(0, 9, &records[2]));
  EXPECT_EQ(table.find(0, 9), &records[2]);
  EXPECT_EQ(table.find(0, 7), nullptr);
}

TEST(PoolTable, HasOnePoolAtHand) {
  PoolTable table;
  int records[2];
  EXPECT_EQ(table.find_at_hand(1), nullptr);
  table.keep_at_hand(1, &records[0]);
  EXPECT_EQ(table.find_at_hand(1), &records[0]);
  EXPECT_EQ(table.find_at_hand(2), nullptr);
  table.keep_at_hand(2, &records[1]);
  EXPECT_EQ(table.find_at_hand(2), &records[1]);
  EXPECT_EQ(table.find_at_hand(1), nullptr);
}

TEST(PoolTable, GrowsToAnySlot) {
  set_up_once();
  PoolTable table;
  int records[40];
  for (std::uint32_t slot = 0; slot < 40; ++slot) ASSERT_TRUE(table.add(slot, slot + 1, &records[slot]));
  ASSERT_TRUE(table.add(PoolTable::kMostSlots - 1, 100, &records[0]));
  for (std::uint32_t slot = 0; slot < 40; ++slot) EXPECT_EQ(table.find(slot, slot + 1), &records[slot]);
  EXPECT_EQ(table.find(40, 1), nullptr);
  EXPECT_EQ(table.find(PoolTable::kMostSlots - 1, 100), &records[0]);
}

}  // namespace
}  // namespace tarn::internal
