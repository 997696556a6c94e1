// What threads, depots and pools have cached. By its bit such a block looks live; here it becomes a free one.
#include <algorithm>

#include "observer/snapshot/reading.h"

namespace tarn::observer {
namespace {

constexpr std::uint64_t kStepsOfABlock = 2;   // which lies anywhere
constexpr std::uint64_t kMostRunLength = 64;  // of cached runs

class CacheReader {
 public:
  explicit CacheReader(Reading& reading) : reading_(reading) {}

  void read_thread(Address heap) {
    if (!heaps_.insert(heap).second) return;
    reading_.bounds.spend_steps(snapshot_.classes.size());
    reading_.bounds.spend_bytes(snapshot_.classes.size() * sizeof(Place));
    reading_.pulse.heaps.push_back(heap);
    Thread thread;
    thread.record = heap;
    thread.owner = index_in(reading_.owner_at, reading_.number_of(heap, "heap.home"));
    thread.is_alive = reading_.number_of(heap, "heap.use") == layout_.value("use.thread");
    thread.refills = reading_.number_of(heap, "heap.refills");
    thread.flushes = reading_.number_of(heap, "heap.flushes");
    const Address cache = reading_.number_of(heap, "heap.cache");
    const std::uint64_t cache_bytes = snapshot_.classes.size() * record_bytes_;
    reading_.image.load(cache, cache_bytes);
    reading_.add(snapshot_.records, {cache, cache_bytes, RecordRange::What::kRecords});
    thread.number = static_cast<std::uint32_t>(reading_.number_of(cache, "cache.thread_number"));
    for (std::uint32_t index = 1; index < snapshot_.classes.size(); ++index)
      read_magazine(thread, heap, cache, index);
    reading_.add(snapshot_.threads, thread);
  }

  /// What a pool caches itself: the magazine of a pool for one thread, and freed runs.
  void read_cached_blocks(Owner& owner) {
    const std::uint32_t pool = owner.pool;
    if (pool == kNone) return;
    const std::uint64_t stride = snapshot_.pools[pool].block_bytes;
    reading_.for_each_in_list(
        reading_.number_of(owner.record, "owner.at_hand"), layout_.field("at_hand.next"),
        [&](Address cached) {
          const Address slots = reading_.number_of(cached, "at_hand.slots"),
                        top_at = reading_.number_of(cached, "at_hand.top");
          const Address top = slots == 0 ? 0 : reading_.number(top_at, {0, sizeof(Address)});
          const std::uint64_t room =
              std::min<std::uint64_t>(reading_.number_of(cached, "at_hand.capacity"), UINT16_MAX);
          if (top < slots || (top - slots) / sizeof(Address) > room) return;
          owner.cached_block_bytes +=
              stride * take_runs_out(slots + sizeof(Address), (top - slots) / sizeof(Address),
                                     {reading_.number_of(cached, "at_hand.run_length"), stride},
                                     owner.first_class);
        });
  }

  void read_depot(std::uint32_t owner_index) {
    Owner& owner = snapshot_.owners[owner_index];
    const Address depot = reading_.number_of(owner.record, "owner.depot");
    if (depot == 0) return;
    reading_.bounds.spend_steps(owner.class_count);
    const std::uint64_t end =
        std::min<std::uint64_t>(owner.first_class + owner.class_count, snapshot_.classes.size());
    for (std::uint32_t index = std::max(owner.first_class, 1u); index < end; ++index) {
      const Address of_class = depot + layout_.value("depot.of") +
                               std::uint64_t{index - owner.first_class} * layout_.size_of("parked");
      const std::uint64_t parked = read_parked(of_class, index);
      owner.parked_blocks += parked;
      owner.parked_bytes += parked * snapshot_.classes[index].block_bytes;
      snapshot_.classes[index].parked += parked;
    }
  }

 private:
  void read_magazine(Thread& thread, Address heap, Address cache, std::uint32_t index) {
    const Address magazine =
        reading_.element(heap + magazines_.offset, heap + magazines_behind_.offset, index, magazine_bytes_);
    const Address record = cache + records_.offset + std::uint64_t{index} * record_bytes_;
    const Address distance = reading_.number(record, top_), top = cache + distance;
    const std::uint64_t room =
        magazine == 0 ? 0 : std::min<std::uint64_t>(reading_.number(magazine, room_), UINT16_MAX);
    reading_.pulse.places.push_back({distance, static_cast<std::uint32_t>(room)});
    const Address blocks = magazine == 0 ? 0 : reading_.number(magazine, blocks_);
    if (blocks == 0 || top < blocks || (top - blocks) % sizeof(Address) != 0) return;
    const std::uint64_t count = (top - blocks) / sizeof(Address);
    if (count > room) return;
    // In the hardened library some blocks wait before the array.
    const std::uint64_t waiting = reserve_ ? reading_.number(magazine, *reserve_) : 0;
    const std::uint64_t taken = take_out(blocks + sizeof(Address), count, index) +
                                take_out(blocks - waiting * sizeof(Address), waiting, index);
    ClassUse& of_class = snapshot_.classes[index];
    of_class.in_threads += taken;
    thread.cached_blocks += taken;
    thread.cached_bytes += taken * of_class.block_bytes;
  }

  std::uint64_t read_parked(Address parked, std::uint32_t index) {
    const std::uint64_t count = reading_.number(parked, parked_count_);
    std::uint64_t in_array = std::min<std::uint64_t>(reading_.number(parked, parked_in_first_), parked_room_);
    std::uint64_t taken = 0, seen = 0;
    reading_.for_each_in_list(reading_.number(parked, parked_first_), parked_next_, [&](Address array) {
      if (seen >= count) return;
      taken += take_out(array + parked_blocks_, in_array, index);
      seen += in_array;
      in_array = parked_room_;
    });
    return taken;
  }

  /// \returns how many of the blocks were live by their bits.
  std::uint64_t take_out(Address addresses, std::uint64_t count, std::uint32_t size_class) {
    const Bytes copy = reading_.image.view(addresses, count * sizeof(Address));
    if (copy.empty()) return 0;
    reading_.bounds.spend_steps(count * kStepsOfABlock);
    std::uint64_t taken = 0;
    for (std::uint64_t i = 0; i < count; ++i)
      taken += take_out(entry_of<Address>(copy, i), size_class) ? 1 : 0;
    return taken;
  }

  struct RunOfBlocks {
    std::uint64_t length, stride;
  };
  std::uint64_t take_runs_out(Address addresses, std::uint64_t count, RunOfBlocks run,
                              std::uint32_t size_class) {
    const Bytes copy = reading_.image.view(addresses, count * sizeof(Address));
    if (copy.empty()) return 0;
    const std::uint64_t length = std::min<std::uint64_t>(run.length, kMostRunLength);
    reading_.bounds.spend_steps(count * length * kStepsOfABlock);
    std::uint64_t taken = 0;
    for (std::uint64_t i = 0; i < count; ++i)
      for (std::uint64_t k = 0; k < length; ++k)
        taken += take_out(entry_of<Address>(copy, i) + k * run.stride, size_class) ? 1 : 0;
    return taken;
  }

  bool take_out(Address address, std::uint32_t size_class) {
    const std::uint32_t index = snapshot_.span_of(address);
    if (index == kNone) return false;
    Span& span = snapshot_.spans[index];
    if (span.use != SpanUse::kSlab || span.size_class != size_class || address < span.first_block)
      return false;
    const std::uint64_t offset = address - span.first_block;
    const std::uint64_t block = span.stride == 0 ? offset : offset / span.stride;
    if (block >= span.block_count || (span.stride != 0 && offset % span.stride != 0)) return false;
    std::uint64_t& word = snapshot_.live_words[span.first_word + block / 64];
    const std::uint64_t bit = std::uint64_t{1} << block % 64;
    if ((word & bit) == 0) return false;  // it moved while it was read
    word &= ~bit;
    --span.live;
    ++span.cached;
    span.live_bytes -= span.block_bytes;
    return true;
  }

  Reading& reading_;
  Snapshot& snapshot_ = reading_.snapshot;
  const Layout& layout_ = reading_.layout;
  const Field records_ = layout_.field("cache.records");
  const std::uint32_t record_bytes_ = layout_.size_of("record");
  const Field top_ = layout_.field("record.top_distance");
  const Field magazines_ = layout_.field("heap.magazines");
  const Field magazines_behind_ = layout_.field("heap.magazines_behind");
  const std::uint32_t magazine_bytes_ = layout_.size_of("magazine");
  const Field blocks_ = layout_.field("magazine.blocks");
  const Field room_ = layout_.field("magazine.room");
  const std::optional<Field> reserve_ = layout_.find_field("magazine.reserve");
  const Field parked_first_ = layout_.field("parked.first");
  const Field parked_count_ = layout_.field("parked.count");
  const Field parked_in_first_ = layout_.field("parked.in_first");
  const Field parked_next_ = layout_.field("parked_array.next");
  const std::uint32_t parked_blocks_ = layout_.value("parked_array.blocks");
  const std::uint32_t parked_room_ = layout_.value("parked_array.room");
  std::unordered_set<Address> heaps_;  // that were read
};

// -- Owners ----------------------------------------------------------------------------------------------

constexpr std::uint32_t kMostSpareKinds = 64, kMostCachedSpans = 64;

void note_spare_slabs(Reading& reading, Address owner) {
  const Layout& layout = reading.layout;
  const Field lists = layout.field("owner.spare"), next = layout.field("span.next");
  const std::uint32_t kinds = std::min(layout.value("spare_kinds"), kMostSpareKinds);
  for (std::uint32_t kind = 0; kind < kinds; ++kind) {
    const Address first = reading.number(owner, {lists.offset + kind * lists.size, sizeof(Address)});
    reading.for_each_in_list(first, next, [&](Address slab) { reading.add(reading.spare_slabs, slab); });
  }
}

/// Freed large blocks that it keeps.
void note_cached_spans(Reading& reading, Address owner, std::uint32_t index) {
  const Layout& layout = reading.layout;
  const Field slots = layout.field("cached_spans.slots");
  const std::uint32_t count = std::min(layout.value("cached_spans.count"), kMostCachedSpans);
  const std::uint32_t bits = std::min(layout.value("cached_spans.address_bits"), 63u);
  const Address first = owner + layout.value("owner.cached") + slots.offset;
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    const std::uint64_t value = reading.number(first + slot * sizeof(value), {0, sizeof(value)});
    if (value != 0) reading.cached_span_owner[value & ((std::uint64_t{1} << bits) - 1)] = index;
  }
}

void read_owner(Reading& reading, Address record, Address shared_one) {
  reading.bounds.spend_steps(kMostSpareKinds + kMostCachedSpans);
  Owner owner;
  owner.record = record;
  owner.threads = static_cast<std::uint32_t>(reading.number_of(record, "owner.threads"));
  owner.is_orphan = reading.number_of(record, "owner.is_orphan") != 0;
  owner.is_shared_one = record == shared_one;
  owner.is_of_pool = reading.number_of(record, "owner.is_of_pool") != 0;
  owner.has_slots = reading.number_of(record, "owner.has_slots") != 0;
  owner.first_class = static_cast<std::uint32_t>(reading.number_of(record, "owner.first_class"));
  owner.class_count = static_cast<std::uint32_t>(reading.number_of(record, "owner.class_count"));
  owner.slab_bytes = reading.number_of(record, "owner.slab_bytes");
  owner.spare_bytes = reading.number_of(record, "owner.spare_bytes");
  owner.pending = reading.number_of(record, "owner.pending_count");
  owner.slow_calls = reading.number_of(record, "owner.slow_calls");
  owner.slabs_made = reading.number_of(record, "owner.slabs_made");
  owner.slabs_ended = reading.number_of(record, "owner.slabs_ended");
  owner.remote_batches = reading.number_of(record, "owner.remote_batches");
  const auto index = static_cast<std::uint32_t>(reading.snapshot.owners.size());
  reading.owner_at[record] = index;
  reading.add(reading.snapshot.owners, owner);
  note_spare_slabs(reading, record);
  note_cached_spans(reading, record, index);
}

}  // namespace

void read_caches(Reading& reading) {
  CacheReader reader(reading);
  const Address first = reading.number_of(reading.layout.root("registry"), "registry.first");
  reading.for_each_in_list(first, reading.layout.field("heap.next"),
                           [&](Address heap) { reader.read_thread(heap); });
  for (std::uint32_t i = 0; i < reading.snapshot.owners.size(); ++i) reader.read_depot(i);
  for (Owner& owner : reading.snapshot.owners) reader.read_cached_blocks(owner);
}

void read_owners(Reading& reading) {
  const Layout& layout = reading.layout;
  const Address shared_one = layout.root("shared_owner");
  const Address first = reading.number_of(layout.root("owners"), "owners.first");
  reading.for_each_in_list(first, layout.field("owner.next"), [&](Address record) {
    if (!reading.owner_at.contains(record)) read_owner(reading, record, shared_one);
  });
}

}  // namespace tarn::observer
