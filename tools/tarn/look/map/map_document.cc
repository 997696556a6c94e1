// Snapshot and map to JSON.
#include "look/map/map_document.h"

#include <map>
#include <tuple>

#include "look/map/map_colours.h"
#include "map_page_assets.h"
#include "observer/pages/pinners.h"
#include "observer/text/json_text.h"

namespace tarn::tool {
namespace {

using observer::CellGroup;
using observer::kNone;
using observer::MapPart;
using observer::PageCell;
using observer::PageMap;
using observer::PinnedBy;
using observer::Pinner;
using observer::Residency;
using observer::Snapshot;
using observer::Span;

constexpr std::uint64_t kGrain = 4096;  // addresses and sizes of parts are counted in these

const char* name_of(CellGroup::Kind kind) {
  constexpr const char* kNames[] = {"class", "pool", "large", "free"};
  return kNames[static_cast<std::size_t>(kind)];
}

Json index_or_null(std::uint32_t index) { return index == kNone ? Json() : Json(index); }

Json totals_json(const PageMap& map, const Snapshot& snapshot, const Residency* residency) {
  return {{"live_bytes", snapshot.totals.live_bytes},
          {"mapped_bytes", snapshot.totals.mapped_bytes},
          {"free_dirty_bytes", snapshot.totals.free_dirty_bytes},
          {"free_clean_bytes", snapshot.totals.free_clean_bytes},
          {"resident_bytes", map.resident_bytes()},
          {"idle_bytes", map.idle_bytes()},
          {"rss_bytes", residency == nullptr ? Json() : Json(residency->rss_bytes())}};
}

Json pinner_json(const Pinner& one, const Snapshot& snapshot) {
  return {{"name", name_of(one, snapshot)},
          {"index", one.index},
          {"pinned_bytes", one.pinned_bytes},
          {"survivors", one.survivors},
          {"survivor_bytes", one.survivor_bytes},
          {"blocks", one.blocks},
          {"spans", one.spans},
          {"bytes", one.bytes}};
}

Json pinners_json(PinnedBy by, const Snapshot& snapshot, const Residency* residency) {
  Json list = Json::array();
  for (const Pinner& one : pinners_by(by, snapshot, residency)) list.push_back(pinner_json(one, snapshot));
  return list;
}

Json all_pinners_json(const Snapshot& snapshot, const Residency* residency) {
  return {{"classes", pinners_json(PinnedBy::kClass, snapshot, residency)},
          {"pools", pinners_json(PinnedBy::kPool, snapshot, residency)},
          {"owners", pinners_json(PinnedBy::kOwner, snapshot, residency)}};
}

Json names_of_owners(const Snapshot& snapshot) {
  Json names = Json::array();
  for (std::uint32_t i = 0; i < snapshot.owners.size(); ++i) names.push_back(name_of_owner(snapshot, i));
  return names;
}

Json names_of_pools(const Snapshot& snapshot) {
  Json names = Json::array();
  for (std::uint32_t i = 0; i < snapshot.pools.size(); ++i) names.push_back(name_of_pool(snapshot, i));
  return names;
}

Json colours_json(const MapColours& colours) {
  Json list = Json::array();
  for (const MapColour& one : colours.colours)
    list.push_back(
        {{"name", one.name}, {"hue", one.hue}, {"bytes", one.bytes}, {"live_bytes", one.live_bytes}});
  return list;
}

Json groups_json(const PageMap& map, const MapColours& colours) {
  Json groups = Json::array();
  for (std::size_t i = 0; i < map.groups.size(); ++i) {
    const CellGroup& group = map.groups[i];
    groups.push_back({{"kind", name_of(group.kind)},
                      {"index", group.index},
                      {"name", group.name},
                      {"block_bytes", group.block_bytes},
                      {"parts", group.parts},
                      {"bytes", group.bytes},
                      {"live_bytes", group.live_bytes},
                      {"resident_bytes", group.resident_bytes},
                      {"colour", index_or_null(colours.of_group[i])}});
  }
  return groups;
}

/// What the two forms have in common.
Json head_json(const PageMap& map, const Snapshot& snapshot, const Residency* residency) {
  Json json = {{"program", snapshot.program},
               {"pid", snapshot.pid},
               {"time", snapshot.time},
               {"page_bytes", snapshot.page_bytes},
               {"chunk_bytes", snapshot.chunk_bytes},
               {"is_residency_known", map.is_residency_known},
               {"is_exact", snapshot.exactness.is_exact},
               {"totals", totals_json(map, snapshot, residency)}};
  const MapColours colours = colours_of(map);
  json["colours"] = colours_json(colours);
  json["groups"] = groups_json(map, colours);
  json["pinners"] = all_pinners_json(snapshot, residency);
  json["owners"] = names_of_owners(snapshot);
  json["pools"] = names_of_pools(snapshot);
  return observer::document_json("tarn map", 1, snapshot.library_version, json);
}

Json span_json(const Span& span, const Residency* residency) {
  Json json = {{"start", span.start},
               {"bytes", span.bytes},
               {"use", name_of(span.use)},
               {"class", span.size_class == 0 ? Json() : Json(span.size_class)},
               {"pool", index_or_null(span.pool)},
               {"owner", index_or_null(span.owner)},
               {"block_bytes", span.block_bytes},
               {"blocks", span.block_count},
               {"live", span.live},
               {"cached", span.cached},
               {"live_bytes", span.live_bytes}};
  if (residency != nullptr) json["resident_bytes"] = residency->bytes_in(span.start, span.end());
  return json;
}

/// A column of the page's data.
class PackedColumn {
 public:
  void add(std::uint64_t value) {
    if (values_.empty() || value != last_) {
      values_.push_back(value);
      repeats_ = 0;
    } else if (++repeats_ == 1) {
      values_.push_back(-1);
    } else {
      values_.back() = -repeats_;
    }
    last_ = value;
  }
  Json take() { return std::move(values_); }

 private:
  Json values_ = Json::array();
  std::uint64_t last_ = 0;
  std::int64_t repeats_ = 0;
};

/// What spans have in common; most spans are of few kinds.
using Kind =
    std::tuple<std::string, std::uint32_t, std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t, bool>;

class PageData {
 public:
  PageData(const PageMap& map, const Snapshot& snapshot) : map_(map), snapshot_(snapshot) {}

  void add_to(Json& json) {
    for (const MapPart& part : map_.parts) add(part);
    for (const PageCell& cell : map_.cells) add(cell);
    json["kinds"] = std::move(kinds_);
    json["parts"] = {{"gap", gap_.take()},   {"grains", grains_.take()}, {"kind", kind_.take()},
                     {"live", live_.take()}, {"cached", cached_.take()}, {"bytes", std::move(odd_bytes_)}};
    json["cells"] = {{"live", live_bytes_.take()}, {"resident", resident_.take()}, {"idle", idle_.take()}};
  }

 private:
  void add(const MapPart& part) {
    const std::uint64_t first = part.start / kGrain, grains = (part.bytes + kGrain - 1) / kGrain;
    gap_.add(first > end_ ? first - end_ : 0);
    grains_.add(grains);
    end_ = first + grains;
    kind_.add(number_of(kind_of(part)));
    const bool is_span = part.span != kNone;
    live_.add(is_span ? snapshot_.spans[part.span].live : 0);
    cached_.add(is_span ? snapshot_.spans[part.span].cached : 0);
    if (is_span) add_odd_bytes(snapshot_.spans[part.span]);
    ++part_count_;
  }

  /// Where the kind and the count do not tell the bytes.
  void add_odd_bytes(const Span& span) {
    if (span.block_count == 1)
      odd_bytes_.push_back({part_count_, span.block_bytes});
    else if (span.use == observer::SpanUse::kMixedPage)
      odd_bytes_.push_back({part_count_, span.live_bytes});
  }

  void add(const PageCell& cell) {
    live_bytes_.add(cell.live_bytes);
    resident_.add(cell.resident_bytes / kGrain);
    idle_.add(cell.idle_bytes());
  }

  Kind kind_of(const MapPart& part) const {
    if (part.span == kNone) {
      const bool is_dirty = snapshot_.free_runs[part.free_run].is_dirty;
      return {is_dirty ? "kept" : "given back", part.group, 0, 0, kNone, kNone, false};
    }
    const Span& span = snapshot_.spans[part.span];
    const std::uint64_t block = span.block_count == 1 ? 0 : span.block_bytes;
    return {std::string(name_of(span.use)),
            part.group,
            block,
            span.use == observer::SpanUse::kMixedPage ? 0 : span.block_count,
            span.owner,
            span.pool,
            span.is_dense};
  }

  std::uint64_t number_of(const Kind& kind) {
    const auto [place, is_new] = numbers_.try_emplace(kind, numbers_.size());
    if (is_new) {
      const auto& [use, group, block, count, owner, pool, is_dense] = kind;
      kinds_.push_back({{"use", use},
                        {"group", group},
                        {"block", block},
                        {"count", count},
                        {"owner", index_or_null(owner)},
                        {"pool", index_or_null(pool)},
                        {"dense", is_dense},
                        {"mixed", use == name_of(observer::SpanUse::kMixedPage)}});
    }
    return place->second;
  }

  const PageMap& map_;
  const Snapshot& snapshot_;
  std::map<Kind, std::uint64_t> numbers_;
  Json kinds_ = Json::array(), odd_bytes_ = Json::array();
  PackedColumn gap_, grains_, kind_, live_, cached_, live_bytes_, resident_, idle_;
  std::uint64_t end_ = 0;  // of the part before, in grains
  std::uint64_t part_count_ = 0;
};

}  // namespace

Json map_json(const PageMap& map, const Snapshot& snapshot, const Residency* residency) {
  Json json = head_json(map, snapshot, residency);
  json["spans"] = Json::array();
  for (const Span& span : snapshot.spans) json["spans"].push_back(span_json(span, residency));
  json["free_runs"] = Json::array();
  for (const observer::FreeRun& run : snapshot.free_runs)
    json["free_runs"].push_back({{"start", run.start}, {"bytes", run.bytes}, {"is_dirty", run.is_dirty}});
  return json;
}

Json map_page_data(const PageMap& map, const Snapshot& snapshot, const Residency* residency) {
  Json json = head_json(map, snapshot, residency);
  PageData(map, snapshot).add_to(json);
  return json;
}

std::string map_page(const observer::PageMap& map, const observer::Snapshot& snapshot,
                     const observer::Residency* residency) {
  return observer::page_text({kMapPageFrame, kMapPageStyle, kMapPageScript},
                             map_page_data(map, snapshot, residency));
}

}  // namespace tarn::tool
