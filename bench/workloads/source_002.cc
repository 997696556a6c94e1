// Source 002, the three-tier pool: pairs of allocate and free, of 4, 64 and 4096 bytes and of random sizes
// from 8 to 256 bytes, single and 16 threads. Random sizes also with a window of live blocks: the block freed
// is not the one that was just handed out. Figures are per pair.
#include <array>

#include "allocator_under_test.h"
#include "groups.h"
#include "random.h"
#include "table.h"
#include "threads.h"
#include "verify.h"

namespace tarn::bench {
namespace {

constexpr std::size_t kPairsPerRound = 65'536;
constexpr std::size_t kVerifiedBlocks = 1024;
constexpr std::size_t kWindow = 64;
constexpr double kRowSeconds = 0.1;

template <class MakeWork>
void run_row(Session& session, const RowName& name, unsigned threads, MakeWork make_work) {
  if (!session.wants(name)) return;
  const Timing timing = time_rounds(threads, session.budget_ns(kRowSeconds), make_work);
  const std::uint64_t pairs = timing.rounds * kPairsPerRound;
  session.report(name, timing.wall_ns / static_cast<double>(pairs), pairs);
}

/// Holds some blocks of the row's sizes at once and looks at them.
template <class BytesOf>
void verify_sizes(BytesOf bytes_of, Worker& worker) {
  Table<void*> blocks(kVerifiedBlocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = allocate(bytes_of(i));
  verify_blocks(blocks, bytes_of, worker);
  for (std::size_t i = 0; i < blocks.size(); ++i) deallocate(blocks[i], bytes_of(i));
}

template <std::size_t Bytes>
struct FixedPairs {
  void verify(Worker& worker) {
    verify_sizes([](std::size_t) { return Bytes; }, worker);
  }
  void round() {
    for (std::size_t i = 0; i < kPairsPerRound; ++i) {
      void* const block = allocate_constant<Bytes>();
      touch(block, Bytes);
      deallocate_constant<Bytes>(block);
    }
  }
};

class RandomSizes {
 public:
  explicit RandomSizes(unsigned index) : sizes_(kPairsPerRound) {
    Random random(index + 1);
    for (std::uint16_t& bytes : sizes_) bytes = static_cast<std::uint16_t>(random.between(8, 256));
  }
  void verify(Worker& worker) {
    verify_sizes([this](std::size_t i) { return std::size_t{sizes_[i]}; }, worker);
  }

 protected:
  Table<std::uint16_t> sizes_;
};

struct RandomPairs : RandomSizes {
  using RandomSizes::RandomSizes;
  void round() {
    for (const std::size_t bytes : sizes_) {
      void* const block = allocate(bytes);
      touch(block, bytes);
      deallocate(block, bytes);
    }
  }
};

struct RandomWindow : RandomSizes {
  using RandomSizes::RandomSizes;
  void round() {
    std::array<void*, kWindow> window;
    for (std::size_t i = 0; i < kWindow; ++i) allocate_at(window, i);
    for (std::size_t i = kWindow; i < kPairsPerRound; ++i) {
      deallocate(window[i % kWindow], sizes_[i - kWindow]);
      allocate_at(window, i);
    }
    for (std::size_t i = kPairsPerRound; i < kPairsPerRound + kWindow; ++i) {
      deallocate(window[i % kWindow], sizes_[i - kWindow]);
    }
  }

 private:
  void allocate_at(std::array<void*, kWindow>& window, std::size_t i) {
    window[i % kWindow] = allocate(sizes_[i]);
    touch(window[i % kWindow], sizes_[i]);
  }
};

template <std::size_t Bytes>
void run_fixed(Session& session, unsigned threads) {
  run_row(session, row_name("pairs/%zu/threads/%u", Bytes, threads), threads,
          [](unsigned) { return FixedPairs<Bytes>(); });
}

}  // namespace

void run_002_fixed(Session& session) {
  for (const unsigned threads : {1u, 16u}) {
    run_fixed<4>(session, threads);
    run_fixed<64>(session, threads);
    run_fixed<4096>(session, threads);
  }
}

void run_002_mixed(Session& session) {
  for (const unsigned threads : {1u, 16u}) {
    run_row(session, row_name("pairs/threads/%u", threads), threads,
            [](unsigned index) { return RandomPairs(index); });
    run_row(session, row_name("window/threads/%u", threads), threads,
            [](unsigned index) { return RandomWindow(index); });
  }
}

}  // namespace tarn::bench
