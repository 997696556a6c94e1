// Each row of the list is in everything that is made from the list, and nothing is there twice.
#include "observe/figures/stat_fields.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "observe/figures/stats.h"
#include "tarn/memory_pool.h"

namespace tarn::internal {
namespace {

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
    EXPECT_NE(json.find('"' + std::string(field.key) + "\":"), std::string::npos);
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
