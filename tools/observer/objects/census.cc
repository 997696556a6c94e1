// The census: first words of all live blocks, read in bulk, and their names.
#include "observer/objects/census.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <map>
#include <thread>
#include <tuple>
#include <unordered_map>

#include "observer/objects/joined_reader.h"

namespace tarn::observer {
namespace {

struct Key {
  Address table = 0;              // what the first word says, where it may be a virtual table
  std::uint64_t block_bytes = 0;  // counted_size
  std::uint32_t pool = kNone;
  bool operator==(const Key&) const = default;
};

struct HashOfKey {
  std::size_t operator()(const Key& key) const {
    return (key.table ^ key.block_bytes << 32 ^ key.pool) * 0x9e3779b97f4a7c15U >> 16;
  }
};

struct Sum {
  std::uint64_t blocks = 0, bytes = 0;
  void add(const Sum& other) {
    blocks += other.blocks;
    bytes += other.bytes;
  }
};

using Sums = std::unordered_map<Key, Sum, HashOfKey>;

bool is_sensitive(const Snapshot& snapshot, const Span& span) {
  return span.pool != kNone && snapshot.pools[span.pool].is_sensitive;
}

/// Counts the blocks of some of the spans.
class BlockCounter {
 public:
  BlockCounter(const Source& source, const Snapshot& snapshot, const ClassNames& names)
      : snapshot_(snapshot), names_(names), reader_(source, Use{this}) {}
  BlockCounter(const BlockCounter&) = delete;
  BlockCounter& operator=(const BlockCounter&) = delete;

  void count_by_content(std::uint32_t span) {
    snapshot_.for_each_live(span, [this](const Block& block) {
      if (block.bytes < sizeof(Address))
        add(block, 0);
      else
        reader_.want(block.address, sizeof(Address), block);
    });
  }
  void count_by_size(std::uint32_t span) {
    snapshot_.for_each_live(span, [this](const Block& block) { add(block, 0); });
  }
  void finish() { reader_.flush(); }
  const Sums& sums() const { return sums_; }
  std::uint64_t unread_bytes() const { return reader_.unread_bytes(); }

 private:
  struct Use {
    BlockCounter* counter;
    void operator()(const Block& block, const std::byte* content, std::size_t bytes) const {
      Address word = 0;
      if (bytes == sizeof word) std::memcpy(&word, content, sizeof word);
      counter->add(block, word);
    }
  };

  void add(const Block& block, Address word) {
    const Span& span = snapshot_.spans[block.span];
    const Key key{names_.is_candidate(word) ? word : 0, counted_size(span, block.bytes), span.pool};
    // Neighbours are often of one class.
    if (last_ == nullptr || !(key == last_key_)) {
      last_ = &sums_[key];
      last_key_ = key;
    }
    last_->add({1, block.bytes});
  }

  const Snapshot& snapshot_;
  const ClassNames& names_;
  JoinedReader<Block, Use> reader_;
  Sums sums_;
  Key last_key_;
  Sum* last_ = nullptr;
};

/// Hands out the spans, some at a time, to counters that run at once.
class Counting {
 public:
  Counting(const Source& source, const Snapshot& snapshot, const ClassNames& names, Contents contents)
      : source_(source), snapshot_(snapshot), names_(names), contents_(contents) {}

  Sums run(const CensusWatch& watch);
  std::uint64_t unread_bytes() const { return unread_bytes_; }

 private:
  static constexpr std::uint32_t kSpansAtOnce = 64;

  void count(BlockCounter& counter, const CensusWatch& watch);

  const Source& source_;
  const Snapshot& snapshot_;
  const ClassNames& names_;
  Contents contents_;
  std::atomic<std::uint32_t> next_{0};
  std::uint64_t unread_bytes_ = 0;
};

void Counting::count(BlockCounter& counter, const CensusWatch& watch) {
  const auto span_count = static_cast<std::uint32_t>(snapshot_.spans.size());
  for (;;) {
    const std::uint32_t first = next_.fetch_add(kSpansAtOnce);
    if (first >= span_count) break;
    if (watch) watch(static_cast<double>(first) / span_count);
    for (std::uint32_t i = first; i < std::min(first + kSpansAtOnce, span_count); ++i)
      if (contents_ == Contents::kLeave || is_sensitive(snapshot_, snapshot_.spans[i]))
        counter.count_by_size(i);
      else
        counter.count_by_content(i);
  }
  counter.finish();
}

Sums Counting::run(const CensusWatch& watch) {
  std::vector<std::unique_ptr<BlockCounter>> counters;
  for (unsigned i = 0; i < useful_threads(); ++i)
    counters.push_back(std::make_unique<BlockCounter>(source_, snapshot_, names_));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < counters.size(); ++i)
      threads.emplace_back([this, &counter = *counters[i]] { count(counter, {}); });
    count(*counters[0], watch);
  }
  Sums sums;
  for (const auto& counter : counters) {
    unread_bytes_ += counter->unread_bytes();
    for (const auto& [key, sum] : counter->sums()) sums[key].add(sum);
  }
  return sums;
}

/// What makes two groups of two censuses the same.
using Identity = std::tuple<std::string, std::uint64_t, std::string>;

Identity identity_of(const CensusGroup& group) { return {group.class_name, group.block_bytes, group.pool}; }

void count_group(Census& census, const CensusGroup& group, bool is_sensitive_pool) {
  census.blocks += group.blocks;
  census.bytes += group.bytes;
  if (group.is_class()) {
    census.class_blocks += group.blocks;
    census.class_bytes += group.bytes;
  }
  if (is_sensitive_pool) {
    census.sensitive_blocks += group.blocks;
    census.sensitive_bytes += group.bytes;
  }
}

/// Sums by first word become groups by name: a class may have several tables, in several libraries.
Census census_of(const Sums& sums, const Snapshot& snapshot, ClassNames& names) {
  Census census;
  std::map<Identity, CensusGroup> groups;
  for (const auto& [key, sum] : sums) {
    CensusGroup group;
    if (key.table != 0) group.class_name = names.name_of(key.table);
    if (!group.is_class()) group.block_bytes = key.block_bytes;
    group.pool = pool_label(snapshot, key.pool);
    CensusGroup& total = groups.try_emplace(identity_of(group), group).first->second;
    total.blocks += sum.blocks;
    total.bytes += sum.bytes;
    group.blocks = sum.blocks;
    group.bytes = sum.bytes;
    count_group(census, group, key.pool != kNone && snapshot.pools[key.pool].is_sensitive);
  }
  for (auto& [identity, group] : groups) census.groups.push_back(std::move(group));
  std::stable_sort(census.groups.begin(), census.groups.end(),
                   [](const CensusGroup& a, const CensusGroup& b) { return a.bytes > b.bytes; });
  return census;
}

}  // namespace

unsigned useful_threads() { return std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads); }

std::uint64_t counted_size(const Span& span, std::uint64_t block_bytes) {
  const bool is_large = span.block_count == 1 && span.use != SpanUse::kMixedPage;
  return is_large ? std::bit_ceil(block_bytes) : block_bytes;
}

std::string pool_label(const Snapshot& snapshot, std::uint32_t pool) {
  if (pool == kNone) return {};
  const Pool& described = snapshot.pools[pool];
  return described.name.empty() ? fmt::format("{} {}", described.kind_name, described.number)
                                : described.name;
}

Census take_census(const Source& source, const Snapshot& snapshot, ClassNames& names, Contents contents,
                   const CensusWatch& watch) {
  Counting counting(source, snapshot, names, contents);
  const Sums sums = counting.run(watch);
  Census census = census_of(sums, snapshot, names);
  census.unread_bytes = counting.unread_bytes();
  return census;
}

std::vector<Growth> growth_since(const std::vector<CensusGroup>& earlier,
                                 const std::vector<CensusGroup>& now) {
  std::map<Identity, Growth> changes;
  for (const CensusGroup& group : now) {
    Growth& growth = changes[identity_of(group)];
    growth = {group, static_cast<std::int64_t>(group.blocks), static_cast<std::int64_t>(group.bytes)};
  }
  for (const CensusGroup& group : earlier) {
    Growth& growth = changes[identity_of(group)];
    if (growth.blocks == 0) growth.group = {group.class_name, group.block_bytes, group.pool, 0, 0};
    growth.blocks -= static_cast<std::int64_t>(group.blocks);
    growth.bytes -= static_cast<std::int64_t>(group.bytes);
  }
  std::vector<Growth> changed;
  for (auto& [identity, growth] : changes)
    if (growth.blocks != 0 || growth.bytes != 0) changed.push_back(std::move(growth));
  std::stable_sort(changed.begin(), changed.end(),
                   [](const Growth& a, const Growth& b) { return a.bytes > b.bytes; });
  return changed;
}

}  // namespace tarn::observer
