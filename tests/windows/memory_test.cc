// os/memory/memory.h on Windows.
#include "os/memory/memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/units.h"
#include "support/child.h"

namespace tarn::internal::os {
namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20;

bool is_zero(const char* start, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    if (start[i] != 0) return false;
  return true;
}

TEST(Memory, AReserveIsAlignedAndFaultsUntilItIsCommitted) {
  constexpr std::size_t kAlignment = std::size_t{2} << 20;
  auto* const start = static_cast<char*>(reserve(kBytes, kAlignment));
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(address_of(start) % kAlignment, 0u);
  EXPECT_TRUE(test::faults(start));
  ASSERT_TRUE(commit(start, kBytes / 2));
  EXPECT_TRUE(is_zero(start, kBytes / 2));
  std::memset(start, 1, kBytes / 2);
  EXPECT_TRUE(test::faults(start + kBytes / 2));
  EXPECT_TRUE(test::faults(start - 1));
  EXPECT_TRUE(test::faults(start + kBytes));
  release(start, kBytes);
}

TEST(Memory, AReadableReserveReadsAsZeroAndKeepsWhatIsWritten) {
  constexpr std::size_t kLarge = std::size_t{4} << 30;
  auto* const start = static_cast<char*>(reserve_readable(kLarge));
  ASSERT_NE(start, nullptr);
  for (std::size_t at = 0; at < kLarge; at += kLarge / 64) EXPECT_EQ(start[at], 0);
  ASSERT_TRUE(commit(start, kBytes));
  start[0] = 1;
  start[kBytes - 1] = 2;
  EXPECT_EQ(start[0], 1);
  EXPECT_EQ(start[kBytes], 0);
  EXPECT_FALSE(test::run_in_child([&] { return start[kBytes] = 1; }).is_success());
  release(start, kLarge);
}

TEST(Memory, ThreadsThatReadWhileAPageIsMadeWritableSeeZeroOrWhatIsWritten) {
  constexpr std::size_t kPage = 64 * 1024;
  auto* const start = static_cast<char*>(reserve_readable(kBytes));
  ASSERT_NE(start, nullptr);
  std::atomic<bool> ends{false}, is_good{true};
  std::thread reader([&] {
    while (!ends)
      for (std::size_t at = 0; at < kBytes; at += kPage) {
        const char seen = static_cast<const volatile char*>(start)[at];
        if (seen != 0 && seen != 7) is_good = false;
      }
  });
  for (std::size_t at = 0; at < kBytes; at += kPage) {
    ASSERT_TRUE(commit(start + at, kPage));
    start[at] = 7;
  }
  ends = true;
  reader.join();
  EXPECT_TRUE(is_good);
  release(start, kBytes);
}

TEST(Memory, PurgedPagesReadAsZeroAlsoForAThreadThatReadsMeanwhile) {
  auto* const start = static_cast<char*>(map(kBytes));
  auto* const purged = static_cast<char*>(reserve(kBytes, 1));
  ASSERT_TRUE(start != nullptr && purged != nullptr && commit(purged, kBytes));
  std::atomic<bool> ends{false};
  std::thread reader([&] {
    while (!ends)
      for (std::size_t at = 0; at < kBytes; at += 4096)
        static_cast<void>(static_cast<const volatile char*>(purged)[at]);
  });
  for (int round = 0; round < 200; ++round) {
    std::memset(purged, round, kBytes);
    ASSERT_TRUE(purge(purged, kBytes));
    ASSERT_TRUE(is_zero(purged, 4096) && is_zero(purged + kBytes - 4096, 4096));
  }
  ends = true;
  reader.join();
  release(purged, kBytes);
  release(start, kBytes);
}

TEST(Memory, AGuardFaultsUntilItEnds) {
  auto* const start = static_cast<char*>(map(kBytes));
  ASSERT_NE(start, nullptr);
  std::memset(start, 5, kBytes);
  make_guard(start + 4096, 4096);
  EXPECT_TRUE(test::faults(start + 4096));
  EXPECT_EQ(start[4095], 5);
  ASSERT_TRUE(end_guard(start + 4096, 4096));
  EXPECT_EQ(start[4096], 5);
  release(start, kBytes);
}

}  // namespace
}  // namespace tarn::internal::os
