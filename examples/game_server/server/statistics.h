// What the server counts, and how it tells it: some lines of text, or one JSON object on one line.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "../protocol.h"

namespace game {

/// How long one tick took.
struct TickSample {
  std::uint32_t wall_nanoseconds;
  std::uint32_t cpu_nanoseconds;  // of the thread: what it would have taken on a core of its own
};

/// The latest ticks, a fixed number of them, so that a server that runs for months does not grow by its own
/// figures.
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

struct Statistics {
  std::uint64_t accepted = 0;
  std::uint64_t turned_away = 0;  // for want of a descriptor, without a word
  std::uint64_t closed = 0;
  std::size_t most_sessions = 0;
  std::uint64_t packets_received = 0;
  std::uint64_t packets_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t ticks_skipped = 0;  // the one before was not over when they were due
  std::array<std::uint64_t, kRefusalCount + 1> refused{};
  TickHistory ticks;
};

/// What is live: all zero, but for creatures, when the last session has gone and a tick has passed.
struct LiveCounts {
  std::size_t sessions;
  std::size_t packets;
  std::size_t events;
  std::size_t entities;
  std::size_t items;
  std::size_t nodes;
};

enum class OutputForm : std::uint8_t { kText, kJson };

/// Prints the figures since the server started, and of the ticks from `first_tick` on.
void print(const Statistics& statistics, const LiveCounts& live, std::uint64_t first_tick, OutputForm form);

}  // namespace game
