// A heap over its own slabs.
#include "os/checker.h"
#include "os/process.h"
#include "page/spans.h"
#include "pool/heap_magazines.h"

namespace tarn::internal {
namespace {

using detail::HeapState;
using detail::ProgramGuard;

HeapMagazines* magazines_of(const HeapState& state) {
  return state.magazines.load(std::memory_order_acquire);
}

void* take_block(HeapState& state, const BlockRequest& request, ReturnedPages& returned) {
  if (HeapMagazines* const magazines = magazines_of(state)) return magazines->allocate(request, returned);
  if (!state.account.charge(request.block_bytes)) return nullptr;
  void* const block = state.slabs.take_block(request, returned);
  if (block == nullptr) state.account.credit(request.block_bytes);
  state.taken_count += block != nullptr;
  return block;
}

void* allocate_locked(HeapState& state, const BlockRequest& request, ReturnedPages& returned) {
  void* const block = take_block(state, request, returned);
  if (block != nullptr) state.account.settle();
  return block;
}

/// A ProgramGuard of the heap's mutex that counts who has to wait for it.
class [[nodiscard]] CallGuard {
 public:
  explicit CallGuard(HeapState& state) : mutex_(ProgramGuard::is_needed() ? &state.mutex : nullptr) {
    if (mutex_ == nullptr || mutex_->try_lock()) return;
    mutex_->lock();
    state.shared_use.note_wait();
  }
  ~CallGuard() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;

 private:
  detail::Mutex* const mutex_;
};

/// What an allocation is to do once the mutex is free. A free does nothing then: behind a heap's last one
/// another thread may end it.
enum class Duty { kNone, kMakeMagazines, kLookAtClock };

/// Calls use(returned) under the heap's mutex; it says whether it allocates.
template <typename Use>
TARN_INLINE Duty use_locked(HeapState& state, const Use& use) {
  if (magazines_of(state) != nullptr && this_heap() == nullptr) attach_if_earned();
  ReturnedPages returned;
  const CallGuard guard(state);
  if (const HeapMagazines* const magazines = magazines_of(state);
      magazines != nullptr && !magazines->is_resting()) {
    use(returned);
    return Duty::kNone;
  }
  state.shared_use.note_call();
  const bool is_time_to_look = state.call_rate.note_call(), may_begin = may_have_magazines(state);
  const bool allocates = use(returned);
  if (may_begin && !allocates) state.shared_use.note_free();
  if (!allocates) return Duty::kNone;
  if (may_begin && state.shared_use.note_allocation()) return Duty::kMakeMagazines;
  return is_time_to_look ? Duty::kLookAtClock : Duty::kNone;
}

// The clock may be the program's: no lock is held around its call.
[[gnu::noinline]] void look_at_clock(HeapState& state) {
  const std::uint64_t now_ms = os::clock_ms();
  const ProgramGuard guard(state.mutex);
  state.call_rate.look(now_ms);
}

// Where no limit of live bytes is in the way, blocks in magazines may be what is missing below a limit of
// mapped bytes, or of the system. \returns whether a second try is worth it.
bool find_more(HeapState& state, std::size_t bytes) {
  HeapMagazines* const magazines = magazines_of(state);
  if (magazines == nullptr || state.account.hard_room() < bytes) return false;
  ReturnedPages returned;
  if (const ProgramGuard guard(state.mutex); magazines->cached().count == 0) return false;
  const WholeHeapGuard guard(state);
  magazines->empty(returned);
  state.slabs.release_unused(returned);
  return true;
}

bool is_beyond_limit(HeapState& state, const BlockRequest& request) {
  const ProgramGuard guard(state.mutex);
  return state.slabs.is_beyond_limit(request);
}

void* try_to_allocate(HeapState& state, const BlockRequest& request) {
  void* block = nullptr;
  const Duty duty = use_locked(state, [&](ReturnedPages& returned) {
    block = allocate_locked(state, request, returned);
    return true;
  });
  if (duty == Duty::kMakeMagazines) make_magazines(state);
  if (duty == Duty::kLookAtClock) look_at_clock(state);
  return block;
}

void* allocate(HeapState& state, std::size_t size, std::size_t alignment) {
  const BlockRequest request = state.slabs.request_of(size, alignment);
  // What can be seen to be too much is not charged for a moment: others would be refused meanwhile.
  if (request.size_class == SizeClass::kNone && is_beyond_limit(state, request)) return nullptr;
  void* block = try_to_allocate(state, request);
  if (block == nullptr && find_more(state, request.block_bytes)) block = try_to_allocate(state, request);
  if (block == nullptr) return nullptr;
  if (state.slabs.poisons()) os::note_pool_allocation(&state, block, size);
  note_soft_limits(state);
  return block;
}

void deallocate(HeapState& state, void* block) {
  use_locked(state, [&](ReturnedPages& returned) {
    if (HeapMagazines* const magazines = magazines_of(state)) {
      magazines->deallocate(block, returned);
    } else {
      state.account.credit(state.slabs.take_back(block, returned));
      --state.taken_count;
    }
    return false;
  });
}

std::size_t usable_size(HeapState& state, const void* block) {
  ProgramGuard guard(state.mutex);
  const std::size_t bytes = state.slabs.block_bytes(block);
  if (state.slabs.poisons()) os::unpoison(block, bytes);  // callers of usable_size may use all of it
  return bytes;
}

bool resize(HeapState& state, void* block, std::size_t usable, std::size_t size) {
  if (size > usable || size < usable / 2) return false;
  if (state.slabs.poisons()) {
    os::note_pool_resize(&state, block, size);
    os::unpoison(block, size);
  }
  return true;
}

bool owns(HeapState& state, const void* pointer) {
  os::LockGuard guard(state.mutex);
  return state.slabs.find(pointer) != nullptr;
}

std::size_t prewarm(HeapState& state, std::size_t bytes) {
  if (state.slabs.lies_in_buffer()) return 0;
  std::size_t taken = 0;
  ReturnedPages returned;
  for (; taken < bytes; taken += kPageBytes) {
    Span* const page = state.slabs.make_spare();
    if (page == nullptr) break;
    os::LockGuard guard(state.mutex);
    if (!state.slabs.add_spare(page)) {
      free_span(page, returned);
      break;
    }
  }
  return taken;
}

void clear(HeapState& state) {
  ReturnedPages returned;
  const WholeHeapGuard guard(state);
  if (HeapMagazines* const magazines = magazines_of(state)) magazines->forget();
  if (state.slabs.poisons()) {
    os::end_checked_pool(&state);
    os::begin_checked_pool(&state);
  }
  state.slabs.retire_all(returned);
  credit_all(state);
}

// Without the lock, because memory goes back; no other thread uses the heap any more.
void end(HeapState& state) {
  ReturnedPages returned;
  state.slabs.end(returned);
  if (HeapMagazines* const magazines = magazines_of(state)) magazines->end();
  credit_all(state);
}

}  // namespace

constexpr HeapBackEnd kHeapOverSlabs{allocate, deallocate, usable_size, resize, owns, prewarm, clear, end};

}  // namespace tarn::internal
