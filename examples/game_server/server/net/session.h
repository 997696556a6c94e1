// One client, as its IO thread knows it: reads what the client sends, cuts it into packets, passes them on,
// and sends what comes back.
//
// A client that has not greeted has a buffer of its own for its greeting, as an authentication server has;
// after that, reading goes into one buffer of the thread's, and only the beginning of an incomplete packet is
// kept. A client is not read from while it has kMostUnanswered requests on their way, while
// more than the soft limit waits to be sent to it, or while the logic thread is behind.
//
// kOpen; kRefusing: the client did something wrong here, and the logic thread was told; kRefused: the last
// packet is in the queue, and the client is read only until it closes, so that the packet reaches it;
// kClosed: the socket is closed and the session ends with the last operation of asio's that still names it.
//
// Invariant: outside of its handlers a session that is not closed waits to read or to write, or is paused.
// Threads: its IO thread.
#pragma once
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string_view>

#include "../memory/sources.h"
#include "../messages.h"
#include "asio.h"

namespace game {

template <typename Memory>
class IoThread;

template <typename Memory>
class Session {
 public:
  using Buffer = typename Memory::Buffer;
  using Ref = typename Memory::template Ref<Session>;
  static constexpr std::size_t kGreetingBytes = 1024;

  Session(asio::ip::tcp::socket socket, IoThread<Memory>& thread);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start(Ref self);
  /// One for which the server has no place: is told so at once.
  void start_refused(Ref self, Refusal reason);
  /// What the logic thread has for the client. \returns whether it is to be sent at once
  bool receive(OutboundKind kind, Buffer packet);
  /// Sends what there is as far as the socket takes it, and reads on if that was waited for.
  void flush();
  /// Goes on after the logic thread was behind.
  void resume();
  void close();
  /// Looks whether nothing has moved for too long.
  void check_stall(std::uint32_t most_beats);

  bool is_in_broadcast_list = false;  // of the thread's

 private:
  enum class State : std::uint8_t { kOpen, kRefusing, kRefused, kClosed };

  void wait_until_readable();
  void wait_until_writable();
  void on_readable(const asio::error_code& error);
  /// \returns whether it is still open.
  bool read_once();
  bool read_greeting();
  /// \returns how many bytes were whole packets that were passed on.
  std::size_t take(const char* bytes, std::size_t count);
  void take_unread();
  void keep(const char* bytes, std::size_t count);
  bool may_take() const;
  void pass_on(std::string_view packet);
  void refuse(Refusal reason);
  void send_some();
  void read_on_if_paused();
  void operation_ended();
  SessionKey key() const { return {self_.slot, self_.generation}; }

  asio::ip::tcp::socket socket_;
  IoThread<Memory>& thread_;
  Ref self_;
  typename Memory::Chain unsent_;
  Buffer greeting_;                                    // room for it, until it has come
  StringOver<typename Memory::Thread::Texts> unread_;  // a packet's beginning; all that came, while paused
  std::uint32_t greeting_size_ = 0;
  std::uint32_t read_beat_;  // when bytes last came
  std::uint32_t sent_beat_;  // when bytes last went
  unsigned unanswered_ = 0;
  std::uint8_t operations_ = 0;  // of asio's that name this session
  State state_ = State::kOpen;
  bool has_greeted_ = false;
  bool waits_for_room_to_send_ = false;
  bool is_paused_ = false;
};

}  // namespace game
