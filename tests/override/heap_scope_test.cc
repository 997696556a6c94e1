// While a scope of a heap is open, every form of operator new takes its blocks from there, also those that
// have hit the thread's cache before.
#include "support/prelude.h"
#include "tarn/heap.h"

namespace tarn::test {
namespace {

template <typename New, typename Delete>
void expect_the_scope_serves(const char* form, New allocate, Delete deallocate) {
  for (int i = 0; i < 1000; ++i) deallocate(allocate());
  Heap heap;
  void* block = nullptr;
  {
    HeapScope scope(heap);
    block = allocate();
    EXPECT_TRUE(heap.owns(block)) << form;
  }
  deallocate(block);
  void* const later = allocate();
  EXPECT_FALSE(heap.owns(later)) << form;
  deallocate(later);
}

TEST(HeapScope, ServesEveryFormOfNew) {
  constexpr std::align_val_t kAlign{64};
  expect_the_scope_serves(
      "new", [] { return ::operator new(100); },
      [](void* block) { ::operator delete (block, std::size_t{100}); });
  expect_the_scope_serves(
      "new[]", [] { return ::operator new[](100); }, [](void* block) { ::operator delete[](block); });
  expect_the_scope_serves(
      "nothrow new", [] { return ::operator new(100, std::nothrow); },
      [](void* block) { ::operator delete(block, std::nothrow); });
  expect_the_scope_serves(
      "aligned new", [] { return ::operator new(100, kAlign); },
      [](void* block) { ::operator delete (block, std::size_t{100}, kAlign); });
}

}  // namespace
}  // namespace tarn::test
