// The screen of `tarn top` as lines of text with styles: a pure function, so that the same lines are drawn,
// printed to a pipe and compared by tests.
#pragma once
#include <vector>

#include "look/processes/top_view.h"
#include "look/top/panel.h"
#include "report/results.h"
#include "report/table.h"

namespace tarn::tool {

inline constexpr std::size_t kAnyHeight = SIZE_MAX;

/// \param height kAnyHeight: all rows, and no line of keys. \returns at most `height` lines, none wider than
/// `width`.
std::vector<Line> top_lines(const Look& look, const TopState& state, std::size_t width, std::size_t height);

/// Of the view: how many rows can be scrolled over.
std::size_t top_row_count(const Look& look, const TopState& state);

/// "game_server 4711  up 3d 04:12  tarn 0.2  exact"
Line top_title(const Look& look);

/// "RSS 2,911 MiB = live 1,204 | rounding 71 | ...", broken between parts.
std::vector<Line> sheet_lines(const observer::Sheet& sheet, std::size_t width);

// -- The tables: size classes, threads, owners, pools ----------------------------------------------------

enum class Detail : std::uint8_t { kShort, kLong };

Panel class_panel(const Look& look, TopOrder order, Detail detail);
/// Threads with what their owners have.
Panel thread_panel(const Look& look, TopOrder order);
Panel owner_panel(const Look& look);
Panel pool_panel(const Look& look, TopOrder order, Detail detail);

// -- What `tarn top --json` prints; docs/look/top.md describes it ----------------------------------------

/// Of "schema_version": grows when a member goes or means something else.
inline constexpr int kTopSchemaVersion = 1;

Json top_json(const Look& look);

}  // namespace tarn::tool
