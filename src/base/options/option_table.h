// The one table of options: every name, unit, default, limit and help text. It generates the environment
// names, the configuration file, `tarn options`, the docs page and the library's own parser (idea: scudo
// flags.inc).
//
// Invariant: kOptionTable[i].key is unique, default_value lies in [minimum, maximum]; checked at compile
// time.
// Threads: the table is constant.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/options/size_class_presets.h"

namespace tarn::internal {

enum class OptionKind : std::uint8_t {
  kBool,          // 0 or 1 (also: on/off, true/false, yes/no)
  kBytes,         // a size; suffixes K, M, G (powers of 1024)
  kMilliseconds,  // a time; suffixes ms, s
  kNumber,        // without a unit
  kChoice,        // one of `choices`, stored as its index
  kPath,          // a file name, stored separately
};

/// Until when a value may change.
enum class OptionChange : std::uint8_t {
  kAtStart,  // until the library has set itself up
  kAnyTime,  // also while the program runs: general/options/apply_options.cc tells the tiers
};

enum class Option : std::uint8_t {
  kClasses,
  kClassesFile,
  kFreePageThreshold,
  kDecay,
  kBackground,
  kSandbox,
  kThreadCacheBytes,
  kShareSlabs,
  kHugePages,
  kHugePageThreshold,
  kReserveBytes,
  kCheck,
  kCountCalls,
  kPoolsUseMalloc,
  kDeepbind,
  kStatsFile,
  kPrintOptions,
  kSoftLimit,
  kHardLimit,
  kObserve,
  kProfile,
  kProfileDepth,
  kRecord,
  kLeaks,
  kLeaksSuppressions,
  kAtMisuse,
  kGuard,
};

struct OptionInfo {
  Option id;
  const char* key;  // as in TARN_CONF="key:value"; the environment name is TARN_ and the key in capitals
  OptionKind kind;
  std::int64_t default_value;
  std::int64_t minimum;
  std::int64_t maximum;
  const char* choices;  // kChoice: names separated by '|', in the order of their indices
  const char* help;     // one sentence
  OptionChange change = OptionChange::kAtStart;
};

inline constexpr std::int64_t kKiB = 1024;
inline constexpr std::int64_t kMiB = 1024 * kKiB;
inline constexpr std::int64_t kGiB = 1024 * kMiB;

inline constexpr OptionInfo kOptionTable[] = {
    {Option::kClasses, "classes", OptionKind::kChoice, 0, 0, kSizeClassPresetCount - 1,
     kSizeClassPresetNames.text, kSizeClassPresetHelp.text},
    {Option::kClassesFile, "classes_file", OptionKind::kPath, 0, 0, 0, nullptr,
     "Take the size classes from this file, which `tarn classes --fit` writes; one that is no table is "
     "refused with a line, and `classes` serves."},
    {Option::kFreePageThreshold, "free_page_threshold", OptionKind::kBytes, 8 * kMiB, 0, 1024 * kGiB, nullptr,
     "Free memory kept for reuse; what exceeds it goes back to the system at once.", OptionChange::kAnyTime},
    {Option::kDecay, "decay", OptionKind::kMilliseconds, 2000, 0, 3600 * 1000, nullptr,
     "Time after which free memory that nobody needed goes back to the system; 0 keeps none.",
     OptionChange::kAnyTime},
    {Option::kBackground, "background", OptionKind::kBool, 0, 0, 1, nullptr,
     "Let a thread of the library's give memory back, also while the program idles; else the threads that "
     "allocate and free do it.",
     OptionChange::kAnyTime},
    {Option::kSandbox, "sandbox", OptionKind::kBool, 0, 0, 1, nullptr,
     "Make only system calls that every malloc needs, from now on; switch it on before a filter of system "
     "calls that ends the process for others.",
     OptionChange::kAnyTime},
    {Option::kThreadCacheBytes, "thread_cache", OptionKind::kBytes, 8 * kMiB, 64 * kKiB, kGiB, nullptr,
     "Most bytes of free blocks that one thread caches, and as many again that it leaves for "
     "threads that share its slabs; of blocks above 32 KiB these share twice as many, at most 16 MiB.",
     OptionChange::kAnyTime},
    {Option::kShareSlabs, "share_slabs", OptionKind::kChoice, 1, 0, 2, "never|auto|always",
     "Let threads take their blocks from slabs that they share: never, once they are more than the "
     "processors, or always. Sharing saves much memory where threads are many.",
     OptionChange::kAnyTime},
    {Option::kHugePages, "huge_pages", OptionKind::kChoice, 1, 0, 2, "never|auto|always",
     "Ask the system for 2 MiB pages: never, for sizes that are much used, and blocks from 4 MiB on, once "
     "the heap is large, or for all memory.",
     OptionChange::kAnyTime},
    {Option::kHugePageThreshold, "huge_page_threshold", OptionKind::kBytes, 32 * kMiB, 0, 1024 * kGiB,
     nullptr, "Heap size from which huge_pages:auto asks for 2 MiB pages.", OptionChange::kAnyTime},
    {Option::kReserveBytes, "reserve", OptionKind::kBytes, 64 * kGiB, 4 * kMiB, 16 * 1024 * kGiB, nullptr,
     "Address space taken at first, then as much again as there is; it costs no memory."},
    {Option::kCheck, "check", OptionKind::kBool, 0, 0, 1, nullptr,
     "Verify every free at once (double, invalid or interior pointers) instead of when the block reaches its "
     "slab."},
    {Option::kCountCalls, "count_calls", OptionKind::kBool, 0, 0, 1, nullptr,
     "Count every call and requested byte exactly; each call then takes the slow path."},
    {Option::kPoolsUseMalloc, "pools_use_malloc", OptionKind::kBool, 0, 0, 1, nullptr,
     "Take the blocks of every pool, heap and arena from malloc, one by one, for checkers of memory; where "
     "malloc is not tarn's, those of the general pool too. Unless this is set, ThreadSanitizer, Helgrind, "
     "DRD, "
     "Massif and DHAT switch it on, and the general pool does so by itself under LeakSanitizer and "
     "memcheck."},
    {Option::kDeepbind, "deepbind", OptionKind::kChoice, 0, 0, 1, "ignore|keep",
     "What dlopen does with RTLD_DEEPBIND, which makes a library miss the preloaded malloc: clear the flag, "
     "or pass it on."},
    {Option::kStatsFile, "stats_file", OptionKind::kPath, 0, 0, 0, nullptr,
     "Write statistics as JSON to this name with .PID appended when the program ends.",
     OptionChange::kAnyTime},
    {Option::kPrintOptions, "print_options", OptionKind::kBool, 0, 0, 1, nullptr,
     "Print every option and its value to standard error at start."},
    {Option::kSoftLimit, "soft_limit", OptionKind::kBytes, 0, 0, 16 * 1024 * kGiB, nullptr,
     "Memory held from the system beyond which free memory goes back at once, and the program is told; 0: no "
     "limit.",
     OptionChange::kAnyTime},
    {Option::kHardLimit, "hard_limit", OptionKind::kBytes, 0, 0, 16 * 1024 * kGiB, nullptr,
     "Memory held from the system beyond which requests are refused; 0: no limit.", OptionChange::kAnyTime},
    {Option::kObserve, "observe", OptionKind::kChoice, 0, 0, 2, "on|owner|off",
     "Who may look at the program's memory with `tarn top` and its relatives: who may trace it; all "
     "processes "
     "of its user, also where Yama's ptrace_scope is 1; or nobody, which is a wish that the tools obey."},
    {Option::kProfile, "profile", OptionKind::kBytes, 0, 0, kGiB, nullptr,
     "Sample the stack of one block in so many bytes that are asked for, from the start, for `tarn profile`; "
     "1: of every block; 0: none until something switches it on.",
     OptionChange::kAnyTime},
    {Option::kProfileDepth, "profile_depth", OptionKind::kNumber, 64, 16, 1024, nullptr,
     "Addresses kept of a sampled stack. A deeper one keeps its innermost and its 8 outermost, and a mark "
     "where the others were left out."},
    {Option::kRecord, "record", OptionKind::kBool, 0, 0, 1, nullptr,
     "Record all calls from the start, in forked children too: `tarn record` sets it, and fetches them."},
    {Option::kLeaks, "leaks", OptionKind::kChoice, 0, 0, 1, "off|exit",
     "When the program ends, print which live blocks nothing points to any more, with the stacks that made "
     "them, and end with status 23 where it was 0. Every block is sampled then, as with profile:1."},
    {Option::kLeaksSuppressions, "leaks_suppressions", OptionKind::kPath, 0, 0, 0, nullptr,
     "Leave out of `leaks` what this file names, in LeakSanitizer's form: a line leak:PATTERN for each file "
     "or exported function."},
    {Option::kAtMisuse, "at_misuse", OptionKind::kChoice, 0, 0, 2, "stop|handler|report",
     "What follows the line about a misuse of memory: SIGABRT with its default action; the program's own "
     "handler of SIGABRT before it; or, where nothing is lost but the block, the program goes on."},
    {Option::kGuard, "guard", OptionKind::kNumber, 0, 0, 1'000'000'000, nullptr,
     "Let one block of malloc's in so many end before an OS page that faults, and fault itself once it is "
     "freed; "
     "a fault is told with its stacks. Up to 100 at any price, else fewer where it would take time; 0: none.",
     OptionChange::kAnyTime},
};
inline constexpr std::size_t kOptionCount = sizeof(kOptionTable) / sizeof(kOptionTable[0]);

consteval std::int64_t last_choice(const char* choices) {
  std::int64_t last = 0;
  for (; *choices != '\0'; ++choices) last += *choices == '|';
  return last;
}

consteval bool option_table_is_valid() {
  for (std::size_t i = 0; i < kOptionCount; ++i) {
    const OptionInfo& option = kOptionTable[i];
    if (static_cast<std::size_t>(option.id) != i) return false;
    if (option.default_value < option.minimum || option.default_value > option.maximum) return false;
    if (option.kind == OptionKind::kChoice ? option.maximum != last_choice(option.choices)
                                           : option.choices != nullptr)
      return false;
  }
  return true;
}
static_assert(option_table_is_valid());

}  // namespace tarn::internal
