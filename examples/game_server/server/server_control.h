// What the control thread does on each event; server.h says what and why.
#pragma once
#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>
#include <system_error>

#include "../file_limit.h"
#include "server.h"

namespace game {

/// Descriptors for what is no session: standard streams, epoll, timers, the listening sockets.
inline std::size_t most_sessions(const ServerOptions& options) {
  const std::size_t others = 32 + 6 * options.io_threads;
  const std::size_t files = raise_file_limit();
  const std::size_t possible = files > 2 * others ? files - others : others;
  return options.most_sessions == 0 ? possible : std::min(options.most_sessions, possible);
}

inline ServerOptions with_rules_file(ServerOptions options) {
  if (!options.rules_file.empty()) options.rules = read_rules(options.rules_file, options.rules);
  return options;
}

template <typename Memory>
Server<Memory>::Server(const ServerOptions& options)
    : options_(with_rules_file(options)),
      hub_{options_, memory_, game::most_sessions(options_)},
      logic_(hub_, io_threads_, [this] { asio::post(io_, [this] { reload(); }); }) {
  listen();
}

template <typename Memory>
void Server<Memory>::listen() {
  asio::error_code unknown;
  const Tcp::endpoint endpoint(asio::ip::make_address(options_.address, unknown), options_.port);
  if (unknown) throw std::runtime_error(fmt::format("'{}' is no IP address", options_.address));
  try {
    listening_.open(endpoint.protocol());
    listening_.set_option(Tcp::acceptor::reuse_address(true));
    listening_.set_option(Tcp::no_delay(true));  // Linux: so are the sockets that it accepts
    listening_.bind(endpoint);
    listening_.listen(Tcp::acceptor::max_listen_connections);
  } catch (const std::system_error& error) {
    throw std::system_error(error.code(),
                            fmt::format("cannot listen on {}:{}", options_.address, options_.port));
  }
  for (std::size_t i = 0; i < options_.io_threads; ++i)
    io_threads_.push_back(
        std::make_unique<IoThread<Memory>>(i, listening_.native_handle(), endpoint.protocol(), hub_));
  constexpr const char* kJson =
      "{{\"event\":\"listening\",\"address\":\"{}\",\"port\":{},\"memory\":\"{}\"}}\n";
  constexpr const char* kText = "listening on {}:{}, memory: {}\n";
  fmt::print(fmt::runtime(options_.is_json ? kJson : kText), options_.address,
             listening_.local_endpoint().port(), Memory::kName);
  std::fflush(stdout);
}

template <typename Memory>
void Server<Memory>::run() {
  // All that may fail comes before the threads, and before clients take the last descriptors.
  wait_for_signal();
  if (options_.takes_commands) listen_to_commands();
  wait_for_quiet();
  logic_.start();
  for (const auto& io_thread : io_threads_) io_thread->start();
  io_.run();
  for (const auto& io_thread : io_threads_) io_thread->stop();
  for (const auto& io_thread : io_threads_) io_thread->join();
  logic_.stop();
  logic_.join();
  logic_.print_figures();
}

template <typename Memory>
void Server<Memory>::wait_for_signal() {
  signals_.async_wait([this](const asio::error_code& error, int number) {
    if (error) return;
    if (number != SIGHUP) return stop();
    reload();
    wait_for_signal();
  });
}

template <typename Memory>
void Server<Memory>::listen_to_commands() {
  asio::error_code error;
  commands_.assign(dup(STDIN_FILENO), error);
  if (error) throw std::system_error(error, "cannot read commands from standard input");
  wait_for_command();
}

template <typename Memory>
void Server<Memory>::wait_for_command() {
  asio::async_read_until(commands_, command_line_, '\n',
                         [this](const asio::error_code& error, std::size_t bytes) {
                           if (is_stopping_) return;
                           if (error) return stop();
                           const auto* const start = static_cast<const char*>(command_line_.data().data());
                           const std::string command(start, bytes - 1);
                           command_line_.consume(bytes);
                           obey(command);
                           if (!is_stopping_) wait_for_command();
                         });
}

template <typename Memory>
void Server<Memory>::obey(const std::string& command) {
  if (command == "stop") return stop();
  if (command == "stats") return logic_.ask_for_figures();
  if (command == "reload") return reload();
  fmt::print(stderr, "game_server: unknown command '{}': use stats, reload or stop\n", command);
}

template <typename Memory>
void Server<Memory>::reload() {
  if (options_.rules_file.empty()) {
    fmt::print(stderr, "game_server: there is no --rules to read again\n");
    return;
  }
  try {
    logic_.set_rules(read_rules(options_.rules_file, options_.rules));
  } catch (const std::exception& error) {
    fmt::print(stderr, "game_server: the rules stay as they are: {}\n", error.what());
  }
}

template <typename Memory>
void Server<Memory>::wait_for_quiet() {
  timer_.expires_after(std::chrono::milliseconds(250));
  timer_.async_wait([this](const asio::error_code& error) {
    if (error || is_stopping_) return;
    give_back_if_quiet();
    wait_for_quiet();
  });
}

/// Gives memory back each time that a quarter of the players has left, and once more when no more leave.
template <typename Memory>
void Server<Memory>::give_back_if_quiet() {
  constexpr int kBeats = 4;
  const std::size_t sessions = hub_.session_count.load(std::memory_order_relaxed);
  if (sessions < last_sessions_) beats_until_settled_ = kBeats;
  last_sessions_ = sessions;
  most_sessions_ = std::max(most_sessions_, sessions);
  const bool have_many_left = sessions < most_sessions_ - most_sessions_ / 4;
  const bool is_settled = beats_until_settled_ > 0 && --beats_until_settled_ == 0;
  if (!have_many_left && !is_settled) return;
  most_sessions_ = sessions;
  hub_.give_back_calls.fetch_add(1, std::memory_order_relaxed);
  memory_.give_back();
}

template <typename Memory>
void Server<Memory>::stop() {
  is_stopping_ = true;
  asio::error_code ignored;
  listening_.close(ignored);
  timer_.cancel();
  signals_.cancel(ignored);
  commands_.close(ignored);
}

}  // namespace game
