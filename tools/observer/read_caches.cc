// What threads and depots have at hand. By its bit such a block looks live; this is where it ceases to be.
#include <algorithm>

#include "observer/reading.h"

namespace tarn::observer {
namespace {

constexpr std::size_t kMostThreads = 1 << 20;
constexpr std::size_t kMostArrays = 1 << 20;  // of a class, in a depot

class CacheReader {
 public:
  explicit CacheReader(Reading& reading)
      : reading_(reading),
        snapshot_(reading.snapshot),
        layout_(reading.layout),
        records_(layout_.field("cache.records")),
        record_bytes_(layout_.size_of("record")),
        top_(layout_.field("record.top")),
        magazines_(layout_.field("heap.magazines")),
        magazine_bytes_(layout_.size_of("magazine")),
        blocks_(layout_.field("magazine.blocks")),
        room_(layout_.field("magazine.room")) {}

  void read_thread(Address heap) {
    Thread thread;
    thread.record = heap;
    thread.owner = index_in(reading_.owner_at, number(heap, "heap.home"));
    thread.is_alive = number(heap, "heap.use") == layout_.value("use.thread");
    thread.refills = number(heap, "heap.refills");
    thread.flushes = number(heap, "heap.flushes");
    const Address cache = number(heap, "heap.cache");
    thread.number = static_cast<std::uint32_t>(number(cache, "cache.thread_number"));
    for (std::uint32_t index = 1; index < snapshot_.classes.size(); ++index)
      read_magazine(thread, heap, cache, index);
    snapshot_.threads.push_back(thread);
  }

  void read_depot(std::uint32_t owner_index) {
    Owner& owner = snapshot_.owners[owner_index];
    const Address depot = number(owner.record, "owner.depot");
    if (depot == 0) return;
    const Address of = depot + layout_.value("depot.of");
    for (std::uint32_t index = 1; index < snapshot_.classes.size(); ++index) {
      const std::uint64_t parked = read_parked(of + std::uint64_t{index} * layout_.size_of("parked"), index);
      owner.parked_blocks += parked;
      owner.parked_bytes += parked * snapshot_.classes[index].block_bytes;
      snapshot_.classes[index].parked += parked;
    }
  }

 private:
  std::uint64_t number(Address record, std::string_view field) {
    return reading_.number(record, layout_.field(field));
  }

  void read_magazine(Thread& thread, Address heap, Address cache, std::uint32_t index) {
    const Address magazine = heap + magazines_.offset + std::uint64_t{index} * magazine_bytes_;
    const Address blocks = reading_.number(magazine, blocks_);
    if (blocks == 0) return;
    const Address record = cache + records_.offset + std::uint64_t{index} * record_bytes_;
    const Address top = reading_.number(record, top_);
    const std::uint64_t room = reading_.number(magazine, room_);
    if (top < blocks || (top - blocks) % sizeof(Address) != 0) return;
    const std::uint64_t count = (top - blocks) / sizeof(Address);
    if (count > room) return;
    const std::uint64_t taken = take_out(blocks + sizeof(Address), count, index);
    ClassUse& of_class = snapshot_.classes[index];
    of_class.in_threads += taken;
    thread.cached_blocks += taken;
    thread.cached_bytes += taken * of_class.block_bytes;
  }

  std::uint64_t read_parked(Address parked, std::uint32_t index) {
    const std::uint32_t room = layout_.value("parked_array.room");
    const std::uint32_t blocks = layout_.value("parked_array.blocks");
    const std::uint64_t count = number(parked, "parked.count");
    std::uint64_t in_array = std::min<std::uint64_t>(number(parked, "parked.in_first"), room);
    std::uint64_t taken = 0, seen = 0;
    reading_.for_each_in_list(number(parked, "parked.first"), layout_.field("parked_array.next"), kMostArrays,
                              [&](Address array) {
                                if (seen >= count) return;
                                taken += take_out(array + blocks, in_array, index);
                                seen += in_array;
                                in_array = room;
                              });
    return taken;
  }

  /// \returns how many of the blocks were live by their bits.
  std::uint64_t take_out(Address addresses, std::uint64_t count, std::uint32_t size_class) {
    const std::byte* const copy = reading_.image.view(addresses, count * sizeof(Address));
    if (copy == nullptr) return 0;
    std::uint64_t taken = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      Address block;
      std::memcpy(&block, copy + i * sizeof block, sizeof block);
      taken += take_out(block, size_class) ? 1 : 0;
    }
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
  Snapshot& snapshot_;
  const Layout& layout_;
  const Field records_;
  const std::uint32_t record_bytes_;
  const Field top_, magazines_;
  const std::uint32_t magazine_bytes_;
  const Field blocks_, room_;
};

}  // namespace

void read_caches(Reading& reading) {
  CacheReader reader(reading);
  const Address first =
      reading.number(reading.layout.root("registry"), reading.layout.field("registry.first"));
  reading.for_each_in_list(first, reading.layout.field("heap.next"), kMostThreads,
                           [&](Address heap) { reader.read_thread(heap); });
  for (std::uint32_t i = 0; i < reading.snapshot.owners.size(); ++i) reader.read_depot(i);
}

}  // namespace tarn::observer
