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
  double seconds = 0;  // 0: until told to stop
  bool takes_commands = false;
  bool is_json = false;
};

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

 private:
  void watch_control();
  void connect_some();
  void connect(Bot& bot);
  void wait_for_events();
  void proceed(Bot& bot);
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
  std::size_t connecting_ = 0;  // bots that do not play yet
  std::size_t connected_ = 0;   // bots that have a socket
  std::unordered_set<std::uint32_t> arrived_;
  int epoll_ = -1;
  int signals_ = -1;
  Bot::Plan plan_ = Bot::Plan::kWait;
  std::uint64_t end_ = 0;  // nanoseconds of the clock: when to leave, then when to give up
};

}  // namespace game
