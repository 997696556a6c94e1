#include "profile/documents/documents.h"

#include <zlib.h>

#include "hand_made_profile.h"
#include "profile/documents/call_tree.h"
#include "profile/documents/call_tree_text.h"
#include "support/prelude.h"

namespace tarn::profile {
namespace {

// -- The documents of one profile: folded stacks, speedscope, JSON, the page and its tree of calls.

HeapProfile make_hostile_profile() {
  return test::make_profile_of("<b>\"bad\"\xff", "</script><img src=x>\033[2J");
}

TEST(Folded, StacksAreLinesFromTheOutermostIn) {
  EXPECT_EQ(folded_text(test::named(test::make_mixed_profile()), Measure::kLive),
            "0x201;0x101 4096\n"
            "0x201;0x102 512\n"
            "0x201;0x103;[fixed pool 3 \"packets:\"] 48\n"
            "[allocated before the profile was switched on] 1000\n");
}

TEST(Folded, AllocatedBytesHaveNothingOlder) {
  const std::string text = folded_text(test::named(test::make_mixed_profile()), Measure::kAllocated);
  EXPECT_NE(text.find("0x201;0x101 8192\n"), std::string::npos);
  EXPECT_EQ(text.find("before"), std::string::npos);
}

TEST(Speedscope, WeightsAddUpToTheEndOfEachProfile) {
  const Json json = speedscope_json(test::named(test::make_mixed_profile()));
  ASSERT_EQ(json["profiles"].size(), 2u);
  for (const Json& profile : json["profiles"]) {
    EXPECT_EQ(profile["samples"].size(), profile["weights"].size());
    std::int64_t sum = 0;
    for (const Json& weight : profile["weights"]) sum += weight.get<std::int64_t>();
    EXPECT_EQ(profile["endValue"], sum);
    for (const Json& sample : profile["samples"])
      for (const Json& frame : sample) EXPECT_LT(frame.get<std::size_t>(), json["shared"]["frames"].size());
  }
  const Json& first = json["profiles"][0]["samples"][0];
  EXPECT_EQ(json["shared"]["frames"][first[0].get<std::size_t>()]["name"], "0x201");
}

// -- The timeline, by the rules of the Trace Event Format.

std::vector<Json> events_of(const Json& timeline, const std::string& phase) {
  std::vector<Json> events;
  for (const Json& event : timeline["traceEvents"])
    if (event["ph"] == phase) events.push_back(event);
  return events;
}

TEST(Timeline, CountersHaveWhatWasLiveInMicroseconds) {
  const Json timeline = timeline_json(test::named(test::make_profile_with_looks()));
  const std::vector<Json> counters = events_of(timeline, "C");
  ASSERT_EQ(counters.size(), 16u) << "two at each look";
  EXPECT_EQ(counters[2]["ts"], 500'000);
  EXPECT_EQ(counters[2]["name"], "live bytes");
  EXPECT_EQ(counters[2]["args"].dump(), R"({"all":2150})");
  EXPECT_EQ(counters[3]["ts"], 500'000);
  EXPECT_EQ(counters[3]["args"].dump(), R"({"0x2":1000,"[frames left out]":800,"[other sites]":50,)"
                                        R"("[allocated before the profile was switched on]":300})");
}

TEST(Timeline, InstantsTellThePeaksOfAllAndOfEachSite) {
  const Json timeline = timeline_json(test::named(test::make_profile_with_looks()));
  const std::vector<Json> peaks = events_of(timeline, "i");
  ASSERT_EQ(peaks.size(), 5u);
  EXPECT_EQ(peaks[0]["name"], "peak of all live bytes: 7.67 KiB");
  EXPECT_EQ(peaks[0]["ts"], 3'500'000);
  EXPECT_EQ(peaks[4]["ts"], 0) << "of what is older";
  for (const Json& peak : peaks) EXPECT_EQ(peak["s"], "t");
}

TEST(Timeline, EveryEventHasItsProcessAndThreadWhichHaveNames) {
  HeapProfile profile = test::make_profile_with_looks();
  profile.pid = 0;
  const Json timeline = timeline_json(test::named(std::move(profile)));
  for (const Json& event : timeline["traceEvents"]) {
    EXPECT_EQ(event["pid"], 1) << "0 would be the idle process";
    EXPECT_TRUE(event["tid"].is_number()) << event;
    EXPECT_TRUE(event["name"].is_string()) << event;
    EXPECT_TRUE(event["ph"] == "M" || event["ts"].is_number()) << event;
  }
  const std::vector<Json> names = events_of(timeline, "M");
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0]["name"], "process_name");
  EXPECT_EQ(names[0]["args"]["name"], "server");
}

TEST(Timeline, AProfileWithoutLooksHasNone) {
  const Json json = timeline_json(test::named(test::make_mixed_profile()));
  EXPECT_EQ(json["traceEvents"].back()["name"], "the profile ended before its third look");
}

TEST(ProfileJson, TellsLiveBlocksBySizeInWholeNumbers) {
  HeapProfile profile = test::make_mixed_profile();
  profile.live_sizes = {{100, 4.2}, {4096, 1}};
  const Json json = profile_json(test::named(std::move(profile)));
  EXPECT_EQ(json["live_sizes"].dump(), R"([{"size":100,"count":4},{"size":4096,"count":1}])");
}

TEST(ProfileJson, HasAVersionAndEveryStack) {
  const Json json = Json::parse(text_of(profile_json(test::named(test::make_mixed_profile()))));
  EXPECT_EQ(json["schema"], "tarn profile");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["live"]["bytes"], 4096 + 512 + 48 + 1000);
  ASSERT_EQ(json["stacks"].size(), 4u);
  EXPECT_EQ(json["stacks"][0]["frames"][0]["function"], "0x101");
  EXPECT_TRUE(json["stacks"][0]["pool"].is_null());
  EXPECT_EQ(json["stacks"][2]["pool"], "fixed pool 3 \"packets;\"");
  EXPECT_EQ(json["stacks"][3]["older"], true);
}

TEST(FlamePage, CarriesItsDataAndNothingFromOutside) {
  const std::string page = flame_page(test::named(test::make_mixed_profile()));
  EXPECT_EQ(page.find("@DATA@"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_NE(page.find("packets"), std::string::npos);
  EXPECT_NE(page.find("before the profile was switched on"), std::string::npos);
}

TEST(Documents, HostileNamesStayText) {
  const NamedProfile profile = test::named(make_hostile_profile());
  const std::string page = flame_page(profile);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  for (const std::string& text : {page, folded_text(profile, Measure::kLive),
                                  text_of(speedscope_json(profile)), text_of(profile_json(profile))})
    EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(Json::parse(text_of(profile_json(profile)))["program"], "<b>\"bad\"?");
}

TEST(Documents, AnEmptyProfileIsADocumentToo) {
  const NamedProfile profile = test::named(std::vector<ProfileStack>{});
  EXPECT_EQ(folded_text(profile, Measure::kLive), "");
  EXPECT_EQ(speedscope_json(profile)["profiles"][0]["endValue"], 0);
  EXPECT_NE(flame_page(profile).find("</html>"), std::string::npos);
}

TEST(CallTree, AParentHoldsItsChildren) {
  const NamedProfile profile = test::named(test::make_mixed_profile());
  const std::vector<CallNode> nodes = call_tree_of(profile, 100);
  ASSERT_EQ(nodes.size(), 7u);  // all, 0x201 and three below it, a pool, older memory
  EXPECT_EQ(nodes[0].live.bytes, 5656);
  EXPECT_EQ(nodes[1].name, "0x201");
  EXPECT_EQ(nodes[1].live.bytes, 4656);
  EXPECT_EQ(nodes[2].parent, 1u);
}

TEST(CallTree, TheSmallestAreLeftOutWhereThereAreTooMany) {
  std::vector<ProfileStack> stacks;
  for (std::uint64_t i = 1; i <= 1000; ++i)
    stacks.push_back(test::make_stack({0x10000 + i, 0x5}, 1, static_cast<double>(i)));
  const NamedProfile profile = test::named(stacks);
  const std::vector<CallNode> nodes = call_tree_of(profile, 100);
  EXPECT_EQ(nodes.size(), 100u);
  EXPECT_EQ(nodes[0].live.bytes, 1000 * 1001 / 2);
  for (std::size_t i = 1; i < nodes.size(); ++i) EXPECT_LT(nodes[i].parent, i);
}

TEST(CallTree, EqualCallsAreLeftOutFromTheEndAndNotAll) {
  std::vector<ProfileStack> stacks;
  for (std::uint64_t i = 1; i <= 50; ++i) stacks.push_back(test::make_stack({0x10000 + i, 0x100 + i}, 1, 10));
  const NamedProfile profile = test::named(stacks);
  const std::vector<CallNode> nodes = call_tree_of(profile, 60);
  EXPECT_EQ(nodes.size(), 60u);
  for (std::size_t i = 1; i < nodes.size(); ++i) EXPECT_GE(nodes[nodes[i].parent].live.bytes, 10);
}

TEST(PageTree, WhatIsLeftOutIsOneCallBelowItsCaller) {
  std::vector<ProfileStack> stacks;
  for (std::uint64_t i = 1; i <= 10; ++i)
    stacks.push_back(test::make_stack({0x90, 0x10000 + i, 0x5}, 1, static_cast<double>(i)));
  const PageTree tree = page_tree_of(test::named(stacks), 4, 100);  // all, 0x5, and the greatest stack
  ASSERT_EQ(tree.nodes.size(), 5u);
  const PageNode& rest = tree.nodes[4];
  EXPECT_EQ(rest.parent, 1u);
  EXPECT_EQ(rest.function, PageNode::kSmaller);
  EXPECT_EQ(rest.line, 18u);
  EXPECT_EQ(rest.live.bytes, 45);
}

TEST(PageTree, AFunctionHasTheSumsOfAllStacks) {
  const PageTree tree = page_tree_of(
      test::named({test::make_stack({0x11, 0x12, 0x11, 0x13}, 1, 10), test::make_stack({0x12, 0x13}, 1, 5)}),
      1, 100);
  const auto function = [&](const std::string& name) {
    return *std::ranges::find(tree.functions, name, &CalledFunction::name);
  };
  EXPECT_EQ(tree.functions[0].live.bytes, 15);
  EXPECT_EQ(function("0x11").live.bytes, 10);  // it is in the stack twice
  EXPECT_EQ(function("0x11").own.live.bytes, 10);
  EXPECT_EQ(function("0x12").live.bytes, 15);
  EXPECT_EQ(function("0x12").own.live.bytes, 5);
  EXPECT_EQ(function("0x13").own.live.bytes, 0);
}

/// A message's fields, in the order of the file: a number, or bytes.
struct Field {
  unsigned number = 0;
  std::uint64_t value = 0;
  std::string bytes = {};
};

std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  ADD_FAILURE() << "a number without an end";
  return 0;
}

std::vector<Field> fields_of(std::string_view bytes) {
  std::vector<Field> fields;
  while (!bytes.empty()) {
    const std::uint64_t key = take_varint(bytes);
    Field field{.number = static_cast<unsigned>(key >> 3), .value = take_varint(bytes)};
    if ((key & 7) == 2) {
      field.bytes = bytes.substr(0, field.value);
      bytes.remove_prefix(std::min<std::size_t>(field.value, bytes.size()));
    }
    fields.push_back(field);
  }
  return fields;
}

std::vector<std::uint64_t> numbers_of(std::string_view packed) {
  std::vector<std::uint64_t> numbers;
  while (!packed.empty()) numbers.push_back(take_varint(packed));
  return numbers;
}

std::string unpacked(const std::string& file) {
  std::string bytes(std::size_t{1} << 20, '\0');
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
  stream.avail_in = static_cast<uInt>(file.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  inflateEnd(&stream);
  return bytes;
}

std::vector<std::string> all_of(const std::vector<Field>& fields, unsigned number) {
  std::vector<std::string> found;
  for (const Field& field : fields)
    if (field.number == number) found.push_back(field.bytes);
  return found;
}

std::uint64_t number_of(const std::vector<Field>& fields, unsigned number) {
  for (const Field& field : fields)
    if (field.number == number) return field.value;
  return 0;
}

HeapProfile make_profile_with_module() {
  HeapProfile profile = test::make_mixed_profile();
  profile.modules = {{0x100, 0x180, 0x40, "[jit]", "\x01\xfe"}};
  return profile;
}

TEST(Pprof, ADecoderFindsWhatWasWritten) {
  const std::vector<Field> fields =
      fields_of(unpacked(pprof_file(test::named(make_profile_with_module()), 1234567890)));
  const std::vector<std::string> texts = all_of(fields, 6);
  EXPECT_EQ(texts[0], "");
  std::vector<std::string> types;
  for (const std::string& type : all_of(fields, 1))
    types.push_back(texts.at(number_of(fields_of(type), 1)) + "/" + texts.at(number_of(fields_of(type), 2)));
  EXPECT_EQ(types, (std::vector<std::string>{"alloc_objects/count", "alloc_space/bytes",
                                             "inuse_objects/count", "inuse_space/bytes"}));
  EXPECT_EQ(texts.at(number_of(fields, 14)), "inuse_space");
  EXPECT_EQ(number_of(fields, 9), 1234567890u);
  EXPECT_EQ(number_of(fields, 10), 2'000'000'000u);
  EXPECT_EQ(number_of(fields, 12), 1u);
  EXPECT_NE(texts.at(number_of(fields, 13)).find("before the profile was switched on"), std::string::npos);

  const std::vector<Field> mapping = fields_of(all_of(fields, 3).at(0));
  EXPECT_EQ(number_of(mapping, 2), 0x100u);
  EXPECT_EQ(texts.at(number_of(mapping, 5)), "[jit]");
  EXPECT_EQ(texts.at(number_of(mapping, 6)), "01fe");
}

TEST(Pprof, SamplesHaveFourValuesAndTheirPool) {
  const std::vector<Field> fields =
      fields_of(unpacked(pprof_file(test::named(make_profile_with_module()), 0)));
  const std::vector<std::string> texts = all_of(fields, 6), samples = all_of(fields, 2);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(numbers_of(all_of(fields_of(samples[0]), 2).at(0)),
            (std::vector<std::uint64_t>{8, 8192, 4, 4096}));
  EXPECT_EQ(numbers_of(all_of(fields_of(samples[3]), 2).at(0)), (std::vector<std::uint64_t>{0, 0, 10, 1000}));
  const std::vector<Field> label = fields_of(all_of(fields_of(samples[2]), 3).at(0));
  EXPECT_EQ(texts.at(number_of(label, 1)), "pool");
  EXPECT_EQ(texts.at(number_of(label, 2)), "fixed pool 3 \"packets;\"");
}

TEST(Pprof, LocationsAreNamedAndSharedByStacks) {
  const std::vector<Field> fields =
      fields_of(unpacked(pprof_file(test::named(make_profile_with_module()), 0)));
  const std::vector<std::string> texts = all_of(fields, 6), locations = all_of(fields, 4);
  ASSERT_EQ(locations.size(), 5u);  // 0x101 to 0x103, 0x201 and the older memory
  const std::vector<Field> location = fields_of(locations[0]);
  EXPECT_EQ(number_of(location, 2), 1u);
  EXPECT_EQ(number_of(location, 3), 0x100u);
  const std::uint64_t function = number_of(fields_of(all_of(location, 4).at(0)), 1);
  EXPECT_EQ(texts.at(number_of(fields_of(all_of(fields, 5).at(function - 1)), 2)), "[jit]+0x41");
}

TEST(Pprof, GoReadsIt) {
  if (std::system("go tool pprof -h >/dev/null 2>&1; test $? -le 2 && command -v go >/dev/null") != 0)
    GTEST_SKIP() << "go tool pprof is missing (Debian: apt-get install golang-go)";
  char path[] = "/tmp/tarn-pprof-XXXXXX";
  const int descriptor = mkstemp(path);
  ASSERT_GE(descriptor, 0);
  std::ofstream(path, std::ios::binary) << pprof_file(test::named(make_profile_with_module()), 1);
  std::string text;
  std::FILE* const output = popen(("go tool pprof -top " + std::string(path) + " 2>&1").c_str(), "r");
  char piece[4096];
  while (std::fgets(piece, sizeof piece, output) != nullptr) text += piece;
  EXPECT_EQ(pclose(output), 0);
  std::remove(path);
  EXPECT_NE(text.find("Type: inuse_space"), std::string::npos) << text;
  EXPECT_NE(text.find("[jit]+0x41"), std::string::npos) << text;
  EXPECT_NE(text.find("before the profile was switched on"), std::string::npos) << text;
}

// -- The tree in a terminal

NamedProfile make_branches() {
  return test::named(
      {test::make_stack({0x11, 0x2, 0x9}, 1, 300), test::make_stack({0x11, 0x3, 0x9}, 1, 100)});
}

TEST(CallTreeText, WhatIsACallersOnlyCallStandsBelowItWithoutFigures) {
  EXPECT_EQ(call_tree_text(call_tree_of(make_branches(), 100), Measure::kLive, NameForm::kShort, 80),
            "    400 B  100.0 %  all\n"
            "                    0x9\n"
            "    300 B   75.0 %    0x2\n"
            "                      0x11\n"
            "    100 B   25.0 %    0x3\n"
            "                      0x11\n");
}

TEST(CallTreeText, CallersStandBelowTheFunction) {
  EXPECT_EQ(
      call_tree_text(callers_tree_of(make_branches(), "^0x11$", 100), Measure::kLive, NameForm::kShort, 80),
      "    400 B  100.0 %  callers of ^0x11$\n"
      "                    0x11\n"
      "    300 B   75.0 %    0x2\n"
      "                      0x9\n"
      "    100 B   25.0 %    0x3\n"
      "                      0x9\n");
  EXPECT_EQ(callers_tree_of(make_branches(), "nothing", 100).size(), 1u);
}

}  // namespace
}  // namespace tarn::profile
