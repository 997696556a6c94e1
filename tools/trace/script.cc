// Slots, turns and the places of samples.
#include "trace/script.h"

#include <algorithm>

namespace tarn::trace {
namespace {

constexpr std::uint64_t kSamples = 400;       // of memory, over the whole
constexpr std::uint64_t kStepsOfPace = 64;    // of a thread, between two looks at how far the others are
constexpr std::uint64_t kCallsOfPace = 512;   // of all threads
constexpr std::uint64_t kLeastPace = 1024;    // steps
constexpr std::uint64_t kPacesOfTrace = 200;  // a thread may be ahead by this part of all steps

class Maker {
 public:
  Maker(const Trace& trace, Threads threads);
  Script make();

 private:
  struct Block {
    std::uint32_t slot;
    std::uint32_t home;  // the thread whose slots it is of
    std::uint64_t size;
  };
  struct Line {  // of one replayed thread
    std::vector<Step> steps;
    std::vector<std::uint32_t> free_slots;
    std::uint64_t begins_after = 0;
    std::uint64_t calls = 0;
    std::uint64_t paced_at = 0;
  };

  void find_peak();
  void add(const Happening& happening);
  Line& line_of(std::uint32_t thread) { return lines_[threads_ == Threads::kOne ? 0 : thread]; }
  void pace(Line& line);
  std::uint32_t take_slot(Line& line);
  Block begin_block(const Happening& happening);
  void sample_if_due(Line& line);
  void assemble();

  const Trace& trace_;
  const Threads threads_;
  Script script_;
  std::vector<Line> lines_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> turns_;  // of slots
  std::uint64_t peak_call_ = 0;
  std::uint64_t calls_ = 0;
};

Maker::Maker(const Trace& trace, Threads threads)
    : trace_(trace), threads_(threads), lines_(threads == Threads::kOne ? 1 : trace.threads.size()) {}

/// A run of the merge for its figures alone.
void Maker::find_peak() {
  std::vector<std::uint64_t> sizes;
  std::uint64_t bytes = 0, blocks = 0;
  Merger merger(trace_, [&](const Happening& happening) {
    ++script_.call_count;
    if (happening.block >= sizes.size()) {
      sizes.push_back(0);
      ++blocks;
    }
    blocks -= happening.kind == Happening::Kind::kFree;
    bytes = bytes - sizes[happening.block] + happening.size;
    sizes[happening.block] = happening.size;
    script_.largest_bytes = std::max(script_.largest_bytes, happening.size);
    script_.peak_live_blocks = std::max(script_.peak_live_blocks, blocks);
    if (bytes <= script_.peak_live_bytes) return;
    script_.peak_live_bytes = bytes;
    peak_call_ = script_.call_count;
  });
  script_.merged = merger.to_end();
}

/// \why the second condition: a thread that waits for a block must have said how far it is, or the one it
/// waits for would wait for it; so what a thread says is never further behind than the least pace
void Maker::pace(Line& line) {
  static_assert(kCallsOfPace < kLeastPace);
  if (line.calls++ % kStepsOfPace != 0 && calls_ - line.paced_at < kCallsOfPace) return;
  line.paced_at = calls_;
  if (line.steps.empty()) line.begins_after = calls_;
  line.steps.push_back({.what = static_cast<std::uint64_t>(Action::kPace) << kSizeBits | calls_});
}

std::uint32_t Maker::take_slot(Line& line) {
  if (!line.free_slots.empty()) {
    const std::uint32_t slot = line.free_slots.back();
    line.free_slots.pop_back();
    return slot;
  }
  turns_.push_back(0);
  return static_cast<std::uint32_t>(turns_.size() - 1);
}

Maker::Block Maker::begin_block(const Happening& happening) {
  return {take_slot(line_of(happening.thread)), happening.thread, happening.size};
}

void Maker::sample_if_due(Line& line) {
  const std::uint64_t interval = script_.call_count / kSamples + 1;
  if (calls_ % interval != 0 && calls_ != peak_call_) return;
  line.steps.push_back({.what = static_cast<std::uint64_t>(Action::kSample) << kSizeBits});
}

Action action_of(Happening::Kind kind) {
  switch (kind) {
    case Happening::Kind::kAllocate:
      return Action::kAllocate;
    case Happening::Kind::kAllocateZeroed:
      return Action::kAllocateZeroed;
    case Happening::Kind::kResize:
      return Action::kResize;
    case Happening::Kind::kFree:
      break;
  }
  return Action::kFree;
}

void Maker::add(const Happening& happening) {
  Line& line = line_of(happening.thread);
  pace(line);
  if (happening.block >= blocks_.size()) blocks_.push_back(begin_block(happening));
  const Block& block = blocks_[happening.block];
  const auto action = static_cast<std::uint64_t>(action_of(happening.kind));
  line.steps.push_back({.slot = block.slot,
                        .turn = turns_[block.slot]++,
                        .what = happening.size | action << kSizeBits |
                                static_cast<std::uint64_t>(happening.alignment_log2) << (kSizeBits + 8)});
  if (happening.kind == Happening::Kind::kFree) line_of(block.home).free_slots.push_back(block.slot);
  ++calls_;
  sample_if_due(line);
}

void Maker::assemble() {
  for (Line& line : lines_) {
    if (line.steps.empty()) continue;
    script_.threads.push_back({script_.steps.size(), line.steps.size(), line.begins_after});
    script_.steps.insert(script_.steps.end(), line.steps.begin(), line.steps.end());
    line = {};
  }
  std::sort(script_.threads.begin(), script_.threads.end(),
            [](const ScriptThread& a, const ScriptThread& b) { return a.begins_after < b.begins_after; });
  script_.head.thread_count = static_cast<std::uint32_t>(script_.threads.size());
  script_.head.slot_count = static_cast<std::uint32_t>(turns_.size());
  script_.head.step_count = script_.steps.size();
  script_.head.pace = std::max(kLeastPace, script_.call_count / kPacesOfTrace);
}

Script Maker::make() {
  find_peak();
  Merger(trace_, [this](const Happening& happening) { add(happening); }).to_end();
  assemble();
  return std::move(script_);
}

template <typename T>
void append_bytes(std::string& bytes, const T* first, std::size_t count) {
  bytes.append(reinterpret_cast<const char*>(first), count * sizeof(T));
}

}  // namespace

Script script_of(const Trace& trace, Threads threads) { return Maker(trace, threads).make(); }

std::string bytes_of(const Script& script) {
  std::string bytes;
  append_bytes(bytes, &script.head, 1);
  append_bytes(bytes, script.threads.data(), script.threads.size());
  append_bytes(bytes, script.steps.data(), script.steps.size());
  return bytes;
}

}  // namespace tarn::trace
