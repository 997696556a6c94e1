// Walks over all live blocks, or a heap's: one picture after the other (general/pools/live_picture.h). The
// blocks of a picture are visited when no lock is held. Each picture is of other addresses, so no block is
// visited twice.
#include <bit>
#include <cerrno>
#include <cstddef>

#include "general/options/configuration.h"
#include "general/options/setup.h"
#include "general/pools/pool_registry.h"
#include "general/pools/system_blocks.h"
#include "observe/figures/pool_fields.h"
#include "observe/live_slabs.h"
#include "os/locks/held_locks.h"
#include "os/memory/mapped_array.h"
#include "pool/c/c_api.h"
#include "pool/heaps/heap_state.h"
#include "tarn/observe.h"

namespace tarn::internal {
namespace {

/// What a walk needs, in a MappedArray of one. \why no block: the walk would visit it.
struct WalkRecord {
  LivePicture picture;
  PoolNames names;
};

struct Visitor {
  tarn_block_visitor visit;
  void* context;
};

/// Calls visit(block, its run) for each block of a picture, with all but the pool filled in.
template <typename Visit>
void for_each_block(const LivePicture& picture, Visit visit) {
  os::check_no_lock_is_held("while a function of the program's runs");
  for (const LiveRun& run : picture)
    for (std::uint64_t bits = run.bits; bits != 0; bits &= bits - 1) {
      char* const address = run.start + static_cast<std::size_t>(__builtin_ctzll(bits)) * run.stride;
      visit(tarn_live_block{address, run.bytes, nullptr, nullptr, index_of_class(run.size_class)}, run);
    }
}

void visit_pool(const LivePicture& picture, const char* kind, const char* name, const Visitor& visitor) {
  for_each_block(picture, [&](tarn_live_block block, const LiveRun&) {
    block.pool_kind = kind;
    block.pool_name = name;
    visitor.visit(&block, visitor.context);
  });
}

// Where blocks of pools are malloc's, and malloc is ours, their pools tell of them.
void visit_general_pool(WalkRecord& record, const Visitor& visitor) {
  const bool may_be_of_pools = configuration.is_on(Option::kPoolsUseMalloc);
  for (LivePlace place; take_next_picture(place, record.picture, record.names);)
    for_each_block(record.picture, [&](tarn_live_block block, const LiveRun& run) {
      if (may_be_of_pools && pool_over_system(block.address) != nullptr) return;
      if (run.name != PoolNames::kNone) {
        block.pool_kind = record.names.kind_of(run);
        block.pool_name = record.names.of(run);
      }
      visitor.visit(&block, visitor.context);
    });
}

void visit_general_pool_from_malloc(LivePicture& picture, const Visitor& visitor) {
  std::uintptr_t behind = 0;
  for (bool has_more = takes_blocks_from_malloc(); has_more;) {
    picture.clear();
    has_more = add_live_from_malloc(behind, picture);
    visit_pool(picture, nullptr, nullptr, visitor);
  }
}

void visit_pools(LivePicture& picture, const Visitor& visitor) {
  PoolWalk walk;
  pool_registry.begin_walk(walk);
  for (PoolRegistry::PictureOf of; pool_registry.next_picture_in_walk(walk, picture, &of);)
    visit_pool(picture, of.kind, of.name, visitor);
}

void visit_heap(detail::HeapState& heap, WalkRecord& record, const Visitor& visitor) {
  LivePicture& picture = record.picture;
  LivePlace in_classes{.only = owner_of_heap(heap)};
  while (in_classes.only != nullptr && take_next_picture(in_classes, picture, record.names))
    visit_pool(picture, heap.operations->kind, heap.name, visitor);
  std::uintptr_t place = 0;
  for (bool has_more = true; has_more;) {
    picture.clear();
    has_more = add_live_of_heap(heap, place, picture);
    visit_pool(picture, heap.operations->kind, heap.name, visitor);
  }
}

}  // namespace
}  // namespace tarn::internal

using namespace tarn::internal;

int tarn_visit_blocks(tarn_block_visitor visit, void* context) {
  set_up_once();
  os::MappedArray<WalkRecord> record;
  if (!record.reserve(1)) {
    errno = ENOMEM;
    return -1;
  }
  const Visitor visitor{visit, context};
  visit_general_pool(record[0], visitor);
  visit_general_pool_from_malloc(record[0].picture, visitor);
  visit_pools(record[0].picture, visitor);
  return 0;
}

int tarn_heap_visit_blocks(const tarn_heap* heap, tarn_block_visitor visit, void* context) {
  if (tarn::detail::visit_blocks_of_heap(c_api::heap_of(*heap), visit, context)) return 0;
  errno = ENOMEM;
  return -1;
}

void tarn_visit_pools(void (*visit)(const tarn_pool_use* use, void* context), void* context) {
#define TARN_SAME_PLACE(member) (offsetof(tarn_pool_use, member) == offsetof(tarn::PoolUse, member))
  static_assert(TARN_SAME_PLACE(name) && TARN_SAME_PLACE(block_bytes) && TARN_SAME_PLACE(live_count) &&
                TARN_SAME_PLACE(live_bytes) && TARN_SAME_PLACE(peak_live_bytes) &&
                TARN_SAME_PLACE(mapped_bytes) && TARN_SAME_PLACE(in_classes_bytes) &&
                TARN_SAME_PLACE(waste_bytes) && TARN_SAME_PLACE(capacity) && TARN_SAME_PLACE(largest_count) &&
                TARN_SAME_PLACE(limit_bytes) && TARN_SAME_PLACE(mapped_limit_bytes) &&
                TARN_SAME_PLACE(inner_bytes) && TARN_SAME_PLACE(refusals) && TARN_SAME_PLACE(parent));
#undef TARN_SAME_PLACE
  visit_each_pool([&](const tarn::PoolUse& use) {
    const auto copy = std::bit_cast<tarn_pool_use>(use);  // the same members in the same order
    visit(&copy, context);
  });
}

namespace TARN_NAMESPACE {

bool detail::visit_blocks_of_heap(const Heap& heap, tarn_block_visitor visit, void* context) {
  HeapState* const state = HeapAccess::state(heap);
  if (state == nullptr) return true;
  os::MappedArray<WalkRecord> record;
  if (!record.reserve(1)) return false;
  visit_heap(*state, record[0], {visit, context});
  return true;
}

}  // namespace TARN_NAMESPACE
