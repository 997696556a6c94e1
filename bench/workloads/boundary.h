// Sizes on both sides of every boundary that an allocator is likely to have, at 1, 4 and 16 threads: no
// size may be much slower than the one below it. Batches of 64 blocks; the figure is per block (allocate and
// free).
#pragma once
#include "contestant.h"
#include "table.h"
#include "timed_row.h"
#include "use.h"
#include "verify.h"

namespace tarn::bench::boundary {

inline constexpr std::size_t kBatchBlocks = 64;
inline constexpr double kRowSeconds = 0.015;

template <class Api>
class Batches {
 public:
  explicit Batches(std::size_t bytes) : bytes_(bytes), blocks_(kBatchBlocks) {}

  void verify(Worker& worker) {
    allocate_all();
    verify_blocks<Api>(
        blocks_, [this](std::size_t) { return bytes_; }, worker);
    free_all();
  }
  void round() {
    allocate_all();
    free_all();
  }

 private:
  void allocate_all() {
    for (void*& block : blocks_) block = allocate_used<Api>(bytes_);
  }
  void free_all() {
    for (void* block : blocks_) Api::deallocate(block, bytes_);
  }

  std::size_t bytes_;
  Table<void*> blocks_;
};

template <class Api>
void run(Session& session) {
  if (!session.enter("boundary")) return;
  for (const std::size_t threads : session.threads({1, 4, 16})) {
    for (const std::size_t bytes : session.sizes({1024, 1025, 4096, 4097, 16344, 16345, 32767, 32768,
                                                  256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1})) {
      run_timed_row(session, {.bytes = bytes, .threads = static_cast<unsigned>(threads)}, kRowSeconds,
                    kBatchBlocks, [&](unsigned) { return Batches<Api>(bytes); });
    }
  }
}

}  // namespace tarn::bench::boundary
