// glibc's introspection calls, answered truthfully: mallinfo, mallinfo2, malloc_info, malloc_stats, mallopt.
#include <malloc.h>

#include <cerrno>
#include <climits>
#include <cstdio>

#include "base/text.h"
#include "general/setup.h"
#include "observe/stats.h"
#include "os/fatal.h"
#include "page/metadata.h"

#define TARN_EXPORT extern "C" [[gnu::visibility("default")]]

namespace tarn::internal {
namespace {

// 10 KiB: too much for the stack of a small thread, and a static one would need a lock that a fork can leave
// locked.
class Snapshot {
 public:
  Snapshot() : stats_(static_cast<Stats*>(metadata.allocate(sizeof(Stats)))) {
    if (stats_ != nullptr) collect_stats(*stats_);
  }
  ~Snapshot() {
    if (stats_ != nullptr) metadata.free(stats_, sizeof(Stats));
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  explicit operator bool() const { return stats_ != nullptr; }
  const Stats& operator*() const { return *stats_; }

 private:
  Stats* stats_;
};
static_assert(sizeof(Stats) <= Metadata::kLargestReused);

// arena: slabs and free pages; hblkhd: large blocks. uordblks + fordblks == what is mapped, as in glibc.
struct mallinfo2 make_mallinfo2() {
  struct mallinfo2 info {};
  const Snapshot snapshot;
  if (!snapshot) return info;
  const Stats& stats = *snapshot;
  std::size_t free_blocks = 0, cached_blocks = 0;
  for (const ClassUse& use : stats.classes)
    free_blocks += use.free_blocks, cached_blocks += use.cached_blocks;
  info.uordblks = stats.live_bytes;
  info.hblks = stats.large.live_count;
  info.hblkhd = stats.large.live_bytes;
  info.arena = stats.pages.used_bytes + stats.pages.dirty_bytes - stats.large.live_bytes;
  info.fordblks = info.arena + info.hblkhd - info.uordblks;
  info.ordblks = free_blocks;
  info.smblks = cached_blocks;
  info.fsmblks = stats.cached_bytes;
  info.usmblks = stats.pages.peak_used_bytes;
  info.keepcost = stats.pages.dirty_bytes;
  return info;
}

int to_int(std::size_t value) { return value > INT_MAX ? INT_MAX : static_cast<int>(value); }

}  // namespace
}  // namespace tarn::internal

using tarn::internal::make_mallinfo2;

TARN_EXPORT struct mallinfo2 mallinfo2() noexcept { return make_mallinfo2(); }

// Its fields are ints; what does not fit reads as the largest int, not as a small wrong number.
TARN_EXPORT struct mallinfo mallinfo() noexcept {
  using tarn::internal::to_int;
  const struct mallinfo2 from = make_mallinfo2();
  struct mallinfo info {};
  info.arena = to_int(from.arena);
  info.ordblks = to_int(from.ordblks);
  info.smblks = to_int(from.smblks);
  info.hblks = to_int(from.hblks);
  info.hblkhd = to_int(from.hblkhd);
  info.usmblks = to_int(from.usmblks);
  info.fsmblks = to_int(from.fsmblks);
  info.uordblks = to_int(from.uordblks);
  info.fordblks = to_int(from.fordblks);
  info.keepcost = to_int(from.keepcost);
  return info;
}

TARN_EXPORT int malloc_info(int options, FILE* stream) noexcept {
  using namespace tarn::internal;
  if (options != 0 || stream == nullptr) {
    errno = EINVAL;
    return -1;
  }
  const Snapshot snapshot;  // printing may allocate, so the numbers are taken first
  if (!snapshot) {
    errno = ENOMEM;
    return -1;
  }
  const Stats& stats = *snapshot;
  std::fprintf(stream, "<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n");
  for (unsigned bin = 1; bin < kClassCount; ++bin) {
    const ClassUse& use = stats.classes[bin];
    if (use.slabs == 0) continue;
    const unsigned long block = class_geometry.of[bin].block_bytes;
    const unsigned long free_blocks = use.free_blocks + use.cached_blocks;
    std::fprintf(stream,
                 "  <size from=\"%lu\" to=\"%lu\" total=\"%lu\" count=\"%lu\" live=\"%lu\" slabs=\"%lu\"/>\n",
                 block, block, free_blocks * block, free_blocks, static_cast<unsigned long>(use.live_blocks),
                 static_cast<unsigned long>(use.slabs));
  }
  std::fprintf(
      stream,
      "</sizes>\n</heap>\n"
      "<total type=\"fast\" count=\"0\" size=\"%zu\"/>\n<total type=\"rest\" count=\"0\" size=\"%zu\"/>\n"
      "<total type=\"mmap\" count=\"%zu\" size=\"%zu\"/>\n"
      "<live size=\"%zu\"/>\n<system type=\"current\" size=\"%zu\"/>\n<system type=\"max\" size=\"%zu\"/>\n"
      "<aspace type=\"total\" size=\"%zu\"/>\n</malloc>\n",
      stats.cached_bytes, stats.free_in_slabs_bytes + stats.pages.dirty_bytes, stats.large.live_count,
      stats.large.live_bytes, stats.live_bytes, stats.pages.used_bytes + stats.pages.dirty_bytes,
      stats.pages.peak_used_bytes, stats.pages.reserved_bytes);
  return 0;
}

TARN_EXPORT void malloc_stats() noexcept {
  using namespace tarn::internal;
  FixedText<1024> text;
  {
    const Snapshot snapshot;
    if (!snapshot) return;
    const Stats& stats = *snapshot;
    text.add("tarn: live ")
        .add_bytes(stats.live_bytes)
        .add(", peak mapped ")
        .add_bytes(stats.pages.peak_used_bytes);
    text.add("\ntarn: cached by threads ").add_bytes(stats.cached_bytes).add(", free in slabs ");
    text.add_bytes(stats.free_in_slabs_bytes).add(", free pages ").add_bytes(stats.pages.dirty_bytes);
    text.add("\ntarn: mapped ").add_bytes(stats.pages.used_bytes).add(", resident (process) ");
    text.add_bytes(stats.resident_bytes).add(", metadata ").add_bytes(stats.metadata_bytes);
    text.add(", given back so far ").add_bytes(stats.pages.purged_bytes).add('\n');
  }
  os::write_line(text.data(), text.length());
}

// \returns 1 for what glibc knows, whether or not it means something here; only the trim threshold does.
TARN_EXPORT int mallopt(int parameter, int value) noexcept {
  using namespace tarn::internal;
  set_up_once();  // the options come first
  switch (parameter) {
    case M_TRIM_THRESHOLD:
      page_cache.set_free_page_threshold(value < 0 ? SIZE_MAX / 2 : static_cast<std::size_t>(value));
      return 1;
    case M_MXFAST:
    case M_TOP_PAD:
    case M_MMAP_THRESHOLD:
    case M_MMAP_MAX:
    case M_CHECK_ACTION:
    case M_PERTURB:
    case M_ARENA_TEST:
    case M_ARENA_MAX:
      return 1;
    default:
      return 0;
  }
}
