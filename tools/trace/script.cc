// Slots, turns and the places of samples.
#include "trace/script.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

namespace tarn::trace {
namespace {

constexpr std::uint64_t kSamples = 400;       // of memory, over the whole
constexpr std::uint64_t kStepsOfPace = 64;    // of a thread, between two looks at how far the others are
constexpr std::uint64_t kCallsOfPace = 512;   // of all threads
constexpr std::uint64_t kLeastPace = 1024;    // steps
constexpr std::uint64_t kPacesOfTrace = 200;  // a thread may be ahead by this part of all steps
constexpr unsigned kUsualAlignmentLog2 = 4;

void write_at(int file, std::uint64_t at, const void* from, std::size_t bytes) {
  for (const char* next = static_cast<const char*>(from); bytes != 0;) {
    const ssize_t count = pwrite(file, next, bytes, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw std::system_error(errno, std::generic_category(), "the script cannot be written");
    next += count;
    at += static_cast<std::uint64_t>(count);
    bytes -= static_cast<std::size_t>(count);
  }
}

/// Lets those happenings through that are in a window.
class WindowFilter {
 public:
  explicit WindowFilter(const Window& window) : window_(window) {}

  bool is_over() const { return seen_ >= window_.until; }
  /// \returns whether it counts; a resize of a block from before the window is an allocation then.
  bool take(Happening& happening) {
    if (happening.block >= is_inside_.size()) is_inside_.resize(happening.block + 1);
    const bool is_now = seen_ >= window_.from && seen_ < window_.until;
    ++seen_;
    const bool is_begun =
        happening.kind == Happening::Kind::kAllocate || happening.kind == Happening::Kind::kAllocateZeroed;
    if (is_begun) is_inside_[happening.block] = is_now;
    if (!is_now || is_inside_[happening.block]) return is_now;
    if (happening.kind == Happening::Kind::kFree) return false;
    happening.kind = Happening::Kind::kAllocate;
    return is_inside_[happening.block] = true;
  }

 private:
  const Window window_;
  std::uint64_t seen_ = 0;
  std::vector<bool> is_inside_;  // of each block that is live
};

/// When the steps of a replayed thread say how far they are.
struct Paces {
  std::uint64_t calls = 0, paced_at = 0;

  /// \param all calls of all threads before this one
  /// \why the second condition: a thread that waits for a block must have said how far it is, or the one it
  /// waits for would wait for it; so what a thread says is never further behind than the least pace
  bool is_due(std::uint64_t all) {
    static_assert(kCallsOfPace < kLeastPace);
    if (calls++ % kStepsOfPace != 0 && all - paced_at < kCallsOfPace) return false;
    paced_at = all;
    return true;
  }
};

/// The steps of all threads, each thread's in a part of the file of its own.
class StepWriter {
 public:
  explicit StepWriter(int file) : file_(file) {}

  /// \param start in the file, of each thread's steps
  void begin(std::vector<std::uint64_t> starts) {
    parts_.resize(starts.size());
    for (std::size_t i = 0; i < starts.size(); ++i) parts_[i].end = starts[i];
  }
  void add(std::size_t thread, const Step& step) {
    Part& part = parts_[thread];
    part.waiting.push_back(step);
    ++part.count;
    if (part.waiting.size() == kMostWaiting) flush(part);
    if (++waiting_ > kMostWaitingOfAll) flush_all();
  }
  std::uint64_t count(std::size_t thread) const { return parts_[thread].count; }
  void flush_all() {
    for (Part& part : parts_) flush(part);
    waiting_ = 0;
  }

 private:
  static constexpr std::size_t kMostWaiting = 4096, kMostWaitingOfAll = std::size_t{1} << 20;
  struct Part {
    std::vector<Step> waiting;
    std::uint64_t end = 0;    // of what is written, in the file
    std::uint64_t count = 0;  // written or waiting
  };

  void flush(Part& part) {
    write_at(file_, part.end, part.waiting.data(), part.waiting.size() * sizeof(Step));
    part.end += part.waiting.size() * sizeof(Step);
    part.waiting.clear();
  }

  const int file_;
  std::vector<Part> parts_;
  std::size_t waiting_ = 0;
};

class Maker {
 public:
  Maker(EventSource& source, Threads threads, const Window& window, int file)
      : source_(source), threads_(threads), window_(window), file_(file), writer_(file) {}
  Script make();

 private:
  struct Block {
    std::uint32_t slot = 0;
    std::uint32_t home = 0;  // the thread that has its slot
    std::uint64_t size = 0;
    bool is_live = false, is_aligned = false;
  };
  struct Line {  // of one replayed thread
    Paces paces;
    std::vector<std::uint32_t> free_slots;
    std::uint64_t most_steps = 0;
    std::uint64_t first_step = 0, begins_after = 0;
  };

  template <typename Take>
  MergeCounts for_each(Take take);
  void measure();
  void count(const Happening& happening);
  void place_lines();
  void add(const Happening& happening);
  std::size_t line_of(std::uint32_t thread) const { return threads_ == Threads::kOne ? 0 : thread; }
  std::uint32_t take_slot(Line& line);
  void sample_if_due(std::size_t line);
  void write_head();

  EventSource& source_;
  const Threads threads_;
  const Window window_;
  const int file_;
  StepWriter writer_;
  Script script_;
  std::vector<Line> lines_;
  std::vector<std::size_t> order_;      // of the lines that have steps, by their begin
  std::vector<Block> blocks_;           // live ones, by their number
  std::vector<std::uint32_t> turns_;    // of slots
  std::uint64_t bytes_ = 0, live_ = 0;  // while it is measured
  std::uint64_t peak_call_ = 0;
  std::uint64_t calls_ = 0;
};

template <typename Take>
MergeCounts Maker::for_each(Take take) {
  WindowFilter filter(window_);
  Merger* running = nullptr;
  Merger merger(source_, [&](Happening happening) {
    if (filter.take(happening)) take(happening);
    if (filter.is_over()) running->stop();
  });
  running = &merger;
  return merger.to_end();
}

/// The first run of the merge, for its figures alone.
void Maker::measure() {
  lines_.resize(threads_ == Threads::kOne ? 1 : source_.thread_count());
  script_.merged = for_each([this](const Happening& happening) { count(happening); });
  blocks_.clear();
  for (Line& line : lines_) line.paces = {};
}

void Maker::count(const Happening& happening) {
  Line& line = lines_[line_of(happening.thread)];
  if (line.paces.is_due(script_.call_count)) {
    if (line.most_steps == 0) line.begins_after = script_.call_count;
    ++line.most_steps;
  }
  ++line.most_steps;
  ++script_.call_count;
  if (happening.block >= blocks_.size()) blocks_.resize(happening.block + 1);
  Block& block = blocks_[happening.block];
  live_ += happening.kind != Happening::Kind::kFree && happening.kind != Happening::Kind::kResize ? 1 : 0;
  live_ -= happening.kind == Happening::Kind::kFree ? 1 : 0;
  bytes_ = bytes_ - block.size + happening.size;
  block.size = happening.size;
  script_.largest_bytes = std::max(script_.largest_bytes, happening.size);
  script_.peak_live_blocks = std::max(script_.peak_live_blocks, live_);
  if (bytes_ <= script_.peak_live_bytes) return;
  script_.peak_live_bytes = bytes_;
  peak_call_ = script_.call_count;
}

/// Each line has room for its steps, and for samples: behind each call there is one at most.
void Maker::place_lines() {
  for (std::size_t i = 0; i < lines_.size(); ++i)
    if (lines_[i].most_steps != 0) order_.push_back(i);
  std::sort(order_.begin(), order_.end(),
            [this](std::size_t a, std::size_t b) { return lines_[a].begins_after < lines_[b].begins_after; });
  std::uint64_t next = 0;
  for (const std::size_t i : order_) {
    lines_[i].first_step = next;
    next += lines_[i].most_steps + std::min(lines_[i].most_steps, kSamples + 2);
  }
  script_.head.thread_count = static_cast<std::uint32_t>(order_.size());
  script_.head.step_count = next;
  const std::uint64_t steps_start = sizeof(ScriptHead) + order_.size() * sizeof(ScriptThread);
  std::vector<std::uint64_t> starts(lines_.size());
  for (const std::size_t i : order_) starts[i] = steps_start + lines_[i].first_step * sizeof(Step);
  writer_.begin(std::move(starts));
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

void Maker::sample_if_due(std::size_t line) {
  const std::uint64_t interval = script_.call_count / kSamples + 1;
  if (calls_ % interval != 0 && calls_ != peak_call_) return;
  writer_.add(line, {.what = static_cast<std::uint64_t>(Action::kSample) << kSizeBits});
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
  const std::size_t at = line_of(happening.thread);
  if (lines_[at].paces.is_due(calls_))
    writer_.add(at, {.what = static_cast<std::uint64_t>(Action::kPace) << kSizeBits | calls_});
  const Action action = action_of(happening.kind);
  if (happening.block >= blocks_.size()) blocks_.resize(happening.block + 1);
  Block& block = blocks_[happening.block];
  if (action == Action::kAllocate || action == Action::kAllocateZeroed)
    block = {.slot = take_slot(lines_[at]), .home = happening.thread};
  block.size = happening.size;
  block.is_live = action != Action::kFree;
  block.is_aligned = happening.alignment_log2 > kUsualAlignmentLog2;
  writer_.add(at, {.slot = block.slot,
                   .turn = turns_[block.slot]++,
                   .what = happening.size | static_cast<std::uint64_t>(action) << kSizeBits |
                           static_cast<std::uint64_t>(happening.alignment_log2) << (kSizeBits + 8)});
  if (action == Action::kFree) lines_[line_of(block.home)].free_slots.push_back(block.slot);
  if (++calls_ == peak_call_)
    for (const Block& one : blocks_)
      if (one.is_live && !one.is_aligned) ++script_.sizes_at_peak[one.size];
  sample_if_due(at);
}

void Maker::write_head() {
  std::vector<ScriptThread> threads;
  for (const std::size_t i : order_)
    threads.push_back({lines_[i].first_step, writer_.count(i), lines_[i].begins_after});
  script_.head.slot_count = static_cast<std::uint32_t>(turns_.size());
  script_.head.pace = std::max(kLeastPace, script_.call_count / kPacesOfTrace);
  write_at(file_, 0, &script_.head, sizeof script_.head);
  write_at(file_, sizeof script_.head, threads.data(), threads.size() * sizeof(ScriptThread));
  const std::uint64_t bytes =
      sizeof(ScriptHead) + threads.size() * sizeof(ScriptThread) + script_.head.step_count * sizeof(Step);
  if (ftruncate(file_, static_cast<off_t>(bytes)) != 0)
    throw std::system_error(errno, std::generic_category(), "the script cannot be written");
}

Script Maker::make() {
  measure();
  place_lines();
  for_each([this](const Happening& happening) { add(happening); });
  writer_.flush_all();
  write_head();
  return std::move(script_);
}

}  // namespace

Script write_script(EventSource& source, Threads threads, const Window& window, int file) {
  return Maker(source, threads, window, file).make();
}

}  // namespace tarn::trace
