// The functions of tarn/limits.h.
#include "base/options/option_table.h"
#include "general/options/memory_limits.h"
#include "general/options/setup.h"
#include "tarn/limits.h"

void tarn_set_memory_limits(tarn_memory_limits limits) noexcept {
  using namespace tarn::internal;
  const auto set = [](Option option, std::size_t limit) {
    const std::int64_t value = limit > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(limit);
    set_option_number(option, value, "set_memory_limits");
  };
  set(Option::kSoftLimit, limits.soft);
  set(Option::kHardLimit, limits.hard);
}

tarn_memory_limits tarn_read_memory_limits() noexcept {
  using namespace tarn::internal;
  set_up_once();
  return {memory_limit.soft_limit(), memory_limit.hard_limit()};
}

void tarn_set_limit_callback(tarn_limit_callback callback, void* context) noexcept {
  tarn::internal::memory_limit.set_callback({callback, context});
  tarn::internal::answer_limits();
}

size_t tarn_held_bytes() noexcept { return tarn::internal::memory_limit.held(); }
