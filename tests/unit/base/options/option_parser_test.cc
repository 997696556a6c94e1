#include "base/options/option_parser.h"

#include <cctype>

#include "base/options/option_table.h"
#include "base/options/size_class_presets.h"
#include "support/prelude.h"

namespace tarn::internal {
namespace {

const OptionInfo& info(Option option) { return kOptionTable[static_cast<std::size_t>(option)]; }

/// The value of a text for an option, or -1.
std::int64_t parsed(Option option, const std::string& text) {
  std::int64_t value = 0;
  return parse_option_value(info(option), text, &value) ? value : -1;
}

TEST(OptionParser, ReadsBooleans) {
  for (const char* word : {"1", "on", "true", "yes"}) EXPECT_EQ(parsed(Option::kCheck, word), 1) << word;
  for (const char* word : {"0", "off", "false", "no"}) EXPECT_EQ(parsed(Option::kCheck, word), 0) << word;
  for (const char* word : {"", "2", "maybe", "1 ", "truely", "-1"})
    EXPECT_EQ(parsed(Option::kCheck, word), -1) << word;
}

TEST(OptionParser, ReadsBytesWithSuffixes) {
  EXPECT_EQ(parsed(Option::kFreePageThreshold, "12345"), 12345);
  for (const char* word : {"64M", "64m", "64MB", "64MiB"})
    EXPECT_EQ(parsed(Option::kFreePageThreshold, word), 64 << 20);
  EXPECT_EQ(parsed(Option::kFreePageThreshold, "3K"), 3072);
  EXPECT_EQ(parsed(Option::kFreePageThreshold, "2GiB"), std::int64_t{2} << 30);
  for (const char* word :
       {"", "M", "-1", "1.5M", "64MM", "64 M", "1T", "0x10", "99999999999999999999", "9223372036854775807G"})
    EXPECT_EQ(parsed(Option::kFreePageThreshold, word), -1) << word;
}

TEST(OptionParser, ReadsTimes) {
  EXPECT_EQ(parsed(Option::kDecay, "250"), 250);
  EXPECT_EQ(parsed(Option::kDecay, "250ms"), 250);
  EXPECT_EQ(parsed(Option::kDecay, "3s"), 3000);
  for (const char* word : {"", "s", "1h", "3 s", "-5", "9223372036854775807s"})
    EXPECT_EQ(parsed(Option::kDecay, word), -1) << word;
}

TEST(OptionParser, ReadsChoicesByName) {
  EXPECT_EQ(parsed(Option::kHugePages, "never"), 0);
  EXPECT_EQ(parsed(Option::kHugePages, "auto"), 1);
  EXPECT_EQ(parsed(Option::kHugePages, "always"), 2);
  for (const char* word : {"", "0", "nev", "never|auto", "Auto", "alway", "alwayss"})
    EXPECT_EQ(parsed(Option::kHugePages, word), -1) << word;
}

TEST(OptionParser, HoldsEveryOptionToItsLimits) {
  for (const OptionInfo& option : kOptionTable) {
    if (option.kind == OptionKind::kPath || option.kind == OptionKind::kChoice) continue;
    EXPECT_EQ(parsed(option.id, std::to_string(option.minimum)), option.minimum) << option.key;
    EXPECT_EQ(parsed(option.id, std::to_string(option.maximum)), option.maximum) << option.key;
    EXPECT_EQ(parsed(option.id, std::to_string(option.maximum + 1)), -1) << option.key;
    if (option.minimum > 0) {
      EXPECT_EQ(parsed(option.id, std::to_string(option.minimum - 1)), -1) << option.key;
    }
  }
}

TEST(OptionParser, NamesEnvironmentVariablesAfterKeys) {
  for (const OptionInfo& option : kOptionTable) {
    std::string expected = "TARN_";
    for (const char* at = option.key; *at != '\0'; ++at) expected += static_cast<char>(std::toupper(*at));
    EXPECT_EQ(environment_name(option).text, expected);
  }
}

TEST(OptionParser, FindsEveryOptionByItsWholeKeyAlone) {
  for (const OptionInfo& option : kOptionTable) {
    const std::string key = option.key;
    EXPECT_EQ(find_option(key), &option);
    EXPECT_EQ(find_option(key.substr(0, key.size() - 1)), nullptr);
    EXPECT_EQ(find_option(key + "s"), nullptr);
  }
  EXPECT_EQ(find_option(""), nullptr);
}

TEST(OptionParser, ReadsEachNameOfAChoiceAsItsIndex) {
  for (const OptionInfo& option : kOptionTable) {
    if (option.kind != OptionKind::kChoice) continue;
    for (std::int64_t index = 0; index <= option.maximum; ++index)
      EXPECT_EQ(parsed(option.id, std::string(choice_name(option, index))), index) << option.key;
  }
}

std::vector<std::string> pairs_of(std::string_view text) {
  std::vector<std::string> pairs;
  for (OptionPair pair; next_option_pair(&text, &pair);)
    pairs.push_back(std::string(pair.key) + "=" + std::string(pair.value));
  return pairs;
}

TEST(OptionParser, SplitsPairsAtCommasAndLines) {
  EXPECT_EQ(pairs_of("a:1,b=2\nc : 3 , d"), (std::vector<std::string>{"a=1", "b=2", "c=3", "d="}));
  EXPECT_EQ(pairs_of("a:x=y:z"), (std::vector<std::string>{"a=x=y:z"})) << "the first separator counts";
  for (const char* nothing : {"", ",", " ,\n\t,", "# a:1", "#\n#"})
    EXPECT_TRUE(pairs_of(nothing).empty()) << nothing;
}

TEST(OptionParser, ACommentEndsWithItsLine) {
  EXPECT_EQ(pairs_of("a:1 # b:2, c:3\nd:4"), (std::vector<std::string>{"a=1", "d=4"}));
}

TEST(OptionParser, AZeroByteSeparatesPairs) {
  EXPECT_EQ(pairs_of(std::string_view("a:1\0b:2", 7)), (std::vector<std::string>{"a=1", "b=2"}));
}

const OptionInfo& option() { return kOptionTable[static_cast<std::size_t>(Option::kClasses)]; }

TEST(SizeClassPresets, NamesDifferAndAreWordsOfAnOption) {
  std::set<std::string> names;
  for (const SizeClassPreset& preset : kSizeClassPresets) {
    EXPECT_TRUE(names.insert(preset.name).second) << preset.name;
    EXPECT_EQ(std::string(preset.name).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string::npos)
        << preset.name;
  }
}

TEST(SizeClassPresets, AreTheChoicesOfTheOptionInTheirOrder) {
  std::string choices;
  for (const SizeClassPreset& preset : kSizeClassPresets)
    choices += (choices.empty() ? "" : "|") + std::string(preset.name);
  EXPECT_EQ(option().choices, choices);
  EXPECT_EQ(option().maximum + 1, static_cast<std::int64_t>(kSizeClassPresetCount));
  EXPECT_STREQ(kSizeClassPresets[option().default_value].name, "default");
}

TEST(SizeClassPresets, EachIsExplainedInTheHelpOfTheOption) {
  for (const SizeClassPreset& preset : kSizeClassPresets)
    EXPECT_NE(std::string(option().help).find(preset.help), std::string::npos) << preset.name;
}

TEST(SizeClassPresets, EveryPresetHasAClassForTheLargestBlock) {
  for (const SizeClassPreset& preset : kSizeClassPresets)
    EXPECT_TRUE(preset.has_class(256 * 1024)) << preset.name;
}

TEST(SizeClassPresets, StepsOfADoublingEndAtThePowerOfTwo) {
  for (const std::uint32_t step : {1152u, 1280u, 2048u, 2304u, 16384u, 18432u})
    EXPECT_TRUE(is_step_of_doubling(step, 8)) << step;
  for (const std::uint32_t between : {1088u, 1216u, 2176u, 15872u})
    EXPECT_FALSE(is_step_of_doubling(between, 8)) << between;
}

}  // namespace
}  // namespace tarn::internal
