#include "pool/system_blocks.h"

#include <cstdlib>

#include "base/units.h"
#include "os/memory.h"

namespace tarn::internal {
namespace {

constexpr std::size_t kFirstCapacity = 4096;

void* const kRemoved = reinterpret_cast<void*>(1);

std::size_t hash_of(const void* block) {
  return static_cast<std::size_t>((address_of(block) >> 3) * 0x9e3779b97f4a7c15u >> 20);
}

}  // namespace

constinit SystemBlocks system_blocks;

SystemBlocks::Entry* SystemBlocks::find_locked(const void* block) {
  if (capacity_ == 0) return nullptr;
  for (std::size_t i = hash_of(block);; ++i) {
    Entry& entry = entries_[i & (capacity_ - 1)];
    if (entry.block == block) return &entry;
    if (entry.block == nullptr) return nullptr;
  }
}

bool SystemBlocks::insert_locked(const Entry& entry) {
  if (filled_ * 2 >= capacity_ && !grow_locked()) return false;
  std::size_t i = hash_of(entry.block);
  while (entries_[i & (capacity_ - 1)].block != nullptr) ++i;
  entries_[i & (capacity_ - 1)] = entry;
  ++filled_;
  return true;
}

bool SystemBlocks::grow_locked() {
  const std::size_t old_capacity = capacity_;
  Entry* const old_entries = entries_;
  const std::size_t capacity = old_capacity == 0 ? kFirstCapacity : old_capacity * 2;
  auto* const entries = static_cast<Entry*>(os::map(round_up(capacity * sizeof(Entry), kOsPageBytesLargest)));
  if (entries == nullptr) return false;
  entries_ = entries;
  capacity_ = capacity;
  filled_ = 0;
  for (std::size_t i = 0; i < old_capacity; ++i)
    if (old_entries[i].block != nullptr && old_entries[i].block != kRemoved) insert_locked(old_entries[i]);
  if (old_entries != nullptr) os::release(old_entries, round_up(old_capacity * sizeof(Entry), kOsPageBytesLargest));
  return true;
}

void* SystemBlocks::allocate(PoolHeader& pool, std::size_t bytes, std::size_t alignment) {
  void* block = nullptr;
  if (posix_memalign(&block, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes) != 0) return nullptr;
  os::LockGuard guard(mutex_);
  if (insert_locked({block, &pool, bytes})) return block;
  std::free(block);
  return nullptr;
}

std::size_t SystemBlocks::deallocate(void* block) {
  std::size_t bytes = 0;
  {
    os::LockGuard guard(mutex_);
    Entry& entry = *find_locked(block);
    bytes = entry.bytes;
    entry.block = kRemoved;
  }
  std::free(block);
  return bytes;
}

void SystemBlocks::deallocate_all(const PoolHeader& pool) {
  std::size_t index = 0;
  while (void* const block = next_of(pool, &index)) deallocate(block);
}

void* SystemBlocks::next_of(const PoolHeader& pool, std::size_t* index) {
  os::LockGuard guard(mutex_);
  while (*index < capacity_) {
    const Entry& entry = entries_[(*index)++];
    if (entry.block != nullptr && entry.block != kRemoved && entry.pool == &pool) return entry.block;
  }
  return nullptr;
}

PoolHeader* SystemBlocks::pool_of(const void* block) {
  os::LockGuard guard(mutex_);
  const Entry* const entry = find_locked(block);
  return entry != nullptr ? entry->pool : nullptr;
}

std::size_t SystemBlocks::bytes_of_block(const void* block) {
  os::LockGuard guard(mutex_);
  const Entry* const entry = find_locked(block);
  return entry != nullptr ? entry->bytes : 0;
}

}  // namespace tarn::internal
