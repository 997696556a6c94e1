// What the metrics say; that they are well-formed is seen by tests/pools/metrics_grammar.py.
#include "tarn/metrics.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <sstream>
#include <string>

#include "general/options/configuration.h"
#include "observe/figures/stat_fields.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"

namespace tarn::internal {
namespace {

std::string metrics() {
  std::string all;
  EXPECT_TRUE(write_metrics([](const char* text, std::size_t bytes,
                               void* into) { static_cast<std::string*>(into)->append(text, bytes); },
                            &all));
  return all;
}

testing::AssertionResult has_line(const std::string& text, const std::string& line) {
  if (("\n" + text).find("\n" + line + "\n") != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no line " << line << " in\n" << text;
}

TEST(Metrics, HaveEveryStatisticWithItsHelpAndType) {
  const std::string text = metrics();
  for (const StatField& field : kStatFields) {
    if (field.needs_counted_calls || std::string(field.group) == "calls") continue;
    const std::string name = field.name, begin = name.substr(0, name.find("_count"));
    EXPECT_NE(text.find("\n# HELP tarn_" + begin), std::string::npos) << name;
  }
  EXPECT_TRUE(has_line(text, "# TYPE tarn_live_bytes gauge"));
  EXPECT_TRUE(
      has_line(text, "# HELP tarn_live_bytes Blocks in use, of the general pool and of every other."));
  EXPECT_TRUE(has_line(text, "# TYPE tarn_refills_total counter"));
  EXPECT_TRUE(has_line(text, "# TYPE tarn_large_allocations_total counter"));
  EXPECT_TRUE(has_line(text, "# TYPE tarn_large_live_bytes gauge"));
  EXPECT_TRUE(has_line(text, "# TYPE tarn_large_live_blocks gauge"));
  EXPECT_TRUE(has_line(text, "tarn_build_info{version=\"" + std::string(TARN_VERSION_STRING) + "\"} 1"));
}

TEST(Metrics, OfCallsAreThereOnlyWhenTheyAreCounted) {
  void* const block = tarn::allocate(100);
  const bool are_counted = configuration.is_on(Option::kCountCalls);
  const std::string text = metrics();
  for (const char* name :
       {"\ntarn_allocate_calls_total ", "\ntarn_peak_live_bytes ", "\ntarn_class_allocations_total{"})
    EXPECT_EQ(text.find(name) != std::string::npos, are_counted) << name;
  tarn::deallocate(block);
}

TEST(Metrics, HaveASizeClassByItsBlocks) {
  void* const block = tarn::allocate(200);
  const std::string bytes = std::to_string(tarn::usable_size(block));
  EXPECT_NE(metrics().find("\ntarn_class_slabs{class=\"" + bytes + "\"} "), std::string::npos) << metrics();
  tarn::deallocate(block);
}

TEST(Metrics, HaveEveryFigureOfAPool) {
  FixedPool packets({.block_bytes = 64, .largest_count = 2, .name = "packets"});
  void* const block = packets.allocate();
  static_cast<void>(packets.allocate());
  EXPECT_EQ(packets.allocate(), nullptr);
  packets.deallocate(block);
  const std::string text = metrics(), labels = "{kind=\"fixed pool\",name=\"packets\",block_bytes=\"64\"} ";
  EXPECT_TRUE(has_line(text, "tarn_pool_pools" + labels + "1"));
  EXPECT_TRUE(has_line(text, "tarn_pool_live_blocks" + labels + "1"));
  EXPECT_TRUE(has_line(text, "tarn_pool_live_bytes" + labels + "64"));
  EXPECT_TRUE(has_line(text, "tarn_pool_peak_live_bytes" + labels + "128"));
  EXPECT_TRUE(has_line(text, "tarn_pool_limit_blocks" + labels + "2"));
  EXPECT_TRUE(has_line(text, "tarn_pool_limit_bytes" + labels + "128"));
  EXPECT_TRUE(has_line(text, "tarn_pool_refusals_total" + labels + "1"));
  EXPECT_EQ(text.find("tarn_pool_mapped_limit_bytes" + labels), std::string::npos);
}

TEST(Metrics, HaveNoSeriesForNoLimit) {
  Heap open("open"), limited({.name = "limited", .hard_limit = 70000, .mapped_limit = 140000});
  const std::string text = metrics();
  EXPECT_TRUE(has_line(text, "tarn_pool_limit_bytes{kind=\"heap\",name=\"limited\"} 70000"));
  EXPECT_TRUE(has_line(text, "tarn_pool_mapped_limit_bytes{kind=\"heap\",name=\"limited\"} 140000"));
  EXPECT_EQ(text.find("limit_bytes{kind=\"heap\",name=\"open\""), std::string::npos) << text;
}

TEST(Metrics, HaveNoCapOfABufferPoolWithoutOne) {
  BufferPool buffers({.name = "open"}), capped({.largest_count = 9, .name = "capped"});
  const std::string text = metrics();
  EXPECT_EQ(text.find("tarn_pool_limit_blocks{kind=\"buffer pool\",name=\"open\""), std::string::npos)
      << text;
  EXPECT_TRUE(
      has_line(text, "tarn_pool_limit_blocks{kind=\"buffer pool\",name=\"capped\",block_bytes=\"64\"} 9"));
}

TEST(Metrics, SumPoolsOfOneNameAndNameTheHeapAround) {
  Heap tenant("tenant"), one({.name = "session", .parent = &tenant}),
      other({.name = "session", .parent = &tenant});
  Heap alone("session");
  const std::string text = metrics(), inner = "{kind=\"heap\",name=\"session\",parent=\"tenant\"} ";
  EXPECT_TRUE(has_line(text, "tarn_pool_pools" + inner + "2"));
  EXPECT_TRUE(has_line(text, "tarn_pool_pools{kind=\"heap\",name=\"session\"} 1"));
}

TEST(Metrics, EscapeNames) {
  Heap odd("a\"b\\c\xff");
  EXPECT_TRUE(has_line(metrics(), "tarn_pool_pools{kind=\"heap\",name=\"a\\\"b\\\\c?\"} 1"));
}

TEST(Metrics, HaveNoSeriesTwice) {
  BufferPool first, second;
  FixedPool one({.block_bytes = 64, .name = "x"}), other({.block_bytes = 64, .name = "x"});
  std::istringstream lines(metrics());
  std::set<std::string> seen;
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(seen.insert(line.substr(0, line.rfind(' '))).second || line[0] == '#') << line;
}

TEST(Metrics, GoToAFileAndSayWhenTheyCannot) {
  const int file = memfd_create("metrics", MFD_CLOEXEC);
  EXPECT_TRUE(write_metrics(file));
  EXPECT_GT(lseek(file, 0, SEEK_END), 1000);
  close(file);
  errno = 0;
  EXPECT_FALSE(write_metrics(-1));
  EXPECT_EQ(errno, EBADF);
}

TEST(Metrics, TakeNoMemoryThatStays) {
  const auto metadata_bytes = [] {
    const std::string text = metrics();
    const std::size_t at = text.find("\ntarn_metadata_bytes ");
    return text.substr(at, text.find('\n', at + 1) - at);
  };
  Heap heap("heap");
  const std::string first = metadata_bytes();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(metadata_bytes(), first);
}

}  // namespace
}  // namespace tarn::internal
