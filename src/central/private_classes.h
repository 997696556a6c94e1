// The classes that are not of bins: each has been given to the owner of a pool (thread/pools/pool_owner.h).
#pragma once
#include "central/classes/per_class.h"
#include "central/slabs/slab_owner.h"

namespace tarn::internal {

struct PrivateClass {
  SlabOwner* owner;  // the pool's first part; constant
};

extern PerClass<PrivateClass> private_classes;

/// \pre a class that a pool has, or had.
inline PrivateClass& private_class(SizeClass size_class) { return private_classes.made(size_class); }

/// Whether a class has blocks; else it has slots of handles, which their pool counts.
inline bool has_blocks(SizeClass size_class) {
  return !is_private_class(size_class) || !private_class(size_class).owner->has_slots;
}

}  // namespace tarn::internal
