// What is watched in a program and costs it time, and who has switched that on: for `tarn doctor` and `top`.
//
// Threads: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "observer/process/source.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

/// What the library's words say.
struct WatchWords {
  std::uint64_t interval = 0;  // bytes between two samples; 0: no profile is on
  bool is_profiled_by_tool = false;
  std::string profile_source;  // who set option profile: "environment", "tarn_profile_start"; printable
  bool is_recording = false, is_recorded_by_tool = false;
};
/// \returns none where the program's library is too old to tell.
WatchWords read_watch_words(const Source& source);

struct Watch {
  std::string_view kind;             // "profile", "recording", or the key of an option
  std::uint64_t interval_bytes = 0;  // of a profile
  std::string by;                    // "a tool", "option check", ...
  std::string cost;                  // in words

  bool is_option() const { return kind != "profile" && kind != "recording"; }
  std::string text() const;
};
std::vector<Watch> watches_of(const WatchWords& words, const Snapshot& snapshot);

}  // namespace tarn::observer
