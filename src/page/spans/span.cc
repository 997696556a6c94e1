#include "page/spans/span.h"

#include <bit>
#include <iterator>
#include <new>

#include "page/memory/metadata.h"

namespace tarn::internal {

namespace {

constexpr unsigned kInlineLog2 = 2;
static_assert(Span::kInlineWords == 1u << kInlineLog2);

}  // namespace

constinit SpanStore span_store;

Span* SpanStore::take(std::uint32_t words) {
  const unsigned log2 =
      words <= Span::kInlineWords ? kInlineLog2 : static_cast<unsigned>(std::bit_width(words - 1));
  const auto take_free = [this](unsigned least, unsigned end) -> Span* {
    os::LockGuard guard(mutex_);
    for (unsigned i = least; i < end; ++i)
      if (Span* const span = free_[i]; span != nullptr) {
        free_[i] = span->next;
        return span;
      }
    return nullptr;
  };
  if (Span* const span = take_free(log2, log2 + 1)) return span;
  const std::uint32_t capacity = 1u << log2;
  const std::size_t bitmap_bytes =
      capacity <= Span::kInlineWords ? 0 : round_up(capacity * 8, kCacheLineBytes);
  char* const record = static_cast<char*>(metadata.allocate_zeroed(sizeof(Span) + 2 * bitmap_bytes));
  // Where memory is refused, one with more room than needed does.
  if (record == nullptr) return take_free(log2 + 1, std::size(free_));
  Span* const span = new (record) Span{};
  span->capacity_log2 = static_cast<std::uint8_t>(log2);
  const bool is_inline = bitmap_bytes == 0;
  span->free_bits =
      is_inline ? span->inline_free_bits : reinterpret_cast<std::uint64_t*>(record + sizeof(Span));
  span->remote_bits =
      is_inline ? span->inline_remote_bits
                : reinterpret_cast<std::atomic<std::uint64_t>*>(record + sizeof(Span) + bitmap_bytes);
  return span;
}

void SpanStore::give_back(Span* span) {
  span->owner.store(nullptr, std::memory_order_seq_cst);
  span->kind = SpanKind::kFree;
  span->is_zero_when_free = false;
  span->stride = 0;
  span->set_pool(nullptr);
  // A pool may have replaced the span's bits by its own.
  if (span->capacity_log2 == kInlineLog2) span->free_bits = span->inline_free_bits;
  os::LockGuard guard(mutex_);
  span->next = free_[span->capacity_log2];
  free_[span->capacity_log2] = span;
}

}  // namespace tarn::internal
