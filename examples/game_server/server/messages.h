// What crosses between threads, and who may touch what.
//
//   thread        owns                                            others reach it by
//   IO thread i   its io_context, the sessions it accepted, their  its `outbound` mailbox, and a wake-up
//                 sockets and send queues
//   logic         rooms, players, entities, their text; the tick  the `inbound` mailbox of each IO thread
//   control       signals, the command line of standard input,    a request that the logic thread takes at
//                 the configuration file, giving memory back      its next tick (control.h)
//
// No object has two owners, so nothing of the game has a lock. A mailbox is a vector behind a mutex: the
// writer adds a batch, the reader swaps the whole vector for its own empty one. A lock is taken once per read
// of a socket and once per tick. A packet's bytes are written by the thread that holds its only Buffer;
// once there are two, they are only read, and each Buffer may end in any thread.
//
// A message names a session by slot and generation. A session that has ended meanwhile is not found, and the
// message ends there; so a client may leave between any two messages.
//
// Back pressure: a mailbox has a bound. An IO thread stops reading its sockets when `inbound` is full, until
// the logic thread has taken what is there. While `outbound` of an IO thread is full, the logic thread takes
// nothing from it, and sends its clients only what they are owed. What both hold is bounded, however slow one
// is: `outbound` by its bound and the answers to one full `inbound`. One client has at most kMostUnanswered
// requests on their way; what else it sends waits in its socket.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "../protocol.h"

namespace game {

inline constexpr unsigned kMostUnanswered = 64;

/// A session as messages name it: as the Ref of its IO thread does.
struct SessionKey {
  std::uint32_t slot;
  std::uint32_t generation;
};

enum class InboundKind : std::uint8_t {
  kRequest,  // a well-formed packet
  kRefuse,   // the client did something wrong, for `reason`: to be told so behind what it was answered before
  kGone,     // the session has ended
};

template <typename Memory>
struct Inbound {
  SessionKey from;
  InboundKind kind;
  Refusal reason;
  typename Memory::Buffer packet;
};

enum class OutboundKind : std::uint8_t {
  kAnswer,     // sent at once
  kBroadcast,  // may wait for an answer to ride with
  kSnapshot,   // the same; dropped for a client that is behind
  kClose,      // the last: then the session is closed
};

template <typename Memory>
struct Outbound {
  SessionKey to;
  OutboundKind kind;
  typename Memory::Buffer packet;
};

/// Empties a batch that is filled again and again, but does not keep the room of an hour of jam.
template <typename Batch>
void empty(Batch& batch) {
  constexpr std::size_t kAlwaysKept = 512;
  const bool was_roomy = batch.size() < batch.capacity() / 4;
  batch.clear();
  if (was_roomy && batch.capacity() > kAlwaysKept) Batch().swap(batch);
}

/// Threads: one writes, one reads, any ask for the size.
template <typename Message, template <typename> class Vector>
class Mailbox {
 public:
  explicit Mailbox(std::size_t bound) : bound_(bound) {}

  /// Whether `more` messages fit beside those that were delivered.
  bool has_room(std::size_t more = 1) const { return size() + more <= bound_; }
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }

  /// Takes all messages of a batch over, also beyond the bound: the writer asks before it makes them.
  /// \post the batch is empty.
  void deliver(Vector<Message>& batch) {
    if (batch.empty()) return;
    const std::lock_guard lock(mutex_);
    if (messages_.empty()) {
      messages_.swap(batch);
    } else {
      for (Message& message : batch) messages_.push_back(std::move(message));
      empty(batch);
    }
    size_.store(messages_.size(), std::memory_order_relaxed);
  }

  /// Swaps all messages for an empty vector: its room is used again.
  void take(Vector<Message>& empty) {
    const std::lock_guard lock(mutex_);
    messages_.swap(empty);
    size_.store(0, std::memory_order_relaxed);
  }

 private:
  const std::size_t bound_;
  std::atomic<std::size_t> size_{0};
  std::mutex mutex_;
  Vector<Message> messages_;
};

}  // namespace game
