#include "profile/reports/leak_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "observer/text/printable.h"
#include "observer/text/words.h"
#include "tarn/version.h"

namespace tarn::profile {
namespace {

/// A leak that is being put together.
struct Growing {
  Leak leak;
  double most_bytes = -1;  // of one of its stacks
};
using Key = std::tuple<std::string, std::string, unsigned, std::string, std::int64_t>;

bool is_nothing(const Amount& amount) { return amount.bytes < 0.5 && amount.blocks < 0.5; }

void add_leak(const NamedStack& stack, std::map<Key, Growing>& leaks) {
  const Frame none;
  const Frame& site = stack.site() == nullptr ? none : *stack.site();
  const double block_bytes = stack.live.blocks > 0 ? stack.live.bytes / stack.live.blocks : stack.live.bytes;
  Growing& growing = leaks[{site.function, site.file, site.line, stack.pool, whole(block_bytes)}];
  growing.leak.amount += stack.live;
  growing.leak.block_bytes = block_bytes;
  growing.leak.pool = stack.pool;
  ++growing.leak.stacks;
  if (stack.live.bytes <= growing.most_bytes) return;
  growing.most_bytes = stack.live.bytes;
  growing.leak.frames = stack.frames();
}

std::string heading_of(const Leak& leak) {
  std::string text = fmt::format("{} in {} of {}", observer::counted_estimate(leak.amount.bytes, "byte"),
                                 observer::counted_estimate(leak.amount.blocks, "block"),
                                 observer::short_bytes(leak.block_bytes));
  if (!leak.pool.empty()) text += " from " + leak.pool;
  if (leak.stacks > 1) text += fmt::format(", by {} stacks, of which the largest is", leak.stacks);
  return text;
}

std::string cut(const std::string& line, const LeakTextShape& shape) {
  return (shape.columns == 0 ? line : observer::with_end_cut(line, shape.columns)) + "\n";
}

std::string leak_text(const Leak& leak, const LeakTextShape& shape) {
  std::string text = cut(heading_of(leak), shape);
  const std::size_t shown = std::min(shape.frames, leak.frames.size());
  for (std::size_t i = 0; i < shown; ++i)
    text += cut(fmt::format("    {} {}", i == 0 ? "at" : "by", frame_in_words(leak.frames[i])), shape);
  if (shown < leak.frames.size()) text += fmt::format("    and {} more frames\n", leak.frames.size() - shown);
  return text + "\n";
}

std::string sum_text(const Amount& amount, const std::string& what) {
  return fmt::format("{} in {} {}\n", observer::counted_estimate(amount.bytes, "byte"),
                     observer::counted_estimate(amount.blocks, "block"), what);
}

}  // namespace

LeaksAtEnd leaks_at_end(const NamedProfile& profile, Suppressions suppressions) {
  LeaksAtEnd report;
  std::map<Key, Growing> leaks;
  for (const NamedStack& stack : profile.stacks()) {
    if (is_nothing(stack.live)) continue;
    if (stack.is_older) {
      report.older += stack.live;
    } else if (suppressions.suppress(stack, profile.raw())) {
      report.suppressed += stack.live;
    } else {
      report.total += stack.live;
      add_leak(stack, leaks);
    }
  }
  for (auto& [key, growing] : leaks) report.leaks.push_back(std::move(growing.leak));
  std::stable_sort(report.leaks.begin(), report.leaks.end(),
                   [](const Leak& a, const Leak& b) { return a.amount.bytes > b.amount.bytes; });
  for (const Suppression& one : suppressions.all())
    if (!is_nothing(one.suppressed))
      report.suppressions.push_back({observer::printable(one.pattern), one.suppressed});
  report.unused_suppressions = suppressions.unused();
  report.remarks = profile.remarks();
  return report;
}

void add_to(LeaksAtEnd& sum, const LeaksAtEnd& report) {
  sum.leaks.insert(sum.leaks.end(), report.leaks.begin(), report.leaks.end());
  std::stable_sort(sum.leaks.begin(), sum.leaks.end(),
                   [](const Leak& a, const Leak& b) { return a.amount.bytes > b.amount.bytes; });
  sum.total += report.total;
  sum.suppressed += report.suppressed;
  sum.older += report.older;
  for (const Suppression& one : report.suppressions) {
    const auto same = std::find_if(sum.suppressions.begin(), sum.suppressions.end(),
                                   [&](const Suppression& other) { return other.pattern == one.pattern; });
    if (same == sum.suppressions.end())
      sum.suppressions.push_back(one);
    else
      same->suppressed += one.suppressed;
    std::erase(sum.unused_suppressions, one.pattern);
  }
  for (const std::string& pattern : report.unused_suppressions) {
    const bool was_used = std::any_of(sum.suppressions.begin(), sum.suppressions.end(),
                                      [&](const Suppression& used) { return used.pattern == pattern; });
    if (!was_used && std::ranges::find(sum.unused_suppressions, pattern) == sum.unused_suppressions.end())
      sum.unused_suppressions.push_back(pattern);
  }
  for (const std::string& remark : report.remarks)
    if (std::ranges::find(sum.remarks, remark) == sum.remarks.end()) sum.remarks.push_back(remark);
}

LeakVerdict verdict_of(const LeaksAtEnd& report) {
  return report.leaks.empty() ? LeakVerdict::kNone : LeakVerdict::kLeaks;
}

std::string leak_report_text(const LeaksAtEnd& report, const LeakTextShape& shape) {
  std::string text;
  const std::size_t shown =
      shape.leaks == 0 ? report.leaks.size() : std::min(shape.leaks, report.leaks.size());
  for (std::size_t i = 0; i < shown; ++i) text += leak_text(report.leaks[i], shape);
  if (shown < report.leaks.size()) text += fmt::format("and {} more places\n\n", report.leaks.size() - shown);
  text += report.leaks.empty() ? "no leaks\n" : sum_text(report.total, "leaked");
  if (!is_nothing(report.suppressed)) text += sum_text(report.suppressed, "suppressed, by:");
  for (const Suppression& one : report.suppressions)
    text += fmt::format("    {:>12}  {:>10}  {}\n", observer::estimate_in_words(one.suppressed.bytes),
                        observer::estimate_in_words(one.suppressed.blocks), one.pattern);
  for (const std::string& remark : report.remarks) text += remark + "\n";
  return text;
}

Json leak_report_json(const LeaksAtEnd& report) {
  Json json = {{"leaked", to_json(report.total)}, {"suppressed", to_json(report.suppressed)},
               {"older", to_json(report.older)},  {"leaks", Json::array()},
               {"suppressions", Json::array()},   {"unused_suppressions", report.unused_suppressions},
               {"remarks", report.remarks}};
  for (const Leak& leak : report.leaks)
    json["leaks"].push_back({{"bytes", whole(leak.amount.bytes)},
                             {"blocks", whole(leak.amount.blocks)},
                             {"block_bytes", whole(leak.block_bytes)},
                             {"pool", pool_json(leak.pool)},
                             {"stacks", leak.stacks},
                             {"frames", to_json(leak.frames)}});
  for (const Suppression& one : report.suppressions)
    json["suppressions"].push_back({{"pattern", one.pattern}, {"suppressed", to_json(one.suppressed)}});
  return observer::document_json("tarn run --leaks", 1, TARN_VERSION_STRING, json);
}

}  // namespace tarn::profile
