// The invariant that central/slabs/slab_owner.h states, walked.
#include "central/cached/cached_spans.h"
#include "central/slabs/class_slabs.h"
#include "central/slabs/slab.h"
#include "central/slabs/slab_owner.h"
#include "os/fatal.h"
#include "os/locks/lock_rank.h"
#include "page/spans/page_map.h"

namespace tarn::internal {
namespace {

void validate_slabs(const SlabOwner& owner) {
  std::size_t made_ahead_bytes = 0;
  std::uint32_t classes_with_slabs = 0;
  for (const SizeClass size_class : classes_of(owner)) {
    std::uint32_t slabs = 0, blocks = 0, free_blocks = 0, full = 0;
    for (const Span* slab = owner.of(size_class).available.first(); slab != nullptr; slab = slab->next) {
      TARN_CHECK(slab->is_listed() && slab->owner.load() == &owner);
      TARN_CHECK(slab->size_class.load() == size_class && slab->free_count != 0);
      TARN_CHECK(slab->free_count < slab->settle_at || slab->settle_at == slab->block_count);
      validate_locked(*slab);
      if (slab->is_kept) made_ahead_bytes += slab->bytes();
      slabs += 1;
      blocks += slab->block_count;
      free_blocks += slab->free_count;
    }
    for (const Span* slab = owner.of(size_class).full.first(); slab != nullptr; slab = slab->next) {
      TARN_CHECK(!slab->is_listed() && slab->owner.load() == &owner && slab->free_count == 0);
      ++full;
    }
    const SlabTotals& totals = owner.of(size_class).totals;
    TARN_CHECK(owner.is_of_pool ? slabs + full == totals.slabs : full == 0);
    classes_with_slabs += totals.slabs != 0;
    TARN_CHECK(slabs <= totals.slabs && blocks <= totals.blocks && free_blocks <= blocks);
  }
  TARN_CHECK(classes_with_slabs == owner.classes_with_slabs);
  TARN_CHECK(made_ahead_bytes <= owner.made_ahead_bytes);  // those without a free block are not among them
}

void validate_spare_slabs(const SlabOwner& owner) {
  std::size_t spare_bytes = 0;
  for (unsigned kind = 0; kind < kSpareKinds; ++kind)
    for (const Span* slab = owner.spare[kind].first(); slab != nullptr; slab = slab->next) {
      TARN_CHECK(slab->owner.load() == nullptr && spare_kind_of(slab->pages) == kind);
      spare_bytes += slab->bytes();
    }
  TARN_CHECK(spare_bytes == owner.spare_bytes && owner.kept_spare_bytes <= spare_bytes);
}

// Other threads may take them meanwhile.
void validate_cached_spans(const SlabOwner& owner) {
  if (!os::is_only_thread()) return;
  for_each_cached_span(owner, [](CachedSpan cached) {
    const Span& span = *cached.span();
    TARN_CHECK(span.kind == SpanKind::kCached && span.pages == cached.pages());
    TARN_CHECK(page_map.find(span.start) == &span);
  });
}

void validate_parked(const Parked& parked) {
  // Only the first array may be partly filled; the peak covers what is parked and what there was no room for.
  unsigned count = 0;
  for (const ParkedArray* array = parked.first; array != nullptr; array = array->next) {
    const unsigned in_this = array == parked.first ? parked.in_first : unsigned{ParkedArray::kBlocks};
    TARN_CHECK(in_this != 0 && in_this <= ParkedArray::kBlocks);
    for (unsigned i = 0; i < in_this; ++i) TARN_CHECK(array->blocks[i] != nullptr);
    count += in_this;
  }
  TARN_CHECK(count == parked.count && count + parked.refused <= parked.peak);
  unsigned spare = 0;
  for (const ParkedArray* array = parked.spare; array != nullptr; array = array->next) ++spare;
  TARN_CHECK(spare == parked.spare_count);
}

// Threads that park change the sums while one class after the other is looked at.
void validate_depot(const SlabOwner& owner) {
  Depot* const depot = owner.depot.load(std::memory_order_acquire);
  if (depot == nullptr) return;
  std::size_t bytes = 0, own_slab_bytes = 0, own_slab_pages = 0;
  for (const SizeClass size_class : classes_of(owner)) {
    const unsigned index = owner.place_of(size_class);
    const ClassGeometry& geometry = geometry_of(owner, size_class);
    Parked& parked = depot->of()[index];
    os::LockGuard guard(parked.mutex);
    validate_parked(parked);
    TARN_CHECK((parked.count != 0) == ((depot->parked.words[index / 64].load() >> index % 64 & 1) != 0));
    (has_own_slab(geometry) ? own_slab_bytes : bytes) += Depot::bytes_of_each(geometry) * parked.count;
    if (has_own_slab(geometry)) own_slab_pages += bytes_of(geometry.slab_pages) * parked.count;
  }
  const ParkedSlabs own = parked_in_own_slabs(owner);
  TARN_CHECK((bytes == depot->bytes.load() && own_slab_bytes == own.blocks && own_slab_pages == own.pages) ||
             !os::is_only_thread());
}

}  // namespace

void validate_locked(const SlabOwner& owner) {
  validate_slabs(owner);
  validate_spare_slabs(owner);
  validate_cached_spans(owner);
  validate_depot(owner);
  TARN_CHECK(owner.account == nullptr || owner.accounted_bytes == owner.taken_bytes - owner.scavenged_bytes);
}

}  // namespace tarn::internal
