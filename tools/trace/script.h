// What the replaying program maps and carries out: flat arrays without pointers, so that it needs no memory
// of its own allocator, and nothing of it counts as memory that the replayed calls took.
//
//   ScriptHead, ScriptThread[thread_count], Step[step_count]
//
// A thread's steps lie one behind the other; behind them there may be room that no thread's steps are in.
//
// The script is written while the trace is merged a second time: what is in memory are the live blocks, not
// the calls.
//
// A slot holds one live block; a block that has ended leaves it to a later one of the same thread. Each
// step on a slot has a turn: it may run when the slot has seen so many. Turns keep the order of all steps
// on a slot, so a block is allocated before another thread frees it; steps on different slots run free, but
// no thread gets further than `pace` steps ahead of the slowest (Action::kPace).
#pragma once
#include <cstdint>
#include <limits>
#include <map>

#include "trace/merge.h"

namespace tarn::trace {

enum class Action : std::uint8_t {
  kAllocate,
  kAllocateZeroed,
  kResize,
  kFree,
  kPace,    // size: how many steps of all threads come before
  kSample,  // the memory is looked at
};

struct Step {
  std::uint32_t slot = 0;
  std::uint32_t turn = 0;
  std::uint64_t what = 0;  // 40 bits size, 8 bits action, 8 bits alignment

  std::uint64_t size() const { return what & kMostSize; }
  Action action() const { return static_cast<Action>((what >> kSizeBits) & 0xff); }
  unsigned alignment_log2() const { return static_cast<unsigned>(what >> (kSizeBits + 8)) & 0xff; }
};
static_assert(sizeof(Step) == 16);

struct ScriptHead {
  static constexpr std::uint64_t kMagic = 0x31747072637374ull;
  std::uint64_t magic = kMagic;
  std::uint32_t thread_count = 0;
  std::uint32_t slot_count = 0;
  std::uint64_t step_count = 0;
  std::uint64_t pace = 0;
  std::uint64_t page_bytes = 4096;
};

struct ScriptThread {
  std::uint64_t first_step = 0;  // index of its first in the array of steps
  std::uint64_t step_count = 0;
  std::uint64_t begins_after = 0;  // steps of all threads
};

enum class Threads : std::uint8_t { kAsRecorded, kOne };

/// Calls of the merged order, the first that is made and the first that is not. What was live before is as if
/// the recording had begun there: its frees are left out.
struct Window {
  std::uint64_t from = 0, until = std::numeric_limits<std::uint64_t>::max();
};

struct Script {
  ScriptHead head;
  std::uint64_t call_count = 0;
  std::uint64_t peak_live_bytes = 0;  // as asked for
  std::uint64_t peak_live_blocks = 0;
  std::uint64_t largest_bytes = 0;
  MergeCounts merged;
  /// How many blocks of each requested size are live when most bytes are. Blocks of more than the usual
  /// alignment are left out: they have size classes of their own.
  std::map<std::uint64_t, std::uint64_t> sizes_at_peak;
};

/// Makes the script of a trace. \param file the descriptor of an empty file, which becomes the script
/// \throws TraceError; std::system_error when it cannot be written
Script write_script(EventSource& source, Threads threads, const Window& window, int file);

}  // namespace tarn::trace
