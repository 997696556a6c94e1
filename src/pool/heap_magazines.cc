#include "pool/heap_magazines.h"

#include <algorithm>
#include <new>

#include "os/fatal.h"
#include "page/metadata.h"

namespace tarn::internal {
namespace {

// What the depot may hold: little, and what threads asked for again of late, up to so much of the heap's
// pages.
constexpr std::size_t kLeastDepotBytes = 256 * 1024;
constexpr std::size_t kMostDepotBytes = 4 * 1024 * 1024;
constexpr std::size_t kDepotPart = 4;

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
    // What could be collected at most: credits on their way between threads have no sum.
    if (const std::size_t hard_room = heap_.account.hard_room();
        bytes > hard_room && bytes - hard_room > (list_.count() + kPotCredits) * full_credit_)
      return false;
    most_credit_ = 0;  // threads that free meanwhile keep none either
    collect();
    room = heap_.account.room();
    // At most a quarter of the limit, so that a heap that is half empty is not scarce.
    scarce_room_ = std::min(
        heap_.account.least_limit() / 4,
        std::max(full_credit_ / 4, 2 * std::min(bytes, StackClasses::kLargestBlock) * (list_.count() + 1)));
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
  const SizeClass size_class = HeapSlabs::request_in_pages(size, alignment).size_class;
  return StackClasses::has(size_class) ? take_of<Path::kAny>(size_class) : nullptr;
}

bool HeapMagazines::put(void* block) { return put_on<Path::kAny>(page_map.find(block), block); }

// Gives the magazine's thread credit for a block. \returns false when a limit refuses it.
bool HeapMagazines::pay(Magazine& magazine, std::size_t bytes) {
  if (magazine.credit < bytes) take_from_pot(magazine, bytes);
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

// After a free: what is beyond half of the most goes to the pot, or back.
void HeapMagazines::even_out(Magazine& magazine) {
  give_to_pot(magazine);
  const std::size_t kept = most_credit_ / 2, credit = magazine.credit;
  if (credit <= kept) return;
  heap_.account.credit(credit - kept);
  magazine.credit = kept;
  end_scarcity_if_over();
}

// \pre the used stack is empty, or there is none.
void HeapMagazines::use_other_or_load(StackPair& of, unsigned index) {
  if (of.is_other_whole()) return of.use_whole();
  depot_.load(of, index);
}

// \pre the used stack is whole.
void HeapMagazines::use_empty_or_park(StackPair& of, unsigned index) {
  if (of.other() != nullptr && !of.is_other_whole()) return of.use_empty();
  depot_.park(of, index);
}

// Up to half of the most beyond the bytes. What goes leaves its place before it comes to another, since a
// fork's child may lose credit, but shall not find some twice.
void HeapMagazines::take_from_pot(Magazine& magazine, std::size_t bytes) {
  const std::size_t credit = magazine.credit, wanted = bytes - credit + most_credit_ / 2;
  std::size_t found = pot_.load(std::memory_order_relaxed), taken = 0;
  do {
    if (credit + found < bytes) return;
    taken = std::min(found, wanted);
  } while (!pot_.compare_exchange_weak(found, found - taken, std::memory_order_acq_rel));
  magazine.credit = credit + taken;
}

// What is beyond half of the most, if another thread may want it and all of it finds room.
void HeapMagazines::give_to_pot(Magazine& magazine) {
  const std::size_t most = most_credit_, credit = magazine.credit;
  if (credit <= most / 2 || list_.count() == 1) return;
  const std::size_t given = credit - most / 2;
  std::size_t found = pot_.load(std::memory_order_relaxed);
  if (found + given > kPotCredits * most) return;
  magazine.credit = most / 2;
  while (!pot_.compare_exchange_weak(found, found + given, std::memory_order_acq_rel))
    if (found + given > kPotCredits * most) {
      magazine.credit = credit;
      return;
    }
}

// \pre the class's used stack is empty. \returns false when there is nothing to load, and where a slab for
// the class would be too much.
bool HeapMagazines::load(Magazine& magazine, const BlockRequest& request, ReturnedPages& returned) {
  const unsigned index = index_of_class(request.size_class), room = StackClasses::room(index);
  StackPair& of = magazine.of[index];
  if (depot_.load(of, index)) return true;
  if (heap_.slabs.is_short_of_pages()) return false;
  if (of.used() == nullptr) of.set_used(depot_.take_empty(index));
  if (of.used() == nullptr) return false;
  FreeBlock* const blocks = of.used()->blocks;
  const unsigned count = heap_.slabs.take_blocks(request, blocks, (room + 1) / 2, magazine.place, returned);
  std::reverse(blocks, blocks + count);  // the lowest address is taken first
  of.set_count(count);
  heap_.taken_count += count;
  demand_.note_missed(count * request.block_bytes, depot_.bytes());
  set_room_of_depot(index);
  return count != 0;
}

void* HeapMagazines::allocate(const BlockRequest& request, ReturnedPages& returned) {
  const std::size_t bytes = request.block_bytes;
  Magazine* const magazine = magazine_for(request);
  if (magazine != nullptr) {
    if (!pay(*magazine, bytes)) return nullptr;
    StackPair& of = magazine->of[index_of_class(request.size_class)];
    if (of.count() != 0 || load(*magazine, request, returned)) return pop(*magazine, of);
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

// Call when blocks go to slabs for which the depot has no room.
void HeapMagazines::Demand::note_refused(std::size_t bytes, std::size_t in_depot) {
  refused += bytes;
  volume += bytes;
  peak = std::max(peak, in_depot + refused);
}

// Call when slabs give blocks that the depot has not.
void HeapMagazines::Demand::note_missed(std::size_t bytes, std::size_t in_depot) {
  refused -= std::min(refused, bytes);
  volume += bytes;
  const std::size_t height = in_depot + refused;
  peak = std::max(peak, height);
  asked = std::max(asked, peak - height);
}

void HeapMagazines::Demand::look(std::size_t in_depot) {
  needed = asked;
  asked = refused = volume = 0;
  peak = in_depot;
}

// After a peak of a class what is freed goes back to the slabs, and what is taken comes from the fullest of
// them: blocks that go round through the depot keep every slab of the peak. \returns whether the class still
// has stacks there.
bool HeapMagazines::set_room_of_depot(unsigned index) {
  if (depot_.may_count_wrong()) {
    visit_all();
    leave_all();
  }
  const std::size_t mapped = heap_.slabs.mapped().own();
  if (demand_.volume > 2 * mapped + kMostDepotBytes) demand_.look(depot_.bytes());
  depot_.set_room(std::clamp(std::max(demand_.needed, demand_.asked), kLeastDepotBytes,
                             std::max(kMostDepotBytes, mapped / kDepotPart)));
  return depot_.admit(index, !heap_.slabs.is_past_its_peak(class_of_index(index)));
}

void HeapMagazines::return_stack(FreeStack* stack, unsigned index, ReturnedPages& returned) {
  return_blocks(stack->blocks, StackClasses::room(index), returned);
  depot_.give_empty(stack, index);
}

// Of the classes in turn. \returns false when there is none.
bool HeapMagazines::return_next_of_depot(ReturnedPages& returned) {
  FreeStack* const stack = depot_.take_any(&next_to_trim_);
  if (stack == nullptr) return false;
  const unsigned index = next_to_trim_;
  next_to_trim_ = index + 1 < StackClasses::kCount ? index + 1 : 1;
  return_stack(stack, index, returned);
  return true;
}

void HeapMagazines::trim_depot(ReturnedPages& returned) {
  while (depot_.is_full() && return_next_of_depot(returned)) {
  }
}

// A whole stack, in the depot if there is room. If not, one of the next class in turn goes, whose blocks
// perhaps nobody takes any more: else what is left of other times would fill the depot.
void HeapMagazines::park(FreeStack* stack, unsigned index, ReturnedPages& returned) {
  if (set_room_of_depot(index))
    while (FreeStack* const refused = depot_.take_whole(index)) return_stack(refused, index, returned);
  trim_depot(returned);
  if (depot_.admits(index) && !depot_.has_room(index)) {
    demand_.note_refused(StackClasses::stack_bytes(index), depot_.bytes());
    return_next_of_depot(returned);
  }
  if (depot_.has_room(index)) return depot_.give_whole(stack, index);
  return_stack(stack, index, returned);
}

// For one block more in the used stack. \returns false when memory for stacks is refused.
bool HeapMagazines::make_room(StackPair& of, unsigned index, ReturnedPages& returned) {
  if (of.used() == nullptr) of.set_used(depot_.take_empty(index));
  if (of.used() == nullptr) return false;
  if (of.count() < of.room()) return true;
  if (of.is_other_whole()) park(of.drop_other(), index, returned);
  if (of.other() == nullptr) of.set_other(depot_.take_empty(index));
  if (of.other() == nullptr) return false;
  of.use_empty();
  return true;
}

void HeapMagazines::deallocate(void* block, ReturnedPages& returned) {
  const BlockRequest request = heap_.slabs.request_of_block(block);
  Magazine* const magazine = magazine_for(request);
  const unsigned index = index_of_class(request.size_class);
  std::uint8_t* const is_live = heap_.slabs.end_life(block);
  if (magazine != nullptr && is_live != nullptr) {
    StackPair& of = magazine->of[index];
    if (make_room(of, index, returned)) {
      of.used()->blocks[of.count()] = {block, is_live};
      of.set_count(of.count() + 1);
      magazine->credit += of.block_bytes();
      return even_out(*magazine);
    }
  }
  heap_.account.credit(heap_.slabs.take_back(block, returned));
  --heap_.taken_count;
  end_scarcity_if_over();
}

std::size_t HeapMagazines::credits() const {
  std::size_t credits = pot_.load(std::memory_order_relaxed);
  list_.for_each([&](const Magazine& magazine) { credits += magazine.credit; });
  return credits;
}

HeapMagazines::Counts HeapMagazines::cached() const {
  Counts cached{depot_.bytes(), depot_.count()};
  for (unsigned index = 1; index < StackClasses::kCount; ++index) {
    const unsigned room = StackClasses::room(index);
    list_.for_each([&](const Magazine& magazine) {
      const StackPair& of = magazine.of[index];
      const std::size_t count = of.count() + (of.is_other_whole() ? room : 0u);
      cached.count += count;
      cached.bytes += count * StackClasses::block_bytes(index);
    });
  }
  return cached;
}

// New frees wait for the mutex meanwhile.
void HeapMagazines::collect() {
  visit_all();
  take_all_credit();
  leave_all();
}

// \pre all are visited.
void HeapMagazines::take_all_credit() {
  list_.for_each([&](Magazine& magazine) { give_up_credit(magazine); });
  heap_.account.credit(pot_.exchange(0, std::memory_order_relaxed));
}

// Calls use(blocks, count, class) for each stack.
template <typename Use>
void HeapMagazines::for_each_stack(Use use) const {
  depot_.for_each_whole([&](const FreeStack& stack, unsigned index) {
    use(stack.blocks, StackClasses::room(index), class_of_index(index));
  });
  list_.for_each([&](const Magazine& magazine) {
    for (unsigned index = 1; index < StackClasses::kCount; ++index) {
      const StackPair& of = magazine.of[index];
      if (of.count() != 0) use(of.used()->blocks, of.count(), class_of_index(index));
      if (of.is_other_whole()) use(of.other()->blocks, StackClasses::room(index), class_of_index(index));
    }
  });
}

void HeapMagazines::forget() {
  depot_.forget();
  list_.for_each([&](Magazine& magazine) {
    for (StackPair& of : magazine.of) of.forget();
  });
  take_all_credit();
}

void HeapMagazines::empty(ReturnedPages& returned) {
  for_each_stack(
      [&](const FreeBlock* blocks, unsigned count, SizeClass) { return_blocks(blocks, count, returned); });
  forget();
  end_stacks();
  rest_if_small();
}

// A large heap would earn its magazines again at once.
void HeapMagazines::rest_if_small() {
  if (heap_.account.charged() >= kMostCredit) return;
  is_resting_ = true;
  heap_.slabs.prefer_mixed_pages();
  heap_.shared_use = {};
  heap_.call_rate = {};
}

void HeapMagazines::end_rest() {
  is_resting_ = false;
  heap_.slabs.prefer_slabs();
}

void HeapMagazines::validate() const {
  for_each_stack([&](const FreeBlock* blocks, unsigned count, SizeClass size_class) {
    for (unsigned i = 0; i < count; ++i) {
      TARN_CHECK(*blocks[i].is_live == 0);
      TARN_CHECK(heap_.slabs.is_taken(blocks[i], size_class));
    }
  });
  depot_.validate();
  list_.for_each([&](const Magazine& magazine) { TARN_CHECK(magazine.credit <= full_credit_); });
  TARN_CHECK(pot_ <= kPotCredits * full_credit_);
  TARN_CHECK(!is_resting_ || (cached().count == 0 && credits() == 0));
}

// \pre all are empty.
void HeapMagazines::end_stacks() {
  list_.for_each([&](Magazine& magazine) {
    for (unsigned index = 1; index < StackClasses::kCount; ++index) {
      StackPair& of = magazine.of[index];
      if (FreeStack* const stack = of.drop_used()) depot_.give_empty(stack, index);
      if (FreeStack* const stack = of.drop_other()) depot_.give_empty(stack, index);
    }
  });
  depot_.end_empty();
}

void make_magazines(detail::HeapState& heap) {
  if (os::is_fork_owner()) return;
  const os::LockGuard registry(os::global_mutex<os::LockRank::kPoolRegistry>());
  const os::LockGuard guard(heap.mutex);
  if (!heap.may_have_magazines) return;
  if (HeapMagazines* const magazines = heap.magazines.load(std::memory_order_relaxed))
    return magazines->end_rest();
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
