// Marks where this tool waits for somebody else: for a file, or for memory that a file system has to
// fetch first. A file system that never answers holds a call in the kernel for good; who watches this tool
// (tools/tarn/system/processes/guard.h) sees by these marks that a thread hangs there, and ends it.
//
// Threads: any. \cost some atomic stores
#pragma once
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tarn::observer {

/// What a thread waits for: a number of its own for each wait, 0: nothing.
struct Wait {
  std::atomic<std::uint64_t> number{0};
  std::atomic<int> thread{0};  // as the kernel numbers it
};

struct Waits {
  static constexpr std::size_t kPlaces = 256;  // threads beyond the last place share
  std::array<Wait, kPlaces> of_threads{};
  std::atomic<std::uint64_t> begun{0}, threads{0};
};

/// Where waits are marked: the watcher's memory, shared with it, once there is one.
inline Waits own_waits;
inline Waits* waits = &own_waits;

class OutsideWait {
 public:
  OutsideWait() : place_(own_place()), before_(place_.number.exchange(waits->begun.fetch_add(1) + 1)) {}
  ~OutsideWait() { place_.number.store(before_); }
  OutsideWait(const OutsideWait&) = delete;
  OutsideWait& operator=(const OutsideWait&) = delete;

 private:
  /// \why not found anew for each wait: it asks the kernel for the thread's number. After a fork, waits are
  /// marked elsewhere.
  static Wait& own_place() {
    thread_local Waits* of = nullptr;
    thread_local Wait* place = nullptr;
    if (of != waits) {
      of = waits;
      place = &of->of_threads[of->threads.fetch_add(1) % Waits::kPlaces];
      place->thread.store(gettid(), std::memory_order_relaxed);
    }
    return *place;
  }

  Wait& place_;
  const std::uint64_t before_;  // the number of a wait around this one
};

}  // namespace tarn::observer
