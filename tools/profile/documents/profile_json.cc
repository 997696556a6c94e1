#include "profile/documents/profile_json.h"

namespace tarn::profile {
namespace {

/// As `tarn classes` reads them.
Json sizes_json(const std::vector<LiveSize>& sizes) {
  Json json = Json::array();
  Rounding count;
  for (const LiveSize& live : sizes) json.push_back({{"size", live.size}, {"count", count(live.count)}});
  return json;
}

}  // namespace

Json profile_json(const NamedProfile& profile) {
  const HeapProfile& raw = profile.raw();
  Json json = {{"format", "tarn-heap-profile"},
               {"version", 1},
               {"program", profile.program()},
               {"pid", raw.pid},
               {"seconds", std::isfinite(raw.seconds) ? raw.seconds : 0},
               {"interval_bytes", raw.interval_bytes},
               {"lost_samples", raw.lost_samples},
               {"live", to_json(profile.total(Measure::kLive))},
               {"allocated", to_json(profile.total(Measure::kAllocated))},
               {"remarks", profile.remarks()},
               {"live_sizes", sizes_json(raw.live_sizes)},
               {"stacks", Json::array()}};
  Rounding live_blocks, live_bytes, blocks, bytes;
  for (const NamedStack& stack : profile.stacks())
    json["stacks"].push_back({{"pool", pool_json(stack.pool)},
                              {"older", stack.is_older},
                              {"live", to_json(stack.live, live_blocks, live_bytes)},
                              {"allocated", to_json(stack.allocated, blocks, bytes)},
                              {"frames", to_json(stack.frames())}});
  return json;
}

}  // namespace tarn::profile
