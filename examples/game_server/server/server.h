// The server: some IO threads, the logic thread, and this thread, which controls them: it obeys signals and
// commands, reads the configuration again, and gives memory back when players leave.
//
// Ends on SIGINT and SIGTERM, and on the command `stop` or the end of its standard input when it takes
// commands: no session outlives it, and what was counted is printed.
//
// Threads: the control thread, which is main's.
#pragma once
#include <string>
#include <vector>

#include "logic.h"
#include "net/asio.h"
#include "net/hub.h"
#include "net/io_thread.h"
#include "options.h"

namespace game {

template <typename Memory>
class Server {
 public:
  explicit Server(const ServerOptions& options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Returns when the server was told to stop and all is closed.
  void run();

 private:
  using Tcp = asio::ip::tcp;

  void listen();
  void wait_for_signal();
  void listen_to_commands();
  void wait_for_command();
  void obey(const std::string& command);
  void reload();
  void wait_for_quiet();
  void give_back_if_quiet();
  void stop();

  const ServerOptions options_;
  // Before all that lies in it.
  Memory memory_;
  Hub<Memory> hub_;
  asio::io_context io_{1};
  Tcp::acceptor listening_{io_};
  std::vector<std::unique_ptr<IoThread<Memory>>> io_threads_;
  Logic<Memory> logic_;
  asio::signal_set signals_{io_, SIGINT, SIGTERM, SIGHUP};
  asio::posix::stream_descriptor commands_{io_};
  asio::streambuf command_line_;
  asio::steady_timer timer_{io_};
  std::size_t most_sessions_ = 0;  // since memory was last given back
  std::size_t last_sessions_ = 0;
  int beats_until_settled_ = 0;
  bool is_stopping_ = false;
};

}  // namespace game

#include "server_control.h"
