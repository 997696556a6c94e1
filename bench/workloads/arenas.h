// Arenas: N blocks of 8 to 256 bytes, aligned to 16, the first 8 bytes of each written; then all end at once.
//
// grow N     the arena starts with nothing and grows; reset between the rounds (pmr's gives its memory back)
//
// buffer N   over a buffer of the caller's with room for all; reset between the rounds
//
// fresh N    an arena made, grown and ended in each round
//
// An operation is a block. An arena is made with no arguments or over (buffer, bytes), and offers
// allocate(bytes) and reset().
#pragma once
#include <type_traits>

#include "contestant.h"
#include "pool_blocks.h"

namespace tarn::bench::arenas {

inline constexpr double kRowSeconds = 0.015;
inline constexpr std::size_t kSmallestArenaBlock = 8;
inline constexpr std::size_t kLargestArenaBlock = 256;

class ArenaBlocks {
 public:
  explicit ArenaBlocks(std::size_t count) : slots_(count) {
    Random random(count);
    for (SizedSlot& slot : slots_) slot.bytes = random.between(kSmallestArenaBlock, kLargestArenaBlock);
  }

  template <class Arena>
  void verify(Arena& arena, Worker& worker) {
    allocate_all(arena);
    verify_slots(slots_, worker);
    arena.reset();
  }
  /// \why inlined: where the arena is an object of the caller's, the compiler may know its type
  template <class Arena>
  [[gnu::always_inline]] void allocate_all(Arena& arena) {
    for (SizedSlot& slot : slots_) slot.block = used(arena.allocate(slot.bytes));
  }

 private:
  Table<SizedSlot> slots_;
};

/// One arena, reset in each round.
template <class Arena>
class ResetArena {
 public:
  template <class... Buffer>
  explicit ResetArena(std::size_t count, Buffer... buffer) : arena_(buffer...), blocks_(count) {}
  void verify(Worker& worker) { blocks_.verify(arena_, worker); }
  [[gnu::noinline]] void round() {
    blocks_.allocate_all(arena_);
    arena_.reset();
  }

 private:
  Arena arena_;
  ArenaBlocks blocks_;
};

/// The same over a buffer with room for all.
template <class Arena>
class BufferArena {
 public:
  explicit BufferArena(std::size_t count)
      : buffer_(count * (kLargestArenaBlock + 16) + 4096),
        arena_(count, static_cast<void*>(buffer_.begin()), buffer_.size()) {}
  void verify(Worker& worker) { arena_.verify(worker); }
  void round() { arena_.round(); }

 private:
  Table<char> buffer_;
  ResetArena<Arena> arena_;
};

/// An arena per round.
template <class Arena>
class FreshArena {
 public:
  explicit FreshArena(std::size_t count) : blocks_(count) {}
  void verify(Worker& worker) {
    Arena arena;
    blocks_.verify(arena, worker);
  }
  [[gnu::noinline]] void round() {
    Arena arena;
    blocks_.allocate_all(arena);
  }

 private:
  ArenaBlocks blocks_;
};

template <class Work>
void run_row(Session& session, const SeriesName& name, std::size_t count) {
  run_timed_row(session, {.series = name}, kRowSeconds, count, [=](unsigned) { return Work(count); });
}

template <class Arena>
void run(Session& session) {
  if (!session.enter("arena")) return;
  for (const std::size_t count : session.values({100, 1000, 10'000, 100'000})) {
    run_row<ResetArena<Arena>>(session, series("grow %zu", count), count);
    run_row<FreshArena<Arena>>(session, series("fresh %zu", count), count);
    if constexpr (std::is_constructible_v<Arena, void*, std::size_t>)
      run_row<BufferArena<Arena>>(session, series("buffer %zu", count), count);
  }
}

}  // namespace tarn::bench::arenas
