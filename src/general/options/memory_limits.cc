#include "general/options/memory_limits.h"

#include "central/owners.h"
#include "general/hardened/large_guards.h"
#include "os/locks/held_locks.h"
#include "os/memory/available_memory.h"
#include "page/give_back/page_cache.h"
#include "thread/magazine.h"
#include "thread/registry.h"
#include "thread/this_thread.h"

namespace tarn::internal {
namespace {

// A system call for each page would cost more than what a chunk more of free memory saves.
std::size_t at_least_a_chunk(std::size_t bytes) { return bytes < kChunkBytes ? kChunkBytes : bytes; }

std::size_t cached_bytes(const ThreadHeap* heap) {
  if (heap == nullptr) return 0;
  std::size_t bytes = 0;
  for (const SizeClass size_class : all_classes())
    bytes += count_of(*heap, size_class) * std::size_t{class_geometry[size_class].block_bytes};
  return bytes;
}

// Makes free pages of what the tiers above keep.
void free_kept_memory() {
  memory_limit.begin_search();
  if (ThreadHeap* const heap = this_heap(); heap != nullptr) {
    ReturnedPages returned;
    HeapGuard guard(*heap);
    drop_magazines_locked(*heap, returned);
  }
  registry.return_all_left(Registry::Left::kAll);
  registry.collect_magazines();
  owners.trim_all_slabs(TrimDepth::kIdle);
}

// How much the system will grant is not known: so all that is kept is freed, and may serve instead. A chunk
// of another density serves only when it is wholly purged.
bool find_memory_beside_system(std::size_t refused_bytes) {
  if (!memory_limit.may_search()) return false;
  const std::size_t before = page_cache.stats().used_bytes;
  free_kept_memory();
  const std::size_t after = page_cache.stats().used_bytes;
  memory_limit.end_search(after >= before || before - after < refused_bytes);
  return true;
}

void call(tarn_limit_event_kind kind, std::size_t limit) {
  const LimitCallback callback = memory_limit.callback();
  if (callback.function == nullptr || limit == 0) return;
  os::check_no_lock_is_held("while a function of the program's runs");
  const tarn_limit_event event{kind, memory_limit.held(), limit};
  callback.function(&event, callback.context);
}

void answer_crossing() {
  const auto is_above = [] { return memory_limit.above_soft_limit() != 0; };
  const auto give_back = [] { page_cache.purge_unkept(at_least_a_chunk(memory_limit.above_soft_limit())); };
  if (is_above()) end_quarantine(), give_back();
  if (!is_above()) return;
  if (memory_limit.begin_search_above_soft_limit()) {
    free_kept_memory();
    if (is_above()) give_back();
  }
  if (is_above() && memory_limit.begin_crossing()) call(TARN_SOFT_LIMIT_CROSSED, memory_limit.soft_limit());
}

}  // namespace

bool may_be_had(std::size_t bytes) {
  constexpr std::size_t kSmall = std::size_t{64} << 20;
  const std::size_t limit = memory_limit.hard_limit();
  if (bytes > kLargestRequest || (limit != 0 && bytes > limit)) return false;
  return bytes <= kSmall || bytes <= os::available_bytes();
}

bool find_memory(const Refusal& refusal) {
  const std::size_t refused_bytes = refusal.bytes;
  const bool had_waiting = end_quarantine();
  if (refusal.by == Refusal::By::kSystem) return find_memory_beside_system(refused_bytes) || had_waiting;
  const auto missing = [refused_bytes] {
    const std::size_t room = memory_limit.room();
    return refused_bytes > room ? refused_bytes - room : 0;
  };
  // A purge that is under way on another thread is waited for.
  const auto purge = [&missing] {
    if (const std::size_t bytes = missing(); bytes != 0) page_cache.purge(at_least_a_chunk(bytes));
    return missing() == 0;
  };
  if (missing() == 0) return true;
  // What never fits is not worth the free memory.
  if (const std::size_t limit = memory_limit.hard_limit(); limit != 0 && refused_bytes > limit) return false;
  if (page_cache.dirty_bytes() >= missing() && purge()) return true;
  if (!memory_limit.may_search() && cached_bytes(this_heap()) < missing()) return false;
  free_kept_memory();
  const bool is_found = purge();
  memory_limit.end_search(!is_found);
  return is_found;
}

void answer_limits_slow() {
  // In a handler of a fork the thread holds all locks; a later request answers.
  if (os::is_fork_owner() || !memory_limit.begin_telling()) return;
  const std::uint32_t events = memory_limit.take_events();
  if ((events & MemoryLimit::kRose) != 0) answer_crossing();
  if ((events & MemoryLimit::kRefused) != 0) call(TARN_HARD_LIMIT_REFUSED, memory_limit.hard_limit());
  memory_limit.end_telling();
}

}  // namespace tarn::internal
