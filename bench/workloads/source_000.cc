// Source 000, a size-class pool: eight sizes, 100,000 iterations split over the threads.
//
// basic   allocate N, free N, and N pairs of allocate and free; single and 16 threads
// stress  allocate N, free every third, allocate those again, free all
// mixed   a random size of the eight; free about 30 % at random; refill; free all
//
// Figures are per iteration. With 16 threads a phase of one thread is shorter than a time slice, so those
// rows are the whole (allocate N and free N) by the wall clock.
#include <array>
#include <utility>

#include "allocator_under_test.h"
#include "clock.h"
#include "groups.h"
#include "random.h"
#include "table.h"
#include "threads.h"
#include "verify.h"

namespace tarn::bench {
namespace {

constexpr std::size_t kIterations = 100'000;
constexpr unsigned kManyThreads = 16;
constexpr double kRowSeconds = 0.05;
constexpr std::array<std::uint16_t, 8> kSizes = {32, 64, 128, 256, 512, 1024, 2048, 4096};

/// Calls `body` with each size as a compile-time constant.
template <class Body>
void for_each_size(Body body) {
  [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    (body(std::integral_constant<std::size_t, kSizes[Index]>{}), ...);
  }
  (std::make_index_sequence<kSizes.size()>{});
}

double per_iteration(const Timing& timing, std::size_t iterations_per_round) {
  return timing.wall_ns / (static_cast<double>(timing.rounds) * static_cast<double>(iterations_per_round));
}

template <std::size_t Bytes>
class FixedSize {
 public:
  explicit FixedSize(std::size_t iterations) : blocks_(iterations) {}

  void verify(Worker& worker) {
    allocate_all();
    verify_blocks(
        blocks_, [](std::size_t) { return Bytes; }, worker);
    free_all();
  }

 protected:
  void allocate(void*& block) {
    block = allocate_constant<Bytes>();
    touch(block, Bytes);
  }
  void allocate_all() {
    for (void*& block : blocks_) allocate(block);
  }
  void free_all() {
    for (void* block : blocks_) deallocate_constant<Bytes>(block);
  }

  Table<void*> blocks_;
};

template <std::size_t Bytes>
struct Whole : FixedSize<Bytes> {
  using FixedSize<Bytes>::FixedSize;
  void round() {
    this->allocate_all();
    this->free_all();
  }
};

template <std::size_t Bytes>
struct Pairs : FixedSize<Bytes> {
  using FixedSize<Bytes>::FixedSize;
  void round() {
    for (std::size_t i = 0; i < this->blocks_.size(); ++i) {
      void* block;
      this->allocate(block);
      deallocate_constant<Bytes>(block);
    }
  }
};

template <std::size_t Bytes>
struct Stress : FixedSize<Bytes> {
  using FixedSize<Bytes>::FixedSize;
  void round() {
    this->allocate_all();
    for (std::size_t i = 0; i < this->blocks_.size(); i += 3) deallocate_constant<Bytes>(this->blocks_[i]);
    for (std::size_t i = 0; i < this->blocks_.size(); i += 3) this->allocate(this->blocks_[i]);
    this->free_all();
  }
};

/// Whole, with a clock around each phase.
template <std::size_t Bytes>
struct Phases : FixedSize<Bytes> {
  using FixedSize<Bytes>::FixedSize;
  void round() {
    const std::uint64_t first_ns = now_ns();
    this->allocate_all();
    const std::uint64_t middle_ns = now_ns();
    this->free_all();
    allocate_ns += static_cast<double>(middle_ns - first_ns);
    free_ns += static_cast<double>(now_ns() - middle_ns);
    iterations += this->blocks_.size();
  }
  double allocate_ns = 0;
  double free_ns = 0;
  std::uint64_t iterations = 0;
};

template <std::size_t Bytes>
void run_phases(Session& session) {
  const RowName allocate_row = row_name("allocate/%zu", Bytes);
  const RowName free_row = row_name("free/%zu", Bytes);
  const bool wants_allocate = session.wants(allocate_row);
  const bool wants_free = session.wants(free_row);
  if (!wants_allocate && !wants_free) return;
  Phases<Bytes> phases(kIterations);
  Worker only(0, nullptr);
  phases.verify(only);
  const double budget_ns = session.budget_ns(kRowSeconds);
  while (phases.allocate_ns + phases.free_ns < budget_ns) phases.round();
  const auto iterations = static_cast<double>(phases.iterations);
  session.report(allocate_row, phases.allocate_ns / iterations, phases.iterations);
  session.report(free_row, phases.free_ns / iterations, phases.iterations);
}

/// One row: `Work` repeated by each of the threads.
template <class Work>
void run_row(Session& session, const RowName& name, unsigned threads) {
  if (!session.wants(name)) return;
  const std::size_t iterations = kIterations / threads;
  const Timing timing =
      time_rounds(threads, session.budget_ns(kRowSeconds), [&](unsigned) { return Work(iterations); });
  session.report(name, per_iteration(timing, iterations), timing.rounds * iterations);
}

/// The first round of a fresh process: every page is touched for the first time.
template <std::size_t Bytes>
void run_cold(Session& session) {
  const RowName name = row_name("cold/%zu", Bytes);
  if (!session.wants(name, Temperature::kCold)) return;
  Phases<Bytes> phases(kIterations);
  phases.round();
  const double ns = (phases.allocate_ns + phases.free_ns) / static_cast<double>(kIterations);
  session.report(name, ns, kIterations, Temperature::kCold);
}

void run_stress(Session& session, unsigned threads) {
  for_each_size(
      [&](auto bytes) { run_row<Stress<bytes>>(session, row_name("stress/%zu", bytes()), threads); });
}

/// The mixed test; what is random is drawn before the clock starts.
class Mixed {
 public:
  Mixed(std::size_t iterations, unsigned index)
      : blocks_(iterations), sizes_(iterations), plans_(iterations) {
    Random random(index + 1);
    for (Plan& plan : plans_) {
      plan.first_bytes = kSizes[random.between(0, kSizes.size() - 1)];
      plan.refill_bytes = kSizes[random.between(0, kSizes.size() - 1)];
      plan.is_freed_early = random.between(1, 100) <= 30;
    }
  }

  void verify(Worker& worker) {
    fill();
    free_some();
    refill();
    verify_blocks(
        blocks_, [this](std::size_t i) { return std::size_t{sizes_[i]}; }, worker);
    free_all();
  }

  void round() {
    fill();
    free_some();
    refill();
    free_all();
  }

 private:
  struct Plan {
    std::uint16_t first_bytes;
    std::uint16_t refill_bytes;
    bool is_freed_early;
  };

  void allocate_at(std::size_t i, std::uint16_t bytes) {
    blocks_[i] = allocate(bytes);
    sizes_[i] = bytes;
    touch(blocks_[i], bytes);
  }
  void fill() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) allocate_at(i, plans_[i].first_bytes);
  }
  void free_some() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (plans_[i].is_freed_early) deallocate(blocks_[i], sizes_[i]);
    }
  }
  void refill() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (plans_[i].is_freed_early) allocate_at(i, plans_[i].refill_bytes);
    }
  }
  void free_all() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) deallocate(blocks_[i], sizes_[i]);
  }

  Table<void*> blocks_;
  Table<std::uint16_t> sizes_;
  Table<Plan> plans_;
};

void run_mixed(Session& session, const RowName& name, unsigned threads) {
  if (!session.wants(name)) return;
  const std::size_t iterations = kIterations / threads;
  const Timing timing = time_rounds(threads, session.budget_ns(2 * kRowSeconds),
                                    [&](unsigned index) { return Mixed(iterations, index); });
  session.report(name, per_iteration(timing, iterations), timing.rounds * iterations);
}

}  // namespace

void run_000_single(Session& session) {
  for_each_size([&](auto bytes) {
    run_phases<bytes>(session);
    run_row<Pairs<bytes>>(session, row_name("pairs/%zu", bytes()), 1);
  });
  run_cold<64>(session);
  run_cold<512>(session);
  run_cold<4096>(session);
}

void run_000_multi(Session& session) {
  for_each_size([&](auto bytes) {
    run_row<Whole<bytes>>(session, row_name("whole/%zu", bytes()), kManyThreads);
    run_row<Pairs<bytes>>(session, row_name("pairs/%zu", bytes()), kManyThreads);
  });
}

void run_000_stress_single(Session& session) { run_stress(session, 1); }
void run_000_stress_multi(Session& session) { run_stress(session, kManyThreads); }

void run_000_mixed(Session& session) {
  run_mixed(session, row_name("single"), 1);
  run_mixed(session, row_name("multi"), kManyThreads);
}

}  // namespace tarn::bench
