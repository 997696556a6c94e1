// Snapshots made by hand: what a reader would have found in a program that the test invents.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "observer/snapshot/snapshot.h"

namespace tarn::observer {

inline constexpr std::uint64_t kOsPage = 4096;
inline constexpr std::uint64_t kTarnPage = 64 << 10;

class SnapshotBuilder {
 public:
  SnapshotBuilder() {
    snapshot_.page_bytes = kTarnPage;
    snapshot_.chunk_bytes = 2 << 20;
    snapshot_.classes.resize(1);
  }

  /// \returns the index of a new size class.
  std::uint8_t add_class(std::uint64_t block_bytes, std::uint64_t stride) {
    snapshot_.classes.push_back({.block_bytes = block_bytes, .stride = stride});
    return static_cast<std::uint8_t>(snapshot_.classes.size() - 1);
  }

  /// A slab of one page whose first block lies `head` bytes behind its start.
  Span& add_slab(Address start, std::uint8_t size_class, std::uint32_t head,
                 const std::function<bool(std::uint32_t)>& is_live) {
    ClassUse& use = snapshot_.classes[size_class];
    Span span;
    span.start = start;
    span.bytes = kTarnPage;
    span.first_block = start + head;
    span.stride = static_cast<std::uint32_t>(use.stride);
    span.block_bytes = use.block_bytes;
    span.block_count = static_cast<std::uint32_t>((kTarnPage - head) / use.stride);
    span.size_class = size_class;
    span.use = SpanUse::kSlab;
    mark_live(span, is_live);
    count(use, span);
    snapshot_.spans.push_back(span);
    return snapshot_.spans.back();
  }

  Span& add_large(Address start, std::uint64_t pages_bytes, std::uint64_t block_bytes, SpanUse use) {
    Span span;
    span.start = span.first_block = start;
    span.bytes = pages_bytes;
    span.block_bytes = block_bytes;
    span.block_count = 1;
    span.use = use;
    mark_live(span, [&](std::uint32_t) { return use == SpanUse::kLarge; });
    snapshot_.spans.push_back(span);
    return snapshot_.spans.back();
  }

  /// Makes blocks that are free in a slab cached ones.
  void cache(Span& slab, std::uint32_t in_threads, std::uint32_t parked) {
    ClassUse& use = snapshot_.classes[slab.size_class];
    slab.cached += in_threads + parked;
    use.in_threads += in_threads;
    use.parked += parked;
    use.free -= in_threads + parked;
  }

  Snapshot& operator*() { return snapshot_; }
  Snapshot* operator->() { return &snapshot_; }

 private:
  void mark_live(Span& span, const std::function<bool(std::uint32_t)>& is_live) {
    span.first_word = static_cast<std::uint32_t>(snapshot_.live_words.size());
    snapshot_.live_words.resize(span.first_word + word_count_of(span.block_count));
    for (std::uint32_t block = 0; block < span.block_count; ++block) {
      if (!is_live(block)) continue;
      snapshot_.live_words[span.first_word + block / 64] |= std::uint64_t{1} << block % 64;
      ++span.live;
    }
    span.live_bytes = span.live * span.block_bytes;
  }

  static void count(ClassUse& use, const Span& span) {
    ++use.slabs;
    use.slab_bytes += span.bytes;
    use.blocks += span.block_count;
    use.live += span.live;
    use.free += span.free();
    use.bytes_by_fill[span.live == span.block_count ? 7 : span.live * 8 / span.block_count] += span.bytes;
  }

  Snapshot snapshot_;
};

}  // namespace tarn::observer
