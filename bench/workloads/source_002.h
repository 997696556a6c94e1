// Source 002, the three-tier pool: pairs of allocate and free, of 4, 64 and 4096 bytes and of random sizes
// from 8 to 256 bytes, single and 16 threads. Random sizes also with a window of live blocks: the block freed
// is not the one that was just handed out. Figures are per pair.
#pragma once
#include <array>

#include "block_size.h"
#include "contestant.h"
#include "random.h"
#include "table.h"
#include "timed_row.h"
#include "use.h"
#include "verify.h"

namespace tarn::bench::source_002 {

inline constexpr std::size_t kPairsPerRound = 65'536;
inline constexpr std::size_t kVerifiedBlocks = 1024;
inline constexpr std::size_t kWindow = 64;
inline constexpr double kRowSeconds = 0.05;

template <class MakeWork>
void run_row(Session& session, const Row& row, MakeWork make_work) {
  run_timed_row(session, row, kRowSeconds, kPairsPerRound, make_work);
}

/// Holds some blocks of the row's sizes at once and looks at them.
template <class Api, class BytesOf>
void verify_sizes(BytesOf bytes_of, Worker& worker) {
  Table<void*> blocks(kVerifiedBlocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = Api::allocate(bytes_of(i));
  verify_blocks<Api>(blocks, bytes_of, worker);
  for (std::size_t i = 0; i < blocks.size(); ++i) Api::deallocate(blocks[i], bytes_of(i));
}

template <class Api, class Size>
struct FixedPairs {
  Size bytes;

  void verify(Worker& worker) {
    verify_sizes<Api>([this](std::size_t) { return std::size_t{bytes}; }, worker);
  }
  void round() {
    for (std::size_t i = 0; i < kPairsPerRound; ++i) Api::deallocate(allocate_used<Api>(bytes), bytes);
  }
};

template <class Api>
class RandomSizes {
 public:
  explicit RandomSizes(unsigned index) : sizes_(kPairsPerRound) {
    Random random(index + 1);
    for (std::uint16_t& bytes : sizes_) bytes = static_cast<std::uint16_t>(random.between(8, 256));
  }
  void verify(Worker& worker) {
    verify_sizes<Api>([this](std::size_t i) { return std::size_t{sizes_[i]}; }, worker);
  }

 protected:
  Table<std::uint16_t> sizes_;
};

template <class Api>
struct RandomPairs : RandomSizes<Api> {
  using RandomSizes<Api>::RandomSizes;
  void round() {
    for (const std::size_t bytes : this->sizes_) Api::deallocate(allocate_used<Api>(bytes), bytes);
  }
};

template <class Api>
struct RandomWindow : RandomSizes<Api> {
  using RandomSizes<Api>::RandomSizes;
  void round() {
    const auto& sizes = this->sizes_;
    std::array<void*, kWindow> window;
    for (std::size_t i = 0; i < kWindow; ++i) window[i] = allocate_used<Api>(sizes[i]);
    for (std::size_t i = kWindow; i < kPairsPerRound; ++i) {
      Api::deallocate(window[i % kWindow], sizes[i - kWindow]);
      window[i % kWindow] = allocate_used<Api>(sizes[i]);
    }
    for (std::size_t i = kPairsPerRound; i < kPairsPerRound + kWindow; ++i)
      Api::deallocate(window[i % kWindow], sizes[i - kWindow]);
  }
};

template <class Api>
void run(Session& session) {
  const Axis threads = session.threads({1, 16});
  if (session.enter("002_fixed")) {
    for (const std::size_t count : threads) {
      for (const std::size_t asked : session.sizes({4, 64, 4096})) {
        with_size<4, 64, 4096>(asked, [&](auto bytes) {
          run_row(session, {.bytes = bytes, .threads = static_cast<unsigned>(count)},
                  [=](unsigned) { return FixedPairs<Api, decltype(bytes)>{bytes}; });
        });
      }
    }
  }
  if (session.enter("002_mixed")) {
    for (const std::size_t count : threads) {
      run_row(session, {.series = series("pairs"), .threads = static_cast<unsigned>(count)},
              [](unsigned index) { return RandomPairs<Api>(index); });
      run_row(session, {.series = series("window"), .threads = static_cast<unsigned>(count)},
              [](unsigned index) { return RandomWindow<Api>(index); });
    }
  }
}

}  // namespace tarn::bench::source_002
