#include "thread/observation/observation.h"

#include "central/cached/cached_blocks.h"
#include "central/owners.h"
#include "os/locks/at_fork.h"
#include "page/give_back/background.h"
#include "page/spans/watched_spans.h"
#include "thread/observation/exponential.h"
#include "thread/registry.h"
#include "thread/watch/watch_lease.h"

namespace tarn::internal {

constinit Observation observation;

namespace {

// Bytes that no thread asks for.
constexpr std::int64_t kNever = std::int64_t{1} << 60;

// Never 0.
std::uint32_t seed_of_this_thread() {
  static constinit std::atomic<std::uint64_t> drawn{0};
  const std::uint64_t step = drawn.fetch_add(0x9e3779b97f4a7c15, std::memory_order_relaxed);
  const std::uint64_t mixed = (address_of(&this_thread()) ^ step) * 0xbf58476d1ce4e5b9;
  return static_cast<std::uint32_t>(mixed >> 32) | 1;
}

// Behind it comes a pause, at which the thread looks whether the tool is still there.
constexpr std::int64_t kLongestLeg = 16 << 20;  // bytes

void end_watches_without_tool() {
  if (watch_leases.profile.has_lapsed()) observation.watch(0);
  if (watch_leases.recording.has_lapsed()) observation.record(Recording::kOff);
}

// \returns the bytes to the next sample.
std::int64_t distance_to_sample(std::size_t interval) {
  if (this_thread().random == 0) this_thread().random = seed_of_this_thread();
  if (interval == 1) return 0;  // every block, also of 0 bytes
  const double drawn = minus_log_of_fraction(next_random(this_thread().random));
  const double distance = drawn * static_cast<double>(interval);
  return distance < static_cast<double>(kNever) ? static_cast<std::int64_t>(distance) + 1 : kNever;
}

// \returns the bytes to the next sample or pause. \why drawn anew behind a pause: the distance is
// exponential, and so is what is left of a longer one.
std::int64_t leg_to_sample(std::size_t interval) {
  const std::int64_t distance = distance_to_sample(interval);
  this_thread().is_at_pause = distance > kLongestLeg;
  return this_thread().is_at_pause ? kLongestLeg : distance;
}

// A thread that is watched for long comes to it, and begins anew.
constexpr std::int32_t kNoGuards = INT32_MAX;

std::int32_t calls_to_guard() {
  const std::uint32_t one_in = guard_turns.one_in();
  const std::int64_t drawn = one_in == 0 ? kNoGuards : distance_to_sample(one_in);
  return drawn < kNoGuards ? static_cast<std::int32_t>(drawn) : kNoGuards;
}

std::int32_t slow_calls_of_turn() {
  constexpr std::uint32_t kMost = kNoGuards / 2;
  const std::uint32_t one_in = guard_turns.one_in();
  return 2 * static_cast<std::int32_t>(one_in < kMost ? one_in : kMost);
}

// A tool fetches the calls of a child only where it follows all processes.
constinit bool children_are_recorded = false;

void go_on_in_child() {
  guard_turns.forget_thread();
  if (!watch_switches.is_recording()) return;
  if (!children_are_recorded) return observation.record(Recording::kOff);
  if (ThreadHeap* const heap = this_heap()) heap->calls_made.note_fetched(heap->calls_made.written());
}

void look_at_turn() {
  observation.begin_guard_turn_if_due();
  observation.ring();
}

// Where a thread makes no slow call soon, a look notices a switch.
[[gnu::constructor(102)]] void begin_looks() {
  os::at_fork(nullptr, nullptr, go_on_in_child);
  background.set_trim_idle([](LookShare share) {
    end_watches_without_tool();
    look_at_turn();
    return registry.trim_idle(share);
  });
}

}  // namespace

void Observation::set_sink(const SampleSink& sink) {
  sink_.store(&sink, std::memory_order_release);
  if (interval() != 0) watch(interval());
}

void Observation::watch(std::size_t interval) {
  watch_leases.profile.end();
  interval_.store(interval, std::memory_order_relaxed);
  watch_switches.count();
  notice();
}

void Observation::record(Recording recording) {
  // Half of the calls would be put down: those that ask by themselves.
  if (recording == Recording::kOn && thread_limits.every_call_is_slow) return;
  watch_leases.recording.end();
  watch_switches.recording.store(recording, std::memory_order_relaxed);
  watch_switches.count();
  notice();
}

void Observation::record_with_children() {
  children_are_recorded = true;
  record(Recording::kOn);
}

void Observation::guard(std::uint32_t one_in) {
  guard_turns.set(one_in);
  watch_switches.count();
  notice();
}

bool Observation::is_guard_due_now() {
  if (guard_turns.is_turn()) return true;
  this_heap()->calls_to_guard = kNoGuards;
  return false;
}

void Observation::note_guarded(std::uint64_t ns) {
  this_heap()->calls_to_guard = calls_to_guard();
  end_turn(ns);
}

void Observation::end_turn(std::uint64_t ns) {
  if (!guard_turns.end(ns)) return;
  watch_switches.count();
  notice();
}

// Of a thread whose calls are slow by themselves.
void Observation::end_long_turn() {
  constexpr std::uint64_t kNsOfSlowCall = 50;
  this_heap()->slow_calls_of_turn = kNoGuards;
  if (may_guard()) end_turn(guard_turns.one_in() * kNsOfSlowCall);
}

bool Observation::may_guard() const {
  return guard_turns.is_turn() && !thread_limits.every_call_is_slow && !os::makes_common_calls_only();
}

bool Observation::may_record() const {
  return watch_switches.is_recording() && !thread_limits.every_call_is_slow;
}

bool Observation::may_sample() const {
  return interval() != 0 && !thread_limits.every_call_is_slow &&
         sink_.load(std::memory_order_acquire) != nullptr && owners.sampled(class_of_index(1)) != nullptr;
}

void Observation::ring() {
  const std::uint32_t now = watch_switches.generation.load(std::memory_order_seq_cst);
  // Once for each switch, by the first thread that notices.
  if (rung_for_.exchange(now, std::memory_order_acq_rel) == now) return;
  // Guards switch all the time, and are no tool's.
  const bool is_sampling = may_sample(), is_recording = may_record();
  if (is_sampling && !watched_spans.is_on()) watch_leases.profile.begin();
  if (!was_recording_.exchange(is_recording, std::memory_order_relaxed)) watch_leases.recording.begin();
  if (is_sampling) {
    watched_spans.begin();
  } else if (watched_spans.is_on()) {
    watched_spans.end();
    sink_.load(std::memory_order_acquire)->on_switched_off();
  }
  if (may_guard()) guard_turns.ensure_thread(look_at_turn);
  const bool watches_pools = is_sampling || is_recording;
  if (!watches_pools && !may_guard()) return;
  registry.hide_all_records();
  if (watches_pools) owners.for_each([](const SlabOwner& owner) { ring_cached_blocks(owner); });
}

void Observation::take_notice() {
  const std::uint32_t now = watch_switches.generation.load(std::memory_order_seq_cst);
  const bool is_sampling = may_sample(), is_guarding = may_guard();
  const bool is_watched = is_sampling || is_guarding || may_record();
  this_thread().note_switch(now, is_watched);
  if (is_watched) this_thread().bytes_to_sample = is_sampling ? leg_to_sample(interval()) : kNever;
  // Noted under the heap's mutex, and before the records are shown again: hide_all_records() skips a thread
  // that has noticed, and would hide the records of one that has not.
  if (ThreadHeap* const heap = this_heap()) {
    heap->calls_to_guard = is_guarding ? calls_to_guard() : kNoGuards;
    heap->slow_calls_of_turn = is_guarding ? slow_calls_of_turn() : kNoGuards;
    os::LockGuard guard(heap->mutex);
    heap->shown.switch_noticed = now;
    heap->shown.is_watched = is_watched;
  }
  if (ThreadHeap* const heap = this_heap(); heap != nullptr && !watch_switches.has_rings())
    heap->calls_made.end();
  show_records_of_this_thread();
  ring();
}

bool Observation::draw() {
  end_watches_without_tool();
  const std::size_t interval = this->interval();
  if (interval == 0) return false;  // switched off, and not yet noticed
  const bool is_sample = !this_thread().is_at_pause;
  this_thread().bytes_to_sample = leg_to_sample(interval);
  return is_sample;
}

}  // namespace tarn::internal
