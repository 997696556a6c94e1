// Figures of the process from /proc and getrusage, and the JSON of all figures.
#include "statistics.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <tarn/pool_use.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

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

Json json_of_refusals(const Figures& figures) {
  Json refused = Json::object();
  for (std::size_t i = 1; i <= kRefusalCount; ++i) refused[refusal_name(i)] = figures.refused[i];
  return refused;
}

Json json_of(const Figures& figures) {
  return {{"event", "stats"},
          {"packets_received", figures.packets_received},
          {"packets_sent", figures.packets_sent},
          {"bytes_received", figures.bytes_received},
          {"bytes_sent", figures.bytes_sent},
          {"ticks", figures.ticks},
          {"ticks_skipped", figures.ticks_skipped},
          {"allocations", figures.allocations},
          {"accepted", figures.accepted},
          {"closed", figures.closed},
          {"turned_away", figures.turned_away},
          {"reads_paused", figures.reads_paused},
          {"dropped", figures.dropped},
          {"denied", figures.denied},
          {"snapshots", figures.snapshots},
          {"snapshot_entities", figures.snapshot_entities},
          {"most_sessions", figures.most_sessions},
          {"refused", json_of_refusals(figures)},
          {"live",
           {{"sessions", figures.sessions},
            {"players", figures.players},
            {"rooms", figures.rooms},
            {"entities", figures.entities},
            {"messages", figures.messages}}},
          {"process", json_of(process_figures())}};
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
                                              {"live_bytes", use.live_bytes},
                                              {"mapped_bytes", use.mapped_bytes}});
      },
      &pools);
  return pools;
}

void print_json(const Figures& figures, const std::vector<TickSample>& ticks) {
  Json json = json_of(figures);
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

std::vector<std::uint32_t> sorted(const std::vector<TickSample>& ticks, std::uint32_t TickSample::*clock) {
  std::vector<std::uint32_t> durations;
  durations.reserve(ticks.size());
  for (const TickSample& tick : ticks) durations.push_back(tick.*clock);
  std::sort(durations.begin(), durations.end());
  return durations;
}

/// The smallest duration that at least that fraction of all does not exceed, in microseconds.
double microseconds_at(const std::vector<std::uint32_t>& ordered, double fraction) {
  if (ordered.empty()) return 0;
  const auto at = static_cast<std::size_t>(fraction * static_cast<double>(ordered.size() - 1) + 0.5);
  return ordered[at] * 1e-3;
}

/// The median, the percentiles that at least ten ticks exceed, and the maximum.
Json json_of(const std::vector<std::uint32_t>& ordered) {
  constexpr double kLeastBeyond = 10;
  Json json = {{"p50_us", microseconds_at(ordered, 0.5)}};
  for (const auto& [name, fraction] : {std::pair("p99_us", 0.99), std::pair("p999_us", 0.999)})
    if (static_cast<double>(ordered.size()) * (1 - fraction) >= kLeastBeyond)
      json[name] = microseconds_at(ordered, fraction);
  json["max_us"] = microseconds_at(ordered, 1);
  return json;
}

void print_text(const Figures& figures, const std::vector<TickSample>& ticks) {
  constexpr double kMiB = 1 << 20;
  const ProcessFigures process = process_figures();
  const auto wall = sorted(ticks, &TickSample::wall_nanoseconds);
  fmt::print("sessions  {} now, {} at most, {} accepted, {} turned away; {} rooms, {} entities\n",
             figures.sessions, figures.most_sessions, figures.accepted, figures.turned_away, figures.rooms,
             figures.entities);
  fmt::print("packets   {} in, {} out, {} dropped\n", figures.packets_received, figures.packets_sent,
             figures.dropped);
  fmt::print("ticks     {}, {} skipped; the last {}: p50 {:.2f} ms, p99 {:.2f} ms, max {:.2f} ms\n",
             figures.ticks, figures.ticks_skipped, wall.size(), microseconds_at(wall, 0.5) * 1e-3,
             microseconds_at(wall, 0.99) * 1e-3, microseconds_at(wall, 1) * 1e-3);
  fmt::print("memory    {:.1f} MiB now, {:.1f} MiB at most, {} allocations\n",
             static_cast<double>(process.resident.now) / kMiB,
             static_cast<double>(process.resident.peak) / kMiB, figures.allocations);
  fmt::print("CPU       {:.2f} s user, {:.2f} s system\n", process.user_seconds, process.system_seconds);
  for (std::size_t i = 1; i <= kRefusalCount; ++i)
    if (figures.refused[i] != 0) fmt::print("refused   {} {}\n", figures.refused[i], refusal_name(i));
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

void Figures::add(const Counters& counters) {
  accepted += counters.accepted.value();
  turned_away += counters.turned_away.value();
  closed += counters.closed.value();
  packets_received += counters.packets_received.value();
  packets_sent += counters.packets_sent.value();
  bytes_received += counters.bytes_received.value();
  bytes_sent += counters.bytes_sent.value();
  reads_paused += counters.reads_paused.value();
  dropped += counters.dropped.value();
  for (std::size_t i = 0; i < refused.size(); ++i) refused[i] += counters.refused[i].value();
}

void print(const Figures& figures, const std::vector<TickSample>& ticks, OutputForm form) {
  if (form == OutputForm::kJson)
    print_json(figures, ticks);
  else
    print_text(figures, ticks);
  std::fflush(stdout);
}

std::string short_json(const Figures& figures, const std::vector<TickSample>& latest,
                       const std::vector<TickSample>& begun) {
  Json json = json_of(figures);
  json["latest_wall"] = json_of(sorted(latest, &TickSample::wall_nanoseconds));
  json["begun"] = {{"count", begun.size()},
                   {"wall", json_of(sorted(begun, &TickSample::wall_nanoseconds))},
                   {"cpu", json_of(sorted(begun, &TickSample::cpu_nanoseconds))}};
  return json.dump();
}

}  // namespace game
