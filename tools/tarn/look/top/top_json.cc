#include "look/top/top_lines.h"

namespace tarn::tool {
namespace {

using observer::Snapshot;

Json limit(std::uint64_t value) { return value == observer::kNoLimit ? Json() : Json(value); }

Json index(std::uint32_t value) { return value == observer::kNone ? Json() : Json(value); }

Json rate(const Look& look, double a_second) { return look.rates.seconds == 0 ? Json() : Json(a_second); }

Json to_json(const observer::Survivors& survivors) {
  return {{"blocks", survivors.blocks},
          {"slab_bytes", survivors.slab_bytes},
          {"pinned_bytes", survivors.pinned_bytes}};
}

Json exactness_json(const observer::Exactness& exactness) {
  return {{"is_exact", exactness.is_exact},
          {"moved_blocks", exactness.moved_blocks},
          {"slow_calls", exactness.slow_calls},
          {"bad_spans", exactness.bad_spans},
          {"seconds", exactness.seconds}};
}

Json sheet_json(const observer::Sheet& sheet) {
  Json parts = Json::object();
  for (const observer::PartName& part : observer::kParts) parts[part.key] = sheet.of(part.part);
  return {{"basis", sheet.basis == observer::Basis::kResident ? "resident" : "mapped"},
          {"rss_bytes", sheet.rss_bytes},
          {"sum_bytes", sheet.sum()},
          {"parts", parts},
          {"unnamed_bytes", sheet.unnamed_bytes},
          {"huge_bytes", sheet.huge_bytes},
          {"survivors", to_json(sheet.survivors)}};
}

Json totals_json(const observer::Totals& totals) {
  return {{"live_blocks", totals.live_blocks},
          {"live_bytes", totals.live_bytes},
          {"large_blocks", totals.large_blocks},
          {"large_bytes", totals.large_bytes},
          {"in_threads_bytes", totals.in_threads_bytes},
          {"depot_bytes", totals.depot_bytes},
          {"free_in_slabs_bytes", totals.free_in_slabs_bytes},
          {"free_in_pools_bytes", totals.free_in_pools_bytes},
          {"free_dirty_bytes", totals.free_dirty_bytes},
          {"free_clean_bytes", totals.free_clean_bytes},
          {"record_bytes", totals.record_bytes},
          {"mapped_bytes", totals.mapped_bytes}};
}

Json classes_json(const Look& look) {
  Json json = Json::array();
  for (std::size_t i = 0; i < look.snapshot.classes.size(); ++i) {
    const observer::ClassUse& use = look.snapshot.classes[i];
    if (use.slabs == 0) continue;
    json.push_back({{"class", i},
                    {"block_bytes", use.block_bytes},
                    {"stride", use.stride},
                    {"pool", index(use.pool)},
                    {"slabs", use.slabs},
                    {"slab_bytes", use.slab_bytes},
                    {"blocks", use.blocks},
                    {"live", use.live},
                    {"in_threads", use.in_threads},
                    {"in_depots", use.parked},
                    {"free", use.free},
                    {"bytes_by_fill", use.bytes_by_fill},
                    {"survivors", to_json(look.sheet.survivors_of_class[i])},
                    {"live_per_second", rate(look, look.rates.live_of_class[i])}});
  }
  return json;
}

Json threads_json(const Look& look) {
  Json json = Json::array();
  for (std::size_t i = 0; i < look.snapshot.threads.size(); ++i) {
    const observer::Thread& thread = look.snapshot.threads[i];
    json.push_back({{"number", thread.number},
                    {"owner", index(thread.owner)},
                    {"is_alive", thread.is_alive},
                    {"cached_blocks", thread.cached_blocks},
                    {"cached_bytes", thread.cached_bytes},
                    {"refills", thread.refills},
                    {"flushes", thread.flushes},
                    {"refills_per_second", rate(look, look.rates.threads[i].refills)},
                    {"flushes_per_second", rate(look, look.rates.threads[i].flushes)}});
  }
  return json;
}

Json owners_json(const Look& look) {
  Json json = Json::array();
  for (std::size_t i = 0; i < look.snapshot.owners.size(); ++i) {
    const observer::Owner& owner = look.snapshot.owners[i];
    json.push_back({{"owner", i},
                    {"threads", owner.threads},
                    {"is_orphan", owner.is_orphan},
                    {"is_shared", owner.is_shared_one},
                    {"is_of_pool", owner.is_of_pool},
                    {"slab_bytes", owner.slab_bytes},
                    {"live_bytes", owner.live_bytes},
                    {"free_bytes", owner.free_bytes},
                    {"spare_bytes", owner.spare_bytes},
                    {"depot_bytes", owner.parked_bytes},
                    {"cached_span_bytes", owner.cached_span_bytes},
                    {"pending_slabs", owner.pending},
                    {"slow_calls", owner.slow_calls},
                    {"slabs_made", owner.slabs_made},
                    {"slabs_ended", owner.slabs_ended},
                    {"remote_batches", owner.remote_batches},
                    {"refills_per_second", rate(look, look.rates.owners[i].refills)},
                    {"flushes_per_second", rate(look, look.rates.owners[i].flushes)},
                    {"remote_batches_per_second", rate(look, look.rates.owners[i].remote_batches)}});
  }
  return json;
}

Json pools_json(const Look& look) {
  Json json = Json::array();
  for (std::size_t i = 0; i < look.snapshot.pools.size(); ++i) {
    const observer::Pool& pool = look.snapshot.pools[i];
    json.push_back(
        {{"number", pool.number},
         {"kind", pool.kind_name},
         {"name", pool.name},
         {"parent", index(pool.parent)},
         {"block_bytes", pool.block_bytes},
         {"live", pool.live},
         {"live_bytes", pool.live_bytes},
         {"cached", pool.cached},
         {"capacity", pool.capacity},
         {"mapped_bytes", pool.mapped_bytes},
         {"resident_bytes",
          look.sheet.basis == observer::Basis::kResident ? Json(look.sheet.bytes_of_pool[i]) : Json()},
         {"peak_bytes", pool.known_peak() == 0 ? Json() : Json(pool.known_peak())},
         {"peak_is_a_bound", pool.is_peak_a_bound},
         {"charged_bytes", pool.charged_bytes},
         {"limit_blocks", limit(pool.largest_count)},
         {"soft_limit_bytes", limit(pool.soft_limit)},
         {"hard_limit_bytes", limit(pool.hard_limit)},
         {"mapped_limit_bytes", limit(pool.mapped_limit)},
         {"refusals", pool.refusals},
         {"live_per_second", rate(look, look.rates.live_of_pool[i])}});
  }
  return json;
}

Json watches_json(const Look& look) {
  Json json = Json::array();
  for (const observer::Watch& watch : look.watches)
    json.push_back({{"kind", watch.kind},
                    {"interval_bytes", watch.interval_bytes},
                    {"by", watch.by},
                    {"cost", watch.cost}});
  return json;
}

}  // namespace

Json top_json(const Look& look) {
  const Snapshot& snapshot = look.snapshot;
  Json json = {{"program", snapshot.program},
               {"pid", snapshot.pid},
               {"library_file", snapshot.library},
               {"time", snapshot.time},
               {"up_seconds", look.up_seconds ? Json(*look.up_seconds) : Json()},
               {"exactness", exactness_json(snapshot.exactness)},
               {"sheet", sheet_json(look.sheet)},
               {"totals", totals_json(snapshot.totals)},
               {"rate_seconds", look.rates.seconds},
               {"classes", classes_json(look)},
               {"threads", threads_json(look)},
               {"owners", owners_json(look)},
               {"pools", pools_json(look)},
               {"watches", watches_json(look)}};
  Json counters = Json::object(), options = Json::object();
  for (const observer::Counter& counter : snapshot.counters) counters[counter.name] = counter.value;
  for (const observer::OptionValue& option : snapshot.options) options[option.key] = option.value;
  json["counters"] = counters;
  json["options"] = options;
  return observer::document_json("tarn top", kTopSchemaVersion, snapshot.library_version, json);
}

}  // namespace tarn::tool
