// What follows from the samples of a run of `tarn bench`. Pure functions.
//
// Everything is judged row by row: a contender's figure is the median of its rounds, the best of a row is the
// smallest median, and the other figures are so many times that. A group's figure is the geometric mean over
// its rows; of times it is told as a speed, so that 0.8 is 0.8 times as fast as the best.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bench/figures/bench_document.h"
#include "bench/rows/catalogue.h"
#include "engine/rounds/statistics.h"
#include "report/figures.h"

namespace tarn::tool {

inline constexpr const char* kNanoseconds = "ns";
inline constexpr const char* kPeakMemory = "peak_rss_bytes";
inline constexpr const char* kMemoryAfter = "rss_after_bytes";
/// Of its workload, that a warm row's samples must rest on each (bench/program/threads.h).
inline constexpr std::uint64_t kLeastRounds = 5;

/// One contender in one row.
struct RowEntry {
  std::size_t contender;
  Summary own;
  double times_the_best;  // of the row: 1 or more; 0 where the figure is none above 0
  Mark mark;
};

/// What a contender's runs of a row say of one figure; count 0 if they do not have it. \pre it has run the
/// row
Summary summary_of(const RowSamples& samples, std::size_t contender, const std::string& metric);

/// What a row's runs say of one figure, by contender; nothing of those that do not have it.
std::vector<RowEntry> entries_of(const RowSamples& samples, const std::string& metric);
/// Those of the figure that the row compares.
inline std::vector<RowEntry> entries_of(const RowSamples& samples) {
  return entries_of(samples, samples.row.metric);
}

/// Geometric mean of ratios; empty for none. \pre all are positive
std::optional<double> geometric_mean(const std::vector<double>& ratios);

/// A contender beside the best of each row, as a mean over the rows it has.
struct Mean {
  std::size_t contender;
  double times_the_best;  // of its figure: 1 or more
  std::size_t row_count;
  bool is_partial;  // fewer rows than others
  bool is_best = false;

  double speed() const { return 1 / times_the_best; }
};

/// Of entries or means; nullptr for a contender that has none.
template <class OfContender>
const OfContender* find_of(const std::vector<OfContender>& all, std::size_t contender) {
  for (const OfContender& one : all)
    if (one.contender == contender) return &one;
  return nullptr;
}

/// By contender. \param rows the entries of each
std::vector<Mean> means_of(const std::vector<std::vector<RowEntry>>& rows);
/// Of the figure that each row compares, or of another one.
std::vector<Mean> means_of(const std::vector<const RowSamples*>& rows, const std::string& metric = {});

inline bool is_of_times(const GroupInfo& group) { return std::string_view(group.unit) == kNanoseconds; }

/// The rows of groups in which somebody has a figure.
std::vector<const RowSamples*> rows_of(const std::vector<const GroupSamples*>& groups);

/// Whether tables compare the two, like with like: a malloc with other mallocs, an inlined one also with
/// other inlined ones; a pool with other libraries' pools that are synchronised as it is, and with every
/// malloc. \pre `own` is tarn's
bool are_rivals(const DocumentContender& own, const DocumentContender& other);

/// A contender's times beside those of the best rival of each row, or of one other contender; count() 0 where
/// no row has both. Rows that measure memory do not count.
MeanRatio standing_of(const BenchDocument& document, std::size_t contender,
                      const std::vector<const GroupSamples*>& groups);
MeanRatio standing_beside(std::size_t contender, const std::vector<const GroupSamples*>& groups,
                          std::size_t other);

/// "1.52 times as fast as RIVAL", or "as fast as RIVAL within the noise"
std::string words_on(const MeanRatio& standing, const std::string& rival);

/// How many rounds of its workload the samples of a warm row rest on.
struct RoundsOfRow {
  std::uint64_t least;
  std::string where;  // group, row and contender
};
/// The warm rows whose samples rest on `most` rounds or fewer, least first. Runs of versions that did not
/// tell their rounds have none.
std::vector<RoundsOfRow> rows_of_few_rounds(const BenchDocument& document, std::uint64_t most);

/// Those that have a figure in one of the rows, in the document's order.
std::vector<std::size_t> contenders_in(const std::vector<const RowSamples*>& rows);

/// The groups of a source, in order.
std::vector<const GroupSamples*> groups_of_source(const BenchDocument& document, const std::string& source);

/// Of each design of a source, how fast it is beside what the source compared it with, and how fast tarn is
/// beside the design; then each figure that the source published, with those measured here. Empty where
/// nothing of that has run.
std::string words_on_designs(const BenchDocument& document, const SourceInfo& source);

}  // namespace tarn::tool
