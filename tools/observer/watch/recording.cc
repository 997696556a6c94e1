#include "observer/watch/recording.h"

#include <fmt/format.h>

#include <algorithm>

#include "observer/process/attached_process.h"
#include "observer/records/bounds.h"
#include "observer/records/bytes.h"
#include "observer/records/locate.h"

namespace tarn::observer {
namespace {

// No library has larger ones: one that says so is forged.
constexpr std::uint32_t kMostRoom = 1 << 18;
constexpr std::size_t kMostRings = 1 << 16, kRingsOfALook = 256;

Layout layout_with_calls(const Source& source) {
  Layout layout = layout_with(source, "call_ring.events", "records no calls");
  if (layout.value("call_ring.event_bytes") != sizeof(trace::Event))
    throw ObserveError(fmt::format("tarn {} in {} records no calls that this tool can read", layout.version(),
                                   source.program()));
  return layout;
}

}  // namespace

RecordingWords::RecordingWords(const Source& source)
    : source_(source), layout_(layout_with_calls(source)), process_(running_process(source)) {
  room_ = layout_.value("call_ring.room");
  if (room_ == 0 || room_ > kMostRoom) throw ObserveError("the rings of its calls cannot be as it says");
  if (number(layout_.root("thread_limits"), "thread_limits.always_slow") != 0)
    throw ObserveError(
        fmt::format("{} runs with the option check, count_calls or pools_use_malloc, and then no call is put "
                    "down: start it without",
                    source.program()));
}

std::uint64_t RecordingWords::number(Address record, std::string_view field) const {
  return read_number(source_, record, layout_.field(field)).value_or(0);
}

std::vector<CallRingState> RecordingWords::rings(const std::function<bool()>& is_over) const {
  std::vector<CallRingState> rings;
  const Field calls = layout_.field("heap.calls_made");
  const Field events = layout_.field("call_ring.events"), written = layout_.field("call_ring.written"),
              fetched = layout_.field("call_ring.fetched"), lost = layout_.field("call_ring.lost");
  std::vector<std::byte> record(layout_.size_of("call_ring"));
  CircleWatch circle;
  Address heap = number(layout_.root("registry"), "registry.first");
  for (; heap != 0 && !circle.has_closed(heap) && rings.size() < kMostRings;
       heap = number(heap, "heap.next")) {
    if (rings.size() % kRingsOfALook == kRingsOfALook - 1 && is_over()) break;
    const Address ring = heap + calls.offset;
    if (!source_.read_all(ring, record.data(), record.size())) break;
    rings.push_back({ring, number_at(record, events), number_at(record, written), number_at(record, fetched),
                     number_at(record, lost)});
  }
  return rings;
}

bool RecordingWords::read(const CallRingState& ring, std::uint64_t most,
                          std::vector<trace::Event>& into) const {
  const std::uint64_t waiting = ring.written - ring.fetched;
  into.clear();
  if (waiting == 0) return true;
  if (waiting > room_ || ring.events == 0) return false;
  const std::uint64_t count = std::min(waiting, most);
  into.resize(count);
  const std::uint64_t first = ring.fetched % room_, to_end = std::min<std::uint64_t>(count, room_ - first);
  return source_.read_all(ring.events + first * sizeof(trace::Event), into.data(),
                          to_end * sizeof(trace::Event)) &&
         (to_end == count ||
          source_.read_all(ring.events, into.data() + to_end, (count - to_end) * sizeof(trace::Event)));
}

void RecordingWords::note_fetched(const CallRingState& ring, std::uint64_t count) const {
  process_.write(ring.record + layout_.field("call_ring.fetched").offset, &count, sizeof count);
}

std::uint64_t RecordingWords::order() const {
  return read_number(source_, layout_.root("call_order"), {0, sizeof(std::uint64_t)}).value_or(0);
}

std::uint64_t RecordingWords::unseen_calls() const {
  return read_number(source_, layout_.root("unseen_calls"), {0, sizeof(std::uint64_t)}).value_or(0);
}

std::uint32_t RecordingWords::value_of(RecordingState state) const {
  switch (state) {
    case RecordingState::kOn:
      return layout_.value("recording.on");
    case RecordingState::kEnding:
      return layout_.value("recording.ending");
    case RecordingState::kOff:
      break;
  }
  return layout_.value("recording.off");
}

RecordingState RecordingWords::state() const {
  const std::uint64_t word = number(layout_.root("watch"), "watch.recording");
  for (const RecordingState state : {RecordingState::kOn, RecordingState::kEnding})
    if (word == value_of(state)) return state;
  return RecordingState::kOff;
}

void RecordingWords::set(RecordingState state) const {
  const Address watch = layout_.root("watch");
  const std::uint32_t word = value_of(state);
  process_.write(watch + layout_.field("watch.recording").offset, &word, sizeof word);
  if (state == RecordingState::kEnding) return;  // threads give their rings back when they notice a switch
  count_switch(process_, layout_);
}

bool RecordingWords::can_be_read() const {
  return read_number(source_, layout_.root("watch"), layout_.field("watch.generation")).has_value();
}

}  // namespace tarn::observer
