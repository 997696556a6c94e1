// The script mapped, pace and samples.
#include "trace/player/crew.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace tarn::trace::player {
namespace {

constexpr std::size_t kTextBytes = 4096;

/// \returns false if there is no such file
bool read_text(const char* path, char (&text)[kTextBytes]) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t count = read(file, text, kTextBytes - 1);
  close(file);
  text[count > 0 ? count : 0] = '\0';
  return count > 0;
}

std::uint64_t quick_reading() {
  char text[kTextBytes];
  if (!read_text("/proc/self/statm", text)) fail("cannot read /proc/self/statm");
  char* next = text;
  std::strtoull(next, &next, 10);
  const std::uint64_t resident = std::strtoull(next, &next, 10);
  const std::uint64_t of_files = std::strtoull(next, &next, 10);
  return (resident - of_files) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

constexpr std::uint32_t kMostSamples = 1 << 12;

/// A part of the script, which begins anywhere.
const char* mapped_part(int file, std::uint64_t start, std::size_t bytes) {
  const std::uint64_t before = start % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  void* const text = mmap(nullptr, before + bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file,
                          static_cast<off_t>(start - before));
  if (text == MAP_FAILED) fail("cannot map the script");
  return static_cast<const char*>(text) + before;
}

}  // namespace

std::uint64_t anonymous_bytes(Reading reading) {
  constexpr char kField[] = "\nAnonymous:";
  char text[kTextBytes];
  if (reading == Reading::kQuick || !read_text("/proc/self/smaps_rollup", text)) return quick_reading();
  const char* const field = std::strstr(text, kField);
  return field == nullptr ? quick_reading() : std::strtoull(field + sizeof(kField) - 1, nullptr, 10) * 1024;
}

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

StepWindow::StepWindow(const Crew& crew, std::uint32_t thread)
    : file_(crew.script_file()),
      at_(crew.steps_start() + crew.thread(thread).first_step * sizeof(Step)),
      end_of_all_(at_ + crew.thread(thread).step_count * sizeof(Step)) {
  map_more();
}

void StepWindow::unmap() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
  mapped_ = nullptr;
}

bool StepWindow::map_more() {
  unmap();
  const std::uint64_t bytes = std::min(kBytes, end_of_all_ - at_);
  if (bytes == 0) return false;
  const char* const steps = mapped_part(file_, at_, bytes);
  next_ = reinterpret_cast<const Step*>(steps);
  end_ = next_ + bytes / sizeof(Step);
  at_ += bytes;
  const auto address = reinterpret_cast<std::uintptr_t>(steps);
  const std::uintptr_t start = address - address % static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  mapped_ = reinterpret_cast<void*>(start);
  mapped_bytes_ = address + bytes - start;
  return true;
}

Crew::Crew(const char* script_path) {
  script_file_ = open(script_path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (script_file_ < 0 || fstat(script_file_, &info) != 0) fail("cannot read the script");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size < sizeof(ScriptHead)) fail("this is no script");
  head_ = reinterpret_cast<const ScriptHead*>(mapped_part(script_file_, 0, sizeof(ScriptHead)));
  if (head_->magic != ScriptHead::kMagic) fail("this is no script");
  if (size != steps_start() + head_->step_count * sizeof(Step)) fail("the script is cut");
  threads_ = reinterpret_cast<const ScriptThread*>(
      mapped_part(script_file_, sizeof(ScriptHead), head_->thread_count * sizeof(ScriptThread)));
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
