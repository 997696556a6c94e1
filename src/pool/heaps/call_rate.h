// Whether a heap is called so much, and so fast, that quicker calls are worth the memory for them, however
// few of its blocks are live.
//
// The clock is read once in many calls; the caller passes the time, so that a test may invent it. Calls must
// be both many and fast: an old heap has had many, and the first blocks of a heap come fast.
// Threads: under the heap's mutex.
#pragma once
#include <cstdint>

namespace tarn::internal {

class CallRate {
 public:
  static constexpr std::uint16_t kCalls = 32 * 1024;
  /// For so many calls. \why With magazines a call takes some 100 to 200 ns less: for 256 calls in 1 ms that
  /// is 3 to 5 % of a processor's time; and each processor can call at most some 100 heaps so fast.
  static constexpr std::uint32_t kMostMs = 128;

  /// Counts a call. \returns whether it is time for look().
  bool note_call() {
    calls_ += calls_ < kCalls;
    return calls_ == kCalls;
  }
  /// Whether the rate is high shows at the second look. Of several threads that bring the time, one looks.
  void look(std::uint64_t now_ms) {
    if (calls_ != kCalls) return;
    const auto now = static_cast<std::uint32_t>(now_ms);
    state_ = state_ != State::kNew && now - looked_ms_ <= kMostMs ? State::kHigh : State::kLow;
    looked_ms_ = now;
    calls_ = 0;
  }
  /// The next looks begin anew.
  void forget() { *this = {}; }
  bool is_high() const { return state_ == State::kHigh; }

 private:
  enum class State : std::uint8_t { kNew, kLow, kHigh };

  std::uint32_t looked_ms_ = 0;  // where it overflows, calls that took 49 days look fast once
  std::uint16_t calls_ = 0;
  State state_ = State::kNew;
};

}  // namespace tarn::internal
