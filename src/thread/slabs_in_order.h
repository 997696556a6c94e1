// The slabs of a class of a pool, by their addresses.
//
// Threads: one. The slabs must stay meanwhile; those made later are not among them.
#pragma once
#include <cstddef>

#include "central/slab_owner.h"

namespace tarn::internal {

class SlabsInOrder {
 public:
  SlabsInOrder(SlabOwner& owner, SizeClass size_class);
  ~SlabsInOrder();
  SlabsInOrder(const SlabsInOrder&) = delete;
  SlabsInOrder& operator=(const SlabsInOrder&) = delete;

  /// \returns nullptr behind the last one. \cost a look at each slab when memory for their order is refused.
  const Span* next();

 private:
  template <typename Visit>
  void for_each(const Visit& visit) const;

  SlabOwner& owner_;
  const SizeClass class_;
  Span** sorted_ = nullptr;
  std::size_t count_ = 0, bytes_ = 0, at_ = 0;
  const Span* last_ = nullptr;
};

}  // namespace tarn::internal
