// What the server does on each event; server.h says what and why.
#pragma once
#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <stdexcept>
#include <system_error>
#include <utility>

#include "../file_limit.h"
#include "server.h"

namespace game {

/// Descriptors for what is no session: standard streams, epoll, timers, the listening socket.
inline constexpr std::size_t kOtherDescriptors = 32;

inline std::size_t most_sessions(const ServerOptions& options) {
  const std::size_t files = raise_file_limit();
  const std::size_t possible = files > 2 * kOtherDescriptors ? files - kOtherDescriptors : kOtherDescriptors;
  return options.most_sessions == 0 ? possible : std::min(options.most_sessions, possible);
}

inline RoomRules rules_of(const ServerOptions& options) {
  const std::size_t hard = options.outbox_kib << 10;
  return {.most_members = options.room_members,
          .creatures = options.creatures,
          .outbox = {.soft_bytes = hard / 4, .hard_bytes = hard}};
}

inline std::uint32_t thread_cpu_nanoseconds(const timespec& start) {
  timespec end;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  return static_cast<std::uint32_t>((end.tv_sec - start.tv_sec) * 1'000'000'000 + end.tv_nsec -
                                    start.tv_nsec);
}

template <typename Memory>
Server<Memory>::Server(const ServerOptions& options)
    : options_(options),
      rules_(rules_of(options)),
      most_sessions_(most_sessions(options)),
      read_buffer_(new char[kLargestPacket + kReadBytes]),
      spare_descriptor_(open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  for (std::uint16_t i = 0; i < options_.rooms; ++i) rooms_.emplace_back(i, rules_, room_stores_);
  listen();
}

template <typename Memory>
Server<Memory>::~Server() {
  ::close(spare_descriptor_);
}

template <typename Memory>
void Server<Memory>::run() {
  wait_for_clients();
  next_tick_ = Clock::now();
  wait_for_tick();
  wait_for_signal();
  if (options_.takes_commands) listen_to_commands();
  io_.run();
  print_statistics();
}

// -- Clients
// ---------------------------------------------------------------------------------------------------------

template <typename Memory>
void Server<Memory>::listen() {
  asio::error_code unknown;
  const Tcp::endpoint endpoint(asio::ip::make_address(options_.address, unknown), options_.port);
  if (unknown) throw std::runtime_error(fmt::format("'{}' is no IP address", options_.address));
  try {
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(Tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen(Tcp::acceptor::max_listen_connections);
  } catch (const std::system_error& error) {
    throw std::system_error(error.code(),
                            fmt::format("cannot listen on {}:{}", options_.address, options_.port));
  }
  acceptor_.non_blocking(true);
  constexpr const char* kJson =
      "{{\"event\":\"listening\",\"address\":\"{}\",\"port\":{},\"memory\":\"{}\"}}\n";
  constexpr const char* kText = "listening on {}:{}, memory: {}\n";
  fmt::print(fmt::runtime(options_.is_json ? kJson : kText), options_.address,
             acceptor_.local_endpoint().port(), Memory::kName);
  std::fflush(stdout);
}

template <typename Memory>
void Server<Memory>::wait_for_clients() {
  acceptor_.async_wait(Tcp::acceptor::wait_read, [this](const asio::error_code& error) {
    if (error || is_stopping_) return;
    accept_all();
    wait_for_clients();
  });
}

template <typename Memory>
void Server<Memory>::accept_all() {
  // A bound, so that a flood of connects does not keep the rooms from ticking.
  constexpr int kMostAtOnce = 64;
  for (int i = 0; i < kMostAtOnce; ++i) {
    asio::error_code error;
    Tcp::socket socket(io_);
    acceptor_.accept(socket, error);
    if (error == asio::error::would_block || error == asio::error::connection_aborted) return;
    if (error) return turn_one_away();
    add_session(std::move(socket));
  }
}

template <typename Memory>
void Server<Memory>::turn_one_away() {
  // Without a descriptor to accept with, the client would stay in the queue and wake us for ever.
  ::close(spare_descriptor_);
  const int client = ::accept(acceptor_.native_handle(), nullptr, nullptr);
  if (client >= 0) {
    ::close(client);
    ++statistics_.turned_away;
  }
  spare_descriptor_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

template <typename Memory>
void Server<Memory>::add_session(Tcp::socket socket) {
  asio::error_code ignored;
  socket.set_option(Tcp::no_delay(true), ignored);
  ++statistics_.accepted;
  const bool is_full = sessions_.live_count() >= most_sessions_;
  auto* const session = sessions_.create(std::move(socket), next_player_++, *this);
  session->next = first_session_;
  if (first_session_ != nullptr) first_session_->previous = session;
  first_session_ = session;
  statistics_.most_sessions = std::max(statistics_.most_sessions, sessions_.live_count());
  if (is_full) {
    session->refuse(Refusal::kServerFull);
    session->flush();
  }
  session->start();
}

template <typename Memory>
void Server<Memory>::end(Session<Memory>& session) {
  if (session.previous != nullptr)
    session.previous->next = session.next;
  else
    first_session_ = session.next;
  if (session.next != nullptr) session.next->previous = session.previous;
  sessions_.destroy(&session);
}

template <typename Memory>
template <typename Visit>
void Server<Memory>::for_each_session(Visit visit) {
  for (Session<Memory>* session = first_session_; session != nullptr; session = session->next)
    visit(*session);
}

// -- Ticks
// -----------------------------------------------------------------------------------------------------------

template <typename Memory>
void Server<Memory>::wait_for_tick() {
  timer_.expires_at(next_tick_);
  timer_.async_wait([this](const asio::error_code& error) {
    if (error || is_stopping_) return;
    tick_if_due();
    wait_for_tick();
  });
}

template <typename Memory>
void Server<Memory>::tick_if_due() {
  if (!is_stopping_ && Clock::now() >= next_tick_) tick();
}

template <typename Memory>
void Server<Memory>::tick() {
  timespec cpu_start;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu_start);
  const Clock::time_point start = Clock::now();
  run_tick();
  const auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
  statistics_.ticks.add({static_cast<std::uint32_t>(wall.count()), thread_cpu_nanoseconds(cpu_start)});

  flush_broadcasts();
  look_after_sessions();
  // The tick has ended what the last session left in its room.
  const bool is_empty = first_session_ == nullptr;
  if (is_empty && !was_empty_) memory_.release_unused();
  was_empty_ = is_empty;
  const auto period = std::chrono::nanoseconds(1'000'000'000 / options_.ticks_per_second);
  next_tick_ += period;
  if (const Clock::time_point now = Clock::now(); next_tick_ < now) {
    statistics_.ticks_skipped += static_cast<std::uint64_t>((now - next_tick_) / period + 1);
    next_tick_ = now + period;
  }
}

template <typename Memory>
void Server<Memory>::run_tick() {
  ++tick_number_;
  for (Room<Memory>& room : rooms_) room.tick(tick_number_);
}

template <typename Memory>
void Server<Memory>::flush_broadcasts() {
  for_each_session([&](Session<Memory>& session) {
    if (session.has_old_broadcasts(tick_number_)) session.flush();
  });
}

template <typename Memory>
void Server<Memory>::look_after_sessions() {
  const std::uint32_t most_ticks = options_.stall_ms * options_.ticks_per_second / 1000 + 1;
  for_each_session([&](Session<Memory>& session) {
    if (session.is_over_limit()) {
      session.refuse(Refusal::kSlowReader);
      session.close();
    } else if (session.has_stalled(tick_number_, most_ticks)) {
      session.refuse_stalled();
    }
  });
}

// -- Control
// ---------------------------------------------------------------------------------------------------------

template <typename Memory>
void Server<Memory>::wait_for_signal() {
  signals_.async_wait([this](const asio::error_code& error, int) {
    if (!error) stop();
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
  if (command == "stats") return print_statistics();
  fmt::print(stderr, "game_server: unknown command '{}': use stats or stop\n", command);
}

template <typename Memory>
void Server<Memory>::stop() {
  is_stopping_ = true;
  asio::error_code ignored;
  acceptor_.close(ignored);
  timer_.cancel();
  signals_.cancel(ignored);
  commands_.close(ignored);
  for_each_session([](Session<Memory>& session) { session.close(); });
}

template <typename Memory>
void Server<Memory>::print_statistics() {
  print(statistics_, live_counts(), std::exchange(first_untold_tick_, statistics_.ticks.count()),
        options_.is_json ? OutputForm::kJson : OutputForm::kText);
}

template <typename Memory>
LiveCounts Server<Memory>::live_counts() const {
  return {.sessions = sessions_.live_count(),
          .packets = outboxes_.packets.live_count(),
          .events = room_stores_.events.live_count(),
          .entities = room_stores_.entities.live_count(),
          .items = items_.live_count(),
          .nodes = outboxes_.nodes.live_count()};
}

}  // namespace game
