// The memory that the library holds from the system, and the program's two limits of it.
//
// Held are: pages in use, touched or not; free pages that are backed; and what was cut of the memory for
// records. Not held are: addresses without memory, free pages that were given back, and the tables that find
// a page's span (0.02 % of the pages). The page cache charges a page when it hands it out without memory
// behind it, and credits it when the page is free and has none; so a page that is freed and taken again
// changes nothing here.
//
// Above the soft limit free memory goes back first; if that is not enough, the program is told, once until
// `held` has fallen by a sixteenth of the limit. Beyond the hard limit a charge for pages is refused. One for
// records never is: without records nothing could be freed. Callers give memory back and tell the program at
// doors where no lock is held (general/options/memory_limits.h).
//
// Invariant: held == bytes of used pages + dirty pages + pages being purged + records ever cut; a charge for
// pages is granted only if held <= hard limit then.
// Threads: any, without a lock; set_limits() and set_callback() take one.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/units.h"
#include "os/locks/lock_rank.h"
#include "tarn/limits.h"

namespace tarn::internal {

/// What refused a thread's last request.
struct Refusal {
  enum class By : std::uint8_t { kNobody, kHardLimit, kSystem };
  By by = By::kNobody;
  std::size_t bytes = 0;  // what the request takes in all
};

/// How many refusals to let pass before the next search for memory to give back: a program that stays at its
/// limit shall not pay for a search at each. \param vain_searches in a row, until now.
constexpr std::uint32_t refusals_per_search(std::uint32_t vain_searches, bool was_freed_since) {
  constexpr std::uint32_t kAtOnce = 4, kMostWhileFreed = 64, kMost = 256;
  if (vain_searches == 0) return 1;
  if (!was_freed_since) return kMost;
  if (vain_searches <= kAtOnce) return 1;
  return vain_searches - kAtOnce < 6 ? 1u << (vain_searches - kAtOnce) : kMostWhileFreed;
}

struct LimitCallback {
  tarn_limit_callback function;  // nullptr: none
  void* context;
};

class MemoryLimit {
 public:
  /// Sets both limits, in bytes; 0: none. What is held already may exceed them.
  void set_limits(std::size_t soft_limit, std::size_t hard_limit);
  std::size_t soft_limit() const { return shown(soft_limit_.load(std::memory_order_relaxed)); }
  std::size_t hard_limit() const { return shown(hard_limit_.load(std::memory_order_relaxed)); }

  std::size_t held() const { return held_.load(std::memory_order_relaxed); }
  /// \returns by how much a limit is exceeded; 0: it is not.
  std::size_t above_soft_limit() const { return above(held(), soft_limit_.load(std::memory_order_relaxed)); }
  std::size_t above_hard_limit() const { return above(held(), hard_limit_.load(std::memory_order_relaxed)); }
  std::size_t room() const { return above(hard_limit_.load(std::memory_order_relaxed), held()); }

  /// Charges pages that get memory. \returns false when they would exceed the hard limit.
  /// \param request_bytes what the request takes in all, of which other pages have memory: as much must fit
  /// for sure, since giving free pages back may give back these.
  [[nodiscard]] bool charge_pages(std::size_t bytes, std::size_t request_bytes);
  /// Charges memory of records; also beyond the limit.
  void charge_records(std::size_t bytes) {
    note_rise(held_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
  }
  void credit(std::size_t bytes);

  /// Whether `bytes` more fit, if no more than `reusable` of them come from free pages that have memory.
  /// What cannot fit need not look for pages. Notes a refusal.
  [[nodiscard]] bool may_fit(std::size_t bytes, std::size_t reusable);
  /// Notes that the system refused memory for the calling thread's request, or for its records.
  static void note_refused_by_system(std::size_t request_bytes);
  /// \returns what refused the calling thread's last request. Forgets the refusal.
  static Refusal take_refusal();

  /// Blocks or pages were freed: a search for free memory may find some. \cost a load of a line that is
  /// rarely written.
  void note_freed() {
    if (!was_freed_.load(std::memory_order_relaxed)) [[unlikely]]
      was_freed_.store(true, std::memory_order_relaxed);
  }
  /// Counts a refusal. \returns whether to search for memory to give back.
  bool may_search();
  void begin_search();
  /// \param was_vain it found less than was missing.
  void end_search(bool was_vain);

  // What the program is to be told.

  enum Event : std::uint32_t { kRose = 1, kRefused = 2 };
  bool has_events() const { return events_.load(std::memory_order_relaxed) != 0; }
  std::uint32_t take_events() { return events_.exchange(0, std::memory_order_relaxed); }
  /// A request was refused at the hard limit: counts it; the program is to be told once a second.
  void note_refused_request();
  /// Both are true once, until held has fallen by a sixteenth of the soft limit.
  bool begin_search_above_soft_limit() { return !has_searched_.exchange(true, std::memory_order_relaxed); }
  bool begin_crossing();

  /// One thread tells at a time, and not from inside the program's function. \returns whether the calling
  /// thread is the one.
  bool begin_telling();
  void end_telling() { teller_.store(nullptr, std::memory_order_release); }
  /// A soft limit that is exceeded now is told to the function at the next door.
  void set_callback(const LimitCallback& callback);
  LimitCallback callback();

  /// In the child: a thread that told is gone.
  void forget_after_fork();

  std::size_t crossings() const { return crossings_.load(std::memory_order_relaxed); }
  std::size_t refusals() const { return refusals_.load(std::memory_order_relaxed); }
  std::size_t searches() const { return searches_.load(std::memory_order_relaxed); }

 private:
  friend class ObservedLayout;

  static constexpr std::size_t kNone = SIZE_MAX;
  static constexpr std::size_t kFallShare = 16;
  static constexpr std::uint64_t kRefusalMs = 1000;

  static std::size_t shown(std::size_t limit) { return limit == kNone ? 0 : limit; }
  static std::size_t above(std::size_t bytes, std::size_t limit) { return bytes > limit ? bytes - limit : 0; }
  void note_rise(std::size_t held) {
    if (held > soft_limit_.load(std::memory_order_relaxed)) [[unlikely]]
      note_crossing();
  }
  void note_crossing();
  void note_fall(std::size_t held);
  void forget_crossing();

  static constexpr os::Mutex& mutex_ = os::global_mutex<os::LockRank::kMemoryLimit>();
  std::atomic<std::size_t> soft_limit_{kNone}, hard_limit_{kNone};
  std::atomic<std::uint32_t> events_{0};
  std::atomic<bool> was_freed_{true};                 // since the last search
  std::atomic<std::uint32_t> vain_searches_{0};       // in a row
  std::atomic<std::uint32_t> refusals_to_search_{0};  // since the last search
  std::atomic<bool> has_searched_{false};             // since held was far below the soft limit
  std::atomic<bool> has_crossed_{false};              // the same; and the program was told
  std::atomic<const void*> teller_{nullptr};
  std::atomic<std::uint64_t> refusal_told_ms_{0};  // 0: never
  std::atomic<std::size_t> crossings_{0}, refusals_{0}, searches_{0};
  LimitCallback callback_{};
  alignas(kCacheLineBytes) std::atomic<std::size_t> held_{0};
};

extern MemoryLimit memory_limit;

}  // namespace tarn::internal
