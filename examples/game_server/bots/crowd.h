// All bots of a process: one epoll set, one thread. They begin to play when all are there, which is told;
// ends them when told to, by a signal, the command `stop`, the end of standard input, or the clock.
#pragma once
#include <netinet/in.h>

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_set>
#include <vector>

#include "bot.h"
#include "tally.h"

namespace game {

struct CrowdOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  std::size_t bots = 2000;
  std::size_t connects_at_once = 128;
  std::uint64_t seed = 1;
  double seconds = 0;    // of play, from when all are in; 0: until told to stop
  unsigned pace_ms = 0;  // between two bundles of a bot; 0: as fast as it gets answers
  Habits habits;
  bool takes_commands = false;
  bool is_json = false;
};

/// \throws std::runtime_error when the options name no IPv4 address
void parse_address(const CrowdOptions& options, sockaddr_in& address);

class Crowd {
 public:
  /// \throws std::runtime_error when the options cannot be met, std::system_error when the system refuses
  explicit Crowd(const CrowdOptions& options);
  ~Crowd();
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  /// Returns when all have left, or a while after they were told to. \throws std::runtime_error when nobody
  /// is there to connect to, and at the end when the server turned bots away or lost some
  void run();

  // For one who directs the crowd in place of run():
  /// Lets so many play, chosen at random but always the same; the others leave when it is their turn.
  void want(std::size_t bots);
  std::size_t wanted() const { return wanted_; }
  void set_plan(Bot::Plan plan) { plan_ = plan; }
  /// What happens within so many milliseconds, or less when something does.
  void step(int milliseconds);
  const Tally& tally() const { return tally_; }
  /// All leave at once, and nobody says goodbye.
  void vanish();

 private:
  void watch_control();
  void connect_some();
  void connect(Bot& bot);
  void wait_for_events(int milliseconds);
  void take_turns();
  void proceed(Bot& bot, Bot::Plan plan);
  bool is_wanted(const Bot& bot) const { return ranks_[bot.number()] < wanted_; }
  void watch(Bot& bot, int operation);
  /// Counts what has become of a bot.
  void note(Bot& bot, Bot::State before);
  void read_control(bool is_signal);
  void start_playing();
  void start_leaving();
  bool is_leaving() const { return plan_ == Bot::Plan::kLeave; }
  bool is_over() const;
  int wait_milliseconds() const;
  void tell(const char* event) const;
  void print_tally() const;
  void require_no_loss() const;

  const CrowdOptions options_;
  sockaddr_in server_ = {};
  Tally tally_;
  std::deque<Bot> bots_;
  std::vector<Bot*> away_;
  std::vector<std::size_t> ranks_;  // by number: bots of a rank below wanted_ play
  std::size_t wanted_;
  std::size_t next_turn_ = 0;     // the bot that sends the next bundle
  std::uint64_t last_turns_ = 0;  // nanoseconds of the clock
  std::vector<Bot*> unwanted_;    // away, and not wanted
  std::size_t connecting_ = 0;    // bots that do not play yet
  std::size_t connected_ = 0;     // bots that have a socket
  std::unordered_set<std::uint32_t> arrived_;
  int epoll_ = -1;
  int signals_ = -1;
  Bot::Plan plan_ = Bot::Plan::kWait;
  std::uint64_t end_ = 0;  // nanoseconds of the clock: when to leave, then when to give up
};

}  // namespace game
