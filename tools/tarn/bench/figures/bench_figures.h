// What follows from the samples of a run of `tarn bench`. Pure functions.
//
// Everything is judged row by row: a contender's figure is the median of its rounds, the best of a row is the
// smallest median, and a ratio is to that: of times the best one's to the own, so that 0.8 is 0.8 times as
// fast as the best; of memory the own to the least. A group's figure is the geometric mean over its rows.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bench/figures/bench_document.h"
#include "engine/rounds/statistics.h"

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
  double ratio;  // beside the best of the row
  bool is_best;
  bool is_equal;  // to the best, within the noise
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

/// A contender's ratio beside the best of each row of a group, in the figure that its rows compare or in
/// another one.
std::vector<double> ratios_in(const GroupSamples& group, std::size_t contender,
                              const std::string& metric = {});

/// Whether tables compare the two, like with like: a malloc with other mallocs, an inlined one also with
/// other inlined ones; a pool with other libraries' pools that are synchronised as it is, and with every
/// malloc. \pre `own` is tarn's
bool are_rivals(const DocumentContender& own, const DocumentContender& other);

/// How fast one contender is beside the best rival of each row. Rows that measure memory do not count.
struct Standing {
  double mean;  // geometric mean of best other / own; above 1: faster
  double worst;
  std::string worst_row;
  std::size_t row_count;
  bool is_within_noise;  // of the rows: no difference is told
};
/// "1.52 times as fast as RIVAL", or "as fast as RIVAL within the noise"
std::string words_on(const Standing& standing, const std::string& rival);

/// \returns nothing where no row has both
std::optional<Standing> standing_of(const BenchDocument& document, std::size_t contender,
                                    const std::vector<const GroupSamples*>& groups);
/// The same beside one other contender.
std::optional<Standing> standing_beside(std::size_t contender, const std::vector<const GroupSamples*>& groups,
                                        std::size_t other);

/// How many rounds of its workload the samples of a warm row rest on.
struct RoundsOfRow {
  std::uint64_t least;
  std::string where;  // group, row and contender
};
/// The warm rows whose samples rest on `most` rounds or fewer, least first. Runs of versions that did not
/// tell their rounds have none.
std::vector<RoundsOfRow> rows_of_few_rounds(const BenchDocument& document, std::uint64_t most);

/// Those that have run any row of the groups.
std::vector<std::size_t> contenders_in(const BenchDocument& document,
                                       const std::vector<const GroupSamples*>& groups);

/// The groups of a source, in order.
std::vector<const GroupSamples*> groups_of_source(const BenchDocument& document, const std::string& source);

}  // namespace tarn::tool
