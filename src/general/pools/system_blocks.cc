#include "general/pools/system_blocks.h"

#include <new>

#include "base/bits.h"
#include "base/units.h"
#include "base/wipe.h"
#include "general/large.h"
#include "general/options/setup.h"
#include "general/pools/live_picture.h"
#include "os/checker.h"
#include "os/fatal.h"
#include "os/memory/memory.h"
#include "os/memory/system_malloc.h"
#include "page/memory/metadata.h"
#include "thread/this_thread.h"
#include "thread/thread_heap.h"
#include "thread/watch/counted_call.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kFirstBuckets = 4096;

std::size_t hash_of(const void* block) {
  return static_cast<std::size_t>((address_of(block) >> 3) * kGoldenRatio >> 20);
}

std::size_t table_bytes(std::size_t buckets) {
  return round_up(buckets * sizeof(SystemBlock*), kOsPageBytesLargest);
}

// Where malloc is ours, the thread's scope would call malloc for this block again, without end.
void* allocate_outside_of_scope(std::size_t bytes, std::size_t alignment) {
  void* const scope = this_thread_scope();
  if (scope != nullptr) set_this_thread_scope(nullptr);
  void* const block = os::allocate_by_malloc(bytes, alignment < sizeof(void*) ? sizeof(void*) : alignment);
  if (scope != nullptr) set_this_thread_scope(scope);
  return block;
}

}  // namespace

constinit SystemBlocks system_blocks;

/// \pre there are buckets.
SystemBlock** SystemBlocks::link_of_locked(const void* block) {
  SystemBlock** link = &buckets_[hash_of(block) & (bucket_count_ - 1)];
  while (*link != nullptr && (*link)->block() != block) link = &(*link)->next_in_bucket;
  return link;
}

SystemBlock* SystemBlocks::find_locked(const void* block) {
  return bucket_count_ == 0 ? nullptr : *link_of_locked(block);
}

SystemBlocks::Table::~Table() {
  if (buckets == nullptr) return;
  os::note_ordered_no_more(buckets, table_bytes(count));
  os::release(buckets, table_bytes(count));
}

bool SystemBlocks::grow_locked(Table& old) {
  const std::size_t count = bucket_count_ == 0 ? kFirstBuckets : bucket_count_ * 2;
  auto** const buckets = static_cast<SystemBlock**>(os::map(table_bytes(count)));
  if (buckets == nullptr) return false;
  os::note_ordered_by_atomics(buckets, table_bytes(count));
  // The caller unmaps the old table once it has let the mutex go.
  old.buckets = buckets_;
  old.count = bucket_count_;
  buckets_ = buckets;
  bucket_count_ = count;
  for (std::size_t i = 0; i < old.count; ++i) {
    for (SystemBlock* record = old.buckets[i]; record != nullptr;) {
      SystemBlock* const next = record->next_in_bucket;
      SystemBlock*& bucket = buckets_[hash_of(record->block()) & (bucket_count_ - 1)];
      record->next_in_bucket = bucket;
      bucket = record;
      record = next;
    }
  }
  return true;
}

void* SystemBlocks::allocate(PoolHeader& pool, std::size_t bytes, std::size_t alignment) {
  void* const memory = metadata.allocate(sizeof(SystemBlock));
  if (memory == nullptr) return nullptr;
  // Without the mutex: this malloc may be anybody's, and may call us.
  void* const block = allocate_outside_of_scope(bytes, alignment);
  if (block != nullptr) {
    Table old;
    os::LockGuard guard(mutex_);
    if (block_count_ < bucket_count_ || grow_locked(old)) {
      SystemBlock*& bucket = buckets_[hash_of(block) & (bucket_count_ - 1)];
      bucket = new (memory) SystemBlock{nullptr, nullptr, bucket, ~address_of(block), &pool, bytes};
      pool.malloc_blocks.push_back(bucket);
      ++block_count_;
      return block;
    }
  }
  os::free_by_malloc(block);
  metadata.free(memory, sizeof(SystemBlock));
  return nullptr;
}

bool SystemBlocks::deallocate(const PoolHeader& pool, void* block, std::size_t* bytes) {
  SystemBlock* record = nullptr;
  {
    os::LockGuard guard(mutex_);
    if (bucket_count_ == 0) return false;
    SystemBlock** const link = link_of_locked(block);
    record = *link;
    if (record == nullptr || record->pool != &pool) return false;
    *link = record->next_in_bucket;
    record->pool->malloc_blocks.remove(record);
    --block_count_;
  }
  // The record has left the table before malloc can give the address to somebody else.
  *bytes = record->bytes;
  if (pool.is_sensitive) {
    os::unpoison(block, *bytes);
    wipe(block, *bytes);
  }
  metadata.free(record, sizeof(SystemBlock));
  os::free_by_malloc(block);
  return true;
}

void SystemBlocks::deallocate_all(const PoolHeader& pool) {
  std::size_t bytes = 0;
  while (void* const block = first_of(pool)) deallocate(pool, block, &bytes);
}

void* SystemBlocks::first_of(const PoolHeader& pool) {
  os::LockGuard guard(mutex_);
  const SystemBlock* const first = pool.malloc_blocks.first();
  return first != nullptr ? first->block() : nullptr;
}

void SystemBlocks::visit(const PoolHeader& pool, const BlockVisitor& visit) {
  os::LockGuard guard(mutex_);
  for (const SystemBlock* record = pool.malloc_blocks.first(); record != nullptr; record = record->next)
    visit(record->block());
}

bool SystemBlocks::add_live(const PoolHeader& pool, std::uintptr_t& behind, LivePicture& picture) {
  {
    os::LockGuard guard(mutex_);
    for (const SystemBlock* record = pool.malloc_blocks.first(); record != nullptr; record = record->next)
      if (address_of(record->block()) > behind)
        picture.keep_lowest({static_cast<char*>(record->block()), 1, record->bytes, 1, SizeClass::kNone});
  }
  picture.sort();
  if (picture.room() != 0) return false;
  behind = address_of(picture.end()[-1].start);
  return true;
}

PoolHeader* SystemBlocks::pool_of(const void* block) {
  os::LockGuard guard(mutex_);
  const SystemBlock* const record = find_locked(block);
  return record != nullptr ? record->pool : nullptr;
}

std::size_t SystemBlocks::bytes_of_block(const void* block) {
  os::LockGuard guard(mutex_);
  const SystemBlock* const record = find_locked(block);
  return record != nullptr ? record->bytes : 0;
}

namespace {

constinit std::atomic<std::size_t> live_bytes{0};

void deallocate(PoolHeader& pool, void* block) {
  std::size_t bytes = 0;
  if (!system_blocks.deallocate(pool, block, &bytes)) os::fatal("double free", block);
  live_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  count_call(this_heap(), [=](ThreadCallCounts& calls) { calls.large.add_deallocation(bytes); });
}

std::size_t usable_size(PoolHeader&, const void* block) { return system_blocks.bytes_of_block(block); }

constexpr PoolOperations kOperations{.kind = "general pool",
                                     .record = PoolRecord::kNone,
                                     .deallocate = deallocate,
                                     .usable_size = usable_size};

// No registry has it, so its mutexes are never taken.
constinit PoolHeader general_pool{.operations = &kOperations};

bool serves_for_ours() { return block_source.load(std::memory_order_relaxed) == BlockSource::kMallocForOurs; }

constexpr PoolOperations kOperationsForOurs{
    .kind = "general pool",
    .record = PoolRecord::kNone,
    .deallocate = [](PoolHeader&, void* block) { os::free_by_malloc(block); },
    .usable_size = [](PoolHeader&,
                      const void* block) { return os::usable_by_malloc(const_cast<void*>(block)); },
    .reallocate = [](PoolHeader&, void* block,
                     std::size_t size) { return os::reallocate_by_malloc(block, size == 0 ? 1 : size); }};
constinit PoolHeader pool_of_malloc{.operations = &kOperationsForOurs};

void* take(std::size_t size, std::size_t alignment) {
  if (!serves_for_ours()) return system_blocks.allocate(general_pool, size, alignment);
  return os::allocate_by_malloc(size, alignment);
}

}  // namespace

PoolHeader* pool_of_unknown() { return serves_for_ours() ? &pool_of_malloc : nullptr; }

bool takes_blocks_from_malloc_slow() {
  set_up_once();
  return block_source.load(std::memory_order_relaxed) >= BlockSource::kMalloc;
}

void* allocate_from_malloc(std::size_t size, std::size_t alignment) {
  constexpr std::size_t kLeastAlignment = 16;
  ThreadHeap* const heap = heap_of_this_thread();
  void* const block = size > kLargestRequest || alignment > kLargestRequest
                          ? nullptr  // a checker would rather stop the process than refuse
                          : take(size, alignment < kLeastAlignment ? kLeastAlignment : alignment);
  if (block == nullptr) return out_of_memory();
  if (!serves_for_ours()) live_bytes.fetch_add(size, std::memory_order_relaxed);
  count_call(heap, [=](ThreadCallCounts& calls) { calls.large.add_allocation(size, size); });
  return block;
}

bool add_live_from_malloc(std::uintptr_t& behind, LivePicture& picture) {
  return system_blocks.add_live(general_pool, behind, picture);
}

std::size_t live_bytes_from_malloc() { return live_bytes.load(std::memory_order_relaxed); }

}  // namespace tarn::internal
