// What the threads of one server share. Its members are constant, or may be used from any thread.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../options.h"

namespace game {

template <typename Memory>
struct Hub {
  const ServerOptions& options;
  Memory& memory;
  const std::size_t most_sessions;
  std::atomic<std::size_t> session_count{0};
  std::atomic<std::size_t> most_at_once{0};
  std::atomic<std::uint32_t> give_back_calls{0};  // so often the threads were asked to give memory back

  std::size_t hard_bytes() const { return options.outbox_kib << 10; }
  std::size_t soft_bytes() const { return hard_bytes() / 4; }

  /// Beyond most_sessions a few are told that the server is full; the rest are closed without a word. \why
  /// not until accept fails: with several threads, one would take the descriptor that another gives up.
  bool has_descriptor_for_one_more() const {
    constexpr std::size_t kMostToldFull = 8;
    return session_count.load(std::memory_order_relaxed) < most_sessions + kMostToldFull;
  }
  /// \returns whether the server was full before.
  bool count_session() {
    const std::size_t count = session_count.fetch_add(1, std::memory_order_relaxed) + 1;
    std::size_t most = most_at_once.load(std::memory_order_relaxed);
    while (count > most && !most_at_once.compare_exchange_weak(most, count, std::memory_order_relaxed)) {
    }
    return count > most_sessions;
  }
  /// Gives back what a thread keeps for itself, when that was asked for since it last did.
  void give_back_if_asked(typename Memory::Thread& thread, std::uint32_t& calls_served) {
    const std::uint32_t calls = give_back_calls.load(std::memory_order_relaxed);
    if (std::exchange(calls_served, calls) != calls) thread.give_back();
  }
  void uncount_session() { session_count.fetch_sub(1, std::memory_order_relaxed); }
};

}  // namespace game
