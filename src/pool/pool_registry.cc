#include "pool/pool_registry.h"

#include <pthread.h>

#include <atomic>

#include "os/fatal.h"
#include "pool/private_class.h"
#include "pool/setup.h"
#include "pool/system_blocks.h"
#include "tarn/detail/error.h"

namespace tarn::internal {

constinit PoolRegistry pool_registry;

void PoolHeader::set_name(const char* text) {
  std::size_t length = 0;
  for (; length + 1 < kNameBytes && text[length] != '\0'; ++length) {
    const char character = text[length];
    name[length] = character < ' ' || character == '"' || character == '\\' ? '_' : character;  // it goes into JSON
  }
  name[length] = '\0';
}

namespace {

constinit std::atomic<bool> fork_hooks_are_set{false};

// They run before the thread tier's, which were set first: its locks rank below.
void set_fork_hooks() {
  if (fork_hooks_are_set.exchange(true)) return;
  static_cast<void>(heap_of_this_thread());
  pthread_atfork([] { pool_registry.lock_all_for_fork(); }, [] { pool_registry.unlock_all_after_fork(); },
                 [] {
                   pool_registry.unlock_all_after_fork();
                   pool_registry.forget_vanished_stacks();
                 });
}

}  // namespace

void PoolRegistry::add(PoolHeader& pool) {
  set_fork_hooks();
  os::LockGuard guard(mutex_);
  pools_.push_back(&pool);
}

void PoolRegistry::remove(PoolHeader& pool) {
  os::LockGuard guard(mutex_);
  pools_.remove(&pool);
}

void PoolRegistry::add_callers_memory(PoolHeader& pool) {
  os::LockGuard guard(callers_memory_mutex_);
  pool.next_in_callers_memory = first_in_callers_memory_.load(std::memory_order_relaxed);
  first_in_callers_memory_.store(&pool, std::memory_order_release);
}

void PoolRegistry::remove_callers_memory(PoolHeader& pool) {
  os::LockGuard guard(callers_memory_mutex_);
  PoolHeader* const first = first_in_callers_memory_.load(std::memory_order_relaxed);
  if (first == &pool) return first_in_callers_memory_.store(pool.next_in_callers_memory, std::memory_order_release);
  PoolHeader* before = first;
  while (before->next_in_callers_memory != &pool) before = before->next_in_callers_memory;
  before->next_in_callers_memory = pool.next_in_callers_memory;
}

Span* PoolRegistry::find_span(const void* pointer) {
  if (first_in_callers_memory_.load(std::memory_order_acquire) == nullptr) return nullptr;
  os::LockGuard guard(callers_memory_mutex_);
  PoolHeader* pool = first_in_callers_memory_.load(std::memory_order_relaxed);
  for (; pool != nullptr; pool = pool->next_in_callers_memory)
    if (Span* const found = pool->operations->find_span(*pool, pointer)) return found;
  return nullptr;
}

std::size_t PoolRegistry::release_unused() {
  std::size_t bytes = 0;
  for_each([&](PoolHeader& pool) {
    if (pool.operations->release_unused != nullptr) bytes += pool.operations->release_unused(pool);
  });
  return bytes;
}

void PoolRegistry::lock_all_for_fork() {
  mutex_.lock();
  callers_memory_mutex_.lock();
  private_class_mutex().lock();
  for (PoolHeader* pool = pools_.first(); pool != nullptr; pool = pool->next) {
    if (pool->user_mutex != nullptr) pool->user_mutex->lock();
    pool->structure.lock();
  }
  system_blocks.mutex().lock();  // a pool that has its own lock waits for it
}

void PoolRegistry::unlock_all_after_fork() {
  system_blocks.mutex().unlock();
  for (PoolHeader* pool = pools_.first(); pool != nullptr; pool = pool->next) {
    pool->structure.unlock();
    if (pool->user_mutex != nullptr) pool->user_mutex->unlock();
  }
  private_class_mutex().unlock();
  callers_memory_mutex_.unlock();
  mutex_.unlock();
}

void PoolRegistry::forget_vanished_stacks() {
  os::LockGuard guard(mutex_);
  for (PoolHeader* pool = pools_.first(); pool != nullptr;) {
    PoolHeader* const next = pool->next;
    if (pool->stack_owner != nullptr && pool->stack_owner != &detail::thread_cache) pools_.remove(pool);
    pool = next;
  }
}

}  // namespace tarn::internal

namespace tarn {

void detail::end_for_lack_of_memory() noexcept { internal::os::fatal("out of memory in a pool that was to throw"); }

void for_each_pool(void (*visit)(const PoolUse& use, void* context), void* context) {
  internal::pool_registry.for_each([&](internal::PoolHeader& pool) {
    PoolUse use{};
    {
      internal::os::LockGuard guard(pool.structure);
      use = pool.operations->use_locked(pool);
    }
    visit(use, context);
  });
}

}  // namespace tarn
