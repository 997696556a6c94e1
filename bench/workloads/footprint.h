// Memory over time: a process takes 64 MiB in blocks of 16 to 1024 bytes, frees seven of eight in random
// order, waits, frees the rest and waits again without a call to the allocator. The row's figure is what is
// resident at the end; beside it stands the whole course, as pairs of milliseconds and KiB.
#pragma once
#include <time.h>

#include <cstdio>
#include <utility>

#include "clock.h"
#include "contestant.h"
#include "random.h"
#include "resident.h"
#include "table.h"
#include "use.h"

namespace tarn::bench::footprint {

inline constexpr std::size_t kLiveBytes = 64 * 1024 * 1024;
inline constexpr std::size_t kSmallest = 16;
inline constexpr std::size_t kLargest = 1024;
inline constexpr std::size_t kBlocks = 2 * kLiveBytes / (kSmallest + kLargest);
inline constexpr std::size_t kSteps = 12;  // samples of each phase
inline constexpr double kFirstPauseSeconds = 0.5;
inline constexpr double kLastPauseSeconds = 3;

class Course {
 public:
  Course() : first_ns_(now_ns()) { sample(); }
  void sample() {
    const double ms = static_cast<double>(now_ns() - first_ns_) * 1e-6;
    const int added = std::snprintf(samples_.text + length_, sizeof samples_.text - length_, "%s[%.1f,%ld]",
                                    length_ == 0 ? ",\"timeline\":[" : ",", ms, resident_memory().now_kib);
    length_ += static_cast<std::size_t>(added);
  }
  const Extra& text() {
    std::snprintf(samples_.text + length_, sizeof samples_.text - length_, "]");
    return samples_;
  }

 private:
  std::uint64_t first_ns_;
  Extra samples_ = {};
  std::size_t length_ = 0;
};

template <class Api>
class Process {
 public:
  Process() : blocks_(kBlocks) {
    for (void*& block : blocks_) block = nullptr;
  }

  void grow(Course& course) {
    Random sizes(1);
    for (std::size_t i = 0; i < kBlocks; ++i) {
      blocks_[i] = allocate_used<Api>(sizes.between(kSmallest, kLargest));
      if ((i + 1) % (kBlocks / kSteps) == 0) course.sample();
    }
  }
  void shuffle() {
    Random order(2);
    for (std::size_t i = kBlocks - 1; i > 0; --i) std::swap(blocks_[i], blocks_[order.between(0, i)]);
  }
  void free_between(std::size_t first, std::size_t end, Course& course) {
    for (std::size_t i = first; i < end; ++i) {
      Api::free(blocks_[i]);
      if ((i + 1) % (kBlocks / kSteps) == 0) course.sample();
    }
  }

 private:
  Table<void*> blocks_;
};

inline void wait(double ns, Course& course) {
  const auto step_ns = static_cast<std::uint64_t>(ns / kSteps);
  const timespec step = {static_cast<time_t>(step_ns / 1'000'000'000u),
                         static_cast<long>(step_ns % 1'000'000'000u)};
  for (std::size_t i = 0; i < kSteps; ++i) {
    nanosleep(&step, nullptr);
    course.sample();
  }
}

template <class Api>
void run(Session& session) {
  const Row row = {.temperature = Temperature::kCold, .metric = "idle_rss_bytes"};
  if (!session.enter("footprint") || !session.wants(row)) return;
  Process<Api> process;
  Course course;
  process.grow(course);
  process.shuffle();
  process.free_between(0, kBlocks / 8 * 7, course);
  wait(session.budget_ns(kFirstPauseSeconds), course);
  process.free_between(kBlocks / 8 * 7, kBlocks, course);
  wait(session.budget_ns(kLastPauseSeconds), course);
  session.report(row, 1024.0 * static_cast<double>(resident_memory().now_kib), {kBlocks}, course.text());
}

}  // namespace tarn::bench::footprint
