// The tables of `tarn top`: size classes, threads, owners, pools.
#pragma once
#include "look/processes/top_view.h"
#include "look/top/panel.h"

namespace tarn::tool {

enum class Detail : std::uint8_t { kShort, kLong };

Panel class_panel(const Look& look, TopOrder order, Detail detail);
/// Threads with what their owners have.
Panel thread_panel(const Look& look, TopOrder order);
Panel owner_panel(const Look& look);
Panel pool_panel(const Look& look, TopOrder order, Detail detail);

}  // namespace tarn::tool
