#include "page/memory/memory_limit.h"

#include "os/process/process.h"

namespace tarn::internal {
namespace {

// The bytes of the refused request; and a bit that no request has, where the system refused.
constexpr std::size_t kBySystem = std::size_t{1} << 63;
TARN_DEFINE_THREAD_VARIABLE(std::size_t, refused_bytes_of_thread) = 0;
std::size_t& refused_bytes() { return TARN_OF_THREAD(refused_bytes_of_thread); }

}  // namespace

constinit MemoryLimit memory_limit;

void MemoryLimit::set_limits(std::size_t soft_limit, std::size_t hard_limit) {
  os::LockGuard guard(mutex_);
  const std::size_t soft = soft_limit == 0 ? kNone : soft_limit;
  const bool is_other = soft_limit_.exchange(soft, std::memory_order_relaxed) != soft;
  hard_limit_.store(hard_limit == 0 ? kNone : hard_limit, std::memory_order_relaxed);
  note_freed();  // what was in vain may be enough now
  if (is_other) forget_crossing();
}

// A crossing is one of this limit, and told to this function.
void MemoryLimit::forget_crossing() {
  has_searched_.store(false, std::memory_order_relaxed);
  has_crossed_.store(false, std::memory_order_relaxed);
  note_rise(held());
}

bool MemoryLimit::charge_pages(std::size_t bytes, std::size_t request_bytes) {
  refused_bytes() = 0;
  if (bytes == 0) return true;
  std::size_t held = held_.load(std::memory_order_relaxed);
  do {
    if (bytes > above(hard_limit_.load(std::memory_order_relaxed), held)) {
      refused_bytes() = request_bytes;
      return false;
    }
  } while (!held_.compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
  note_rise(held + bytes);
  return true;
}

void MemoryLimit::credit(std::size_t bytes) {
  const std::size_t held = held_.fetch_sub(bytes, std::memory_order_relaxed) - bytes;
  if (has_searched_.load(std::memory_order_relaxed) || has_crossed_.load(std::memory_order_relaxed))
      [[unlikely]]
    note_fall(held);
}

bool MemoryLimit::may_fit(std::size_t bytes, std::size_t reusable) {
  const std::size_t limit = hard_limit_.load(std::memory_order_relaxed);
  if (limit == kNone) return true;
  if (bytes <= limit && above(held(), reusable) <= limit - bytes) return true;
  refused_bytes() = bytes;
  return false;
}

void MemoryLimit::note_refused_by_system(std::size_t request_bytes) {
  refused_bytes() = request_bytes | kBySystem;
}

Refusal MemoryLimit::take_refusal() {
  const std::size_t noted = refused_bytes();
  refused_bytes() = 0;
  if (noted == 0) return {};
  return {(noted & kBySystem) != 0 ? Refusal::By::kSystem : Refusal::By::kHardLimit, noted & ~kBySystem};
}

bool MemoryLimit::may_search() {
  return refusals_to_search_.fetch_add(1, std::memory_order_relaxed) + 1 >=
         refusals_per_search(vain_searches_.load(std::memory_order_relaxed),
                             was_freed_.load(std::memory_order_relaxed));
}

void MemoryLimit::begin_search() {
  searches_.fetch_add(1, std::memory_order_relaxed);
  refusals_to_search_.store(0, std::memory_order_relaxed);
}

void MemoryLimit::end_search(bool was_vain) {
  was_freed_.store(false, std::memory_order_relaxed);
  if (!was_vain) return vain_searches_.store(0, std::memory_order_relaxed);
  vain_searches_.fetch_add(1, std::memory_order_relaxed);
}

void MemoryLimit::note_crossing() {
  if (!has_crossed_.load(std::memory_order_relaxed)) events_.fetch_or(kRose, std::memory_order_relaxed);
}

void MemoryLimit::note_fall(std::size_t held) {
  const std::size_t limit = soft_limit_.load(std::memory_order_relaxed);
  if (held > limit - limit / kFallShare) return;
  has_searched_.store(false, std::memory_order_relaxed);
  has_crossed_.store(false, std::memory_order_relaxed);
}

bool MemoryLimit::begin_crossing() {
  if (has_crossed_.exchange(true, std::memory_order_relaxed)) return false;
  crossings_.fetch_add(1, std::memory_order_relaxed);
  note_fall(held());  // the last credit may have come before
  return true;
}

void MemoryLimit::note_refused_request() {
  refusals_.fetch_add(1, std::memory_order_relaxed);
  std::uint64_t told = refusal_told_ms_.load(std::memory_order_relaxed);
  const std::uint64_t now = os::clock_ms() + 1;
  if (told != 0 && now - told < kRefusalMs) return;
  if (refusal_told_ms_.compare_exchange_strong(told, now, std::memory_order_relaxed))
    events_.fetch_or(kRefused, std::memory_order_relaxed);
}

bool MemoryLimit::begin_telling() {
  const void* nobody = nullptr;
  return teller_.compare_exchange_strong(nobody, &refused_bytes(), std::memory_order_acquire);
}

void MemoryLimit::set_callback(const LimitCallback& callback) {
  os::LockGuard guard(mutex_);
  callback_ = callback;
  if (callback.function == nullptr) return;
  refusal_told_ms_.store(0, std::memory_order_relaxed);
  forget_crossing();
}

LimitCallback MemoryLimit::callback() {
  os::LockGuard guard(mutex_);
  return callback_;
}

void MemoryLimit::forget_after_fork() {
  if (teller_.load(std::memory_order_relaxed) != &refused_bytes())
    teller_.store(nullptr, std::memory_order_relaxed);
}

}  // namespace tarn::internal
