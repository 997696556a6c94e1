// The loop over steps.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "trace/player/crew.h"

namespace tarn::trace::player {
namespace {

// -- What is written to blocks ---------------------------------------------------------------------------
//
// A program writes what it asks for, so each page of a block becomes resident: the first and the last word
// are a stamp of the block's own, and of each page between one byte is written. Blocks of calloc are written
// too: most are, and which are not the trace does not tell.

inline std::uint64_t stamp_of(std::uint32_t slot) { return (slot + 1) * 0x9e3779b97f4a7c15ull; }

/// Two stamps would overlap in less.
inline bool has_two_stamps(std::size_t size) { return size >= 2 * sizeof(std::uint64_t); }
inline const char* last_stamp(const void* block, std::size_t size) {
  return static_cast<const char*>(block) + size - sizeof(std::uint64_t);
}

/// A block is stamped where it has room for a word.
inline void write_content(void* block, std::size_t size, std::uint32_t slot, std::size_t page_bytes) {
  auto* const bytes = static_cast<unsigned char*>(block);
  const std::uint64_t stamp = stamp_of(slot);
  if (size < sizeof(stamp)) {
    std::memset(bytes, static_cast<int>(stamp & 0xff), size);
    return;
  }
  for (std::size_t at = page_bytes; at + sizeof(stamp) < size; at += page_bytes) bytes[at] = 1;
  std::memcpy(bytes, &stamp, sizeof(stamp));
  if (has_two_stamps(size)) std::memcpy(const_cast<char*>(last_stamp(block, size)), &stamp, sizeof(stamp));
}

/// Whether the first word is still there, and the last if `size` is what was written.
inline bool is_content_kept(const void* block, std::size_t size, std::uint32_t slot) {
  const std::uint64_t stamp = stamp_of(slot);
  if (size < sizeof(stamp)) return size == 0 || *static_cast<const unsigned char*>(block) == (stamp & 0xff);
  return std::memcmp(block, &stamp, sizeof(stamp)) == 0 &&
         (!has_two_stamps(size) || std::memcmp(last_stamp(block, size), &stamp, sizeof(stamp)) == 0);
}

inline bool is_beginning_kept(const void* block, std::size_t size, std::uint32_t slot) {
  return size < sizeof(std::uint64_t) || is_content_kept(block, sizeof(std::uint64_t), slot);
}

// -- The loop --------------------------------------------------------------------------------------------

constexpr std::uint64_t kCallsOfLatency = 64;  // every so many calls, one is timed

void require_kept(bool is_kept) {
  if (!is_kept) fail("a block's contents changed: blocks overlap, or the allocator wrote into one");
}

class Worker {
 public:
  Worker(Crew& crew, std::uint32_t thread, Checks checks)
      : crew_(crew), progress_(crew.progress(thread)), checks_(checks), page_bytes_(crew.head().page_bytes) {}

  void take(const Step& step);

 private:
  void call(const Step& step, Slot& slot);
  void* called(const Step& step, void* block) const;
  void* timed(const Step& step, void* block);
  void end(const Step& step, Slot& slot);
  void check_before(const Step& step, const Slot& slot) const;
  void check_after(const Step& step, const void* block, std::uint64_t old_size) const;
  void count_live(std::int64_t change) {
    progress_.live_bytes.store(progress_.live_bytes.load(std::memory_order_relaxed) + change,
                               std::memory_order_relaxed);
  }

  Crew& crew_;
  Progress& progress_;
  const Checks checks_;
  const std::uint64_t page_bytes_;
  std::uint64_t calls_ = 0;
};

void* aligned_block(std::uint64_t size, unsigned alignment_log2) {
  void* block = nullptr;
  const std::size_t alignment = std::max(sizeof(void*), std::size_t{1} << alignment_log2);
  return posix_memalign(&block, alignment, size) == 0 ? block : nullptr;
}

void* Worker::called(const Step& step, void* block) const {
  switch (step.action()) {
    case Action::kAllocateZeroed:
      return std::calloc(1, step.size());
    case Action::kResize:
      return std::realloc(block, step.size() == 0 ? 1 : step.size());
    case Action::kFree:
      std::free(block);
      return nullptr;
    default:
      return step.alignment_log2() != 0 ? aligned_block(step.size(), step.alignment_log2())
                                        : std::malloc(step.size());
  }
}

void* Worker::timed(const Step& step, void* block) {
  if (calls_++ % kCallsOfLatency != 0) return called(step, block);
  const double before = seconds_now();
  void* const result = called(step, block);
  const double nanoseconds = (seconds_now() - before) * 1e9;
  progress_.latencies[progress_.latency_count++] = static_cast<std::uint32_t>(std::min(nanoseconds, 4e9));
  return result;
}

void Worker::check_before(const Step& step, const Slot& slot) const {
  const bool has_content = step.action() == Action::kFree || step.action() == Action::kResize;
  if (has_content && slot.block != nullptr) require_kept(is_content_kept(slot.block, slot.size, step.slot));
}

void Worker::check_after(const Step& step, const void* block, std::uint64_t old_size) const {
  if (step.action() == Action::kResize)
    require_kept(is_beginning_kept(block, std::min(old_size, step.size()), step.slot));
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  if (address % (std::uint64_t{1} << step.alignment_log2()) != 0) fail("a block is not aligned as asked for");
}

void Worker::call(const Step& step, Slot& slot) {
  if (checks_ == Checks::kContents) check_before(step, slot);
  void* const block = timed(step, slot.block);
  if (step.action() != Action::kFree && block == nullptr) {
    ++progress_.failed_calls;  // the old block, if there is one, stays
    return;
  }
  const std::uint64_t old_size = slot.block != nullptr ? slot.size : 0;
  const std::uint64_t size = step.action() == Action::kFree ? 0 : step.size();
  if (block != nullptr && checks_ == Checks::kContents) check_after(step, block, old_size);
  slot.block = block;
  slot.size = size;
  if (block != nullptr) write_content(block, size, step.slot, page_bytes_);
  count_live(static_cast<std::int64_t>(size) - static_cast<std::int64_t>(old_size));
}

void Worker::take(const Step& step) {
  if (step.action() == Action::kPace) {
    progress_.place.store(step.size(), std::memory_order_release);
    crew_.wait_for_others(step.size());
    return;
  }
  if (step.action() == Action::kSample) {
    crew_.take_sample();
    return;
  }
  Slot& slot = crew_.slot(step.slot);
  for (Patience patience; slot.turn.load(std::memory_order_acquire) != step.turn;) patience.wait();
  call(step, slot);
  slot.turn.store(step.turn + 1, std::memory_order_release);
}

}  // namespace

void prepare_latencies(Crew& crew, std::uint32_t thread) {
  crew.progress(thread).latencies =
      shared_array<std::uint32_t>(crew.thread(thread).step_count / kCallsOfLatency + 1);
}

void work(Crew& crew, std::uint32_t thread, Checks checks) {
  Worker worker(crew, thread, checks);
  StepWindow steps(crew, thread);
  while (const Step* const step = steps.next()) worker.take(*step);
  crew.progress(thread).place.store(Progress::kDone, std::memory_order_release);
}

void check_live_blocks(Crew& crew) {
  for (std::uint32_t i = 0; i < crew.head().slot_count; ++i)
    if (const Slot& slot = crew.slot(i); slot.block != nullptr)
      require_kept(is_content_kept(slot.block, slot.size, i));
}

}  // namespace tarn::trace::player
