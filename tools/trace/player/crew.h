// What all replaying threads share: the script, the slots, how far each of them is, and the samples.
#pragma once
#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "trace/script.h"

namespace tarn::trace::player {

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "tarn_replay: %s\n", what);
  std::exit(1);
}

/// An array of the replaying program itself: a shared mapping, which the kernel does not count as anonymous
/// memory: what it counts are the blocks of the replayed calls, and what their allocator needs.
/// Zeros; never given back. \post ends the program if there is no memory
template <typename T>
T* shared_array(std::size_t count) {
  void* const array = mmap(nullptr, count * sizeof(T) + 1, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (array == MAP_FAILED) fail("no memory for the replay's own tables");
  return static_cast<T*>(array);
}

enum class Reading : std::uint8_t {
  kExact,  // walks all pages: /proc/self/smaps_rollup
  kQuick,  // the kernel's counters, which may lag by some pages of each processor: /proc/self/statm
};

/// Anonymous memory that is resident in the own process, read without allocating.
std::uint64_t anonymous_bytes(Reading reading);

inline double seconds_now() {
  timespec value;
  clock_gettime(CLOCK_MONOTONIC, &value);
  return static_cast<double>(value.tv_sec) + 1e-9 * static_cast<double>(value.tv_nsec);
}

/// Lets the others run while this thread waits.
class Patience {
 public:
  void wait();

 private:
  unsigned tries_ = 0;
};

struct Slot {
  void* block;
  std::uint64_t size;
  std::atomic<std::uint32_t> turn;
};

struct MemorySample {
  double seconds;
  std::uint64_t bytes;  // beyond what was there at the start
  std::int64_t live_bytes;
};

class Crew;

/// How far a thread is, and what it has found; on cache lines of its own.
struct alignas(128) Progress {
  std::atomic<std::uint64_t> place;  // steps of all threads before its next one, about; kDone
  std::atomic<std::int64_t> live_bytes;
  std::uint64_t failed_calls;
  std::uint64_t latency_count;
  std::uint32_t* latencies;  // ns

  static constexpr std::uint64_t kDone = ~std::uint64_t{0};
};

/// A thread's steps, of which a part is mapped at a time: a script may be larger than the memory there is.
class StepWindow {
 public:
  StepWindow(const Crew& crew, std::uint32_t thread);
  ~StepWindow() { unmap(); }
  StepWindow(const StepWindow&) = delete;
  StepWindow& operator=(const StepWindow&) = delete;

  /// nullptr behind the last one.
  const Step* next() {
    if (next_ == end_ && !map_more()) [[unlikely]]
      return nullptr;
    return next_++;
  }

 private:
  static constexpr std::uint64_t kBytes = std::uint64_t{1} << 20;

  bool map_more();
  void unmap();

  const int file_;
  std::uint64_t at_, end_of_all_;  // in the file, bytes
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  const Step *next_ = nullptr, *end_ = nullptr;
};

class Crew {
 public:
  explicit Crew(const char* script_path);

  const ScriptHead& head() const { return *head_; }
  const ScriptThread& thread(std::uint32_t index) const { return threads_[index]; }
  int script_file() const { return script_file_; }
  /// Where the steps begin in the file.
  std::uint64_t steps_start() const {
    return sizeof(ScriptHead) + head_->thread_count * sizeof(ScriptThread);
  }
  Slot& slot(std::uint32_t index) { return slots_[index]; }
  Progress& progress(std::uint32_t index) { return progress_[index]; }

  /// From here on time runs and memory counts.
  void start();
  /// Until no thread is further behind `place` than the script lets it.
  void wait_for_others(std::uint64_t place);
  /// Which thread is not started yet; kDone when all are.
  void set_next_start(std::uint64_t place) { next_start_.store(place, std::memory_order_release); }
  void take_sample();

  std::uint32_t sample_count() const { return sample_count_; }
  const MemorySample& sample(std::uint32_t index) const { return samples_[index]; }
  /// Without the time that one thread spent on samples.
  double seconds_since_start() const { return seconds_now() - started_ - sampling_seconds_; }
  std::uint64_t bytes_at_start() const { return bytes_at_start_; }

 private:
  bool is_alone() const { return head_->thread_count <= 1; }
  Reading reading() const { return is_alone() ? Reading::kExact : Reading::kQuick; }
  std::uint64_t slowest_place();
  std::int64_t live_bytes() const;

  const ScriptHead* head_ = nullptr;
  const ScriptThread* threads_ = nullptr;
  int script_file_ = -1;
  Slot* slots_ = nullptr;
  Progress* progress_ = nullptr;
  MemorySample* samples_ = nullptr;
  std::uint32_t most_samples_ = 0;
  std::uint32_t sample_count_ = 0;
  std::atomic<bool> is_sampling_{false};
  std::atomic<std::uint32_t> first_running_{0};  // all before it have ended
  std::atomic<std::uint64_t> next_start_{0};
  double started_ = 0;
  double sampling_seconds_ = 0;
  std::uint64_t bytes_at_start_ = 0;
};

// -- One thread's steps, carried out ---------------------------------------------------------------------

enum class Checks : std::uint8_t { kNone, kContents };

/// \post ends the program with a line if a block is not what it must be
void work(Crew& crew, std::uint32_t thread, Checks checks);

/// The contents of all blocks that are still live. \pre no thread works any more
void check_live_blocks(Crew& crew);

/// What a thread's samples of calls need; before work begins.
void prepare_latencies(Crew& crew, std::uint32_t thread);

}  // namespace tarn::trace::player
