// A heap profile as documents for other programs and for a reader's browser.
#pragma once
#include <cstdint>
#include <string>

#include "profile/stacks/json.h"
#include "profile/stacks/named_profile.h"

namespace tarn::profile {

/// The whole profile: every stack with its names and figures. {"schema": "tarn profile", "version": 1,
/// ...}. Fields are added without a new version.
Json profile_json(const NamedProfile& profile);

/// A flame graph as one HTML file that needs nothing else.
std::string flame_page(const NamedProfile& profile);

/// Folded stacks, a line each: "main;build;grow 4096". flamegraph.pl, inferno and speedscope read them. By
/// name; the number is bytes. A ";" of a name is written as ":".
std::string folded_text(const NamedProfile& profile, Measure measure);

/// The file format of speedscope.app: two profiles, live and allocated bytes.
Json speedscope_json(const NamedProfile& profile);

/// What was live over the time, for Perfetto and chrome://tracing (Trace Event Format): a counter of all, and
/// one with a series for each of the greatest sites; when each was at its peak. Times are microseconds since
/// the start. Of a profile with fewer than three looks it says that alone.
Json timeline_json(const NamedProfile& profile);

/// For `go tool pprof` and all that read its format (profile.proto, compressed by gzip): the file's bytes.
/// Sample types are those of Go's heap profile; the one shown first is inuse_space.
/// \param time_ns when the profile was taken, since 1970
std::string pprof_file(const NamedProfile& profile, std::int64_t time_ns);

}  // namespace tarn::profile
