// A thread that accepts clients and serves their sockets; messages.h says how it speaks with the logic
// thread.
//
// All IO threads wait on the same listening socket: whoever is free accepts. Answers leave when the logic
// thread's tick has delivered them, all that a client gets in one system call; broadcasts ride with them, or
// leave two beats later. A beat is kBeatMilliseconds.
//
// Threads: what is marked so may be called from any; all else is for the thread itself, and is private but
// for sessions.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "../statistics.h"
#include "asio.h"
#include "hub.h"
#include "session.h"

namespace game {

template <typename Memory>
class IoThread {
 public:
  using Sessions = typename Memory::template Handles<Session<Memory>>;
  using Ref = typename Session<Memory>::Ref;
  template <typename T>
  using Vector = typename Memory::template Vector<T>;
  using InboundBox = Mailbox<Inbound<Memory>, Memory::template Vector>;
  using OutboundBox = Mailbox<Outbound<Memory>, Memory::template Vector>;

  static constexpr std::size_t kReadBytes = 64 << 10;
  static constexpr int kBeatMilliseconds = 50;

  IoThread(std::size_t index, int listening, const asio::ip::tcp& protocol, Hub<Memory>& hub);
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  // From any thread:
  void start() {
    thread_ = std::thread([this] { run(); });
  }
  /// Closes all sessions; join() then returns.
  void stop() {
    asio::post(io_, [this] { close_all(); });
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  InboundBox& inbound() { return inbound_; }
  OutboundBox& outbound() { return outbound_; }
  /// Whether it waits for room in `inbound`; asked once.
  bool takes_up_again() { return waits_for_room_.exchange(false, std::memory_order_relaxed); }
  /// Lets the thread look into `outbound`.
  void wake();
  const Counters& counters() const { return counters_; }

  // For its sessions:
  Hub<Memory>& hub() { return hub_; }
  Memory& memory() { return hub_.memory; }
  typename Memory::Thread& local() { return local_; }
  Counters& counters() { return counters_; }
  /// Room for a packet's beginning and one read.
  char* read_buffer() { return read_buffer_.get(); }
  std::uint32_t beat() const { return beat_; }
  bool has_room_for_one_more() const { return inbound_.has_room(batch_.size() + 1); }
  void pass_on(Inbound<Memory> message) { batch_.push_back(std::move(message)); }
  void deliver() { inbound_.deliver(batch_); }
  /// The session goes on when the logic thread has taken what is there.
  void resume_later(Ref session);
  void end(Ref session);
  /// For a session without operations, which no handler would end.
  void end_later(Ref session) {
    asio::post(io_, [this, session] { end(session); });
  }

 private:
  using Tcp = asio::ip::tcp;

  void run();
  void wait_for_clients();
  void accept_all();
  void turn_one_away();
  void add_session(Tcp::socket socket);
  void wait_for_beat();
  void on_beat();
  void on_wake();
  void send_all();
  void send_broadcasts();
  void resume_sessions();
  void close_all();

  const std::size_t index_;
  Hub<Memory>& hub_;
  typename Memory::Thread local_;
  InboundBox inbound_;
  OutboundBox outbound_;
  std::atomic<bool> waits_for_room_{false};
  std::atomic<bool> is_woken_{false};
  Counters counters_;

  asio::io_context io_{1};
  Sessions sessions_;
  Tcp::acceptor acceptor_{io_};
  asio::steady_timer timer_{io_};
  Vector<Inbound<Memory>> batch_;               // made since the last deliver()
  Vector<Outbound<Memory>> received_;           // empty but during on_wake()
  Vector<Ref> answered_;                        // sessions with answers to be sent
  std::array<Vector<Ref>, 2> with_broadcasts_;  // sessions with broadcasts: of this beat, of the one before
  Vector<Ref> paused_;                          // sessions that go on when there is room in `inbound`
  std::unique_ptr<char[]> read_buffer_;
  int spare_descriptor_;  // given up for the moment that it takes to turn a client away
  std::uint32_t beat_ = 0;
  std::uint32_t give_back_calls_served_ = 0;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace game

#include "io_thread_loop.h"
#include "session_io.h"
