// What the server counts, and how it tells it: some lines of text, one JSON object on one line, or a short
// one in a packet.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "../protocol.h"

namespace game {

/// How long one tick took.
struct TickSample {
  std::uint32_t wall_nanoseconds;
  std::uint32_t cpu_nanoseconds;  // of the thread: what it would have taken on a core of its own
};

/// The latest ticks, a fixed number of them, so that a server that runs for months does not grow by its own
/// figures. Threads: the logic thread.
class TickHistory {
 public:
  TickHistory();
  void add(TickSample sample);
  /// Since the server started.
  std::uint64_t count() const { return count_; }
  /// From the tick of that number on, as far as they are still there.
  std::vector<TickSample> since(std::uint64_t first) const;

 private:
  static constexpr std::size_t kMostKept = 1 << 14;
  std::vector<TickSample> samples_;
  std::uint64_t count_ = 0;
};

/// Threads: one adds, any reads; so nothing is lost by adding in two steps.
class Counter {
 public:
  void add(std::uint64_t more = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Of one thread; what they count is summed up when somebody asks.
struct Counters {
  Counter accepted;
  Counter turned_away;  // for want of a descriptor, without a word
  Counter closed;
  Counter packets_received;
  Counter packets_sent;
  Counter bytes_received;
  Counter bytes_sent;
  Counter reads_paused;  // because the logic thread was behind
  Counter dropped;       // broadcasts for a thread or a client that was behind
  std::array<Counter, kRefusalCount + 1> refused;
};

/// All figures at one moment.
struct Figures {
  std::uint64_t accepted = 0;
  std::uint64_t turned_away = 0;
  std::uint64_t closed = 0;
  std::uint64_t packets_received = 0;
  std::uint64_t packets_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t reads_paused = 0;
  std::uint64_t dropped = 0;
  std::array<std::uint64_t, kRefusalCount + 1> refused{};

  std::uint64_t ticks = 0;
  std::uint64_t ticks_skipped = 0;  // the one before was not over when they were due
  std::uint64_t allocations = 0;    // of the logic thread
  std::uint64_t denied = 0;         // what a room's budget did not allow for
  std::uint64_t snapshots = 0;
  std::uint64_t snapshot_entities = 0;  // in the last one

  std::size_t most_sessions = 0;
  // What is live now, all of it 0 a moment after the last client has gone:
  std::size_t sessions = 0;
  std::size_t players = 0;
  std::size_t rooms = 0;
  std::size_t entities = 0;
  std::size_t messages = 0;  // in mailboxes

  void add(const Counters& counters);
};

enum class OutputForm : std::uint8_t { kText, kJson };

/// Prints all figures, and every tick of `ticks`.
void print(const Figures& figures, const std::vector<TickSample>& ticks, OutputForm form);

/// All figures, and what there is to say about some ticks: an object of JSON that fits into a packet.
/// \param latest since somebody last asked; begun: since the beginning was set
std::string short_json(const Figures& figures, const std::vector<TickSample>& latest,
                       const std::vector<TickSample>& begun);

}  // namespace game
