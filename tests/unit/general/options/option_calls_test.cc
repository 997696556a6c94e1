// Each test runs in a process of its own (CMakeLists.txt), in which the library has not set itself up.
#include "base/options/option_parser.h"
#include "general/options/configuration.h"
#include "support/child.h"
#include "support/invariants.h"
#include "support/prelude.h"
#include "tarn/memory_pool.h"
#include "tarn/options.h"

namespace tarn::internal {
namespace {

std::string value_of(const char* key) {
  char text[600];
  return tarn::option(key, text) < 0 ? "none" : text;
}

struct State {
  std::string environment, kind, choices, value, source;
  bool may_change, changes_at_run_time;
};

std::map<std::string, State> states() {
  std::map<std::string, State> all;
  tarn::for_each_option([&](const OptionState& option) {
    all[option.key] = {option.environment,
                       option.kind,
                       option.choices == nullptr ? "" : option.choices,
                       option.value,
                       option.source,
                       option.may_change != 0,
                       option.changes_at_run_time != 0};
  });
  return all;
}

/// Begins the library's set-up.
void set_up() { tarn::deallocate(tarn::allocate(100)); }

const char* another_value(const OptionInfo& option) {
  switch (option.kind) {
    case OptionKind::kBool:
      return option.default_value != 0 ? "0" : "1";
    case OptionKind::kBytes:
      return "5242880";
    case OptionKind::kMilliseconds:
      return "1234ms";
    case OptionKind::kNumber:
      return option.maximum < 1234 ? "123" : "1234";
    case OptionKind::kChoice:
      return option.default_value == 0 ? std::strchr(option.choices, '|') + 1 : "never";
    case OptionKind::kPath:
      break;
  }
  return "/nonexistent/statistics";
}

/// The same up to the next choice.
std::string first_choice(std::string text) { return text.substr(0, text.find('|')); }

TEST(SetOption, SetsEachOptionBeforeTheFirstAllocation) {
  const std::string no_leaks = value_of("leaks");
  for (const OptionInfo& option : kOptionTable) {
    const std::string value = first_choice(another_value(option));
    EXPECT_NE(value_of(option.key), value) << option.key;
    EXPECT_EQ(tarn::set_option(option.key, value.c_str()), OptionResult::kSet) << option.key;
    EXPECT_EQ(value_of(option.key), value) << option.key;
  }
  // Or the process searches itself at its end: more than a minute in a sanitizer's memory.
  EXPECT_EQ(tarn::set_option("leaks", no_leaks.c_str()), OptionResult::kSet);
}

TEST(SetOption, IsTooLateForOptionsThatAreFixedOnceTheLibraryHasStarted) {
  set_up();
  for (const OptionInfo& option : kOptionTable) {
    const std::string before = value_of(option.key), value = first_choice(another_value(option));
    const bool may_change = option.change == OptionChange::kAnyTime;
    EXPECT_EQ(tarn::set_option(option.key, value.c_str()),
              may_change ? OptionResult::kSet : OptionResult::kTooLate)
        << option.key;
    EXPECT_EQ(value_of(option.key), may_change ? value : before) << option.key;
  }
  set_up();
  test::validate_library();
}

TEST(SetOption, AndReadingOptionsDoNotSetTheLibraryUp) {
  EXPECT_EQ(tarn::set_option("decay", "3s"), OptionResult::kSet);
  EXPECT_EQ(value_of("decay"), "3000ms");
  EXPECT_TRUE(states()["classes"].may_change);
  EXPECT_EQ(page_map.region_count(), 0u);
  EXPECT_EQ(tarn::set_option("check", "on"), OptionResult::kSet);
  EXPECT_FALSE(thread_limits.check_every_free);
  set_up();
  EXPECT_TRUE(thread_limits.check_every_free) << "what was set before the start is what starts";
  EXPECT_FALSE(states()["classes"].may_change);
  EXPECT_TRUE(states()["decay"].may_change);
}

TEST(SetOption, ChoosesTheClassesBeforeTheFirstAllocation) {
  ASSERT_EQ(tarn::set_option("classes", "lfh128"), OptionResult::kSet);
  EXPECT_FALSE(std::memcmp(&detail::class_of_bin, &kPresetClasses.of[1], sizeof detail::class_of_bin) == 0);
  set_up();
  EXPECT_TRUE(std::memcmp(&detail::class_of_bin, &kPresetClasses.of[1], sizeof detail::class_of_bin) == 0);
}

TEST(SetOption, TellsWhatIsWrongAndChangesNothing) {
  for (const bool has_started : {false, true}) {
    if (has_started) set_up();
    EXPECT_EQ(tarn_set_option("colour", "red"), ENOENT);
    EXPECT_EQ(tarn_set_option("", "1"), ENOENT);
    EXPECT_EQ(tarn_set_option("decay", "soon"), EINVAL);
    EXPECT_EQ(tarn_set_option("decay", ""), EINVAL);
    EXPECT_EQ(tarn_set_option("decay", "-1"), EINVAL);
    EXPECT_EQ(tarn_set_option("decay", "9999999999999999999999"), EINVAL);
    EXPECT_EQ(tarn_set_option("thread_cache", "1"), EINVAL) << "below the least";
    EXPECT_EQ(tarn_set_option("huge_pages", "Never"), EINVAL);
    EXPECT_EQ(tarn_set_option(nullptr, "1"), EINVAL);
    EXPECT_EQ(tarn_set_option("decay", nullptr), EINVAL);
    EXPECT_EQ(tarn_set_option(nullptr, nullptr), EINVAL);
    EXPECT_EQ(value_of("decay"), "2000ms");
    EXPECT_EQ(value_of("thread_cache"), "8388608");
  }
}

TEST(SetOption, RefusesTextsWithoutEnd) {
  const std::string huge(4 << 20, '7');
  EXPECT_EQ(tarn_set_option(huge.c_str(), "1"), ENOENT);
  for (const OptionInfo& option : kOptionTable)
    EXPECT_EQ(tarn_set_option(option.key, huge.c_str()), EINVAL) << option.key;
  EXPECT_EQ(tarn_set_option("stats_file", std::string(511, 'x').c_str()), 0);
  EXPECT_EQ(value_of("stats_file"), std::string(511, 'x'));
}

TEST(SetOption, IsStrongerThanTheEnvironmentAndTheLastCallWins) {
  const test::ChildResult child = test::run_in_child([] {
    setenv("TARN_DECAY", "7", 1);
    setenv("TARN_CONF", "decay:8,thread_cache:1M,background:off", 1);
    const bool is_first = tarn::set_option("decay", "9") == OptionResult::kSet &&
                          value_of("decay") == "9ms" && tarn::set_option("decay", "10") == OptionResult::kSet;
    set_up();
    const bool is_second =
        value_of("decay") == "10ms" && value_of("thread_cache") == "1048576" && value_of("background") == "0";
    return is_first && is_second ? 0 : 1;
  });
  EXPECT_TRUE(child.is_success()) << child.describe();
}

TEST(Option, IsWrittenAsSnprintfWrites) {
  char text[8];
  std::memset(text, 'x', sizeof text);
  EXPECT_EQ(tarn_option("decay", text, sizeof text), 6);
  EXPECT_STREQ(text, "2000ms");
  EXPECT_EQ(text[7], 'x');
  EXPECT_EQ(tarn_option("decay", text, 7), 6);
  EXPECT_STREQ(text, "2000ms");
  EXPECT_EQ(tarn_option("decay", text, 4), 6);
  EXPECT_STREQ(text, "200");
  EXPECT_EQ(tarn_option("decay", text, 1), 6);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(tarn_option("decay", nullptr, 0), 6);
  EXPECT_EQ(tarn_option("stats_file", text, sizeof text), 0);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(tarn_option("colour", text, sizeof text), -1);
  EXPECT_EQ(tarn_option(nullptr, text, sizeof text), -1);
}

TEST(ForEachOption, TellsAllOfTheTableInItsOrder) {
  std::vector<std::string> keys;
  tarn::for_each_option([&](const OptionState& option) {
    const OptionInfo& info = kOptionTable[keys.size()];
    keys.push_back(option.key);
    EXPECT_EQ(option.bytes, sizeof(OptionState));
    EXPECT_STREQ(option.key, info.key);
    EXPECT_STREQ(option.help, info.help);
    EXPECT_STREQ(option.environment, environment_name(info).text);
    EXPECT_STREQ(option.kind, kind_name(info.kind));
    EXPECT_EQ(option.choices, info.choices);
    EXPECT_EQ(option.value, value_of(info.key));
    EXPECT_STREQ(option.source, "default");
    EXPECT_EQ(option.may_change, 1);
    EXPECT_EQ(option.changes_at_run_time, info.change == OptionChange::kAnyTime);
  });
  EXPECT_EQ(keys.size(), kOptionCount);
}

TEST(ForEachOption, NamesTheSourceOfEachValue) {
  const test::ChildResult child = test::run_in_child([] {
    setenv("TARN_CONF", "decay:8,thread_cache:1M", 1);
    setenv("TARN_THREAD_CACHE", "2M", 1);
    tarn::set_option("background", "off");
    std::map<std::string, State> all = states();
    std::printf("%s %s %s %s", all["decay"].source.c_str(), all["thread_cache"].source.c_str(),
                all["background"].source.c_str(), all["check"].source.c_str());
    return 0;
  });
  EXPECT_EQ(child.output, "TARN_CONF environment set_option default");
}

TEST(ForEachOption, MaySetOptionsInItsVisit) {
  tarn::for_each_option([](const OptionState& option) {
    if (option.changes_at_run_time != 0) {
      EXPECT_EQ(tarn::set_option(option.key, option.kind == std::string("path") ? "x" : option.value),
                OptionResult::kSet);
    }
  });
  for (const auto& [key, state] : states())
    EXPECT_EQ(state.source == "set_option", state.changes_at_run_time) << key;
}

}  // namespace
}  // namespace tarn::internal
