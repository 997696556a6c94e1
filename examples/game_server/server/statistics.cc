// Figures of the process from /proc and getrusage, and the JSON of all figures.
#include "statistics.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <tarn/pool_use.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "memory_policy.h"

namespace game {
namespace {

using Json = nlohmann::ordered_json;

struct ResidentBytes {
  std::uint64_t now = 0;
  std::uint64_t peak = 0;
};

/// \why VmHWM and not ru_maxrss: the kernel carries the latter over exec, from whoever started us.
ResidentBytes resident_bytes() {
  ResidentBytes bytes;
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return bytes;
  char line[256];
  unsigned long kib = 0;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "VmHWM: %lu kB", &kib) == 1) bytes.peak = kib * 1024;
    if (std::sscanf(line, "VmRSS: %lu kB", &kib) == 1) bytes.now = kib * 1024;
  }
  std::fclose(file);
  return bytes;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

struct ProcessFigures {
  double user_seconds;
  double system_seconds;
  ResidentBytes resident;
  long page_faults;
  long preemptions;
};

ProcessFigures process_figures() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return {seconds(usage.ru_utime), seconds(usage.ru_stime), resident_bytes(),
          usage.ru_minflt + usage.ru_majflt, usage.ru_nivcsw};
}

Json json_of(const ProcessFigures& process) {
  return {{"user_seconds", process.user_seconds}, {"system_seconds", process.system_seconds},
          {"rss_bytes", process.resident.now},    {"peak_rss_bytes", process.resident.peak},
          {"page_faults", process.page_faults},   {"preemptions", process.preemptions}};
}

Json json_of(const LiveCounts& live) {
  return {{"sessions", live.sessions}, {"packets", live.packets}, {"events", live.events},
          {"entities", live.entities}, {"items", live.items},     {"nodes", live.nodes}};
}

Json json_of_refusals(const Statistics& statistics) {
  Json refused = Json::object();
  for (std::size_t i = 1; i <= kRefusalCount; ++i) refused[refusal_name(i)] = statistics.refused[i];
  return refused;
}

Json json_of(const Statistics& statistics) {
  return {{"event", "stats"},
          {"packets_received", statistics.packets_received},
          {"packets_sent", statistics.packets_sent},
          {"bytes_received", statistics.bytes_received},
          {"bytes_sent", statistics.bytes_sent},
          {"ticks", statistics.ticks.count()},
          {"ticks_skipped", statistics.ticks_skipped},
          {"allocations", request_count},
          {"accepted", statistics.accepted},
          {"closed", statistics.closed},
          {"turned_away", statistics.turned_away},
          {"most_sessions", statistics.most_sessions},
          {"refused", json_of_refusals(statistics)}};
}

/// Of tarn's pools; none on another policy.
Json json_of_pools() {
  Json pools = Json::array();
  tarn::for_each_pool(
      [](const tarn::PoolUse& use, void* found) {
        static_cast<Json*>(found)->push_back({{"kind", use.kind},
                                              {"name", use.name},
                                              {"block_bytes", use.block_bytes},
                                              {"live_count", use.live_count},
                                              {"mapped_bytes", use.mapped_bytes}});
      },
      &pools);
  return pools;
}

void print_json(const Statistics& statistics, const LiveCounts& live, const std::vector<TickSample>& ticks) {
  Json json = json_of(statistics);
  json["live"] = json_of(live);
  json["process"] = json_of(process_figures());
  json["pools"] = json_of_pools();
  Json wall = Json::array();
  Json cpu = Json::array();
  for (const TickSample& tick : ticks) {
    wall.push_back(tick.wall_nanoseconds);
    cpu.push_back(tick.cpu_nanoseconds);
  }
  json["tick_wall_nanoseconds"] = std::move(wall);
  json["tick_cpu_nanoseconds"] = std::move(cpu);
  fmt::print("{}\n", json.dump());
}

double milliseconds_at(const std::vector<TickSample>& sorted, double fraction) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1));
  return sorted[at].wall_nanoseconds * 1e-6;
}

void print_text(const Statistics& statistics, const LiveCounts& live, std::vector<TickSample> ticks) {
  constexpr double kMiB = 1 << 20;
  const ProcessFigures process = process_figures();
  std::sort(ticks.begin(), ticks.end(),
            [](const TickSample& a, const TickSample& b) { return a.wall_nanoseconds < b.wall_nanoseconds; });
  fmt::print("sessions  {} now, {} at most, {} accepted, {} turned away\n", live.sessions,
             statistics.most_sessions, statistics.accepted, statistics.turned_away);
  fmt::print("packets   {} in, {} out\n", statistics.packets_received, statistics.packets_sent);
  fmt::print("ticks     {}, {} skipped; the last {}: p50 {:.2f} ms, p99 {:.2f} ms, max {:.2f} ms\n",
             statistics.ticks.count(), statistics.ticks_skipped, ticks.size(), milliseconds_at(ticks, 0.5),
             milliseconds_at(ticks, 0.99), milliseconds_at(ticks, 1));
  fmt::print("memory    {:.1f} MiB now, {:.1f} MiB at most, {} allocations\n",
             static_cast<double>(process.resident.now) / kMiB,
             static_cast<double>(process.resident.peak) / kMiB, request_count);
  fmt::print("CPU       {:.2f} s user, {:.2f} s system\n", process.user_seconds, process.system_seconds);
  for (std::size_t i = 1; i <= kRefusalCount; ++i)
    if (statistics.refused[i] != 0) fmt::print("refused   {} {}\n", statistics.refused[i], refusal_name(i));
}

}  // namespace

TickHistory::TickHistory() { samples_.reserve(kMostKept); }

void TickHistory::add(TickSample sample) {
  if (samples_.size() < kMostKept)
    samples_.push_back(sample);
  else
    samples_[count_ % kMostKept] = sample;
  ++count_;
}

std::vector<TickSample> TickHistory::since(std::uint64_t first) const {
  std::vector<TickSample> found;
  for (std::uint64_t i = std::max(first, count_ - samples_.size()); i < count_; ++i)
    found.push_back(samples_[i % kMostKept]);
  return found;
}

void print(const Statistics& statistics, const LiveCounts& live, std::uint64_t first_tick, OutputForm form) {
  const std::vector<TickSample> ticks = statistics.ticks.since(first_tick);
  if (form == OutputForm::kJson)
    print_json(statistics, live, ticks);
  else
    print_text(statistics, live, ticks);
  std::fflush(stdout);
}

}  // namespace game
