// glibc's introspection calls, with true figures: mallinfo, mallinfo2, malloc_info, malloc_stats, mallopt.
#include <malloc.h>

#include <cerrno>
#include <climits>
#include <cstdio>

#include "base/options/option_table.h"
#include "base/text.h"
#include "general/options/setup.h"
#include "observe/figures/stats.h"
#include "os/fatal.h"
#include "tarn/detail/c_api.h"

#if __GLIBC_PREREQ(2, 33)
using Mallinfo2 = struct mallinfo2;
#else  // a library that is made with older headers serves the programs of newer ones
struct Mallinfo2 {
  std::size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};
#endif

namespace tarn::internal {
namespace {

// arena: slabs and free pages; hblkhd: large blocks. uordblks + fordblks == mapped bytes, as in glibc.
Mallinfo2 make_mallinfo2() {
  Mallinfo2 info{};
  const StatsSnapshot snapshot;
  if (!snapshot) return info;
  const Stats& stats = *snapshot;
  std::size_t free_blocks = 0, cached_blocks = 0;
  for (const ClassUse& use : stats.classes)
    free_blocks += use.free_blocks, cached_blocks += use.cached_blocks;
  info.uordblks = stats.live_bytes;
  info.hblks = stats.large_live_count;
  info.hblkhd = stats.large_live_bytes;
  info.arena = stats.mapped_bytes + stats.free_dirty_bytes - stats.large_live_bytes;
  info.fordblks = info.arena + info.hblkhd - info.uordblks;
  info.ordblks = free_blocks;
  info.smblks = cached_blocks;
  info.fsmblks = stats.cached_bytes;
  info.usmblks = stats.peak_mapped_bytes;
  info.keepcost = stats.free_dirty_bytes;
  return info;
}

/// A line of malloc_stats. \returns false when the line has no figures.
bool add_line(Text& text, const Stats& stats, unsigned line) {
  const char* before = "tarn: ";
  for (const StatField& field : kStatFields) {
    if (field.line != line) continue;
    text.add(before).add(field.label).add(' ');
    const std::uint64_t value = stats.*field.member;
    if (field.unit != StatUnit::kCount) {
      text.add_bytes(value);
    } else {
      text.add_decimal(value);
    }
    before = ", ";
  }
  return *before == ',';
}

int to_int(std::size_t value) { return value > INT_MAX ? INT_MAX : static_cast<int>(value); }

}  // namespace
}  // namespace tarn::internal

using tarn::internal::make_mallinfo2;

TARN_C_API Mallinfo2 mallinfo2() noexcept { return make_mallinfo2(); }

// The fields are ints; a figure that does not fit reads as the largest int, not as a small wrong number.
TARN_C_API struct mallinfo mallinfo() noexcept {
  using tarn::internal::to_int;
  const Mallinfo2 from = make_mallinfo2();
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

TARN_C_API int malloc_info(int options, FILE* stream) noexcept {
  using namespace tarn::internal;
  if (options != 0 || stream == nullptr) {
    errno = EINVAL;
    return -1;
  }
  const StatsSnapshot snapshot;  // taken first, because printing may allocate
  if (!snapshot) {
    errno = ENOMEM;
    return -1;
  }
  const Stats& stats = *snapshot;
  std::fprintf(stream, "<malloc version=\"1\">\n<heap nr=\"0\">\n<sizes>\n");
  for (const ClassUse& use : stats.classes) {
    if (use.slabs == 0) continue;
    const std::uint64_t free_blocks = use.free_blocks + use.cached_blocks;
    std::fprintf(stream,
                 "  <size from=\"%lu\" to=\"%lu\" total=\"%lu\" count=\"%lu\" live=\"%lu\" slabs=\"%lu\"/>\n",
                 use.block_bytes, use.block_bytes, free_blocks * use.block_bytes, free_blocks,
                 use.live_blocks, use.slabs);
  }
  std::fprintf(
      stream,
      "</sizes>\n</heap>\n"
      "<total type=\"fast\" count=\"0\" size=\"%lu\"/>\n<total type=\"rest\" count=\"0\" size=\"%lu\"/>\n"
      "<total type=\"mmap\" count=\"%lu\" size=\"%lu\"/>\n"
      "<live size=\"%lu\"/>\n<system type=\"current\" size=\"%lu\"/>\n<system type=\"max\" size=\"%lu\"/>\n"
      "<aspace type=\"total\" size=\"%lu\"/>\n",
      stats.cached_bytes, stats.free_in_slabs_bytes + stats.free_dirty_bytes, stats.large_live_count,
      stats.large_live_bytes, stats.live_bytes, stats.mapped_bytes + stats.free_dirty_bytes,
      stats.peak_mapped_bytes, stats.reserved_bytes);
  for (const StatField& field : kStatFields)
    std::fprintf(stream, "<statistic name=\"%s\" unit=\"%s\" value=\"%lu\"/>\n", field.name,
                 field.unit_name(), stats.*field.member);
  std::fprintf(stream, "</malloc>\n");
  return 0;
}

TARN_C_API void malloc_stats() noexcept {
  using namespace tarn::internal;
  FixedText<1024> text;
  {
    const StatsSnapshot snapshot;
    if (!snapshot) return;
    for (unsigned line = 1; add_line(text, *snapshot, line); ++line) text.add('\n');
  }
  os::write_line(text.data(), text.length());
}

// \returns 1 for every parameter that glibc knows; only the trim threshold has an effect here.
TARN_C_API int mallopt(int parameter, int value) noexcept {
  using namespace tarn::internal;
  set_up_once();  // options must be read first
  switch (parameter) {
    case M_TRIM_THRESHOLD:
      set_option_number(Option::kFreePageThreshold, value < 0 ? INT64_MAX : value, "mallopt");
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
