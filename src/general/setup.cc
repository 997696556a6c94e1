#include "general/setup.h"

#include <atomic>

#include "central/size_class.h"
#include "general/configuration.h"
#include "os/lock_rank.h"
#include "os/processors.h"
#include "page/background.h"
#include "page/memory_limit.h"
#include "page/metadata.h"
#include "page/page_cache.h"
#include "page/page_map.h"
#include "thread/registry.h"

namespace tarn::internal {
namespace {

os::Mutex& mutex = os::global_mutex<os::LockRank::kSetUp>();
constinit std::atomic<bool> is_done{false};

std::size_t bytes_value(Option option) { return static_cast<std::size_t>(configuration.value(option)); }

enum class HugePages : std::uint8_t { kNever, kAuto, kAlways };

HugePages huge_pages() { return static_cast<HugePages>(configuration.value(Option::kHugePages)); }

std::size_t huge_page_threshold() {
  switch (huge_pages()) {
    case HugePages::kNever:
      return SIZE_MAX;
    case HugePages::kAlways:
      return 0;
    default:
      return bytes_value(Option::kHugePageThreshold);
  }
}

// As many threads run at once as there are processors; that two of them need one owner is seldom, and short.
void limit_owners() {
  enum { kNever, kAuto, kAlways };
  const std::int64_t share = configuration.value(Option::kShareSlabs);
  if (share == kNever) return;
  const std::uint32_t wanted = share == kAlways ? 1 : os::processor_count();
  const bool is_limit = wanted != 0 && wanted < Registry::kMostShared;
  registry.set_most_owners(is_limit ? wanted : Registry::kMostShared);
}

// The tables are those of the default preset from the start.
void choose_classes() {
  const std::int64_t preset = configuration.value(Option::kClasses);
  if (preset == 0) return;
  detail::class_of_bin = kPresetClasses.of[preset];
  detail::class_of_step = make_class_of_step(detail::class_of_bin);
  rare_class_of_bin = make_rare_class_of_bin(detail::class_of_bin);
  class_of_aligned_step = make_class_of_aligned_step(detail::class_of_bin);
}

void apply() {
  choose_classes();
  memory_limit.set_limits(bytes_value(Option::kSoftLimit), bytes_value(Option::kHardLimit));
  metadata.reserve();
  page_map.reserve_index();
  const bool keeps_nothing = configuration.value(Option::kDecay) == 0;
  page_cache.configure({keeps_nothing ? 0 : bytes_value(Option::kFreePageThreshold), huge_page_threshold(),
                        bytes_value(Option::kReserveBytes), huge_pages() == HugePages::kAlways});
  const bool checks = configuration.is_on(Option::kCheck), counts = configuration.is_on(Option::kCountCalls);
  // Where malloc is ours, each free must check whether the block belongs to a pool (system_blocks.h).
  const bool asks_at_every_free = configuration.is_on(Option::kPoolsUseMalloc);
  thread_limits = {bytes_value(Option::kThreadCacheBytes), checks || counts || asks_at_every_free, checks,
                   counts};
  limit_owners();
  background.configure(configuration.is_on(Option::kBackground),
                       static_cast<std::uint32_t>(configuration.value(Option::kDecay)));
}

}  // namespace

void set_up_once() {
  if (is_done.load(std::memory_order_acquire)) return;
  os::LockGuard guard(mutex);
  if (is_done.load(std::memory_order_relaxed)) return;
  configuration.read();
  apply();
  if (configuration.is_on(Option::kPrintOptions)) print_configuration();
  is_done.store(true, std::memory_order_release);
}

}  // namespace tarn::internal
