// Arenas: N blocks of 8 to 256 bytes, aligned to 16, the first 8 bytes of each written; then all end at once.
//
// grow/N     the arena starts with nothing and grows; reset between the rounds, which pmr's gives its memory
// back at buffer/N   over a buffer of the caller's with room for all; reset between the rounds fresh/N    an
// arena made, grown and ended in each round
//
// An operation is a block. An arena is made with no arguments or over (buffer, bytes), and offers
// allocate(bytes) and reset().
#pragma once
#include <memory>

#include "blocks.h"
#include "clock.h"
#include "contestant.h"

namespace tarn::bench {

inline constexpr double kRowSecondsOfArenas = 0.04;
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
  template <class Arena>
  [[gnu::noinline]] void allocate_all(Arena& arena) {
    for (SizedSlot& slot : slots_) slot.block = used<Writing::kFirstWord>(arena.allocate(slot.bytes));
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
  void round() {
    blocks_.allocate_all(arena_);
    arena_.reset();
  }

 private:
  Arena arena_;
  ArenaBlocks blocks_;
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
  void round() {
    Arena arena;
    blocks_.allocate_all(arena);
  }

 private:
  ArenaBlocks blocks_;
};

template <class MakeWork>
void run_arena_row(Session& session, const RowName& name, std::size_t count, MakeWork make_work) {
  if (!session.wants(name)) return;
  const Timing timing =
      time_rounds(1, session.budget_ns(kRowSecondsOfArenas), [&](unsigned) { return make_work(); });
  const std::uint64_t operations = timing.rounds * count;
  session.report(name, timing.wall_ns / static_cast<double>(operations), operations);
}

template <class Arena>
void run_arena(Session& session) {
  for (const std::size_t count : {100u, 1000u, 10'000u, 100'000u}) {
    run_arena_row(session, row_name("grow/%zu", count), count, [=] { return ResetArena<Arena>(count); });
    run_arena_row(session, row_name("fresh/%zu", count), count, [=] { return FreshArena<Arena>(count); });
    if constexpr (std::is_constructible_v<Arena, void*, std::size_t>) {
      Table<char> buffer(count * (kLargestArenaBlock + 16) + 4096);
      run_arena_row(session, row_name("buffer/%zu", count), count, [&] {
        return ResetArena<Arena>(count, static_cast<void*>(buffer.begin()), buffer.size());
      });
    }
  }
}

}  // namespace tarn::bench
