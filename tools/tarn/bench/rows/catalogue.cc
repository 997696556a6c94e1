// The table of sources and groups. Claims are the sources' own figures, from the documents themselves.
#include "bench/rows/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tarn::tool {
namespace {

bool is_of(const GroupInfo& group, const std::string& name) {
  const std::size_t length = std::strlen(group.name);
  return group.name[length - 1] == '_' ? name.starts_with(group.name) : name == group.name;
}

}  // namespace

const std::vector<SourceInfo>& bench_sources() {
  static const std::vector<SourceInfo> sources = {
      {"000", "A size-class pool",
       "Against new std::vector<char>(size), its author's pool took 20 to 62 % less time with one thread, 48 "
       "to 77 % less with 16, and 30 to 75 % less under stress.",
       "vector"},
      {"001", "The low-fragmentation heap and TBB's scalable_malloc",
       "The heap of 128 buckets scaled with threads up to blocks of 16,344 bytes and became 8 times slower "
       "with each step in threads beyond. TBB was ahead below 8 KiB, by 30 to 40 % between 1 and 4 KiB, the "
       "heap between 9 and 16 KiB.",
       "tbb"},
      {"002", "Thread cache, central cache, page cache",
       "Against new and delete: 1.4 to 6.7 times faster with one thread and 1.7 to 4.9 times with 16 for one "
       "size; for mixed sizes 0.93 times with one thread and 1.33 times with 16.",
       "glibc"},
      {"003", "A fixed-size pool for game servers",
       "Faster than Boost's pool and the default allocator for blocks of 64 to 256 bytes, behind Boost's at "
       "random sizes up to 512 bytes. Freeing searches a list: its cost grows with the blocks of a chunk.",
       "boost-pool"},
      {"004", "Typed objects in thread-local chunks",
       "1000 nodes of 1000 bytes, one thread: about 5 ns to allocate against 48 ns for new, 3.7 ns to free "
       "against 22 ns for delete; with four threads 7.8 ns against 79 ns to allocate.",
       "glibc"},
      {"ours", "What the sources leave out",
       "Blocks that one thread allocates and another frees, a server in small, single calls and their worst "
       "cases, memory touched for the first time, large blocks, blocks that change their size, sizes beside "
       "a boundary, scaling over threads, few live blocks of many sizes, threads that come and go, recorded "
       "programs."},
      {"ours-memory", "What the sources leave out: memory",
       "What blocks cost beyond the bytes asked for, with the size classes of sources 001 and 000 beside "
       "tarn's own, what a process keeps that has freed, and recorded programs."},
      {"ours-pools", "What the sources leave out: pools",
       "One pool that several threads use at once, and arenas."},
  };
  return sources;
}

const std::vector<PublishedFigure>& published_figures() {
  static const std::vector<PublishedFigure> figures = {
      {"000", "one thread", "20 to 62 %", Measure::kPercentLess, "000_single", " allocate free ", 1},
      {"000", "16 threads", "48 to 77 %", Measure::kPercentLess, "000_multi", " whole ", 16},
      {"000", "stress, one thread", "30 to 75 %", Measure::kPercentLess, "000_stress_single", "  ", 1},
      {"000", "stress, 16 threads", "41 to 73 %", Measure::kPercentLess, "000_stress_multi", "  ", 16},
      {"002", "one size, one thread", "1.4 to 6.7", Measure::kTimesAsFast, "002_fixed", "  ", 1},
      {"002", "one size, 16 threads", "1.7 to 4.9", Measure::kTimesAsFast, "002_fixed", "  ", 16},
      {"002", "random sizes, one thread", "0.93", Measure::kTimesAsFast, "002_mixed", " pairs ", 1},
      {"002", "random sizes, 16 threads", "1.33", Measure::kTimesAsFast, "002_mixed", " pairs ", 16},
  };
  return figures;
}

const std::vector<GroupInfo>& bench_groups() {
  static const std::vector<GroupInfo> groups = {
      {"000_single", "000", "One thread", "a block of 100,000 allocated, freed, or both at once (pairs)",
       Axis::kBytes, 0.09},
      {"000_multi", "000", "16 threads", "a block of 100,000 in all: allocated and freed", Axis::kBytes,
       0.13},
      {"000_stress_single", "000", "Stress, one thread",
       "a block of 100,000: all allocated, every third freed and allocated again, all freed", Axis::kBytes,
       0.16},
      {"000_stress_multi", "000", "Stress, 16 threads",
       "a block of 100,000 in all: all allocated, every third freed and allocated again, all freed",
       Axis::kBytes, 0.2},
      {"000_mixed", "000", "Mixed sizes",
       "a block of 100,000 of eight sizes: all allocated, 30 % freed and allocated anew, all freed",
       Axis::kThreads, 0.4},
      {"001_", "001", "Random sizes up to {} bytes",
       "a block of a random size: each thread allocates 20,480 and frees them in order", Axis::kThreads, 0.8},
      {"002_fixed", "002", "One size", "a pair of allocate and free", Axis::kBytes, 0.08},
      {"002_mixed", "002", "Random sizes, 8 to 256 bytes",
       "a pair of allocate and free; in the window rows 64 blocks are live in between", Axis::kThreads, 0.08},
      {"003_fixed", "003", "Blocks of one size",
       "a block of 10,000 allocated, then freed in one of three orders", Axis::kBytes, 0.02},
      {"003_threaded", "003", "Blocks of one size, in a process with threads",
       "the same; a second thread sleeps, so that locks are locks", Axis::kBytes, 0.02},
      {"003_random_sizes", "003", "Random sizes up to a maximum",
       "a block of 10,000 allocated, then freed in one of three orders", Axis::kBytes, 0.02},
      {"003_contiguous", "003", "Blocks side by side",
       "a run of up to 16 blocks of 64 bytes allocated and freed, among N blocks", Axis::kRow, 0.02},
      {"003_runs", "003", "Blocks side by side in churn",
       "a random run of 1 to N blocks replaced, in a pool that is half or three quarters full", Axis::kRow,
       0.03},
      {"003_walk", "003", "A walk over what is live",
       "a live object of a pool, in address order: two of its floats added to", Axis::kRow, 0.02},
      {"003_handles", "003", "Objects behind handles",
       "an object of 10,000 made, read by its handle, or pointer, and ended", Axis::kBytes, 0.02},
      {"004_batches", "004", "Batches", "a node of a batch: all allocated, then all freed", Axis::kThreads,
       0.1},
      {"004_single_calls", "004", "Single calls",
       "an allocation and a free, each timed by the cycle counter, which costs some 10 ns of them",
       Axis::kThreads, 0.15},
      {"cross_thread", "ours", "Producer and consumer", "a block that one thread allocates and another frees",
       Axis::kThreads, 0.07},
      {"server", "ours", "A server in small",
       "an object replaced among 8192 a thread, a quarter of them freed by another thread", Axis::kRow, 0.3},
      {"latency", "ours", "Single calls of that server",
       "one call of malloc or free, some 10 ns of the counter included", Axis::kPercentile, 0.12},
      {"first_touch", "ours", "First touch", "a KiB of 32 MiB written for the first time, in a fresh process",
       Axis::kBytes, 0.05},
      {"large", "ours", "Large blocks",
       "a block allocated, touched once per page and freed; or grown by realloc", Axis::kRow, 0.08},
      {"resize", "ours", "Blocks that change their size",
       "a call of realloc or of malloc_usable_size; or a block grown step by step and freed", Axis::kRow,
       0.1},
      {"fork_heap", "ours", "A fork with a heap",
       "a fork whose child ends at once, of a process with so many bytes in blocks of 1 KiB", Axis::kBytes,
       0.2},
      {"boundary", "ours", "Sizes beside a boundary", "a block of 64 allocated and freed together",
       Axis::kBytes, 0.03},
      {"scaling", "ours", "Scaling over threads",
       "a block replaced among 1000 a thread, all threads together", Axis::kThreads, 0.1},
      {"replace", "ours", "Few or many live blocks of many sizes",
       "a block of a random size replaced among the live ones of each thread", Axis::kRow, 0.06},
      {"thread_churn", "ours", "Threads that come and go",
       "a thread started, 100 blocks of 16 to 512 bytes allocated and freed, the thread joined",
       Axis::kThreads, 0.1},
      {"many_threads", "ours", "Many threads with few objects each",
       "an object replaced among 500 a thread, all threads together", Axis::kThreads, 0.12},
      {"bucket_growth", "ours", "How fast a pool grows",
       "a block of 100,000 from a pool that has none yet, written to, in a fresh process", Axis::kBytes, 0.1},
      {"near_full", "ours", "A pool near its end",
       "a random block replaced in a pool that is half, nearly or wholly full", Axis::kRow, 0.06},
      {"decline_walk", "ours", "A walk after a peak",
       "an object of 25,000 read, after seven eighths of them have ended and the rest were replaced",
       Axis::kRow, 0.1},
      {"micro", "ours", "Calls in a loop", "a pair of allocate and free, by Google Benchmark", Axis::kBytes,
       0.1},
      {"traces", "ours", "Real programs", "a call of a recorded program made again, and its block written",
       Axis::kRow, 0.3},
      {"waste", "ours-memory", "What blocks cost in memory",
       "resident bytes per byte asked for, of 20,480 blocks of random sizes up to a maximum", Axis::kBytes,
       0.1, "ratio", 3},
      {"waste_by_size", "ours-memory", "What blocks of one size cost in memory",
       "resident bytes per byte of 128 MiB, each block written whole", Axis::kBytes, 0.3, "ratio", 3},
      {"thread_memory", "ours-memory", "Memory of many threads",
       "resident bytes per live byte, of threads that each have replaced 500 objects ten times",
       Axis::kThreads, 0.3, "ratio", 3},
      {"decline", "ours-memory", "Memory after a peak",
       "OS pages used per page needed, and resident bytes per live byte, once an eighth is left", Axis::kRow,
       2, "ratio", 3},
      {"idle_threads", "ours-memory", "Threads that wait",
       "resident memory three seconds after all threads have freed what they had", Axis::kThreads, 3.2,
       "bytes", 1},
      {"footprint", "ours-memory", "Memory over time",
       "resident memory while 64 MiB are taken, seven eighths and then the rest freed, and the process idles",
       Axis::kTime, 3.6, "bytes", 1},
      {"traces_memory", "ours-memory", "Memory of real programs",
       "resident bytes at the peak per byte live at its own, the calls of a recorded program made again",
       Axis::kRow, 0.4, "ratio", 1},
      {"shared", "ours-pools", "One pool, several threads",
       "a block: in batches, in pairs, or freed by the next thread", Axis::kThreads, 0.04},
      {"arena", "ours-pools", "Arenas", "a block of 8 to 256 bytes; then all end at once", Axis::kRow, 0.03},
  };
  return groups;
}

const std::vector<std::string>& groups_quick_ranks_otherwise() {
  static const std::vector<std::string> groups = {
      "000_stress_multi", "001_8192", "003_fixed", "003_random_sizes", "003_contiguous", "cross_thread",
      "latency",          "large",    "resize",    "scaling",          "many_threads",   "shared"};
  return groups;
}

bool waits_for_seconds(const std::string& group_name) {
  constexpr double kLeastSeconds = 1;
  const GroupInfo* const group = find_group(group_name);
  return group != nullptr && group->row_seconds > kLeastSeconds;
}

const GroupInfo* find_group(const std::string& name) {
  for (const GroupInfo& group : bench_groups())
    if (is_of(group, name)) return &group;
  return nullptr;
}

const SourceInfo& source_of(const GroupInfo& group) {
  const std::vector<SourceInfo>& sources = bench_sources();
  for (const SourceInfo& source : sources)
    if (std::strcmp(source.id, group.source) == 0) return source;
  return sources.back();
}

std::string title_of(const GroupInfo& group, const std::string& name) {
  const std::string own = name.substr(std::min(name.size(), std::strlen(group.name)));
  return fmt::format(fmt::runtime(group.title), own);
}

}  // namespace tarn::tool
