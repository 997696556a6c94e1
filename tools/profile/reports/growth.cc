#include "profile/reports/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "observer/text/printable.h"
#include "observer/text/words.h"
#include "profile/stacks/function_name.h"
#include "tarn/version.h"

namespace tarn::profile {
namespace {

std::string key_of(const StackAmount& stack, SameStack same) {
  std::string key = stack.pool + '\n';
  for (const Frame& frame : stack.frames) {
    key += frame.function;
    if (same == SameStack::kLines) key += fmt::format("\t{}:{}", frame.file, frame.line);
    key += '\n';
  }
  return key;
}

using ByKey = std::map<std::string, StackGrowth>;

void add(std::vector<StackAmount> stacks, Amount StackGrowth::*side, SameStack same, ByKey& by_key) {
  for (StackAmount& stack : stacks) {
    StackGrowth& growth = by_key[key_of(stack, same)];
    growth.frames = std::move(stack.frames);
    growth.pool = std::move(stack.pool);
    growth.*side += stack.live;
  }
}

std::vector<StackGrowth> sorted(ByKey by_key) {
  std::vector<StackGrowth> sorted;
  for (auto& [key, growth] : by_key)
    if (growth.bytes() != 0 || growth.blocks() != 0) sorted.push_back(std::move(growth));
  std::ranges::stable_sort(sorted, std::greater<>(), [](const StackGrowth& one) { return one.bytes(); });
  return sorted;
}

std::string site_in_words(const StackGrowth& growth) {
  if (growth.frames.empty()) return "[no stack]";
  Frame site = growth.frames[site_of(growth.frames)];
  site.function = short_name(site.function);
  return frame_in_words(site);
}

std::vector<StackGrowth> by_site(const std::vector<StackGrowth>& stacks) {
  ByKey by_key;
  for (const StackGrowth& stack : stacks) {
    StackGrowth& site = by_key[site_in_words(stack) + '\n' + stack.pool];
    if (site.frames.empty()) site.frames = stack.frames;
    site.pool = stack.pool;
    site.before += stack.before;
    site.after += stack.after;
  }
  return sorted(std::move(by_key));
}

std::string line_of(const StackGrowth& growth, std::size_t columns) {
  std::string line =
      fmt::format("{:>10}  {:>11}  ", observer::change_in_bytes(growth.bytes()),
                  (growth.blocks() >= 0.5 ? "+" : "") + observer::estimate_in_words(growth.blocks()));
  line += site_in_words(growth);
  if (!growth.pool.empty()) line += " in " + growth.pool;
  return observer::with_end_cut(line, columns) + "\n";
}

Frame frame_in(const Json& json) {
  const auto text = [&](const char* key) { return observer::printable(json.value(key, std::string())); };
  Frame frame{text("function"), text("file"), json.value("line", 0u), json.value("inlined", false)};
  frame.role = role_of(frame);
  return frame;
}

}  // namespace

std::vector<StackAmount> stacks_of(const NamedProfile& profile) {
  std::vector<StackAmount> stacks;
  for (const NamedStack& stack : profile.stacks()) stacks.push_back({stack.frames(), stack.pool, stack.live});
  return stacks;
}

std::vector<StackAmount> stacks_in(const Json& profile) {
  std::vector<StackAmount> stacks;
  for (const Json& json : profile.at("stacks")) {
    const Json &pool = json.at("pool"), &live = json.at("live");
    StackAmount& stack = stacks.emplace_back();
    if (!pool.is_null()) stack.pool = observer::printable(pool.get<std::string>());
    stack.live = {live.at("blocks"), live.at("bytes")};
    for (const Json& frame : json.at("frames")) stack.frames.push_back(frame_in(frame));
  }
  return stacks;
}

std::vector<StackGrowth> growth_between(std::vector<StackAmount> before, std::vector<StackAmount> after,
                                        SameStack same) {
  ByKey by_key;
  add(std::move(before), &StackGrowth::before, same, by_key);
  add(std::move(after), &StackGrowth::after, same, by_key);
  return sorted(std::move(by_key));
}

std::string growth_text(const std::vector<StackGrowth>& stacks, std::size_t rows, std::size_t columns) {
  const std::vector<StackGrowth> growth = by_site(stacks);
  const auto first_less =
      std::find_if(growth.begin(), growth.end(), [](const StackGrowth& one) { return one.bytes() < 0; });
  const auto more = static_cast<std::size_t>(first_less - growth.begin()), less = growth.size() - more;
  const std::size_t most = rows == 0 ? growth.size() : rows;
  double sum = 0;
  for (const StackGrowth& one : growth) sum += one.bytes();
  std::string text = fmt::format("{} in all\n\n{:>10}  {:>11}  function\n",
                                 observer::change_in_bytes(std::abs(sum) < 0.5 ? 0 : sum), "bytes", "blocks");
  for (std::size_t i = 0; i < std::min(more, most); ++i) text += line_of(growth[i], columns);
  if (more > most) text += fmt::format("and {} more that grew\n", more - most);
  for (std::size_t i = growth.size(); i > growth.size() - std::min(less, most); --i)
    text += line_of(growth[i - 1], columns);
  if (less > most) text += fmt::format("and {} more that shrank\n", less - most);
  return text;
}

Json growth_json(const std::vector<StackGrowth>& growth) {
  Json json = {{"stacks", Json::array()}};
  for (const StackGrowth& one : growth)
    json["stacks"].push_back({{"pool", pool_json(one.pool)},
                              {"before", to_json(one.before)},
                              {"after", to_json(one.after)},
                              {"growth", {{"blocks", whole(one.blocks())}, {"bytes", whole(one.bytes())}}},
                              {"frames", to_json(one.frames)}});
  return observer::document_json("tarn profile growth", 1, TARN_VERSION_STRING, json);
}

}  // namespace tarn::profile
