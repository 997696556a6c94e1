// Source 001, the low-fragmentation heap: each thread allocates 20,480 blocks of a random size and then frees
// them in order, again and again; 1, 4, 8 and 16 threads. The figure is per block (allocate and free), all
// threads together, so that a line over the threads is flat where an allocator scales as far as there are
// cores.
#pragma once
#include "clock.h"
#include "contestant.h"
#include "random.h"
#include "table.h"
#include "timed_row.h"
#include "use.h"
#include "verify.h"

namespace tarn::bench::source_001 {

inline constexpr std::size_t kBlocks = 20'480;
inline constexpr double kRowSeconds = 0.03;

template <class Api>
class RandomSizes {
 public:
  RandomSizes(std::size_t largest_bytes, unsigned index) : blocks_(kBlocks), sizes_(kBlocks) {
    Random random(index + 1);
    for (std::uint32_t& bytes : sizes_) bytes = static_cast<std::uint32_t>(random.between(1, largest_bytes));
  }

  void verify(Worker& worker) {
    allocate_all();
    verify_blocks<Api>(
        blocks_, [this](std::size_t i) { return std::size_t{sizes_[i]}; }, worker);
    free_all();
  }

  void round() {
    allocate_all();
    free_all();
  }

 private:
  void allocate_all() {
    for (std::size_t i = 0; i < kBlocks; ++i) blocks_[i] = allocate_used<Api>(sizes_[i]);
  }
  void free_all() {
    for (std::size_t i = 0; i < kBlocks; ++i) Api::deallocate(blocks_[i], sizes_[i]);
  }

  Table<void*> blocks_;
  Table<std::uint32_t> sizes_;
};

template <class Api>
void run_up_to(Session& session, std::size_t largest_bytes) {
  for (const std::size_t asked : session.threads({1, 4, 8, 16})) {
    const auto threads = static_cast<unsigned>(asked);
    run_timed_row(session, {.bytes = largest_bytes, .threads = threads}, kRowSeconds, kBlocks,
                  [&](unsigned index) { return RandomSizes<Api>(largest_bytes, index); });
  }
  const Row cold = {.bytes = largest_bytes, .temperature = Temperature::kCold};
  if (!session.wants(cold)) return;
  double ns = 0;
  {
    RandomSizes<Api> work(largest_bytes, 0);
    const std::uint64_t first_ns = now_ns();
    work.round();
    ns = static_cast<double>(now_ns() - first_ns);
  }
  session.report(cold, ns / kBlocks, {kBlocks});
}

template <class Api>
void run(Session& session) {
  for (const std::size_t largest_bytes : session.sizes({1024, 2048, 4096, 8192, 16344, 32767}))
    if (session.enter("001_%zu", largest_bytes)) run_up_to<Api>(session, largest_bytes);
}

}  // namespace tarn::bench::source_001
