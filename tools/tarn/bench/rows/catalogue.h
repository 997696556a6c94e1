// What the benchmark programs' groups of rows are: from which source, what an operation is, how they are
// looked at. The programs know how to measure, this table how to tell it.
//
// source   a document whose author published a benchmark, or what those leave out ("ours...")
// group    rows of one kind; the figures of a table are means over one
#pragma once
#include <string>
#include <vector>

namespace tarn::tool {

/// The plot one looks at first.
enum class Axis : std::uint8_t { kBytes, kThreads, kPercentile, kTime, kRow };

struct SourceInfo {
  const char* id;
  const char* title;
  const char* claim;                    // what its author published
  const char* compared_with = nullptr;  // the contender that the claim is beside; nullptr: beside none
};

struct GroupInfo {
  const char* name;    // also of groups that begin with it, when it ends in '_'
  const char* source;  // SourceInfo::id
  const char* title;
  const char* operation;  // what a figure in ns is per; of other units, what it is
  Axis axis;
  double row_seconds;         // that a row takes, about: for telling how long a run will last
  const char* unit = "ns";    // or "bytes", "ratio"
  int most_rounds = 1 << 30;  // that are worth their time; as it is, any
};

enum class Measure : std::uint8_t { kPercentLess, kTimesAsFast };

/// A figure that a source published of its design beside what it compared with, and the rows that measure it
/// here: one value for each block size, over the rows of that size together.
struct PublishedFigure {
  const char* source;
  const char* what;
  const char* published;
  Measure measure;
  const char* group;
  const char* series;  // of the rows, with spaces around each
  unsigned threads;
};

const std::vector<SourceInfo>& bench_sources();
const std::vector<PublishedFigure>& published_figures();
const std::vector<GroupInfo>& bench_groups();

/// In which `--quick` ranks some mallocs the other way round than a whole run: bench/quick_pair.py finds them
/// from a pair of runs, and a test compares this list with the committed pair.
const std::vector<std::string>& groups_quick_ranks_otherwise();

/// Whether a row of the group waits for what happens by itself, as for pages that decay: no `--scale` makes
/// it shorter.
bool waits_for_seconds(const std::string& group_name);

/// nullptr if there is none.
const GroupInfo* find_group(const std::string& name);
const SourceInfo& source_of(const GroupInfo& group);
/// The title of one group, with its own maximum where the table has a place for it.
std::string title_of(const GroupInfo& group, const std::string& name);

}  // namespace tarn::tool
