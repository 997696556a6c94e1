// Fails the system's answers at will: the Nth call, or every call of a kind.
#pragma once
#include <atomic>

#include "os/memory/memory.h"

namespace tarn::test {

using internal::os::Call;
using internal::os::Fault;

/// While it exists, call number `failing` (from 0) of the chosen kinds fails, and every later one too when
/// told so.
class FaultInjection {
 public:
  enum class Extent { kOne, kAllFromThere };

  FaultInjection(unsigned kinds, unsigned failing, Extent extent) {
    kinds_ = kinds;
    failing_ = failing;
    extent_ = extent;
    seen_ = 0;
    internal::os::set_fault_hook_for_test(&answer);
  }
  ~FaultInjection() { internal::os::set_fault_hook_for_test(nullptr); }
  FaultInjection(const FaultInjection&) = delete;
  FaultInjection& operator=(const FaultInjection&) = delete;

  /// Whether the scenario got as far as the call that fails.
  static bool has_failed_one() { return seen_ > failing_; }

  static constexpr unsigned kind(Call call) { return 1u << static_cast<unsigned>(call); }
  static constexpr unsigned kAllKinds = ~0u;

 private:
  static Fault answer(Call call) {
    if ((kinds_ & kind(call)) == 0) return Fault::kNone;
    const unsigned number = seen_.fetch_add(1);
    const bool must_fail = extent_ == Extent::kOne ? number == failing_ : number >= failing_;
    return must_fail ? Fault::kRefused : Fault::kNone;
  }

  static inline std::atomic<unsigned> seen_{0};
  static inline unsigned kinds_ = 0, failing_ = 0;
  static inline Extent extent_ = Extent::kOne;
};

}  // namespace tarn::test
