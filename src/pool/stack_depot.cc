#include "pool/stack_depot.h"

#include "os/fatal.h"
#include "page/metadata.h"

namespace tarn::internal {
namespace {

/// Holds the lock of a class; \pre no other thread that runs holds it for long.
class [[nodiscard]] ClassGuard {
 public:
  explicit ClassGuard(os::BriefLock& lock) : lock_(lock) { lock_.lock(); }
  ~ClassGuard() { lock_.unlock(); }
  ClassGuard(const ClassGuard&) = delete;
  ClassGuard& operator=(const ClassGuard&) = delete;

 private:
  os::BriefLock& lock_;
};

}  // namespace

// \pre the class is locked, or all are visited; also of the next functions.
void StackDepot::push(std::atomic<FreeStack*>& first, FreeStack* stack) {
  stack->next = first.load(std::memory_order_relaxed);
  first.store(stack, std::memory_order_release);
}

FreeStack* StackDepot::pop(std::atomic<FreeStack*>& first) {
  FreeStack* const stack = first.load(std::memory_order_relaxed);
  if (stack != nullptr) first.store(stack->next, std::memory_order_release);
  return stack;
}

// In such an order that a fork's child may find too many bytes, and never too few.
void StackDepot::count_in(OfClass& of, unsigned index) {
  bytes_.fetch_add(StackClasses::stack_bytes(index), std::memory_order_acq_rel);
  of.count += 1;
}

// In a fork's child the count may lack the last stack.
void StackDepot::count_out(OfClass& of, unsigned index) {
  if (of.count == 0) return;
  of.count -= 1;
  bytes_.fetch_sub(StackClasses::stack_bytes(index), std::memory_order_acq_rel);
}

bool StackDepot::load(StackPair& pair, unsigned index) {
  OfClass& of = of_[index];
  if (of.whole.load(std::memory_order_relaxed) == nullptr || !of.lock.try_lock()) return false;
  FreeStack* const whole = pop(of.whole);
  if (whole != nullptr) {
    count_out(of, index);
    if (FreeStack* const empty = pair.drop_used()) push(of.empty, empty);
  }
  of.lock.unlock();
  if (whole == nullptr) return false;
  pair.set_used(whole);
  pair.set_count(pair.room());
  return true;
}

bool StackDepot::park(StackPair& pair, unsigned index) {
  OfClass& of = of_[index];
  const bool has_other = pair.is_other_whole();
  if (has_other && !has_room(index)) return false;
  if (of.empty.load(std::memory_order_relaxed) == nullptr || !of.lock.try_lock()) return false;
  FreeStack* const empty = pop(of.empty);
  if (empty != nullptr && has_other) {
    push(of.whole, pair.drop_other());
    count_in(of, index);
  }
  of.lock.unlock();
  if (empty == nullptr) return false;
  pair.set_other(empty);
  pair.use_empty();
  return true;
}

FreeStack* StackDepot::take_whole(unsigned index) {
  OfClass& of = of_[index];
  if (of.whole.load(std::memory_order_relaxed) == nullptr) return nullptr;
  const ClassGuard guard(of.lock);
  FreeStack* const stack = pop(of.whole);
  if (stack != nullptr) count_out(of, index);
  return stack;
}

FreeStack* StackDepot::take_any(unsigned* index) {
  for (unsigned looked_at = 0; looked_at < StackClasses::kCount; ++looked_at) {
    if (FreeStack* const stack = take_whole(*index)) return stack;
    *index = *index + 1 < StackClasses::kCount ? *index + 1 : 1;
  }
  return nullptr;
}

FreeStack* StackDepot::take_empty(unsigned index) {
  {
    const ClassGuard guard(of_[index].lock);
    if (FreeStack* const stack = pop(of_[index].empty)) return stack;
  }
  return static_cast<FreeStack*>(metadata.allocate(sizeof(FreeStack)));
}

void StackDepot::give_empty(FreeStack* stack, unsigned index) {
  const ClassGuard guard(of_[index].lock);
  push(of_[index].empty, stack);
}

void StackDepot::give_whole(FreeStack* stack, unsigned index) {
  OfClass& of = of_[index];
  const ClassGuard guard(of.lock);
  push(of.whole, stack);
  count_in(of, index);
}

std::size_t StackDepot::count() const {
  std::size_t count = 0;
  for (unsigned index = 1; index < StackClasses::kCount; ++index)
    count += std::size_t{of_[index].count} * StackClasses::room(index);
  return count;
}

void StackDepot::heed_fork() {
  if (!may_count_wrong()) return;
  process_number_ = os::BriefLock::this_process();
  std::uint32_t counts[StackClasses::kCount] = {};
  for_each_whole([&](const FreeStack&, unsigned index) { ++counts[index]; });
  std::size_t bytes = 0;
  for (unsigned index = 1; index < StackClasses::kCount; ++index) {
    of_[index].count = counts[index];
    bytes += counts[index] * StackClasses::stack_bytes(index);
  }
  bytes_ = bytes;
}

void StackDepot::forget() {
  for (unsigned index = 1; index < StackClasses::kCount; ++index) {
    OfClass& of = of_[index];
    while (FreeStack* const stack = pop(of.whole)) push(of.empty, stack);
    of.count = 0;
  }
  bytes_ = 0;
}

void StackDepot::end_empty() {
  for (OfClass& of : of_)
    while (FreeStack* const stack = pop(of.empty)) metadata.free(stack, sizeof(FreeStack));
}

void StackDepot::validate() const {
  std::size_t bytes = 0;
  for_each_whole([&](const FreeStack&, unsigned index) { bytes += StackClasses::stack_bytes(index); });
  TARN_CHECK(bytes == this->bytes());
  for (unsigned index = 1; index < StackClasses::kCount; ++index) {
    std::uint32_t count = 0;
    for (const FreeStack* stack = of_[index].whole; stack != nullptr; stack = stack->next) ++count;
    TARN_CHECK(count == of_[index].count);
  }
}

}  // namespace tarn::internal
