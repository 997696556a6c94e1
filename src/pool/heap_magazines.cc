#include "pool/heap_magazines.h"

#include <algorithm>
#include <new>

#include "os/fatal.h"
#include "page/metadata.h"

namespace tarn::internal {
namespace {

// What the depot may hold: little, or so much of what the heap is charged.
constexpr std::size_t kSmallDepotBytes = 256 * 1024;
constexpr std::size_t kDepotPart = 2;

}  // namespace

HeapMagazines* HeapMagazines::make(detail::HeapState& heap) {
  void* const record = metadata.allocate(sizeof(HeapMagazines));
  if (record == nullptr) return nullptr;
  const std::uint32_t slot = take_pool_slot();
  if (slot == PoolTable::kMostSlots) {
    metadata.free(record, sizeof(HeapMagazines));
    return nullptr;
  }
  auto* const magazines = new (record) HeapMagazines(heap, slot);
  magazines->heed_limits();
  heap.slabs.keep_lives();
  return magazines;
}

void HeapMagazines::end() {
  forget();
  end_stacks();
  list_.end();
  metadata.free(this, sizeof(HeapMagazines));
}

void HeapMagazines::heed_limits() {
  full_credit_ = keeps_no_credit_ ? 0 : std::min(kMostCredit, heap_.account.least_limit() / kLimitPerCredit);
  end_scarcity();
}

void HeapMagazines::keep_no_credit() {
  keeps_no_credit_ = true;
  heed_limits();
  collect();
}

void HeapMagazines::end_scarcity() {
  is_scarce_ = false;
  most_credit_ = full_credit_;
}

// Charges the heap, with up to *extra bytes more. Half of what is left below a limit is for all threads.
// \returns false when not even the bytes may be charged; *extra is what was charged more.
bool HeapMagazines::charge(std::size_t bytes, std::size_t* extra) {
  std::size_t room = heap_.account.room();
  if (bytes > room && most_credit_ != 0) {
    if (const std::size_t hard_room = heap_.account.hard_room();
        bytes > hard_room && bytes - hard_room > credits())
      return false;
    most_credit_ = 0;  // threads that free meanwhile keep none either
    collect();
    room = heap_.account.room();
    scarce_room_ = std::max(full_credit_ / 4, 2 * std::min(bytes, kLargestBlock) * (list_.count() + 1));
    is_scarce_ = room < scarce_room_;
    if (!is_scarce_) most_credit_ = full_credit_;
  }
  const bool crosses = bytes > room;
  *extra = crosses || is_scarce_ ? 0 : std::min(*extra, (room - bytes) / (2 * (list_.count() + 1)));
  if (!heap_.account.charge(bytes + *extra)) return false;
  end_scarcity_if_over();
  return true;
}

void* HeapMagazines::take(std::size_t size, std::size_t alignment) {
  return take_of<Path::kAny>(HeapSlabs::request_in_pages(size, alignment).size_class);
}

bool HeapMagazines::put(void* block) { return put_on<Path::kAny>(block); }

// Gives the magazine's thread credit for a block. \returns false when a limit refuses it.
bool HeapMagazines::pay(Magazine& magazine, std::size_t bytes) {
  if (magazine.credit >= bytes) return true;
  const std::size_t most = most_credit_, credit = magazine.credit;
  std::size_t extra = most > credit ? std::min(most / 2, most - credit) : 0;
  if (!charge(bytes, &extra)) return false;
  magazine.credit += bytes + extra;
  return true;
}

void HeapMagazines::give_up_credit(Magazine& magazine) {
  heap_.account.credit(magazine.credit);
  magazine.credit = 0;
}

void HeapMagazines::end_scarcity_if_over() {
  if (is_scarce_ && heap_.account.room() > std::max(full_credit_, 2 * scarce_room_)) end_scarcity();
}

// After a free: what is beyond half of the most goes back.
void HeapMagazines::even_out(Magazine& magazine) {
  const std::size_t kept = most_credit_ / 2, credit = magazine.credit;
  if (credit <= kept) return;
  heap_.account.credit(credit - kept);
  magazine.credit = kept;
  end_scarcity_if_over();
}

HeapMagazines::Stack* HeapMagazines::take_empty() {
  if (Stack* const stack = empty_) {
    empty_ = stack->next;
    return stack;
  }
  return static_cast<Stack*>(metadata.allocate(sizeof(Stack)));
}

void HeapMagazines::give_empty(Stack* stack) {
  if (stack == nullptr) return;
  stack->next = empty_;
  empty_ = stack;
}

// \pre the class's used stack is empty. \returns false when there is nothing to load, and where a slab for
// the class would be too much.
bool HeapMagazines::load(Magazine& magazine, const BlockRequest& request, ReturnedPages& returned) {
  const unsigned index = index_of_class(request.size_class), room = room_of(request.block_bytes);
  OfClass& of = magazine.of[index];
  if (Stack* const whole = depot_[index]) {
    depot_[index] = whole->next;
    depot_bytes_ -= room * request.block_bytes;
    give_empty(of.used());
    of.set_used(whole);
    of.set_count(room);
    return true;
  }
  if (heap_.slabs.is_short_of_pages()) return false;
  if (of.used() == nullptr) of.set_used(take_empty());
  if (of.used() == nullptr) return false;
  FreeBlock* const blocks = of.used()->blocks;
  const unsigned count = heap_.slabs.take_blocks(request, blocks, (room + 1) / 2, returned);
  std::reverse(blocks, blocks + count);  // the lowest address is taken first
  of.set_count(count);
  heap_.taken_count += count;
  return count != 0;
}

void* HeapMagazines::allocate(const BlockRequest& request, ReturnedPages& returned) {
  const std::size_t bytes = request.block_bytes;
  Magazine* const magazine = has_stacks(request) ? list_.make_of_this_thread() : nullptr;
  if (magazine != nullptr) {
    if (!pay(*magazine, bytes)) return nullptr;
    OfClass& of = magazine->of[index_of_class(request.size_class)];
    if (of.count() != 0 || load(*magazine, request, returned)) return pop(*magazine, of, bytes);
    void* const block = take_without_stack(request, returned);
    if (block == nullptr) {
      give_up_credit(*magazine);  // what was paid, and what is not for the peak
    } else {
      magazine->credit -= bytes;
    }
    return block;
  }
  std::size_t extra = 0;
  if (!charge(bytes, &extra)) return nullptr;
  void* const block = take_without_stack(request, returned);
  if (block == nullptr) heap_.account.credit(bytes);
  return block;
}

void* HeapMagazines::take_without_stack(const BlockRequest& request, ReturnedPages& returned) {
  void* const block = heap_.slabs.take_block(request, returned);
  heap_.taken_count += block != nullptr;
  return block;
}

void HeapMagazines::return_blocks(const FreeBlock* blocks, unsigned count, ReturnedPages& returned) {
  for (unsigned i = 0; i < count; ++i) heap_.slabs.take_back(blocks[i].block, returned);
  heap_.taken_count -= count;
}

// Classes in turn.
void HeapMagazines::trim_depot(std::size_t most_bytes, ReturnedPages& returned) {
  while (depot_bytes_ > most_bytes) {
    next_to_trim_ = next_to_trim_ + 1 < kClasses ? next_to_trim_ + 1 : 1;
    Stack* const stack = depot_[next_to_trim_];
    if (stack == nullptr) continue;
    const std::size_t block_bytes = kGeometry[class_of_index(next_to_trim_)].block_bytes;
    depot_[next_to_trim_] = stack->next;
    depot_bytes_ -= room_of(block_bytes) * block_bytes;
    return_blocks(stack->blocks, room_of(block_bytes), returned);
    give_empty(stack);
  }
}

// A whole stack, in the depot.
void HeapMagazines::park(Stack* stack, unsigned index, unsigned count, ReturnedPages& returned) {
  stack->next = depot_[index];
  depot_[index] = stack;
  depot_bytes_ += count * std::size_t{kGeometry[class_of_index(index)].block_bytes};
  trim_depot(std::max(kSmallDepotBytes, heap_.account.charged() / kDepotPart), returned);
}

// For one block more in the used stack. \returns false when memory for stacks is refused.
bool HeapMagazines::make_room(OfClass& of, unsigned index, unsigned room, ReturnedPages& returned) {
  if (of.used() == nullptr) of.set_used(take_empty());
  if (of.used() == nullptr) return false;
  if (of.count() < room) return true;
  if (of.is_other_whole()) {
    Stack* const whole = of.other();
    of.use_other_no_more();
    park(whole, index, room, returned);
  }
  if (of.other() == nullptr) of.set_other(take_empty());
  if (of.other() == nullptr) return false;
  of.use_empty();
  return true;
}

void HeapMagazines::deallocate(void* block, ReturnedPages& returned) {
  const BlockRequest request = heap_.slabs.request_of_block(block);
  Magazine* const magazine = has_stacks(request) ? list_.make_of_this_thread() : nullptr;
  const unsigned index = index_of_class(request.size_class);
  std::uint8_t* const is_live = heap_.slabs.end_life(block);
  if (magazine != nullptr && is_live != nullptr) {
    OfClass& of = magazine->of[index];
    if (make_room(of, index, room_of(request.block_bytes), returned)) {
      push(*magazine, of, request.block_bytes, {block, is_live});
      return even_out(*magazine);
    }
  }
  heap_.account.credit(heap_.slabs.take_back(block, returned));
  --heap_.taken_count;
  end_scarcity_if_over();
}

std::size_t HeapMagazines::credits() const {
  std::size_t credits = 0;
  list_.for_each([&](const Magazine& magazine) { credits += magazine.credit; });
  return credits;
}

HeapMagazines::Counts HeapMagazines::cached() const {
  Counts cached{depot_bytes_, 0};
  for (unsigned index = 1; index < kClasses; ++index) {
    const std::size_t block_bytes = kGeometry[class_of_index(index)].block_bytes;
    const unsigned room = room_of(block_bytes);
    for (const Stack* stack = depot_[index]; stack != nullptr; stack = stack->next) cached.count += room;
    list_.for_each([&](const Magazine& magazine) {
      const OfClass& of = magazine.of[index];
      const std::size_t count = of.count() + (of.is_other_whole() ? room : 0u);
      cached.count += count;
      cached.bytes += count * block_bytes;
    });
  }
  return cached;
}

// New frees wait for the mutex meanwhile.
void HeapMagazines::collect() {
  visit_all();
  list_.for_each([&](Magazine& magazine) { give_up_credit(magazine); });
  leave_all();
}

// Calls use(blocks, count, class) for each stack.
template <typename Use>
void HeapMagazines::for_each_stack(Use use) const {
  for (unsigned index = 1; index < kClasses; ++index) {
    const SizeClass size_class = class_of_index(index);
    const unsigned room = room_of(kGeometry[size_class].block_bytes);
    for (const Stack* stack = depot_[index]; stack != nullptr; stack = stack->next)
      use(stack->blocks, room, size_class);
    list_.for_each([&](const Magazine& magazine) {
      const OfClass& of = magazine.of[index];
      if (of.count() != 0) use(of.used()->blocks, of.count(), size_class);
      if (of.is_other_whole()) use(of.other()->blocks, room, size_class);
    });
  }
}

void HeapMagazines::forget() {
  for (Stack*& first : depot_)
    while (Stack* const stack = first) {
      first = stack->next;
      give_empty(stack);
    }
  depot_bytes_ = 0;
  list_.for_each([&](Magazine& magazine) {
    for (OfClass& of : magazine.of) of.forget();
    give_up_credit(magazine);
  });
}

void HeapMagazines::empty(ReturnedPages& returned) {
  for_each_stack(
      [&](const FreeBlock* blocks, unsigned count, SizeClass) { return_blocks(blocks, count, returned); });
  forget();
  end_stacks();
}

void HeapMagazines::validate() const {
  std::size_t depot_bytes = 0;
  for_each_stack([&](const FreeBlock* blocks, unsigned count, SizeClass size_class) {
    for (unsigned i = 0; i < count; ++i) {
      TARN_CHECK(*blocks[i].is_live == 0);
      TARN_CHECK(heap_.slabs.is_taken(blocks[i], size_class));
    }
  });
  for (unsigned index = 1; index < kClasses; ++index) {
    const std::size_t block_bytes = kGeometry[class_of_index(index)].block_bytes;
    for (const Stack* stack = depot_[index]; stack != nullptr; stack = stack->next)
      depot_bytes += room_of(block_bytes) * block_bytes;
  }
  TARN_CHECK(depot_bytes == depot_bytes_);
  list_.for_each([&](const Magazine& magazine) { TARN_CHECK(magazine.credit <= full_credit_); });
}

// \pre all are empty.
void HeapMagazines::end_stacks() {
  list_.for_each([&](Magazine& magazine) {
    for (OfClass& of : magazine.of) {
      give_empty(of.used());
      give_empty(of.other());
      of.set_used(nullptr);
      of.set_other(nullptr);
    }
  });
  while (Stack* const stack = empty_) {
    empty_ = stack->next;
    metadata.free(stack, sizeof(Stack));
  }
}

void make_magazines(detail::HeapState& heap) {
  if (os::is_fork_owner()) return;
  const os::LockGuard registry(os::global_mutex<os::LockRank::kPoolRegistry>());
  const os::LockGuard guard(heap.mutex);
  if (!heap.may_have_magazines || heap.magazines.load(std::memory_order_relaxed) != nullptr) return;
  heap.magazines.store(HeapMagazines::make(heap), std::memory_order_release);
}

WholeHeapGuard::WholeHeapGuard(detail::HeapState& heap) : heap_(heap) {
  heap_.mutex.lock();
  magazines_ = heap_.magazines.load(std::memory_order_relaxed);
  if (magazines_ != nullptr) magazines_->visit_all();
}

WholeHeapGuard::~WholeHeapGuard() {
  if (magazines_ != nullptr) magazines_->leave_all();
  heap_.mutex.unlock();
}

}  // namespace tarn::internal
