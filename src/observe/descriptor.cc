#include "observe/descriptor.h"

#include "base/options/option_table.h"
#include "central/classes/size_class.h"
#include "central/owners.h"
#include "central/private_classes.h"
#include "central/slabs/slab_owner.h"
#include "general/guarded/guarded_blocks.h"
#include "general/options/configuration.h"
#include "general/pools/pool_registry.h"
#include "observe/profile/code_modules.h"
#include "observe/profile/samples.h"
#include "page/give_back/page_cache.h"
#include "page/memory/memory_limit.h"
#include "page/memory/metadata.h"
#include "page/spans/page_map.h"
#include "pool/blocks/block_pool_state.h"
#include "pool/buffers/buffer_pool_state.h"
#include "pool/handles/handle_pool_state.h"
#include "pool/heaps/heap_state.h"
#include "pool/heaps/library_heaps.h"
#include "tarn/version.h"
#include "thread/observation/observation.h"
#include "thread/observation/recorded_call.h"
#include "thread/registry.h"
#include "thread/watch/watch_lease.h"

// The records are no standard layouts; g++ and clang know the offsets of their members all the same.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace tarn::internal {
namespace {

/// \pre it fits: name an element of a large array.
consteval std::uint16_t size_in_table(std::size_t bytes) {
  if (bytes > UINT16_MAX) __builtin_unreachable();  // stops the compiler
  return static_cast<std::uint16_t>(bytes);
}

}  // namespace

#define TARN_RECORD(name, Type) \
  { name, size_in_table(sizeof(Type)), 0 }
#define TARN_FIELD(name, Type, member) \
  { name, size_in_table(sizeof(Type::member)), static_cast<std::uint32_t>(offsetof(Type, member)) }
#define TARN_ELEMENT(name, Type, array) \
  { name, size_in_table(sizeof(Type::array[0])), static_cast<std::uint32_t>(offsetof(Type, array)) }
#define TARN_INNER(name, Type, member, inner)                                                        \
  {                                                                                                  \
    name, sizeof(decltype(Type::member)::inner),                                                     \
        static_cast<std::uint32_t>(offsetof(Type, member) + offsetof(decltype(Type::member), inner)) \
  }
#define TARN_VALUE(name, value) \
  { name, 0, static_cast<std::uint32_t>(value) }

// An array that is in blocks: its elements inside, and the pointers to the blocks behind.
#define TARN_PER_CLASS(name, Type, array)                                                            \
  TARN_FIELD(name, Type, array), {                                                                   \
    name "_behind", sizeof(void*),                                                                   \
        static_cast<std::uint32_t>(offsetof(Type, array) + offsetof(decltype(Type::array), behind_)) \
  }

#define TARN_ROOT(name, global) \
  { name, &(global), sizeof(global) }

using detail::BlockPoolState;
using detail::HandleFront;
using detail::HandleGroup;
using detail::HandlePoolState;
using detail::HandlePoolType;
using detail::HeapState;
using detail::Record;
using detail::SpanHead;
using detail::ThreadCache;

/// A friend of what it describes.
class ObservedLayout {
 public:
  static constexpr ObservedField kFields[] = {
      TARN_VALUE("page_bytes", kPageBytes),
      TARN_VALUE("chunk_bytes", kChunkBytes),
      TARN_VALUE("per_class.in_block", PerClass<Magazine>::kInBlock),
      TARN_VALUE("bin_count", kBinCount),
      TARN_VALUE("kind.slab", SpanKind::kSlab),
      TARN_VALUE("kind.large", SpanKind::kLarge),
      TARN_VALUE("kind.cached", SpanKind::kCached),
      TARN_VALUE("kind.pool", SpanKind::kPool),

      TARN_FIELD("page_map.region_count", PageMap, region_count_),
      TARN_ELEMENT("page_map.regions", PageMap, regions_),
      TARN_FIELD("page_map.index", PageMap, writable_index_),
      TARN_RECORD("region", Region),
      TARN_FIELD("region.start", Region, start),
      TARN_FIELD("region.bytes", Region, bytes),
      TARN_FIELD("region.spans", Region, spans),
      TARN_FIELD("region.chunks", Region, chunks),
      TARN_FIELD("region.committed", Region, committed_chunks),
      TARN_RECORD("chunk", Chunk),
      TARN_FIELD("chunk.free_mask", Chunk, free_mask),
      TARN_FIELD("chunk.dirty_mask", Chunk, dirty_mask),
      TARN_FIELD("chunk.density", Chunk, density),

      TARN_FIELD("page_cache.dirty", PageCache, dirty_bytes_),
      TARN_FIELD("page_cache.committed", PageCache, committed_bytes_),
#define TARN_PAGE_COUNTER(group, key, member, ...) TARN_INNER("count." #member, PageCache, stats_, member),
      // clang-format off
    TARN_STATISTICS_OF_PAGES(TARN_PAGE_COUNTER)
      // clang-format on
      TARN_INNER("page_cache.used", PageCache, stats_, used_bytes),
      TARN_INNER("page_cache.peak_used", PageCache, stats_, peak_used_bytes),

      TARN_FIELD("limit.soft", MemoryLimit, soft_limit_),
      TARN_FIELD("limit.hard", MemoryLimit, hard_limit_),
      TARN_FIELD("limit.held", MemoryLimit, held_),
      TARN_FIELD("limit.crossings", MemoryLimit, crossings_),
      TARN_FIELD("limit.refusals", MemoryLimit, refusals_),

      TARN_FIELD("metadata.used", Metadata, used_bytes_),
      TARN_FIELD("metadata.cut", Metadata, cut_bytes_),
      TARN_ELEMENT("metadata.ranges", Metadata, ranges_),
      TARN_FIELD("metadata.range_count", Metadata, range_count_),
      TARN_FIELD("range.start", MetadataRange, start),
      TARN_FIELD("range.end", MetadataRange, end),

      TARN_RECORD("span", Span),
      TARN_FIELD("span.start", SpanHead, start),
      TARN_FIELD("span.free_bits", SpanHead, free_bits),
      TARN_FIELD("span.pool", SpanHead, pool),
      TARN_FIELD("span.stride", SpanHead, stride),
      TARN_FIELD("span.pool_data", SpanHead, pool_data),
      TARN_FIELD("span.remote_bits", Span, remote_bits),
      TARN_FIELD("span.owner", Span, owner),
      TARN_FIELD("span.block_count", Span, block_count),
      TARN_FIELD("span.word_count", Span, word_count),
      TARN_FIELD("span.size_class", Span, size_class),
      TARN_FIELD("span.kind", Span, kind),
      TARN_FIELD("span.next", Span, next),
      TARN_FIELD("span.pages", Span, pages),

      TARN_RECORD("geometry", ClassGeometry),
      TARN_FIELD("geometry.block_bytes", ClassGeometry, block_bytes),
      TARN_FIELD("geometry.stride", ClassGeometry, stride),

      TARN_FIELD("owners.first", Owners, first_),
      TARN_RECORD("owner", SlabOwner),
      TARN_FIELD("owner.threads", SlabOwner, threads),
      TARN_FIELD("owner.next", SlabOwner, next_owner),
      TARN_FIELD("owner.is_orphan", SlabOwner, is_orphan),
      TARN_FIELD("owner.is_of_pool", SlabOwner, is_of_pool),
      TARN_FIELD("owner.has_slots", SlabOwner, has_slots),
      TARN_FIELD("owner.first_class", SlabOwner, first_class),
      TARN_FIELD("owner.class_count", SlabOwner, class_count),
      TARN_FIELD("owner.geometries", SlabOwner, geometries),
      // These names stay although the library's have changed: tools of other versions look for them.
      TARN_FIELD("owner.at_hand", SlabOwner, cached_blocks),
      TARN_FIELD("at_hand.next", CachedBlocks, next),
      TARN_FIELD("at_hand.top", CachedBlocks, top),
      TARN_FIELD("at_hand.slots", CachedBlocks, slots),
      TARN_FIELD("at_hand.capacity", CachedBlocks, capacity),
      TARN_FIELD("at_hand.run_length", CachedBlocks, run_length),
      TARN_FIELD("owner.largest_taken", SlabOwner, largest_taken_bytes),
      TARN_ELEMENT("owner.other_parts", SlabOwner, other_parts),
      TARN_VALUE("owner.most_parts", SlabOwner::kMostParts),
      TARN_FIELD("owner.sampled", SlabOwner, sampled),
      TARN_FIELD("owner.slab_bytes", SlabOwner, slab_bytes),
      TARN_FIELD("owner.spare_bytes", SlabOwner, spare_bytes),
      TARN_FIELD("owner.slow_calls", SlabOwner, slow_calls),
#define TARN_OWNER_COUNTER(group, key, member, ...) TARN_INNER("owner." #member, SlabOwner, counters, member),
      // clang-format off
    TARN_STATISTICS_OF_OWNERS(TARN_OWNER_COUNTER)
      // clang-format on
      TARN_FIELD("owner.depot", SlabOwner, depot),
      TARN_ELEMENT("owner.spare", SlabOwner, spare),
      TARN_VALUE("spare_kinds", kSpareKinds),
      TARN_FIELD("owner.pending_count", SlabOwner, pending_count),
      TARN_FIELD("owner.cached", SlabOwner, cached_spans),
      TARN_ELEMENT("cached_spans.slots", CachedSpans, slots),
      TARN_VALUE("cached_spans.count", CachedSpans::kSlots),
      TARN_VALUE("cached_spans.address_bits", CachedSpan::kPagesShift),
      TARN_VALUE("depot.of", sizeof(Depot)),
      TARN_RECORD("parked", Parked),
      TARN_FIELD("parked.first", Parked, first),
      TARN_FIELD("parked.count", Parked, count),
      TARN_FIELD("parked.in_first", Parked, in_first),
      TARN_FIELD("parked_array.next", ParkedArray, next),
      TARN_FIELD("parked_array.blocks", ParkedArray, blocks),
      TARN_VALUE("parked_array.room", ParkedArray::kBlocks),

      TARN_FIELD("registry.first", Registry, first_),
      TARN_FIELD("registry.peak_threads", Registry, peak_threads_),
      TARN_RECORD("heap", ThreadHeap),
      TARN_FIELD("heap.home", ThreadHeap, home),
      TARN_FIELD("heap.cache", ThreadHeap, cache),
      TARN_FIELD("heap.next", ThreadHeap, next),
      TARN_FIELD("heap.use", ThreadHeap, use),
      TARN_VALUE("use.thread", HeapUse::kThread),
#define TARN_THREAD_COUNTER(group, key, member, ...) \
  TARN_INNER("heap." #member, ThreadHeap, counters, member),
      // clang-format off
    TARN_STATISTICS_OF_THREADS(TARN_THREAD_COUNTER)
      // clang-format on
      TARN_INNER("heap.large_allocations", ThreadHeap, large, allocations),
      TARN_PER_CLASS("heap.magazines", ThreadHeap, magazines),
      TARN_FIELD("heap.shown", ThreadHeap, shown.cache),
      TARN_FIELD("heap.shown_derived", ThreadHeap, shown.derived),
      TARN_FIELD("heap.calls_made", ThreadHeap, calls_made),
      TARN_RECORD("call_ring", CallRing),
      TARN_FIELD("call_ring.events", CallRing, events_),
      TARN_FIELD("call_ring.written", CallRing, written_),
      TARN_FIELD("call_ring.fetched", CallRing, fetched_),
      TARN_FIELD("call_ring.lost", CallRing, lost_),
      TARN_VALUE("call_ring.room", CallRing::kRoom),
      TARN_VALUE("call_ring.event_bytes", sizeof(trace::Event)),
      TARN_RECORD("magazine", Magazine),
      TARN_FIELD("magazine.blocks", Magazine, blocks),
      TARN_FIELD("magazine.room", Magazine, room),
      TARN_FIELD("magazine.reserve", Magazine, reserve),
      TARN_FIELD("cache.records", ThreadCache, of_bins),
      TARN_FIELD("cache.thread_number", ThreadCache, thread_number),
      TARN_RECORD("record", Record),
      TARN_FIELD("record.top_distance", Record, top),

      TARN_FIELD("pools.first", PoolRegistry, pools_),
      TARN_FIELD("pools.in_buffers", PoolRegistry, first_in_callers_memory_),
      TARN_FIELD("pool.next", PoolHeader, next),
      TARN_FIELD("pool.next_in_buffers", PoolHeader, next_in_callers_memory),
      TARN_FIELD("pool.number", PoolHeader, number),
      TARN_FIELD("pool.name", PoolHeader, name),
      TARN_FIELD("pool.kind", PoolHeader, kind),
      TARN_FIELD("pool.record", PoolHeader, record),
      TARN_FIELD("pool.is_sensitive", PoolHeader, is_sensitive),
      TARN_VALUE("pool_record.blocks", PoolRecord::kBlocks),
      TARN_VALUE("pool_record.handle", PoolRecord::kHandle),
      TARN_VALUE("pool_record.heap", PoolRecord::kHeap),

      TARN_RECORD("blocks", BlockPoolState),
      TARN_FIELD("blocks.owner", BlockPoolState, owner),
      TARN_FIELD("blocks.size_class", BlockPoolState, size_class),
      TARN_FIELD("blocks.stride", BlockPoolState, stride),
      TARN_FIELD("blocks.largest_count", BlockPoolState, largest_count),
      TARN_FIELD("blocks.refusals", BlockPoolState, refusals),
      TARN_FIELD("blocks.of_malloc", BlockPoolState, of_malloc),
      {"private_classes.behind", sizeof(void*),
       static_cast<std::uint32_t>(offsetof(decltype(private_classes), behind_))},
      TARN_RECORD("private_class", PrivateClass),
      TARN_FIELD("private_class.owner", PrivateClass, owner),

      TARN_RECORD("handles", HandlePoolState),
      TARN_FIELD("handles.type", HandlePoolState, type),
      TARN_FIELD("handles.front", HandlePoolState, front),
      TARN_FIELD("handles.mapped", HandlePoolState, mapped_bytes),
      TARN_FIELD("handle_type.bytes", HandlePoolType, bytes),
      TARN_FIELD("handle_type.stride", HandlePoolType, stride),
      TARN_FIELD("handle_type.shift", HandlePoolType, shift),
      TARN_FIELD("handle_type.destroy", HandlePoolType, destroy),
      TARN_VALUE("handles.most_slots", detail::kMostSlots),
      TARN_FIELD("handle_front.groups", HandleFront, groups),
      TARN_FIELD("handle_front.slots", HandleFront, slot_count),
      TARN_FIELD("handle_front.of_malloc", HandleFront, malloc_slot_count),
      TARN_RECORD("handle_group", HandleGroup),
      TARN_FIELD("handle_group.words", HandleGroup, words),
      TARN_FIELD("handle_group.objects", HandleGroup, objects),

      TARN_RECORD("arena_chunk", detail::ArenaChunk),
      TARN_FIELD("arena_chunk.used_before", detail::ArenaChunk, used_before),
      TARN_RECORD("heap_pool", HeapState),
      TARN_FIELD("heap_pool.around", HeapState, around),
      TARN_FIELD("heap_pool.account", HeapState, account),
      TARN_FIELD("heap_pool.refusals", HeapState, refusals),
      TARN_FIELD("heap_pool.owner", HeapState, owner),
      TARN_FIELD("heap_pool.pages", HeapState, pages),
      TARN_FIELD("heap_pages.mapped", HeapPages, mapped_),
      TARN_FIELD("heap_pages.spare", HeapPages, spare_),
      TARN_FIELD("heap_pages.buffer", HeapPages, buffer_),
      TARN_FIELD("buffer.start", BufferPages, start_),
      TARN_FIELD("buffer.units", BufferPages, units_),
      TARN_FIELD("buffer.spans", BufferPages, spans_),
      TARN_VALUE("buffer.unit_bytes", BufferPages::kUnitBytes),
      TARN_FIELD("account.charged", Account, charged_),
      TARN_FIELD("account.own", Account, own_),
      TARN_FIELD("account.peak", Account, peak_),
      TARN_FIELD("account.soft", Account, soft_limit_),
      TARN_FIELD("account.hard", Account, hard_limit_),

      {"source_of.profile", sizeof(const char*),
       static_cast<std::uint32_t>(offsetof(Configuration, sources_) +
                                  sizeof(const char*) * static_cast<std::size_t>(Option::kProfile))},
      TARN_FIELD("thread_limits.always_slow", ThreadLimits, every_call_is_slow),
      TARN_FIELD("watch.generation", WatchSwitches, generation),
      TARN_FIELD("watch.recording", WatchSwitches, recording),
      TARN_VALUE("recording.off", static_cast<std::uint32_t>(Recording::kOff)),
      TARN_VALUE("recording.on", static_cast<std::uint32_t>(Recording::kOn)),
      TARN_VALUE("recording.ending", static_cast<std::uint32_t>(Recording::kEnding)),
      {"lease.profile", sizeof(std::uint32_t), offsetof(WatchLeases, profile.beat)},
      {"lease.recording", sizeof(std::uint32_t), offsetof(WatchLeases, recording.beat)},
      TARN_FIELD("observation.interval", Observation, interval_),
      TARN_FIELD("observation.rung_for", Observation, rung_for_),
      TARN_FIELD("guards.one_in", GuardTurns, one_in_),
      TARN_FIELD("guards.rests_until", GuardTurns, rests_until_ns_),
      TARN_FIELD("guards.live", GuardedBlocks, live_),
      TARN_FIELD("guards.made", GuardedBlocks, made_),
      TARN_ELEMENT("samples.parts", Samples, parts_),
      TARN_VALUE("samples.part_count", Samples::kParts),
      TARN_FIELD("samples.lost", Samples, lost_),
      TARN_FIELD("samples.piece_count", Samples, piece_count_),
      TARN_ELEMENT("samples.pieces", Samples, pieces_),
      TARN_VALUE("samples.piece_bytes", Samples::kStackPieceBytes),
      TARN_VALUE("samples.stack_unit", Samples::kStackUnit),
      TARN_FIELD("samples.table", Samples, table_),
      TARN_FIELD("stack_table.room", Samples::StackTable, room),
      TARN_FIELD("stack_table.smaller", Samples::StackTable, smaller),
      TARN_FIELD("sample_part.entries", Samples::Part, entries),
      TARN_FIELD("sample_part.room", Samples::Part, room),
      TARN_RECORD("sample", Sample),
      TARN_FIELD("sample.block", Sample, block),
      TARN_FIELD("sample.requested", Sample, requested),
      TARN_FIELD("sample.stack", Sample, stack),
      TARN_FIELD("sample.interval", Sample, interval),
      TARN_FIELD("sample.made_ns", Sample, made_ns),
      TARN_FIELD("sample.pool", Sample, pool),
      TARN_FIELD("stack.count", SampledStack, count),
      TARN_FIELD("stack.pool", SampledStack, pool),
      TARN_FIELD("stack.samples", SampledStack, samples),
      TARN_FIELD("stack.block_parts", SampledStack, block_parts),
      TARN_VALUE("stack.parts_of_block", SampledStack::kPartsOfBlock),
      TARN_FIELD("stack.byte_parts", SampledStack, byte_parts),
      TARN_VALUE("stack.parts_of_byte", SampledStack::kPartsOfByte),
      TARN_FIELD("stack.brief_samples", SampledStack, temporary_samples),
      TARN_FIELD("stack.brief_block_parts", SampledStack, temporary_block_parts),
      TARN_FIELD("stack.brief_byte_parts", SampledStack, temporary_byte_parts),
      TARN_FIELD("stack.second_byte_parts", SampledStack, second_byte_parts),
      TARN_ELEMENT("stack.addresses", SampledStack, addresses),

      TARN_FIELD("code_modules.count", CodeModules, count_),
      TARN_FIELD("code_modules.modules", CodeModules, modules_),
      TARN_RECORD("code_module", CodeModule),
      TARN_FIELD("code_module.start", CodeModule, start),
      TARN_FIELD("code_module.end", CodeModule, end),
      TARN_FIELD("code_module.path", CodeModule, path),
      TARN_FIELD("code_module.first_stack", CodeModule, first_stack),
      TARN_FIELD("code_module.id_bytes", CodeModule, build_id_bytes),
      TARN_FIELD("code_module.build_id", CodeModule, build_id),
  };
  static constexpr const SlabOwner* kSharedOwner = &Owners::shared_;
  static constexpr std::size_t kOptionsOffset = offsetof(Configuration, values_);
  static constexpr std::size_t kOptionBytes = sizeof(Configuration::values_[0]);
};

namespace {

constexpr std::size_t kRecordFields = sizeof(ObservedLayout::kFields) / sizeof(ObservedField);

struct FieldTable {
  ObservedField of[kRecordFields + kOptionCount];
};

/// The fields of records, and "opt." and the key of each option.
consteval FieldTable make_fields() {
  FieldTable table{};
  std::size_t count = 0;
  for (const ObservedField& field : ObservedLayout::kFields) table.of[count++] = field;
  for (const OptionInfo& option : kOptionTable) {
    ObservedField& field = table.of[count++];
    std::size_t length = 0;
    for (const char* text : {"opt.", option.key})
      for (; *text != 0; ++text) field.name[length++] = *text;
    field.size = ObservedLayout::kOptionBytes;
    field.offset = static_cast<std::uint32_t>(ObservedLayout::kOptionsOffset +
                                              ObservedLayout::kOptionBytes * (&option - kOptionTable));
  }
  return table;
}

// Not const: a core file leaves out what is only read.
constinit FieldTable fields = make_fields();

constinit ObservedRoot roots[] = {
    TARN_ROOT("page_map", page_map),
    TARN_ROOT("page_cache", page_cache),
    TARN_ROOT("memory_limit", memory_limit),
    TARN_ROOT("metadata", metadata),
    TARN_ROOT("owners", owners),
    TARN_ROOT("shared_owner", *ObservedLayout::kSharedOwner),
    TARN_ROOT("registry", registry),
    TARN_ROOT("heaps_in_use", heaps_in_use),
    TARN_ROOT("pools", pool_registry),
    TARN_ROOT("geometry", bin_geometry),
    TARN_ROOT("private_classes", private_classes),
    TARN_ROOT("end_of_classes", end_of_classes),
    TARN_ROOT("configuration", configuration),
    TARN_ROOT("empty_cache", detail::empty_cache.cache),
    TARN_ROOT("thread_limits", thread_limits),
    TARN_ROOT("watch", watch_switches),
    TARN_ROOT("watch_leases", watch_leases),
    TARN_ROOT("call_order", call_order),
    TARN_ROOT("unseen_calls", unseen_calls),
    TARN_ROOT("observation", observation),
    TARN_ROOT("guard_turns", guard_turns),
    TARN_ROOT("guarded_blocks", guarded_blocks),
    TARN_ROOT("samples", samples),
    TARN_ROOT("code_modules", code_modules),
};

static_assert(sizeof fields + sizeof roots + sizeof(ObserveDescriptor) <= 10 * 1024,
              "each program carries them, looked at or not");

}  // namespace

constinit ObserveDescriptor tarn_observe_descriptor = {
    .magic = ObserveDescriptor::kMagic,
    .bytes = sizeof(ObserveDescriptor),
    .word_bytes = sizeof(void*),
    .self = &tarn_observe_descriptor,
    .fields = fields.of,
    .roots = roots,
    .field_count = static_cast<std::uint32_t>(kRecordFields + kOptionCount),
    .field_bytes = sizeof(ObservedField),
    .root_count = sizeof roots / sizeof roots[0],
    .root_bytes = sizeof(ObservedRoot),
    .version = TARN_VERSION_STRING,
};

}  // namespace tarn::internal

// The note: sizes of its name and contents, its type, the name, and the distance to the descriptor.
asm(R"(
  .pushsection .note.tarn, "a", @note
  .balign 4
  .long 5, 8, 1
  .asciz "tarn"
  .balign 4
1: .quad tarn_observe_descriptor - 1b
  .popsection
)");
