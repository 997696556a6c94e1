#include "general/large.h"

#include <atomic>
#include <cstring>

#include "os/fatal.h"
#include "os/memory.h"
#include "page/background.h"
#include "page/page_cache.h"
#include "page/page_map.h"

namespace tarn::internal {
namespace {

// Pages are moved by whole chunks only: then the kernel moves entries of the upper page table, and its map of
// the process cannot grow beyond one area per chunk, however long the program runs. Below two chunks copying
// costs less.
constexpr std::size_t kWorthMoving = 2 * kChunkBytes;
constexpr std::size_t kMostRoom = std::size_t{64} << 20;
constexpr std::size_t kLargestRequest = std::size_t{1} << 46;

constinit std::atomic<std::size_t> live_count{0}, live_bytes{0}, allocations{0};

PageCount pages_for(std::size_t size) {
  return static_cast<PageCount>((size + kPageBytes - 1) >> kPageShift);
}

void set_length(Span* span, PageCount pages) {
  live_bytes.fetch_add(bytes_of(pages) - span->bytes(), std::memory_order_relaxed);
  span->pages = pages;
}

}  // namespace

std::size_t room_to_grow(std::size_t size) { return size < kMostRoom ? size : kMostRoom; }

namespace {

void forget_span(Span* span) {
  live_count.fetch_sub(1, std::memory_order_relaxed);
  live_bytes.fetch_sub(span->bytes(), std::memory_order_relaxed);
  page_map.clear(span);
  span_store.give_back(span);
}

}  // namespace

void* allocate_large(std::size_t size, std::size_t alignment, bool* is_zeroed, std::size_t room) {
  if (size > kLargestRequest || alignment > kLargestRequest) return nullptr;
  const PageCount pages = pages_for(size == 0 ? 1 : size);
  Span* const span = span_store.take(0);
  if (span == nullptr) return nullptr;
  if (alignment < kPageBytes) alignment = kPageBytes;
  PageRun run{nullptr, false};
  if (room != 0) run = page_cache.allocate_pages(pages, Density::kSparse, alignment, pages_for(room));
  if (run.start == nullptr) run = page_cache.allocate_pages(pages, Density::kSparse, alignment);
  if (run.start == nullptr) {
    span_store.give_back(span);
    return nullptr;
  }
  span->start = run.start;
  span->pages = pages;
  span->kind = SpanKind::kLarge;
  page_map.set(span, 0);
  live_count.fetch_add(1, std::memory_order_relaxed);
  live_bytes.fetch_add(span->bytes(), std::memory_order_relaxed);
  allocations.fetch_add(1, std::memory_order_relaxed);
  *is_zeroed = run.is_zeroed;
  return run.start;
}

void deallocate_large(Span* span, void* block) {
  if (span->start != block) os::fatal("free of a pointer into a block", block);
  char* const start = span->start;
  const PageCount pages = span->pages;
  forget_span(span);
  page_cache.free_pages(start, pages, PageState::kDirty);
  background.notice();
}

bool resize_large(Span* span, std::size_t size) {
  if (size > kLargestRequest) return false;
  const PageCount pages = pages_for(size), old_pages = span->pages;
  char* const start = span->start;
  if (pages > old_pages) {
    bool is_zeroed = false;
    if (!page_cache.try_extend(start + bytes_of(old_pages), pages - old_pages, &is_zeroed)) return false;
    set_length(span, pages);
    page_map.set_pages(span, old_pages, pages - old_pages);
  } else if (pages < old_pages) {
    page_map.clear_pages(span, pages, old_pages - pages);
    set_length(span, pages);
    page_cache.free_pages(start + bytes_of(pages), old_pages - pages, PageState::kDirty);
    background.notice();
  }
  return true;
}

void* move_large(Span* span, std::size_t size) {
  const std::size_t bytes = span->bytes(), moved_bytes = bytes & ~(kChunkBytes - 1);
  if (bytes < kWorthMoving || size < bytes || address_of(span->start) % kChunkBytes != 0) return nullptr;
  if (os::address_space_limit() != SIZE_MAX) return nullptr;  // the kernel would count both ranges and refuse
  bool is_zeroed = false;
  char* const from = span->start;
  char* const to = static_cast<char*>(allocate_large(size, kPageBytes, &is_zeroed, room_to_grow(size)));
  if (to == nullptr) return nullptr;
  bool all_moved = address_of(to) % kChunkBytes == 0;
  // Chunk by chunk: areas of the kernel's map begin and end at chunks.
  for (std::size_t at = 0; at < moved_bytes; at += kChunkBytes) {
    if (all_moved && os::move_pages(from + at, to + at, kChunkBytes)) continue;
    all_moved = false;
    std::memcpy(to + at, from + at, kChunkBytes);
  }
  std::memcpy(to + moved_bytes, from + moved_bytes, bytes - moved_bytes);
  const PageCount moved_pages = static_cast<PageCount>(moved_bytes >> kPageShift), pages = span->pages;
  forget_span(span);
  page_cache.free_pages(from, moved_pages, all_moved ? PageState::kClean : PageState::kDirty);
  if (pages != moved_pages) page_cache.free_pages(from + moved_bytes, pages - moved_pages, PageState::kDirty);
  background.notice();
  return to;
}

LargeStats large_stats() {
  return {live_count.load(std::memory_order_relaxed), live_bytes.load(std::memory_order_relaxed),
          allocations.load(std::memory_order_relaxed)};
}

}  // namespace tarn::internal
