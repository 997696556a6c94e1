#include "general/large.h"

#include <atomic>
#include <cerrno>
#include <cstring>

#include "general/setup.h"
#include "os/fatal.h"
#include "os/memory.h"
#include "page/spans.h"

namespace tarn::internal {
namespace {

// Only whole chunks are moved: then the kernel moves entries of the upper page table, and its map of the
// process has at most one area per chunk, however long the program runs. Below two chunks, copying costs
// less.
constexpr std::size_t kWorthMoving = 2 * kChunkBytes;
constexpr std::size_t kMostRoom = std::size_t{64} << 20;

constinit std::atomic<std::size_t> live_count{0}, live_bytes{0}, allocations{0};

void note_begin(const Span& span) {
  live_count.fetch_add(1, std::memory_order_relaxed);
  live_bytes.fetch_add(span.bytes(), std::memory_order_relaxed);
  allocations.fetch_add(1, std::memory_order_relaxed);
}

void note_end(const Span& span) {
  live_count.fetch_sub(1, std::memory_order_relaxed);
  live_bytes.fetch_sub(span.bytes(), std::memory_order_relaxed);
}

// Moves chunk by chunk: the kernel's areas begin and end at chunks. \returns whether no page was copied.
bool move_chunks(char* from, char* to, std::size_t bytes) {
  bool all_moved = address_of(to) % kChunkBytes == 0;
  for (std::size_t at = 0; at < bytes; at += kChunkBytes) {
    if (all_moved && os::move_pages(from + at, to + at, kChunkBytes)) continue;
    all_moved = false;
    std::memcpy(to + at, from + at, kChunkBytes);
  }
  return all_moved;
}

}  // namespace

std::size_t room_to_grow(std::size_t size) { return size < kMostRoom ? size : kMostRoom; }

Span* allocate_large(std::size_t size, std::size_t alignment, std::size_t room) {
  if (size > kLargestRequest || alignment > kLargestRequest) return nullptr;
  Span* const span = allocate_span({.pages = pages_for(size == 0 ? 1 : size),
                                    .kind = SpanKind::kLarge,
                                    .alignment = alignment < kPageBytes ? kPageBytes : alignment,
                                    .room = pages_for(room)});
  if (span != nullptr) note_begin(*span);
  return span;
}

void* out_of_memory() {
  errno = ENOMEM;
  return nullptr;
}

void* allocate_large_block(std::size_t size, std::size_t alignment, std::size_t room, bool* is_zeroed) {
  ThreadHeap* const heap = heap_of_this_thread();  // also reads the options
  const Span* const span = allocate_large(size, alignment, room);
  if (span == nullptr) return out_of_memory();
  if (is_zeroed != nullptr) *is_zeroed = span->is_zeroed;
  if (counts_calls(heap)) {
    os::LockGuard guard(heap->mutex);
    heap->calls->large.add_allocation(size, span->bytes());
  }
  return span->start;
}

void deallocate_large(Span* span, void* block) {
  if (ThreadHeap* const heap = this_heap(); counts_calls(heap)) {
    os::LockGuard guard(heap->mutex);
    heap->calls->large.add_deallocation(span->bytes());
  }
  if (span->start != block) os::fatal("free of a pointer into a block", block);
  ReturnedPages returned;
  note_end(*span);
  free_span(span, returned);
}

bool resize_large(Span* span, std::size_t size) {
  if (size > kLargestRequest) return false;
  ReturnedPages returned;
  const std::size_t before = span->bytes();
  if (!resize_span(span, pages_for(size), returned)) return false;
  live_bytes.fetch_add(span->bytes() - before, std::memory_order_relaxed);
  return true;
}

Span* move_large(Span* span, std::size_t size) {
  const std::size_t bytes = span->bytes(), moved_bytes = bytes & ~(kChunkBytes - 1);
  if (bytes < kWorthMoving || size < bytes || address_of(span->start) % kChunkBytes != 0) return nullptr;
  // Under this limit the kernel would count both ranges and refuse the move.
  if (os::address_space_limit() != SIZE_MAX) return nullptr;
  Span* const moved = allocate_large(size, kPageBytes, room_to_grow(size));
  if (moved == nullptr) return nullptr;
  const bool all_moved = move_chunks(span->start, moved->start, moved_bytes);
  std::memcpy(moved->start + moved_bytes, span->start + moved_bytes, bytes - moved_bytes);
  ReturnedPages returned;
  note_end(*span);
  if (all_moved) {
    free_moved_span(span, pages_for(moved_bytes), returned);
  } else {
    free_span(span, returned);
  }
  return moved;
}

LargeStats large_stats() {
  return {live_count.load(std::memory_order_relaxed), live_bytes.load(std::memory_order_relaxed),
          allocations.load(std::memory_order_relaxed)};
}

}  // namespace tarn::internal
