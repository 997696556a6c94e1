// A run of `tarn bench` as it is told: who took part, every sample, and what follows from them. Written as
// JSON and read back, so that tables and pages can be made again without measuring. docs/command.md describes
// the fields.
//
// Everything is judged row by row: a contender's figure is the median of its rounds, the best of a row is the
// smallest median, and a ratio is to that. A group's figure is the geometric mean over its rows.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bench/bench_run.h"
#include "engine/statistics.h"

namespace tarn::tool {

struct DocumentContender {
  std::string name;
  ContenderKind kind;
  std::string version;
  std::string library;
};

struct BenchDocument {
  Json header;  // what result_header() gives, and how it was measured
  std::vector<DocumentContender> contenders;
  BenchResults results;
};

inline constexpr const char* kPeakMemory = "peak_rss_bytes";
inline constexpr const char* kMemoryAfter = "rss_after_bytes";

/// One contender in one row.
struct RowEntry {
  std::size_t contender;
  Summary own;
  double ratio;  // to the best of the row
  bool is_best;
  bool is_equal;  // to the best, within the noise
};

BenchDocument document_of(const BenchPlan& plan, BenchResults results, Json header);
Json to_json(const BenchDocument& document);
/// The JSON as text: a line per contender and row, so that two runs can be compared line by line.
std::string text_of(const BenchDocument& document);
/// \throws UsageError for what is no result of `tarn bench`
BenchDocument document_from(const Json& json, const std::string& file);

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

/// A contender's ratio to the best of each row of a group: to the best time, or to the leanest in another
/// figure.
std::vector<double> ratios_in(const GroupSamples& group, std::size_t contender,
                              const std::string& metric = {});

/// How fast one contender is beside the best other contender of each row. Rows that measure memory do not
/// count.
struct Standing {
  double mean;  // geometric mean of best other / own; above 1: faster
  double worst;
  std::string worst_row;
  std::size_t row_count;
};
/// `is_rival` says who the others are. \returns nothing where no row has both
std::optional<Standing> standing_of(const BenchDocument& document, std::size_t contender,
                                    const std::vector<const GroupSamples*>& groups,
                                    bool (*is_rival)(ContenderKind));
/// The same beside one other contender.
std::optional<Standing> standing_beside(std::size_t contender, const std::vector<const GroupSamples*>& groups,
                                        std::size_t other);

/// The groups of a source, in order.
std::vector<const GroupSamples*> groups_of_source(const BenchDocument& document, const std::string& source);

}  // namespace tarn::tool
