#include "tune/search.h"

#include "support/prelude.h"

namespace tarn::tune {
namespace {

/// What a setting does to a program: factors of its figures.
struct Effect {
  double peak = 1, mean = 1, seconds = 1;
};

bool has(const Configuration& configuration, const Setting& setting) {
  return std::find(configuration.begin(), configuration.end(), setting) != configuration.end();
}

/// A program whose settings do what a test plants, with noise of a given share in memory and in time.
class World {
 public:
  explicit World(double noise = 0.002, double time_noise = 0.01, unsigned seed = 1)
      : noise_(noise), time_noise_(time_noise), random_(seed) {}

  void plant(const Setting& setting, const Effect& effect) { plant({Configuration{setting}, effect}); }
  /// What these do together, beside what each does.
  void plant(const std::pair<Configuration, Effect>& joined) { effects_.push_back(joined); }
  void make_fail(const Setting& setting) { failing_ = setting; }

  Outcome search(std::vector<Setting> candidates, const Bounds& bounds = {}) {
    return tune::search(
        candidates, [this](Step step, const auto& asked) { return measure(step, asked); }, bounds);
  }
  Outcome search_planted(const Bounds& bounds = {}) {
    std::vector<Setting> candidates;
    for (const auto& [configuration, effect] : effects_)
      if (configuration.size() == 1) candidates.push_back(configuration.front());
    return search(candidates, bounds);
  }

  const std::vector<std::pair<Step, std::vector<Configuration>>>& asked() const { return asked_; }

 private:
  double noisy(double value, double noise) { return value * (1 + noise * normal_(random_)); }

  Effect effect_of(const Configuration& configuration) const {
    Effect all;
    for (const auto& [needed, effect] : effects_) {
      if (!std::all_of(needed.begin(), needed.end(),
                       [&](const auto& one) { return has(configuration, one); }))
        continue;
      all = {all.peak * effect.peak, all.mean * effect.mean, all.seconds * effect.seconds};
    }
    return all;
  }

  Measurements measured(const Configuration& configuration, int rounds) {
    if (has(configuration, failing_)) return {};
    const Effect effect = effect_of(configuration);
    Measurements measurements;
    for (int i = 0; i < rounds; ++i) {
      measurements.peak_bytes.push_back(noisy(100e6 * effect.peak, noise_));
      measurements.mean_bytes.push_back(noisy(50e6 * effect.mean, noise_));
      measurements.seconds.push_back(noisy(0.2 * effect.seconds, time_noise_));
    }
    return measurements;
  }

  std::vector<Measurements> measure(Step step, const std::vector<Configuration>& asked) {
    asked_.emplace_back(step, asked);
    std::vector<Measurements> all;
    for (const Configuration& configuration : asked)
      all.push_back(measured(configuration, step == Step::kVerified ? 9 : 5));
    return all;
  }

  const double noise_, time_noise_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  std::vector<std::pair<Configuration, Effect>> effects_;
  Setting failing_ = {"none", ""};
  std::vector<std::pair<Step, std::vector<Configuration>>> asked_;
};

Setting huge(const char* value) { return {"huge_pages", value}; }
Setting cache(const char* value) { return {"thread_cache", value}; }
Setting decay(const char* value) { return {"decay", value}; }
Setting classes(const char* value) { return {"classes", value}; }

Verdict verdict_of(const Outcome& outcome, const Setting& setting) {
  for (const Choice& choice : outcome.alone)
    if (choice.configuration.front() == setting) return choice.verdict;
  ADD_FAILURE() << setting.key << " was not measured";
  return Verdict::kFailed;
}

TEST(Search, WhatIsSlowForTheCallsMayBeLittleForTheProgram) {
  for (const double program_seconds : {0.0, 2.0}) {
    World world;
    world.plant(huge("never"), {.peak = 0.85, .mean = 0.9, .seconds = 1.2});
    const Outcome outcome = world.search_planted({.program_seconds = program_seconds});
    EXPECT_EQ(outcome.chosen.empty(), program_seconds == 0) << program_seconds;
    EXPECT_NEAR(outcome.bounds.most_time_percent, program_seconds == 0 ? 5 : 50, 1);
  }
}

TEST(Search, FindsWhatIsPlantedAndJoinsIt) {
  World world;
  world.plant(huge("never"), {.peak = 0.85, .mean = 0.9});
  world.plant(cache("256K"), {.peak = 0.95, .mean = 0.95, .seconds = 1.01});
  world.plant(classes("stepped"), {.peak = 1.02, .mean = 1.02});
  const Outcome outcome = world.search_planted();
  EXPECT_EQ(outcome.chosen, (Configuration{huge("never"), cache("256K")}));
  EXPECT_EQ(outcome.verified.verdict, Verdict::kGains);
  EXPECT_NEAR(outcome.verified.peak_gain.percent, 100 * (1 - 0.85 * 0.95), 1);
  EXPECT_NEAR(outcome.verified.mean_gain.percent, 100 * (1 - 0.9 * 0.95), 1);
  EXPECT_NEAR(outcome.default_figures.peak_bytes, 100e6, 1e6);
  EXPECT_NEAR(outcome.chosen_figures.peak_bytes, 100e6 * 0.85 * 0.95, 1e6);
  EXPECT_EQ(verdict_of(outcome, classes("stepped")), Verdict::kNoise);
}

TEST(Search, FindsWhatGainsOnlyBesideAnother) {
  World world;
  world.plant(huge("never"), {.peak = 0.85, .mean = 0.85});
  world.plant(classes("stepped"), {});
  world.plant(decay("0"), {});
  world.plant({{huge("never"), classes("stepped")}, {.peak = 0.95, .mean = 0.95}});
  const Outcome outcome = world.search_planted();
  EXPECT_EQ(outcome.chosen, (Configuration{huge("never"), classes("stepped")}));
  EXPECT_EQ(outcome.added_to, (Configuration{huge("never")}));
  ASSERT_EQ(outcome.added.size(), 2u);
  EXPECT_NEAR(outcome.added[0].peak_gain.percent, 5, 1) << "beside what was chosen, not beside the defaults";
  EXPECT_EQ(outcome.added[1].verdict, Verdict::kNoise);
}

TEST(Search, WhatIsAddedKeepsTheBoundOfTimeTogetherWithTheRest) {
  World world(0.002, 0.002);
  world.plant(huge("never"), {.peak = 0.85, .mean = 0.85, .seconds = 1.04});
  world.plant(classes("stepped"), {.seconds = 1.03});
  world.plant({{huge("never"), classes("stepped")}, {.peak = 0.95, .mean = 0.95}});
  const Outcome outcome = world.search_planted();
  EXPECT_EQ(outcome.chosen, (Configuration{huge("never")}));
  EXPECT_EQ(outcome.added.front().verdict, Verdict::kTooSlow);
}

TEST(Search, MeasuresTheDefaultsEachTime) {
  World world;
  world.plant(huge("never"), {.peak = 0.8});
  world.plant(cache("64K"), {.peak = 0.9});
  world.plant(decay("0"), {});
  (void)world.search_planted();
  ASSERT_EQ(world.asked().size(), 4u);
  for (const auto& [step, asked] : world.asked()) EXPECT_TRUE(asked.front().empty());
  EXPECT_EQ(world.asked().back().first, Step::kVerified) << "the last word is that of fresh rounds";
}

TEST(Search, ProposesNothingThatIsNoise) {
  unsigned proposals = 0;
  for (unsigned seed = 0; seed < 500; ++seed) {
    World world(0.05, 0.05, seed);
    if (!world.search(usual_candidates()).chosen.empty()) ++proposals;
  }
  EXPECT_LE(proposals, 5u) << "of 500 programs for which no setting does anything";
}

TEST(Search, ProposesNothingSmallerThanIsWorthALine) {
  World world(0);
  world.plant(huge("never"), {.peak = 0.995});
  const Outcome outcome = world.search_planted();
  EXPECT_TRUE(outcome.chosen.empty());
  EXPECT_EQ(outcome.verifications, 0u);
  EXPECT_EQ(verdict_of(outcome, huge("never")), Verdict::kNoise);
}

TEST(Search, FindsAGainThatIsBarelyAboveItsNoise) {
  unsigned found = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    World world(0.02, 0.01, seed);
    world.plant(huge("never"), {.peak = 0.92, .mean = 0.92});
    found += world.search_planted().chosen.empty() ? 0 : 1;
  }
  EXPECT_GE(found, 90u);
}

TEST(Search, DropsASettingThatSpoilsTheOthers) {
  World world;
  world.plant(huge("never"), {.peak = 0.85, .mean = 0.85});
  world.plant(cache("64K"), {.peak = 0.9, .mean = 0.9});
  world.plant(decay("0"), {.peak = 0.95, .mean = 0.95});
  world.plant({{huge("never"), decay("0")}, {.peak = 1.2, .mean = 1.2}});
  const Outcome outcome = world.search_planted();
  EXPECT_EQ(outcome.chosen, (Configuration{huge("never"), cache("64K")}));
  EXPECT_EQ(verdict_of(outcome, decay("0")), Verdict::kAddsNothing);
}

TEST(Search, OfTwoSettingsThatGainTheSameKeepsOne) {
  World world;
  world.plant(cache("64K"), {.peak = 0.8, .mean = 0.8});
  world.plant(decay("0"), {.peak = 0.8, .mean = 0.8});
  world.plant({{cache("64K"), decay("0")}, {.peak = 1.25, .mean = 1.25}});
  const Outcome outcome = world.search_planted();
  EXPECT_EQ(outcome.chosen.size(), 1u);
  EXPECT_NEAR(outcome.verified.peak_gain.percent, 20, 1);
}

TEST(Search, TakesOneValueOfATopicTheBest) {
  World world;
  world.plant(huge("never"), {.peak = 0.85, .mean = 0.85});
  world.plant({"huge_page_threshold", "64M"}, {.peak = 0.9, .mean = 0.9});
  world.plant(cache("64K"), {.peak = 0.95, .mean = 0.95});
  world.plant(cache("256K"), {.peak = 0.9, .mean = 0.9});
  const Outcome outcome = world.search_planted();
  EXPECT_EQ(outcome.chosen, (Configuration{huge("never"), cache("256K")}));
  EXPECT_EQ(verdict_of(outcome, {"huge_page_threshold", "64M"}), Verdict::kOutdone);
  EXPECT_EQ(verdict_of(outcome, cache("64K")), Verdict::kOutdone);
}

TEST(Search, OfEqualGainsTakesTheCheaper) {
  World world(0, 0.001);
  world.plant(cache("64K"), {.peak = 0.9, .mean = 0.9, .seconds = 1.045});
  world.plant(cache("256K"), {.peak = 0.9, .mean = 0.9});
  EXPECT_EQ(world.search_planted().chosen, (Configuration{cache("256K")}));
}

TEST(Search, RespectsTheBoundOfTime) {
  World world;
  world.plant(huge("never"), {.peak = 0.7, .mean = 0.7, .seconds = 1.1});
  world.plant(cache("256K"), {.peak = 0.9, .mean = 0.9, .seconds = 1.02});
  const Outcome strict = world.search_planted({.most_time_percent = 5});
  EXPECT_EQ(strict.chosen, (Configuration{cache("256K")}));
  EXPECT_EQ(verdict_of(strict, huge("never")), Verdict::kTooSlow);
  EXPECT_LE(strict.verified.price.percent, 5);
  EXPECT_EQ(world.search_planted({.most_time_percent = 20}).chosen.size(), 2u);
}

TEST(Search, TheBoundOfTimeHoldsForTheWhole) {
  World world(0.002, 0.002);
  world.plant(huge("never"), {.peak = 0.8, .mean = 0.8, .seconds = 1.03});
  world.plant(cache("256K"), {.peak = 0.9, .mean = 0.9, .seconds = 1.04});
  const Outcome outcome = world.search_planted({.most_time_percent = 5});
  EXPECT_EQ(outcome.chosen, (Configuration{huge("never")}));
  EXPECT_EQ(verdict_of(outcome, cache("256K")), Verdict::kTooSlow);
}

TEST(Search, WhatIsTooSlowBesideOthersGivesItsPlaceToACheaperValue) {
  World world(0.002, 0.002);
  world.plant(huge("never"), {.peak = 0.8, .mean = 0.8, .seconds = 1.02});
  world.plant(cache("64K"), {.peak = 0.88, .mean = 0.88, .seconds = 1.045});
  world.plant(cache("256K"), {.peak = 0.9, .mean = 0.9, .seconds = 1.01});
  world.plant(cache("1M"), {.peak = 0.95, .mean = 0.95});
  const Outcome outcome = world.search_planted({.most_time_percent = 5});
  EXPECT_EQ(outcome.chosen, (Configuration{huge("never"), cache("256K")}));
  EXPECT_EQ(verdict_of(outcome, cache("64K")), Verdict::kTooSlow);
  EXPECT_EQ(verdict_of(outcome, cache("1M")), Verdict::kOutdone);
}

TEST(Search, NoProposalCostsMoreTimeThanItsBoundHoweverNoisyTimeIs) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    World world(0.002, 0.1, seed);
    world.plant(huge("never"), {.peak = 0.9, .mean = 0.9, .seconds = 1.05});
    const Outcome outcome = world.search_planted({.most_time_percent = 5});
    EXPECT_TRUE(outcome.chosen.empty() || outcome.verified.price.percent <= 5) << seed;
  }
}

TEST(Search, MeasuresMoreRoundsWhileNoiseHidesThePrice) {
  unsigned found = 0, fresh_rounds = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    World world(0.002, 0.1, seed);
    world.plant(huge("never"), {.peak = 0.9, .mean = 0.9});
    const Outcome outcome = world.search_planted({.most_time_percent = 5});
    found += outcome.chosen.empty() ? 0 : 1;
    fresh_rounds = std::max(fresh_rounds, static_cast<unsigned>(outcome.fresh_rounds));
  }
  EXPECT_GE(found, 80u) << "it costs no time, but that is seen in many rounds only";
  EXPECT_EQ(fresh_rounds, 45u);
}

TEST(Search, MakesTheMeanLessWhereThatIsTheAim) {
  World world;
  world.plant(decay("0"), {.peak = 1, .mean = 0.8});
  EXPECT_TRUE(world.search_planted({.aim = Aim::kPeak}).chosen.empty());
  EXPECT_EQ(world.search_planted({.aim = Aim::kMean}).chosen, (Configuration{decay("0")}));
}

TEST(Search, AGainThatTheOtherFigurePaysForIsNone) {
  World world;
  world.plant(decay("0"), {.peak = 0.95, .mean = 1.2});
  const Outcome outcome = world.search_planted();
  EXPECT_TRUE(outcome.chosen.empty());
  EXPECT_EQ(verdict_of(outcome, decay("0")), Verdict::kMoves);
}

TEST(Search, WhatFailsIsNotProposed) {
  World world;
  world.plant(huge("never"), {.peak = 0.8, .mean = 0.8});
  world.plant(cache("64K"), {.peak = 0.5, .mean = 0.5});
  world.make_fail(cache("64K"));
  const Outcome outcome = world.search_planted();
  EXPECT_EQ(outcome.chosen, (Configuration{huge("never")}));
  EXPECT_EQ(verdict_of(outcome, cache("64K")), Verdict::kFailed);
}

/// Alone the one value seems fast, fresh rounds show that it is not.
TEST(Search, WhatFreshRoundsFindTooSlowGivesItsPlaceToACheaperValue) {
  const Measure measure = [](Step step, const std::vector<Configuration>& asked) {
    std::vector<Measurements> all;
    for (const Configuration& configuration : asked) {
      const bool is_small = has(configuration, cache("64K"));
      const double peak = configuration.empty() ? 100 : is_small ? 80 : 85;
      const double seconds = !is_small ? 1 : step == Step::kVerified ? 1.5 : 1.01;
      all.push_back(
          {std::vector<double>(9, peak), std::vector<double>(9, peak), std::vector<double>(9, seconds)});
    }
    return all;
  };
  const Outcome outcome = search({cache("64K"), cache("256K")}, measure, {});
  EXPECT_EQ(outcome.chosen, (Configuration{cache("256K")}));
  EXPECT_EQ(outcome.verifications, 2u);
}

/// In the fresh rounds of this measurer nothing gains.
TEST(Search, WhatFreshRoundsDoNotBearOutIsNotProposed) {
  const Measure lucky = [](Step step, const std::vector<Configuration>& asked) {
    std::vector<Measurements> all;
    for (const Configuration& configuration : asked) {
      const double peak = step == Step::kVerified || configuration.empty() ? 100 : 90;
      all.push_back({std::vector<double>(9, peak), std::vector<double>(9, peak), std::vector<double>(9, 1)});
    }
    return all;
  };
  const Outcome outcome = search({huge("never"), cache("64K")}, lucky, {});
  EXPECT_TRUE(outcome.chosen.empty());
  EXPECT_EQ(outcome.verified.verdict, Verdict::kNoise);
  EXPECT_GE(outcome.verifications, 1u);
}

}  // namespace
}  // namespace tarn::tune
