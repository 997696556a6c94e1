// Spans by their addresses: those of a class of a pool, or others that a source names.
//
// Threads: one. The spans must stay meanwhile; those made later are not among them.
#pragma once
#include <algorithm>
#include <cstddef>

#include "base/units.h"
#include "central/slabs/slab_owner.h"
#include "os/memory/memory.h"
#include "os/process/process.h"

namespace tarn::internal {

/// \tparam Source has for_each(visit), which calls visit(span) for each span.
template <typename Source>
class SpansInOrder {
 public:
  explicit SpansInOrder(const Source& source) : source_(source) {
    std::size_t room = kFew;
    for (;;) {
      count_ = 0;
      source_.for_each([&](Span* span) {
        if (count_ < room) sorted_[count_] = span;
        ++count_;
      });
      if (count_ <= room) break;
      give_back();
      bytes_ = round_up((count_ + kFew) * sizeof(Span*), os::page_bytes());  // others may make some meanwhile
      sorted_ = static_cast<Span**>(os::map(bytes_));
      if (sorted_ == nullptr) return;
      room = bytes_ / sizeof(Span*);
    }
    std::sort(sorted_, sorted_ + count_, [](const Span* a, const Span* b) { return a->start < b->start; });
  }
  ~SpansInOrder() { give_back(); }
  SpansInOrder(const SpansInOrder&) = delete;
  SpansInOrder& operator=(const SpansInOrder&) = delete;

  /// \returns nullptr behind the last one. \cost a look at each span when memory for their order is refused.
  const Span* next() {
    if (sorted_ != nullptr) return at_ == count_ ? nullptr : sorted_[at_++];
    const Span* lowest = nullptr;
    source_.for_each([&](const Span* span) {
      const bool is_behind = last_ == nullptr || span->start > last_->start;
      if (is_behind && (lowest == nullptr || span->start < lowest->start)) lowest = span;
    });
    if (lowest != nullptr) last_ = lowest;
    return lowest;
  }

 private:
  static constexpr std::size_t kFew = 32;

  void give_back() {
    if (sorted_ != nullptr && sorted_ != few_) os::release(sorted_, bytes_);
  }

  const Source source_;
  Span* few_[kFew];
  Span** sorted_ = few_;  // nullptr: memory was refused
  std::size_t count_ = 0, bytes_ = 0, at_ = 0;
  const Span* last_ = nullptr;
};

/// The slabs of a class of a pool.
struct SlabsOfClass {
  SlabOwner& owner;
  SizeClass size_class;

  template <typename Visit>
  void for_each(const Visit& visit) const {
    for_each_owner(owner, [&](SlabOwner& one) {
      os::LockGuard guard(one.mutex);  // a look may sort the lists
      for (Span* slab = one.of(size_class).available.first(); slab != nullptr; slab = slab->next) visit(slab);
      for (Span* slab = one.of(size_class).full.first(); slab != nullptr; slab = slab->next) visit(slab);
    });
  }
};
using SlabsInOrder = SpansInOrder<SlabsOfClass>;

}  // namespace tarn::internal
