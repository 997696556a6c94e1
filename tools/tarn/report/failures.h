// Runs that failed, told to a reader.
#pragma once
#include <string>

#include "engine/rounds/entry.h"
#include "system/terminal/styled_text.h"

namespace tarn::tool {

/// "FAILED jemalloc: exit status 3 (round 2)" and the last lines of its standard error.
std::string failure_paragraph(const std::string& who, const Failure& failure, Colour colour);

/// A paragraph for each entry that failed, or a single one if all failed alike; empty if none did.
template <class Run>
std::string failure_report(const Entries<Run>& entries, Colour colour) {
  const auto is_like_first = [&](const Entry<Run>& entry) {
    return entry.failure && entries.front().failure && entry.failure->what == entries.front().failure->what;
  };
  if (entries.size() > 1 && std::all_of(entries.begin(), entries.end(), is_like_first))
    return failure_paragraph("under every allocator alike", *entries.front().failure, colour);
  std::string text;
  for (const Entry<Run>& entry : entries)
    if (entry.failure) text += failure_paragraph(entry.allocator.name, *entry.failure, colour);
  return text;
}

}  // namespace tarn::tool
