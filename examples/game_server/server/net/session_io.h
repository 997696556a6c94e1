// A session's bytes: reading, framing, sending, closing; session.h says how it goes.
#pragma once
#include "io_thread.h"
#include "session.h"

namespace game {

template <typename Memory>
Session<Memory>::Session(asio::ip::tcp::socket socket, IoThread<Memory>& thread)
    : socket_(std::move(socket)),
      thread_(thread),
      greeting_(thread.memory().make_buffer(kGreetingBytes)),
      unread_(over(thread.local().texts())),
      read_beat_(thread.beat()),
      sent_beat_(thread.beat()) {}

template <typename Memory>
void Session<Memory>::start(Ref self) {
  self_ = self;
  wait_until_readable();
}

template <typename Memory>
void Session<Memory>::start_refused(Ref self, Refusal reason) {
  thread_.counters().refused[static_cast<std::size_t>(reason)].add();
  Buffer packet = thread_.memory().make_buffer(kHeaderBytes + 1);
  PacketWriter writer(packet.data(), Reply::kError, 1);
  writer.put(reason);
  receive(OutboundKind::kClose, std::move(packet));
  start(self);
  flush();
}

template <typename Memory>
void Session<Memory>::wait_until_readable() {
  ++operations_;
  socket_.async_wait(asio::socket_base::wait_read,
                     thread_.local().bind([this](const asio::error_code& error) { on_readable(error); }));
}

template <typename Memory>
void Session<Memory>::wait_until_writable() {
  waits_for_room_to_send_ = true;
  sent_beat_ = thread_.beat();
  ++operations_;
  socket_.async_wait(asio::socket_base::wait_write,
                     thread_.local().bind([this](const asio::error_code& error) {
                       waits_for_room_to_send_ = false;
                       if (error) close();
                       flush();
                       operation_ended();
                     }));
}

template <typename Memory>
void Session<Memory>::operation_ended() {
  if (--operations_ == 0 && state_ == State::kClosed) thread_.end(self_);
}

template <typename Memory>
void Session<Memory>::on_readable(const asio::error_code& error) {
  if (error || (state_ != State::kClosed && !read_once())) close();
  thread_.deliver();
  if (state_ != State::kClosed && !is_paused_) wait_until_readable();
  operation_ended();
}

template <typename Memory>
bool Session<Memory>::read_once() {
  if (greeting_ && state_ == State::kOpen) return read_greeting();
  char* const buffer = thread_.read_buffer();
  const std::size_t kept = unread_.copy(buffer, unread_.size());
  const ssize_t count =
      ::recv(socket_.native_handle(), buffer + kept, IoThread<Memory>::kReadBytes, MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  thread_.counters().bytes_received.add(static_cast<std::size_t>(count));
  if (state_ != State::kOpen) return true;
  read_beat_ = thread_.beat();
  const std::size_t whole = kept + static_cast<std::size_t>(count);
  const std::size_t taken = take(buffer, whole);
  keep(buffer + taken, whole - taken);
  return true;
}

template <typename Memory>
bool Session<Memory>::read_greeting() {
  const ssize_t count = ::recv(socket_.native_handle(), greeting_.data() + greeting_size_,
                               kGreetingBytes - greeting_size_, MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  thread_.counters().bytes_received.add(static_cast<std::size_t>(count));
  read_beat_ = thread_.beat();
  greeting_size_ += static_cast<std::uint32_t>(count);
  const std::size_t taken = take(greeting_.data(), greeting_size_);
  if (has_greeted_ || is_paused_) {
    keep(greeting_.data() + taken, greeting_size_ - taken);
    greeting_.reset();
  } else if (greeting_size_ == kGreetingBytes) {
    refuse(Refusal::kMalformed);  // no greeting is as long
  }
  return true;
}

template <typename Memory>
void Session<Memory>::keep(const char* bytes, std::size_t count) {
  if (state_ == State::kOpen && (count != 0 || !unread_.empty())) unread_.assign(bytes, count);
}

template <typename Memory>
void Session<Memory>::take_unread() {
  char* const buffer = thread_.read_buffer();
  const std::size_t whole = unread_.copy(buffer, unread_.size());
  const std::size_t taken = take(buffer, whole);
  if (taken > 0) keep(buffer + taken, whole - taken);
}

template <typename Memory>
bool Session<Memory>::may_take() const {
  return unanswered_ < kMostUnanswered && unsent_.bytes() <= thread_.hub().soft_bytes();
}

template <typename Memory>
std::size_t Session<Memory>::take(const char* bytes, std::size_t count) {
  std::size_t done = 0;
  is_paused_ = false;
  while (state_ == State::kOpen) {
    const Frame frame = next_frame(bytes + done, count - done);
    if (frame.framing == Framing::kMalformed) refuse(Refusal::kMalformed);
    if (frame.framing == Framing::kOversized) refuse(Refusal::kOversized);
    if (frame.framing != Framing::kWhole) break;
    const bool has_room = thread_.has_room_for_one_more();
    if (!has_room) thread_.resume_later(self_);
    if (!has_room || !may_take()) {
      is_paused_ = true;
      break;
    }
    pass_on({bytes + done, frame.bytes});
    done += frame.bytes;
  }
  return done;
}

template <typename Memory>
void Session<Memory>::pass_on(std::string_view packet) {
  thread_.counters().packets_received.add();
  if (!is_well_formed(packet)) return refuse(Refusal::kMalformed);
  const auto type = static_cast<Request>(packet[2]);
  if (type == Request::kAdmin) {
    asio::error_code unknown;
    if (!socket_.remote_endpoint(unknown).address().is_loopback() || unknown)
      return refuse(Refusal::kOutOfTurn);
  }
  if (type == Request::kHello || type == Request::kAdmin) has_greeted_ = true;
  if (!has_greeted_) return refuse(Refusal::kOutOfTurn);
  ++unanswered_;
  Buffer copy = thread_.memory().make_buffer(packet.size());
  std::memcpy(copy.data(), packet.data(), packet.size());
  thread_.pass_on({key(), InboundKind::kRequest, {}, std::move(copy)});
}

template <typename Memory>
void Session<Memory>::refuse(Refusal reason) {
  if (state_ != State::kOpen) return;
  state_ = State::kRefusing;
  is_paused_ = false;
  read_beat_ = thread_.beat();
  unread_.clear();
  thread_.pass_on({key(), InboundKind::kRefuse, reason, {}});
}

template <typename Memory>
bool Session<Memory>::receive(OutboundKind kind, Buffer packet) {
  if (state_ == State::kRefused || state_ == State::kClosed) return false;
  const bool is_behind = unsent_.bytes() > thread_.hub().soft_bytes();
  if (kind == OutboundKind::kSnapshot && is_behind) {
    thread_.counters().dropped.add();
    return false;
  }
  thread_.counters().packets_sent.add();
  unsent_.append(std::move(packet));
  if (kind == OutboundKind::kAnswer && unanswered_ > 0) --unanswered_;
  if (kind == OutboundKind::kClose) {
    state_ = State::kRefused;
    unread_.clear();
    read_beat_ = thread_.beat();
    if (std::exchange(is_paused_, false)) wait_until_readable();
  }
  if (kind == OutboundKind::kAnswer || kind == OutboundKind::kClose) return true;
  if (unsent_.bytes() > thread_.hub().hard_bytes()) {
    send_some();
    if (unsent_.bytes() > thread_.hub().hard_bytes()) {
      thread_.counters().refused[static_cast<std::size_t>(Refusal::kSlowReader)].add();
      close();
    }
  }
  return false;
}

template <typename Memory>
void Session<Memory>::flush() {
  send_some();
  read_on_if_paused();
}

template <typename Memory>
void Session<Memory>::send_some() {
  constexpr std::size_t kMostPieces = 128;
  while (!unsent_.is_empty() && !waits_for_room_to_send_ && state_ != State::kClosed) {
    iovec pieces[kMostPieces];
    msghdr message = {};
    message.msg_iov = pieces;
    message.msg_iovlen = unsent_.fill_iovecs(pieces, kMostPieces);
    const ssize_t sent = ::sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return close();
      return wait_until_writable();
    }
    sent_beat_ = thread_.beat();
    thread_.counters().bytes_sent.add(static_cast<std::size_t>(sent));
    unsent_.consume(static_cast<std::size_t>(sent));
  }
  if (state_ == State::kRefused && unsent_.is_empty()) {
    asio::error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_send, ignored);
  }
}

template <typename Memory>
void Session<Memory>::read_on_if_paused() {
  if (!is_paused_ || state_ != State::kOpen || !may_take()) return;
  resume();
}

template <typename Memory>
void Session<Memory>::resume() {
  if (!is_paused_ || state_ == State::kClosed) return;
  read_beat_ = thread_.beat();
  take_unread();
  thread_.deliver();
  if (!is_paused_) wait_until_readable();
}

template <typename Memory>
void Session<Memory>::close() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  unsent_.clear();
  asio::error_code ignored;
  socket_.close(ignored);
  thread_.counters().closed.add();
  thread_.pass_on({key(), InboundKind::kGone, {}, {}});
  thread_.deliver();
  if (operations_ == 0) thread_.end_later(self_);
}

template <typename Memory>
void Session<Memory>::check_stall(std::uint32_t most_beats) {
  if (state_ == State::kClosed) return;
  const std::uint32_t beat = thread_.beat();
  const bool owes_bytes = !has_greeted_ || !unread_.empty() || state_ != State::kOpen;
  const bool has_stalled = waits_for_room_to_send_
                               ? beat - sent_beat_ > most_beats
                               : owes_bytes && !is_paused_ && beat - read_beat_ > most_beats;
  if (!has_stalled) return;
  // One that does not even read that it was refused is closed without a further word.
  const bool is_told = state_ == State::kOpen && !waits_for_room_to_send_;
  if (is_told) {
    refuse(Refusal::kStalled);
    return thread_.deliver();
  }
  if (state_ == State::kOpen) thread_.counters().refused[static_cast<std::size_t>(Refusal::kStalled)].add();
  close();
}

}  // namespace game
