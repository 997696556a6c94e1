// How fast a pool grows: 100,000 blocks of one size from a pool that has none yet, in a fresh process. Source
// 001 says that a bucket must grow fast, and its author's own pool was built for that. The first word of each
// block is written, so the time of the system's first touch is in it, for all alike.
#pragma once
#include "block_size.h"
#include "clock.h"
#include "contestant.h"
#include "pool_blocks.h"

namespace tarn::bench::bucket_growth {

inline constexpr std::size_t kBlocks = 100'000;

template <class Pool, std::size_t Bytes>
void run_row(Session& session) {
  const Row row = {.bytes = Bytes, .temperature = Temperature::kCold};
  if (!session.wants(row)) return;
  Table<void*> blocks(kBlocks);
  double ns = 0;
  {
    Pool pool;
    const std::uint64_t first_ns = now_ns();
    for (void*& block : blocks) block = used(pool.allocate(Bytes));
    ns = static_cast<double>(now_ns() - first_ns);
    for (void* const block : blocks) pool.deallocate(block, Bytes);
  }
  session.report(row, ns / kBlocks, {kBlocks});
}

template <template <std::size_t> class Pool>
void run(Session& session) {
  if (!session.enter("bucket_growth")) return;
  for (const std::size_t bytes : session.sizes_among({32, 64, 256, 1024}))
    with_known_size<32, 64, 256, 1024>(bytes, [&](auto known) { run_row<Pool<known>, known>(session); });
}

}  // namespace tarn::bench::bucket_growth
