// What the replaying program maps and carries out: flat arrays without pointers, so that it needs no memory
// of its own allocator, and nothing of it counts as memory that the replayed calls took.
//
//   ScriptHead, ScriptThread[thread_count], Step[step_count]
//
// A slot holds one live block; a block that has ended leaves it to a later one of the same thread. Each
// step on a slot has a turn: it may run when the slot has seen so many. Turns keep the order of all steps
// on a slot, so a block is allocated before another thread frees it; steps on different slots run free, but
// no thread gets further than `pace` steps ahead of the slowest (Action::kPace).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "trace/merge.h"
#include "trace/trace_reader.h"

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

struct Script {
  ScriptHead head;
  std::vector<ScriptThread> threads;
  std::vector<Step> steps;

  std::uint64_t call_count = 0;
  std::uint64_t peak_live_bytes = 0;  // as asked for
  std::uint64_t peak_live_blocks = 0;
  std::uint64_t largest_bytes = 0;
  MergeCounts merged;
};

Script script_of(const Trace& trace, Threads threads);

/// The bytes of the file.
std::string bytes_of(const Script& script);

}  // namespace tarn::trace
