// Contenders from the programs' offers and the allocators installed.
#include "bench/rows/contenders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <string_view>

#include "base/options/size_class_presets.h"
#include "bench/rows/catalogue.h"
#include "system/files/usage_error.h"

namespace tarn::tool {
namespace {

struct KindName {
  ContenderKind kind;
  const char* name;
};
constexpr std::array kKindNames = {
    KindName{ContenderKind::kTarn, "tarn"},          KindName{ContenderKind::kTarnInline, "tarn-inline"},
    KindName{ContenderKind::kTarnPool, "tarn-pool"}, KindName{ContenderKind::kTarnPreset, "tarn-preset"},
    KindName{ContenderKind::kSystem, "system"},      KindName{ContenderKind::kGeneral, "general"},
    KindName{ContenderKind::kInline, "inline"},      KindName{ContenderKind::kPool, "pool"}};

constexpr const char* kPresetGroup = "waste";

using Rows = std::vector<std::pair<BenchOffer, std::vector<BenchRow>>>;

/// "boost" of "boost-pool": what a user may call all pools of a library.
std::string family_of(const std::string& name) { return name.substr(0, name.find('-')); }

bool is_named(const BenchOffer& offer, const std::string& word) {
  if (offer.kind == "malloc" || offer.contestant == word) return offer.kind != "malloc";
  return offer.kind != "inline" && family_of(offer.contestant) == word;  // "mimalloc" is the preloaded one
}

bool is_named_by_any(const BenchOffer& offer, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return is_named(offer, word); });
}

bool is_of_pools(const std::string& word, const std::vector<BenchOffer>& offers) {
  return std::any_of(offers.begin(), offers.end(),
                     [&](const BenchOffer& offer) { return is_named(offer, word); });
}

std::string names_of_pools(const std::vector<BenchOffer>& offers) {
  std::set<std::string> families;
  for (const BenchOffer& offer : offers)
    if (offer.kind == "pool") families.insert(family_of(offer.contestant));
  return fmt::format("{}", fmt::join(families, ", "));
}

/// The words of --with and --without, told apart: general allocators here, pools there.
struct Words {
  Selection general;
  std::vector<std::string> with_pools;
  std::vector<std::string> without_pools;
  bool is_with_all_pools = false;
};

Words told_apart(const Selection& names, const std::vector<BenchOffer>& offers) {
  Words words;
  words.is_with_all_pools = names.with.empty();
  for (const std::string& word : names.with) {
    if (word == "all") words.is_with_all_pools = true;
    if (word != kTarnName && is_of_pools(word, offers))
      words.with_pools.push_back(word);
    else
      words.general.with.push_back(word);
  }
  if (!names.with.empty() && words.general.with.empty()) words.general.with.emplace_back("none");
  for (const std::string& word : names.without) {
    if (word == kTarnName || !is_of_pools(word, offers)) words.general.without.push_back(word);
    if (is_of_pools(word, offers)) words.without_pools.push_back(word);
  }
  return words;
}

/// \why glibc may be left out here: no row is judged by its output
std::vector<Allocator> general_allocators(Selection names, const std::vector<BenchOffer>& offers) {
  const auto is_system = [](const std::string& word) { return word == kSystemName || word == "system"; };
  const bool is_without_system = std::erase_if(names.without, is_system) != 0;
  try {
    std::vector<Allocator> chosen = select_allocators(names, library_directories());
    if (is_without_system)
      std::erase_if(chosen, [](const Allocator& allocator) { return allocator.is_system(); });
    return chosen;
  } catch (const UsageError& error) {
    const std::string text = error.what();
    if (!text.starts_with("unknown allocator")) throw;
    throw UsageError(fmt::format("{}; or a pool: {}", text, names_of_pools(offers)));
  }
}

bool is_meant(const std::string& word, const std::string& group_name) {
  const GroupInfo* const group = find_group(group_name);
  return group_name.starts_with(word) ||
         (group != nullptr && std::string_view(group->source).starts_with(word));
}

bool is_asked_for(const BenchRow& row, const BenchSelection& selection) {
  if (row.is_cold ? !selection.with_cold : !selection.with_warm) return false;
  if (selection.only.empty()) return selection.with_waiting || !waits_for_seconds(row.group);
  return std::any_of(selection.only.begin(), selection.only.end(),
                     [&](const std::string& word) { return is_meant(word, row.group); });
}

bool are_traces_asked_for(const BenchSelection& selection) {
  return std::any_of(std::begin(kTraceGroups), std::end(kTraceGroups), [&](const char* group) {
    BenchRow row;
    row.group = group;
    return is_asked_for(row, selection);
  });
}

void add_rows(BenchContender& contender, const BenchOffer& offer, const std::vector<BenchRow>& rows,
              const BenchSelection& selection) {
  for (const BenchRow& row : rows) {
    if (!is_asked_for(row, selection)) continue;
    BenchContender::Part& part = contender.groups[row.group];
    part.offer = offer;
    part.rows.push_back(row);
  }
}

BenchContender general_contender(const Allocator& allocator, const Rows& rows,
                                 const BenchSelection& selection, SignalWatch& signals) {
  BenchContender contender = {.name = allocator.name,
                              .kind = allocator.is_system()         ? ContenderKind::kSystem
                                      : allocator.name == kTarnName ? ContenderKind::kTarn
                                                                    : ContenderKind::kGeneral,
                              .version = version_of(allocator, signals),
                              .library = allocator.library};
  for (const auto& [offer, of_offer] : rows)
    if (offer.kind == "malloc") add_rows(contender, offer, of_offer, selection);
  return contender;
}

/// tarn with each preset of size classes but the default, where the preset is what is measured.
std::vector<BenchContender> preset_contenders(const BenchContender& tarn) {
  std::vector<BenchContender> presets;
  const auto part = tarn.groups.find(kPresetGroup);
  if (part == tarn.groups.end()) return presets;
  for (const internal::SizeClassPreset& preset : internal::kSizeClassPresets) {
    if (&preset == internal::kSizeClassPresets) continue;
    BenchContender contender = tarn;
    contender.name = fmt::format("{}-{}", kTarnName, preset.name);
    contender.kind = ContenderKind::kTarnPreset;
    contender.settings = {{"TARN_CLASSES", preset.name}};
    contender.groups = {*part};
    presets.push_back(std::move(contender));
  }
  return presets;
}

std::vector<BenchContender> pool_contenders(const Words& words, const Rows& rows,
                                            const BenchSelection& selection) {
  std::vector<BenchContender> contenders;
  for (const auto& [offer, of_offer] : rows) {
    if (offer.kind == "malloc" || is_named_by_any(offer, words.without_pools)) continue;
    const ContenderKind kind = kind_of(offer.kind);
    if (!is_ours(kind) && !words.is_with_all_pools && !is_named_by_any(offer, words.with_pools)) continue;
    const auto same =
        std::find_if(contenders.begin(), contenders.end(),
                     [&](const BenchContender& contender) { return contender.name == offer.contestant; });
    BenchContender& contender = same != contenders.end() ? *same : contenders.emplace_back();
    contender.name = offer.contestant;
    contender.kind = kind;
    contender.is_synchronised = offer.is_synchronised;
    contender.version = offer.library;
    add_rows(contender, offer, of_offer, selection);
  }
  return contenders;
}

void require_distinct_names(const std::vector<BenchContender>& contenders) {
  std::set<std::string> names;
  for (const BenchContender& contender : contenders)
    if (!names.insert(contender.name).second)
      throw UsageError(
          fmt::format("two contenders are called '{}': write NAME=PATH to tell them apart", contender.name));
}

void require_known_groups(const BenchSelection& selection, const Rows& rows, const BenchTraces& traces) {
  for (const std::string& word : selection.only) {
    BenchSelection alone;
    alone.only = {word};
    const bool is_known = std::any_of(rows.begin(), rows.end(), [&](const auto& part) {
      return std::any_of(part.second.begin(), part.second.end(),
                         [&](const BenchRow& row) { return is_asked_for(row, alone); });
    });
    if (is_known) continue;
    if (const std::string why = traces.absence();
        !why.empty() && std::string_view(kTraceGroups[1]).starts_with(word))
      throw UsageError(fmt::format("--only {}: {}", word, why));
    std::vector<std::string> names;
    for (const SourceInfo& source : bench_sources()) names.emplace_back(source.id);
    for (const GroupInfo& group : bench_groups())
      if (std::string_view(group.source).starts_with("ours")) names.emplace_back(group.name);
    throw UsageError(
        fmt::format("--only {}: no benchmark of that name at these threads and sizes; there are {}", word,
                    fmt::join(names, ", ")));
  }
}

}  // namespace

const char* name_of(ContenderKind kind) {
  for (const KindName& one : kKindNames)
    if (one.kind == kind) return one.name;
  return "";
}

ContenderKind kind_of(const std::string& name) {
  for (const KindName& one : kKindNames)
    if (name == one.name) return one.kind;
  throw std::out_of_range("no kind of contender: " + name);
}

std::vector<BenchContender> select_contenders(const BenchSelection& selection, const BenchShape& shape,
                                              BenchTraces& traces, SignalWatch& signals) {
  std::vector<BenchOffer> offers;
  for (const std::string& program : find_bench_programs())
    for (BenchOffer& offer : offers_of(program, signals)) offers.push_back(std::move(offer));
  const Words words = told_apart(selection.names, offers);
  const std::vector<Allocator> allocators = general_allocators(words.general, offers);
  Rows rows;
  for (const BenchOffer& offer : offers) rows.emplace_back(offer, rows_of(offer, shape, signals));
  if (are_traces_asked_for(selection)) {
    traces.read(shape);
    if (!traces.rows().empty()) rows.emplace_back(traces.offer(), traces.rows());
  }
  require_known_groups(selection, rows, traces);

  std::vector<BenchContender> chosen;
  for (const Allocator& allocator : allocators)
    chosen.push_back(general_contender(allocator, rows, selection, signals));
  const auto tarn = std::find_if(chosen.begin(), chosen.end(), [](const BenchContender& contender) {
    return contender.kind == ContenderKind::kTarn;
  });
  if (tarn != chosen.end())
    for (BenchContender& preset : preset_contenders(*tarn)) chosen.push_back(std::move(preset));
  for (BenchContender& pool : pool_contenders(words, rows, selection)) chosen.push_back(std::move(pool));
  std::erase_if(chosen, [](const BenchContender& contender) { return contender.groups.empty(); });
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const BenchContender& a, const BenchContender& b) { return a.kind < b.kind; });
  require_distinct_names(chosen);
  if (chosen.empty()) throw UsageError("nothing is left to run at these threads, sizes and names");
  return chosen;
}

std::vector<std::string> groups_of(const std::vector<BenchContender>& contenders) {
  std::vector<std::string> in_order;
  for (const GroupInfo& known : bench_groups()) {
    std::set<std::pair<std::size_t, std::string>> names;  // 001_1024 before 001_16344
    for (const BenchContender& contender : contenders)
      for (const auto& [group, part] : contender.groups)
        if (find_group(group) == &known) names.emplace(group.size(), group);
    for (const auto& [length, name] : names) in_order.push_back(name);
  }
  return in_order;
}

}  // namespace tarn::tool
