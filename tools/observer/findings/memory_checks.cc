// Checks of the snapshot: fragmentation, pools and limits, threads, free pages.
#include <fmt/format.h>

#include <algorithm>

#include "observer/findings/checks.h"
#include "observer/pages/pinners.h"
#include "observer/text/words.h"

namespace tarn::observer {
namespace {

/// From which share of a whole, and from how many bytes, an amount is worth a word.
struct Threshold {
  double share;
  std::uint64_t bytes;

  bool is_met(std::uint64_t amount, std::uint64_t whole) const {
    return amount >= bytes && static_cast<double>(amount) >= share * static_cast<double>(whole);
  }
};

Severity severity_of(std::uint64_t amount, std::uint64_t whole, Threshold bad, Threshold note) {
  if (bad.is_met(amount, whole)) return Severity::kBad;
  return note.is_met(amount, whole) ? Severity::kNote : Severity::kOk;
}

/// What the program takes of the machine; without a residency, what tarn has mapped and not given back.
std::uint64_t taken_bytes(const Evidence& evidence) {
  if (evidence.residency != nullptr) return evidence.residency->rss_bytes();
  const Totals& totals = evidence.snapshot.totals;
  return totals.mapped_bytes + totals.free_dirty_bytes + totals.record_bytes;
}

std::uint64_t sum_of_pinned(const std::vector<Pinner>& pinners) {
  std::uint64_t sum = 0;
  for (const Pinner& pinner : pinners) sum += pinner.pinned_bytes;
  return sum;
}

/// "48 B (271 MiB, 2,100,000 of 10,000,000 blocks live)"
std::string in_words(const Pinner& pinner, const Snapshot& snapshot) {
  const std::string of = pinner.blocks == 0 ? "" : " of " + count_in_words(pinner.blocks);
  return fmt::format("{} ({}, {}{} blocks live)", name_of(pinner, snapshot),
                     bytes_in_words(pinner.pinned_bytes), count_in_words(pinner.survivors), of);
}

struct Pins {
  std::vector<Pinner> things, owners;  // classes and pools together; owners
  std::uint64_t bytes = 0;
};

Pins pins_of(const Evidence& evidence) {
  Pins pins;
  pins.things = pinners_by(PinnedBy::kClass, evidence.snapshot, evidence.residency);
  const auto pools = pinners_by(PinnedBy::kPool, evidence.snapshot, evidence.residency);
  pins.things.insert(pins.things.end(), pools.begin(), pools.end());
  std::stable_sort(pins.things.begin(), pins.things.end(),
                   [](const Pinner& a, const Pinner& b) { return a.pinned_bytes > b.pinned_bytes; });
  pins.owners = pinners_by(PinnedBy::kOwner, evidence.snapshot, evidence.residency);
  pins.bytes = sum_of_pinned(pins.things);
  return pins;
}

std::string fragmentation_in_words(const Pins& pins, const Evidence& evidence, std::uint64_t taken) {
  std::string text = fmt::format(
      "{} lie free in slabs that live blocks keep, {} of {}", bytes_in_words(pins.bytes),
      percent_in_words(static_cast<double>(pins.bytes), static_cast<double>(taken)), bytes_in_words(taken));
  constexpr std::size_t kNamed = 3;
  for (std::size_t i = 0; i < std::min(kNamed, pins.things.size()); ++i)
    text += (i == 0 ? ": " : ", ") + in_words(pins.things[i], evidence.snapshot);
  if (!pins.owners.empty())
    text += fmt::format("; most of it at {}, {}", name_of(pins.owners.front(), evidence.snapshot),
                        bytes_in_words(pins.owners.front().pinned_bytes));
  return text;
}

std::string advice_about(const Pinner& pinner, const Snapshot& snapshot) {
  const std::string name = name_of(pinner, snapshot);
  if (pinner.by == PinnedBy::kPool)
    return fmt::format(
        "Objects of {} that outlive the others keep its chunks: give them a pool of their own, then "
        "release_unused() gives the rest back.",
        name);
  return fmt::format(
      "Give the objects of {} that outlive the others a tarn::Heap or a pool of their own: the other slabs "
      "then empty and go back. tarn::trim() gives back the pages that no live block touches.",
      name);
}

/// Spans in chunks that are backed by huge pages, by chunk.
struct DenseSums {
  std::uint64_t bytes = 0, live_bytes = 0, idle_bytes = 0;
};

DenseSums sums_of_dense_spans_with_little(const Evidence& evidence, double most_fill) {
  DenseSums sums;
  for (const Span& span : evidence.snapshot.spans) {
    if (!span.is_dense || static_cast<double>(span.live_bytes) > most_fill * static_cast<double>(span.bytes))
      continue;
    const bool is_backed =
        evidence.residency == nullptr || evidence.residency->bytes_in(span.start, span.end()) == span.bytes;
    if (!is_backed) continue;
    sums.bytes += span.bytes;
    sums.live_bytes += span.live_bytes;
    sums.idle_bytes += idle_bytes_of(span, evidence.residency);
  }
  return sums;
}

bool is_capped(const Pool& pool) { return pool.largest_count != kNoLimit && pool.largest_count != 0; }

void check_cap_of(const Pool& pool, const std::string& name, Findings& findings) {
  constexpr double kNear = 0.9;
  const double used = static_cast<double>(pool.live) / static_cast<double>(pool.largest_count);
  const std::uint64_t bytes = pool.live * pool.block_bytes;
  const std::string figures = fmt::format("{} has {} of at most {} blocks live", name,
                                          count_in_words(pool.live), count_in_words(pool.largest_count));
  if (pool.refusals != 0)
    findings.add("pool_full", Severity::kBad, bytes,
                 fmt::format("{} and has refused {}", figures, counted(pool.refusals, "request")),
                 "Raise its largest_count, or free sooner: callers got no block.");
  else if (used >= kNear)
    findings.add("pool_full", used >= 1 ? Severity::kBad : Severity::kNote, bytes,
                 used >= 1 ? figures + ": the next request is refused" : figures,
                 "Raise its largest_count, or expect refusals.");
}

/// The limit that leaves least, and what counts against it.
struct LimitUse {
  std::uint64_t used = 0, limit = kNoLimit;
  const char* name = "";

  double share() const { return static_cast<double>(used) / static_cast<double>(limit); }
};

LimitUse tightest_of(const Pool& heap) {
  LimitUse tightest;
  const auto consider = [&tightest](std::uint64_t used, std::uint64_t limit, const char* name) {
    if (limit == kNoLimit || limit == 0) return;
    const LimitUse one{used, limit, name};
    if (tightest.limit == kNoLimit || one.share() > tightest.share()) tightest = one;
  };
  const std::uint64_t counted_bytes = std::max(heap.charged_bytes, heap.live_bytes);
  consider(counted_bytes, heap.hard_limit, "hard_limit");
  consider(counted_bytes, heap.soft_limit, "soft_limit");
  consider(heap.mapped_bytes, heap.mapped_limit, "mapped_limit");
  return tightest;
}

void check_limit_of(const Pool& heap, const std::string& name, Findings& findings) {
  constexpr double kNear = 0.9;
  const LimitUse use = tightest_of(heap);
  if (use.limit == kNoLimit) {
    if (heap.refusals != 0)
      findings.add("heap_limit", Severity::kBad, heap.live_bytes,
                   fmt::format("{} has refused {}", name, counted(heap.refusals, "request")),
                   "Look at the limits of the heap around it and of the process.");
    return;
  }
  std::string what = fmt::format(
      "{} holds {} of its {} of {} ({})", name, bytes_in_words(use.used), use.name, bytes_in_words(use.limit),
      percent_in_words(static_cast<double>(use.used), static_cast<double>(use.limit)));
  if (heap.refusals != 0) what += fmt::format(" and has refused {}", counted(heap.refusals, "request"));
  if (heap.refusals == 0 && use.share() < kNear) return;
  findings.add("heap_limit", heap.refusals != 0 ? Severity::kBad : Severity::kNote, use.used, what,
               fmt::format("Raise its {}, or free sooner.", use.name));
}

void add_limit_finding(Findings& findings, std::uint64_t held, std::uint64_t limit, std::string_view kind,
                       std::uint64_t events, std::string_view event, Severity worst) {
  constexpr double kNear = 0.9;
  const double share = static_cast<double>(held) / static_cast<double>(limit);
  const std::string figures = fmt::format(
      "tarn holds {} of the {} limit of {} ({})", bytes_in_words(held), kind, bytes_in_words(limit),
      percent_in_words(static_cast<double>(held), static_cast<double>(limit)));
  if (events != 0)
    findings.add("process_limit", worst, held, fmt::format("{}: {}", figures, counted(events, event)),
                 fmt::format("Raise {}_limit, or free memory when the callback of limits.h tells.", kind));
  else if (share >= kNear)
    findings.add("process_limit", Severity::kNote, held, figures,
                 fmt::format("Raise {}_limit before requests meet it.", kind));
}

std::string decay_in_words(std::int64_t milliseconds) {
  return milliseconds % 1000 == 0 ? fmt::format("{} s", milliseconds / 1000)
                                  : fmt::format("{} ms", milliseconds);
}

constexpr std::int64_t kDefaultDecayMs = 2000;

/// Whether free pages had time to go back since the earlier snapshot, and did not.
bool stayed_free(const Evidence& evidence) {
  if (evidence.earlier == nullptr) return false;
  const double decay = static_cast<double>(evidence.snapshot.option("decay", kDefaultDecayMs)) / 1000;
  const bool had_time = evidence.snapshot.time - evidence.earlier->time > 2 * decay + 1;
  return had_time && evidence.snapshot.totals.free_dirty_bytes >= evidence.earlier->totals.free_dirty_bytes;
}

std::string reason_to_stay(const Evidence& evidence) {
  const Snapshot& snapshot = evidence.snapshot;
  constexpr std::int64_t kLongDecayMs = 60'000;
  if (const std::int64_t decay = snapshot.option("decay", kDefaultDecayMs); decay >= kLongDecayMs)
    return fmt::format("Option decay keeps free memory for {}: lower it, or call tarn::trim().",
                       decay_in_words(decay));
  if (!stayed_free(evidence)) return "";
  if (snapshot.option("background", 0) == 0)
    return "Only calls of the program give memory back: set option background on, or call tarn::trim() on "
           "idle.";
  return fmt::format(
      "They did not become fewer in {:.0f} s: the library's thread may not run (a limit of threads). Call "
      "tarn::trim() on idle.",
      snapshot.time - evidence.earlier->time);
}

void check_fragmentation(const Evidence& evidence, Findings& findings) {
  constexpr Threshold kBad{0.25, 16 * kMiB}, kNote{0.1, 4 * kMiB};
  const Pins pins = pins_of(evidence);
  const std::uint64_t taken = taken_bytes(evidence);
  const Severity severity = severity_of(pins.bytes, taken, kBad, kNote);
  findings.add("fragmentation", severity, pins.bytes, fragmentation_in_words(pins, evidence, taken),
               pins.things.empty() ? "" : advice_about(pins.things.front(), evidence.snapshot));
}

void check_huge_pages(const Evidence& evidence, Findings& findings) {
  constexpr double kLittle = 0.25;
  constexpr Threshold kBad{0.15, 32 * kMiB}, kNote{0.05, 4 * kMiB};
  const DenseSums sums = sums_of_dense_spans_with_little(evidence, kLittle);
  const Severity severity = severity_of(sums.idle_bytes, taken_bytes(evidence), kBad, kNote);
  findings.add("huge_pages", severity, sums.idle_bytes,
               severity == Severity::kOk
                   ? "huge pages hold little that is not in use"
                   : fmt::format("{} in huge pages, all of them resident, hold {} of live blocks",
                                 bytes_in_words(sums.bytes), bytes_in_words(sums.live_bytes)),
               "Set huge_pages:never, or a higher huge_page_threshold: small pages are resident only where "
               "they were written.");
}

void check_caps(const Evidence& evidence, Findings& findings) {
  const std::size_t before = findings.all.size();
  std::uint64_t capped = 0;
  for (std::uint32_t i = 0; i < evidence.snapshot.pools.size(); ++i) {
    const Pool& pool = evidence.snapshot.pools[i];
    if (pool.kind == PoolKind::kHeap || !is_capped(pool)) continue;
    ++capped;
    check_cap_of(pool, name_of_pool(evidence.snapshot, i), findings);
  }
  if (capped != 0 && findings.all.size() == before)
    findings.add_fine("pool_full", counted(capped, "pool") + " with a cap, none of them near it");
}

void check_heap_limits(const Evidence& evidence, Findings& findings) {
  const std::size_t before = findings.all.size();
  std::uint64_t heaps = 0;
  for (std::uint32_t i = 0; i < evidence.snapshot.pools.size(); ++i) {
    const Pool& pool = evidence.snapshot.pools[i];
    if (pool.kind != PoolKind::kHeap && (is_capped(pool) || tightest_of(pool).limit == kNoLimit)) continue;
    ++heaps;
    check_limit_of(pool, name_of_pool(evidence.snapshot, i), findings);
  }
  if (heaps != 0 && findings.all.size() == before)
    findings.add_fine("heap_limit", counted(heaps, "heap") + ", none near a limit");
}

void check_process_limits(const Evidence& evidence, Findings& findings) {
  const Snapshot& snapshot = evidence.snapshot;
  const std::size_t before = findings.all.size();
  const std::uint64_t held = snapshot.counter("held_bytes"), hard = snapshot.counter("hard_limit_bytes"),
                      soft = snapshot.counter("soft_limit_bytes");
  if (hard != 0)
    add_limit_finding(findings, held, hard, "hard", snapshot.counter("hard_limit_refusals"), "refusal",
                      Severity::kBad);
  if (soft != 0)
    add_limit_finding(findings, held, soft, "soft", snapshot.counter("soft_limit_crossings"), "crossing",
                      Severity::kNote);
  if ((hard != 0 || soft != 0) && findings.all.size() == before)
    findings.add("process_limit", Severity::kOk, held,
                 fmt::format("tarn holds {}, well below its limit of {}", bytes_in_words(held),
                             bytes_in_words(soft != 0 ? soft : hard)),
                 "");
}

void check_remote_frees(const Evidence& evidence, Findings& findings) {
  constexpr std::uint64_t kManySlabs = 64;
  std::uint64_t pending = 0, most = 0;
  std::uint32_t slowest = 0;
  for (std::uint32_t i = 0; i < evidence.snapshot.owners.size(); ++i) {
    const std::uint64_t own = evidence.snapshot.owners[i].pending;
    pending += own;
    if (own <= most) continue;
    most = own;
    slowest = i;
  }
  if (most < kManySlabs)
    return findings.add_fine("remote_frees",
                             counted(pending, "slab") + " with frees of other threads to be collected");
  findings.add("remote_frees", Severity::kNote, pending * evidence.snapshot.page_bytes,
               fmt::format("{} wait for {} to collect what other threads have freed in them",
                           counted(most, "slab"), name_of_owner(evidence.snapshot, slowest)),
               "Its threads neither allocate nor free now: let them call tarn::trim() before they wait for "
               "long, or free blocks on the thread that made them.");
}

void check_ended_threads(const Evidence& evidence, Findings& findings) {
  constexpr Threshold kBad{0.1, 32 * kMiB}, kNote{0.02, 2 * kMiB};
  std::uint64_t bytes = 0, count = 0;
  for (const Thread& thread : evidence.snapshot.threads)
    if (!thread.is_alive) bytes += thread.cached_bytes, ++count;
  for (const Owner& owner : evidence.snapshot.owners)
    if (owner.is_orphan) bytes += owner.free_bytes + owner.parked_bytes + owner.cached_span_bytes, ++count;
  findings.add(
      "ended_threads", severity_of(bytes, taken_bytes(evidence), kBad, kNote), bytes,
      fmt::format("{} free are left of ended threads ({})", bytes_in_words(bytes), counted(count, "record")),
      "New threads take them over; if none come, call tarn::trim(). Keep threads instead of making one for "
      "each task.");
}

void check_thread_caches(const Evidence& evidence, Findings& findings) {
  constexpr Threshold kBad{0.5, 64 * kMiB}, kNote{0.2, 8 * kMiB};
  const Totals& totals = evidence.snapshot.totals;
  const std::uint64_t cached = totals.in_threads_bytes + totals.depot_bytes;
  const auto threads = static_cast<std::uint64_t>(
      std::count_if(evidence.snapshot.threads.begin(), evidence.snapshot.threads.end(),
                    [](const Thread& thread) { return thread.is_alive; }));
  findings.add("thread_caches", severity_of(cached, totals.live_bytes, kBad, kNote), cached,
               fmt::format("{}: {} of cached blocks, beside {} live", counted(threads, "thread"),
                           bytes_in_words(cached), bytes_in_words(totals.live_bytes)),
               "Lower option thread_cache, or set share_slabs:always where threads are many.");
}

void check_free_pages(const Evidence& evidence, Findings& findings) {
  constexpr std::int64_t kDefaultThreshold = 8 * kMiB;
  const std::uint64_t dirty = evidence.snapshot.totals.free_dirty_bytes;
  const auto kept =
      static_cast<std::uint64_t>(evidence.snapshot.option("free_page_threshold", kDefaultThreshold));
  constexpr Threshold kBad{0.25, 32 * kMiB}, kNote{0.05, 1 * kMiB};
  const std::string reason = reason_to_stay(evidence);
  Severity severity = severity_of(dirty, taken_bytes(evidence), kBad, kNote);
  if (reason.empty() && dirty <= kept) severity = Severity::kOk;
  if (reason.empty() && severity == Severity::kBad) severity = Severity::kNote;
  findings.add(
      "free_pages", severity, dirty, fmt::format("{} of free pages are still backed", bytes_in_words(dirty)),
      reason.empty() ? "They should go back within the time of option decay: look again with --watch."
                     : reason);
}

void check_growth(const Evidence& evidence, Findings& findings) {
  if (evidence.earlier == nullptr) return;
  constexpr Threshold kNote{0.05, 1 * kMiB};
  const std::uint64_t now = evidence.snapshot.totals.live_bytes, then = evidence.earlier->totals.live_bytes;
  const std::uint64_t grown = now > then ? now - then : 0;
  findings.add("growth", kNote.is_met(grown, then) ? Severity::kNote : Severity::kOk, grown,
               fmt::format("live blocks grew by {} in {:.0f} s, to {}", bytes_in_words(grown),
                           evidence.snapshot.time - evidence.earlier->time, bytes_in_words(now)),
               fmt::format("`tarn profile {0} --growth` says who asks for it, `tarn heap {0}` of what class, "
                           "`tarn leaks {0}` what nobody reaches any more.",
                           evidence.snapshot.pid));
}

}  // namespace

void check_memory(const Evidence& evidence, Findings& findings) {
  check_fragmentation(evidence, findings);
  check_huge_pages(evidence, findings);
  check_caps(evidence, findings);
  check_heap_limits(evidence, findings);
  check_process_limits(evidence, findings);
  check_remote_frees(evidence, findings);
  check_ended_threads(evidence, findings);
  check_thread_caches(evidence, findings);
  check_free_pages(evidence, findings);
  check_growth(evidence, findings);
}

}  // namespace tarn::observer
