#include "profile/amount_text.h"

#include <gtest/gtest.h>

namespace tarn::profile {
namespace {

TEST(Amounts, AreWrittenWithThreeDigits) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1.5 * 1024 * 1024), "1.50 MiB");
  EXPECT_EQ(change_text(2048), "+2.00 KiB");
  EXPECT_EQ(change_text(-12), "-12 B");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(-123), "-123");
  EXPECT_EQ(counted(1, "block"), "1 block");
  EXPECT_EQ(share_text(1, 0), "0.0 %");
}

}  // namespace
}  // namespace tarn::profile
