#include "look/top/top_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "look/processes/screen_text.h"
#include "system/figures/format.h"

namespace tarn::tool {
namespace {

using observer::Basis;
using observer::Part;
using observer::PartName;
using observer::Sheet;

constexpr std::size_t kWidthOfTwoColumns = 132;
constexpr std::size_t kWidthOfSecondColumn = 60;
constexpr std::size_t kColumnGap = 4;
constexpr double kToleratedError = 0.01;

// -- Above the tables --------------------------------------------------------------------------------------

/// One unit for all parts, in which their sum can be checked by eye.
class SheetUnit {
 public:
  explicit SheetUnit(std::uint64_t whole)
      : is_small_(whole < (std::uint64_t{10} << 20)), is_large_(whole >= (std::uint64_t{10} << 30)) {}
  std::string name() const { return is_small_ ? "KiB" : is_large_ ? "GiB" : "MiB"; }
  std::string text(std::uint64_t bytes) const {
    const auto size = static_cast<double>(std::uint64_t{1} << (is_small_ ? 10 : is_large_ ? 30 : 20));
    const double number = static_cast<double>(bytes) / size;
    const std::string whole = format_count(static_cast<std::uint64_t>(number));
    if (is_small_) return format_count(static_cast<std::uint64_t>(number + 0.5));
    const std::string decimals = fmt::format("{:.{}f}", number, is_large_ ? 2 : 1);
    return format_count(std::stoull(decimals)) + decimals.substr(decimals.find('.'));
  }

 private:
  bool is_small_, is_large_;
};

/// Appends pieces, and begins a new line where one has no room for the next.
class Wrapper {
 public:
  explicit Wrapper(std::size_t width) : width_(width) {}
  void add(const std::string& text, Style style = Style::kPlain) {
    if (!lines_.back().empty() && width_of(lines_.back()) + width_of(text) > width_)
      lines_.push_back({{std::string(kIndent, ' ')}});
    lines_.back().push_back({text, style});
  }
  std::vector<Line> lines() const { return lines_; }

 private:
  static constexpr std::size_t kIndent = 2;
  std::size_t width_;
  std::vector<Line> lines_ = std::vector<Line>(1);
};

std::string exactness_text(const observer::Exactness& exactness) {
  if (exactness.is_exact) return "exact";
  return fmt::format("± {} blocks", short_count(exactness.moved_blocks));
}

void add_survivors(const observer::Survivors& survivors, Wrapper& wrapper) {
  if (survivors.pinned_bytes == 0) return;
  wrapper.add(fmt::format("{} of free blocks ", short_bytes(survivors.pinned_bytes)), Style::kBad);
  wrapper.add(fmt::format("pinned by {} live ones ", short_count(survivors.blocks)));
  wrapper.add(fmt::format("in {} of slabs", short_bytes(survivors.slab_bytes)));
}

std::vector<Line> totals_lines(const Look& look, std::size_t width) {
  const observer::Totals& totals = look.snapshot.totals;
  Wrapper wrapper(width);
  wrapper.add(fmt::format("{} live blocks, ", short_count(totals.live_blocks)));
  wrapper.add(fmt::format("{} large; ", short_count(totals.large_blocks)));
  if (look.sheet.huge_bytes != 0)
    wrapper.add(fmt::format("{} in huge pages; ", short_bytes(look.sheet.huge_bytes)));
  add_survivors(look.sheet.survivors, wrapper);
  return wrapper.lines();
}

std::vector<Line> header_lines(const Look& look, const TopState& state, std::size_t width) {
  Line title = top_title(look);
  if (state.is_paused) title.push_back({"  paused", Style::kHeading});
  std::vector<Line> lines = {std::move(title)};
  for (Line& line : sheet_lines(look.sheet, width)) lines.push_back(std::move(line));
  for (Line& line : totals_lines(look, width)) lines.push_back(std::move(line));
  for (const observer::Watch& watch : look.watches) lines.push_back({{watch.text(), Style::kBad}});
  lines.emplace_back();
  return lines;
}

Line key_line(const TopState& state) {
  constexpr const char* kViewNames[] = {"overview", "classes", "threads", "pools"};
  Line line;
  for (std::size_t i = 0; i < kTopViews; ++i)
    line.push_back({fmt::format("{} {}  ", i + 1, kViewNames[i]),
                    i == static_cast<std::size_t>(state.view) ? Style::kHeading : Style::kFaint});
  line.push_back({fmt::format("q quit  ? keys  p pause  s by {}", name_of(state.order())), Style::kFaint});
  return line;
}

// -- Views -------------------------------------------------------------------------------------------------

void append(std::vector<Line>& lines, std::vector<Line> more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// Of a panel that is printed: its heading, its first rows, and how many more there are. \param most 0: all
std::vector<Line> printed(const Panel& panel, std::size_t most, std::size_t width) {
  std::vector<Line> lines = panel.lines(width, kAnyHeight);
  if (most == 0 || panel.row_count() <= most) return lines;
  lines.resize(1 + most);
  lines.push_back({{fmt::format("… {} more", panel.row_count() - most), Style::kFaint}});
  return lines;
}

/// Panels below each other, with empty lines between them. Those without rows are left out.
std::vector<Line> stacked(std::vector<Panel> panels, const TopState& state, std::size_t width,
                          std::size_t height, std::size_t first = 0) {
  std::erase_if(panels, [](const Panel& panel) { return panel.row_count() == 0; });
  std::vector<std::size_t> wanted;
  for (const Panel& panel : panels) wanted.push_back(panel.row_count() + 2);
  const std::vector<std::size_t> given =
      height == kAnyHeight ? wanted : shared_lines(wanted, height + 1);  // no line behind the last
  std::vector<Line> lines;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (given[i] < 3) continue;  // no room for a row
    if (!lines.empty()) lines.emplace_back();
    append(lines, height == kAnyHeight ? printed(panels[i], state.most_rows, width)
                                       : panels[i].lines(width, given[i] - 1, i == 0 ? first : 0));
  }
  return lines;
}

std::size_t width_of_widest(const std::vector<Line>& lines) {
  std::size_t width = 0;
  for (const Line& line : lines) width = std::max(width, width_of(line));
  return width;
}

/// The second lines begin at column `at`.
std::vector<Line> side_by_side(std::vector<Line> left, const std::vector<Line>& right, std::size_t at) {
  left.resize(std::max(left.size(), right.size()));
  for (std::size_t i = 0; i < right.size(); ++i) {
    left[i] = filled(std::move(left[i]), at);
    left[i].insert(left[i].end(), right[i].begin(), right[i].end());
  }
  return left;
}

std::vector<Line> overview(const Look& look, const TopState& state, std::size_t width, std::size_t height) {
  const Panel classes = class_panel(look, state.order(), Detail::kShort);
  const Panel threads = thread_panel(look, TopOrder::kBytes);
  const Panel pools = pool_panel(look, TopOrder::kBytes, Detail::kShort);
  if (width < kWidthOfTwoColumns)
    return stacked({classes, pools, threads}, state, width, height, state.first());
  std::vector<Line> left =
      stacked({classes}, state, width - kWidthOfSecondColumn - kColumnGap, height, state.first());
  const std::size_t at = width_of_widest(left) + kColumnGap;
  return side_by_side(std::move(left), stacked({pools, threads}, state, width - at, height), at);
}

std::vector<Line> help_lines() {
  constexpr const char* kKeys[] = {
      "1 2 3 4, Tab     overview, classes, threads and owners, pools and heaps",
      "arrows, PgUp/Dn  scroll",
      "s                sort by another column",
      "p                pause: look at the program no more; again: go on",
      "space            look now",
      "m                map of the program's pages (tarn map)",
      "h                live objects by C++ class (tarn heap)",
      "l                unreachable blocks (tarn leaks)",
      "d                findings, and what to do (tarn doctor)",
      "q                quit",
      "",
      "rounding: around live blocks, up to the next block and the ends of slabs",
      "cached: free blocks that threads keep; depot: those that owners keep for them",
      "pinned: free blocks in slabs of which less than half of the blocks are live",
      "any key: back"};
  std::vector<Line> lines;
  for (const char* text : kKeys) lines.push_back({{text}});
  return lines;
}

std::vector<Line> body_lines(const Look& look, const TopState& state, std::size_t width, std::size_t height) {
  if (state.shows_help) return help_lines();
  switch (state.view) {
    case TopView::kClasses:
      return stacked({class_panel(look, state.order(), Detail::kLong)}, state, width, height, state.first());
    case TopView::kThreads:
      return stacked({thread_panel(look, state.order()), owner_panel(look)}, state, width, height,
                     state.first());
    case TopView::kPools:
      if (look.snapshot.pools.empty()) return {{{"the program has no pools or heaps", Style::kFaint}}};
      return stacked({pool_panel(look, state.order(), Detail::kLong)}, state, width, height, state.first());
    case TopView::kOverview:
      break;
  }
  return overview(look, state, width, height);
}

}  // namespace

TopOrder next_order(TopView view, TopOrder order) {
  switch (order) {
    case TopOrder::kBytes:
      return view == TopView::kThreads ? TopOrder::kRate : TopOrder::kLive;
    case TopOrder::kLive:
      return TopOrder::kRate;
    case TopOrder::kRate:
      if (view == TopView::kThreads) return TopOrder::kBytes;
      return view == TopView::kPools ? TopOrder::kNone : TopOrder::kPinned;
    case TopOrder::kPinned:
      return TopOrder::kNone;
    case TopOrder::kNone:
      break;
  }
  return TopOrder::kBytes;
}

std::string name_of(TopOrder order) {
  constexpr const char* kNames[] = {"bytes", "live", "rate", "pinned", "own order"};
  return kNames[static_cast<std::size_t>(order)];
}

Line top_title(const Look& look) {
  const observer::Snapshot& snapshot = look.snapshot;
  Line title = {{in_single_columns(snapshot.program), Style::kHeading}};
  if (snapshot.pid != 0) title.push_back({fmt::format(" {}", snapshot.pid), Style::kHeading});
  if (look.up_seconds) title.push_back({"  up " + up_time(*look.up_seconds)});
  title.push_back({fmt::format("  tarn {}  ", in_single_columns(snapshot.library_version))});
  title.push_back({exactness_text(snapshot.exactness)});
  if (snapshot.exactness.bad_spans != 0)
    title.push_back({fmt::format("  {} spans unreadable", snapshot.exactness.bad_spans), Style::kBad});
  return title;
}

std::vector<Line> sheet_lines(const Sheet& sheet, std::size_t width) {
  const bool is_resident = sheet.basis == Basis::kResident;
  const std::uint64_t whole = is_resident ? sheet.rss_bytes : sheet.sum();
  const SheetUnit unit(whole);
  Wrapper wrapper(width);
  wrapper.add(fmt::format("{} {} {} = ", is_resident ? "RSS" : "mapped", unit.text(whole), unit.name()),
              Style::kHeading);
  for (const PartName& part : observer::kParts) {
    if (!is_resident && part.part == Part::kOther) continue;
    const bool is_last = part.part == (is_resident ? Part::kOther : Part::kMetadata);
    wrapper.add(fmt::format("{} {}{}", part.title, unit.text(sheet.of(part.part)), is_last ? "" : " | "));
  }
  if (sheet.error() > kToleratedError)
    wrapper.add(fmt::format(" (the parts are {:.1f} % off)", 100 * sheet.error()), Style::kBad);
  return wrapper.lines();
}

std::size_t top_row_count(const Look& look, const TopState& state) {
  switch (state.view) {
    case TopView::kThreads:
      return look.snapshot.threads.size();
    case TopView::kPools:
      return look.snapshot.pools.size();
    case TopView::kOverview:
    case TopView::kClasses:
      break;
  }
  return static_cast<std::size_t>(
      std::count_if(look.snapshot.classes.begin(), look.snapshot.classes.end(),
                    [](const observer::ClassUse& use) { return use.slabs != 0; }));
}

std::vector<Line> top_lines(const Look& look, const TopState& state, std::size_t width, std::size_t height) {
  if (height == 0) return {};
  std::vector<Line> lines = header_lines(look, state, width);
  const bool has_keys = height != kAnyHeight;
  const std::size_t used = lines.size() + (has_keys ? 1 : 0);
  const std::size_t left = has_keys ? height - std::min(height, used) : kAnyHeight;
  append(lines, body_lines(look, state, width, left));
  if (has_keys) {
    lines.resize(height - 1);
    lines.push_back(key_line(state));
  }
  for (Line& line : lines) line = cut(line, width);
  return lines;
}

}  // namespace tarn::tool
