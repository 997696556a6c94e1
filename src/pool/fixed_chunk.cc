#include "pool/fixed_chunk.h"

#include <bit>
#include <cstring>
#include <new>

#include "os/checker.h"
#include "os/fatal.h"
#include "page/metadata.h"
#include "page/page_map.h"
#include "page/spans.h"
#include "pool/watched_blocks.h"

namespace tarn::internal {
namespace {

// The words, then the live bytes, which are whole words too, then the references; each begins on a line of
// its own.
struct RecordLayout {
  std::size_t references;  // the distance of their first from the record
  std::size_t bytes;
};

RecordLayout layout_of(std::uint32_t words, std::uint32_t live_bytes, std::uint32_t references) {
  std::size_t bytes = sizeof(PoolChunk) + (words + PoolChunk::kWordsBehind) * sizeof(std::uint64_t);
  if (live_bytes != 0) bytes = round_up(bytes, kCacheLineBytes) + round_up(live_bytes, sizeof(std::uint64_t));
  const std::size_t first = round_up(bytes, kCacheLineBytes);
  return {first, references == 0 ? bytes : first + references * sizeof(std::uint32_t)};
}

}  // namespace

void PoolChunk::free_all() {
  bitmap::fill(words(), block_count);
  bitmap::fill(summary, word_count);
  longest_run = block_count;
  may_lack_words = false;
}

void PoolChunk::write_live_bytes() {
  for (std::uint32_t i = 0; i < live_byte_count; ++i) live_bytes(*span)[i] = bitmap::test(words(), i) ? 0 : 1;
}

BlockIndex PoolChunk::find_run(std::uint32_t count) {
  if (count > bitmap::kWordBits)
    return static_cast<BlockIndex>(bitmap::find_long_run(words(), block_count, count));
  const BlockIndex found = find_run_in(run_word, word_count, count);
  return found != end() ? found : find_run_in(0, run_word, count);
}

BlockIndex PoolChunk::find_run_in(std::uint32_t first_word, std::uint32_t end_word, std::uint32_t count) {
  const bitmap::RunFinder runs(count);
  for (std::uint32_t i = first_word; i < end_word; ++i) {
    const unsigned position = runs.first_in(words()[i], words()[i + 1]);
    if (position == bitmap::kWordBits) continue;
    run_word = i;
    return bitmap::index_of_bit(i, static_cast<int>(position));
  }
  return end();
}

void PoolChunk::validate_record() {
  TARN_CHECK(&chunk_of(*span) == this && page_map.find(span->start) == span);
  TARN_CHECK(span->kind == SpanKind::kPool && span->pool_blocks == block_count);
  TARN_CHECK(word_count == bitmap::words_for(block_count) && longest_run <= block_count);
  const std::size_t bits = word_count * bitmap::kWordBits;
  TARN_CHECK(bitmap::find_one(words(), block_count, bits) == bits && words()[word_count] == 0);
  TARN_CHECK(next_word(0) <= word_count && run_word < word_count);
}

// One page of blocks, more pages for larger blocks; one block less where that leaves room for colours.
std::uint32_t usual_chunk_count(std::size_t stride) {
  constexpr std::size_t kLeastBlocks = 64, kLargestBytes = std::size_t{1} << 20;
  std::size_t bytes = stride * kLeastBlocks;
  bytes = bytes < kPageBytes      ? kPageBytes
          : bytes > kLargestBytes ? kLargestBytes
                                  : round_up(bytes, kPageBytes);
  const std::size_t count = bytes / stride;
  const bool has_no_room = stride % PoolChunk::kColouredStride == 0 && count * stride == bytes;
  return static_cast<std::uint32_t>(has_no_room ? count - 1 : count);
}

PoolChunk* make_chunk(const ChunkRequest& request) {
  const std::size_t used_bytes = request.block_count * request.stride;
  const PageCount pages = pages_for(used_bytes);
  const auto words = static_cast<std::uint32_t>(bitmap::words_for(request.block_count));
  const std::uint32_t live_byte_count = request.has_live_bytes ? request.block_count : 0;
  const RecordLayout layout =
      layout_of(words, live_byte_count, request.size_front != nullptr ? request.block_count : 0);
  void* const record = metadata.allocate(layout.bytes);
  if (record == nullptr) return nullptr;
  Span* const span = allocate_span(
      {.pages = pages, .kind = SpanKind::kPool, .density = request.density, .pool = request.pool});
  if (span == nullptr) {
    metadata.free(record, layout.bytes);
    return nullptr;
  }
  PoolChunk* const chunk = new (record) PoolChunk{};
  chunk->span = span;
  chunk->block_count = request.block_count;
  chunk->word_count = words;
  chunk->live_byte_count = live_byte_count;
  if (request.size_front != nullptr) {
    chunk->references = reinterpret_cast<std::uint32_t*>(static_cast<char*>(record) + layout.references);
    std::memset(chunk->references, 0, layout.bytes - layout.references);
  }
  chunk->free_all();
  chunk->words()[words] = 0;
  const bool has_room = request.colour_bytes <= bytes_of(pages) - used_bytes;
  if (request.poisons) os::poison(span->start, bytes_of(pages));
  span->start += has_room ? request.colour_bytes : 0;
  span->free_bits = chunk->words();
  span->stride = static_cast<std::uint32_t>(request.stride);
  span->pool_blocks = request.block_count;
  span->pool_data = request.size_front;
  std::memset(live_bytes(*span), 0, live_byte_count);
  return chunk;
}

void end_chunk(PoolChunk& chunk, bool poisons, ReturnedPages& returned) {
  Span* const span = chunk.span;
  if (poisons) os::unpoison(span->first_page(), span->bytes());
  watched::note_span_ends(*span, span->bytes(), span->stride);
  span->set_pool(nullptr);
  span->pool_data = nullptr;
  const std::uint32_t references = chunk.references != nullptr ? chunk.block_count : 0;
  metadata.free(&chunk, layout_of(chunk.word_count, chunk.live_byte_count, references).bytes);
  free_span(span, returned);
}

}  // namespace tarn::internal
