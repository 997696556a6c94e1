// The hours of the day, and what they have shown.
#include "day.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace game {
namespace {

constexpr double kSampleSeconds = 0.2;
constexpr double kPatienceSeconds = 20;  // for one answer of a server that is busy

constexpr std::uint64_t kEnoughTicks = 1000;  // for their 99th percentile: ten are above it

// Shares of the day.
constexpr double kStorm = 0.09, kComing = 0.13, kNoon = 0.28, kLeaving = 0.13, kNight = 0.22, kMorning = 0.15;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds(const nlohmann::json& figures) {
  const auto& process = figures.at("process");
  return process.at("user_seconds").get<double>() + process.at("system_seconds").get<double>();
}

std::uint64_t rss(const nlohmann::json& figures) { return figures.at("process").at("rss_bytes"); }

template <typename Value = std::uint64_t>
Value difference(const nlohmann::json& begin, const nlohmann::json& end, const char* key) {
  return end.at(key).get<Value>() - begin.at(key).get<Value>();
}

sockaddr_in address_of(const CrowdOptions& options) {
  sockaddr_in address = {};
  parse_address(options, address);
  return address;
}

}  // namespace

Day::Day(const CrowdOptions& crowd, const DayOptions& options)
    : options_(crowd), seconds_(options.seconds), crowd_(crowd), admin_(address_of(crowd)) {}

void Day::run() {
  begin_ = static_cast<std::uint64_t>(now() * 1e9);
  crowd_.want(options_.bots);
  storm(kStorm * seconds_);
  crowd_.set_plan(Bot::Plan::kPlay);
  const nlohmann::json begin = ask(Admin::kBegin);
  crowd_.want(0);
  wave(kComing * seconds_, options_.bots);
  wave(kNoon * seconds_, options_.bots);
  peak_rss_ = rss(sample());
  wave(kLeaving * seconds_, options_.bots / 8);
  wave(kNight * seconds_, options_.bots / 8);
  valley_rss_ = rss(sample());
  wave(kMorning * seconds_, options_.bots);
  const nlohmann::json end = sample_with_enough_ticks();
  end_rss_ = rss(end);
  tell(result(begin, end));
  crowd_.vanish();
  const Tally& tally = crowd_.tally();
  if (tally.lost + tally.connects_failed > 0)
    throw std::runtime_error(
        fmt::format("the server ended {} connections and refused {} that did nothing wrong", tally.lost,
                    tally.connects_failed));
}

double Day::seconds_since_begin() const { return now() - static_cast<double>(begin_) * 1e-9; }

void Day::storm(double seconds) {
  crowd_.set_plan(Bot::Plan::kKnock);
  const nlohmann::json before = ask();
  const double start = now();
  const std::uint64_t connects_before = crowd_.tally().connects;
  while (now() - start < seconds) crowd_.step(1);
  const double took = now() - start;
  const std::uint64_t connects = crowd_.tally().connects - connects_before;
  const nlohmann::json after = ask();
  storm_ = {{"connects", connects},
            {"connects_per_second", static_cast<double>(connects) / took},
            {"server_cpu_us_per_connect",
             (cpu_seconds(after) - cpu_seconds(before)) * 1e6 /
                 static_cast<double>(std::max<std::uint64_t>(difference(before, after, "accepted"), 1))}};
  last_packets_ = after.at("packets_received");
  last_sample_ = seconds_since_begin();
}

void Day::wave(double seconds, std::size_t players) {
  const double start = now();
  double next_sample = start + kSampleSeconds;
  const auto before = static_cast<double>(crowd_.wanted());
  for (double time = start; time - start < seconds; time = now()) {
    const double share = (time - start) / seconds;
    crowd_.want(static_cast<std::size_t>(before + (static_cast<double>(players) - before) * share));
    crowd_.step(1);
    if (time < next_sample) continue;
    next_sample += kSampleSeconds;
    sample();
  }
  crowd_.want(players);
}

nlohmann::json Day::ask(Admin what) {
  admin_.ask(what);
  const double start = now();
  for (;;) {
    crowd_.step(1);
    if (auto answer = admin_.answer()) return *answer;
    if (now() - start > kPatienceSeconds) throw std::runtime_error("the server does not answer any more");
  }
}

nlohmann::json Day::sample() {
  nlohmann::json figures = ask();
  const double time = seconds_since_begin();
  const std::uint64_t packets = figures.at("packets_received");
  time_line_.push_back(
      {{"t", time},
       {"players", figures.at("live").at("players")},
       {"rooms", figures.at("live").at("rooms")},
       {"rss_bytes", rss(figures)},
       {"packets_per_second", static_cast<double>(packets - last_packets_) / (time - last_sample_)},
       {"tick_p50_us", figures.at("latest_wall").at("p50_us")},
       {"tick_max_us", figures.at("latest_wall").at("max_us")}});
  last_packets_ = packets;
  last_sample_ = time;
  return figures;
}

// A busy machine has fewer ticks in a day: there it lasts longer, up to twice as long.
nlohmann::json Day::sample_with_enough_ticks() {
  nlohmann::json figures = sample();
  while (figures.at("begun").at("count").get<std::uint64_t>() < kEnoughTicks &&
         seconds_since_begin() < 2 * seconds_) {
    wave(kSampleSeconds, options_.bots);
    figures = sample();
  }
  return figures;
}

Day::Json Day::result(const nlohmann::json& begin, const nlohmann::json& end) const {
  const Tally& tally = crowd_.tally();
  const auto packets = static_cast<double>(difference(begin, end, "packets_received"));
  const double cpu = cpu_seconds(end) - cpu_seconds(begin);
  Json refused = Json::object();
  for (std::size_t i = 1; i <= kRefusalCount; ++i) refused[refusal_name(i)] = tally.refused[i];
  return {{"seconds", seconds_since_begin()},
          {"bots", options_.bots},
          {"packets", packets},
          {"server_cpu_seconds", cpu},
          {"packets_per_cpu_second", packets / cpu},
          {"ticks", end.at("begun")},
          {"ticks_skipped", difference(begin, end, "ticks_skipped")},
          {"allocations_per_tick", static_cast<double>(difference(begin, end, "allocations")) /
                                       static_cast<double>(difference(begin, end, "ticks"))},
          {"storm", storm_},
          {"peak_rss_bytes", peak_rss_},
          {"valley_rss_bytes", valley_rss_},
          {"end_rss_bytes", end_rss_},
          {"round_trip_p50_us", tally.round_trips.percentile(0.5)},
          {"round_trip_p99_us", tally.round_trips.percentile(0.99)},
          {"turns_lost", tally.turns_lost},
          {"errors",
           {{"lost", tally.lost},
            {"connects_failed", tally.connects_failed},
            {"denied", end.at("denied")},
            {"dropped", end.at("dropped")},
            {"refused", refused}}},
          {"time_line", time_line_}};
}

void Day::tell(const Json& result) const {
  fmt::print("{}\n", result.dump());
  const auto metric = [](const std::string& name, double value, const char* unit) {
    fmt::print("metric {}={:.3f}{}\n", name, value, unit);
  };
  for (const char* const name : {"packets", "packets_per_cpu_second", "allocations_per_tick", "turns_lost"})
    metric(name, result.at(name).get<double>(), "");
  const Json& ticks = result.at("ticks");
  metric("ticks", ticks.at("count").get<double>(), "");
  for (const auto& [clock, prefix] : {std::pair("wall", "tick_"), std::pair("cpu", "tick_cpu_")})
    for (const auto& [name, value] : ticks.at(clock).items())
      metric(prefix + name.substr(0, name.find("_us")), value.get<double>(), "us");
  metric("connects_per_second", storm_.at("connects_per_second").get<double>(), "");
  metric("server_cpu_per_connect", storm_.at("server_cpu_us_per_connect").get<double>(), "us");
  for (const char* const time : {"peak", "valley", "end"})
    metric(fmt::format("{}_rss", time),
           result.at(fmt::format("{}_rss_bytes", time)).get<double>() / (1 << 20), "MiB");
  std::fflush(stdout);
}

}  // namespace game
