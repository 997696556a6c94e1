// The pools of the suite.
#include "support/pools.h"

#include "conformance/conformance.h"

#if !defined(TARN_TEST_MALLOC)
#include "conformance/pools.h"
#if !defined(TARN_ELSEWHERE)
#include "conformance/c_api.h"
#endif
#endif

namespace tarn::test {
namespace {

// What a type does not have stays nullptr.
template <typename Type>
Pool pool_of(const char* name) {
  Pool pool{};
  pool.name = name;
  pool.allocate = [](std::size_t size) { return Type::allocate(size); };
  pool.allocate_aligned = [](std::size_t size, std::size_t alignment) {
    return Type::allocate(size, alignment);
  };
  pool.deallocate = [](void* block) { Type::deallocate(block); };
  pool.deallocate_sized = [](void* block, std::size_t size) { Type::deallocate(block, size); };
  pool.deallocate_aligned = [](void* block, std::size_t size, std::size_t alignment) {
    Type::deallocate(block, size, alignment);
  };
  if constexpr (requires(std::size_t size) { Type::allocate_zeroed(size, size); })
    pool.allocate_zeroed = [](std::size_t count, std::size_t size) {
      return Type::allocate_zeroed(count, size);
    };
  if constexpr (requires(void* block, std::size_t size) { Type::reallocate(block, size); })
    pool.reallocate = [](void* block, std::size_t size) { return Type::reallocate(block, size); };
  if constexpr (requires(void* block) { Type::usable_size(block); })
    pool.usable_size = [](const void* block) { return Type::usable_size(const_cast<void*>(block)); };
  if constexpr (requires(std::size_t size) { Type::good_size(size); })
    pool.good_size = [](std::size_t size) { return Type::good_size(size); };
  if constexpr (requires(void** blocks, std::size_t count) { Type::allocate_batch(count, count, blocks); }) {
    pool.allocate_batch = [](std::size_t size, std::size_t count, void** blocks) {
      return Type::allocate_batch(size, count, blocks);
    };
    pool.deallocate_batch = [](void* const* blocks, std::size_t count) {
      Type::deallocate_batch(blocks, count);
    };
    pool.trim = [] { Type::trim(); };
  }
  return pool;
}

#if !defined(TARN_TEST_MALLOC)
Pool with_limits(Pool pool, std::size_t largest, std::size_t largest_alignment) {
  pool.largest = largest;
  pool.largest_alignment = largest_alignment;
  pool.checks_requests = false;
  return pool;
}

template <typename Type>
Pool of_powers_of_two(const char* name, std::size_t largest_alignment) {
  return with_limits(pool_of<Type>(name), Type::kLargest, largest_alignment);
}

constexpr std::size_t kAny = SIZE_MAX;

void add_plain(std::vector<Pool>& pools) {
  pools = {pool_of<MemoryPool>("MemoryPool"),
           of_powers_of_two<FixedBlocks>("FixedBlocks", 65536),
           of_powers_of_two<SharedFixedBlocks>("SharedFixedBlocks", 65536),
           of_powers_of_two<TypedBlocks>("TypedBlocks", 4096),
           pool_of<HeapBlocks<LibraryPages>>("HeapBlocks"),
           pool_of<HeapBlocks<CallersBuffer>>("HeapBlocksInABuffer"),
           pool_of<ScopedBlocks<LibraryPages>>("ScopedBlocks"),
           pool_of<ScopedBlocks<CallersBuffer>>("ScopedBlocksInABuffer"),
           with_limits(pool_of<ArenaBlocks<>>("ArenaBlocks"), kAny, kAny),
           with_limits(pool_of<BufferBlocks<>>("BufferBlocks"), kAny, BufferBlocks<>::kAlignment),
           with_limits(pool_of<ResourceBlocks<GeneralSource>>("Resource"), kAny, kAny),
           with_limits(pool_of<ResourceBlocks<HeapSource>>("ResourceOfAHeap"), kAny, kAny),
           with_limits(pool_of<AllocatorBlocks<GeneralSource>>("Allocator"), kAny, 16),
           with_limits(pool_of<AllocatorBlocks<HeapSource>>("AllocatorOfAHeap"), kAny, 16),
           pool_of<HandlerBlocks>("HandlerBlocks")};
#if !defined(TARN_ELSEWHERE)
  pools.push_back(pool_of<CApi>("CApi"));
#endif
}

void add_sensitive(std::vector<Pool>& pools) {
  constexpr Contents kSensitive = Contents::kSensitive;
  for (const Pool& pool : {of_powers_of_two<SensitiveFixedBlocks>("SensitiveFixedBlocks", 65536),
                           of_powers_of_two<SensitiveSharedBlocks>("SensitiveSharedBlocks", 65536),
                           of_powers_of_two<SensitiveTypedBlocks>("SensitiveTypedBlocks", 4096),
                           pool_of<HeapBlocks<SensitivePages>>("SensitiveHeapBlocks"),
                           pool_of<ScopedBlocks<SensitivePages>>("SensitiveScopedBlocks"),
                           pool_of<SensitiveBlocks>("SensitiveBlocks"),
                           with_limits(pool_of<ArenaBlocks<kSensitive>>("SensitiveArenaBlocks"), kAny, kAny),
                           with_limits(pool_of<BufferBlocks<kSensitive>>("SensitiveBufferBlocks"), kAny,
                                       BufferBlocks<kSensitive>::kAlignment)})
    pools.push_back(pool);
}
#endif

std::vector<Pool> all() {
  std::vector<Pool> pools;
#if defined(TARN_TEST_MALLOC)
  pools.push_back(pool_of<Malloc>("Malloc"));
#else
  add_plain(pools);
  add_sensitive(pools);
#endif
  return pools;
}

}  // namespace

const std::vector<Pool>& pools() {
  static const std::vector<Pool> all_pools = all();
  return all_pools;
}

}  // namespace tarn::test
