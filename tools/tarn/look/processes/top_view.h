// What `tarn top` shows, as data: what was seen of the program, and how the reader wants to see it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "observer/findings/watches.h"
#include "observer/pages/sheet.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::tool {

/// One look at a program.
struct Look {
  observer::Snapshot snapshot;
  observer::Sheet sheet;
  observer::Rates rates;
  std::optional<double> up_seconds;  // how long the program runs
  std::vector<observer::Watch> watches;
  bool has_ended = false;  // and this was the last look
};

enum class TopView : std::uint8_t { kOverview, kClasses, kThreads, kPools };
inline constexpr std::size_t kTopViews = 4;

/// What the rows of a view are sorted by; the largest come first.
enum class TopOrder : std::uint8_t { kBytes, kLive, kRate, kPinned, kNone };

struct TopState {
  TopView view = TopView::kOverview;
  std::array<TopOrder, kTopViews> orders = {};        // by view
  std::array<std::size_t, kTopViews> first_row = {};  // by view
  bool is_paused = false;
  bool shows_help = false;
  double interval_seconds = 1;
  std::size_t most_rows = 0;  // of a table that is printed; 0: all

  TopOrder& order() { return orders[static_cast<std::size_t>(view)]; }
  TopOrder order() const { return orders[static_cast<std::size_t>(view)]; }
  std::size_t& first() { return first_row[static_cast<std::size_t>(view)]; }
  std::size_t first() const { return first_row[static_cast<std::size_t>(view)]; }
};

/// The order behind another when the reader wants the next one.
TopOrder next_order(TopView view, TopOrder order);
std::string name_of(TopOrder order);

}  // namespace tarn::tool
