// Snapshots built by hand, for tests of views: a page after the other from kBase on, sums made at the end.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "observer/process/residency.h"
#include "observer/snapshot/snapshot.h"

namespace tarn::observer::test {

inline constexpr Address kBase = 0x7f00'0000'0000;
inline constexpr std::uint64_t kPage = 65536, kChunk = 2 << 20;
inline constexpr std::uint64_t kMiB = 1 << 20;

class HandMade {
 public:
  HandMade();

  /// Each \returns the index of what was added.
  std::uint32_t add_class(std::uint64_t block_bytes);
  std::uint32_t add_owner();
  std::uint32_t add_thread(std::uint32_t owner, std::uint64_t cached_bytes = 0);
  std::uint32_t add_pool(PoolKind kind, const std::string& name, std::uint64_t block_bytes = 0);

  /// A slab of one page, its first `live` blocks live. \returns its span, to be changed until the next is
  /// added.
  Span& add_slab(std::uint32_t size_class, std::uint32_t live, std::uint32_t owner = kNone);
  Span& add_slabs(std::uint32_t count, std::uint32_t size_class, std::uint32_t live,
                  std::uint32_t owner = kNone);
  Span& add_large(std::uint64_t bytes, std::uint64_t live_bytes);
  /// A chunk of a pool with blocks of its size.
  Span& add_pool_span(std::uint32_t pool, SpanUse use, std::uint64_t bytes, std::uint32_t live);
  /// A page of a heap in a buffer, with one live block of each size.
  Span& add_mixed_page(std::uint32_t pool, std::uint64_t bytes, const std::vector<std::uint64_t>& sizes);
  void add_free(std::uint64_t bytes, bool is_dirty);
  void skip(std::uint64_t bytes) { next_ += bytes; }
  void set_counter(const std::string& name, std::uint64_t value);
  void set_option(const std::string& key, std::int64_t value);

  /// For what the functions above do not say. Sums are made anew by snapshot().
  Snapshot& edit() { return snapshot_; }
  Address next_address() const { return next_; }

  /// With the sums of classes, owners, pools and totals.
  Snapshot snapshot() const;

 private:
  Span& append(Span span);

  Snapshot snapshot_;
  Address next_ = kBase;
};

/// All of the snapshot's spans and free dirty pages are resident.
Residency all_resident(const Snapshot& snapshot);

/// A heap of every kind of span, with much of it free: for tests of what is drawn.
Snapshot make_mixed_heap();

}  // namespace tarn::observer::test
