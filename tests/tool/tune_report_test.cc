#include "trace/tune/tune_report.h"

#include "support/prelude.h"

namespace tarn::tool {
namespace {

using tune::Setting;
using tune::Verdict;

const Setting kDecay = {"decay", "0"}, kCache = {"thread_cache", "64K"};
const Setting kFitted = {"classes_file", kFittedClasses};

tune::Choice choice_of(const tune::Configuration& configuration, double gain, double price,
                       Verdict verdict = Verdict::kGains) {
  return {.configuration = configuration,
          .peak_gain = {gain, 0.25, 0},
          .mean_gain = {gain / 2, 0.25, 0},
          .price = {price, 2, 1},
          .verdict = verdict};
}

/// A search of these settings, of which the first is proposed.
TuneResult result_of(const std::vector<tune::Choice>& alone) {
  TuneResult result;
  result.trace.file = "my server.trace";
  result.trace.description.command = {"server"};
  result.outcome.alone = alone;
  result.outcome.default_figures = {100 << 20, 50 << 20, 0.5};
  if (alone.front().verdict != Verdict::kGains) return result;
  result.outcome.chosen = alone.front().configuration;
  result.outcome.verified = alone.front();
  result.outcome.chosen_figures = {90 << 20, 45 << 20, 0.51};
  result.outcome.verifications = 1;
  result.outcome.fresh_rounds = 9;
  return result;
}

std::string report_of(const TuneResult& result) { return tune_report(result, Colour::kOff); }

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(TuneReport, LessMemoryHasAMinusAndMoreTimeAPlus) {
  const std::string text = report_of(result_of({choice_of({kCache}, 10, 2)}));
  EXPECT_TRUE(holds(text, "-10.0 % ± 0.2")) << text;
  EXPECT_TRUE(holds(text, "+2.0 % ± 2.0")) << text;
  EXPECT_TRUE(holds(text, "peak RSS 100.0 MiB → 90.00 MiB (-10.0 %")) << text;
}

TEST(TuneReport, WhatRoundsToNothingHasNoSign) {
  const std::string text = report_of(result_of({choice_of({kCache}, 0.01, -0.04, Verdict::kNoise)}));
  EXPECT_TRUE(holds(text, " 0.0 % ± ")) << text;
  EXPECT_FALSE(holds(text, "-0.0")) << text;
}

TEST(TuneReport, TheLargestGainStandsFirst) {
  const std::string text =
      report_of(result_of({choice_of({kCache}, 2, 0), choice_of({kDecay}, 8, 20, Verdict::kTooSlow)}));
  EXPECT_LT(text.find("decay:0"), text.find("thread_cache:64K")) << text;
  EXPECT_TRUE(holds(text, "too slow")) << text;
}

TEST(TuneReport, AVerdictOfLaterRoundsStandsBesideTheirFigure) {
  tune::Choice choice = choice_of({kDecay}, 8, 0, Verdict::kNotConfirmed);
  choice.later = {tune::Step::kVerified, {-0.3, 0.5, 0}};
  const std::string text = report_of(result_of({choice_of({kCache}, 10, 2), choice}));
  EXPECT_TRUE(holds(text, "not confirmed: all chosen +0.3 % ± 0.5 in fresh rounds")) << text;
}

TEST(TuneReport, WhatFailedStandsLast) {
  const std::string text =
      report_of(result_of({choice_of({kCache}, 2, 0), choice_of({kFitted}, 0, 0, Verdict::kFailed),
                           choice_of({kDecay}, -3, 0, Verdict::kNoise)}));
  EXPECT_LT(text.find("decay:0"), text.find("classes_file")) << text;
}

TEST(TuneReport, WarnsOfDecayAndOfNothingElse) {
  const std::string warning = "A replay is shorter than the program's run";
  EXPECT_TRUE(holds(report_of(result_of({choice_of({kDecay}, 10, 1)})), warning));
  EXPECT_FALSE(holds(report_of(result_of({choice_of({kCache}, 10, 1)})), warning));
}

TEST(TuneReport, SaysWhereTheBoundOfTimeIsNotCertainToBeKept) {
  const std::string doubt = "That it keeps within 5 % more time is not certain";
  EXPECT_FALSE(holds(report_of(result_of({choice_of({kCache}, 10, 3.9)})), doubt));
  EXPECT_TRUE(holds(report_of(result_of({choice_of({kCache}, 10, 4.1)})), doubt)) << "its error is 1";
}

TEST(TuneReport, AFailureIsNamedInsteadOfFigures) {
  TuneResult result = result_of({choice_of({kCache}, 0, 0, Verdict::kFailed)});
  result.failures["thread_cache:64K"] = "3 calls got no memory";
  EXPECT_TRUE(holds(report_of(result), "3 calls got no memory"));
  EXPECT_EQ(tune_json(result)["alone"][0]["failure"], "3 calls got no memory");
}

TEST(TuneReport, NothingFoundIsOneSentenceAndNullInJson) {
  TuneResult result = result_of({choice_of({kCache}, 0.1, 0, Verdict::kNoise)});
  result.is_file_asked_for = true;
  EXPECT_TRUE(
      holds(report_of(result),
            "Nothing makes peak RSS less by more than its noise and 1 %, in at most 5 % more time: the "
            "defaults stay, no file is written.\n"));
  const Json json = tune_json(result);
  for (const char* name : {"proposed", "proposed_figures", "verified", "conf_file", "classes_file"})
    EXPECT_TRUE(json[name].is_null()) << name;
}

TEST(TuneReport, WhatFellThroughLastIsToldWithItsFigures) {
  TuneResult result = result_of({choice_of({kCache}, 10, 12, Verdict::kTooSlow)});
  result.outcome.verified = choice_of({kCache}, 10, 12, Verdict::kTooSlow);
  result.outcome.verifications = 1;
  EXPECT_TRUE(holds(report_of(result), "The last tried in fresh rounds, thread_cache:64K: peak RSS -10.0 %"));
}

TEST(TuneReport, WhatWasAddedIsToldUnlessItIsNoise) {
  TuneResult result = result_of({choice_of({kCache}, 10, 1), choice_of({kDecay}, 0, 0, Verdict::kNoise)});
  result.outcome.added_to = {kCache};
  result.outcome.added = {choice_of({kDecay}, 0, 0, Verdict::kNoise)};
  EXPECT_TRUE(
      holds(report_of(result), "Beside thread_cache:64K nothing else gains more than noise (1 tried)."));
  result.outcome.added = {choice_of({kDecay}, 3, 0)};
  EXPECT_TRUE(holds(report_of(result), "-3.0 % ± 0.2"));
}

TEST(ProposedFile, NamesTheFittedClassesByTheirPathBehindAComment) {
  TuneResult result = result_of({choice_of({kFitted}, 10, 1)});
  result.conf_file = "tarn.conf";
  result.classes_file = "/srv/tarn.classes";
  const std::string text = proposed_file(result);
  EXPECT_TRUE(holds(text, "# Made by tarn tune from 'my server.trace', in 9 rounds")) << text;
  EXPECT_TRUE(text.ends_with("\nclasses_file:/srv/tarn.classes\n")) << text;
}

TEST(EnvironmentOfDefaults, HasNothingThatSetsAnOption) {
  setenv("TARN_DECAY", "0", 1);
  setenv("TARN_CONF", "decay:0", 1);
  setenv("TARN_CONF_FILE", "/nowhere", 1);
  const Environment environment = environment_of_defaults();
  for (const char* name : {"TARN_DECAY", "TARN_CONF", "TARN_CONF_FILE"}) {
    EXPECT_EQ(environment.get(name), "") << name;
    unsetenv(name);
  }
}

}  // namespace
}  // namespace tarn::tool
