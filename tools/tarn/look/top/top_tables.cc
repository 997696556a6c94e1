#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "look/processes/screen_text.h"
#include "look/top/top_lines.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

using observer::ClassUse;
using observer::kNoLimit;
using observer::kNone;
using observer::Owner;
using observer::Pool;
using observer::Snapshot;
using observer::Thread;

constexpr std::size_t kBarWidth = 8;
constexpr double kNearTheLimit = 0.9;

/// The indices from 0 to `count`, those with the largest keys first.
template <typename Key>
std::vector<std::size_t> sorted_by(std::size_t count, Key key_of) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::stable_sort(indices.begin(), indices.end(),
                   [&](std::size_t a, std::size_t b) { return key_of(a) > key_of(b); });
  return indices;
}

double share(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of);
}

// One look alone tells of no rate.
std::string rate_text(const Look& look, double rate) {
  return look.rates.seconds == 0 ? "-" : short_rate(rate);
}
std::string change_text(const Look& look, double change) {
  return look.rates.seconds == 0 ? "-" : short_change(change);
}

// -- Size classes ----------------------------------------------------------------------------------------

double class_key(const Look& look, TopOrder order, std::size_t index) {
  const ClassUse& use = look.snapshot.classes[index];
  switch (order) {
    case TopOrder::kLive:
      return static_cast<double>(use.live);
    case TopOrder::kRate:
      return std::abs(look.rates.live_of_class[index]);
    case TopOrder::kPinned:
      return static_cast<double>(look.sheet.survivors_of_class[index].pinned_bytes);
    case TopOrder::kNone:
      return -static_cast<double>(use.block_bytes);
    case TopOrder::kBytes:
      break;
  }
  return static_cast<double>(use.slab_bytes);
}

/// To the byte, as programs ask for it.
std::string block_size(std::uint64_t bytes) {
  if (bytes < 10'000) return format_count(bytes) + " B";
  return bytes % 1024 == 0 ? fmt::format("{} KiB", format_count(bytes / 1024)) : short_bytes(bytes);
}

std::string class_name(const Snapshot& snapshot, const ClassUse& use) {
  const std::string size = block_size(use.block_bytes);
  return use.pool >= snapshot.pools.size()
             ? size
             : fmt::format("{} {}",
                           observer::first_columns(in_single_columns(snapshot.pools[use.pool].name), 16),
                           size);
}

/// How many bytes are in slabs of each eighth of fill, relative to the most.
std::string fill_profile(const ClassUse& use) {
  constexpr const char* kHeights[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::uint64_t most = *std::max_element(std::begin(use.bytes_by_fill), std::end(use.bytes_by_fill));
  std::string text;
  for (const std::uint64_t bytes : use.bytes_by_fill)
    text += kHeights[bytes == 0 ? 0 : 1 + static_cast<std::size_t>(7 * share(bytes, most))];
  return text;
}

std::vector<Cell> class_cells(const Look& look, std::size_t index, std::uint64_t most_pinned) {
  const ClassUse& use = look.snapshot.classes[index];
  const std::uint64_t pinned = look.sheet.survivors_of_class[index].pinned_bytes;
  return {class_name(look.snapshot, use),
          short_count(use.live),
          change_text(look, look.rates.live_of_class[index]),
          short_bytes(use.slab_bytes),
          short_count(use.cached()),
          short_count(use.free),
          fmt::format("{:.0f} %", 100 * share(use.live, use.blocks)),
          pinned == 0 ? Cell{} : Cell{bar(share(pinned, most_pinned), kBarWidth), Style::kBad},
          pinned == 0 ? Cell{} : Cell{short_bytes(pinned)}};
}

std::vector<Cell> long_class_cells(const Look& look, std::size_t index) {
  const ClassUse& use = look.snapshot.classes[index];
  return {short_count(use.slabs), short_count(use.in_threads), short_count(use.parked),
          short_count(look.sheet.survivors_of_class[index].blocks), fill_profile(use)};
}

// -- Threads and owners ----------------------------------------------------------------------------------

std::string thread_name(const Thread& thread) {
  if (!thread.is_alive) return "ended";
  return thread.number == 0 ? "-" : fmt::format("{}", thread.number);
}

std::string owner_name(const Snapshot& snapshot, std::uint32_t index) {
  if (index >= snapshot.owners.size()) return "-";
  const Owner& owner = snapshot.owners[index];
  const char* const kind = owner.is_shared_one ? " shared"
                           : owner.is_of_pool  ? " pool"
                           : owner.is_orphan   ? " orphan"
                                               : "";
  return fmt::format("{}{}", index, kind);
}

double thread_key(const Look& look, TopOrder order, std::size_t index) {
  const observer::Rates::OfThread& rate = look.rates.threads[index];
  if (order == TopOrder::kRate) return rate.refills + rate.flushes;
  return static_cast<double>(look.snapshot.threads[index].cached_bytes);
}

Cell pending_cell(std::uint64_t pending) {
  return {short_count(pending), pending > 1000 ? Style::kBad : Style::kPlain};
}

std::vector<Cell> thread_cells(const Look& look, std::size_t index) {
  const Thread& thread = look.snapshot.threads[index];
  const observer::Rates::OfThread& rate = look.rates.threads[index];
  const bool has_owner = thread.owner < look.snapshot.owners.size();
  return {{thread_name(thread), thread.is_alive ? Style::kPlain : Style::kFaint},
          owner_name(look.snapshot, thread.owner),
          short_bytes(thread.cached_bytes),
          rate_text(look, rate.refills),
          rate_text(look, rate.flushes),
          has_owner ? rate_text(look, look.rates.owners[thread.owner].remote_batches) : "-",
          has_owner ? pending_cell(look.snapshot.owners[thread.owner].pending) : Cell{"-"}};
}

std::vector<Cell> owner_cells(const Look& look, std::uint32_t index) {
  const Owner& owner = look.snapshot.owners[index];
  return {{owner_name(look.snapshot, index), owner.is_orphan ? Style::kFaint : Style::kPlain},
          short_count(owner.threads),
          short_bytes(owner.slab_bytes),
          short_bytes(owner.live_bytes),
          short_bytes(owner.free_bytes),
          short_bytes(owner.parked_bytes),
          short_bytes(owner.spare_bytes + owner.cached_span_bytes),
          rate_text(look, look.rates.owners[index].remote_batches),
          pending_cell(owner.pending)};
}

// -- Pools -----------------------------------------------------------------------------------------------

bool counts_blocks(const Pool& pool) { return pool.block_bytes != 0; }

/// The tightest limit: of pools of one size in blocks, else in bytes.
std::uint64_t limit_of(const Pool& pool) {
  return counts_blocks(pool) ? pool.largest_count : std::min(pool.hard_limit, pool.soft_limit);
}

std::string limit_text(const Pool& pool) {
  if (limit_of(pool) == kNoLimit) return "-";
  return counts_blocks(pool) ? short_count(limit_of(pool)) + " blocks" : short_bytes(limit_of(pool));
}

bool is_near_limit(const Pool& pool) {
  const std::uint64_t limited =
      counts_blocks(pool) ? pool.live : std::max(pool.charged_bytes, pool.live_bytes);
  return limit_of(pool) != kNoLimit && share(limited, limit_of(pool)) >= kNearTheLimit;
}

double pool_key(const Look& look, TopOrder order, std::size_t index) {
  const Pool& pool = look.snapshot.pools[index];
  switch (order) {
    case TopOrder::kLive:
      return static_cast<double>(pool.live_bytes);
    case TopOrder::kRate:
      return std::abs(look.rates.live_of_pool[index]);
    case TopOrder::kNone:
      return -static_cast<double>(pool.number);
    case TopOrder::kPinned:
    case TopOrder::kBytes:
      break;
  }
  return static_cast<double>(pool.mapped_bytes);
}

/// "≤12.0 MiB" where cached blocks may be in it.
std::string peak_text(const Pool& pool) {
  if (pool.known_peak() == 0) return "-";
  const bool may_be_less = pool.is_peak_a_bound && pool.known_peak() > pool.live_bytes;
  return (may_be_less ? "≤" : "") + short_bytes(pool.known_peak());
}

std::vector<Cell> pool_cells(const Look& look, std::size_t index) {
  const Pool& pool = look.snapshot.pools[index];
  const bool has_resident = look.sheet.basis == observer::Basis::kResident;
  return {observer::first_columns(in_single_columns(pool.name), 24),
          counts_blocks(pool) ? block_size(pool.block_bytes) : "-",
          {short_count(pool.live), is_near_limit(pool) ? Style::kBad : Style::kPlain},
          {short_bytes(pool.live_bytes), is_near_limit(pool) ? Style::kBad : Style::kPlain},
          limit_text(pool),
          peak_text(pool),
          change_text(look, look.rates.live_of_pool[index]),
          has_resident ? short_bytes(look.sheet.bytes_of_pool[index]) : "-",
          short_bytes(pool.mapped_bytes),
          {short_count(pool.refusals), pool.refusals != 0 ? Style::kBad : Style::kPlain}};
}

std::vector<Cell> long_pool_cells(const Snapshot& snapshot, const Pool& pool) {
  const bool has_parent = pool.parent < snapshot.pools.size();
  return {
      in_single_columns(pool.kind_name), short_count(pool.cached),
      pool.mapped_limit == kNoLimit ? "-" : short_bytes(pool.mapped_limit),
      has_parent ? observer::first_columns(in_single_columns(snapshot.pools[pool.parent].name), 16) : "-"};
}

void append(std::vector<Cell>& cells, std::vector<Cell> more) {
  cells.insert(cells.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Panel class_panel(const Look& look, TopOrder order, Detail detail) {
  std::vector<PanelColumn> columns = {"class",
                                      "live",
                                      "Δ/s",
                                      "bytes",
                                      {"cached", Alignment::kRight, 3},
                                      {"free", Alignment::kRight, 2},
                                      "fill",
                                      {"pinned by", Alignment::kLeft},
                                      "survivors"};
  if (detail == Detail::kLong)
    for (PanelColumn& column : std::vector<PanelColumn>{{"slabs", Alignment::kRight, 6},
                                                        {"in threads", Alignment::kRight, 5},
                                                        {"in depots", Alignment::kRight, 5},
                                                        {"blocks that pin", Alignment::kRight, 4},
                                                        {"0 fill 1", Alignment::kLeft, 7}})
      columns.push_back(column);
  std::uint64_t most_pinned = 0;
  for (const observer::Survivors& survivors : look.sheet.survivors_of_class)
    most_pinned = std::max(most_pinned, survivors.pinned_bytes);
  Panel panel(columns);
  const auto key = [&](std::size_t index) { return class_key(look, order, index); };
  for (const std::size_t index : sorted_by(look.snapshot.classes.size(), key)) {
    if (look.snapshot.classes[index].slabs == 0) continue;
    std::vector<Cell> cells = class_cells(look, index, most_pinned);
    if (detail == Detail::kLong) append(cells, long_class_cells(look, index));
    panel.add_row(std::move(cells));
  }
  return panel;
}

Panel thread_panel(const Look& look, TopOrder order) {
  Panel panel({"thread",
               {"owner", Alignment::kLeft},
               "cached",
               "refills/s",
               "flushes/s",
               "remote/s",
               {"pending", Alignment::kRight, 1}});
  const auto key = [&](std::size_t index) { return thread_key(look, order, index); };
  for (const std::size_t index : sorted_by(look.snapshot.threads.size(), key))
    panel.add_row(thread_cells(look, index));
  return panel;
}

Panel owner_panel(const Look& look) {
  Panel panel({{"owner", Alignment::kLeft},
               "threads",
               "slabs",
               "live",
               "free",
               {"depot", Alignment::kRight, 1},
               {"spare", Alignment::kRight, 2},
               "remote/s",
               "pending"});
  const auto key = [&](std::size_t index) { return look.snapshot.owners[index].slab_bytes; };
  for (const std::size_t index : sorted_by(look.snapshot.owners.size(), key))
    if (const Owner& owner = look.snapshot.owners[index]; !owner.is_of_pool || owner.slab_bytes != 0)
      panel.add_row(owner_cells(look, static_cast<std::uint32_t>(index)));
  return panel;
}

Panel pool_panel(const Look& look, TopOrder order, Detail detail) {
  std::vector<PanelColumn> columns = {{"pool / heap", Alignment::kLeft},
                                      {"block", Alignment::kRight, 3},
                                      "blocks",
                                      "live",
                                      "limit",
                                      "peak",
                                      {"Δ/s", Alignment::kRight, 4},
                                      {"resident", Alignment::kRight, 1},
                                      {"mapped", Alignment::kRight, 5},
                                      {"refused", Alignment::kRight, 2}};
  if (detail == Detail::kLong)
    for (PanelColumn& column : std::vector<PanelColumn>{{"kind", Alignment::kLeft, 1},
                                                        {"cached", Alignment::kRight, 6},
                                                        {"mapped limit", Alignment::kRight, 7},
                                                        {"in", Alignment::kLeft, 5}})
      columns.push_back(column);
  Panel panel(columns);
  const auto key = [&](std::size_t index) { return pool_key(look, order, index); };
  for (const std::size_t index : sorted_by(look.snapshot.pools.size(), key)) {
    std::vector<Cell> cells = pool_cells(look, index);
    if (detail == Detail::kLong) append(cells, long_pool_cells(look.snapshot, look.snapshot.pools[index]));
    panel.add_row(std::move(cells));
  }
  return panel;
}

}  // namespace tarn::tool
