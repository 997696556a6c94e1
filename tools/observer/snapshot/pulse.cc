#include "observer/snapshot/pulse.h"

#include <algorithm>
#include <chrono>

namespace tarn::observer {
namespace {

/// Blocks that a refill or a flush moves at most. Rarer calls that move more change the places of threads.
constexpr std::uint64_t kBlocksPerSlowCall = 128;
constexpr std::uint64_t kStepsOfARead = 256;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class PulseReader {
 public:
  PulseReader(const Source& source, const Layout& layout, Bounds& bounds)
      : source_(source), layout_(layout), bounds_(bounds), classes_(count_of_classes(source, layout)) {}

  Pulse read() {
    Pulse pulse;
    std::uint64_t misses = 0;
    pulse.page_locks = number(layout_.root("page_cache"), "count.page_cache_locks");
    for_each(number(layout_.root("owners"), "owners.first"), "owner.next",
             [&](Address owner) { pulse.slow_calls += number(owner, "owner.slow_calls"); });
    for_each(number(layout_.root("registry"), "registry.first"), "heap.next", [&](Address heap) {
      pulse.heaps.push_back(heap);
      misses += number(heap, "heap.refills") + number(heap, "heap.flushes");
      add_places(number(heap, "heap.cache"), pulse);
    });
    // Owners count misses too, but may lose one; threads do not.
    pulse.slow_calls = std::max(pulse.slow_calls, misses);
    pulse.time = now();
    return pulse;
  }

 private:
  std::uint64_t number(Address record, std::string_view field) {
    bounds_.spend_steps(kStepsOfARead);
    return read_number(source_, record, layout_.field(field)).value_or(0);
  }

  /// Calls use(record) for each record of a list.
  template <typename Use>
  void for_each(Address first, std::string_view next, Use use) {
    CircleWatch circle;
    for (Address record = first; record != 0 && !circle.has_closed(record); record = number(record, next))
      use(record);
  }

  void add_places(Address cache, Pulse& pulse) {
    const std::size_t classes = classes_, record = layout_.size_of("record");
    const Field top = layout_.field("record.top_distance");
    bounds_.spend_bytes(sizeof(Address) + classes * sizeof(Place));
    bounds_.spend_steps(classes);
    records_.assign(classes * record, std::byte{0});
    source_.read(cache + layout_.value("cache.records"), records_.data(), records_.size());
    for (std::size_t i = 1; i < classes; ++i)
      pulse.places.push_back({number_at(Bytes(records_).subspan(i * record, record), top), 0});
  }

  const Source& source_;
  const Layout& layout_;
  Bounds& bounds_;
  const std::size_t classes_;
  std::vector<std::byte> records_;
};

/// \returns the room of the places that changed. \why all of it: a thread that uses a place may have filled
/// and emptied it between two looks.
std::uint64_t room_of_changed(const Pulse& before, const Pulse& between, const Pulse& after) {
  std::uint64_t room = 0;
  for (std::size_t i = 0; i < between.places.size(); ++i) {
    const Place& place = between.places[i];
    if (before.places[i].top != place.top || after.places[i].top != place.top) room += place.room;
  }
  return room;
}

}  // namespace

Pulse Pulse::read(const Source& source, const Layout& layout, Bounds& bounds) {
  return PulseReader(source, layout, bounds).read();
}

Exactness compare(const Pulse& before, const Pulse& between, const Pulse& after) {
  Exactness exactness;
  exactness.seconds = after.time - before.time;
  exactness.slow_calls = after.slow_calls - before.slow_calls;
  exactness.moved_blocks = exactness.slow_calls * kBlocksPerSlowCall;
  // A pool that is made meanwhile has places that another look has not.
  const bool has_same_places =
      before.places.size() == between.places.size() && before.places.size() == after.places.size();
  const bool has_same_threads =
      has_same_places && before.heaps == between.heaps && before.heaps == after.heaps;
  if (has_same_threads) exactness.moved_blocks += room_of_changed(before, between, after);
  exactness.is_exact =
      has_same_threads && exactness.moved_blocks == 0 && before.page_locks == after.page_locks;
  return exactness;
}

}  // namespace tarn::observer
