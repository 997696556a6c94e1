// A server in small: four threads, each with a table of live objects, most of them small, few large; a random
// object is replaced again and again, and a quarter of those that go are handed to another thread, which
// frees them.
//
// server    wall time per replacement (one malloc, one free), no clock in between
//
// latency   every call of malloc and free timed by the cycle counter (its own 10 ns or so are in it); a row
//           per percentile, and the whole distribution beside each
#pragma once
#include <cmath>

#include "clock.h"
#include "contestant.h"
#include "percentiles.h"
#include "random.h"
#include "spsc_ring.h"
#include "table.h"
#include "timed_row.h"
#include "use.h"
#include "verify.h"

namespace tarn::bench::server {

inline constexpr unsigned kThreads = 4;
inline constexpr std::size_t kObjects = 8192;       // live, per thread
inline constexpr std::size_t kSizeCount = 65'536;   // sizes drawn ahead, used in turn
inline constexpr std::size_t kStepsPerRound = 256;  // between two looks into the mailboxes
inline constexpr std::size_t kMailboxSlots = 1024;
inline constexpr double kThroughputSeconds = 0.2;
inline constexpr double kLatencySeconds = 0.3;

using Mailbox = SpscRing<LiveBlock, kMailboxSlots>;

/// One mailbox from each thread to each other.
class Post {
 public:
  Post() : boxes_(kThreads * kThreads) {}
  Mailbox& box(unsigned from, unsigned to) { return boxes_[from * kThreads + to]; }

 private:
  Table<Mailbox> boxes_;
};

/// Log-normal around 180 bytes, cut to 16..8192; one in 200 has 16 to 64 KiB.
inline std::uint32_t draw_size(Random& random) {
  if (random.between(1, 200) == 1) return static_cast<std::uint32_t>(random.between(16 * 1024, 64 * 1024));
  const double normal = std::sqrt(-2 * std::log(random.unit())) * std::cos(6.283185307179586 * random.unit());
  const double bytes = 180 * std::exp(1.2 * normal);
  return static_cast<std::uint32_t>(bytes < 16 ? 16 : bytes > 8192 ? 8192 : bytes);
}

struct Untimed {
  void start() {}
  template <class Call>
  void operator()(Call call) {
    call();
  }
};

struct Timed {
  Histogram* histogram;
  /// Forgets what came before.
  void start() { *histogram = {}; }
  template <class Call>
  void operator()(Call call) {
    const std::uint64_t first = cycles();
    call();
    histogram->add(cycles() - first);
  }
};

template <class Api, class Meter>
class Server {
 public:
  Server(unsigned index, Post& post, Meter meter)
      : index_(index),
        post_(post),
        meter_(meter),
        random_(index + 1),
        objects_(kObjects),
        sizes_(kSizeCount) {
    for (std::uint32_t& bytes : sizes_) bytes = draw_size(random_);
    for (LiveBlock& object : objects_) object = make();
  }
  /// Runs when all threads have ended their rounds: nothing is posted any more.
  ~Server() {
    empty_mailboxes([](const LiveBlock& object) { Api::deallocate(object.block, object.bytes); });
    for (const LiveBlock& object : objects_) Api::deallocate(object.block, object.bytes);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void verify(Worker& worker) {
    for (std::size_t i = 0; i < 16 * kObjects / kStepsPerRound; ++i) replace_some();
    worker.meet();
    verify_blocks(objects_, Alignment::kMalloc, worker);
  }
  void forget_times() { meter_.start(); }

  void round() { replace_some(); }

 private:
  LiveBlock make() {
    LiveBlock object{nullptr, sizes_[next_size_++ % kSizeCount]};
    meter_([&] { object.block = escape(Api::allocate(object.bytes)); });
    touch(object.block, object.bytes);
    return object;
  }
  void end(const LiveBlock& object) {
    meter_([&] { Api::deallocate(object.block, object.bytes); });
  }
  bool hand_over(const LiveBlock& object, unsigned distance) {
    Mailbox& box = post_.box(index_, (index_ + distance) % kThreads);
    LiveBlock* const slot = box.free_slot();
    if (slot == nullptr) return false;
    *slot = object;
    box.publish();
    return true;
  }
  void replace(LiveBlock& object) {
    const std::uint64_t dice = random_.next() >> 40;
    const bool goes_away = dice % 4 == 0;
    const unsigned distance = 1 + static_cast<unsigned>((dice >> 2) % (kThreads - 1));
    if (!goes_away || !hand_over(object, distance)) end(object);
    object = make();
  }
  template <class End>
  void empty_mailboxes(End end_object) {
    for (unsigned from = 0; from < kThreads; ++from) {
      Mailbox& box = post_.box(from, index_);
      while (const LiveBlock* const object = box.full_slot()) {
        end_object(*object);
        box.release();
      }
    }
  }
  void replace_some() {
    for (std::size_t i = 0; i < kStepsPerRound; ++i) replace(objects_[random_.between(0, kObjects - 1)]);
    empty_mailboxes([this](const LiveBlock& object) { end(object); });
  }

  unsigned index_;
  Post& post_;
  Meter meter_;
  Random random_;
  Table<LiveBlock> objects_;
  Table<std::uint32_t> sizes_;
  std::size_t next_size_ = 0;
};

template <class Api, class MakeMeter>
Timing run_servers(double budget_ns, std::uint64_t least_rounds, MakeMeter make_meter) {
  using Meter = decltype(make_meter(0u));
  Post post;
  return time_rounds(
      kThreads, budget_ns, [&](unsigned index) { return Server<Api, Meter>(index, post, make_meter(index)); },
      least_rounds);
}

template <class Api>
void run_throughput(Session& session) {
  const Row row = {.threads = kThreads};
  if (!session.enter("server") || !session.wants(row)) return;
  const Timing timing = run_servers<Api>(session.budget_ns(kThroughputSeconds), kLeastRounds,
                                         [](unsigned) { return Untimed(); });
  report_rounds(session, row, timing, kStepsPerRound);
}

inline constexpr std::size_t kRowPercentiles[] = {0, 2, 3, 4};  // of kPercentiles
/// So that ten of the calls of all threads lie above the last of these.
inline constexpr std::uint64_t kLeastLatencyRounds = 100'000 / (kThreads * kStepsPerRound) + 1;

inline Row row_of(const Percentile& percentile) {
  return {.series = series("%s", percentile.name), .threads = kThreads};
}

inline bool wants_any_percentile(Session& session) {
  bool is_wanted = false;
  for (const std::size_t i : kRowPercentiles) is_wanted |= session.wants(row_of(kPercentiles[i]));
  return is_wanted;
}

template <class Api>
void run_latency(Session& session) {
  if (!session.enter("latency") || !wants_any_percentile(session)) return;
  Table<Histogram> of_thread(kThreads);
  const Timing timing = run_servers<Api>(session.budget_ns(kLatencySeconds), kLeastLatencyRounds,
                                         [&](unsigned index) { return Timed{&of_thread[index]}; });
  for (unsigned i = 1; i < kThreads; ++i) of_thread[0].merge(of_thread[i]);
  const Histogram& calls = of_thread[0];
  const double ns = ns_per_cycle();
  const Extra fields = percentile_fields("", calls, ns);
  for (const std::size_t i : kRowPercentiles)
    session.report(row_of(kPercentiles[i]), static_cast<double>(calls.percentile(kPercentiles[i].share)) * ns,
                   {calls.total(), timing.least_rounds}, fields);
}

template <class Api>
void run(Session& session) {
  run_throughput<Api>(session);
  run_latency<Api>(session);
}

}  // namespace tarn::bench::server
