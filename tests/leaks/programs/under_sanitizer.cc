// For a checker of malloc: the first argument says what is lost, kept, or done wrong, with blocks of tarn and
// of malloc. malloc is the checker's own.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tarn/fixed_pool.h"
#include "tarn/heap.h"
#include "tarn/memory_pool.h"
#include "tarn/object_pool.h"
#include "tarn/observe.h"

namespace {

constexpr int kBlocks = 50;

void* kept;

void keep(void* block) {
  std::memcpy(block, &kept, sizeof kept);
  kept = block;
}

[[gnu::noinline]] void lose(void* (*make)()) {
  for (int i = 0; i < kBlocks; ++i) {
    void* const block = make();
    asm volatile("" : : "r"(block) : "memory");
  }
}

[[gnu::noinline]] void clear_stack() {
  char bytes[32 * 1024];
  std::memset(bytes, 0, sizeof bytes);
  asm volatile("" : : "r"(bytes) : "memory");
}

/// A block of `outer` that alone points to one of malloc's.
[[gnu::noinline]] void keep_malloc_block_in(void* outer) {
  void* const inner = std::malloc(321);
  static_cast<void**>(outer)[1] = inner;
  keep(outer);
}

struct Quest {
  void* words[4];
};

void check(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("wrong: %s\n", what);
  std::_Exit(3);
}

bool address_is_of(const void* block, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
}

bool is_filled(const void* block, std::size_t bytes, int value) {
  for (std::size_t i = 0; i < bytes; ++i)
    if (static_cast<const unsigned char*>(block)[i] != value) return false;
  return true;
}

std::size_t live_blocks_of_general_pool() {
  std::size_t count = 0;
  check(
      tarn::visit_blocks([&](const tarn::LiveBlock& block) { count += block.pool_kind == nullptr ? 1 : 0; }),
      "the visit");
  return count;
}

// Every call of the general pool, with sizes on both sides of each limit.
void use_every_call() {
  const std::size_t live_before = live_blocks_of_general_pool(), bytes_before = tarn::stats().live_bytes;
  for (const std::size_t size : {0, 1, 8, 100, 1024, 3000, 32'768, 300'000, 5'000'000}) {
    void* block = tarn::allocate(size);
    check(block != nullptr && tarn::usable_size(block) >= size, "allocate");
    check(address_is_of(block, 16) || size <= 8, "alignment");
    std::memset(block, 7, size);
    check(live_blocks_of_general_pool() == live_before + 1, "the count of live blocks");
    check(tarn::stats().live_bytes >= bytes_before + size, "live bytes");
    block = tarn::reallocate(block, 2 * size + 1);
    check(block != nullptr && is_filled(block, size, 7), "reallocate to more");
    block = tarn::reallocate(block, size / 2 + 1);
    check(block != nullptr && is_filled(block, size / 2, 7), "reallocate to less");
    tarn::deallocate(block);
    for (const std::size_t alignment : {8, 64, 4096, 1 << 20}) {
      void* const aligned = tarn::allocate(size, alignment);
      check(aligned != nullptr && address_is_of(aligned, alignment), "an aligned block");
      tarn::deallocate(aligned, size, alignment);
    }
    void* const zeroed = tarn::allocate_zeroed(1, size);
    check(zeroed != nullptr && is_filled(zeroed, size, 0), "zeros");
    tarn::deallocate(zeroed, size);
    void* blocks[40];
    check(tarn::allocate_batch(size, 40, blocks) == 40, "a batch");
    tarn::deallocate_batch(blocks, 40);
  }
  tarn::deallocate(tarn::reallocate(nullptr, 10));
  errno = 0;
  check(tarn::allocate(SIZE_MAX / 2) == nullptr && errno == ENOMEM, "a request beyond all memory");
  check(live_blocks_of_general_pool() == live_before, "the count of live blocks at the end");
  check(tarn::stats().live_bytes == bytes_before, "live bytes at the end");
}

int run(std::string_view what) {
  if (what == "lost") lose([] { return tarn::allocate(100); });
  if (what == "lost_large") lose([] { return tarn::allocate(300'000); });
  if (what == "lost_aligned") lose([] { return tarn::allocate(100, 64); });
  if (what == "malloc_lost") lose([] { return std::malloc(100); });
  if (what == "double_free") {
    void* const block = tarn::allocate(100);
    tarn::deallocate(block);
    tarn::deallocate(block);
  }
  if (what == "kept")
    for (int i = 0; i < kBlocks; ++i) keep(tarn::allocate(100));
  if (what == "malloc_kept_by_general_pool") keep_malloc_block_in(tarn::allocate(100));
  static auto& fixed = *new tarn::FixedPool(64);
  static auto& heap = *new tarn::Heap("plugin");
  static auto& quests = *new tarn::ObjectPool<Quest>;
  if (what == "malloc_kept_by_pools") {
    keep_malloc_block_in(fixed.allocate());
    keep_malloc_block_in(heap.allocate(100));
    keep_malloc_block_in(quests.create());
  }
  if (what == "lost_pool_blocks") lose([] { return fixed.allocate(); });
  if (what == "use_after_free") {
    auto* const block = static_cast<volatile char*>(tarn::allocate(100));
    tarn::deallocate(const_cast<char*>(block));
    return block[10];
  }
  if (what == "beyond_the_end") return static_cast<volatile char*>(tarn::allocate(100))[100];
  if (what == "every_call") use_every_call();
  clear_stack();
  return 0;
}

}  // namespace

int main(int, char** words) { return run(words[1]); }
