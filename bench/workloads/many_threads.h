// Many threads with few objects each, as of a server with a thread for each client: a thread replaces random
// ones of its 500 live objects of many sizes. In the rows `handed` a quarter of those that go are left in a
// place that belongs to another thread; whoever leaves the next object there frees it.
//
// many_threads    wall time per replacement, all threads together
//
// thread_memory   resident bytes per live byte, once each thread has replaced each of its objects ten times;
//                 all threads still live, and their stacks are counted
#pragma once
#include <atomic>

#include "contestant.h"
#include "random.h"
#include "resident.h"
#include "table.h"
#include "timed_row.h"
#include "use.h"
#include "verify.h"

namespace tarn::bench::many_threads {

inline constexpr std::size_t kLive = 500;
inline constexpr std::size_t kPlaces = 64;  // of each thread
inline constexpr std::size_t kPerRound = 256;
inline constexpr std::size_t kReplacementsForMemory = 10 * kLive;
inline constexpr double kRowSeconds = 0.1;

enum class Leaving { kFreed, kHanded };

/// From 16 to 2,047 bytes, each power of two as likely as the next; one in 200 has 16 to 64 KiB.
inline std::size_t draw_bytes(Random& random) {
  if (random.between(1, 200) == 1) return random.between(16 * 1024, 64 * 1024);
  const std::size_t least = std::size_t{16} << random.between(0, 6);
  return random.between(least, 2 * least - 1);
}

/// Where objects are left for others.
template <class Api>
class Places {
 public:
  explicit Places(unsigned threads) : blocks_(threads * kPlaces) {}
  ~Places() {
    for (const std::atomic<void*>& place : blocks_)
      if (void* const block = place.load()) Api::free(block);
  }
  void leave(const LiveBlock& object, Random& random) {
    bytes_.fetch_add(object.bytes, std::memory_order_relaxed);
    auto* const size = static_cast<std::size_t*>(Api::memory_of(object.block));
    *size = object.bytes;  // the smallest has room for it
    void* const found = blocks_[random.between(0, blocks_.size() - 1)].exchange(object.block);
    if (found == nullptr) return;
    bytes_.fetch_sub(*static_cast<std::size_t*>(Api::memory_of(found)), std::memory_order_relaxed);
    Api::free(found);
  }
  /// Of the objects left and not found yet.
  std::size_t live_bytes() const { return bytes_.load(); }

 private:
  Table<std::atomic<void*>> blocks_;
  std::atomic<std::size_t> bytes_{0};
};

template <class Api>
class Crowd {
 public:
  Crowd(Places<Api>& places, Leaving leaving, unsigned index)
      : places_(places), leaving_(leaving), random_(index + 1), live_(kLive) {
    for (LiveBlock& object : live_) object = make();
  }
  ~Crowd() {
    for (const LiveBlock& object : live_) Api::deallocate(object.block, object.bytes);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  void verify(Worker& worker) {
    replace(kLive);
    verify_blocks(live_, Alignment::kMalloc, worker);
  }
  void round() { replace(kPerRound); }

  void replace(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      LiveBlock& object = live_[random_.between(0, kLive - 1)];
      if (leaving_ == Leaving::kHanded && random_.between(0, 3) == 0)
        places_.leave(object, random_);
      else
        Api::deallocate(object.block, object.bytes);
      object = make();
    }
  }
  std::size_t live_bytes() const {
    std::size_t bytes = 0;
    for (const LiveBlock& object : live_) bytes += object.bytes;
    return bytes;
  }

 private:
  LiveBlock make() {
    const std::size_t bytes = draw_bytes(random_);
    return {allocate_used<Api>(bytes), bytes};
  }

  Places<Api>& places_;
  Leaving leaving_;
  Random random_;
  Table<LiveBlock> live_;
};

template <class Api>
void run_times(Session& session) {
  if (!session.enter("many_threads")) return;
  // Threads in rising number: what the rows before have taken is then little.
  for (const std::size_t count : session.threads({1, 8, 64, 256}))
    for (const Leaving leaving : {Leaving::kFreed, Leaving::kHanded}) {
      const auto threads = static_cast<unsigned>(count);
      const Row row = {.series = series(leaving == Leaving::kFreed ? "own" : "handed"), .threads = threads};
      if (!session.wants(row)) continue;
      Timing timing;
      {
        Places<Api> places(threads);
        timing = time_rounds(threads, session.budget_ns(kRowSeconds),
                             [&](unsigned index) { return Crowd<Api>(places, leaving, index); });
      }
      report_rounds(session, row, timing, kPerRound);
    }
}

template <class Api>
void run_memory(Session& session) {
  if (!session.enter("thread_memory")) return;
  for (const std::size_t count : session.threads({1, 8, 64, 256})) {
    const auto threads = static_cast<unsigned>(count);
    const Row row = {.threads = threads, .temperature = Temperature::kCold, .metric = "resident_per_byte"};
    if (!session.wants(row)) continue;
    const long before_kib = resident_memory().now_kib;
    std::atomic<std::size_t> live_bytes{0};
    long all_kib = 0;
    {
      Places<Api> places(threads);
      run_on_threads(threads, [&](Worker& worker) {
        Crowd<Api> crowd(places, Leaving::kHanded, worker.index());
        crowd.replace(kReplacementsForMemory);
        live_bytes += crowd.live_bytes();
        worker.meet();
        if (worker.index() == 0) {
          all_kib = resident_memory().now_kib;
          live_bytes += places.live_bytes();
        }
        worker.meet();
      });
    }
    const double resident_bytes = 1024.0 * static_cast<double>(all_kib - before_kib);
    session.report(row, resident_bytes / static_cast<double>(live_bytes), {threads * kLive});
  }
}

template <class Api>
void run(Session& session) {
  run_times<Api>(session);
  run_memory<Api>(session);
}

}  // namespace tarn::bench::many_threads
