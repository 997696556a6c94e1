#include "observer/pulse.h"

#include <chrono>

#include "observer/image.h"

namespace tarn::observer {
namespace {

constexpr std::size_t kMostRecords = 1 << 20;
/// Blocks that a slow call may move: a refill, or a flush.
constexpr std::uint64_t kBlocksPerSlowCall = 256;

std::uint64_t distance(std::uint64_t one, std::uint64_t other) {
  return one > other ? one - other : other - one;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Calls use(record) for each record of a list.
template <typename Use>
void for_each(const Source& source, Address first, Field next, Use use) {
  for (std::size_t left = kMostRecords; first != 0 && left > 0; --left) {
    use(first);
    const Address following = read_number(source, first, next).value_or(0);
    if (following == first) return;
    first = following;
  }
}

void add_tops(const Source& source, const Layout& layout, Address cache, Pulse& pulse) {
  const std::size_t classes = layout.value("class_count"), record = layout.size_of("record");
  const Field top = layout.field("record.top");
  std::vector<std::byte> records(classes * record);
  if (!source.read_all(cache + layout.value("cache.records"), records.data(), records.size()))
    records.assign(records.size(), std::byte{0});
  for (std::size_t i = 0; i < classes; ++i) pulse.tops.push_back(number_at(records.data() + i * record, top));
}

}  // namespace

Pulse Pulse::read(const Source& source, const Layout& layout) {
  Pulse pulse;
  const auto number = [&](Address record, std::string_view field) {
    return read_number(source, record, layout.field(field)).value_or(0);
  };
  pulse.page_locks = number(layout.root("page_cache"), "count.page_cache_locks");
  for_each(source, number(layout.root("owners"), "owners.first"), layout.field("owner.next"),
           [&](Address owner) { pulse.slow_calls += number(owner, "owner.slow_calls"); });
  for_each(source, number(layout.root("registry"), "registry.first"), layout.field("heap.next"),
           [&](Address heap) {
             pulse.heaps.push_back(heap);
             pulse.slow_calls += number(heap, "heap.refills") + number(heap, "heap.flushes");
             add_tops(source, layout, number(heap, "heap.cache"), pulse);
           });
  pulse.time = now();
  return pulse;
}

Exactness compare(const Pulse& before, const Pulse& after) {
  Exactness exactness;
  exactness.seconds = after.time - before.time;
  exactness.slow_calls = after.slow_calls - before.slow_calls;
  exactness.moved_blocks = exactness.slow_calls * kBlocksPerSlowCall;
  const bool is_comparable = before.heaps == after.heaps && before.tops.size() == after.tops.size();
  if (is_comparable)
    for (std::size_t i = 0; i < before.tops.size(); ++i) {
      const std::uint64_t moved = distance(before.tops[i], after.tops[i]);
      // More is another magazine in its place, which a slow call has made.
      constexpr std::uint64_t kLargestMagazineBytes = 8192 * sizeof(Address);
      if (moved < kLargestMagazineBytes) exactness.moved_blocks += moved / sizeof(Address);
    }
  exactness.is_exact = is_comparable && before.tops == after.tops && exactness.slow_calls == 0 &&
                       before.page_locks == after.page_locks;
  return exactness;
}

}  // namespace tarn::observer
