#include "look/top/top_keys.h"

#include <gtest/gtest.h>

#include <string>

#include "look/top/screen.h"

namespace tarn::tool {
namespace {

using What = TopAction::What;

constexpr std::size_t kPage = 10, kRows = 35;

What typed(int key, TopState& state) { return take_key(key, kPage, kRows, state).what; }

TEST(TopKeys, DigitsAndTabChooseTheView) {
  TopState state;
  EXPECT_EQ(typed('4', state), What::kDraw);
  EXPECT_EQ(state.view, TopView::kPools);
  typed('\t', state);
  EXPECT_EQ(state.view, TopView::kOverview);
  EXPECT_EQ(typed('5', state), What::kNothing);
}

TEST(TopKeys, ScrollingEndsAtTheFirstAndTheLastRow) {
  TopState state;
  typed(kKeyUp, state);
  EXPECT_EQ(state.first(), 0u);
  for (int i = 0; i < 5; ++i) typed(kKeyPageDown, state);
  EXPECT_EQ(state.first(), kRows - 1);
  typed(kKeyHome, state);
  EXPECT_EQ(state.first(), 0u);
  typed(kKeyEnd, state);
  typed(kKeyUp, state);
  EXPECT_EQ(state.first(), kRows - 2);
}

TEST(TopKeys, EachViewScrollsForItself) {
  TopState state;
  typed('2', state);
  typed(kKeyDown, state);
  typed('3', state);
  EXPECT_EQ(state.first(), 0u);
  typed('2', state);
  EXPECT_EQ(state.first(), 1u);
}

TEST(TopKeys, AListThatBecameShortScrollsFromItsEnd) {
  TopState state;
  state.first() = 30;
  take_key(kKeyUp, kPage, 3, state);
  EXPECT_EQ(state.first(), 2u);
}

TEST(TopKeys, EveryOrderComesAroundAgain) {
  for (const char view : {'1', '2', '3', '4'}) {
    TopState state;
    typed(view, state);
    int steps = 0;
    do {
      typed('s', state);
    } while (state.order() != TopOrder::kBytes && ++steps < 10);
    EXPECT_LT(steps, 10) << view;
  }
}

TEST(TopKeys, LettersNameOtherCommands) {
  TopState state;
  EXPECT_STREQ(take_key('m', kPage, kRows, state).command, "map");
  EXPECT_STREQ(take_key('h', kPage, kRows, state).command, "heap");
  EXPECT_STREQ(take_key('l', kPage, kRows, state).command, "leaks");
  EXPECT_STREQ(take_key('d', kPage, kRows, state).command, "doctor");
  EXPECT_EQ(typed('d', state), What::kRunCommand);
}

TEST(TopKeys, AnyKeyEndsTheHelpAndDoesNothingElse) {
  TopState state;
  typed('?', state);
  EXPECT_TRUE(state.shows_help);
  EXPECT_EQ(typed('p', state), What::kDraw);
  EXPECT_FALSE(state.shows_help);
  EXPECT_FALSE(state.is_paused);
  typed('p', state);
  EXPECT_TRUE(state.is_paused);
}

TEST(TopKeys, ASignalQuitsAsQDoes) {
  TopState state;
  typed('?', state);
  EXPECT_EQ(typed(kKeyQuit, state), What::kQuit);
  EXPECT_EQ(typed('q', state), What::kQuit);
  EXPECT_EQ(typed(' ', state = {}), What::kLookNow);
}

}  // namespace
}  // namespace tarn::tool
