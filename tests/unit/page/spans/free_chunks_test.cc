#include "page/spans/free_chunks.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace tarn::internal {
namespace {

class FreeChunksTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kCount = 10'000;  // more than a word of the upper level covers

  FreeChunksTest() : memory_(FreeChunks::bytes_for(kCount) / sizeof(std::uint64_t)) {
    chunks.use(memory_.data(), kCount);
  }

  std::vector<std::pair<std::uint32_t, std::uint32_t>> runs() const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    for (ChunkRun run = chunks.next_run(0); run.count != 0; run = chunks.next_run(run.first + run.count))
      found.emplace_back(run.first, run.count);
    return found;
  }

  FreeChunks chunks;

 private:
  std::vector<std::uint64_t> memory_;
};

TEST_F(FreeChunksTest, AreNoneAtFirst) {
  EXPECT_EQ(chunks.next_run(0).count, 0u);
  EXPECT_FALSE(chunks.is_free(kCount - 1));
}

TEST_F(FreeChunksTest, AreFoundInRuns) {
  for (std::uint32_t chunk : {0u, 1u, 63u, 64u, 65u, 4095u, 4096u, 9999u}) chunks.assign(chunk, true);
  using Runs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(runs(), (Runs{{0, 2}, {63, 3}, {4095, 2}, {9999, 1}}));
  chunks.assign(64, false);
  EXPECT_EQ(runs(), (Runs{{0, 2}, {63, 1}, {65, 1}, {4095, 2}, {9999, 1}}));
}

TEST_F(FreeChunksTest, AllOfThemAreOneRun) {
  for (std::uint32_t chunk = 0; chunk < kCount; ++chunk) chunks.assign(chunk, true);
  EXPECT_EQ(chunks.next_run(0).count, kCount);
  for (std::uint32_t chunk = 0; chunk < kCount; ++chunk) chunks.assign(chunk, false);
  EXPECT_EQ(chunks.next_run(0).count, 0u);
}

TEST_F(FreeChunksTest, AreThoseThatAWalkFinds) {
  std::mt19937 random(7);
  std::set<std::uint32_t> free;
  for (int step = 0; step < 2000; ++step) {
    const std::uint32_t chunk = random() % kCount;
    const bool is_free = random() % 3 != 0;
    chunks.assign(chunk, is_free);
    free.erase(chunk);
    if (is_free) free.insert(chunk);
    if (step % 50 != 0) continue;
    std::set<std::uint32_t> found;
    for (const auto& [first, count] : runs())
      for (std::uint32_t i = 0; i < count; ++i) found.insert(first + i);
    ASSERT_EQ(found, free);
  }
}

}  // namespace
}  // namespace tarn::internal
