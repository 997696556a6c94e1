// Objects of a game: a loop over all that live, and objects that are made, looked up and ended.
//
// 003_walk     1000 to 1,000,000 objects, of which all, half or a tenth are live, spread at random; a round
//              adds to two floats of every live object, in address order. The contestant `pointers` is a
//              loop over an array of pointers, which a program keeps where its pool has no walk.
//
// 003_handles  10,000 objects made, each read by its handle, or pointer, in random order, and ended in
//              another; in a process of one thread, and in one whose second thread sleeps
//
// What they ask of a `Pool<Bytes>`:
//   Object* create(), void destroy(Object*)      Object has at least the floats x and y
//   void settle()                                all that will live during the walks does now
//   void for_each_live(visit)                    calls visit(Object&)
// and for handles:
//   Name create(); Object* find(Name); void destroy(Name)
#pragma once
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include "block_size.h"
#include "clock.h"
#include "contestant.h"
#include "idle_thread.h"
#include "pool_blocks.h"
#include "verify.h"

namespace tarn::bench::live_objects {

inline constexpr double kRowSeconds = 0.02;

template <std::size_t Bytes>
struct Object {
  Object() {}
  float x = 0, y = 0;
  char rest[Bytes - 2 * sizeof(float)];
};

/// Objects in one array, and the pointers to those that are live.
template <std::size_t Bytes>
class Pointers {
 public:
  explicit Pointers(std::size_t most) : objects_(most), pointers_(most) {}

  Object<Bytes>* create() { return ::new (&objects_[made_++]) Object<Bytes>; }
  void destroy(Object<Bytes>* object) { object->rest[0] = kDead; }
  void settle() {
    for (std::size_t i = 0; i < made_; ++i)
      if (objects_[i].rest[0] != kDead) pointers_[count_++] = &objects_[i];
  }
  template <class Visit>
  void for_each_live(Visit visit) {
    for (std::size_t i = 0; i < count_; ++i) visit(*pointers_[i]);
  }

 private:
  static constexpr char kDead = 1;

  Table<Object<Bytes>> objects_;
  Table<Object<Bytes>*> pointers_;
  std::size_t made_ = 0;
  std::size_t count_ = 0;
};

template <class Pool>
[[gnu::noinline]] void walk_once(Pool& pool) {
  pool.for_each_live([](auto& object) {
    object.x += 1.0F;
    object.y += 2.0F;
  });
}

inline constexpr unsigned kLivePercent[] = {100, 50, 10};

/// \returns how many objects are left alive.
template <class Pool, std::size_t Bytes>
std::size_t fill(Pool& pool, std::size_t count, unsigned live_percent) {
  Table<Object<Bytes>*> objects(count);
  for (Object<Bytes>*& object : objects) {
    object = pool.create();
    object->rest[0] = 0;
  }
  Random random(count + live_percent);
  std::size_t live = count;
  for (Object<Bytes>* const object : objects)
    if (random.between(1, 100) > live_percent) {
      pool.destroy(object);
      --live;
    }
  pool.settle();
  return live;
}

/// Repeats a round for `budget_ns`, looking at the clock after each `at_once`.
template <class Round>
Timing repeat(double budget_ns, std::uint64_t at_once, Round round) {
  Laps laps;
  Lap& lap = laps[0];
  lap.first_ns = lap.last_ns = now_ns();
  for (; needs_more(lap, budget_ns); lap.last_ns = now_ns())
    for (std::uint64_t i = 0; i < at_once; ++i, ++lap.rounds) round();
  return timing_of(laps, 1);
}

template <class Pool, std::size_t Bytes>
void run_walk_row(Session& session, std::size_t count, unsigned live_percent) {
  const Row row = {.series = series("%zu objects, %u percent live", count, live_percent), .bytes = Bytes};
  if (!session.wants(row)) return;
  Timing timing;
  std::size_t live = 0;
  {
    Pool pool(count);
    live = fill<Pool, Bytes>(pool, count, live_percent);
    std::size_t visits = 0;
    pool.for_each_live([&](Object<Bytes>&) { ++visits; });
    if (visits != live) {
      std::fprintf(stderr, "bench: a walk visited %zu of %zu objects\n", visits, live);
      std::_Exit(kWrongBlocksStatus);
    }
    timing = repeat(session.budget_ns(kRowSeconds), 10'000 / live + 1, [&] { walk_once(pool); });
  }
  report_rounds(session, row, timing, live);
}

template <template <std::size_t> class Pool>
void run_walks(Session& session) {
  if (!session.enter("003_walk")) return;
  for (const std::size_t asked : session.sizes_among({64, 256}))
    with_known_size<64, 256>(asked, [&](auto bytes) {
      for (const std::size_t count : session.values({1000, 10'000, 100'000, 1'000'000}))
        for (const unsigned live_percent : kLivePercent)
          if (count * bytes <= 64'000'000) run_walk_row<Pool<bytes>, bytes>(session, count, live_percent);
    });
}

inline constexpr std::size_t kNamed = 10'000;

template <class Pool, std::size_t Bytes>
class NamedObjects {
 public:
  NamedObjects()
      : names_(kNamed), looks_(FreeOrder::kRandom, kNamed, 1), ends_(FreeOrder::kRandom, kNamed, 2) {}

  [[gnu::noinline]] void round() {
    for (Name& name : names_) name = pool_.create();
    float sum = 0;
    for (std::size_t i = 0; i < kNamed; ++i)  // the test keeps compilers from leaving the look's own out
      if (const auto* const object = pool_.find(names_[looks_[i]])) sum += object->x;
    float found = sum;  // the sum itself stays in a register
    escape(&found);
    for (std::size_t i = 0; i < kNamed; ++i) pool_.destroy(names_[ends_[i]]);
  }

 private:
  using Name = decltype(std::declval<Pool>().create());

  Pool pool_;
  Table<Name> names_;
  FreePlan looks_;
  FreePlan ends_;
};

template <class Pool, std::size_t Bytes>
void run_handles_row(Session& session, const char* process) {
  const Row row = {.series = series("%s", process), .bytes = Bytes};
  if (!session.wants(row)) return;
  Timing timing;
  {
    NamedObjects<Pool, Bytes> objects;
    objects.round();
    timing = repeat(session.budget_ns(kRowSeconds), 1, [&] { objects.round(); });
  }
  report_rounds(session, row, timing, kNamed);
}

template <template <std::size_t> class Pool>
void run_handles(Session& session) {
  if (!session.enter("003_handles")) return;
  for (const std::size_t asked : session.sizes_among({64, 256}))
    with_known_size<64, 256>(asked,
                             [&](auto bytes) { run_handles_row<Pool<bytes>, bytes>(session, "one thread"); });
  const IdleThread second;
  for (const std::size_t asked : session.sizes_among({64, 256}))
    with_known_size<64, 256>(
        asked, [&](auto bytes) { run_handles_row<Pool<bytes>, bytes>(session, "with threads"); });
}

}  // namespace tarn::bench::live_objects
