// A session's bytes: reading, framing, sending, closing; session.h says how it goes.
#pragma once
#include "server.h"
#include "session.h"

namespace game {

template <typename Memory>
Session<Memory>::Session(asio::ip::tcp::socket socket, std::uint32_t id, Server<Memory>& server)
    : socket_(std::move(socket)),
      server_(server),
      player_(id, server.memory(), server.outboxes(), server.items()),
      unread_(AllocatorOver<char, Buffers>(server.memory().buffers())),
      read_tick_(server.tick_number()),
      sent_tick_(server.tick_number()) {}

template <typename Memory>
Session<Memory>::~Session() {
  leave_room();
}

template <typename Memory>
void Session<Memory>::wait_until_readable() {
  ++operations_;
  socket_.async_wait(asio::socket_base::wait_read,
                     handler([this](const asio::error_code& error) { on_readable(error); }));
}

template <typename Memory>
void Session<Memory>::wait_until_writable() {
  waits_for_room_to_send_ = true;
  ++operations_;
  socket_.async_wait(asio::socket_base::wait_write,
                     handler([this](const asio::error_code& error) { on_writable(error); }));
}

template <typename Memory>
void Session<Memory>::operation_ended() {
  if (--operations_ == 0 && state_ == State::kClosed) server_.end(*this);
}

template <typename Memory>
void Session<Memory>::on_readable(const asio::error_code& error) {
  if (error || (state_ != State::kClosed && !read_once())) close();
  go_on();
}

template <typename Memory>
void Session<Memory>::on_writable(const asio::error_code& error) {
  waits_for_room_to_send_ = false;
  if (error) close();
  if (state_ != State::kClosed) flush();
  if (!is_reading_paused_ || owes_too_much()) return operation_ended();
  is_reading_paused_ = false;
  if (state_ == State::kOpen) take_unread();
  go_on();
}

template <typename Memory>
void Session<Memory>::go_on() {
  if (state_ != State::kClosed) flush();
  if (state_ != State::kClosed && !is_reading_paused_) wait_until_readable();
  Server<Memory>& server = server_;
  operation_ended();
  server.tick_if_due();
}

template <typename Memory>
bool Session<Memory>::owes_too_much() const {
  return player_.outbox.bytes() > server_.outbox_limits().soft_bytes;
}

template <typename Memory>
bool Session<Memory>::read_once() {
  char* const buffer = server_.read_buffer();
  const std::size_t kept = unread_.copy(buffer, unread_.size());
  const ssize_t count =
      ::recv(socket_.native_handle(), buffer + kept, Server<Memory>::kReadBytes, MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  server_.statistics().bytes_received += static_cast<std::size_t>(count);
  if (state_ != State::kOpen) return true;
  read_tick_ = server_.tick_number();
  take(buffer, kept + static_cast<std::size_t>(count));
  return true;
}

template <typename Memory>
void Session<Memory>::take_unread() {
  char* const buffer = server_.read_buffer();
  read_tick_ = server_.tick_number();
  take(buffer, unread_.copy(buffer, unread_.size()));
}

template <typename Memory>
void Session<Memory>::take(const char* bytes, std::size_t count) {
  std::size_t done = 0;
  while (state_ == State::kOpen) {
    // A client that does not take its answers is not asked for more.
    if (owes_too_much() && waits_after_flush()) break;
    const Frame frame = next_frame(bytes + done, count - done);
    if (frame.framing == Framing::kMalformed) return refuse(Refusal::kMalformed);
    if (frame.framing == Framing::kOversized) return refuse(Refusal::kOversized);
    if (frame.framing == Framing::kPartial) break;
    ++server_.statistics().packets_received;
    if (!handle(std::string_view(bytes + done, frame.bytes))) return;
    done += frame.bytes;
  }
  if (state_ == State::kOpen && (count != done || !unread_.empty()))
    unread_.assign(bytes + done, count - done);
}

template <typename Memory>
bool Session<Memory>::waits_after_flush() {
  flush();
  return is_reading_paused_ = state_ == State::kOpen && owes_too_much();
}

template <typename Memory>
void Session<Memory>::flush() {
  constexpr std::size_t kMostPieces = 128;
  Outbox<Memory>& outbox = player_.outbox;
  while (!outbox.is_empty() && !waits_for_room_to_send_ && state_ != State::kClosed) {
    iovec pieces[kMostPieces];
    msghdr message = {};
    message.msg_iov = pieces;
    message.msg_iovlen = outbox.gather(pieces, kMostPieces);
    const ssize_t sent = ::sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return close();
      return wait_until_writable();
    }
    sent_tick_ = server_.tick_number();
    server_.statistics().bytes_sent += static_cast<std::size_t>(sent);
    server_.statistics().packets_sent += outbox.remove_sent(static_cast<std::size_t>(sent));
  }
  if (state_ == State::kRefused && outbox.is_empty()) {
    asio::error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  }
}

template <typename Memory>
void Session<Memory>::refuse(Refusal reason) {
  if (state_ != State::kOpen) return;
  ++server_.statistics().refused[static_cast<std::size_t>(reason)];
  leave_room();
  answer(Reply::kError, static_cast<std::uint8_t>(reason));
  unread_.clear();
  state_ = State::kRefused;
  read_tick_ = server_.tick_number();
}

template <typename Memory>
void Session<Memory>::refuse_stalled() {
  // One that was told already, and did not even close, is not told again.
  if (state_ == State::kOpen) {
    refuse(Refusal::kStalled);
    flush();
  }
  if (state_ != State::kClosed) close();
}

template <typename Memory>
void Session<Memory>::close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  leave_room();
  player_.outbox.clear();
  asio::error_code ignored;
  socket_.close(ignored);
  ++server_.statistics().closed;
}

template <typename Memory>
void Session<Memory>::leave_room() {
  if (player_.room != nullptr) player_.room->remove(player_);
}

template <typename Memory>
bool Session<Memory>::has_old_broadcasts(std::uint32_t tick) const {
  return !player_.outbox.is_empty() && !waits_for_room_to_send_ &&
         tick - player_.outbox.oldest_tick() >= Server<Memory>::kMostTicksUnsent;
}

template <typename Memory>
bool Session<Memory>::has_stalled(std::uint32_t tick, std::uint32_t most_ticks) const {
  const bool owes_bytes = !has_greeted_ || !unread_.empty() || state_ == State::kRefused;
  if (waits_for_room_to_send_) return tick - sent_tick_ > most_ticks;
  return owes_bytes && tick - read_tick_ > most_ticks;
}

template <typename Memory>
bool Session<Memory>::is_over_limit() {
  const std::size_t most = server_.outbox_limits().hard_bytes;
  if (player_.outbox.bytes() > most) flush();
  return state_ == State::kOpen && player_.outbox.bytes() > most;
}

}  // namespace game
