// A server that has warmed up should neither grow nor call the system for memory. Prewarm the pools, then arm
// a guard: it reports the first growth or system call, with the stack that led there.
//
//   tarn::prewarm(64 << 20); sessions.prewarm(5000);
//   tarn::SteadyState guard(tarn::AtGrowth::kAbort);       // from here to the end of its scope
//
// Threads: any; the guard watches all threads of the process. One guard at a time: a second one watches
// nothing.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tarn/detail/api.h"

namespace TARN_NAMESPACE {

enum class AtGrowth : std::uint8_t {
  kCount,  // only counts; see growth_count()
  // Also prints a line and the stack on standard error at the first growth; the guard's end prints the names.
  kReport,
  kAbort,  // the same as kReport, then SIGABRT
};

namespace detail {

TARN_API bool arm_steady_state(AtGrowth action, const char* name) noexcept;
TARN_API void disarm_steady_state() noexcept;
TARN_API std::size_t steady_state_growth_count() noexcept;

}  // namespace detail

/// Growth means: memory is mapped or committed, or pages without memory are taken, so that their first touch
/// will fault. Pages from prewarm, and pages that were freed and kept, are not growth; giving back is
/// not growth either.
class SteadyState {
 public:
  /// \param name copied, up to 63 characters; nullptr: "steady state".
  [[nodiscard]] explicit SteadyState(AtGrowth action = AtGrowth::kReport,
                                     const char* name = "steady state") noexcept
      : is_armed_(detail::arm_steady_state(action, name)) {}
  TARN_LOCAL ~SteadyState() {
    if (is_armed_) detail::disarm_steady_state();
  }
  SteadyState(const SteadyState&) = delete;
  SteadyState& operator=(const SteadyState&) = delete;

  bool is_armed() const noexcept { return is_armed_; }
  /// \returns how often the pools grew or called the system since the guard was armed.
  TARN_LOCAL std::size_t growth_count() const noexcept {
    return is_armed_ ? detail::steady_state_growth_count() : 0;
  }

 private:
  bool is_armed_;
};

}  // namespace TARN_NAMESPACE
