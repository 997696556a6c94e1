#include "central/live_blocks.h"

#include "central/slabs/slab.h"
#include "page/spans/page_map.h"

namespace tarn::internal {

// A free block is zeros; so is the guard of one that the program has wiped beyond its end.
void note_bad_free(void* block) {
  if (!is_place_of_block(block)) return;
  const Span& slab = *page_map.find(block);
  const SizeClass size_class = slab.size_class.load(std::memory_order_relaxed);
  const bool is_free =
      !has_guards(size_class) || detail::is_zero(block, class_geometry[size_class].block_bytes);
  note_misuse_of_block(slab, is_free ? "double free" : "write past the end of a block", block);
}

void begin_live_run(SizeClass size_class, void* blocks, std::size_t count, std::size_t stride) {
  const std::uintptr_t word = live_word(size_class);
  for (std::size_t i = 0; word != 0 && i < count; ++i)
    detail::begin_live(word, static_cast<char*>(blocks) + i * stride);
}

bool end_live_run(SizeClass size_class, void* blocks, std::size_t count, std::size_t stride) {
  const std::uintptr_t word = live_word(size_class);
  if (word == 0) return true;
  for (std::size_t i = 0; i < count; ++i) {
    char* const block = static_cast<char*>(blocks) + i * stride;
    if (!detail::is_live(word, block)) return note_bad_free(block), false;
  }
  for (std::size_t i = 0; i < count; ++i) detail::end_live(word, static_cast<char*>(blocks) + i * stride);
  return true;
}

}  // namespace tarn::internal
