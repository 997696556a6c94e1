// A program of random operations on a pool, run against a model that knows which bytes each block has.
//
// The model keeps every live block with its extent and its own pattern. An operation checks what it can: a
// new block overlaps no live one and has its alignment, zeroed memory is zero, a block that goes back still
// holds its pattern.
#pragma once
#include <deque>

#include "support/content.h"
#include "support/invariants.h"
#include "support/pools.h"
#include "support/prelude.h"
#include "support/seed.h"

namespace tarn::test {

enum class FreeOrder { kLifo, kFifo, kRandom, kInterleaved };

struct SizeRange {
  const char* name;
  std::size_t least, largest;  // bytes; sizes are spread evenly over the powers of two between them
};

inline void PrintTo(const SizeRange& range, std::ostream* out) { *out << range.name; }

inline constexpr SizeRange kTiny{"Tiny", 0, 32}, kSmall{"Small", 1, 1024},
    kMedium{"Medium", 1025, 256 * 1024}, kLarge{"Large", 256 * 1024 + 1, 6 * 1024 * 1024},
    kAll{"All", 0, 3 * 1024 * 1024};

struct LiveBlock {
  void* block;
  std::size_t size, alignment;
  std::uint64_t pattern;
};

template <typename Pool>
class Model {
 public:
  Model(std::uint64_t seed, FreeOrder order, SizeRange range, std::size_t most_live_bytes)
      : random_(seed), order_(order), range_(range), most_live_bytes_(most_live_bytes) {}
  ~Model() { free_all(); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void run(std::uint64_t operations) {
    for (std::uint64_t i = 0; i < operations && !has_failed_; ++i) {
      step();
      if (i % kStepsPerWalk == 0) validate_library();
    }
  }

  /// Grows to the limit, then frees down to a part of it, `waves` times: what comes back in which order
  /// matters most.
  void run_waves(unsigned waves, std::uint64_t most_blocks) {
    for (unsigned wave = 0; wave < waves && !has_failed_; ++wave) {
      while (live_bytes_ < most_live_bytes_ && live_.size() < most_blocks && !has_failed_) allocate();
      const std::size_t rest = random_.below(live_.size() + 1);
      while (live_.size() > rest && !has_failed_) deallocate_one();
    }
  }

  void free_all() {
    while (!live_.empty()) deallocate_one();
  }

  /// Takes a block out of the model, for another thread's.
  LiveBlock release() { return remove(pick()); }
  void adopt(const LiveBlock& live) {
    check(holds(live.block, live.size, live.pattern), "a block from another thread lost its contents");
    add(live);
  }

  bool is_empty() const { return live_.empty(); }
  bool has_failed() const { return has_failed_; }

 private:
  static constexpr std::uint64_t kStepsPerWalk = 256;

  void step() {
    const std::uint64_t choice = random_.below(100);
    if (live_bytes_ > most_live_bytes_ || (choice < 45 && !live_.empty())) return deallocate_one();
    if (choice < 55 && !live_.empty()) return reallocate_one();
    allocate();
  }

  std::size_t random_size() {
    const std::size_t span = range_.largest - range_.least;
    unsigned bits = 0;
    while ((span >> bits) != 0) ++bits;
    const std::size_t bound = std::size_t{1} << random_.between(0, bits);
    return range_.least + random_.below(bound < span + 1 ? bound : span + 1);
  }

  void allocate() {
    const std::size_t size = random_size();
    const std::uint64_t choice = random_.below(10);
    std::size_t alignment = size <= 8 ? 8 : 16;
    void* block = nullptr;
    if (choice == 0) {
      alignment = std::size_t{8} << random_.below(random_.below(20) == 0 ? 18 : 10);
      block = Pool::allocate(size, alignment);
    } else if (choice == 1) {
      block = Pool::allocate_zeroed(1, size);
      check(block != nullptr && is_zero(block, size), "zeroed memory is not zero");
    } else {
      block = Pool::allocate(size);
    }
    if (!check(block != nullptr, "no memory")) return;
    check(reinterpret_cast<std::uintptr_t>(block) % alignment == 0, "not aligned as asked");
    check(Pool::usable_size(block) >= size, "too small");
    const LiveBlock live{block, size, choice == 0 ? alignment : 0, random_.next()};
    fill(block, size, live.pattern);
    add(live);
  }

  void reallocate_one() {
    LiveBlock live = remove(random_.below(live_.size()));
    const std::size_t size = random_size() + 1;
    void* const block = Pool::reallocate(live.block, size);
    if (!check(block != nullptr, "no memory")) return;
    check(holds(block, size < live.size ? size : live.size, live.size, live.pattern),
          "moved contents differ");
    live = {block, size, 0, random_.next()};
    fill(block, size, live.pattern);
    add(live);
  }

  void deallocate_one() {
    const LiveBlock live = remove(pick());
    check(holds(live.block, live.size, live.pattern), "a block lost its contents");
    if (live.alignment != 0) return Pool::deallocate(live.block, live.size, live.alignment);
    random_.below(2) == 0 ? Pool::deallocate(live.block) : Pool::deallocate(live.block, live.size);
  }

  std::size_t pick() {
    switch (order_) {
      case FreeOrder::kLifo:
        return live_.size() - 1;
      case FreeOrder::kFifo:
        return 0;
      case FreeOrder::kRandom:
        return random_.below(live_.size());
      case FreeOrder::kInterleaved:
        return interleaved_ = (interleaved_ + 1) % live_.size();
    }
    return 0;
  }

  void add(const LiveBlock& live) {
    const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(live.block),
                         end = start + (live.size == 0 ? 1 : live.size);
    const auto after = extents_.lower_bound(start);
    check(after == extents_.end() || after->first >= end, "overlaps the block behind it");
    check(after == extents_.begin() || std::prev(after)->second <= start, "overlaps the block before it");
    extents_[start] = end;
    live_.push_back(live);
    live_bytes_ += live.size;
  }

  LiveBlock remove(std::size_t index) {
    const LiveBlock live = live_[index];
    if (order_ == FreeOrder::kRandom && index != 0) {
      live_[index] = live_.back();
      live_.pop_back();
    } else {
      live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
    }
    extents_.erase(reinterpret_cast<std::uintptr_t>(live.block));
    live_bytes_ -= live.size;
    return live;
  }

  bool check(bool is_good, const char* what) {
    if (!is_good && !has_failed_) ADD_FAILURE() << what << ", with " << live_.size() << " live blocks";
    has_failed_ |= !is_good;
    return is_good;
  }

  Random random_;
  FreeOrder order_;
  SizeRange range_;
  std::size_t most_live_bytes_;
  std::size_t live_bytes_ = 0;
  std::size_t interleaved_ = 0;
  bool has_failed_ = false;
  std::deque<LiveBlock> live_;
  std::map<std::uintptr_t, std::uintptr_t> extents_;
};

}  // namespace tarn::test
