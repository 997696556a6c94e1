// Finding and asking the benchmark programs.
#include "bench/rows/bench_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "system/files/environment.h"
#include "system/files/files.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace fs = std::filesystem;
namespace {

constexpr const char* kProgramNames[] = {"bench_peers",     "bench_tarn",     "bench_mimalloc",
                                         "bench_snmalloc",  "bench_rpmalloc", "bench_micro_peers",
                                         "bench_micro_tarn"};
constexpr double kAnswerSeconds = 30;

std::vector<std::string> programs_in(const fs::path& directory) {
  std::vector<std::string> found;
  for (const char* name : kProgramNames)
    if (is_file(directory / name)) found.push_back((directory / name).lexically_normal().string());
  return found;
}

std::vector<Json> answer_of(const std::string& program, std::vector<std::string> arguments,
                            SignalWatch& signals) {
  arguments.insert(arguments.begin(), program);
  Environment environment;
  environment.remove("LD_PRELOAD");
  const RunResult run = run_program({.command = std::move(arguments),
                                     .environment = environment.entries(),
                                     .timeout_seconds = kAnswerSeconds,
                                     .kept_output_bytes = kMostFigureBytes},
                                    signals);
  if (run.ending == Ending::kInterrupted) throw Interrupted{run.code};
  if (run.ending != Ending::kExited || run.code != 0)
    throw std::runtime_error(fmt::format("{} does not say what it can run: {}", program,
                                         fmt::join(run.errors.last_lines(2), "; ")));
  return json_lines(run.output.kept());
}

}  // namespace

std::vector<std::string> BenchShape::arguments() const {
  std::vector<std::string> words = {"--scale", fmt::format("{}", scale)};
  if (!threads.empty()) words.insert(words.end(), {"--threads", fmt::format("{}", fmt::join(threads, ","))});
  if (!sizes.empty()) words.insert(words.end(), {"--sizes", fmt::format("{}", fmt::join(sizes, ","))});
  if (is_quick) words.emplace_back("--quick");
  if (is_pinned) words.emplace_back("--pin");
  return words;
}

std::vector<std::string> find_bench_programs() {
  const std::vector<std::string> directories = bench_directories();
  for (const std::string& directory : directories)
    if (std::vector<std::string> found = programs_in(directory); !found.empty()) return found;
  throw UsageError(fmt::format(
      "there are no benchmark programs in {}: build them, or set TARN_BENCH_PROGRAMS to their directory",
      fmt::join(directories, " or ")));
}

std::vector<Json> json_lines(const std::string& output) {
  std::vector<Json> lines;
  std::istringstream text(output);
  for (std::string line; std::getline(text, line);) {
    Json parsed = Json::parse(line, nullptr, false);
    if (parsed.is_object()) lines.push_back(std::move(parsed));
  }
  return lines;
}

std::vector<BenchOffer> offers_of(const std::string& program, SignalWatch& signals) {
  std::vector<BenchOffer> offers;
  for (const Json& line : answer_of(program, {"--contestants"}, signals))
    offers.push_back(
        {program, line.at("contestant"), line.at("kind"), line.at("library"), line.at("synchronised")});
  return offers;
}

BenchRow row_from(const std::string& group, const Json& json) {
  return {.group = group,
          .name = json.at("row"),
          .series = json.at("series"),
          .bytes = json.at("bytes"),
          .threads = json.at("threads"),
          .is_cold = json.at("cold"),
          .metric = json.at("metric")};
}

std::vector<BenchRow> rows_of(const BenchOffer& offer, const BenchShape& shape, SignalWatch& signals) {
  std::vector<std::string> arguments = shape.arguments();
  arguments.insert(arguments.end(), {"--contestant", offer.contestant, "--list"});
  std::vector<BenchRow> rows;
  for (const Json& line : answer_of(offer.program, std::move(arguments), signals))
    rows.push_back(row_from(line.at("group"), line));
  return rows;
}

}  // namespace tarn::tool
