// Reading traces, and the figures of their replays.
#include "bench/rows/trace_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "system/files/files.h"
#include "system/files/usage_error.h"
#include "trace/replay/prepared_trace.h"
#include "trace/replay/replay_run.h"

namespace tarn::tool {
namespace fs = std::filesystem;
namespace {

constexpr const char* kTime = "ns";
constexpr const char* kResidentPerByte = "resident_per_byte";

std::string folder_beside_tool() { return (own_directory() / "traces").string(); }

constexpr std::uintmax_t kMostQuickBytes = 8 << 20;  // some 3 million calls

/// Those that a quick run has no time for are left out where `extent` says so.
enum class Extent : std::uint8_t { kAll, kQuick };
std::vector<std::string> traces_in(const std::string& folder, Extent extent) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".trace" && is_file(entry.path()) &&
        (extent == Extent::kAll || entry.file_size(ignored) <= kMostQuickBytes))
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

/// \why the intact part of a trace is another program than the trace's name says: no row for it
PreparedTrace whole_trace(const std::string& file, trace::Threads threads) {
  PreparedTrace prepared = prepare_trace({file, true, threads, {}});
  if (!prepared.trace.damage.empty()) throw std::runtime_error(prepared.trace.damage);
  return prepared;
}

bool has_place(const BenchShape& shape, std::size_t threads) {
  return shape.threads.empty() ||
         std::find(shape.threads.begin(), shape.threads.end(), threads) != shape.threads.end();
}

}  // namespace

BenchTraces::BenchTraces(std::string folder, Session& session)
    : is_folder_named_(!folder.empty()),
      folder_(is_folder_named_ ? std::move(folder) : folder_beside_tool()),
      session_(session) {
  if (is_folder_named_ && !fs::is_directory(folder_))
    throw UsageError(fmt::format("--traces: no folder at '{}'", folder_));
}

BenchTraces::~BenchTraces() = default;

void BenchTraces::read(const BenchShape& shape) {
  is_read_ = true;
  const std::vector<std::string> files = traces_in(folder_, shape.is_quick ? Extent::kQuick : Extent::kAll);
  // A trace has all its program's sizes.
  if (files.empty() || !shape.sizes.empty()) return;
  offer_ = {find_replay_program(), "malloc", "malloc", ""};
  for (std::size_t i = 0; i < files.size(); ++i) {
    session_.progress().begin_run(fmt::format("reading trace {} of {}: {}", i + 1, files.size(),
                                              fs::path(files[i]).filename().string()));
    if (const auto signal = session_.signals().next(); signal && signal->number != SIGCHLD)
      throw Interrupted{signal->number};
    take(files[i], shape);
  }
  session_.progress().clear();
}

void BenchTraces::take(const std::string& file, const BenchShape& shape) {
  const std::string name = fs::path(file).stem().string();
  PreparedTrace prepared, on_one_thread;
  try {
    prepared = whole_trace(file, trace::Threads::kAsRecorded);
    if (!has_place(shape, prepared.trace.thread_count)) return;
    if (prepared.trace.thread_count > 1) on_one_thread = whole_trace(file, trace::Threads::kOne);
  } catch (const std::system_error& error) {
    throw UsageError(fmt::format("no place for the calls of {}: {}; TMPDIR names another place", name,
                                 std::generic_category().message(error.code().value())));
  } catch (const std::runtime_error& error) {
    damaged_.push_back({name, error.what()});
    return;
  }
  BenchRow row = {.group = kTraceGroups[0],
                  .name = name,
                  .series = "",
                  .threads = prepared.trace.thread_count,
                  .metric = kTime,
                  .replay = {keep_script(prepared)},
                  .calls = prepared.trace.call_count};
  rows_.push_back(row);
  if (prepared.trace.thread_count > 1) row.replay = {keep_script(on_one_thread)};
  row.group = kTraceGroups[1];
  row.metric = kResidentPerByte;
  row.replay.emplace_back("fixed-addresses");
  rows_.push_back(row);
  Json& told = description_.emplace_back(Json{{"row", name}});
  told.update(to_json(prepared.trace));
}

std::string BenchTraces::keep_script(PreparedTrace& prepared) {
  scripts_.push_back(std::move(prepared.script));
  return scripts_.back()->path();
}

std::string BenchTraces::absence() const {
  if (!is_read_ || !rows_.empty()) return {};
  if (!damaged_.empty()) return fmt::format("no whole trace in {}: {}", folder_, damaged_.front().why);
  if (!traces_in(folder_, Extent::kAll).empty())
    return fmt::format("no trace in {} is of these threads and sizes, or short enough for --quick", folder_);
  return fmt::format(
      "no traces of real programs in {}: bench/record_traces.py records some, --traces DIR names others",
      folder_);
}

std::vector<Json> lines_of_replay(const BenchRow& row, const std::string& output) {
  Replay replay;
  try {
    replay = parse_replay(output);
  } catch (const std::exception&) {
    return {};
  }
  const double peak = replay.peak().bytes, live = replay.peak_live_bytes();
  Json figures = {{"group", row.group}, {"row", row.name}};
  if (row.metric == kTime)
    figures[kTime] = 1e9 * replay.seconds / static_cast<double>(row.calls);
  else if (live > 0)
    figures[kResidentPerByte] = peak / live;
  figures.update({{"operations", row.calls},
                  {"failed_calls", replay.failed_calls},
                  {"peak_rss_bytes", peak},
                  {"mean_rss_bytes", replay.mean_bytes()},
                  {"peak_live_bytes", live}});
  if (row.metric == kTime)
    for (const auto& [name, nanoseconds] : replay.latencies) figures[name + "_ns"] = nanoseconds;
  return {Json{{"malloc", replay.malloc_library}}, std::move(figures)};
}

}  // namespace tarn::tool
