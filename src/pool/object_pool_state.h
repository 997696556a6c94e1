// The library's record of an object pool, and the two back ends that a pool may have: its own size class, or
// a fixed pool behind a mutex when the pool is sensitive or lists its objects, or blocks must be malloc's
// (the option pools_use_malloc). Making a pool fixes its back end; with a fixed pool every call is
// slow.
//
// Threads: any, except for making and ending.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/block_visitor.h"
#include "central/slab_owner.h"
#include "general/pool_header.h"
#include "tarn/fixed_pool.h"
#include "tarn/object_pool.h"

namespace tarn::internal {

/// The functions that differ between back ends.
struct ObjectPoolBackEnd {
  void* (*allocate)(detail::ObjectPoolState& state);
  void (*deallocate)(detail::ObjectPoolState& state, void* block);
  std::size_t (*live_count)(detail::ObjectPoolState& state);
  std::size_t (*prewarm)(detail::ObjectPoolState& state, std::size_t count);
  /// \returns bytes.
  std::size_t (*release_unused)(detail::ObjectPoolState& state);
  const PoolOperations& operations;

  // The end of a pool calls these in this order; no other thread uses the pool.
  void (*begin_to_end)(detail::ObjectPoolState& state);
  /// \returns the oldest live block that malloc made; nullptr: there is none.
  void* (*first_of_malloc)(const detail::ObjectPoolState& state);
  void (*visit_live)(detail::ObjectPoolState& state, const BlockVisitor& visit);
  /// \param live objects at the end; kDestroy has destroyed them. \returns whether the record may be freed.
  bool (*end)(detail::ObjectPoolState& state, std::size_t live);
};

extern const ObjectPoolBackEnd kObjectPoolOverClass;
extern const ObjectPoolBackEnd kObjectPoolOverFixedPool;

}  // namespace tarn::internal

namespace TARN_NAMESPACE::detail {

struct ObjectPoolState : internal::PoolHeader {
  const internal::ObjectPoolBackEnd* back_end;
  internal::SlabOwner* owner;      // nullptr: objects lie in the fixed pool
  internal::SizeClass size_class;  // the owner's one
  bool is_ending;                  // every free goes to its slab at once
  AtPoolEnd at_end;
  std::atomic<std::size_t> refusals;  // calls that got no object; a fixed pool counts its own
  ObjectPoolType type;
  FixedPoolFront fixed;  // has its own mutex
};

}  // namespace TARN_NAMESPACE::detail

namespace tarn::internal {

/// Makes the fixed pool for an object pool's objects. \returns false when memory is refused.
bool make_fixed_pool_of(detail::ObjectPoolState& state);

}  // namespace tarn::internal
