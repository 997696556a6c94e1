// What is live when a program ends, by site, pool and size, without what is suppressed.
#pragma once
#include <string>
#include <vector>

#include "profile/reports/suppressions.h"
#include "profile/stacks/json.h"
#include "profile/stacks/named_profile.h"

namespace tarn::profile {

/// Blocks of one size that one site took from one pool.
struct Leak {
  Amount amount;
  double block_bytes = 0;
  std::string pool;           // "" = general pool
  std::vector<Frame> frames;  // of the stack with the most bytes, innermost first
  std::size_t stacks = 0;     // that reach the site
};

/// The leaks of a process, from its profile when it ends.
struct LeaksAtEnd {
  std::vector<Leak> leaks;  // by bytes
  Amount total;
  Amount suppressed;
  Amount older;                           // from before the profile was switched on; not counted as leaks
  std::vector<Suppression> suppressions;  // that suppressed something
  std::vector<std::string> unused_suppressions;
  std::vector<std::string> remarks;
};

LeaksAtEnd leaks_at_end(const NamedProfile& profile, Suppressions suppressions);

/// Adds the leaks of another process.
void add_to(LeaksAtEnd& sum, const LeaksAtEnd& report);

/// Whether a run is to fail: a leak is left that nothing suppresses.
enum class LeakVerdict : std::uint8_t { kNone, kLeaks };
LeakVerdict verdict_of(const LeaksAtEnd& report);

struct LeakTextShape {
  std::size_t leaks = 20;   // 0 = all
  std::size_t frames = 8;   // of each
  std::size_t columns = 0;  // 0 = whole names
};
std::string leak_report_text(const LeaksAtEnd& report, const LeakTextShape& shape = {});
/// {"schema": "tarn run --leaks", "version": 1, ...}
Json leak_report_json(const LeaksAtEnd& report);

}  // namespace tarn::profile
