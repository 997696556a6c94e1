#include "thread/slabs_in_order.h"

#include <algorithm>

#include "base/units.h"
#include "os/memory.h"
#include "os/process.h"

namespace tarn::internal {

template <typename Visit>
void SlabsInOrder::for_each(const Visit& visit) const {
  for_each_owner(owner_, [&](SlabOwner& one) {
    os::LockGuard guard(one.mutex);  // a look may sort the lists
    for (Span* slab = one.of(class_).available.first(); slab != nullptr; slab = slab->next) visit(slab);
    for (Span* slab = one.of(class_).full.first(); slab != nullptr; slab = slab->next) visit(slab);
  });
}

SlabsInOrder::SlabsInOrder(SlabOwner& owner, SizeClass size_class) : owner_(owner), class_(size_class) {
  for_each([&](Span*) { ++count_; });
  bytes_ = round_up((count_ + 1) * sizeof(Span*), os::page_bytes());
  sorted_ = static_cast<Span**>(os::map(bytes_));
  if (sorted_ == nullptr) return;
  std::size_t added = 0;
  for_each([&](Span* slab) {
    if (added != count_) sorted_[added++] = slab;
  });
  count_ = added;
  std::sort(sorted_, sorted_ + count_, [](const Span* a, const Span* b) { return a->start < b->start; });
}

SlabsInOrder::~SlabsInOrder() {
  if (sorted_ != nullptr) os::release(sorted_, bytes_);
}

const Span* SlabsInOrder::next() {
  if (sorted_ != nullptr) return at_ == count_ ? nullptr : sorted_[at_++];
  const Span* lowest = nullptr;
  for_each([&](const Span* slab) {
    const bool is_behind = last_ == nullptr || slab->start > last_->start;
    if (is_behind && (lowest == nullptr || slab->start < lowest->start)) lowest = slab;
  });
  if (lowest != nullptr) last_ = lowest;
  return lowest;
}

}  // namespace tarn::internal
