// The script mapped, pace and samples.
#include "trace/player/crew.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "trace/player/shared_array.h"

namespace tarn::trace::player {
namespace {

constexpr std::uint32_t kMostSamples = 1 << 12;

const char* mapped_file(const char* path, std::size_t& size) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0) fail("cannot read the script");
  size = static_cast<std::size_t>(info.st_size);
  void* const text = mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
  if (text == MAP_FAILED) fail("cannot map the script");
  close(file);
  return static_cast<const char*>(text);
}

}  // namespace

void Patience::wait() {
  constexpr unsigned kSpins = 64, kYields = 1024;
  ++tries_;
  if (tries_ < kSpins) return;
  if (tries_ < kYields) {
    sched_yield();
    return;
  }
  const timespec moment = {0, 50'000};
  nanosleep(&moment, nullptr);
}

Crew::Crew(const char* script_path) {
  std::size_t size = 0;
  const char* const text = mapped_file(script_path, size);
  head_ = reinterpret_cast<const ScriptHead*>(text);
  if (size < sizeof(ScriptHead) || head_->magic != ScriptHead::kMagic) fail("this is no script");
  threads_ = reinterpret_cast<const ScriptThread*>(head_ + 1);
  steps_ = reinterpret_cast<const Step*>(threads_ + head_->thread_count);
  if (reinterpret_cast<const char*>(steps_ + head_->step_count) != text + size) fail("the script is cut");
  slots_ = shared_array<Slot>(head_->slot_count);
  progress_ = shared_array<Progress>(head_->thread_count);
  samples_ = shared_array<MemorySample>(kMostSamples);
  most_samples_ = kMostSamples;
  for (std::uint32_t i = 0; i < head_->thread_count; ++i)
    progress_[i].place.store(threads_[i].begins_after, std::memory_order_relaxed);
}

void Crew::start() {
  bytes_at_start_ = anonymous_bytes(reading());
  started_ = seconds_now();
}

std::uint64_t Crew::slowest_place() {
  std::uint32_t first = first_running_.load(std::memory_order_relaxed);
  while (first < head_->thread_count &&
         progress_[first].place.load(std::memory_order_acquire) == Progress::kDone)
    ++first;
  first_running_.store(first, std::memory_order_relaxed);
  std::uint64_t slowest = next_start_.load(std::memory_order_acquire);
  // Threads stand in the order of their beginnings: from the next one to start on, none is further behind.
  for (std::uint32_t i = first; i < head_->thread_count && threads_[i].begins_after < slowest; ++i)
    slowest = std::min(slowest, progress_[i].place.load(std::memory_order_acquire));
  return slowest;
}

void Crew::wait_for_others(std::uint64_t place) {
  if (is_alone()) return;
  for (Patience patience; slowest_place() < place - std::min(place, head_->pace);) patience.wait();
}

std::int64_t Crew::live_bytes() const {
  std::int64_t sum = 0;
  for (std::uint32_t i = 0; i < head_->thread_count; ++i)
    sum += progress_[i].live_bytes.load(std::memory_order_relaxed);
  return sum;
}

void Crew::take_sample() {
  if (is_sampling_.exchange(true, std::memory_order_acquire)) return;
  const double before = seconds_now();
  if (sample_count_ < most_samples_) {
    const std::uint64_t bytes = anonymous_bytes(reading());
    samples_[sample_count_++] = {before - started_ - sampling_seconds_,
                                 bytes - std::min(bytes, bytes_at_start_), live_bytes()};
  }
  if (is_alone()) sampling_seconds_ += seconds_now() - before;
  is_sampling_.store(false, std::memory_order_release);
}

}  // namespace tarn::trace::player
