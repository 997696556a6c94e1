#include "look/metrics/metrics_of_look.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "observe/figures/metrics_text.h"

namespace tarn::tool {
namespace {

namespace core = tarn::internal;
using observer::Basis;
using observer::kNoLimit;
using observer::Snapshot;

/// Cached large blocks count as the library counts them: as cached, where totals count them as free in slabs.
std::uint64_t cached_span_bytes(const Snapshot& snapshot) {
  std::uint64_t bytes = 0;
  for (const observer::Owner& owner : snapshot.owners) bytes += owner.cached_span_bytes;
  return bytes;
}

struct Statistic {
  std::string_view name;
  std::uint64_t value;
};

/// The library's figures that are sums over what was read, by their names in tarn/detail/stat_fields.h.
std::vector<Statistic> summed_statistics(const Look& look) {
  const observer::Totals& totals = look.snapshot.totals;
  const std::uint64_t spans = cached_span_bytes(look.snapshot);
  std::vector<Statistic> sums = {
      {"live_bytes", totals.live_bytes},
      {"mapped_bytes", totals.mapped_bytes},
      {"cached_bytes", totals.in_threads_bytes + totals.depot_bytes + spans},
      {"free_in_slabs_bytes", totals.free_in_slabs_bytes - std::min(totals.free_in_slabs_bytes, spans)},
      {"free_dirty_bytes", totals.free_dirty_bytes},
      {"free_clean_bytes", totals.free_clean_bytes},
      {"metadata_bytes", totals.record_bytes},
      {"large_live_count", totals.large_blocks},
      {"large_live_bytes", totals.large_bytes}};
  if (look.sheet.basis == Basis::kResident) sums.push_back({"resident_bytes", look.sheet.rss_bytes});
  return sums;
}

std::optional<std::uint64_t> statistic(const Look& look, const std::vector<Statistic>& sums,
                                       std::string_view name) {
  for (const observer::Counter& counter : look.snapshot.counters)
    if (counter.name == name) return counter.value;
  for (const Statistic& sum : sums)
    if (sum.name == name) return sum.value;
  return std::nullopt;
}

/// Of the general pool: pools are told as pools.
std::vector<core::ClassUse> classes_of(const Snapshot& snapshot) {
  std::vector<core::ClassUse> classes;
  for (const observer::ClassUse& use : snapshot.classes) {
    if (use.pool != observer::kNone) continue;
    core::ClassUse& figures = classes.emplace_back();
    figures.block_bytes = use.block_bytes;
    figures.slabs = use.slabs;
    figures.slab_bytes = use.slab_bytes;
    figures.total_blocks = use.blocks;
    figures.live_blocks = use.live;
    figures.cached_blocks = use.cached();
    figures.free_blocks = use.free;
  }
  return classes;
}

std::size_t limit_bytes(const observer::Pool& pool) {
  if (pool.block_bytes == 0) return pool.hard_limit;
  return pool.largest_count == kNoLimit ? kNoLimit : pool.largest_count * pool.block_bytes;
}

tarn::PoolUse pool_use(const Snapshot& snapshot, const observer::Pool& pool) {
  tarn::PoolUse use = {};
  use.kind = pool.kind_name.c_str();
  use.name = pool.name.c_str();
  use.block_bytes = pool.block_bytes;
  use.live_count = pool.live;
  use.live_bytes = pool.live_bytes;
  use.peak_live_bytes = pool.known_peak();
  use.mapped_bytes = pool.mapped_bytes;
  use.waste_bytes = pool.mapped_bytes - std::min(pool.mapped_bytes, pool.live_bytes);
  use.capacity = pool.capacity;
  use.largest_count = pool.largest_count;
  use.limit_bytes = limit_bytes(pool);
  use.mapped_limit_bytes = pool.mapped_limit;
  use.inner_bytes = pool.charged_bytes - std::min(pool.charged_bytes, pool.live_bytes);
  use.refusals = pool.refusals;
  use.parent = pool.parent < snapshot.pools.size() ? snapshot.pools[pool.parent].name.c_str() : nullptr;
  return use;
}

/// The pools with equal labels summed. Elements point to the next, so that they never move.
std::deque<core::PoolSum> pool_sums(const Snapshot& snapshot) {
  std::deque<core::PoolSum> sums;
  for (const observer::Pool& pool : snapshot.pools) {
    const tarn::PoolUse use = pool_use(snapshot, pool);
    const auto same = std::find_if(sums.begin(), sums.end(), [&](const core::PoolSum& sum) {
      return core::has_labels_of(sum.use, use);
    });
    if (same != sums.end()) {
      core::add_pool(*same, use);
      continue;
    }
    sums.push_back({nullptr, 1, use});
    if (sums.size() > 1) sums[sums.size() - 2].next = &sums.back();
  }
  return sums;
}

void write_parts(core::MetricsWriter& writer, const observer::Sheet& sheet) {
  const bool is_resident = sheet.basis == Basis::kResident;
  writer.begin("", is_resident ? "resident_part_bytes" : "mapped_part_bytes", core::MetricKind::kGauge,
               is_resident ? "What the resident memory of the process is; the parts add up to it."
                           : "What the library's mapped memory is.");
  for (const observer::PartName& part : observer::kParts)
    if (is_resident || part.part != observer::Part::kOther)
      writer.series().label("part", std::string(part.key).c_str()).value(sheet.of(part.part));
  writer.begin("", "survivor_pinned_bytes", core::MetricKind::kGauge,
               "Free blocks in slabs of which less than half of the blocks are live.");
  writer.series().value(sheet.survivors.pinned_bytes);
}

}  // namespace

std::string metrics_of(const Look& look) {
  const std::vector<Statistic> sums = summed_statistics(look);
  const std::vector<core::ClassUse> classes = classes_of(look.snapshot);
  const std::deque<core::PoolSum> pools = pool_sums(look.snapshot);
  tarn_statistics stats = {};
  core::Metrics metrics{look.snapshot.library_version.c_str(),
                        &stats,
                        {},
                        classes.data(),
                        static_cast<unsigned>(classes.size()),
                        pools.empty() ? nullptr : &pools.front()};
  for (std::size_t i = 0; i < core::kStatCount; ++i) {
    const auto value = statistic(look, sums, core::kStatFields[i].name);
    metrics.is_known[i] = value.has_value();
    stats.*core::kStatFields[i].member = value.value_or(0);
  }
  std::string text;
  {
    core::TextWriter output([](const char* piece, std::size_t bytes,
                               void* into) { static_cast<std::string*>(into)->append(piece, bytes); },
                            &text);
    core::MetricsWriter writer(output);
    core::write(writer, metrics);
    write_parts(writer, look.sheet);
  }
  return text;
}

}  // namespace tarn::tool
