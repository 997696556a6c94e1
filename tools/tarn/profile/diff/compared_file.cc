#include "profile/diff/compared_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "observer/files/input_file.h"
#include "observer/pages/sheet.h"
#include "observer/text/printable.h"
#include "observer/text/words.h"
#include "system/files/usage_error.h"
#include "trace/trace_file.h"
#include "trace/trace_sums.h"

namespace tarn::tool {
namespace {

constexpr std::uint64_t kLargestDocument = std::uint64_t{1} << 30;  // bytes

bool is_trace(const observer::InputFile& file) {
  char magic[sizeof trace::kFileMagic];
  return file.read_all(0, magic, sizeof magic) && std::memcmp(magic, trace::kFileMagic, sizeof magic) == 0;
}

/// \returns null for what is no document of these commands
Json document_in(const observer::InputFile& file, const std::string& path) {
  if (file.bytes() > kLargestDocument)
    throw UsageError(fmt::format("{} is larger than what the commands write", path));
  std::string text(file.bytes(), '\0');
  text.resize(file.read(0, text.data(), text.size()));
  Json json = Json::parse(text, nullptr, false);
  return json.is_object() && json.contains("schema") && json["schema"].is_string() ? json : Json();
}

// -- Snapshots: what a document tells by the names of its members ----------------------------------------

/// \why bounded: sums and differences of what a damaged file has must stay numbers
double figure(const Json& json) {
  constexpr double kMost = 1e18;
  return std::clamp(json.get<double>(), 0.0, kMost);
}

std::string words_of(const Json& json) { return observer::printable(json.get<std::string>()); }

std::string title_of(const ComparedFile& file) {
  const Json& json = file.document;
  return fmt::format("{} ({} {})", file.path, words_of(json.at("program")), json.at("pid").get<int>());
}

/// \why what a core file has, resident or not, is not to be compared with what is resident
void require_resident(const ComparedFile& file, bool is_resident) {
  if (!is_resident)
    throw UsageError(fmt::format(
        "{} is of a core file, which does not tell what was resident: it cannot be compared", file.path));
}

std::string name_of_pool(const Json& pool) {
  const std::string name = words_of(pool.at("name")), kind = words_of(pool.at("kind"));
  return name.empty() ? fmt::format("{} {}", kind, pool.at("number").get<std::uint64_t>())
                      : fmt::format("{} \"{}\"", kind, name);
}

FigureTable pools_of(const Json& top) {
  FigureTable table{"pool", {{"resident"}, {"live"}, {"blocks", Quantity::kCount}}, {}};
  for (const Json& pool : top.at("pools"))
    table.rows.push_back(
        {name_of_pool(pool),
         {figure(pool.at("resident_bytes")), figure(pool.at("live_bytes")), figure(pool.at("live"))}});
  return table;
}

FigureTable classes_of(const Json& top) {
  FigureTable table{"class", {{"slabs"}, {"live"}, {"blocks", Quantity::kCount}}, {}};
  for (const Json& one : top.at("classes")) {
    const double block_bytes = figure(one.at("block_bytes")), blocks = figure(one.at("live"));
    std::string name = fmt::format("blocks of {} B", observer::estimate_in_words(block_bytes));
    if (const Json& pool = one.at("pool"); !pool.is_null())
      name += " in " + name_of_pool(top.at("pools").at(pool.get<std::size_t>()));
    table.rows.push_back({std::move(name), {figure(one.at("slab_bytes")), block_bytes * blocks, blocks}});
  }
  return table;
}

ComparedFigures figures_of_top(const ComparedFile& file) {
  const Json &json = file.document, &sheet = json.at("sheet");
  require_resident(file, sheet.at("basis") == "resident");
  ComparedFigures figures{file.kind, title_of(file), {}, {}};
  figures.totals.push_back({"RSS", Quantity::kBytes, figure(sheet.at("rss_bytes"))});
  for (const observer::PartName& part : observer::kParts)
    figures.totals.push_back(
        {std::string(part.title), Quantity::kBytes, figure(sheet.at("parts").at(part.key))});
  figures.totals.push_back({"live blocks", Quantity::kCount, figure(json.at("totals").at("live_blocks"))});
  figures.tables = {pools_of(json), classes_of(json)};
  return figures;
}

ComparedFigures figures_of_map(const ComparedFile& file) {
  const Json& json = file.document;
  require_resident(file, json.at("is_residency_known").get<bool>());
  ComparedFigures figures{file.kind, title_of(file), {}, {}};
  constexpr std::array kTotals = {"rss", "resident", "mapped", "live", "idle", "free_dirty", "free_clean"};
  for (const std::string total : kTotals) {
    std::string name = total;
    std::ranges::replace(name, '_', ' ');
    figures.totals.push_back(
        {std::move(name), Quantity::kBytes, figure(json.at("totals").at(total + "_bytes"))});
  }
  FigureTable groups{"group", {{"resident"}, {"live"}, {"mapped"}}, {}};
  for (const Json& group : json.at("groups"))
    groups.rows.push_back(
        {words_of(group.at("name")),
         {figure(group.at("resident_bytes")), figure(group.at("live_bytes")), figure(group.at("bytes"))}});
  figures.tables = {std::move(groups)};
  return figures;
}

// -- Traces ----------------------------------------------------------------------------------------------

std::string size_in_words(std::uint64_t greatest) {
  return greatest <= trace::kLargestToldApart
             ? fmt::format("{} B", observer::count_in_words(greatest))
             : fmt::format("up to {}", observer::short_bytes(static_cast<double>(greatest)));
}

std::vector<NamedFigure> totals_of(const trace::TraceSums& sums, std::uint64_t lost) {
  const auto count = [](const char* name, std::uint64_t calls) {
    return NamedFigure{name, Quantity::kCount, static_cast<double>(calls)};
  };
  const auto bytes = [](const char* name, std::uint64_t size) {
    return NamedFigure{name, Quantity::kBytes, static_cast<double>(size)};
  };
  return {count("allocations", sums.allocations),
          count("zeroed allocations", sums.zeroed_allocations),
          count("resizes", sums.resizes),
          count("frees", sums.frees),
          count("frees of older blocks", sums.merged.unknown_frees),
          count("lost calls", lost),
          bytes("bytes asked for", sums.all.asked.bytes),
          bytes("live at the peak", sums.all.at_peak.bytes),
          count("blocks at the peak", sums.all.at_peak.blocks),
          bytes("live at the end", sums.all.at_end.bytes),
          count("blocks at the end", sums.all.at_end.blocks)};
}

ComparedFigures figures_of_trace(const ComparedFile& file) try {
  trace::TraceFile trace(file.path, trace::Damage::kRefuse);
  const trace::TraceSums sums = trace::sums_of(trace);
  const std::string program = std::filesystem::path(trace.description().program).filename();
  FigureTable sizes{"size", {{"at peak"}, {"asked"}, {"requests", Quantity::kCount}, {"at end"}}, {}};
  for (const auto& [greatest, of_size] : sums.by_size)
    sizes.rows.push_back(
        {size_in_words(greatest),
         {static_cast<double>(of_size.at_peak.bytes), static_cast<double>(of_size.asked.bytes),
          static_cast<double>(of_size.asked.blocks), static_cast<double>(of_size.at_end.bytes)}});
  return {file.kind,
          fmt::format("{} ({})", file.path, observer::printable(program)),
          totals_of(sums, trace.summary().lost_events),
          {std::move(sizes)}};
} catch (const trace::TraceError& error) {
  throw UsageError(error.what());
}

}  // namespace

ComparedFile open_compared(const std::string& path) {
  const observer::InputFile file = observer::open_regular_file(path);
  if (!file.is_open()) throw UsageError(fmt::format("{} cannot be read: {}", path, std::strerror(errno)));
  if (is_trace(file)) return {path, kOfRecord, {}};
  Json json = document_in(file, path);
  const std::string kind = json.is_null() ? "" : json["schema"].get<std::string>();
  if (const auto kinds = {kOfProfile, kOfHeap, kOfTop, kOfMap}; std::ranges::find(kinds, kind) == kinds.end())
    throw UsageError(fmt::format(
        "{} holds nothing to compare: `tarn profile -o FILE.json`, `tarn heap --save FILE`, `tarn record`, "
        "`tarn top --once --json` and `tarn map --json` write such files",
        path));
  return {path, kind, std::move(json)};
}

ComparedFigures figures_of(const ComparedFile& file) {
  if (file.kind == kOfRecord) return figures_of_trace(file);
  return file.kind == kOfTop ? figures_of_top(file) : figures_of_map(file);
}

}  // namespace tarn::tool
