// Calls behind pointers, which g++ makes direct ones when its inlining is over. Compiled with -Og.
#include <gtest/gtest.h>

#include <memory>

#include "tarn/memory_pool.h"

namespace {

template <typename Allocate, typename Deallocate>
void* write_and_free(Allocate allocate, Deallocate deallocate) {
  char* const block = static_cast<char*>(allocate(100));
  block[99] = 'x';
  deallocate(block);
  return block;
}

TEST(Hits, CanBeCalledThroughPointers) {
  void* (*const allocate)(std::size_t) = tarn::allocate;
  void (*const deallocate)(void*) = tarn::deallocate;
  void* const block = write_and_free(allocate, deallocate);
  EXPECT_NE(block, nullptr);
  void* (*const allocate_of_type)(std::size_t) = tarn::MemoryPool::allocate;
  void (*const deallocate_of_type)(void*) = tarn::MemoryPool::deallocate;
  EXPECT_EQ(write_and_free(allocate_of_type, deallocate_of_type), block);
}

TEST(Hits, CanBeADeleter) {
  const std::unique_ptr<void, void (*)(void*)> block(tarn::allocate(100), tarn::deallocate);
  EXPECT_GE(tarn::usable_size(block.get()), 100u);
}

}  // namespace
