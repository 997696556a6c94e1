// Reading and printing of a program's statistics.
#include "run/statistics_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "observe/figures/stat_fields.h"
#include "observer/text/printable.h"
#include "system/figures/format.h"
#include "system/files/program.h"

namespace tarn::tool {
namespace {

constexpr std::size_t kShownClasses = 8;
constexpr std::size_t kShownPools = 16;

const Json& member(const Json& json, const char* name) {
  static const Json kNothing = Json::object();
  const auto found = json.find(name);
  return found == json.end() ? kNothing : *found;
}

double number(const Json& json, const char* name) {
  const Json& value = member(json, name);
  return value.is_number() ? value.get<double>() : 0;
}

std::string count(const Json& json, const char* name) {
  return format_count(static_cast<std::uint64_t>(number(json, name)));
}

std::string bytes(const Json& json, const char* name) {
  return member(json, name).is_number() ? format_bytes(number(json, name)) : "not known";
}

double wasted_bytes(const Json& size_class) {
  return number(size_class, "given_bytes") - number(size_class, "requested_bytes");
}

double waste_percent(const Json& counts) {
  const double given = number(counts, "given_bytes");
  return given == 0 ? 0 : 100 * (1 - number(counts, "requested_bytes") / given);
}

std::string line(const std::string& title, const std::string& text) {
  return fmt::format("  {:<12}{}\n", title, text);
}

/// A row of the library's list, as far as the report needs it.
struct ReportField {
  const char *group, *key;
  internal::StatUnit unit;
  std::string_view report;
};
#define TARN_ROW(group, key, member, unit, line, label, report, help) \
  {#group, #key, internal::StatUnit::unit, report},
constexpr ReportField kReportFields[] = {TARN_EVERY_STATISTIC(TARN_ROW)};
#undef TARN_ROW

std::string figure(const Json& statistics, const ReportField& field) {
  const Json& group = member(statistics, field.group);
  if (field.unit == internal::StatUnit::kCount) return count(group, field.key);
  const bool is_none = field.unit == internal::StatUnit::kLimit && member(group, field.key) == 0;
  return is_none ? "none" : bytes(group, field.key);
}

std::string sum_with_next(const Json& statistics, const ReportField& field) {
  const ReportField& next = *(&field + 1);
  return format_bytes(number(member(statistics, field.group), field.key) +
                      number(member(statistics, next.group), next.key));
}

std::string replaced(std::string text, const char* place, const std::string& value) {
  const std::size_t at = text.find(place);
  return at == std::string::npos ? text : text.replace(at, std::strlen(place), value);
}

struct ReportLine {
  std::string title, text;
};

/// The lines of the library's list, in its order.
std::vector<ReportLine> report_lines(const Json& statistics) {
  std::vector<ReportLine> lines;
  for (const ReportField& field : kReportFields) {
    if (field.report.empty()) continue;
    const std::size_t colon = field.report.find(": ");
    const std::string title(field.report.substr(0, colon)), text(field.report.substr(colon + 2));
    auto line =
        std::find_if(lines.begin(), lines.end(), [&](const ReportLine& one) { return one.title == title; });
    if (line == lines.end()) line = lines.insert(lines.end(), {title, ""});
    line->text += text.find("{+}") != std::string::npos
                      ? replaced(text, "{+}", sum_with_next(statistics, field))
                      : replaced(text, "{}", figure(statistics, field));
  }
  return lines;
}

std::string waste_text(const Json& statistics) {
  const Json& calls = member(statistics, "calls");
  return fmt::format("{} of the {} given was not requested", format_percent(waste_percent(calls)),
                     bytes(calls, "given_bytes"));
}

std::vector<Json> most_wasteful(const Json& statistics, std::size_t most) {
  std::vector<Json> classes;
  for (const Json& size_class : member(statistics, "size_classes"))
    if (wasted_bytes(size_class) > 0) classes.push_back(size_class);
  std::stable_sort(classes.begin(), classes.end(),
                   [](const Json& a, const Json& b) { return wasted_bytes(a) > wasted_bytes(b); });
  if (classes.size() > most) classes.resize(most);
  return classes;
}

std::vector<Json> largest_pools(const Json& statistics, std::size_t most) {
  std::vector<Json> pools;
  for (const Json& pool : member(statistics, "pools"))
    if (pool.is_object()) pools.push_back(pool);
  std::stable_sort(pools.begin(), pools.end(), [](const Json& a, const Json& b) {
    return number(a, "mapped_bytes") > number(b, "mapped_bytes");
  });
  if (pools.size() > most) pools.resize(most);
  return pools;
}

std::string text_member(const Json& json, const char* name) {
  const Json& value = member(json, name);
  return value.is_string() ? observer::printable(value.get<std::string>()) : "";
}

std::string pool_title(const Json& pool) {
  const std::string parent = text_member(pool, "parent");
  return "  " + text_member(pool, "name") + (parent.empty() ? "" : " in " + parent);
}

/// The tighter of the limits of live bytes and of pages.
std::string limit_text(const Json& pool) {
  const Json &live = member(pool, "limit_bytes"), &mapped = member(pool, "mapped_limit_bytes");
  if (!live.is_number() && !mapped.is_number()) return "none";
  if (!mapped.is_number()) return bytes(pool, "limit_bytes");
  if (!live.is_number()) return bytes(pool, "mapped_limit_bytes");
  return format_bytes(std::min(number(pool, "limit_bytes"), number(pool, "mapped_limit_bytes")));
}

/// What stands behind the other lines: a title with how many of all are shown, and the table.
std::string pools_text(const Json& statistics, Colour colour) {
  const Table table = pool_table(statistics, kShownPools);
  if (table.is_empty()) return "";
  const std::size_t all = member(statistics, "pools").size();
  const std::string which =
      all > kShownPools ? fmt::format("the {} of {} with most pages", kShownPools, all) : "all at the end";
  return fmt::format("  pools, {}:\n", which) + table.render(colour);
}

std::string how_ended(const RunResult& run) {
  return run.ending == Ending::kSignaled ? "ended by " + format_signal(run.code)
                                         : fmt::format("exit status {}", run.code);
}

}  // namespace

std::optional<Json> parse_statistics(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return json;
}

std::optional<std::size_t> figure_in(const Json& statistics, const char* group, const char* key) {
  const Json& figure = member(member(statistics, group), key);
  return figure.is_number_unsigned() ? std::optional(figure.get<std::size_t>()) : std::nullopt;
}

Table waste_table(const Json& statistics, std::size_t most) {
  Table table({"  block bytes", "allocated", "requested", "given", "waste", "wasted"});
  for (const Json& size_class : most_wasteful(statistics, most))
    table.add_row({count(size_class, "block_bytes"), count(size_class, "allocate"),
                   bytes(size_class, "requested_bytes"), bytes(size_class, "given_bytes"),
                   format_percent(waste_percent(size_class)), format_bytes(wasted_bytes(size_class))});
  return table;
}

Table pool_table(const Json& statistics, std::size_t most) {
  Table table({{"  pool", Alignment::kLeft},
               {"kind", Alignment::kLeft},
               "block",
               "live",
               "live bytes",
               "peak",
               "limit",
               "mapped",
               "waste",
               "refused"});
  for (const Json& pool : largest_pools(statistics, most))
    table.add_row({pool_title(pool), text_member(pool, "kind"),
                   number(pool, "block_bytes") == 0 ? "any" : count(pool, "block_bytes"),
                   count(pool, "live_count"), bytes(pool, "live_bytes"), bytes(pool, "peak_live_bytes"),
                   limit_text(pool), bytes(pool, "mapped_bytes"), bytes(pool, "waste_bytes"),
                   count(pool, "refusals")});
  return table;
}

/// The file of classes that served, or else the preset.
std::string classes_text(const Json& statistics) {
  for (const char* const key : {"size_classes_file", "size_classes_preset"})
    if (const std::string name = text_member(statistics, key); !name.empty()) return name;
  return "preset not known";
}

std::string statistics_report(const Json& statistics, Colour colour) {
  std::vector<ReportLine> lines = report_lines(statistics);
  const auto slow_path = std::find_if(lines.begin(), lines.end(),
                                      [](const ReportLine& one) { return one.title == "slow path"; });
  lines.insert(slow_path, {"waste", waste_text(statistics)});
  std::string text;
  for (const ReportLine& one : lines) text += line(one.title, one.text);
  const Table table = waste_table(statistics, kShownClasses);
  const std::string pools = pools_text(statistics, colour);
  if (table.is_empty()) return text + pools;
  return text +
         fmt::format("  waste by size class, the worst {} at most ({}):\n", kShownClasses,
                     classes_text(statistics)) +
         table.render(colour) + pools;
}

std::string run_report(const std::vector<std::string>& command, const RunResult& run, Colour colour) {
  const Measurement& cost = run.cost;
  std::string text =
      fmt::format("{} (pid {}): {}\n", styled("tarn: " + format_command(command), Style::kHeading, colour),
                  run.pid, how_ended(run));
  text += line("time", fmt::format("{} wall, {} user, {} system (each call was counted, which costs time)",
                                   format_seconds(cost.wall_seconds), format_seconds(cost.user_seconds),
                                   format_seconds(cost.system_seconds)));
  return text +
         line("peak RSS", fmt::format("{}; {} page faults, {} of them major",
                                      format_bytes(static_cast<double>(cost.peak_rss_bytes)),
                                      format_count(cost.page_faults()), format_count(cost.major_faults)));
}

Json run_json(const std::vector<std::string>& command, const RunResult& run) {
  Json json = to_json(run.cost);
  json["command"] = command;
  json["exit_status"] = run.ending == Ending::kExited ? Json(run.code) : Json(nullptr);
  json["signal"] = run.ending == Ending::kSignaled ? Json(format_signal(run.code)) : Json(nullptr);
  return json;
}

std::string why_no_statistics(const RunResult& run, const std::string& program_path) {
  const std::string obstacle = why_not_preloadable(program_path);
  if (!obstacle.empty()) return obstacle;
  if (run.ending == Ending::kSignaled) return "a signal ended the program before it could write them";
  return "the program ended by _exit or quick_exit, changed its user or environment, or did not load the "
         "library";
}

}  // namespace tarn::tool
