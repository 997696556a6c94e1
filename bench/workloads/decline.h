// After a peak: 200,000 objects of 200 bytes live, seven of eight end in random order, and the rest are
// replaced again and again while the process goes on working: 5,000 at a time, 8 times over.
//
// decline        pages: the OS pages that hold an object, per page that would do
//                resident: bytes resident per live byte, after three more seconds of work now and then
//
// decline_walk   the time to read a word of each of the objects, in no order: the fewer pages, the better
#pragma once
#include <time.h>

#include <algorithm>
#include <utility>

#include "clock.h"
#include "contestant.h"
#include "random.h"
#include "resident.h"
#include "table.h"
#include "use.h"

namespace tarn::bench::decline {

inline constexpr std::size_t kPeak = 200'000;
inline constexpr std::size_t kLeft = kPeak / 8;
inline constexpr std::size_t kBytes = 200;
inline constexpr std::size_t kBatch = 5'000;
inline constexpr std::size_t kOsPageBytes = 4096;
inline constexpr double kWorkSeconds = 3;
inline constexpr std::size_t kPauses = 150;
inline constexpr unsigned kWalks = 9;

template <class Api>
class Objects {
 public:
  Objects() : blocks_(kPeak), order_(2) {
    for (void*& block : blocks_) block = allocate_used<Api>(kBytes);
    for (std::size_t i = kPeak - 1; i > 0; --i) std::swap(blocks_[i], blocks_[order_.between(0, i)]);
    for (std::size_t i = kLeft; i < kPeak; ++i) Api::deallocate(blocks_[i], kBytes);
    for (std::size_t i = 0; i < 8 * kLeft / kBatch; ++i) replace(kBatch);
  }
  ~Objects() {
    for (std::size_t i = 0; i < kLeft; ++i) Api::deallocate(blocks_[i], kBytes);
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  void replace(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::swap(blocks_[i], blocks_[order_.between(i, kLeft - 1)]);
      Api::deallocate(blocks_[i], kBytes);
    }
    for (std::size_t i = 0; i < count; ++i) blocks_[i] = allocate_used<Api>(kBytes);
  }

  void shuffle() {
    for (std::size_t i = kLeft - 1; i > 0; --i) std::swap(blocks_[i], blocks_[order_.between(0, i)]);
  }

  /// Works for a while, with pauses as a server has them.
  void work_on(double seconds) {
    const auto pause_ns = static_cast<long>(seconds / kPauses * 1e9);
    const timespec pause = {pause_ns / 1'000'000'000, pause_ns % 1'000'000'000};
    for (std::size_t i = 0; i < kPauses; ++i) {
      replace(kBatch / 10);
      nanosleep(&pause, nullptr);
    }
  }

  std::size_t pages() const {
    Table<std::uintptr_t> pages(2 * kLeft);
    for (std::size_t i = 0; i < kLeft; ++i) {
      const auto address = reinterpret_cast<std::uintptr_t>(Api::memory_of(blocks_[i]));
      pages[2 * i] = address / kOsPageBytes;
      pages[2 * i + 1] = (address + kBytes - 1) / kOsPageBytes;
    }
    std::sort(pages.begin(), pages.end());
    return static_cast<std::size_t>(std::unique(pages.begin(), pages.end()) - pages.begin());
  }

  /// \returns the median time for one object, in ns.
  double walk() const {
    double ns[kWalks];
    for (double& one : ns) {
      const std::uint64_t first_ns = now_ns();
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < kLeft; ++i)
        sum += *static_cast<volatile std::uint64_t*>(Api::memory_of(blocks_[i]));
      escape(&sum);
      one = static_cast<double>(now_ns() - first_ns) / kLeft;
    }
    std::sort(std::begin(ns), std::end(ns));
    return ns[kWalks / 2];
  }

 private:
  Table<void*> blocks_;
  Random order_;
};

template <class Api>
void run_pages(Session& session) {
  const Row row = {
      .series = series("pages"), .temperature = Temperature::kCold, .metric = "pages_per_page_needed"};
  if (!session.wants(row)) return;
  double pages = 0;
  {
    const Objects<Api> objects;
    pages = static_cast<double>(objects.pages());
  }
  session.report(row, pages * kOsPageBytes / (kLeft * kBytes), {kLeft});
}

template <class Api>
void run_resident(Session& session) {
  const Row row = {
      .series = series("resident"), .temperature = Temperature::kCold, .metric = "resident_per_byte"};
  if (!session.wants(row)) return;
  const long before_kib = resident_memory().now_kib;
  double resident_bytes = 0;
  {
    Objects<Api> objects;
    objects.work_on(kWorkSeconds);
    const long table_kib = kPeak * sizeof(void*) / 1024;
    resident_bytes = 1024.0 * static_cast<double>(resident_memory().now_kib - before_kib - table_kib);
  }
  session.report(row, resident_bytes / (kLeft * kBytes), {kLeft});
}

template <class Api>
void run_walk(Session& session) {
  const Row row = {.temperature = Temperature::kCold};
  if (!session.enter("decline_walk") || !session.wants(row)) return;
  double ns = 0;
  {
    Objects<Api> objects;
    objects.shuffle();
    ns = objects.walk();
  }
  session.report(row, ns, {kLeft * kWalks});
}

template <class Api>
void run(Session& session) {
  if (session.enter("decline")) {
    run_pages<Api>(session);
    run_resident<Api>(session);
  }
  run_walk<Api>(session);
}

/// A pool of blocks as the only one of the process.
template <class Pool>
struct OnlyPool {
  static Pool& pool() {
    static Pool only;
    return only;
  }
  static void* allocate(std::size_t bytes) { return pool().allocate(bytes); }
  static void deallocate(void* block, std::size_t bytes) { pool().deallocate(block, bytes); }
  static void* memory_of(void* block) { return block; }
};

/// The rows of malloc but for the one that waits until memory has gone back.
template <template <std::size_t> class Pool>
void run_pool(Session& session) {
  using Api = OnlyPool<Pool<kBytes>>;
  if (session.enter("decline")) run_pages<Api>(session);
  run_walk<Api>(session);
}

}  // namespace tarn::bench::decline
