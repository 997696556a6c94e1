// The functions of tarn/tarn.h, each of which calls its C++ twin, and of tarn/limits.h. They are defined only
// here, take the headers' visibility and keep no state.
#include "base/options/option_table.h"
#include "general/options/memory_limits.h"
#include "general/options/setup.h"
#include "tarn/limits.h"
#include "tarn/memory_pool.h"
#include "tarn/tarn.h"

void* tarn_allocate(std::size_t size) noexcept { return tarn::allocate(size); }

void* tarn_allocate_aligned(std::size_t size, std::size_t alignment) noexcept {
  return tarn::allocate(size, alignment);
}

void* tarn_allocate_zeroed(std::size_t count, std::size_t size) noexcept {
  return tarn::allocate_zeroed(count, size);
}

void* tarn_reallocate(void* block, std::size_t size) noexcept { return tarn::reallocate(block, size); }

void tarn_deallocate(void* block) noexcept { tarn::deallocate(block); }

void tarn_deallocate_sized(void* block, std::size_t size) noexcept { tarn::deallocate(block, size); }

void tarn_deallocate_aligned_sized(void* block, std::size_t size, std::size_t alignment) noexcept {
  tarn::deallocate(block, size, alignment);
}

std::size_t tarn_usable_size(const void* block) noexcept { return tarn::usable_size(block); }

std::size_t tarn_good_size(std::size_t size) noexcept { return tarn::good_size(size); }

std::size_t tarn_trim(std::size_t keep) noexcept { return tarn::trim(keep); }

std::size_t tarn_allocate_batch(std::size_t size, std::size_t count, void** blocks) noexcept {
  return tarn::allocate_batch(size, count, blocks);
}

void tarn_deallocate_batch(void* const* blocks, std::size_t count) noexcept {
  tarn::deallocate_batch(blocks, count);
}

const char* tarn_version() noexcept { return TARN_VERSION_STRING; }

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
