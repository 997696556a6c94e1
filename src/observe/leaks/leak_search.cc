// The option leaks: when the process ends by exit or by main's return, it looks for its own leaks, tells of
// them, and ends with a status of its own.
//
// The library hands its function to libc when it is loaded, before the program's own. So libc calls it after
// all of theirs, glibc with the status; in the shared library also after the destructors of all files, in the
// archive before those that the linker collects (.fini_array). What comes later is libc's own, which writes
// what its streams have left: a second exit within the first goes on there, with another status. Where libc
// does not tell the status (musl), it stays as it is.
//
// A child of a fork inherits the function and looks for itself when it ends so. _exit, quick_exit, abort and
// signals end a process without a look.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/wipe.h"
#include "general/options/configuration.h"
#include "observe/leaks/leak_report.h"
#include "observe/leaks/reachability.h"
#include "os/fatal.h"
#include "os/process/process.h"
#include "os/process/process_status.h"
#include "pool/handles/handle_pool_state.h"
#include "tarn/observe.h"
#include "thread/heap_record.h"

// Nobody calls anything of this file, so an archive would leave it out: general/options/setup.cc names this.
extern "C" [[gnu::visibility("hidden"), gnu::used]] const char tarn_leaks_at_exit = 0;

namespace tarn::internal {
namespace {

/// A search of the running process for live blocks that nothing of its program points to any more.
///
/// A look notes all live blocks, gives each its sample with its stack, and marks what can be reached from the
/// roots. A block without a sample is older than the profile, or its sample was lost: nobody knows who made
/// it, so it counts as reached. So do the objects of handle pools, which no pointer needs to name. While
/// other threads run, a block may be freed while a look goes on, or a look may miss where a pointer has just
/// been moved to: then several looks must find the same sample's block lost.
/// Threads: one; the program's others may run. No lock is held while memory is read.
/// \why noinline: the addresses of blocks that a look leaves on the stack must be dead, and wiped, when the
/// next one reads it.
class LeakSearch {
 public:
  /// \param suppressions a file; "": there is none
  explicit LeakSearch(const char* suppressions);

  /// Looks. \param stack_pointer of the calling thread: what lies above it are roots
  /// \returns nullptr, or why there is nothing to tell.
  [[gnu::noinline]] const char* look(std::uintptr_t stack_pointer);
  bool has_suspects() const { return suspects_.size() != 0; }
  /// Writes what was found to standard error. \returns whether there are leaks.
  [[gnu::noinline]] bool report();

 private:
  static constexpr std::size_t kMostModules = 1024;

  struct Suspect {
    std::uint64_t start;
    std::uint32_t serial;
  };
  /// A stack whose leaks are known.
  struct KnownStack {
    std::uint32_t number;
    LeakSuppressions::Known* known;
  };

  bool was_suspect(const LeakBlock& block) const;
  [[gnu::noinline]] bool sort_out(LeakBlocks& blocks, Reachability& reach);
  void reach_what_the_last_look_reached(LeakBlocks& blocks, Reachability& reach) const;
  bool find_known_stacks(LeakBlocks& blocks);
  bool suppress(LeakBlocks& blocks, Reachability& reach);
  void report_suppressed();

  os::MappedArray<LoadedModule> module_storage_;
  LoadedModules modules_{nullptr, 0};
  LeakSuppressions suppressions_;
  os::MappedArray<LeakPool> pools_;
  os::MappedArray<Suspect> suspects_;         // what the last look found lost, by address
  os::MappedArray<KnownStack> known_stacks_;  // by their numbers
  LeakGroups leaks_, suppressed_;
  unsigned looks_ = 0;
};

constexpr const char* kNoMemory = "memory for the search is refused";

void copy_text(char* to, std::size_t room, const char* from) {
  std::strncpy(to, from != nullptr ? from : "", room - 1);
  to[room - 1] = '\0';
}

bool is_same(const LeakPool& a, const LeakPool& b) {
  return std::strcmp(a.kind, b.kind) == 0 && std::strcmp(a.name, b.name) == 0;
}

// What was called so far has left addresses of blocks below, which scan_roots() may take for the program's:
// it knows where the main thread's stack is dead, not where another's is.
[[gnu::noinline]] void clear_dead_stack() {
  char bytes[8 * 1024];
  wipe(bytes, sizeof bytes);
}

/// Notes what a visit of all live blocks tells.
class Collector {
 public:
  Collector(LeakBlocks& blocks, os::MappedArray<LeakPool>& pools) : blocks_(blocks), pools_(pools) {}

  bool collect() { return tarn_visit_blocks(visit, this) == 0 && !is_refused_; }

 private:
  static void visit(const tarn_live_block* block, void* collector) {
    static_cast<Collector*>(collector)->add(*block);
  }

  void add(const tarn_live_block& block) {
    const LeakPool pool = pool_of(block);
    // Blocks of a pool mostly come one after the other.
    if (last_ == nullptr || !is_same(*last_, pool)) note_pool(pool);
    if (last_ == nullptr) return;
    const bool needs_no_pointer = block.pool_kind != nullptr && block.pool_kind == kHandlePoolKind;
    is_refused_ |= !blocks_.add({address_of(block.address), block.bytes, block.bytes, 0, LeakBlocks::kNone, 0,
                                 static_cast<std::uint16_t>(last_ - pools_.begin()), Reached::kNo, false,
                                 needs_no_pointer, false});
  }

  static LeakPool pool_of(const tarn_live_block& block) {
    LeakPool pool{};
    copy_text(pool.kind, sizeof pool.kind, block.pool_kind);
    copy_text(pool.name, sizeof pool.name, block.pool_name);
    return pool;
  }

  void note_pool(const LeakPool& pool) {
    last_ = std::find_if(pools_.begin(), pools_.end(), [&](const LeakPool& p) { return is_same(p, pool); });
    if (last_ != pools_.end()) return;
    if (pools_.size() > UINT16_MAX || !pools_.push(pool)) {
      is_refused_ = true;
      last_ = nullptr;
      return;
    }
    last_ = pools_.end() - 1;
  }

  LeakBlocks& blocks_;
  os::MappedArray<LeakPool>& pools_;
  const LeakPool* last_ = nullptr;
  bool is_refused_ = false;
};

// Not inlined: its frame has addresses of blocks, and is dead before the stack is read.
[[gnu::noinline]] bool collect(LeakBlocks& blocks, os::MappedArray<LeakPool>& pools) {
  if (!Collector(blocks, pools).collect()) return false;
  blocks.sort();
  blocks.note_samples([](std::uint64_t block, Sample& copy) { return samples.find(block, copy); });
  return blocks.link();
}

}  // namespace

LeakSearch::LeakSearch(const char* suppressions) {
  if (module_storage_.reserve(kMostModules)) modules_ = {module_storage_.begin(), kMostModules};
  modules_.note_all();
  samples.note_unloaded_code();
  suppressions_.read(suppressions);
}

const char* LeakSearch::look(std::uintptr_t stack_pointer) {
  os::OwnMemory memory;
  if (!memory.can_read()) return "the kernel does not let the program read its own memory";
  LeakBlocks blocks;
  Reachability reach(blocks, reader_of(memory));
  NotRoots not_roots;
  if (!collect(blocks, pools_) || !reach.begin() || !not_roots.begin()) return kNoMemory;
  // Neither the library's memory nor the search's own is a root: they name every block.
  not_roots.add_library(modules_);
  const auto leave_out = [&](os::AddressRange range) { not_roots.add(range); };
  blocks.visit_memory(leave_out);
  reach.visit_memory(leave_out);
  leave_out(suspects_.memory());
  not_roots.sort();

  // Blocks without a sample cannot be told of, objects of handle pools need no pointer: both only lead on.
  for (std::uint32_t i = 0; i < blocks.size(); ++i)
    if (!blocks[i].is_sampled || blocks[i].needs_no_pointer) reach.reach(i);
  clear_dead_stack();
  if (!scan_roots(reach, not_roots, stack_pointer)) return "/proc/self/maps cannot be read";
  reach.finish();
  return sort_out(blocks, reach) ? nullptr : kNoMemory;
}

// Tells what is lost from what is suppressed. \returns false when memory is refused.
bool LeakSearch::sort_out(LeakBlocks& blocks, Reachability& reach) {
  if (looks_++ != 0) reach_what_the_last_look_reached(blocks, reach);
  if (suppressions_.has_any() && !suppress(blocks, reach)) return false;
  suspects_.set_size(0);
  for (const LeakBlock& block : blocks)
    if (block.reached != Reached::kFromProgram && !suspects_.push({block.start, block.serial})) return false;
  return leaks_.make(blocks, Reached::kNo) && suppressed_.make(blocks, Reached::kFromSuppressed);
}

bool LeakSearch::was_suspect(const LeakBlock& block) const {
  const Suspect* const suspect =
      std::lower_bound(suspects_.begin(), suspects_.end(), block.start,
                       [](const Suspect& one, std::uint64_t start) { return one.start < start; });
  return suspect != suspects_.end() && suspect->start == block.start && suspect->serial == block.serial;
}

void LeakSearch::reach_what_the_last_look_reached(LeakBlocks& blocks, Reachability& reach) const {
  for (std::uint32_t i = 0; i < blocks.size(); ++i)
    if (!was_suspect(blocks[i])) reach.reach(i);
  reach.finish();
}

bool LeakSearch::find_known_stacks(LeakBlocks& blocks) {
  for (LeakSuppressions::Known& known : suppressions_) known.blocks = known.bytes = 0;
  known_stacks_.set_size(0);
  if (!leaks_.make(blocks, Reached::kNo)) return false;
  for (const LeakGroup& group : leaks_) {
    LeakSuppressions::Known* const known = suppressions_.find(group.stack, modules_);
    if (known != nullptr && !known_stacks_.push({group.stack, known})) return false;
  }
  std::sort(known_stacks_.begin(), known_stacks_.end(),
            [](const KnownStack& a, const KnownStack& b) { return a.number < b.number; });
  return true;
}

// What only a suppressed leak points to is suppressed too.
bool LeakSearch::suppress(LeakBlocks& blocks, Reachability& reach) {
  if (!find_known_stacks(blocks)) return false;
  reach.go_on_as(Reached::kFromSuppressed);
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].reached != Reached::kNo) continue;
    const KnownStack* const known =
        std::lower_bound(known_stacks_.begin(), known_stacks_.end(), blocks[i].stack,
                         [](const KnownStack& stack, std::uint32_t number) { return stack.number < number; });
    if (known == known_stacks_.end() || known->number != blocks[i].stack) continue;
    ++known->known->blocks;
    known->known->bytes += blocks[i].requested;
    reach.reach(i);
  }
  reach.finish();
  return true;
}

void LeakSearch::report_suppressed() {
  FixedText<256> line;
  LeakWriter::add_sum(line, suppressed_.sum());
  line.add(" suppressed, by:\n");
  os::write_line(line);
  for (const LeakSuppressions::Known& known : suppressions_) {
    if (known.blocks == 0) continue;
    FixedText<512> row;
    row.add("    ").add(front_of(known.pattern, 400)).add(": ");
    LeakWriter::add_sum(row, {known.blocks, known.bytes});
    row.add('\n');
    os::write_line(row);
  }
}

bool LeakSearch::report() {
  const bool has_leaks = leaks_.size() != 0;
  if (has_leaks) LeakWriter(modules_, pools_.begin()).write(leaks_);
  if (suppressed_.size() != 0) report_suppressed();
  return has_leaks;
}

namespace {

constexpr int kLeaksStatus = 23;  // LeakSanitizer's

constexpr int kLooksBesideThreads = 3;

const char* look(LeakSearch& search, std::uintptr_t stack_pointer) {
  if (thread_limits.every_call_is_slow)
    return "check, count_calls, pools_use_malloc and LeakSanitizer leave no room for stacks";
  const int looks = os::thread_count() > 1 ? kLooksBesideThreads : 1;
  for (int i = 0; i < looks && (i == 0 || search.has_suspects()); ++i)
    if (const char* const obstacle = search.look(stack_pointer); obstacle != nullptr) return obstacle;
  return nullptr;
}

// \returns whether there are leaks.
[[gnu::noinline]] bool tell_leaks() {
  LeakSearch search(configuration.leaks_suppressions());
  const char* const obstacle = look(search, address_of(__builtin_frame_address(0)));
  FixedText<256> line;
  line.add("tarn: ");
  if (obstacle != nullptr) {
    line.add("no search for leaks: ").add(obstacle).add('\n');
    os::write_line(line);
    return false;
  }
  return search.report();
}

void at_exit(int status, void*) {
  enum { kOff, kExit };
  if (configuration.value(Option::kLeaks) != kExit) return;
  __builtin_unwind_init();  // what callers have in registers now lies on the stack
  if (tell_leaks() && status == 0) std::exit(kLeaksStatus);
}

[[gnu::constructor(102)]] void begin_leaks_at_exit() { os::call_at_exit(at_exit); }

}  // namespace
}  // namespace tarn::internal
