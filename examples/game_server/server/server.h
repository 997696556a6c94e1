// The server: one thread that accepts, serves sessions, ticks, and obeys signals and commands.
//
// A tick lets every room simulate and queue its broadcasts; that is what a tick's duration means here.
// Sending is the sessions' business: right after the tick for broadcasts that have waited kMostTicksUnsent
// ticks, else with the answers to whatever the client sends next.
//
// Ends on SIGINT and SIGTERM, and on the command `stop` or the end of its standard input when it takes
// commands: no session outlives it, and what was counted is printed.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "asio.h"
#include "options.h"
#include "player.h"
#include "room.h"
#include "session.h"
#include "statistics.h"

namespace game {

template <typename Memory>
class Server {
 public:
  static constexpr std::size_t kReadBytes = 64 << 10;
  static constexpr std::uint32_t kMostTicksUnsent = 3;

  explicit Server(const ServerOptions& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Returns when the server was told to stop and all is closed.
  void run();

  // For sessions:
  const ServerOptions& options() const { return options_; }
  Memory& memory() { return memory_; }
  OutboxStores<Memory>& outboxes() { return outboxes_; }
  ItemStore<Memory>& items() { return items_; }
  Statistics& statistics() { return statistics_; }
  PlantedFaults& planted_faults() { return planted_faults_; }
  const OutboxLimits& outbox_limits() const { return rules_.outbox; }
  std::uint32_t tick_number() const { return tick_number_; }
  std::uint16_t room_count() const { return options_.rooms; }
  Room<Memory>* find_room(std::uint16_t number) { return number < rooms_.size() ? &rooms_[number] : nullptr; }
  /// Room for a packet's beginning and one read.
  char* read_buffer() { return read_buffer_.get(); }
  /// \why asio comes to its timer once per round over all sockets that are ready, which with thousands of
  /// busy clients is late; sessions ask after each read.
  void tick_if_due();
  /// Takes the memory of a closed session back.
  void end(Session<Memory>& session);

 private:
  using Clock = std::chrono::steady_clock;
  using Tcp = asio::ip::tcp;

  void listen();
  void wait_for_clients();
  void accept_all();
  void turn_one_away();
  void add_session(Tcp::socket socket);

  void wait_for_tick();
  void tick();
  void run_tick();
  void flush_broadcasts();
  void look_after_sessions();
  template <typename Visit>
  void for_each_session(Visit visit);

  void wait_for_signal();
  void listen_to_commands();
  void wait_for_command();
  void obey(const std::string& command);
  void stop();
  LiveCounts live_counts() const;
  void print_statistics();

  const ServerOptions options_;
  const RoomRules rules_;
  const std::size_t most_sessions_;
  // Pools first: whatever lies in them ends before they do. The handlers' is older than the io_context that
  // keeps them.
  Memory memory_;
  OutboxStores<Memory> outboxes_{memory_};
  RoomStores<Memory> room_stores_{memory_, outboxes_};
  ItemStore<Memory> items_{memory_, "items"};
  typename Memory::template Objects<Session<Memory>> sessions_{memory_, "sessions"};
  std::deque<Room<Memory>> rooms_;
  Statistics statistics_;
  PlantedFaults planted_faults_{options_.planted};
  std::unique_ptr<char[]> read_buffer_;

  asio::io_context io_{1};
  Tcp::acceptor acceptor_{io_};
  asio::steady_timer timer_{io_};
  asio::signal_set signals_{io_, SIGINT, SIGTERM};
  asio::posix::stream_descriptor commands_{io_};
  asio::streambuf command_line_;
  int spare_descriptor_;  // given up for the moment that it takes to turn a client away

  Session<Memory>* first_session_ = nullptr;
  std::uint32_t next_player_ = 1;
  std::uint32_t tick_number_ = 1;
  std::uint64_t first_untold_tick_ = 0;  // since the last that statistics told of
  Clock::time_point next_tick_;
  bool was_empty_ = true;  // at the last tick
  bool is_stopping_ = false;
};

}  // namespace game

#include "server_loop.h"
