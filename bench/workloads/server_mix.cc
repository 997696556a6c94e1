// A server in small: four threads, each with a table of live objects, most of them small, few large; a random
// object is replaced again and again, and a quarter of those that go are handed to another thread, which
// frees them.
//
// throughput   wall time per replacement (one malloc, one free), no clock in between
// latency      the same with every call of malloc and free timed by the cycle counter; p99.9 and p99.99 are
// rows of
//              their own, the rest of the distribution stands beside them
#include <array>
#include <cmath>

#include "allocator_under_test.h"
#include "clock.h"
#include "groups.h"
#include "histogram.h"
#include "random.h"
#include "spsc_ring.h"
#include "table.h"
#include "threads.h"
#include "verify.h"

namespace tarn::bench {
namespace {

constexpr unsigned kThreads = 4;
constexpr std::size_t kObjects = 8192;       // live, per thread
constexpr std::size_t kSizeCount = 65'536;   // sizes drawn ahead, used in turn
constexpr std::size_t kStepsPerRound = 256;  // between two looks into the mailboxes
constexpr std::size_t kMailboxSlots = 1024;
constexpr double kThroughputSeconds = 0.5;
constexpr double kLatencySeconds = 1.0;

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
std::uint32_t draw_size(Random& random) {
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

template <class Meter>
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
    empty_mailboxes([](const LiveBlock& object) { deallocate(object.block, object.bytes); });
    for (const LiveBlock& object : objects_) deallocate(object.block, object.bytes);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void verify(Worker& worker) {
    for (std::size_t i = 0; i < 16 * kObjects / kStepsPerRound; ++i) replace_some();
    worker.meet();
    verify_blocks(objects_, worker);
    meter_.start();
  }

  void round() { replace_some(); }

 private:
  LiveBlock make() {
    LiveBlock object{nullptr, sizes_[next_size_++ % kSizeCount]};
    meter_([&] { object.block = allocate(object.bytes); });
    touch(object.block, object.bytes);
    return object;
  }
  void end(const LiveBlock& object) {
    meter_([&] { deallocate(object.block, object.bytes); });
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

template <class MakeMeter>
Timing run_servers(double budget_ns, MakeMeter make_meter) {
  Post post;
  return time_rounds(kThreads, budget_ns,
                     [&](unsigned index) { return Server(index, post, make_meter(index)); });
}

void run_throughput(Session& session) {
  const RowName name = row_name("throughput");
  if (!session.wants(name)) return;
  const Timing timing =
      run_servers(session.budget_ns(kThroughputSeconds), [](unsigned) { return Untimed(); });
  const std::uint64_t operations = timing.rounds * kStepsPerRound;
  session.report(name, timing.wall_ns / static_cast<double>(operations), operations);
}

Extra latency_fields(const Histogram& calls, double scale_ns) {
  const auto ns = [&](double fraction) { return static_cast<double>(calls.percentile(fraction)) * scale_ns; };
  return extra_fields(",\"p50_ns\":%.1f,\"p99_ns\":%.1f,\"p99.9_ns\":%.1f,\"p99.99_ns\":%.1f,\"max_ns\":%.1f",
                      ns(0.5), ns(0.99), ns(0.999), ns(0.9999),
                      static_cast<double>(calls.largest()) * scale_ns);
}

void run_latency(Session& session) {
  const RowName p999 = row_name("p99.9");
  const RowName p9999 = row_name("p99.99");
  const bool wants_p999 = session.wants(p999);
  const bool wants_p9999 = session.wants(p9999);
  if (!wants_p999 && !wants_p9999) return;
  Table<Histogram> of_thread(kThreads);
  run_servers(session.budget_ns(kLatencySeconds), [&](unsigned index) { return Timed{&of_thread[index]}; });
  for (unsigned i = 1; i < kThreads; ++i) of_thread[0].merge(of_thread[i]);
  const Histogram& calls = of_thread[0];
  const double scale_ns = ns_per_cycle();
  const Extra fields = latency_fields(calls, scale_ns);
  session.report(p999, static_cast<double>(calls.percentile(0.999)) * scale_ns, calls.total(),
                 Temperature::kWarm, fields);
  session.report(p9999, static_cast<double>(calls.percentile(0.9999)) * scale_ns, calls.total(),
                 Temperature::kWarm, fields);
}

}  // namespace

void run_server_mix(Session& session) {
  run_throughput(session);
  run_latency(session);
}

}  // namespace tarn::bench
