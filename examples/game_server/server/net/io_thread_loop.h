// What an IO thread does on each event; io_thread.h says what and why.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include "io_thread.h"

namespace game {

template <typename Memory>
IoThread<Memory>::IoThread(std::size_t index, int listening, const asio::ip::tcp& protocol, Hub<Memory>& hub)
    : index_(index),
      hub_(hub),
      local_(hub.memory, "io"),
      inbound_(hub.options.mailbox),
      outbound_(hub.options.mailbox),
      sessions_(local_, "sessions"),
      acceptor_(io_, protocol, dup(listening)),
      read_buffer_(new char[kLargestPacket + kReadBytes]),
      spare_descriptor_(open("/dev/null", O_RDONLY | O_CLOEXEC)) {
  acceptor_.non_blocking(true);
}

template <typename Memory>
void IoThread<Memory>::run() {
  wait_for_clients();
  wait_for_beat();
  io_.run();
  ::close(spare_descriptor_);
}

template <typename Memory>
void IoThread<Memory>::wait_for_clients() {
  acceptor_.async_wait(Tcp::acceptor::wait_read, [this](const asio::error_code& error) {
    if (error || is_stopping_) return;
    accept_all();
    wait_for_clients();
  });
}

template <typename Memory>
void IoThread<Memory>::accept_all() {
  // A bound, so that a flood of connects does not keep other clients waiting.
  constexpr int kMostAtOnce = 64;
  for (int i = 0; i < kMostAtOnce; ++i) {
    asio::error_code error;
    Tcp::socket socket(io_);
    acceptor_.accept(socket, error);
    if (error == asio::error::would_block || error == asio::error::connection_aborted) return;
    if (error)
      turn_one_away();
    else if (hub_.has_descriptor_for_one_more())
      add_session(std::move(socket));
    else
      counters_.turned_away.add();
  }
}

template <typename Memory>
void IoThread<Memory>::turn_one_away() {
  // Without a descriptor to accept with, the client would stay in the queue and wake us for ever.
  ::close(spare_descriptor_);
  const int client = ::accept(acceptor_.native_handle(), nullptr, nullptr);
  if (client >= 0) {
    ::close(client);
    counters_.turned_away.add();
  }
  spare_descriptor_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

template <typename Memory>
void IoThread<Memory>::add_session(Tcp::socket socket) {
  counters_.accepted.add();
  const bool is_full = hub_.count_session();
  const Ref ref = sessions_.create(std::move(socket), *this);
  Session<Memory>& session = *sessions_.get(ref);
  if (is_full)
    session.start_refused(ref, Refusal::kServerFull);
  else
    session.start(ref);
}

template <typename Memory>
void IoThread<Memory>::end(Ref session) {
  if (sessions_.get(session) == nullptr) return;
  sessions_.destroy(session);
  hub_.uncount_session();
}

template <typename Memory>
void IoThread<Memory>::wait_for_beat() {
  timer_.expires_after(std::chrono::milliseconds(kBeatMilliseconds));
  timer_.async_wait([this](const asio::error_code& error) {
    if (error || is_stopping_) return;
    on_beat();
    wait_for_beat();
  });
}

template <typename Memory>
void IoThread<Memory>::on_beat() {
  ++beat_;
  send_broadcasts();
  hub_.give_back_if_asked(local_, give_back_calls_served_);
  const auto most_beats = hub_.options.stall_ms / kBeatMilliseconds + 1;
  sessions_.for_each_live([&](Ref, Session<Memory>& session) { session.check_stall(most_beats); });
}

template <typename Memory>
void IoThread<Memory>::wake() {
  if (!is_woken_.exchange(true, std::memory_order_acq_rel)) asio::post(io_, [this] { on_wake(); });
}

template <typename Memory>
void IoThread<Memory>::on_wake() {
  is_woken_.store(false, std::memory_order_release);
  if (hub_.options.planted == PlantedFault::kSlowIo && index_ == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(kSlowIoMilliseconds));
  outbound_.take(received_);
  for (Outbound<Memory>& message : received_) {
    const Ref ref{message.to.slot, message.to.generation};
    Session<Memory>* const session = sessions_.get(ref);
    if (session == nullptr) continue;  // the client has left meanwhile
    if (session->receive(message.kind, std::move(message.packet))) {
      answered_.push_back(ref);
    } else if (!session->is_in_broadcast_list) {
      session->is_in_broadcast_list = true;
      with_broadcasts_[0].push_back(ref);
    }
  }
  empty(received_);
  send_all();
  resume_sessions();
}

template <typename Memory>
void IoThread<Memory>::send_all() {
  for (const Ref ref : answered_)
    if (Session<Memory>* const session = sessions_.get(ref)) session->flush();
  answered_.clear();
}

template <typename Memory>
void IoThread<Memory>::send_broadcasts() {
  for (const Ref ref : with_broadcasts_[1])
    if (Session<Memory>* const session = sessions_.get(ref)) {
      session->is_in_broadcast_list = false;
      session->flush();
    }
  with_broadcasts_[1].clear();
  with_broadcasts_[0].swap(with_broadcasts_[1]);
}

template <typename Memory>
void IoThread<Memory>::resume_later(Ref session) {
  counters_.reads_paused.add();
  paused_.push_back(session);
  waits_for_room_.store(true, std::memory_order_relaxed);
}

template <typename Memory>
void IoThread<Memory>::resume_sessions() {
  if (!inbound_.has_room(batch_.size() + 1)) return;
  Vector<Ref> paused;
  paused.swap(paused_);
  for (const Ref ref : paused)
    if (Session<Memory>* const session = sessions_.get(ref)) session->resume();
}

template <typename Memory>
void IoThread<Memory>::close_all() {
  is_stopping_ = true;
  asio::error_code ignored;
  acceptor_.close(ignored);
  timer_.cancel();
  sessions_.for_each_live([](Ref, Session<Memory>& session) { session.close(); });
  deliver();
}

}  // namespace game
