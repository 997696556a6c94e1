#include "general/pools/system_blocks.h"

#include <cstdlib>
#include <new>

#include "base/units.h"
#include "base/wipe.h"
#include "general/pools/live_picture.h"
#include "os/checker.h"
#include "os/memory/memory.h"
#include "page/memory/metadata.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kFirstBuckets = 4096;

std::size_t hash_of(const void* block) {
  return static_cast<std::size_t>((address_of(block) >> 3) * 0x9e3779b97f4a7c15u >> 20);
}

std::size_t table_bytes(std::size_t buckets) {
  return round_up(buckets * sizeof(SystemBlock*), kOsPageBytesLargest);
}

// Where malloc is ours, the thread's scope would call malloc for this block again, without end.
void* allocate_outside_of_scope(std::size_t bytes, std::size_t alignment) {
  void* const scope = this_thread_scope();
  if (scope != nullptr) set_this_thread_scope(nullptr);
  void* block = nullptr;
  const int error = posix_memalign(&block, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes);
  if (scope != nullptr) set_this_thread_scope(scope);
  return error == 0 ? block : nullptr;
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
  std::free(block);
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
  *bytes = record->bytes;
  if (pool.is_sensitive) {
    os::unpoison(block, *bytes);
    wipe(block, *bytes);
  }
  metadata.free(record, sizeof(SystemBlock));
  std::free(block);
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

}  // namespace tarn::internal
