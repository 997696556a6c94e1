// Sums over partly used spans, by what they have in common.
#include "observer/pages/pinners.h"

#include <fmt/format.h>

#include <algorithm>

#include "observer/text/words.h"

namespace tarn::observer {
namespace {

/// \returns kNone: the span is of no such thing.
std::uint32_t index_of(PinnedBy by, const Span& span) {
  switch (by) {
    case PinnedBy::kClass:
      return span.pool == kNone && span.size_class != 0 ? span.size_class : kNone;
    case PinnedBy::kPool:
      return span.pool;
    case PinnedBy::kOwner:
      return span.owner;
  }
  return kNone;
}

std::size_t count_of(PinnedBy by, const Snapshot& snapshot) {
  switch (by) {
    case PinnedBy::kClass:
      return snapshot.classes.size();
    case PinnedBy::kPool:
      return snapshot.pools.size();
    case PinnedBy::kOwner:
      return snapshot.owners.size();
  }
  return 0;
}

void add(Pinner& pinner, const Span& span, const Residency* residency) {
  ++pinner.spans;
  pinner.bytes += span.bytes;
  pinner.blocks += span.block_count;
  pinner.survivors += span.live;
  pinner.survivor_bytes += span.live_bytes;
  pinner.pinned_bytes += idle_bytes_of(span, residency);
}

/// Whether live blocks keep free ones from going back.
bool is_partly_used(const Span& span) {
  if (span.live == 0) return false;
  return span.use == SpanUse::kMixedPage ? span.live_bytes < span.bytes : span.free() > 0;
}

std::uint32_t threads_of(const Snapshot& snapshot, std::uint32_t owner, std::uint32_t& only_number) {
  std::uint32_t count = 0;
  for (const Thread& thread : snapshot.threads) {
    if (thread.owner != owner || !thread.is_alive) continue;
    ++count;
    only_number = thread.number;
  }
  return count;
}

}  // namespace

std::uint64_t idle_bytes_of(const Span& span, const Residency* residency) {
  const std::uint64_t resident =
      residency == nullptr ? span.bytes : residency->bytes_in(span.start, span.end());
  const std::uint64_t used = span.live_bytes + std::uint64_t{span.cached} * span.block_bytes;
  return resident > used ? resident - used : 0;
}

std::vector<Pinner> pinners_by(PinnedBy by, const Snapshot& snapshot, const Residency* residency) {
  std::vector<Pinner> all(count_of(by, snapshot));
  for (const Span& span : snapshot.spans)
    if (const std::uint32_t index = index_of(by, span); index < all.size() && is_partly_used(span))
      add(all[index], span, residency);
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i].by = by, all[i].index = i;
  std::erase_if(all, [](const Pinner& pinner) { return pinner.pinned_bytes == 0; });
  std::stable_sort(all.begin(), all.end(),
                   [](const Pinner& a, const Pinner& b) { return a.pinned_bytes > b.pinned_bytes; });
  return all;
}

std::string name_of(const Pinner& pinner, const Snapshot& snapshot) {
  switch (pinner.by) {
    case PinnedBy::kClass:
      return name_of_class(snapshot, pinner.index);
    case PinnedBy::kPool:
      return name_of_pool(snapshot, pinner.index);
    case PinnedBy::kOwner:
      return name_of_owner(snapshot, pinner.index);
  }
  return "";
}

std::string name_of_class(const Snapshot& snapshot, std::uint32_t size_class) {
  if (size_class >= snapshot.classes.size()) return fmt::format("class {}", size_class);
  return fmt::format("{} B", count_in_words(snapshot.classes[size_class].block_bytes));
}

std::string name_of_pool(const Snapshot& snapshot, std::uint32_t pool) {
  if (pool >= snapshot.pools.size()) return "general pool";
  const Pool& one = snapshot.pools[pool];
  return one.name.empty() || one.name == one.kind_name ? fmt::format("{} {}", one.kind_name, one.number)
                                                       : fmt::format("{} {}", one.kind_name, one.name);
}

std::string name_of_owner(const Snapshot& snapshot, std::uint32_t owner) {
  if (owner >= snapshot.owners.size()) return "no owner";
  const Owner& one = snapshot.owners[owner];
  if (one.is_of_pool) {
    return fmt::format("owner {} ({})", owner,
                       one.pool == kNone ? "ended pool" : name_of_pool(snapshot, one.pool));
  }
  if (one.is_orphan) return fmt::format("owner {} (ended)", owner);
  std::uint32_t number = 0;
  const std::uint32_t threads = threads_of(snapshot, owner, number);
  if (one.is_shared_one || threads > 1)
    return fmt::format("owner {} ({})", owner, counted(threads, "thread"));
  return threads == 1 && number != 0 ? fmt::format("owner {} (thread {})", owner, number)
                                     : fmt::format("owner {}", owner);
}

}  // namespace tarn::observer
