#include "profile/reports/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "observer/text/printable.h"
#include "observer/text/words.h"

namespace tarn::profile {
namespace {

std::string key_of(const NamedStack& stack, const std::vector<Frame>& frames) {
  std::string key = stack.pool + '\n';
  for (const Frame& frame : frames) key += fmt::format("{}\t{}:{}\n", frame.function, frame.file, frame.line);
  return key;
}

using ByKey = std::map<std::string, StackGrowth>;

void add(const NamedProfile& profile, Amount StackGrowth::*side, ByKey& by_key) {
  for (const NamedStack& stack : profile.stacks()) {
    std::vector<Frame> frames = stack.frames();
    StackGrowth& growth = by_key[key_of(stack, frames)];
    growth.frames = std::move(frames);
    growth.pool = stack.pool;
    growth.*side += stack.live;
  }
}

std::string line_of(const StackGrowth& growth, std::size_t columns) {
  std::string line =
      fmt::format("{:>10}  {:>11}  ", observer::change_in_bytes(growth.bytes()),
                  (growth.blocks() >= 0.5 ? "+" : "") + observer::estimate_in_words(growth.blocks()));
  line += growth.frames.empty() ? "[no stack]" : frame_in_words(growth.frames[site_of(growth.frames)]);
  if (!growth.pool.empty()) line += " in " + growth.pool;
  return observer::with_end_cut(line, columns) + "\n";
}

}  // namespace

std::vector<StackGrowth> growth_between(const NamedProfile& before, const NamedProfile& after) {
  ByKey by_key;
  add(before, &StackGrowth::before, by_key);
  add(after, &StackGrowth::after, by_key);
  std::vector<StackGrowth> sorted;
  for (auto& [key, growth] : by_key)
    if (growth.bytes() != 0 || growth.blocks() != 0) sorted.push_back(std::move(growth));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const StackGrowth& a, const StackGrowth& b) { return a.bytes() > b.bytes(); });
  return sorted;
}

std::string growth_text(const std::vector<StackGrowth>& growth, std::size_t rows, std::size_t columns) {
  const auto first_less =
      std::find_if(growth.begin(), growth.end(), [](const StackGrowth& one) { return one.bytes() < 0; });
  const auto more = static_cast<std::size_t>(first_less - growth.begin()), less = growth.size() - more;
  const std::size_t most = rows == 0 ? growth.size() : rows;
  double sum = 0;
  for (const StackGrowth& one : growth) sum += one.bytes();
  std::string text = fmt::format("{} in all\n\n{:>10}  {:>11}  function\n", observer::change_in_bytes(sum),
                                 "bytes", "blocks");
  for (std::size_t i = 0; i < std::min(more, most); ++i) text += line_of(growth[i], columns);
  if (more > most) text += fmt::format("and {} more that grew\n", more - most);
  for (std::size_t i = growth.size(); i > growth.size() - std::min(less, most); --i)
    text += line_of(growth[i - 1], columns);
  if (less > most) text += fmt::format("and {} more that shrank\n", less - most);
  return text;
}

Json growth_json(const std::vector<StackGrowth>& growth) {
  Json json = {{"format", "tarn-heap-growth"}, {"version", 1}, {"stacks", Json::array()}};
  for (const StackGrowth& one : growth)
    json["stacks"].push_back({{"pool", pool_json(one.pool)},
                              {"before", to_json(one.before)},
                              {"after", to_json(one.after)},
                              {"growth", {{"blocks", whole(one.blocks())}, {"bytes", whole(one.bytes())}}},
                              {"frames", to_json(one.frames)}});
  return json;
}

}  // namespace tarn::profile
