#include "run/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "observer/text/printable.h"
#include "run/statistics_file.h"
#include "system/figures/format.h"
#include "system/files/files.h"
#include "system/files/usage_error.h"
#include "tarn/version.h"

namespace tarn::tool {
namespace {

struct LimitKind {
  const char* option;
  std::optional<std::size_t> RunLimits::*limit;
  const char *group, *key;  // of the figure in the statistics
  const char* what;
  const char* next;  // options of `tarn run` that tell more
};
constexpr LimitKind kLimitKinds[] = {
    {"--max-peak", &RunLimits::peak_bytes, "bytes", "peak_live", "bytes were live at most", "--profile 1"},
    {"--max-live-at-exit", &RunLimits::live_at_exit_bytes, "bytes", "live", "bytes were live at the end",
     "--leaks --reachable"},
    {"--max-allocations", &RunLimits::allocations, "calls", "allocate", "allocations were made",
     "--profile 1"},
};

LimitCheck check_of(const LimitKind& kind, std::size_t limit, const std::vector<std::string>& command,
                    const std::optional<Json>& statistics, const std::string& obstacle) {
  if (!obstacle.empty()) return {kind.option, limit, 0, Verdict::kNotChecked, "not checked: " + obstacle};
  const auto figure = figure_in(*statistics, kind.group, kind.key);
  if (!figure)
    return {kind.option, limit, 0, Verdict::kNotChecked, "not checked: the library does not tell the figure"};
  std::string message =
      fmt::format("{} {}, the limit is {}", format_count(*figure), kind.what, format_count(limit));
  if (*figure <= limit) return {kind.option, limit, *figure, Verdict::kHolds, message};
  message += fmt::format("; to see whose: tarn run {} -- {}", kind.next, format_command(command));
  return {kind.option, limit, *figure, Verdict::kExceeded, message};
}

// \returns "" where they are of the program's memory.
std::string obstacle_of(const std::optional<Json>& statistics, const std::string& why_there_are_none) {
  if (!statistics) return "no statistics: " + observer::printable(why_there_are_none);
  const auto is_ours = statistics->find("malloc_is_ours");
  return is_ours != statistics->end() && *is_ours == false ? "the program's malloc is not tarn's" : "";
}

std::size_t count_of(const std::vector<LimitCheck>& checks, Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::count(checks, verdict, &LimitCheck::verdict));
}

std::string escaped(const std::string& text) {
  std::string xml;
  for (const char c : text)
    xml += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
  return xml;
}

std::string uri_of(const std::string& path) {
  std::string uri;
  for (const char c : path)
    uri += std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("/-._~", c) != nullptr
               ? std::string(1, c)
               : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return uri;
}

std::string junit_text(const std::vector<LimitCheck>& checks, const std::vector<std::string>& command) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"tarn run\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n",
      checks.size(), count_of(checks, Verdict::kExceeded), count_of(checks, Verdict::kNotChecked));
  for (const LimitCheck& check : checks) {
    text += fmt::format("  <testcase classname=\"{}\" name=\"{}\"", escaped(format_command(command)),
                        check.option);
    text +=
        check.verdict == Verdict::kHolds
            ? "/>\n"
            : fmt::format("><{} message=\"{}\"/></testcase>\n",
                          check.verdict == Verdict::kExceeded ? "failure" : "error", escaped(check.message));
  }
  return text + "</testsuite>\n";
}

Json sarif_json(const std::vector<LimitCheck>& checks, const std::vector<std::string>& command) {
  Json results = Json::array();
  for (const LimitCheck& check : checks) {
    if (check.verdict == Verdict::kHolds) continue;
    const Json place = {{"physicalLocation", {{"artifactLocation", {{"uri", uri_of(command.front())}}}}}};
    results.push_back({{"ruleId", check.option},
                       {"level", "error"},
                       {"message", {{"text", check.message}}},
                       {"locations", Json::array({place})}});
  }
  const Json driver = {{"name", "tarn"}, {"version", TARN_VERSION_STRING}};
  const Json run = {{"tool", {{"driver", driver}}}, {"results", results}};
  return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
          {"version", "2.1.0"},
          {"runs", Json::array({run})}};
}

}  // namespace

void add_limit_options(CLI::App& command, RunLimits& limits) {
  add_value(command, "--max-peak BYTES", limits.peak_bytes,
            "Exit status 23 if more bytes than these were live at one time, in blocks as the library rounds "
            "them (RSS is not checked: it differs from run to run)")
      .as_size();
  add_value(command, "--max-live-at-exit BYTES", limits.live_at_exit_bytes,
            "Exit status 23 if more are live at the end, after all destructors; libstdc++.so's spare memory "
            "for exceptions and the buffers of stdin, stdout and stderr do not count (one linked into the "
            "program is not looked at)")
      .as_size();
  add_value(command, "--max-allocations N", limits.allocations,
            "Exit status 23 if it allocates more often; a realloc counts where the block moves")
      .as_count();
  add_value(command, "--junit FILE", limits.junit_file, "With a limit: a test case for each, for CI");
  add_value(command, "--sarif FILE", limits.sarif_file,
            "With a limit: each that was exceeded or not checked, as SARIF 2.1.0");
}

void check(const RunLimits& limits) {
  for (const std::string& file : {limits.junit_file, limits.sarif_file}) {
    if (file.empty()) continue;
    if (!limits.are_given()) throw UsageError("--junit and --sarif are for limits, such as --max-peak");
    require_writable(file);
  }
}

std::vector<LimitCheck> checks_of(const RunLimits& limits, const std::vector<std::string>& command,
                                  const std::optional<Json>& statistics,
                                  const std::string& why_there_are_none) {
  std::vector<LimitCheck> checks;
  const std::string obstacle = obstacle_of(statistics, why_there_are_none);
  for (const LimitKind& kind : kLimitKinds)
    if (const auto& limit = limits.*kind.limit)
      checks.push_back(check_of(kind, *limit, command, statistics, obstacle));
  return checks;
}

bool all_hold(const std::vector<LimitCheck>& checks) {
  return count_of(checks, Verdict::kHolds) == checks.size();
}

std::string failures_text(const std::vector<LimitCheck>& checks) {
  std::string text;
  for (const LimitCheck& check : checks)
    if (check.verdict != Verdict::kHolds) text += fmt::format("tarn: {}: {}\n", check.option, check.message);
  return text;
}

Json to_json(const LimitCheck& check) {
  constexpr const char* kVerdicts[] = {"holds", "exceeded", "not checked"};
  const bool is_known = check.verdict != Verdict::kNotChecked;
  return {{"option", check.option},
          {"limit", check.limit},
          {"figure", is_known ? Json(check.figure) : Json(nullptr)},
          {"verdict", kVerdicts[static_cast<int>(check.verdict)]},
          {"message", check.message}};
}

void write_files(const RunLimits& limits, const std::vector<LimitCheck>& checks,
                 const std::vector<std::string>& command) {
  if (!limits.junit_file.empty()) write_file(limits.junit_file, junit_text(checks, command));
  if (!limits.sarif_file.empty()) write_file(limits.sarif_file, text_of(sarif_json(checks, command)));
}

}  // namespace tarn::tool
