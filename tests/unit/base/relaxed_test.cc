#include "base/relaxed.h"

#include "support/prelude.h"
#include "support/threads.h"

namespace tarn::internal {
namespace {

TEST(Relaxed, IsANumber) {
  Relaxed<std::uint32_t> number;
  EXPECT_EQ(number, 0u);
  number = 7;
  number += 5;
  number -= 2;
  EXPECT_EQ(++number, 11u);
}

TEST(Relaxed, WrapsInItsType) {
  Relaxed<std::uint8_t> number;
  number = 255;
  EXPECT_EQ(++number, 0u);
}

TEST(Relaxed, IsReadWhileAnotherThreadChangesIt) {
  Relaxed<std::uint64_t> number;
  std::thread writer([&] {
    for (int i = 0; i < 100'000; ++i) ++number;
  });
  std::uint64_t last = 0;
  while (last != 100'000) {
    const std::uint64_t now = number;
    ASSERT_GE(now, last);
    last = now;
  }
  writer.join();
}

TEST(RaisePeak, KeepsTheHighestOfSeveralThreads) {
  std::atomic<std::size_t> peak{7};
  raise_peak(peak, std::size_t{3});
  EXPECT_EQ(peak, 7u);
  test::in_threads(2, [&peak](std::size_t first) {
    for (std::size_t i = first; i < 20'000; i += 2) raise_peak(peak, i);
  });
  EXPECT_EQ(peak, 19'999u);
}

}  // namespace
}  // namespace tarn::internal
