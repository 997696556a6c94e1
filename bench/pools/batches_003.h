// Source 003: allocate 10,000 blocks, free them in LIFO, FIFO or random order, again and again; one thread.
//
// 003_fixed          blocks of one size known to the compiler, 64 to 2048 bytes; the first 8 bytes of each
// are written 003_untouched      the same, nothing written 003_threaded       as 003_fixed, in a process that
// has a second thread, asleep: glibc's locks and malloc leave their
//                    atomic instructions out while a process has one thread, which a server never has
// 003_random_sizes   sizes drawn from 1 to a maximum; a pool of one block size hands out the maximum
//
// An operation is a block allocated and freed. What lies between the two halves (laying the pointers out in
// the order of freeing) is not timed.
#pragma once
#include "blocks.h"
#include "clock.h"
#include "contestant.h"
#include "idle_thread.h"

namespace tarn::bench {

inline constexpr std::size_t kBlocksOf003 = 10'000;
inline constexpr double kRowSecondsOf003 = 0.04;

template <class Pool, class Slot, Writing kWriting>
class Batches003 {
 public:
  Batches003(FreeOrder order, std::size_t largest_bytes, PhaseTimes& times)
      : allocated_(kBlocksOf003), freed_(kBlocksOf003), plan_(order, kBlocksOf003, 3), times_(times) {
    Random random(largest_bytes);
    if constexpr (requires(Slot slot) { slot.bytes = 1; })
      for (Slot& slot : allocated_) slot.bytes = random.between(1, largest_bytes);
  }

  void verify(Worker& worker) {
    allocate_all();
    verify_slots(allocated_, worker);
    plan_.arrange(allocated_, freed_);
    free_all();
  }

  void round() {
    const std::uint64_t first_ns = now_ns();
    allocate_all();
    const std::uint64_t allocated_ns = now_ns();
    plan_.arrange(allocated_, freed_);
    const std::uint64_t arranged_ns = now_ns();
    free_all();
    times_.free_ns += static_cast<double>(now_ns() - arranged_ns);
    times_.allocate_ns += static_cast<double>(allocated_ns - first_ns);
    times_.operations += kBlocksOf003;
  }

 private:
  [[gnu::noinline]] void allocate_all() {
    for (Slot& slot : allocated_) slot.block = used<kWriting>(pool_.allocate(slot.bytes));
  }
  [[gnu::noinline]] void free_all() {
    for (const Slot& slot : freed_) pool_.deallocate(slot.block, slot.bytes);
  }

  Pool pool_;
  Table<Slot> allocated_;
  Table<Slot> freed_;
  FreePlan plan_;
  PhaseTimes& times_;
};

template <class Pool, class Slot, Writing kWriting>
void run_rows_003(Session& session, std::size_t bytes) {
  for (const FreeOrder order : kFreeOrders) {
    const RowName name = row_name("%zu/%s", bytes, name_of(order));
    if (!session.wants(name)) continue;
    PhaseTimes times;
    time_rounds(1, session.budget_ns(kRowSecondsOf003),
                [&](unsigned) { return Batches003<Pool, Slot, kWriting>(order, bytes, times); });
    session.report(name, times.ns(), times.operations, Temperature::kWarm, times.fields());
  }
}

/// The first batch of a pool in a fresh process.
template <class Pool, class Slot>
void run_cold_003(Session& session, std::size_t bytes) {
  const RowName name = row_name("cold/%zu", bytes);
  if (!session.wants(name, Temperature::kCold)) return;
  PhaseTimes times;
  Batches003<Pool, Slot, Writing::kFirstWord> work(FreeOrder::kFifo, bytes, times);
  work.round();
  session.report(name, times.ns(), times.operations, Temperature::kCold, times.fields());
}

template <template <std::size_t> class Pool>
void run_003_sizes(Session& session) {
  run_rows_003<Pool<64>, FixedSlot<64>, Writing::kFirstWord>(session, 64);
  run_rows_003<Pool<128>, FixedSlot<128>, Writing::kFirstWord>(session, 128);
  run_rows_003<Pool<256>, FixedSlot<256>, Writing::kFirstWord>(session, 256);
  run_rows_003<Pool<512>, FixedSlot<512>, Writing::kFirstWord>(session, 512);
  run_rows_003<Pool<1024>, FixedSlot<1024>, Writing::kFirstWord>(session, 1024);
  run_rows_003<Pool<2048>, FixedSlot<2048>, Writing::kFirstWord>(session, 2048);
}

template <template <std::size_t> class Pool>
void run_003_fixed(Session& session) {
  run_003_sizes<Pool>(session);
  run_cold_003<Pool<64>, FixedSlot<64>>(session, 64);
  run_cold_003<Pool<1024>, FixedSlot<1024>>(session, 1024);
}

template <template <std::size_t> class Pool>
void run_003_threaded(Session& session) {
  const IdleThread second;
  run_003_sizes<Pool>(session);
}

template <template <std::size_t> class Pool>
void run_003_untouched(Session& session) {
  run_rows_003<Pool<64>, FixedSlot<64>, Writing::kNothing>(session, 64);
  run_rows_003<Pool<512>, FixedSlot<512>, Writing::kNothing>(session, 512);
  run_rows_003<Pool<2048>, FixedSlot<2048>, Writing::kNothing>(session, 2048);
}

template <template <std::size_t> class Pool>
void run_003_random_sizes(Session& session) {
  run_rows_003<Pool<64>, SizedSlot, Writing::kFirstWord>(session, 64);
  run_rows_003<Pool<128>, SizedSlot, Writing::kFirstWord>(session, 128);
  run_rows_003<Pool<256>, SizedSlot, Writing::kFirstWord>(session, 256);
  run_rows_003<Pool<512>, SizedSlot, Writing::kFirstWord>(session, 512);
  run_rows_003<Pool<1024>, SizedSlot, Writing::kFirstWord>(session, 1024);
  run_rows_003<Pool<2048>, SizedSlot, Writing::kFirstWord>(session, 2048);
}

}  // namespace tarn::bench
