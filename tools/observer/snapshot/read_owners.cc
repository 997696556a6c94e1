// The owners of slabs.
#include "observer/snapshot/reading.h"

namespace tarn::observer {
namespace {

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

void read_owners(Reading& reading) {
  const Layout& layout = reading.layout;
  const Address shared_one = layout.root("shared_owner");
  const Address first = reading.number_of(layout.root("owners"), "owners.first");
  reading.for_each_in_list(first, layout.field("owner.next"), [&](Address record) {
    if (!reading.owner_at.contains(record)) read_owner(reading, record, shared_one);
  });
}

}  // namespace tarn::observer
