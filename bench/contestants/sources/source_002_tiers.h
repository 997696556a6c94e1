// The three tiers of source 002, written anew from its description.
//
// The source's: a thread cache without a lock, which takes and gives blocks in batches that depend on their
// size; a central cache, whose lists balance the free blocks of all threads; a page cache of pages of 4 KiB,
// which merges neighbours and gives the system whole spans back above 64 MiB of free pages. Classes are 8
// bytes apart, up to 256 KiB; larger blocks come from the system. A header of 16 bytes before each block
// holds its size and the link of a free block.
// Filled in: blocks begin at multiples of 16 bytes, as any malloc's must, so a class of 24 bytes takes as
// much as one of 32. The half of the header's size that no size needs says where the block's span begins. A
// batch has 32 KiB, but from 2 to 512 blocks; a thread keeps at most two; a span has room for one. The page
// cache takes at least 1 MiB, and the span that fits best.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "upstream.h"

namespace tarn::bench::source_002 {

template <class Pages = SystemPages>
class PageCache {
 public:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kMostFreeBytes = std::size_t{64} << 20;

  ~PageCache() {
    for (const auto& [start, bytes] : by_address_) Pages::deallocate(start, bytes);
  }

  /// \pre `bytes` is a number of whole pages
  char* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto fit = by_size_.lower_bound({bytes, nullptr});
    if (fit == by_size_.end()) {
      const std::size_t taken = std::max(bytes, kLeastTaken);
      fit = insert(static_cast<char*>(Pages::allocate(taken)), taken);
    }
    const auto [found, start] = *fit;
    erase(start, found);
    if (found > bytes) insert(start + bytes, found - bytes);
    return start;
  }

  void deallocate(char* start, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    insert_merged(start, bytes);
    while (free_bytes_ > kMostFreeBytes) {
      const auto [largest, at] = *by_size_.rbegin();
      erase(at, largest);
      Pages::deallocate(at, largest);
    }
  }

  std::size_t free_bytes() {
    const std::lock_guard lock(mutex_);
    return free_bytes_;
  }

 private:
  static constexpr std::size_t kLeastTaken = std::size_t{1} << 20;

  auto insert(char* start, std::size_t bytes) {
    by_address_.emplace(start, bytes);
    free_bytes_ += bytes;
    return by_size_.emplace(bytes, start).first;
  }
  void erase(char* start, std::size_t bytes) {
    by_address_.erase(start);
    by_size_.erase({bytes, start});
    free_bytes_ -= bytes;
  }
  void insert_merged(char* start, std::size_t bytes) {
    auto after = by_address_.lower_bound(start);
    if (after != by_address_.begin()) {
      const auto [before, before_bytes] = *std::prev(after);
      if (before + before_bytes == start) {
        erase(before, before_bytes);
        start = before;
        bytes += before_bytes;
      }
    }
    if (after != by_address_.end() && start + bytes == after->first) {
      const std::size_t after_bytes = after->second;
      erase(after->first, after_bytes);
      bytes += after_bytes;
    }
    insert(start, bytes);
  }

  std::mutex mutex_;
  std::map<char*, std::size_t> by_address_;
  std::set<std::pair<std::size_t, char*>> by_size_;
  std::size_t free_bytes_ = 0;
};

struct alignas(kBlockAlignment) Header {
  std::uint32_t bytes;        // of the class; 0: the block comes from the system
  std::uint32_t span_offset;  // from the span's start
  Header* next;
};
static_assert(sizeof(Header) == 16);

/// Stands at the start of its pages.
struct alignas(64) Span {
  std::size_t bytes = 0;
  std::size_t free_count = 0;
  std::size_t block_count = 0;
  Header* free = nullptr;
  Span* next = nullptr;  // in its class's list of spans that have free blocks
  Span* previous = nullptr;
};

inline constexpr std::size_t kClassStep = 8;
inline constexpr std::size_t kLargest = 256 * 1024;
inline constexpr std::size_t kClasses = kLargest / kClassStep;

constexpr std::size_t class_of(std::size_t bytes) {
  return (std::max<std::size_t>(bytes, 1) - 1) / kClassStep;
}
constexpr std::size_t bytes_of(std::size_t size_class) { return (size_class + 1) * kClassStep; }
constexpr std::size_t batch_of(std::size_t size_class) {
  return std::clamp<std::size_t>(32 * 1024 / bytes_of(size_class), 2, 512);
}

/// The central cache's part for one class.
template <class Pages>
class CentralList {
 public:
  constexpr CentralList() = default;

  /// A list of at most a batch, at least one.
  std::pair<Header*, std::size_t> take_batch(std::size_t size_class, PageCache<Pages>& pages) {
    const std::lock_guard lock(mutex_);
    if (spans_ == nullptr) add(*make_span(size_class, pages));
    Header* batch = nullptr;
    std::size_t count = 0;
    for (const std::size_t wanted = batch_of(size_class); count < wanted && spans_ != nullptr; ++count) {
      Span& span = *spans_;
      Header* const block = std::exchange(span.free, span.free->next);
      if (--span.free_count == 0) remove(span);
      block->next = std::exchange(batch, block);
    }
    return {batch, count};
  }

  void bring_back(Header* batch, PageCache<Pages>& pages) {
    const std::lock_guard lock(mutex_);
    while (batch != nullptr) {
      Header* const block = std::exchange(batch, batch->next);
      Span& span = *reinterpret_cast<Span*>(reinterpret_cast<char*>(block) - block->span_offset);
      if (span.free_count == 0) add(span);
      block->next = std::exchange(span.free, block);
      if (++span.free_count < span.block_count) continue;
      remove(span);
      pages.deallocate(reinterpret_cast<char*>(&span), span.bytes);
    }
  }

 private:
  static Span* make_span(std::size_t size_class, PageCache<Pages>& pages) {
    const std::size_t stride = sizeof(Header) + rounded_up(bytes_of(size_class), kBlockAlignment);
    const std::size_t count = batch_of(size_class);
    const std::size_t bytes = rounded_up(sizeof(Span) + count * stride, PageCache<Pages>::kPageBytes);
    char* const memory = pages.allocate(bytes);
    Span* const span = new (memory) Span{.bytes = bytes, .free_count = count, .block_count = count};
    for (std::size_t i = count; i-- > 0;) {
      const std::size_t offset = sizeof(Span) + i * stride;
      span->free = new (memory + offset) Header{.bytes = static_cast<std::uint32_t>(bytes_of(size_class)),
                                                .span_offset = static_cast<std::uint32_t>(offset),
                                                .next = span->free};
    }
    return span;
  }

  void add(Span& span) {
    span.previous = nullptr;
    span.next = spans_;
    if (spans_ != nullptr) spans_->previous = &span;
    spans_ = &span;
  }
  void remove(Span& span) {
    (span.previous == nullptr ? spans_ : span.previous->next) = span.next;
    if (span.next != nullptr) span.next->previous = span.previous;
  }

  std::mutex mutex_;
  Span* spans_ = nullptr;
};

template <class Pages = SystemPages>
class ThreeTiers {
 public:
  static void* allocate(std::size_t bytes) {
    if (bytes > kLargest) return allocate_large(bytes);
    if (lists == nullptr) [[unlikely]]
      start_thread();
    const std::size_t size_class = class_of(bytes);
    List& list = lists[size_class];
    if (list.first == nullptr)
      std::tie(list.first, list.count) = central[size_class].take_batch(size_class, pages);
    --list.count;
    return std::exchange(list.first, list.first->next) + 1;
  }

  static void deallocate(void* block) {
    Header* const header = static_cast<Header*>(block) - 1;
    if (header->bytes == 0) return SystemMemory::deallocate(header, sizeof(Header) + large_bytes(header));
    if (lists == nullptr) [[unlikely]]
      start_thread();
    const std::size_t size_class = class_of(header->bytes);
    List& list = lists[size_class];
    header->next = std::exchange(list.first, header);
    if (++list.count > 2 * batch_of(size_class)) shrink(list, size_class);
  }

  static std::size_t free_page_bytes() { return pages.free_bytes(); }

 private:
  struct List {
    Header* first = nullptr;
    std::size_t count = 0;
  };
  struct GiveBackAtEnd {
    ~GiveBackAtEnd() { end_thread(); }
  };

  static constexpr std::size_t kListsBytes = kClasses * sizeof(List);

  // The size of a large block takes the place of the link, which it needs no more than a span.
  static void* allocate_large(std::size_t bytes) {
    void* const memory = SystemMemory::allocate(sizeof(Header) + bytes);
    return new (memory) Header{0, 0, reinterpret_cast<Header*>(bytes)} + 1;
  }
  static std::size_t large_bytes(const Header* header) {
    return reinterpret_cast<std::uintptr_t>(header->next);
  }

  [[gnu::noinline]] static void start_thread() {
    static thread_local GiveBackAtEnd at_end;
    lists = static_cast<List*>(Pages::allocate(kListsBytes));  // zeroed: every list is empty
  }
  static void end_thread() {
    List* const ended = std::exchange(lists, nullptr);
    for (std::size_t i = 0; i < kClasses; ++i)
      if (ended[i].first != nullptr) central[i].bring_back(ended[i].first, pages);
    Pages::deallocate(ended, kListsBytes);
  }

  /// Gives one batch to the central cache.
  [[gnu::noinline]] static void shrink(List& list, std::size_t size_class) {
    const std::size_t batch = batch_of(size_class);
    Header* last = list.first;
    for (std::size_t i = 1; i < batch; ++i) last = last->next;
    Header* const given = std::exchange(list.first, std::exchange(last->next, nullptr));
    list.count -= batch;
    central[size_class].bring_back(given, pages);
  }

  static inline constinit thread_local List* lists = nullptr;
  static inline PageCache<Pages> pages;
  static inline std::array<CentralList<Pages>, kClasses> central;
};

}  // namespace tarn::bench::source_002
