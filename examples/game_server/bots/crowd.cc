// The event loop of the bots.
#include "crowd.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <system_error>

#include "../file_limit.h"

namespace game {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kArriveWithin = 30 * kSecond;
constexpr std::uint64_t kLeaveWithin = 3 * kSecond;
constexpr std::size_t kOtherDescriptors = 16;
// What an epoll event names: a bot's number, or one of these.
constexpr std::uint64_t kSignal = UINT64_MAX;
constexpr std::uint64_t kCommand = UINT64_MAX - 1;

std::uint64_t now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void parse_address(const CrowdOptions& options, sockaddr_in& address) {
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  if (inet_pton(AF_INET, options.address.c_str(), &address.sin_addr) != 1)
    throw std::runtime_error(fmt::format("'{}' is no IPv4 address", options.address));
}

Crowd::Crowd(const CrowdOptions& options) : options_(options), wanted_(options.bots) {
  const std::size_t files = raise_file_limit();
  if (options_.bots + kOtherDescriptors > files)
    throw std::runtime_error(fmt::format(
        "{} bots need more open files than the {} this process may have (ulimit -n)", options_.bots, files));
  parse_address(options_, server_);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) throw_errno("epoll");
  for (std::uint32_t i = 0; i < options_.bots; ++i) {
    bots_.emplace_back(i, options_.seed, options_.habits, tally_);
    away_.push_back(&bots_.back());
  }
  ranks_.resize(options_.bots);
  std::iota(ranks_.begin(), ranks_.end(), std::size_t{0});
  Random random(options_.seed);
  for (std::size_t i = ranks_.size(); i > 1; --i) std::swap(ranks_[i - 1], ranks_[random.next() % i]);
  watch_control();
}

Crowd::~Crowd() {
  close(signals_);
  close(epoll_);
}

void Crowd::watch_control() {
  const sigset_t set = ending_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  epoll_event event = {.events = EPOLLIN, .data = {.u64 = kSignal}};
  if (signals_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, signals_, &event) != 0) throw_errno("signals");
  event.data.u64 = kCommand;
  if (options_.takes_commands && epoll_ctl(epoll_, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0)
    throw_errno("--commands needs a pipe or a terminal as standard input");
}

void Crowd::run() {
  if (options_.seconds > 0) end_ = now() + kArriveWithin;
  while (!is_over()) {
    step(wait_milliseconds());
    if (plan_ == Bot::Plan::kWait && arrived_.size() == bots_.size()) start_playing();
    if (end_ == 0 || is_leaving() || now() < end_) continue;
    if (plan_ == Bot::Plan::kWait)
      throw std::runtime_error(fmt::format("{} of {} bots got in within {} s", arrived_.size(), bots_.size(),
                                           kArriveWithin / kSecond));
    start_leaving();
  }
  print_tally();
  require_no_loss();
}

void Crowd::step(int milliseconds) {
  if (!is_leaving()) connect_some();
  wait_for_events(options_.pace_ms != 0 ? std::min(static_cast<unsigned>(milliseconds), 1u) : milliseconds);
  if (options_.pace_ms != 0 && plan_ == Bot::Plan::kPlay) take_turns();
}

void Crowd::want(std::size_t bots) {
  wanted_ = bots;
  away_.insert(away_.end(), unwanted_.begin(), unwanted_.end());
  unwanted_.clear();
}

/// Each bot has a turn in each pace_ms, one after the other. One that still waits for answers loses its turn.
void Crowd::take_turns() {
  const std::uint64_t time = now();
  const std::uint64_t pace = std::uint64_t{options_.pace_ms} * 1'000'000;
  if (last_turns_ == 0 || time - last_turns_ > pace) last_turns_ = time;
  const std::uint64_t turns = (time - last_turns_) * bots_.size() / pace;
  last_turns_ += turns * pace / bots_.size();
  for (std::uint64_t i = 0; i < turns; ++i) {
    Bot& bot = bots_[next_turn_];
    next_turn_ = (next_turn_ + 1) % bots_.size();
    if (bot.state() != Bot::State::kPlaying) continue;
    if (bot.is_waiting()) ++tally_.turns_lost;
    proceed(bot, is_wanted(bot) ? Bot::Plan::kPlay : Bot::Plan::kLeave);
  }
}

void Crowd::vanish() {
  for (Bot& bot : bots_)
    if (bot.state() != Bot::State::kAway) bot.vanish();
  connected_ = 0;
}

bool Crowd::is_over() const { return is_leaving() && (connected_ == 0 || now() >= end_); }

int Crowd::wait_milliseconds() const {
  if (end_ == 0) return -1;
  const std::uint64_t time = now();
  return time >= end_ ? 0 : static_cast<int>((end_ - time) / 1'000'000 + 1);
}

void Crowd::connect_some() {
  while (!away_.empty() && connecting_ < options_.connects_at_once) {
    Bot* const bot = away_.back();
    away_.pop_back();
    if (is_wanted(*bot))
      connect(*bot);
    else
      unwanted_.push_back(bot);
  }
}

void Crowd::connect(Bot& bot) {
  if (const int error = bot.connect(server_); error != 0)
    throw std::system_error(error, std::generic_category(), "cannot connect");
  ++connecting_;
  ++connected_;
  watch(bot, EPOLL_CTL_ADD);
}

void Crowd::watch(Bot& bot, int operation) {
  epoll_event event = {.events = EPOLLIN | (bot.wants_to_write() ? EPOLLOUT : 0u),
                       .data = {.u64 = bot.number()}};
  if (epoll_ctl(epoll_, operation, bot.descriptor(), &event) != 0) throw_errno("epoll");
}

void Crowd::wait_for_events(int milliseconds) {
  constexpr int kMostEvents = 256;
  epoll_event events[kMostEvents];
  const int count = epoll_wait(epoll_, events, kMostEvents, milliseconds);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t who = events[i].data.u64;
    if (who >= kCommand)
      read_control(who == kSignal);
    else if (bots_[who].state() != Bot::State::kAway)
      proceed(bots_[who], options_.pace_ms != 0 && plan_ == Bot::Plan::kPlay ? Bot::Plan::kWait : plan_);
  }
}

void Crowd::proceed(Bot& bot, Bot::Plan plan) {
  const Bot::State before = bot.state();
  const bool wanted_to_write = bot.wants_to_write();
  bot.proceed(plan);
  note(bot, before);
  if (bot.state() != Bot::State::kAway && bot.wants_to_write() != wanted_to_write) watch(bot, EPOLL_CTL_MOD);
}

void Crowd::note(Bot& bot, Bot::State before) {
  const auto is_on_its_way = [](Bot::State s) {
    return s == Bot::State::kConnecting || s == Bot::State::kGreeting;
  };
  if (is_on_its_way(before) && !is_on_its_way(bot.state())) --connecting_;
  // One that the server does not let in has had its turn too.
  if (plan_ == Bot::Plan::kWait && (bot.state() == Bot::State::kPlaying || bot.state() == Bot::State::kAway))
    arrived_.insert(bot.number());
  if (bot.state() == Bot::State::kAway) {
    --connected_;
    away_.push_back(&bot);
    if (tally_.connects == 0 && tally_.connects_failed > 0)
      throw std::runtime_error(
          fmt::format("nobody answers on {}:{}; is the server running?", options_.address, options_.port));
  }
}

void Crowd::start_playing() {
  plan_ = Bot::Plan::kPlay;
  if (options_.seconds > 0)
    end_ = now() + static_cast<std::uint64_t>(options_.seconds * static_cast<double>(kSecond));
  tell("ready");
  for (Bot& bot : bots_)
    if (bot.state() == Bot::State::kPlaying) proceed(bot, plan_);
}

void Crowd::read_control(bool is_signal) {
  char text[256];
  const ssize_t count = ::read(is_signal ? signals_ : STDIN_FILENO, text, sizeof(text));
  // Any command is `stop`, as there is no other; so is the end of the input.
  if (count >= 0 && !is_leaving()) start_leaving();
  if (!is_signal) epoll_ctl(epoll_, EPOLL_CTL_DEL, STDIN_FILENO, nullptr);
}

void Crowd::start_leaving() {
  const bool were_waiting = plan_ == Bot::Plan::kWait;
  plan_ = Bot::Plan::kLeave;
  end_ = now() + kLeaveWithin;
  for (Bot& bot : bots_) {
    const Bot::State before = bot.state();
    if (before == Bot::State::kConnecting || before == Bot::State::kGreeting) {
      bot.hang_up();
      note(bot, before);
    } else if (were_waiting && before == Bot::State::kPlaying) {
      proceed(bot, plan_);
    }
  }
}

void Crowd::tell(const char* event) const {
  if (options_.is_json)
    fmt::print("{{\"event\":\"{}\",\"bots\":{}}}\n", event, bots_.size());
  else
    fmt::print("{} bots play\n", bots_.size());
  std::fflush(stdout);
}

void Crowd::print_tally() const {
  if (!options_.is_json) {
    fmt::print("{} packets sent, {} answered, {} broadcasts; {} connects, {} lost; ", tally_.sent,
               tally_.answers, tally_.broadcasts, tally_.connects, tally_.lost);
    fmt::print("a bundle took {} us (p50), {} us (p99)\n", tally_.round_trips.percentile(0.5),
               tally_.round_trips.percentile(0.99));
    return;
  }
  nlohmann::ordered_json refused = nlohmann::ordered_json::object();
  for (std::size_t i = 1; i <= kRefusalCount; ++i) refused[refusal_name(i)] = tally_.refused[i];
  const nlohmann::ordered_json json = {{"event", "done"},
                                       {"packets_sent", tally_.sent},
                                       {"answers", tally_.answers},
                                       {"broadcasts", tally_.broadcasts},
                                       {"bytes_received", tally_.bytes_received},
                                       {"connects", tally_.connects},
                                       {"connects_failed", tally_.connects_failed},
                                       {"lost", tally_.lost},
                                       {"left_behind", connected_},
                                       {"refused", refused},
                                       {"turns_lost", tally_.turns_lost},
                                       {"round_trip_p50_us", tally_.round_trips.percentile(0.5)},
                                       {"round_trip_p99_us", tally_.round_trips.percentile(0.99)}};
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
}

void Crowd::require_no_loss() const {
  if (tally_.lost + tally_.connects_failed > 0)
    throw std::runtime_error(
        fmt::format("the server ended {} connections and refused {} that did nothing wrong", tally_.lost,
                    tally_.connects_failed));
  if (connected_ > 0)
    throw std::runtime_error(fmt::format("{} bots got no answer to their goodbye", connected_));
}

}  // namespace game
