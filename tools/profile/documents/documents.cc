#include "profile/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "flame_page_assets.h"
#include "observer/text/printable.h"
#include "profile/documents/call_tree.h"
#include "profile/names/function_name.h"
#include "profile/reports/over_time.h"

namespace tarn::profile {
namespace {

/// As `tarn classes` reads them.
Json sizes_json(const std::vector<LiveSize>& sizes) {
  Json json = Json::array();
  Rounding count;
  for (const LiveSize& live : sizes) json.push_back({{"size", live.size}, {"count", count(live.count)}});
  return json;
}

// -- The flame graph's page: columns of numbers, which a browser reads fastest ----------------------------

constexpr std::size_t kMostNodes = 100'000, kMostFunctions = 5'000, kLongestName = 200;
constexpr int kSmallerRole = 3;  // beside those of FrameRole

/// Calls `use` for bytes and blocks by each measure, in the order of the page's figures.
template <class Use>
void for_each_figure(const Use& use) {
  for (const Measure measure : kEachMeasure)
    for (double Amount::*const unit : {&Amount::bytes, &Amount::blocks})
      use([=](const Amounts& amounts) { return amounts.of(measure).*unit; });
}

/// By figure what each node has beside its children: most of it are zeros, and the page adds up.
Json own_figures(const std::vector<PageNode>& nodes) {
  Json columns = Json::array();
  for_each_figure([&](const auto& figure_of) {
    std::vector<double> own(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      own[i] += figure_of(nodes[i]);
      if (i != 0) own[nodes[i].parent] -= figure_of(nodes[i]);
    }
    Json column = Json::array();
    Rounding rounded;
    for (const double figure : own) column.push_back(rounded(figure));
    columns.push_back(std::move(column));
  });
  return columns;
}

Json function_json(const CalledFunction& function) {
  const std::string name = short_name(function.name);
  Json json = {function.name, function.file, function.role,
               name == function.name ? Json(0) : Json(observer::first_columns(name, kLongestName))};
  for_each_figure([&](const auto& figure_of) { json.push_back(whole(figure_of(function.own))); });
  for_each_figure([&](const auto& figure_of) { json.push_back(whole(figure_of(function))); });
  return json;
}

Json page_data(const NamedProfile& profile) {
  const PageTree tree = page_tree_of(profile, kMostNodes, kMostFunctions);
  Json functions = Json::array(), callers = Json::array(), called = Json::array(), lines = Json::array();
  for (const CalledFunction& function : tree.functions) functions.push_back(function_json(function));
  functions.push_back({"[smaller calls]", "", kSmallerRole, 0});
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const PageNode& node = tree.nodes[i];
    callers.push_back(i - node.parent);
    called.push_back(std::min(node.function, tree.functions.size()));
    lines.push_back(node.line);
  }
  Json data = {{"program", profile.program()}, {"pid", profile.raw().pid},
               {"remarks", profile.remarks()}, {"functions", std::move(functions)},
               {"up", std::move(callers)},     {"called", std::move(called)},
               {"lines", std::move(lines)},    {"own", own_figures(tree.nodes)}};
  constexpr std::size_t kMostAreas = 8;
  if (const LiveOverTime over_time = live_over_time(profile, kMostAreas); !over_time.seconds.empty())
    data["over_time"] = to_json(over_time);
  return data;
}

std::string folded(const NamedStack& stack) {
  std::string line;
  for (const Frame& frame : outermost_first(stack)) {
    std::string name = frame.function;
    std::replace(name.begin(), name.end(), ';', ':');
    line += (line.empty() ? "" : ";") + name;
  }
  return line;
}

/// The frames of all profiles, each once.
class FrameTable {
 public:
  std::size_t number_of(const Frame& frame) {
    const auto [entry, is_new] =
        numbers_.try_emplace({frame.function, frame.file, frame.line}, numbers_.size());
    if (is_new) {
      Json json = {{"name", frame.function}};
      if (!frame.file.empty()) json["file"] = frame.file;
      if (frame.line != 0) json["line"] = frame.line;
      frames_.push_back(std::move(json));
    }
    return entry->second;
  }
  const Json& frames() const { return frames_; }

 private:
  std::map<std::tuple<std::string, std::string, unsigned>, std::size_t> numbers_;
  Json frames_ = Json::array();
};

Json sampled(const NamedProfile& profile, Measure measure, FrameTable& table) {
  Json samples = Json::array(), weights = Json::array();
  std::int64_t sum = 0;
  Rounding rounded;
  for (const NamedStack& stack : profile.stacks()) {
    const std::int64_t bytes = rounded(stack.of(measure).bytes);
    if (bytes == 0) continue;
    Json sample = Json::array();
    for (const Frame& frame : outermost_first(stack)) sample.push_back(table.number_of(frame));
    samples.push_back(std::move(sample));
    weights.push_back(bytes);
    sum += bytes;
  }
  return {{"type", "sampled"},
          {"name", measure == Measure::kLive ? "live bytes" : "allocated bytes"},
          {"unit", "bytes"},
          {"startValue", 0},
          {"endValue", sum},
          {"samples", std::move(samples)},
          {"weights", std::move(weights)}};
}

}  // namespace

Json profile_json(const NamedProfile& profile) {
  const HeapProfile& raw = profile.raw();
  Json json = {{"program", profile.program()},
               {"pid", raw.pid},
               {"seconds", std::isfinite(raw.seconds) ? raw.seconds : 0},
               {"interval_bytes", raw.interval_bytes},
               {"lost_samples", raw.lost_samples},
               {"live", to_json(profile.total(Measure::kLive))},
               {"allocated", to_json(profile.total(Measure::kAllocated))},
               {"temporary", to_json(profile.total(Measure::kTemporary))},
               {"remarks", profile.remarks()},
               {"live_sizes", sizes_json(raw.live_sizes)},
               {"stacks", Json::array()}};
  Rounding live_blocks, live_bytes, blocks, bytes, temporary_blocks, temporary_bytes;
  for (const NamedStack& stack : profile.stacks())
    json["stacks"].push_back(
        {{"pool", pool_json(stack.pool)},
         {"type", stack.type == nullptr ? Json(nullptr) : Json(*stack.type)},
         {"older", stack.is_older},
         {"live", to_json(stack.live, live_blocks, live_bytes)},
         {"allocated", to_json(stack.allocated, blocks, bytes)},
         {"temporary", to_json(stack.temporary, temporary_blocks, temporary_bytes)},
         {"within_second_bytes", raw.interval_bytes == 1 ? Json(nullptr) : Json(whole(stack.second_bytes))},
         {"frames", to_json(stack.frames())}});
  constexpr std::size_t kMostSites = 50;
  if (const LiveOverTime over_time = live_over_time(profile, kMostSites); !over_time.seconds.empty())
    json["over_time"] = to_json(over_time);
  return observer::document_json("tarn profile", 1, raw.library, json);
}

std::string flame_page(const NamedProfile& profile) {
  return observer::page_text({kFlamePageFrame, kFlamePageStyle, kFlamePageScript}, page_data(profile));
}

std::string folded_text(const NamedProfile& profile, Measure measure) {
  std::map<std::string, double> bytes;
  for (const NamedStack& stack : profile.stacks())
    if (stack.of(measure).bytes >= 0.5) bytes[folded(stack)] += stack.of(measure).bytes;
  std::string text;
  Rounding rounded;
  for (const auto& [line, amount] : bytes) text += fmt::format("{} {}\n", line, rounded(amount));
  return text;
}

Json speedscope_json(const NamedProfile& profile) {
  FrameTable table;
  Json profiles = Json::array();
  for (const Measure measure : {Measure::kLive, Measure::kAllocated})
    profiles.push_back(sampled(profile, measure, table));
  return {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
          {"exporter", "tarn"},
          {"name", profile.program()},
          {"activeProfileIndex", 0},
          {"shared", {{"frames", table.frames()}}},
          {"profiles", std::move(profiles)}};
}

}  // namespace tarn::profile
