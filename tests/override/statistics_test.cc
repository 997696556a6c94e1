// What the C library's own calls tell about memory is true. Runs with the library preloaded.
#include <dlfcn.h>
#include <malloc.h>

#include <climits>

#include "support/child.h"
#include "support/content.h"
#include "support/prelude.h"
#include "support/process_memory.h"
#include "support/sizes.h"
#include "tarn/stats.h"

namespace tarn::test {
namespace {

void expect_near(std::size_t actual, std::size_t expected) {
  EXPECT_GE(actual, expected - expected / 20);
  EXPECT_LE(actual, expected + expected / 20);
}

// Sizes of which a block gives just what is asked for, so that rounding plays no part.
class LiveBytes : public ::testing::TestWithParam<std::size_t> {};

TEST_P(LiveBytes, AreToldByMallinfo2WithinFivePercent) {
  constexpr std::size_t kBytes = 100 * kMiB;
  const std::size_t size = GetParam();
  std::vector<void*> blocks(kBytes / size);
  const std::size_t before = mallinfo2().uordblks;
  for (void*& block : blocks) block = malloc(size);
  expect_near(mallinfo2().uordblks - before, blocks.size() * malloc_usable_size(blocks[0]));
  for (std::size_t i = 0; i < blocks.size(); i += 2) free(blocks[i]);
  expect_near(mallinfo2().uordblks - before, blocks.size() / 2 * malloc_usable_size(blocks[1]));
  std::thread([&] {
    for (std::size_t i = 1; i < blocks.size(); i += 2) free(blocks[i]);
  }).join();
  EXPECT_LE(mallinfo2().uordblks, before + kMiB);
}

INSTANTIATE_TEST_SUITE_P(OfBlocks, LiveBytes,
                         ::testing::Values(std::size_t{16}, std::size_t{512}, 8 * kKiB, 64 * kKiB, kMiB,
                                           10 * kMiB),
                         ::testing::PrintToStringParamName());

TEST(Mallinfo, LiveAndFreeBytesMakeUpWhatIsHeld) {
  std::vector<void*> blocks;
  for (const std::size_t size : landmark_sizes(5 * kMiB)) blocks.push_back(malloc(size));
  const struct mallinfo2 info = mallinfo2();
  EXPECT_EQ(info.uordblks + info.fordblks, info.arena + info.hblkhd);
  EXPECT_GE(info.hblks, 4u);
  EXPECT_GE(info.hblkhd, 10 * kMiB);
  for (void* block : blocks) free(block);
}

TEST(Mallinfo, TellsTheFiguresOfTheStatistics) {
  std::vector<void*> blocks;
  for (const std::size_t size : landmark_sizes(5 * kMiB)) blocks.push_back(malloc(size));
  for (std::size_t i = 0; i < blocks.size(); i += 2) free(blocks[i]);
  // Of the library that is preloaded: this program is not linked with it.
  const auto read_stats = reinterpret_cast<decltype(&tarn_stats)>(dlsym(RTLD_DEFAULT, "tarn_stats"));
  ASSERT_NE(read_stats, nullptr);
  tarn_statistics before{};
  read_stats(&before, sizeof before);
  const struct mallinfo2 info = mallinfo2();
  EXPECT_EQ(info.uordblks, before.live_bytes);
  EXPECT_EQ(info.hblks, before.large_live_count);
  EXPECT_EQ(info.hblkhd, before.large_live_bytes);
  EXPECT_EQ(info.arena, before.mapped_bytes + before.free_dirty_bytes - before.large_live_bytes);
  EXPECT_EQ(info.fsmblks, before.cached_bytes);
  EXPECT_EQ(info.usmblks, before.peak_mapped_bytes);
  EXPECT_EQ(info.keepcost, before.free_dirty_bytes);
  EXPECT_GT(info.ordblks, 0u);
  for (std::size_t i = 1; i < blocks.size(); i += 2) free(blocks[i]);
}

TEST(Mallinfo, OfTheOldFormDoesNotWrapAround) {
  void* const block = malloc(std::size_t{3} << 30);
  if (block == nullptr) GTEST_SKIP() << "no 3 GiB here";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  EXPECT_EQ(mallinfo().uordblks, INT_MAX);
#pragma GCC diagnostic pop
  free(block);
}

TEST(MallocTrim, GivesBackWhatIsFreeAndSaysSo) {
  std::vector<void*> blocks;
  for (int i = 0; i < 100000; ++i) fill(blocks.emplace_back(malloc(1000)), 1000, 1);
  void* const large = malloc(50 * kMiB);
  fill(large, 50 * kMiB, 1);
  for (void* block : blocks) free(block);
  free(large);
  EXPECT_EQ(malloc_trim(0), 1);
  EXPECT_LE(resident_bytes(), 32 * kMiB);
  malloc_trim(0);
  EXPECT_EQ(malloc_trim(0), 0) << "there is nothing left";
}

TEST(MallocTrim, GivesBackWhatAnotherThreadCached) {
  std::vector<void*> blocks(100000);
  std::thread([&] {
    for (void*& block : blocks) fill(block = malloc(900), 900, 1);
    for (void* block : blocks) free(block);
  }).join();
  malloc_trim(0);
  EXPECT_LE(resident_bytes(), 32 * kMiB);
}

std::string printed_by(const char* function) {
  const std::string name(function);
  const ChildResult result = run_in_child([&] {
    for (const std::size_t size : landmark_sizes(5 * kMiB)) static_cast<void>(malloc(size));
    if (name == "malloc_stats") return malloc_stats(), 0;
    return malloc_info(0, stdout);
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
  return name == "malloc_stats" ? result.error : result.output;
}

TEST(MallocInfo, IsXmlAndNamesLiveBytes) {
  const std::string text = printed_by("malloc_info");
  EXPECT_EQ(text.rfind("<malloc version=\"1\">", 0), 0u) << text;
  FILE* const parser = popen(
      "python3 -c 'import sys, xml.etree.ElementTree as e; r = e.parse(sys.stdin).getroot(); "
      "sys.exit(not (r.tag == \"malloc\" and r.find(\"heap/sizes/size\") is not None "
      "and int(r.find(\"system[@type=\\\"current\\\"]\").get(\"size\")) > 10000000))'",
      "w");
  ASSERT_NE(parser, nullptr);
  std::fputs(text.c_str(), parser);
  EXPECT_EQ(pclose(parser), 0) << text;
}

TEST(MallocInfo, RefusesOptionsItDoesNotKnow) {
  errno = 0;
  EXPECT_EQ(malloc_info(1, stdout), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST(MallocInfo, NamesEveryStatistic) {
  const std::string text = printed_by("malloc_info");
#define TARN_NAME(group, key, member, ...) #member,
  for (const std::string name : {TARN_EVERY_STATISTIC(TARN_NAME)})
    EXPECT_NE(text.find("<statistic name=\"" + name + "\" unit="), std::string::npos) << name << text;
#undef TARN_NAME
}

std::string between(const std::string& text, const std::string& before, char behind) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return "no " + before;
  return text.substr(at + before.size(), text.find(behind, at + before.size()) - at - before.size());
}

TEST(MallocInfo, TellsTheSameFiguresInGlibcsElementsAsInItsOwn) {
  const std::string text = printed_by("malloc_info");
  const auto statistic = [&](const char* name) {
    return between(text, std::string("<statistic name=\"") + name + "\" unit=\"bytes\" value=\"", '"');
  };
  EXPECT_EQ(between(text, "<live size=\"", '"'), statistic("live_bytes"));
  EXPECT_EQ(between(text, "<total type=\"fast\" count=\"0\" size=\"", '"'), statistic("cached_bytes"));
  EXPECT_EQ(between(text, "<system type=\"max\" size=\"", '"'), statistic("peak_mapped_bytes"));
  EXPECT_EQ(between(text, "<aspace type=\"total\" size=\"", '"'), statistic("reserved_bytes"));
}

TEST(MallocStats, NamesEveryStatisticThatHasALabel) {
  const std::string text = printed_by("malloc_stats");
#define TARN_LABEL(group, key, member, unit, line, label, ...) label,
  for (const std::string label : {TARN_EVERY_STATISTIC(TARN_LABEL)})
    EXPECT_NE(text.find(label), std::string::npos) << label << text;
#undef TARN_LABEL
}

TEST(MallocStats, PrintsALineOfLiveBytes) {
  EXPECT_NE(printed_by("malloc_stats").find("live"), std::string::npos);
}

}  // namespace
}  // namespace tarn::test
