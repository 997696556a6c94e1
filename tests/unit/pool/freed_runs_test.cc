#include "pool/freed_runs.h"

#include <gtest/gtest.h>

#include <vector>

#include "general/setup.h"

namespace tarn::internal {
namespace {

class FreedRunsOfWords : public ::testing::Test {
 protected:
  FreedRunsOfWords() { set_up_once(); }
  ~FreedRunsOfWords() override { runs_.end(); }

  /// Frees blocks that are live, and notes them.
  void free(std::size_t first, std::size_t count) {
    bitmap::set_range(words_, first, count);
    runs_.note({RunBits(words_, first, count), block(first)}, count);
  }
  /// Takes what is noted. \returns its first block; -1: nothing is.
  int take(std::size_t count) {
    const FreedRun* const note = runs_.take_note(count);
    if (note == nullptr) return -1;
    bitmap::clear_range(words_, static_cast<std::size_t>(first_of(*note)), count);
    return first_of(*note);
  }
  int first_of(const FreedRun& note) const {
    return static_cast<int>(static_cast<char*>(note.blocks) - blocks_);
  }
  void* block(std::size_t index) { return blocks_ + index; }

  static constexpr std::size_t kBlocks = 640;
  std::uint64_t words_[kBlocks / 64 + 1] = {};  // the last one is behind them
  char blocks_[kBlocks];
  FreedRuns runs_;
};

TEST_F(FreedRunsOfWords, TheBitsOfARunLieInOneWordOrTwo) {
  for (std::size_t first = 0; first < 130; ++first)
    for (std::size_t count = 1; count <= 64; ++count) {
      const RunBits run(words_, first, count);
      std::uint64_t expected[kBlocks / 64] = {}, found[kBlocks / 64] = {};
      bitmap::set_range(expected, first, count);
      found[run.low - words_] |= run.low_mask;
      found[run.high() - words_] |= run.high_mask;
      for (std::size_t i = 0; i < kBlocks / 64; ++i)
        ASSERT_EQ(found[i], expected[i]) << first << ' ' << count;
      ASSERT_EQ(run.high_mask != 0, first % 64 + count > 64);
    }
}

TEST_F(FreedRunsOfWords, ARequestTakesTheRunOfItsLengthThatWasFreedLast) {
  free(0, 5);
  free(60, 10);
  free(20, 5);
  EXPECT_EQ(take(10), 60);
  EXPECT_EQ(take(5), 20);
  EXPECT_EQ(take(5), 0);
  EXPECT_EQ(take(5), -1);
  EXPECT_EQ(take(4), -1) << "nothing is split";
  EXPECT_EQ(bitmap::count(words_, kBlocks), 0u);
}

TEST_F(FreedRunsOfWords, ARunThatWasTakenSinceIsPassedOver) {
  for (const std::size_t at : {60u, 62u, 63u, 64u, 69u}) {
    free(200, 10);
    free(60, 10);
    bitmap::clear_range(words_, at, 1);  // by a search, or one block alone
    EXPECT_EQ(take(10), 200) << at;
    EXPECT_EQ(take(10), -1);
    EXPECT_EQ(bitmap::count(words_, kBlocks), 9u) << "the others stay free";
    bitmap::clear_range(words_, 60, 10);
  }
}

// What the fast paths ask of a length.
TEST_F(FreedRunsOfWords, ALengthWithoutNotesHasNeitherAWholeRunNorRoom) {
  const detail::FreedRunTops* const tables[] = {&FreedRuns::none(), &runs_.tops()};
  for (const detail::FreedRunTops* tops : tables)
    for (std::size_t length = 0; length <= FreedRuns::kLongest; ++length) {
      EXPECT_FALSE(tops->newest[length]->is_whole()) << length;
      EXPECT_EQ(tops->newest[length], tops->last[length]) << length;
    }
}

TEST_F(FreedRunsOfWords, BelowTheFirstNoteOfALengthLiesOneThatIsNeverWhole) {
  const detail::FreedRunTops& tops = runs_.tops();
  free(10, 5);
  ASSERT_TRUE(tops.newest[5]->is_whole());
  EXPECT_EQ(tops.last[5] - tops.newest[5], static_cast<std::ptrdiff_t>(FreedRuns::kNotes - 1));
  EXPECT_EQ(take(5), 10);
  EXPECT_FALSE(tops.newest[5]->is_whole());
  free(20, 5);
  runs_.forget();
  EXPECT_FALSE(tops.newest[5]->is_whole());
  EXPECT_NE(tops.newest[5], tops.last[5]) << "there is room still";
}

TEST_F(FreedRunsOfWords, OfManyTheNewerHalfIsKept) {
  const int most = FreedRuns::kNotes;
  for (int i = 0; i < most; ++i) free(static_cast<std::size_t>(i) * 3, 2);
  const auto next = static_cast<std::size_t>(most) * 3;
  EXPECT_EQ(runs_.tops().newest[2], runs_.tops().last[2]) << "no room";
  free(next, 2);
  for (int i = most; i >= most / 2; --i) EXPECT_EQ(take(2), i * 3);
  EXPECT_EQ(take(2), -1);
  EXPECT_EQ(bitmap::count(words_, kBlocks), static_cast<std::size_t>(most / 2) * 2) << "searches find these";
}

TEST_F(FreedRunsOfWords, KnowAPlaceToSearchAtUntilTheyAreForgotten) {
  EXPECT_EQ(runs_.place_of(3), nullptr);
  free(7, 3);
  free(30, 3);
  EXPECT_EQ(take(3), 30);
  EXPECT_EQ(take(3), 7);
  ASSERT_NE(runs_.place_of(3), nullptr);
  EXPECT_EQ(first_of(*runs_.place_of(3)), 7);
  free(7, 3);
  runs_.forget();
  EXPECT_EQ(runs_.place_of(3), nullptr);
  EXPECT_EQ(take(3), -1);
  free(9, 3);
  EXPECT_EQ(take(3), 9);
}

}  // namespace
}  // namespace tarn::internal
