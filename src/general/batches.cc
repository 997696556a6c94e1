// Batches of the general pool: as many hits, but with one store of a record's top.
#include <cerrno>
#include <cstring>

#include "general/options/memory_limits.h"
#include "general/options/setup.h"
#include "general/pools/pool_header.h"
#include "general/slow_door.h"
#include "os/locks/owner_lock.h"
#include "page/spans/live_map.h"
#include "tarn/memory_pool.h"
#include "thread/observation/observation.h"
#include "thread/slow_call.h"
#include "thread/thread_heap.h"

namespace TARN_NAMESPACE {
namespace {

using namespace internal;

constexpr unsigned kLargestBatch = 4096;

// Few are copied one by one: they may have just been stored so, and a load of several would wait.
void copy_blocks(void** to, void* const* from, std::size_t count) {
  constexpr std::size_t kFew = 8;
  if (count > kFew) {
    std::memcpy(to, from, count * sizeof(void*));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) to[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
}

/// Around steps that are more than one hit: meanwhile no other thread takes blocks of the magazines.
class BatchMark {
 public:
  TARN_INLINE BatchMark() : heap_(this_heap()) {
    if (heap_ != nullptr) heap_->batch.enter_at_once(os::OwnerLock::fences);
  }
  TARN_INLINE ~BatchMark() {
    if (heap_ != nullptr) heap_->batch.leave();
  }
  BatchMark(const BatchMark&) = delete;
  BatchMark& operator=(const BatchMark&) = delete;

 private:
  ThreadHeap* const heap_;
};

void begin_all_live(SizeClass size_class, void* const* blocks, std::size_t count) {
  const std::uintptr_t word = live_word(size_class);
  for (std::size_t i = 0; word != 0 && i < count; ++i) detail::begin_live(word, blocks[i]);
}

// What the thread's magazine has, if its record is not hidden. \returns how many.
std::size_t pop_batch(SizeClass size_class, std::size_t count, void** blocks) {
  const BatchMark mark;
  detail::ThreadCache* const cache = detail::own_cache();
  detail::Record& record = detail::record_at(cache, record_of_class(size_class));
  void** const top = detail::slot_at(cache, record.top);
  if (*top == nullptr) return 0;
  const auto cached = static_cast<std::size_t>(top - this_heap()->magazines.at(size_class).blocks);
  const std::size_t taken = count < cached ? count : cached;
  copy_blocks(blocks, top + 1 - taken, taken);
  __atomic_store_n(&record.top, record.top - taken * sizeof(void*), __ATOMIC_RELAXED);
  // Last: until then a signal handler may take and free the same blocks.
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  begin_all_live(size_class, blocks, taken);
  return taken;
}

// The records of two blocks, to be compared at once.
TARN_INLINE std::size_t pair_of(detail::RecordPlace record, detail::RecordPlace next) {
  static_assert(sizeof(std::size_t) == 8);
  return number_of(record) | number_of(next) << 32;
}

// Frees the first blocks as long as they are of one class and its record has room. \returns how many.
TARN_INLINE std::size_t push_batch(void* const* blocks, std::size_t count) {
  const BatchMark mark;
  detail::ThreadCache* const cache = detail::own_cache();
  const detail::RecordPlace place = detail::record_of(cache, blocks[0]);
  detail::Record& record = detail::record_at(cache, place);
  void** const top = detail::slot_at(cache, record.top);
  const std::size_t room = (record.limit - record.top) / sizeof(void*);
  const std::size_t most = count < room ? count : room;
  if (most == 0) return 0;  // maybe of no class
  const std::uintptr_t word = detail::live_word(cache, place);
  std::size_t pushed = 0;
  // Two by two, but read and stored one by one: what was just stored so is waited for when it is read as one.
  const auto push = [&](void* block) {
    if (!detail::end_live(word, block)) return false;
    __atomic_store_n(top + ++pushed, block, __ATOMIC_RELAXED);
    return true;
  };
  while (most - pushed >= 2) {
    void* const block = __atomic_load_n(blocks + pushed, __ATOMIC_RELAXED);
    void* const next = __atomic_load_n(blocks + pushed + 1, __ATOMIC_RELAXED);
    const std::size_t places = pair_of(detail::record_of(cache, block), detail::record_of(cache, next));
    if (places != pair_of(place, place) || !push(block) || !push(next)) break;
  }
  // What is left of a pair, or comes before the block that ended the loop.
  if (pushed != most && detail::record_of(cache, blocks[pushed]) == place) push(blocks[pushed]);
  if (pushed != 0) __atomic_store_n(&record.top, record.top + pushed * sizeof(void*), __ATOMIC_RELEASE);
  return pushed;
}

// \returns how many blocks came from the slabs.
[[gnu::noinline]] std::size_t take_batch(ThreadHeap& heap, SizeClass size_class, std::size_t count,
                                         void** blocks) {
  const SlowDoor door;
  std::size_t taken = 0;
  ReturnedPages returned;
  SlowCall call(heap);
  while (taken < count) {
    const std::size_t left = count - taken;
    const unsigned wanted = left < kLargestBatch ? static_cast<unsigned>(left) : kLargestBatch;
    const unsigned part = take_blocks(heap, size_class, blocks + taken, wanted, returned);
    if (part == 0) break;
    taken += part;
  }
  begin_all_live(size_class, blocks, taken);
  return taken;
}

bool may_take_batch(const ThreadHeap* heap, std::size_t size) {
  return size <= detail::kMediumLimit && heap != nullptr && scope_pool() == nullptr &&
         !thread_limits.every_call_is_slow && !this_thread().is_counted && !is_disturbed();
}

}  // namespace

namespace {

std::size_t allocate_one_by_one(std::size_t size, std::size_t count, void** blocks, std::size_t taken) {
  while (taken < count && (blocks[taken] = allocate(size)) != nullptr) ++taken;
  if (taken < count) errno = ENOMEM;
  return taken;
}

}  // namespace

std::size_t allocate_batch(std::size_t size, std::size_t count, void** blocks) noexcept {
  std::size_t taken = 0;
  if constexpr (detail::kIsHardened) return allocate_one_by_one(size, count, blocks, taken);
  // As a hit: where the records are hidden, or the options not read yet, all are empty.
  if (size <= detail::kMediumLimit) taken = pop_batch(class_of_size(size), count, blocks);
  if (taken == count) return taken;
  ThreadHeap* const heap = heap_of_this_thread();
  if (may_take_batch(heap, size)) {
    taken += take_batch(*heap, class_of_size(size), count - taken, blocks + taken);
    answer_limits();
  }
  // One by one in a scope and above the classes, and where none was left: a single call tries harder.
  return allocate_one_by_one(size, count, blocks, taken);
}

namespace {

// In the hardened library each is a hit.
void deallocate_alone(void* block) {
  detail::kIsHardened ? deallocate(block) : detail::deallocate_slow(block);
}

}  // namespace

// As many hits, but for the record: blocks of one class in a row push to it with one store of its top.
void deallocate_batch(void* const* blocks, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count;) {
    const std::size_t pushed = detail::kIsHardened ? 0 : push_batch(blocks + i, count - i);
    i += pushed;
    if (pushed == 0) deallocate_alone(blocks[i++]);  // it may give the record another magazine
  }
}

}  // namespace TARN_NAMESPACE
