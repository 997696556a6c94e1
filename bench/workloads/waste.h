// What blocks of source 001's sizes cost in memory: 20,480 blocks of a random size from 1 to a maximum are
// live and written whole; how many bytes have become resident per byte asked for. Beside it what the
// allocator says is usable of each block per byte asked for: the size classes' own waste, which is where
// 001's table of buckets and 000's differ.
//
// An Api offers usable_bytes(block) where its allocator can tell.
#pragma once
#include <cstring>

#include "contestant.h"
#include "random.h"
#include "resident.h"
#include "table.h"
#include "use.h"

namespace tarn::bench::waste {

inline constexpr std::size_t kBlocks = 20'480;

struct Sums {
  double asked_bytes = 0;
  double usable_bytes = 0;
};

template <class Api>
Sums allocate_all(Table<void*>& blocks, const Table<std::uint32_t>& sizes) {
  Sums sums;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    blocks[i] = Api::allocate(sizes[i]);
    std::memset(blocks[i], 1, sizes[i]);
    escape(blocks[i]);
    sums.asked_bytes += sizes[i];
    sums.usable_bytes += static_cast<double>(Api::usable_bytes(blocks[i]));
  }
  return sums;
}

template <class Api>
void run_up_to(Session& session, std::size_t largest_bytes) {
  const Row row = {.bytes = largest_bytes, .temperature = Temperature::kCold, .metric = "resident_per_byte"};
  if (!session.wants(row)) return;
  Random random(largest_bytes);
  Table<void*> blocks(kBlocks);
  Table<std::uint32_t> sizes(kBlocks);
  for (std::uint32_t& bytes : sizes) bytes = static_cast<std::uint32_t>(random.between(1, largest_bytes));
  const long before_kib = resident_memory().now_kib;
  const Sums sums = allocate_all<Api>(blocks, sizes);
  const double resident_bytes = 1024.0 * static_cast<double>(resident_memory().now_kib - before_kib);
  for (std::size_t i = 0; i < kBlocks; ++i) Api::deallocate(blocks[i], sizes[i]);
  session.report(row, resident_bytes / sums.asked_bytes, {kBlocks},
                 extra_fields(",\"usable_per_byte\":%.4f", sums.usable_bytes / sums.asked_bytes));
}

template <class Api>
void run(Session& session) {
  if (!session.enter("waste")) return;
  for (const std::size_t largest_bytes : session.sizes({1024, 2048, 4096, 8192, 16344, 32767}))
    run_up_to<Api>(session, largest_bytes);
}

inline constexpr std::size_t kTotalBytes = std::size_t{128} << 20;

// Resident bytes per byte of 128 MiB in blocks of one size, each written whole.
template <class Api>
void run_by_size(Session& session) {
  if (!session.enter("waste_by_size")) return;
  for (const std::size_t bytes :
       session.sizes({1000, 20'000, 33'000, 65'536, 70'000, 131'072, 262'144, 1'000'000})) {
    const Row row = {.bytes = bytes, .temperature = Temperature::kCold, .metric = "resident_per_byte"};
    if (!session.wants(row)) continue;
    Table<void*> blocks(kTotalBytes / bytes);
    const long before_kib = resident_memory().now_kib;
    for (void*& block : blocks) block = escape(std::memset(Api::allocate(bytes), 1, bytes));
    const double resident_bytes = 1024.0 * static_cast<double>(resident_memory().now_kib - before_kib);
    const double asked_bytes = static_cast<double>(kTotalBytes / bytes * bytes);
    for (void* block : blocks) Api::deallocate(block, bytes);
    session.report(row, resident_bytes / asked_bytes, {kTotalBytes / bytes});
  }
}

}  // namespace tarn::bench::waste
