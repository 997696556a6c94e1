// A system whose purge does nothing, as some emulators' do: what must be zero is zero all the same.
#include "os/memory/memory.h"
#include "page/give_back/page_cache.h"
#include "support/child.h"
#include "support/content.h"
#include "support/prelude.h"
#include "support/sizes.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"

namespace tarn::test {
namespace {

using internal::os::Call;
using internal::os::Fault;

constexpr std::size_t kSizes[] = {300 * kKiB, 2 * kMiB, 5 * kMiB};

void leave_written_pages() {
  void* blocks[4];
  for (void*& block : blocks) block = std::memset(tarn::allocate(4 * kMiB), 1, 4 * kMiB);
  for (void* const block : blocks) tarn::deallocate(block);
  internal::page_cache.purge(SIZE_MAX);
}

int zeroed_blocks_are_zero() {
  for (const std::size_t size : kSizes) {
    leave_written_pages();
    void* const block = tarn::allocate_zeroed(size);
    if (!is_zero(block, size)) return 1;
    void* const moved = tarn::reallocate(std::memset(block, 1, size), 3 * size);
    if (static_cast<char*>(moved)[size - 1] != 1) return 2;
    tarn::deallocate(moved);
    internal::page_cache.purge(SIZE_MAX);
    void* const again = tarn::allocate_zeroed(4 * size);
    if (!is_zero(again, 4 * size)) return 3;
    tarn::deallocate(again);
  }
  return 0;
}

int zeroed_blocks_of_a_heap_are_zero() {
  for (const std::size_t size : kSizes) {
    leave_written_pages();
    Heap heap({.name = "zeroed"});
    if (!is_zero(heap.allocate_zeroed(1, size), size)) return 1;
  }
  return 0;
}

class PurgeWithoutEffect : public ::testing::TestWithParam<int (*)()> {};

TEST_P(PurgeWithoutEffect, LeavesNothingThatIsTakenForZero) {
  const ChildResult result = run_in_child([] {
    internal::os::set_fault_hook_for_test(
        [](Call call) { return call == Call::kPurge ? Fault::kWithoutEffect : Fault::kNone; });
    return GetParam()();
  });
  EXPECT_TRUE(result.is_success()) << result.describe();
}

INSTANTIATE_TEST_SUITE_P(Of, PurgeWithoutEffect,
                         ::testing::Values(zeroed_blocks_are_zero, zeroed_blocks_of_a_heap_are_zero));

}  // namespace
}  // namespace tarn::test
