// The owners of slabs.
#include "observer/reading.h"

namespace tarn::observer {
namespace {

constexpr std::size_t kMostOwners = 65536;
constexpr std::size_t kMostSpareSlabs = 1 << 20;
constexpr std::uint32_t kMostSpareKinds = 64;

void note_spare_slabs(Reading& reading, Address owner) {
  const Layout& layout = reading.layout;
  const Field lists = layout.field("owner.spare"), next = layout.field("span.next");
  const std::uint32_t kinds = std::min(layout.value("spare_kinds"), kMostSpareKinds);
  for (std::uint32_t kind = 0; kind < kinds; ++kind) {
    const Address first = reading.number(owner, {lists.offset + kind * lists.size, sizeof(Address)});
    reading.for_each_in_list(first, next, kMostSpareSlabs,
                             [&](Address slab) { reading.spare_slabs.insert(slab); });
  }
}

void read_owner(Reading& reading, Address record, Address shared_one) {
  const Layout& layout = reading.layout;
  Owner owner;
  owner.record = record;
  owner.threads = static_cast<std::uint32_t>(reading.number(record, layout.field("owner.threads")));
  owner.is_orphan = reading.number(record, layout.field("owner.is_orphan")) != 0;
  owner.is_shared_one = record == shared_one;
  owner.slab_bytes = reading.number(record, layout.field("owner.slab_bytes"));
  owner.spare_bytes = reading.number(record, layout.field("owner.spare_bytes"));
  owner.pending = reading.number(record, layout.field("owner.pending_count"));
  owner.slow_calls = reading.number(record, layout.field("owner.slow_calls"));
  owner.slabs_made = reading.number(record, layout.field("owner.slabs_made"));
  owner.slabs_ended = reading.number(record, layout.field("owner.slabs_ended"));
  owner.remote_batches = reading.number(record, layout.field("owner.remote_batches"));
  reading.owner_at[record] = static_cast<std::uint32_t>(reading.snapshot.owners.size());
  reading.snapshot.owners.push_back(owner);
  note_spare_slabs(reading, record);
}

}  // namespace

void read_owners(Reading& reading) {
  const Layout& layout = reading.layout;
  const Address shared_one = layout.root("shared_owner");
  const Address first = reading.number(layout.root("owners"), layout.field("owners.first"));
  reading.for_each_in_list(first, layout.field("owner.next"), kMostOwners, [&](Address record) {
    if (!reading.owner_at.contains(record)) read_owner(reading, record, shared_one);
  });
}

}  // namespace tarn::observer
