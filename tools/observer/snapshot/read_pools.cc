// The pools of a program, by the records that its registry lists.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "observer/snapshot/reading.h"
#include "observer/text/printable.h"

namespace tarn::observer {
namespace {

constexpr std::uint32_t kMostParts = 64;
constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 26;  // of a buffer: 256 GiB

PoolKind kind_of(const std::string& name) {
  constexpr std::array<std::pair<const char*, PoolKind>, 6> kKinds{{{"fixed pool", PoolKind::kFixed},
                                                                    {"buffer pool", PoolKind::kBuffer},
                                                                    {"object pool", PoolKind::kObject},
                                                                    {"handle pool", PoolKind::kHandle},
                                                                    {"heap", PoolKind::kHeap},
                                                                    {"arenas", PoolKind::kArenas}}};
  for (const auto& [text, kind] : kKinds)
    if (name == text) return kind;
  return PoolKind::kUnknown;
}

class PoolReader {
 public:
  explicit PoolReader(Reading& reading) : reading_(reading) {}

  void read(Address record) {
    Pool pool;
    pool.record = record;
    pool.number = reading_.number_of(record, "pool.number");
    pool.name = text(record, "pool.name");
    pool.kind_name = text(record, "pool.kind");
    pool.kind = kind_of(pool.kind_name);
    pool.is_sensitive = is_sensitive(record);
    PoolDetail detail;
    detail.record_kind = reading_.number_of(record, "pool.record");
    if (detail.record_kind == blocks_) {
      read_block_pool(pool);
    } else if (detail.record_kind == handle_) {
      read_handles(pool);
    } else if (detail.record_kind == heap_) {
      read_heap(pool);
    }
    reading_.pool_at[record] = static_cast<std::uint32_t>(reading_.snapshot.pools.size());
    reading_.add(reading_.snapshot.pools, pool);
    reading_.add(reading_.pool_details, detail);
  }

  /// Once all pools are read. A heap is younger than the one it lies in, so no chain of parents is a circle.
  void read_parents() {
    std::vector<Pool>& pools = reading_.snapshot.pools;
    for (Pool& pool : pools) {
      if (pool.kind != PoolKind::kHeap) continue;
      const std::uint32_t parent =
          index_in(reading_.pool_at, reading_.number_of(pool.record, "heap_pool.around"));
      if (parent != kNone && pools[parent].number < pool.number) pool.parent = parent;
    }
  }

 private:
  /// Libraries before the option have no sensitive pools.
  bool is_sensitive(Address record) {
    const std::optional<Field> field = layout_.find_field("pool.is_sensitive");
    return field && reading_.number(record, *field) != 0;
  }

  std::string text(Address record, std::string_view name) {
    const Field field = layout_.field(name);
    const Bytes bytes = reading_.image.view(record + field.offset, field.size);
    const auto* const start = reinterpret_cast<const char*>(bytes.data());
    return bytes.empty() ? "" : printable({start, strnlen(start, bytes.size())});
  }

  /// A pool that owns its slabs, or whose blocks are malloc's.
  void read_block_pool(Pool& pool) {
    const auto index = static_cast<std::uint32_t>(reading_.snapshot.pools.size());
    const std::uint64_t size_class = reading_.number_of(pool.record, "blocks.size_class");
    if (size_class != 0 && size_class < reading_.snapshot.classes.size())
      reading_.snapshot.classes[size_class].pool = index;
    pool.block_bytes = reading_.number_of(pool.record, "blocks.stride");
    pool.refusals = reading_.number_of(pool.record, "blocks.refusals");
    const std::uint64_t cap = reading_.number_of(pool.record, "blocks.largest_count");
    if (pool.block_bytes != 0 && cap < kNoLimit / pool.block_bytes) {
      pool.largest_count = cap;
      pool.hard_limit = cap * pool.block_bytes;
    }
    pool.is_peak_a_bound = true;
    if (const Address first = reading_.number_of(pool.record, "blocks.owner"); first != 0)
      read_parts(pool, first, index);
    else
      pool.capacity = reading_.number_of(pool.record, "blocks.of_malloc");
  }

  /// The owners that a pool is. Its peak is of what their slabs gave out: a block is taken without a count.
  void read_parts(Pool& pool, Address first, std::uint32_t index) {
    const auto add = [&](Address owner) {
      const std::uint32_t found = index_in(reading_.owner_at, owner);
      if (found == kNone) return;
      reading_.snapshot.owners[found].pool = index;
      pool.peak_bytes += reading_.number_of(owner, "owner.largest_taken");
    };
    add(first);
    const Field parts = layout_.field("owner.other_parts");
    for (std::uint32_t i = 0; i + 1 < std::min(layout_.value("owner.most_parts"), kMostParts); ++i)
      add(reading_.number(first, {parts.offset + i * parts.size, sizeof(Address)}));
    add(reading_.number_of(first, "owner.sampled"));
  }

  void read_handles(Pool& pool) {
    const Address type = pool.record + layout_.value("handles.type");
    pool.block_bytes = reading_.number_of(type, "handle_type.stride");
    pool.mapped_bytes = reading_.number_of(pool.record, "handles.mapped");
    pool.refusals = reading_.number_of(pool.record, "blocks.refusals");
    pool.largest_count = layout_.value("handles.most_slots");
    pool.hard_limit = pool.largest_count * pool.block_bytes;
    pool.peak_bytes =
        count_used_slots(pool.record, reading_.number_of(type, "handle_type.shift")) * pool.block_bytes;
    pool.is_peak_a_bound = true;
  }

  /// Slots that have ever had an object: those are taken before others, but for what other threads have in
  /// their magazines.
  std::uint64_t count_used_slots(Address pool, std::uint64_t shift) {
    const Address front = reading_.number_of(pool, "handles.front");
    const std::uint64_t slots = std::min<std::uint64_t>(reading_.number_of(front, "handle_front.slots"),
                                                        layout_.value("handles.most_slots"));
    if (shift >= 32) return 0;
    const Address groups = reading_.number_of(front, "handle_front.groups");
    const std::uint64_t group_bytes = layout_.size_of("handle_group");
    std::uint64_t used = 0;
    for (std::uint64_t i = 0; i < slots >> shift; ++i) {
      const std::uint64_t count = std::min(std::uint64_t{1} << shift, slots);
      reading_.bounds.spend_steps(count / 8 + 1);
      const Bytes words = reading_.image.view(
          reading_.number_of(groups + i * group_bytes, "handle_group.words"), count * sizeof(std::uint64_t));
      for (std::size_t slot = 0; slot < words.size() / sizeof(std::uint64_t); ++slot)
        used += entry_of<std::uint64_t>(words, slot) >> 32 != 0 ? 1 : 0;
    }
    return used;
  }

  void read_heap(Pool& pool) {
    const Address account = pool.record + layout_.value("heap_pool.account");
    const Address pages = pool.record + layout_.value("heap_pool.pages");
    const Address mapped = pages + layout_.value("heap_pages.mapped");
    pool.charged_bytes = reading_.number_of(account, "account.charged");
    const Address owner = reading_.number_of(pool.record, "heap_pool.owner");
    pool.is_peak_a_bound = owner != 0;
    if (owner != 0) read_classes_of_heap(pool, owner);
    pool.peak_bytes = reading_.number_of(account, "account.peak");
    pool.soft_limit = reading_.number_of(account, "account.soft");
    pool.hard_limit = reading_.number_of(account, "account.hard");
    pool.mapped_bytes = reading_.number_of(mapped, "account.own");
    pool.mapped_limit = reading_.number_of(mapped, "account.hard");
    pool.refusals = reading_.number_of(pool.record, "heap_pool.refusals");
    const Address spare = reading_.number_of(pages, "heap_pages.spare");  // the first of a list
    reading_.for_each_in_list(spare, layout_.field("span.next"),
                              [&](Address page) { reading_.add(reading_.spare_pages, page); });
    read_buffer(pages + layout_.value("heap_pages.buffer"));
  }

  void read_classes_of_heap(Pool& pool, Address owner) {
    const auto index = static_cast<std::uint32_t>(reading_.snapshot.pools.size());
    read_parts(pool, owner, index);
    std::vector<ClassUse>& classes = reading_.snapshot.classes;
    const std::uint64_t first = reading_.number_of(owner, "owner.first_class");
    const std::uint64_t end =
        std::min(first + reading_.number_of(owner, "owner.class_count"), classes.size());
    for (std::uint64_t size_class = first; size_class < end; ++size_class) classes[size_class].pool = index;
  }

  /// The spans of a heap in a caller's buffer, which no table of pages has.
  void read_buffer(Address buffer) {
    const Address start = reading_.number_of(buffer, "buffer.start");
    const std::uint64_t units = reading_.number_of(buffer, "buffer.units"),
                        unit_bytes = layout_.value("buffer.unit_bytes");
    if (start == 0 || units > kMostUnits || start + units * unit_bytes < start) return;
    const Address table = reading_.number_of(buffer, "buffer.spans");
    const Bytes spans = reading_.image.view(table, units * sizeof(Address));
    if (spans.empty()) return;
    reading_.add(reading_.snapshot.records, {table, units * sizeof(Address), RecordRange::What::kTables});
    reading_.bounds.spend_steps(units);
    for (std::uint64_t unit = 0; unit < units;) {
      const auto record = entry_of<Address>(spans, unit);
      std::uint64_t end = unit + 1;
      while (end < units && entry_of<Address>(spans, end) == record) ++end;
      if (record != 0) {
        Span span;
        span.start = start + unit * unit_bytes;
        span.bytes = (end - unit) * unit_bytes;
        reading_.add_span(span, {record, true});
      }
      unit = end;
    }
  }

  Reading& reading_;
  const Layout& layout_ = reading_.layout;
  const std::uint64_t blocks_ = layout_.value("pool_record.blocks");
  const std::uint64_t handle_ = layout_.value("pool_record.handle");
  const std::uint64_t heap_ = layout_.value("pool_record.heap");
};

}  // namespace

void read_pools(Reading& reading) {
  PoolReader reader(reading);
  const Address first = reading.number_of(reading.layout.root("pools"), "pools.first");
  reading.for_each_in_list(first, reading.layout.field("pool.next"), [&](Address record) {
    if (!reading.pool_at.contains(record)) reader.read(record);
  });
  reader.read_parents();
}

}  // namespace tarn::observer
