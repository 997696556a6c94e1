// One client: reads what it sends, answers, and sends what its outbox holds.
//
// Reading goes into one buffer of the server's; only the beginning of a packet whose rest is still to come is
// kept per session. A client whose answers pile up beyond the soft limit is not read from, and what it sent
// is not handled, until it has taken them. Answers to all packets of a read leave in one system call;
// broadcasts ride with them, or leave soon after their tick (Server::flush_broadcasts).
//
// A client gets into one of three states: kOpen; kRefused: it did something wrong, is told so and then only
// read until it closes, so that the last packet reaches it; kClosed: the socket is closed and the session
// ends with the last operation of asio's that still names it.
//
// Invariant: outside of its handlers an open or refused session waits to read or to write, so operations_ >
// 0.
// Threads: one, the server's.
#pragma once
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string_view>

#include "asio.h"
#include "handler.h"
#include "player.h"
#include "room.h"
#include "statistics.h"

namespace game {

template <typename Memory>
class Server;

template <typename Memory>
class Session {
 public:
  Session(asio::ip::tcp::socket socket, std::uint32_t id, Server<Memory>& server);
  ~Session();

  void start() { wait_until_readable(); }
  /// Tells the client why, then reads it until it closes.
  void refuse(Refusal reason);
  /// Sends what there is as far as the socket takes it.
  void flush();
  /// Leaves the room and closes. The session ends a little later, with its last operation.
  void close();

  /// Whether broadcasts have waited for a packet of the client's that they could ride with.
  bool has_old_broadcasts(std::uint32_t tick) const;
  bool has_stalled(std::uint32_t tick, std::uint32_t most_ticks) const;
  /// Whether more waits than may, although the socket was offered all of it.
  bool is_over_limit();
  void refuse_stalled();

  Session* previous = nullptr;  // in the server's list
  Session* next = nullptr;

 private:
  using Buffers = typename Memory::Buffers;
  enum class State : std::uint8_t { kOpen, kRefused, kClosed };

  void wait_until_readable();
  void wait_until_writable();
  void on_readable(const asio::error_code& error);
  void on_writable(const asio::error_code& error);
  /// \returns whether it is still open.
  bool read_once();
  void take(const char* bytes, std::size_t count);
  void take_unread();
  /// Sends and waits for more to read; the last step of handlers.
  void go_on();
  bool owes_too_much() const;
  /// Whether even so too much is left to be sent, so that reading pauses.
  bool waits_after_flush();
  bool handle(std::string_view packet);
  bool handle_in_room(Request type, PacketReader& payload, std::string_view packet);
  bool greet(PacketReader& payload);
  bool join(PacketReader& payload);
  bool chat(PacketReader& payload, std::string_view packet);
  bool shoot(PacketReader& payload, std::string_view packet);
  bool use(PacketReader& payload);
  bool pong(PacketReader& payload);
  void leave_room();
  /// \returns the result of a handler: a request was malformed.
  bool malformed();
  bool out_of_turn();

  /// An answer with a payload of fixed size.
  template <typename... Values>
  void answer(Reply type, Values... values);
  template <typename Function>
  auto handler(Function function) {
    return Handler<typename Memory::Handlers, Function>(server_.memory().handlers(), std::move(function));
  }
  /// The last step of each handler; the session may be gone afterwards.
  void operation_ended();

  asio::ip::tcp::socket socket_;
  Server<Memory>& server_;
  Player<Memory> player_;
  StringOver<Buffers> unread_;  // a packet's beginning; all that came, while reading is paused
  std::uint32_t read_tick_;     // when bytes last came
  std::uint32_t sent_tick_;     // when bytes last went
  unsigned operations_ = 0;     // of asio's that name this session
  State state_ = State::kOpen;
  bool has_greeted_ = false;
  bool waits_for_room_to_send_ = false;
  bool is_reading_paused_ = false;
};

}  // namespace game

#include "session_io.h"
#include "session_requests.h"
