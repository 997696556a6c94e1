// The ranges that a dump needs: they hold the library's records, do not overlap, and can be had in a handler.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <vector>

#include "central/owners.h"
#include "general/pools/pool_registry.h"
#include "page/give_back/page_cache.h"
#include "page/memory/metadata.h"
#include "page/spans/page_map.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/observe.h"
#include "thread/registry.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

struct Range {
  const char* start;
  const char* end;
};

std::vector<Range> ranges() {
  std::vector<Range> found;
  visit_metadata_ranges([&](const void* start, std::size_t bytes) {
    found.push_back({static_cast<const char*>(start), static_cast<const char*>(start) + bytes});
  });
  std::sort(found.begin(), found.end(), [](const Range& a, const Range& b) { return a.start < b.start; });
  return found;
}

bool are_held(const void* record, std::size_t bytes) {
  const auto* const start = static_cast<const char*>(record);
  const std::vector<Range> all = ranges();
  return std::any_of(all.begin(), all.end(),
                     [&](const Range& range) { return range.start <= start && start + bytes <= range.end; });
}

TEST(RecordRanges, HoldTheDataTheRecordsAndTheTables) {
  void* const block = tarn::allocate(100);
  Heap heap;
  void* const block_of_heap = heap.allocate(100);
  ASSERT_NE(block_of_heap, nullptr);
  EXPECT_TRUE(are_held(&metadata, sizeof metadata));
  EXPECT_TRUE(are_held(&page_map, sizeof page_map));
  EXPECT_TRUE(are_held(&page_cache, sizeof page_cache));
  EXPECT_TRUE(are_held(&registry, sizeof registry));
  EXPECT_TRUE(are_held(&owners.shared(), sizeof(SlabOwner)));
  EXPECT_TRUE(are_held(&pool_registry, sizeof pool_registry));
  EXPECT_TRUE(are_held(this_heap(), sizeof(ThreadHeap)));
  for (const void* const one : {block, block_of_heap}) {
    const Span* const span = page_map.find(one);
    EXPECT_TRUE(are_held(span, sizeof(Span)));
    const Region& region = page_map.region(0);
    EXPECT_TRUE(are_held(region.spans + (address_of(one) - address_of(region.start)) / kPageBytes, 8));
    EXPECT_FALSE(are_held(one, 1)) << "a block";
  }
  EXPECT_TRUE(are_held(page_map.region(0).chunks, sizeof(Chunk)));
  tarn::deallocate(block);
}

// The address sanitizer keeps bytes between variables that nobody else may read.
__attribute__((no_sanitize("address"))) std::size_t sum_of_a_byte_in_each_os_page(const Range& range) {
  std::size_t sum = 0;
  for (const char* at = range.start; at < range.end; at += 4096) sum += static_cast<unsigned char>(*at);
  return sum;
}

TEST(RecordRanges, CanBeReadAndDoNotOverlap) {
  for (int i = 0; i < 100; ++i) static_cast<void>(metadata.allocate(8000));
  const std::vector<Range> all = ranges();
  ASSERT_GE(all.size(), 4u);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(i == 0 || all[i - 1].end <= all[i].start);
    sum += sum_of_a_byte_in_each_os_page(all[i]);
  }
  EXPECT_NE(sum, 0u);
}

TEST(RecordRanges, BeginWithTheFileThatTheLibraryIsIn) {
  const std::vector<Range> all = ranges();
  EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                          [](const Range& range) { return std::memcmp(range.start, "\177ELF", 4) == 0; }));
}

std::size_t bytes_in_handler = 0;

TEST(RecordRanges, AreThereInAHandlerWhileTheMetadataIsLocked) {
  signal(SIGUSR1, [](int) {
    tarn_visit_metadata_ranges([](const void*, std::size_t bytes, void*) { bytes_in_handler += bytes; },
                               nullptr);
  });
  const os::LockGuard guard(os::global_mutex<os::LockRank::kMetadata>());
  raise(SIGUSR1);
  EXPECT_GT(bytes_in_handler, sizeof metadata);
}

}  // namespace
}  // namespace tarn::internal
