#include "base/wipe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace tarn::internal {
namespace {

TEST(Wipe, OverwritesTheBytesAndNoOthers) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{17}, std::size_t{4000}}) {
    unsigned char memory[4096];
    std::memset(memory, 0xa5, sizeof memory);
    wipe(memory + 3, bytes);
    EXPECT_EQ(std::count(memory, memory + sizeof memory, 0), static_cast<std::ptrdiff_t>(bytes));
    EXPECT_TRUE(std::all_of(memory + 3, memory + 3 + bytes, [](unsigned char byte) { return byte == 0; }));
  }
}

}  // namespace
}  // namespace tarn::internal
