#include "general/options/apply_options.h"

#include "base/options/option_parser.h"
#include "central/classes/class_table.h"
#include "central/owners.h"
#include "general/options/block_source.h"
#include "general/options/class_file.h"
#include "general/options/configuration.h"
#include "general/options/memory_limits.h"
#include "os/fatal.h"
#include "os/locks/owner_lock.h"
#include "os/memory/memory.h"
#include "os/process/common_calls.h"
#include "os/process/process.h"
#include "os/process/processors.h"
#include "page/give_back/background.h"
#include "page/give_back/page_cache.h"
#include "page/memory/metadata.h"
#include "page/spans/page_map.h"
#include "thread/observation/observation.h"
#include "thread/registry.h"

namespace tarn::internal {
namespace {

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

void limit_pages() {
  const bool keeps_nothing = configuration.value(Option::kDecay) == 0;
  page_cache.configure({keeps_nothing ? 0 : bytes_value(Option::kFreePageThreshold), huge_page_threshold(),
                        bytes_value(Option::kReserveBytes), huge_pages() == HugePages::kAlways,
                        keeps_nothing ? GiveBackPolicy::Adapts::kNo : GiveBackPolicy::Adapts::kYes});
}

void limit_memory() {
  memory_limit.set_limits(bytes_value(Option::kSoftLimit), bytes_value(Option::kHardLimit));
}

void configure_background() {
  background.configure(configuration.is_on(Option::kBackground),
                       static_cast<std::uint32_t>(configuration.value(Option::kDecay)));
}

void change_decay() {
  limit_pages();
  configure_background();
}

void limit_magazines() { registry.set_magazine_limit(bytes_value(Option::kThreadCacheBytes)); }

// As many threads run at once as there are processors; that two of them need one owner is seldom, and short.
void limit_owners() {
  enum { kNever, kAuto, kAlways };
  const std::int64_t share = configuration.value(Option::kShareSlabs);
  if (share == kNever) return registry.set_most_owners(UINT32_MAX);
  const std::uint32_t wanted = share == kAlways ? 1 : os::processor_count();
  const bool is_limit = wanted != 0 && wanted < Registry::kMostShared;
  registry.set_most_owners(is_limit ? wanted : Registry::kMostShared);
}

const OptionInfo& info_of(Option option) { return kOptionTable[static_cast<std::size_t>(option)]; }

/// \returns whether the table of the file serves. A file that is refused is no longer named: then the option
/// tells what is in use.
bool choose_classes_of_file() {
  const char* const path = configuration.classes_file();
  if (path[0] == '\0') return false;
  const std::string_view preset =
      choice_name(info_of(Option::kClasses), configuration.value(Option::kClasses));
  BlockSizes sizes;
  if (read_class_file(path, preset, sizes)) {
    write_class_table(sizes, detail::class_of_bin, detail::class_of_step, bin_geometry);
    return true;
  }
  static_cast<void>(configuration.set(info_of(Option::kClassesFile), "", "refused"));
  return false;
}

// The tables are those of the default preset from the start.
void choose_classes() {
  const std::int64_t preset = configuration.value(Option::kClasses);
  if (!choose_classes_of_file()) {
    if (preset == 0) return;
    detail::class_of_bin = kPresetClasses.of[preset];
    detail::class_of_step = make_class_of_step(detail::class_of_bin);
  }
  rare_class_of_bin = make_rare_class_of_bin(detail::class_of_bin);
  class_of_aligned_step = make_class_of_aligned_step(kClassesInUse);
}

void choose_slow_calls() {
  thread_limits.check_every_free = configuration.is_on(Option::kCheck);
  thread_limits.count_calls = configuration.is_on(Option::kCountCalls);
  // Where malloc is ours, each free must check whether the block belongs to a pool (system_blocks.h).
  const bool asks_at_every_free = may_have_blocks_of_malloc();
  thread_limits.every_call_is_slow =
      thread_limits.check_every_free || thread_limits.count_calls || asks_at_every_free;
}

// The tiers above keep free slabs and blocks too; a program that starts with such values would have none.
void keep_no_more() {
  if (!background.keeps_memory()) {
    registry.return_all_left(Registry::Left::kAll);
    owners.trim_all();
  }
  background.apply_change();
}

// Not undone: nobody tells when a filter is gone.
void make_common_calls_only() {
  if (!configuration.is_on(Option::kSandbox)) return;
  if (guard_turns.one_in() != 0) observation.guard(0);
  os::OwnerLock::forbid_calls();
  os::make_common_calls_only();
  background.apply_change();  // its thread ends
}

void apply_memory_limits() {
  if (const std::size_t above = memory_limit.above_hard_limit(); above != 0) page_cache.purge(above);
  answer_limits();
}

// What else the option says is for the tools, which read it (Configuration::value).
void let_tools_look() {
  enum { kOn, kOwner, kOff };
  if (configuration.value(Option::kObserve) == kOwner) static_cast<void>(os::let_any_process_trace());
}

void choose_what_follows_misuse() {
  os::at_misuse = static_cast<os::AtMisuse>(configuration.value(Option::kAtMisuse));
}

void do_nothing() {}

void begin_or_end_profile() { observation.watch(bytes_value(Option::kProfile)); }

void begin_or_end_guards() {
  observation.guard(static_cast<std::uint32_t>(configuration.value(Option::kGuard)));
}

// Each block has its stack then.
bool looks_for_leaks() { return configuration.value(Option::kLeaks) != 0; }

struct RunTimeOption {
  Option option;
  void (*apply)();   // under the set-up's mutex
  void (*finish)();  // without a lock
};

constexpr RunTimeOption kRunTimeOptions[] = {
    {Option::kFreePageThreshold, limit_pages, keep_no_more},
    {Option::kDecay, change_decay, keep_no_more},
    {Option::kBackground, configure_background, [] { background.apply_change(); }},
    {Option::kSandbox, do_nothing, make_common_calls_only},
    {Option::kThreadCacheBytes, limit_magazines, do_nothing},
    {Option::kShareSlabs, limit_owners, do_nothing},
    {Option::kHugePages, limit_pages, do_nothing},
    {Option::kHugePageThreshold, limit_pages, do_nothing},
    {Option::kStatsFile, do_nothing, do_nothing},  // read when the process ends
    {Option::kSoftLimit, limit_memory, apply_memory_limits},
    {Option::kHardLimit, limit_memory, apply_memory_limits},
    {Option::kProfile, do_nothing, begin_or_end_profile},
    {Option::kGuard, do_nothing, begin_or_end_guards},
};

consteval bool table_has_each_option_that_changes() {
  for (const OptionInfo& info : kOptionTable) {
    std::size_t rows = 0;
    for (const RunTimeOption& row : kRunTimeOptions) rows += row.option == info.id;
    if (rows != (info.change == OptionChange::kAnyTime ? 1 : 0)) return false;
  }
  return true;
}
static_assert(table_has_each_option_that_changes(), "see OptionChange in base/options/option_table.h");

const RunTimeOption& row_of(Option option) {
  const RunTimeOption* row = kRunTimeOptions;
  while (row->option != option) ++row;
  return *row;
}

}  // namespace

void apply_all_options() {
  choose_classes();
  limit_memory();
  metadata.reserve();
  page_map.reserve_index();
  decide_on_block_source();
  choose_slow_calls();
  limit_pages();
  limit_magazines();
  limit_owners();
  configure_background();
  let_tools_look();
  choose_what_follows_misuse();
}

void finish_all_options() {
  make_common_calls_only();
  if (looks_for_leaks())
    observation.watch(1);
  else if (bytes_value(Option::kProfile) != 0)
    begin_or_end_profile();
  if (configuration.value(Option::kGuard) != 0) begin_or_end_guards();
  if (configuration.value(Option::kRecord) != 0) observation.record_with_children();
}

void apply_option(Option option) { row_of(option).apply(); }

void finish_change(Option option) { row_of(option).finish(); }

}  // namespace tarn::internal
