#include "tarn/metrics.h"

#include "general/options/configuration.h"
#include "observe/figures/pool_sums.h"
#include "observe/figures/stat_fields.h"
#include "observe/figures/stats.h"
#include "support/prelude.h"
#include "tarn/buffer_pool.h"
#include "tarn/fixed_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"

namespace tarn::internal {
namespace {

// -- What the metrics say; that they are well-formed is seen by tests/pools/metrics_grammar.py.

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
  FixedPool packets({.name = "packets", .block_bytes = 64, .largest_count = 2});
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
  BufferPool buffers({.name = "open"}), capped({.name = "capped", .largest_count = 9});
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
  FixedPool one({.name = "x", .block_bytes = 64}), other({.name = "x", .block_bytes = 64});
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

PoolUse use_named(const char* name) {
  PoolUse use{};
  use.kind = "heap";
  use.name = name;
  use.live_bytes = 100;
  use.limit_bytes = 1000;
  use.mapped_limit_bytes = PoolUse::kNoLimit;
  use.refusals = 3;
  return use;
}

std::size_t count_of(const PoolSums& sums) {
  std::size_t count = 0;
  for (const PoolSum* sum = sums.first(); sum != nullptr; sum = sum->next) ++count;
  return count;
}

TEST(PoolSums, AddsPoolsWithEqualLabels) {
  PoolSums sums;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(sums.add(use_named("session")));
  ASSERT_EQ(count_of(sums), 1u);
  const PoolSum& sum = *sums.first();
  EXPECT_EQ(sum.pools, 3u);
  EXPECT_EQ(sum.use.live_bytes, 300u);
  EXPECT_EQ(sum.use.limit_bytes, 3000u);
  EXPECT_EQ(sum.use.refusals, 9u);
  EXPECT_EQ(sum.use.mapped_limit_bytes, PoolUse::kNoLimit);
}

TEST(PoolSums, OnePoolWithoutALimitLeavesTheSumWithoutOne) {
  PoolSums sums;
  PoolUse open = use_named("session");
  open.limit_bytes = PoolUse::kNoLimit;
  EXPECT_TRUE(sums.add(use_named("session")));
  EXPECT_TRUE(sums.add(open));
  EXPECT_TRUE(sums.add(use_named("session")));
  EXPECT_EQ(sums.first()->use.limit_bytes, PoolUse::kNoLimit);
}

TEST(PoolSums, KeepsApartWhatDiffersInAnyLabel) {
  PoolSums sums;
  PoolUse other_kind = use_named("session"), other_size = other_kind, in_a = other_kind, in_b = other_kind;
  other_kind.kind = "fixed pool";
  other_size.block_bytes = 64;
  in_a.parent = "a";
  in_b.parent = "b";
  for (const PoolUse& use : {use_named("session"), use_named("other"), other_kind, other_size, in_a, in_b})
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(sums.add(use));
  EXPECT_EQ(count_of(sums), 6u);
  EXPECT_STREQ(sums.first()->use.name, "session") << "in the order of the first ones";
}

TEST(PoolSums, HasNamesThatOutliveTheVisit) {
  PoolSums sums;
  Heap tenant("tenant"), session({.name = "session", .parent = &tenant});
  FixedPool packets({.name = "packets", .block_bytes = 64});
  ASSERT_TRUE(sums.collect());
  std::string names;
  for (const PoolSum* sum = sums.first(); sum != nullptr; sum = sum->next)
    names += std::string(sum->use.name) +
             (sum->use.parent != nullptr ? std::string("<") + sum->use.parent : "") + " ";
  EXPECT_EQ(names, "tenant session<tenant packets ");
}

// -- Each row of the list is in everything that is made from the list, and nothing is there twice.

std::string json_text() {
  std::FILE* const file = std::tmpfile();
  EXPECT_TRUE(write_stats_json(fileno(file)));
  std::string text(static_cast<std::size_t>(std::ftell(file) < 0 ? 0 : 65536), '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

/// The text of a member of a member; empty when there is none.
std::string json_value(const std::string& json, const std::string& group, const std::string& key) {
  const std::size_t start = json.find('"' + group + "\":{");
  const std::string members = json.substr(start, json.find('}', start) - start);
  const std::size_t member = members.find('"' + key + "\":", group.size() + 3);
  if (start == std::string::npos || member == std::string::npos) return "";
  const std::size_t value = member + key.size() + 3;
  return members.substr(value, members.find(',', value) - value);
}

TEST(StatFields, NamesAndPlacesAreOneOfAKind) {
  std::set<std::string> names, keys;
  for (const StatField& field : kStatFields) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_TRUE(keys.insert(std::string(field.group) + '.' + field.key).second) << field.name;
  }
}

TEST(StatFields, MembersThatEndInBytesAreBytesAndNoOthers) {
  for (const StatField& field : kStatFields) {
    const std::string name = field.name;
    const bool ends_in_bytes = name.size() > 6 && name.substr(name.size() - 6) == "_bytes";
    EXPECT_EQ(field.unit != StatUnit::kCount, ends_in_bytes) << name;
  }
}

TEST(StatFields, TheTableIsTheWholeStruct) {
  EXPECT_EQ(sizeof(tarn_statistics), (std::size(kStatFields) + 1) * sizeof(std::uint64_t));
  Statistics figures{};
  for (const StatField& field : kStatFields) ++(figures.*field.member);
  for (const StatField& field : kStatFields) EXPECT_EQ(figures.*field.member, 1u) << field.name;
}

// The figures themselves take a record.
bool changes_when_it_is_read(const std::string& name) {
  return name == "resident_bytes" || name == "metadata_bytes" || name == "held_bytes";
}

TEST(StatFields, EveryFigureIsInTheJson) {
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(tarn::allocate(100));
  blocks.push_back(tarn::allocate(1000000));
  const std::string json = json_text();
  const Statistics figures = stats();
  for (const StatField& field : kStatFields) {
    const std::string text = json_value(json, field.group, field.key);
    if (field.needs_counted_calls) {
      EXPECT_EQ(text, "null") << field.name;
    } else if (changes_when_it_is_read(field.name)) {
      EXPECT_GT(std::atoll(text.c_str()), 0) << field.name;
    } else {
      EXPECT_EQ(text, std::to_string(figures.*field.member)) << field.name << " in " << json;
    }
  }
  for (const ClassField& field : kClassFields)
    if (field.key[0] != '\0') {
      EXPECT_NE(json.find('"' + std::string(field.key) + "\":"), std::string::npos);
    }
  tarn::deallocate_batch(blocks.data(), blocks.size());
}

TEST(Statistics, AreThoseTheLibraryCollects) {
  void* const small = tarn::allocate(100);
  void* const large = tarn::allocate(1000000);
  const Statistics figures = stats();
  EXPECT_EQ(figures.live_bytes, tarn::usable_size(small) + tarn::usable_size(large));
  EXPECT_EQ(figures.large_live_count, 1u);
  EXPECT_EQ(figures.large_live_bytes, tarn::usable_size(large));
  EXPECT_EQ(figures.are_calls_counted, 0u);
  EXPECT_GE(figures.mapped_bytes, figures.live_bytes);
  EXPECT_GE(figures.peak_mapped_bytes, figures.mapped_bytes);
  EXPECT_GT(figures.resident_bytes, 0u);
  tarn::deallocate(small);
  tarn::deallocate(large);
  EXPECT_EQ(stats().live_bytes, 0u);
}

TEST(Statistics, OfABareProcessAreThere) { EXPECT_EQ(stats().live_bytes, 0u); }

TEST(Statistics, HaveTheirFormerNamesToo) {
  void* const block = tarn::allocate(1000000);
  EXPECT_EQ(statistics().live_bytes, tarn::usable_size(block));
  tarn_statistics figures;
  EXPECT_EQ(tarn_read_statistics(&figures, sizeof figures), sizeof figures);
  EXPECT_EQ(figures.live_bytes, tarn::usable_size(block));
  tarn::deallocate(block);
}

// A program that was compiled with a header of fewer members.
TEST(Statistics, AnOlderProgramGetsWhatItKnows) {
  struct {
    std::uint64_t known[3], behind[2];
  } of_older_header;
  std::memset(&of_older_header, 0xaa, sizeof of_older_header);
  void* const block = tarn::allocate(1000000);
  EXPECT_EQ(
      tarn_stats(reinterpret_cast<tarn_statistics*>(of_older_header.known), sizeof of_older_header.known),
      sizeof of_older_header.known);
  EXPECT_EQ(of_older_header.known[1], tarn::usable_size(block)) << "live_bytes";
  for (const std::uint64_t word : of_older_header.behind) EXPECT_EQ(word, 0xaaaaaaaaaaaaaaaa);
  tarn::deallocate(block);
}

// And one with a header of more.
TEST(Statistics, WhatANewerProgramKnowsAndTheLibraryDoesNotIsZero) {
  struct {
    tarn_statistics known;
    std::uint64_t newer[3];
  } of_newer_header;
  std::memset(&of_newer_header, 0xaa, sizeof of_newer_header);
  EXPECT_EQ(tarn_stats(&of_newer_header.known, sizeof of_newer_header), sizeof(tarn_statistics));
  EXPECT_GT(of_newer_header.known.resident_bytes, 0u);
  for (const std::uint64_t word : of_newer_header.newer) EXPECT_EQ(word, 0u);
}

}  // namespace
}  // namespace tarn::internal
